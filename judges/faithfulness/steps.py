"""The steps of faithfulness that a model takes: truths of the documents, verdicts on claims."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trecjudge import Document, JudgmentFailed, Model, Program, ReplyLength
from trecjudge.judging.claims.by_model import NOT_FOUND, in_parts, no_evidence, with_note
from trecjudge.judging.claims.by_words import missing
from trecjudge.judging.claims.search import Library, Passage
from trecjudge.judging.judge import ask_together
from trecjudge.records import NOTHING_SPENT, Claim, Fact, Source, Usage

if TYPE_CHECKING:
    from .program import ClaimVerdict


TRUTHS = Program(
    "truths",
    f"{__package__}.program:ListTruths",
    length=ReplyLength(fixed=15, share=1.1, of="text", most=1500),
)
VERIFY = Program(
    "verify",
    f"{__package__}.program:VerifyClaims",
    "claims",
    ReplyLength(fixed=15, each=50),
)
_SHARED = 300
"""Characters that two parts of a document have in common, so that no sentence is cut in both."""
YES, NO, UNSURE = "yes", "no", "unsure"
# Verdicts read from a model's wording: yes, no or unsure, which must be its first word.
_WORDS = {
    YES: "yes supported true faithful entailed agrees",
    NO: "no contradicted false contradicts contradiction",
    UNSURE: "unsure unclear unsupported unknown idk neither undetermined undecided",
}
_VERDICTS = {word: verdict for verdict, words in _WORDS.items() for word in words.split()}
_FIRST = re.compile(r"[\s\"'*`(\[]*([^\W\d_]+)")


def read_verdict(wording: object) -> str | None:
    """Return `yes`, `no` or `unsure`, or None where the wording opens with none of them.

    "No, but yes in part" is no. Words further on decide nothing: "I cannot say yes" is None.
    """
    found = _FIRST.match(wording) if isinstance(wording, str) else None
    return _VERDICTS.get(found[1].lower()) if found else None


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """A verdict on a claim, with the truth that decides it."""

    label: str
    reason: str
    sources: tuple[Source, ...] = ()
    usage: Usage = NOTHING_SPENT


@dataclass(frozen=True, slots=True)
class Truth:
    """A fact of a document of the response."""

    document: Document
    fact: Fact

    @property
    def source(self) -> Source:
        """The passage of the document nearest to the fact, in the document's words."""
        nearest = next(iter(Library([self.document]).best(self.fact.text)), None)
        if nearest is None:
            nearest = Passage(self.document, self.fact.start, self.fact.end, 0.0)
        return nearest.source


async def truths_of(document: Document, model: Model, characters: int) -> list[Fact]:
    """Return the facts that a model finds in a document, read to its end.

    Their offsets are those of the part that they were read from. One with a number or a name that
    this part has not is made up, and left out. Raises JudgmentFailed.
    """
    parts = list(_parts(document.full_text, characters))
    work = (model.predict(TRUTHS, text=document.full_text[start:end]) for start, end in parts)
    found = await asyncio.gather(*work)
    facts = {
        " ".join(text.split()): part
        for part, prediction in zip(parts, found, strict=True)
        for text in prediction.fields["truths"]
        if not missing(text, document.full_text[slice(*part)])
    }
    return [Fact(text, *part) for text, part in facts.items() if text]


def _parts(text: str, characters: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of overlapping parts of a text, cut between words."""
    start = 0
    while len(text) - start > characters:
        # Not before the middle: parts stay long, and there is always progress.
        space = text.rfind(" ", start + characters // 2, start + characters)
        end = space if space > 0 else start + characters
        yield start, end
        start = end - min(_SHARED, characters // 4)
    yield start, len(text)


@dataclass(frozen=True, slots=True)
class Verifier:
    """Asks a model for verdicts on up to `group` claims at a time, against all truths.

    Truths that are too many for `characters` are gone through part by part, until a claim has a
    verdict other than unsure; after `rounds` of them the rest is unread, and what is still unsure
    unjudged.
    """

    model: Model
    truths: Sequence[Truth]
    characters: int
    group: int
    rounds: int

    async def verify(self, claims: Sequence[Claim]) -> list[ClaimAnswer | JudgmentFailed]:
        """Return an answer for each claim, or why there is none."""
        groups = [claims[i : i + self.group] for i in range(0, len(claims), self.group)]
        found = await asyncio.gather(*(self._group(group) for group in groups))
        return [answer for answers in found for answer in answers]

    async def _group(self, claims: Sequence[Claim]) -> list[ClaimAnswer | JudgmentFailed]:
        answers: dict[int, ClaimAnswer | JudgmentFailed] = {}
        parts = list(in_parts(self.truths, lambda t: len(t.fact.text), self.characters))
        for part in parts[: self.rounds]:
            open_claims = [claim for claim in claims if _is_open(answers.get(claim.index))]
            if open_claims:
                answers |= await self._ask_claims(open_claims, part)
        if unread := sum(map(len, parts[self.rounds :])):
            failed = JudgmentFailed("not_read", f"{unread} truths were not read: raise `rounds`")
            open_claims = [claim for claim in claims if _is_open(answers.get(claim.index))]
            answers |= {claim.index: failed for claim in open_claims}
        nothing = ClaimAnswer(UNSURE, "the documents state nothing")
        return [answers.get(claim.index, nothing) for claim in claims]

    async def _ask_claims(
        self, claims: Sequence[Claim], truths: Sequence[Truth]
    ) -> Mapping[int, ClaimAnswer | JudgmentFailed]:
        """Return an answer for each claim by its index; the first of a request has its cost."""
        numbered = "\n".join(f"{n}. {truth.fact.text}" for n, truth in enumerate(truths, 1))

        async def ask(part: Sequence[Claim]) -> tuple[Sequence[Any], Usage]:
            texts = [claim.text for claim in part]
            prediction = await self.model.predict(VERIFY, truths=numbered, claims=texts)
            verdicts = prediction.fields["verdicts"]
            if len(verdicts) != len(part):
                raise JudgmentFailed("parse", f"{len(part)} claims have {len(verdicts)} verdicts")
            return verdicts, prediction.call.usage

        found = {}
        for part, verdicts, usage in await ask_together(claims, len(claims), ask):
            usages = [usage, *(NOTHING_SPENT for _ in part[1:])]
            for claim, verdict, cost in zip(part, verdicts, usages, strict=True):
                failed = isinstance(verdict, JudgmentFailed)
                found[claim.index] = (
                    verdict if failed else _answer(truths, claim.text, verdict, cost)
                )
        return found


def _is_open(answer: ClaimAnswer | JudgmentFailed | None) -> bool:
    """Return whether further truths could decide a claim."""
    return answer is None or (isinstance(answer, ClaimAnswer) and answer.label == UNSURE)


def _answer(
    truths: Sequence[Truth], claim: str, verdict: ClaimVerdict, usage: Usage
) -> ClaimAnswer | JudgmentFailed:
    """Return an answer with the truth that decides it; a decision without one is none.

    By a truth without content, or with another number, it is unsure.
    """
    label, reason, number = str(verdict.verdict), verdict.reason, verdict.truth
    decides = 1 <= number <= len(truths)
    if label != UNSURE and not decides:
        return JudgmentFailed("parse", f"{label} by truth {number}, of {len(truths)}")
    if not decides:
        return ClaimAnswer(label, reason, (), usage)
    truth = truths[number - 1]
    fact = truth.fact.text
    if label != UNSURE and (what := no_evidence(claim, fact, asserts=label == YES)):
        reason = f"{NOT_FOUND}: {what}: {fact}; the model said {label}: {reason}"
        return ClaimAnswer(UNSURE, reason, (truth.source,), usage)
    if label == YES:
        reason = with_note(claim, fact, reason)
    return ClaimAnswer(label, reason, (truth.source,), usage)

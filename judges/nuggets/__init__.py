"""Nuggets: how many of the facts that a good answer has a response states (AutoNuggetizer)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Nugget,
    Program,
    ReplyLength,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.errors import NOT_GIVEN
from trecjudge.inputs.labels.vocabulary import label_among
from trecjudge.judging.attest import AttesterName
from trecjudge.judging.judge import unjudged
from trecjudge.judging.nuggets import NOT_STATED, PARTLY, STATED, Match, nuggets_given, stated
from trecjudge.records import AskedNugget, Evidence
from trecjudge.settings.fields import check_ranges, ranged

from .scoring import NO_NUGGETS, NuggetScoring, best_or_worst

ASSIGN = Program(
    "assign_nuggets",
    f"{__package__}.program:AssignNuggets",
    "nuggets",
    ReplyLength(fixed=15, each=25),
)


NONE = "the bank has no nuggets"


@dataclass(frozen=True, slots=True)
class NuggetsJudge:
    """Which nuggets of the topic's bank a response states: in full, in part, or not.

    `assigner` is who decides: `lexical`, `llm`, or `auto`: the model where one is used. A model is
    asked about `window` nuggets at a time, with the whole response.
    """

    assigner: AttesterName = "auto"
    window: int = ranged(10, 1)
    programs: ClassVar[tuple[Program, ...]] = (ASSIGN,)
    needs: ClassVar[tuple[str, ...]] = ("nuggets",)

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.assigner == "llm"

    @property
    def measures(self) -> LeaderboardSpec:
        """The six scores, ranked by STRICT_VITAL_SCORE, the track's primary measure."""
        columns = tuple(
            MeasureSpec(
                f"{form}{name}",
                compute,
                default_if_undefined=False,
                description=f"Share of the {counted} that the response states; stated in part"
                f" counts {partly}. From 0 to 1; higher is better.",
                undefined=undefined,
            )
            for form, scoring, partly in (
                ("STRICT_", NuggetScoring(partly=0.0), "nothing"),
                ("", NuggetScoring(partly=0.5), "half"),
            )
            for name, compute, counted, undefined in (
                ("VITAL_SCORE", scoring.vital, "vital nuggets", "no nugget of the bank is vital"),
                ("ALL_SCORE", scoring.every, "nuggets", NONE),
                (
                    "WEIGHTED_SCORE",
                    scoring.weighted_share,
                    "nuggets, an okay one weighing half,",
                    NONE,
                ),
            )
        )
        return LeaderboardSpec(columns, sort_by="STRICT_VITAL_SCORE", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on each nugget. Raises JudgmentFailed where the topic has no bank."""
        assert isinstance(item, WholeResponse)
        nuggets = answerable(item.topic)
        if not nuggets:
            return [judgment_of(item, label=NO_NUGGETS, reason="the topic's bank has no nuggets")]
        if not item.has_text:  # asked about nothing, a model believes anything
            return [
                nugget_judgment(item, n, NOT_STATED, "the response is empty", "") for n in nuggets
            ]
        if self.assigner == "llm" or (self.assigner == "auto" and model.available):
            windows = [nuggets[i : i + self.window] for i in range(0, len(nuggets), self.window)]
            found = await asyncio.gather(
                *(self._ask_nuggets(item, part, model) for part in windows)
            )
            return [judgment for part in found for judgment in part]
        return [by_words(item, nugget) for nugget in nuggets]

    def asked(self, item: Item) -> list[tuple[int | None, AskedNugget | None]]:
        """Return the nuggets that are labelled, each on the whole response.

        Raises JudgmentFailed where the topic has no bank.
        """
        return [(None, as_asked(nugget)) for nugget in answerable(item.topic)]

    def given_nugget(self, item: Item, nugget: AskedNugget | None, label: str) -> Judgment:
        """Return the judgment that somebody else's assignment makes.

        Raises JudgmentFailed for `failed`, and for what is none of the three labels.
        """
        plain = label_among(label, (*ORDER, FAILED))
        if plain == FAILED:
            raise JudgmentFailed(NOT_GIVEN, "its assignment failed")
        if plain is None:
            raise JudgmentFailed("parse", f"label {label!r} is none of {', '.join(ORDER)}")
        return judgment_of(item, label=plain, attester="given", nugget=nugget)

    async def _ask_nuggets(
        self, item: WholeResponse, nuggets: Sequence[Nugget], model: Model
    ) -> list[Judgment]:
        """Ask about all nuggets at once and, where the reply does not fit them, one by one."""
        texts = [statement_of(nugget) for nugget in nuggets]
        try:
            prediction = await model.predict(
                ASSIGN, query=item.topic.title, response=item.text, nuggets=texts
            )
        except JudgmentFailed as failed:
            if len(nuggets) > 1 and failed.kind in ("parse", "cut"):
                each = await asyncio.gather(*(self._ask_nuggets(item, [n], model) for n in nuggets))
                return [judgment for part in each for judgment in part]
            return [replace(unjudged(item, failed), nugget=as_asked(nugget)) for nugget in nuggets]
        judgments = [
            nugget_judgment(
                item, nugget, given.label, given.reason, "llm", where(item, nugget, given.label)
            )
            for nugget, given in zip(nuggets, prediction.fields["assignments"], strict=True)
        ]
        return [replace(judgments[0], usage=prediction.call.usage), *judgments[1:]]


def answerable(topic: Topic) -> list[Nugget]:
    """Return the nuggets that a response can state. Raises JudgmentFailed without a bank."""
    # A question that nobody can answer is stated by no response.
    return [nugget for nugget in nuggets_given(topic) if nugget.answerable]


def by_words(item: WholeResponse, nugget: Nugget) -> Judgment:
    """Return whether the response states a nugget, as far as words show it.

    Of a question one answer will do, or all of them where the bank wants them together.
    """
    matches = [stated(item.text, nugget, answer) for answer in nugget.gold_answers]
    best = max(matches, key=lambda match: ORDER[match.label])
    if nugget.together:
        count = sum(match.label == STATED for match in matches)
        label = STATED if count == len(matches) else PARTLY if count else best.label
        if label == STATED and count < len(matches):
            label = PARTLY
        reason = f"{count} of {len(matches)} answers"
        return nugget_judgment(item, nugget, label, reason, "lexical", passage(item, best))
    return nugget_judgment(item, nugget, best.label, best.reason, "lexical", passage(item, best))


def where(item: WholeResponse, nugget: Nugget, label: str) -> Evidence | None:
    """Return the passage that states what a model found, as far as words show it."""
    return None if label == NOT_STATED else by_words(item, nugget).evidence


def passage(item: WholeResponse, match: Match) -> Evidence | None:
    """Return the passage of the response that states something; None where none is known."""
    if match.label == NOT_STATED or match.start >= match.end:
        return None
    return Evidence(match.start, match.end, item.text[match.start : match.end])


FAILED = "failed"
"""The label that AutoNuggetizer gives where its model gave none."""
ORDER = {NOT_STATED: 0, PARTLY: 1, STATED: 2}


def nugget_judgment(
    item: Item, nugget: Nugget, label: str, reason: str, by: str, evidence: Evidence | None = None
) -> Judgment:
    """Return the judgment on a nugget; `evidence` is the passage of the response."""
    fields = {"label": label, "reason": reason, "attester": by, "evidence": evidence}
    return judgment_of(item, nugget=as_asked(nugget), **fields)


def as_asked(nugget: Nugget) -> AskedNugget:
    """Return what a judgment keeps of its nugget."""
    return AskedNugget(nugget.nugget_id, statement_of(nugget), nugget.importance)


def statement_of(nugget: Nugget) -> str:
    """Return a nugget as a model is asked about it: itself, or its question with its answers."""
    if not nugget.is_question:
        return nugget.text
    answers = [answer.text for answer in nugget.answers]
    return f"{nugget.text} {('; ' if nugget.together else ' / ').join(answers)}"

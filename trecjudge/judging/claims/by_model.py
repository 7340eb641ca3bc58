"""The model detector, and a cascade from cheap to expensive detectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.by_words import LexicalDetector, missing_numbers
from trecjudge.judging.claims.search import (
    AMBIGUOUS,
    ATTRIBUTED,
    CONTRADICTED,
    EXACT,
    INFERENCE,
    PARAPHRASE,
    UNATTRIBUTED,
    Library,
    Passage,
    Verdict,
    locate_quote,
    match_of,
)
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import Model, Prediction, Program, ReplyLength
from trecjudge.records import Source
from trecjudge.text.chat_tokens import Fence, neutralize
from trecjudge.text.embeddings import Embedder

ATTRIBUTE = Program(
    "attribute", "trecjudge.judging.claims.program:Attribute", length=ReplyLength(fixed=140)
)
NOT_FOUND = "evidence_not_found"
_HEADING = Fence(
    re.compile(
        r"^[^\S\n]*(?P<closing>Document\s*\d+)(?=\s*[:\uff1a])", re.MULTILINE | re.IGNORECASE
    ),
    "document",
)
_CONTEXT = 200
"""Characters shown on either side of a passage."""
# "They did not" may be evidence; "of the" stands everywhere.
_FEWEST_WORDS = 3
T = TypeVar("T")


class Detector(Protocol):
    """Decides on a claim: attributed, unattributed, contradicted or ambiguous."""

    @property
    def name(self) -> str:
        """Its name in settings and judgments."""

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the verdict. Raises JudgmentFailed where there can be none."""


@dataclass(frozen=True, slots=True)
class ModelDetector:
    """Asks a model, with the passages that are most likely to hold the claim.

    Documents that have together no more than `characters` are given whole. Else the likely
    passages are read, so many characters at a time, until the claim is not UNATTRIBUTED or none
    is left; after `rounds` of them the rest is unread, and so the claim unjudged. With an
    `embedder` passages are looked for by meaning too.
    """

    model: Model
    program: Program = ATTRIBUTE
    characters: int = 8000
    rounds: int = 3
    embedder: Embedder | None = None
    name: str = "llm"

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the model's verdict, its quotes verified."""
        parts = list(self._parts(claim, library))
        if not parts:
            library.require_text()
            nothing = "nothing in the documents is like it" if library.documents else "no document"
            return Verdict(UNATTRIBUTED, library.what_was_read(nothing), self.name)
        found = None
        for part in parts[: self.rounds]:
            found = _read(claim, part, await self._ask_model(claim, part))
            if found.label == AMBIGUOUS and library.in_part:
                library.require_text()
            if found.label != UNATTRIBUTED:
                return found
        assert found is not None
        rest = (passage for part in parts[self.rounds :] for passage in part)
        if unread := sum(library.must_be_read(claim, passage.document) for passage in rest):
            message = f"{unread} passages that may hold it were not read: raise `rounds`"
            raise JudgmentFailed("not_read", message)
        library.require_text()
        return found

    async def _ask_model(self, claim: str, part: Sequence[Passage]) -> Prediction:
        return await self.model.predict(self.program, passages=shown_passages(part), claim=claim)

    def _parts(self, claim: str, library: Library) -> Iterator[list[Passage]]:
        """Yield what is read at a time: all documents, or the likely passages, likeliest first."""
        whole = [Passage(d, 0, len(d.full_text), 0.0) for d in library.documents]
        if sum(passage.end for passage in whole) <= self.characters:
            yield from [whole] if whole else []
            return
        found = map(_with_context, library.by_meaning(self.embedder).passages(claim))
        parts = in_parts(found, lambda passage: passage.end - passage.start, self.characters)
        for position, part in enumerate(parts):
            # Parts come likeliest first: after an unlikely one nothing is worth a call.
            if position and not part[0].likely:
                return
            yield part


def in_parts(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield items in order: at a time as many as have together no more than `most`, or one."""
    part: list[T] = []
    total = 0
    for item in items:
        if part and total + size(item) > most:
            yield part
            part, total = [], 0
        part.append(item)
        total += size(item)
    if part:
        yield part


def shown_passages(passages: Sequence[Passage]) -> str:
    """Return passages as a model sees them: by document, in their order there."""
    by_document: dict[int, list[Passage]] = {}
    for passage in passages:
        by_document.setdefault(id(passage.document), []).append(passage)
    lines = []
    for number, own in enumerate(by_document.values(), 1):
        lines.append(f"Document {number}:")
        # No text may begin another document.
        texts = (passage.text for passage in sorted(own, key=lambda p: p.start))
        lines += [neutralize(text, _HEADING) for text in texts]
    return "\n".join(lines)


def _with_context(passage: Passage) -> Passage:
    """Return a passage with the words around it, whole ones."""
    text = passage.document.full_text
    start = text.rfind(" ", 0, max(0, passage.start - _CONTEXT)) + 1
    end = text.find(" ", min(len(text), passage.end + _CONTEXT))
    return replace(passage, start=min(start, passage.start), end=len(text) if end < 0 else end)


def _read(claim: str, part: Sequence[Passage], prediction: Prediction) -> Verdict:
    """Return the verdict that a reply makes; without a quote that is there it is AMBIGUOUS."""
    fields, usage = prediction.fields, prediction.call.usage
    label, reason = fields["verdict"], fields["reason"]
    quotes = [quote for quote in fields["quotes"] if quote.strip()]
    found = [locate_quote(quote, part) for quote in quotes]
    sources: tuple[Source, ...] = tuple(dict.fromkeys(filter(None, found)))
    text = "\n".join(source.excerpt for source in sources)
    match = ""
    if label == ATTRIBUTED:
        match = match_of(claim, sources)
        if match == PARAPHRASE and fields["match"] not in ("NONE", EXACT):
            match = fields["match"]
    asserts = label == ATTRIBUTED and match != INFERENCE
    if label in (ATTRIBUTED, CONTRADICTED) and (
        what := _not_there(found) or no_evidence(claim, text, asserts)
    ):
        reason = f"{NOT_FOUND}: {what}; the model said {label}: {reason}"
        return Verdict(AMBIGUOUS, reason, "llm", sources, usage=usage)
    if asserts:
        reason = with_note(claim, text, reason)
    return Verdict(label, reason, "llm", sources, match, usage=usage)


def _not_there(found: Sequence[Source | None]) -> str:
    """Return what is wrong with the quotes of a decision; empty where all are in the documents."""
    if not found:
        return "no quote was given"
    return "a quote is not in the documents" if None in found else ""


def no_evidence(claim: str, text: str, asserts: bool) -> str:
    """Return why a text of the documents is no evidence on a claim; empty where it may be some.

    Whether other words mean the same is for the model to judge. It must have content, though, and
    where it `asserts` the claim must not be the claim itself with another number.
    """
    wording = wording_of(text)
    if len(wording.forms) < _FEWEST_WORDS and not any(map(_is_word, wording.meaningful_forms)):
        return "what was quoted says nothing"
    if asserts and (what := _other_number(claim, text)):
        return f"what was quoted has another number than {what}"
    return ""


def _is_word(form: str) -> bool:
    # A letter of Latin script is not a word, but a digit or a character may be.
    return len(form) > 1 or not (form.isascii() and form.isalpha())


def _other_number(claim: str, text: str) -> str:
    """Return the numbers of the claim where the text has others, and no other words."""
    lacking = missing_numbers(claim, text)
    ours, theirs = wording_of(claim), wording_of(text)
    others = {term.form for term in theirs.terms if term.number} - set(ours.forms)
    words = {term.form for term in theirs.meaningful if not term.number}
    same = bool(words) and words <= ours.meaningful_forms
    return ", ".join(map(repr, lacking)) if lacking and others and same else ""


def with_note(claim: str, text: str, reason: str) -> str:
    """Return a reason, with the numbers of the claim that the evidence lacks in its words."""
    lacking = missing_numbers(claim, text)
    note = f"(not in what was quoted: {', '.join(map(repr, lacking))})" if lacking else ""
    return " ".join(filter(None, (reason, note)))


@dataclass(frozen=True, slots=True)
class Cascade:
    """Detectors from cheap to expensive: each decides only where it is sure."""

    cheap: Sequence[LexicalDetector]
    last: Detector
    name: str = "cascade"

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the first verdict that is sure, or the last; `spared` counts the call not made."""
        found = await first_sure(self.cheap, claim, library)
        if found is None:
            return await self.last.verdict(claim, library)
        spared = int(isinstance(self.last, ModelDetector))
        return replace(found, usage=replace(found.usage, spared=spared))


async def first_sure(
    detectors: Sequence[LexicalDetector], claim: str, library: Library
) -> Verdict | None:
    """Return the first verdict of which a detector is sure, or None."""
    for detector in detectors:
        try:
            found = await detector.verdict(claim, library)
        except JudgmentFailed:  # what words cannot compare a model may
            continue
        if detector.is_sure(claim, found, library):
            return found
    return None

"""A detector that asks a model, and detectors in a row: each leaves the rest to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from trecjudge.claims.offline import LexicalDetector, missing_numbers
from trecjudge.claims.search import Library, Passage
from trecjudge.claims.verdicts import (
    AMBIGUOUS,
    ATTRIBUTED,
    CONTRADICTED,
    EXACT,
    INFERENCE,
    PARAPHRASE,
    UNATTRIBUTED,
    Verdict,
    match_of,
    quoted,
)
from trecjudge.errors import JudgmentFailed
from trecjudge.lexical.wording import wording_of
from trecjudge.llm.model import Model, Prediction, Program, ReplyLength
from trecjudge.records import Source
from trecjudge.text.embeddings import Embedder
from trecjudge.text.tokens import comparable, scripts, tokenize

ATTRIBUTE = Program(
    "attribute", "trecjudge.claims.program:Attribute", length=ReplyLength(fixed=140)
)
NOT_FOUND = "evidence_not_found"
_CONTEXT = 200
T = TypeVar("T")


class Detector(Protocol):
    """Decides what becomes of a claim."""

    @property
    def name(self) -> str:
        """How it is called in settings and judgments."""

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
        """Return what the model says, its quotes verified."""
        parts = list(self._parts(claim, library))
        if not parts:
            library.require_read(claim)
            nothing = "nothing in the documents is like it" if library.documents else "no document"
            return Verdict(UNATTRIBUTED, nothing, self.name)
        found = None
        for part in parts[: self.rounds]:
            found = _read(claim, part, await self._asked(claim, part))
            if found.label != UNATTRIBUTED:
                return found
        assert found is not None
        if unread := sum(map(len, parts[self.rounds :])):
            message = f"{unread} passages that may hold it were not read: raise `rounds`"
            raise JudgmentFailed("not_read", message)
        if library.unread:
            library.require_read(claim)
        return found

    async def _asked(self, claim: str, part: Sequence[Passage]) -> Prediction:
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
        lines += [passage.text for passage in sorted(own, key=lambda p: p.start)]
    return "\n".join(lines)


def _with_context(passage: Passage) -> Passage:
    """Return a passage with the words around it, whole ones."""
    text = passage.document.full_text
    start = text.rfind(" ", 0, max(0, passage.start - _CONTEXT)) + 1
    end = text.find(" ", min(len(text), passage.end + _CONTEXT))
    return replace(passage, start=min(start, passage.start), end=len(text) if end < 0 else end)


def _read(claim: str, part: Sequence[Passage], prediction: Prediction) -> Verdict:
    """Return the verdict that a reply makes; quotes that are not there make it AMBIGUOUS."""
    fields, usage = prediction.fields, prediction.call.usage
    label, reason = fields["verdict"], fields["reason"]
    quotes = [quote for quote in fields["quotes"] if quote.strip()]
    found = [quoted(quote, part) for quote in quotes]
    sources: tuple[Source, ...] = tuple(dict.fromkeys(filter(None, found)))
    match = ""
    if label == ATTRIBUTED:
        match = match_of(claim, sources)
        if match == PARAPHRASE and fields["match"] not in ("NONE", EXACT):
            match = fields["match"]
    if label in (ATTRIBUTED, CONTRADICTED) and (what := _unproved(claim, label, match, found)):
        reason = f"{NOT_FOUND}: {what}; the model said {label}: {reason}"
        return Verdict(AMBIGUOUS, reason, "llm", sources, usage=usage)
    return Verdict(label, reason, "llm", sources, match, usage=usage)


def _unproved(claim: str, label: str, match: str, found: Sequence[Source | None]) -> str:
    """Return what the quotes lack to prove a verdict; empty where they are enough.

    Each must be in the documents. What is inferred need not have the numbers of the claim.
    """
    if not found:
        return "no quote was given"
    if None in found:
        return "a quote is not in the documents"
    text = "\n".join(source.excerpt for source in found if source)
    return proof_lacks(claim, text, numbers=label == ATTRIBUTED and match != INFERENCE)


def proof_lacks(claim: str, text: str, numbers: bool) -> str:
    """Return what a text lacks that is to prove a claim; empty where it is enough.

    It must have a word of the claim that tells something, where they share a script, and with
    `numbers` all its numbers.
    """
    said = {token.form for token in tokenize(text)}
    words = [term.form for term in wording_of(claim).terms if term.content]
    if words and said.isdisjoint(words) and comparable(scripts(claim), scripts(text)):
        return "it has no word of the claim"
    if numbers and (lacking := missing_numbers(claim, text)):
        return f"it lacks {', '.join(map(repr, lacking))}"
    return ""


@dataclass(frozen=True, slots=True)
class Cascade:
    """Detectors in a row: each decides where it is sure, and leaves the rest to the next."""

    cheap: Sequence[LexicalDetector]
    last: Detector
    name: str = "cascade"

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the first verdict that is sure, or the last; it tells what a model was spared."""
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

"""Results of texts: kept ones, those under way, and the others by requests about many at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.client import Client
from trecjudge.models.plan import Planner
from trecjudge.models.retrieval.answers import dimensions_of
from trecjudge.models.retrieval.requests import Entry, TextReplies, TextRequests, TextsRequest

SHORTEST = 128
"""Characters below which a text that is too long is not cut any more."""
OF_TEXTS = frozenset({"too_long", "too_large", "filtered", "refused"})
"""Failures that one text, or too many of them, may cause."""
_OF_THE_BATCH = re.compile(
    r"\bbatch|(?:payload|entity|request) too large"
    r"|(?:inputs?|texts|documents|array|list)\b.{0,60}\b(?:most|max)"
)
_FORM = re.compile(r"missing field `?texts|\btexts\b.{0,20}(?:missing|required)")
Line = asyncio.Future[str]


class Asks(Protocol):
    """What requests about texts are asked through: a client, or one that only plans."""

    async def ask(self, request: TextsRequest) -> list[str]:
        """Return a line for each text. Raises JudgmentFailed, ModelError."""

    def reuse(self, asked_now: bool) -> None:
        """Count a result that is kept: `asked_now` by this command, else by an earlier one."""

    def spent(self) -> dict[str, Any]:
        """Return what was spent so far."""

    def record(self) -> dict[str, Any] | None:
        """Return what makes it repeatable."""


class TextClient(Client):
    """A client whose requests are about texts."""

    async def ask(self, request: TextsRequest) -> list[str]:
        """Return a line for each text. Raises JudgmentFailed, ModelError."""
        if self.offline:
            raise JudgmentFailed("offline", "the result is not in the cache")
        fields, _ = await self._shared(request, self.settings.max_tokens)
        lines: list[str] = fields["lines"]
        return lines

    def reuse(self, asked_now: bool) -> None:
        """Count a result that is kept."""
        self.spending.reuse(asked_now)


class TextPlanner(Planner):
    """A planner of requests about texts."""

    async def ask(self, request: TextsRequest) -> list[str]:
        """Note what the request would cost, and raise JudgmentFailed."""
        raise self.planned(request)

    def reuse(self, asked_now: bool) -> None:
        """Count a result that is kept."""
        self.plan.cached += 1


@dataclass(slots=True)
class Texts:
    """The results of texts, one line each.

    A result that is kept, or that a request under way will bring, is not asked for. `size` texts go
    into one request: fewer, once the endpoint has refused so many. `dimensions` are those of the
    vectors, once they are known.
    """

    replies: TextReplies
    requests: TextRequests
    door: Asks
    size: int
    dimensions: int | None = None
    notify: Callable[[str], None] = lambda message: None
    _is_proven: bool = False
    _has_told: bool = False
    _coming: dict[str, Line] = field(default_factory=dict)

    async def lines(self, texts: Sequence[str], question: str = "") -> list[str]:
        """Return the result of each text. Raises JudgmentFailed, ModelError.

        After a failure the other texts are still asked about, and kept.
        """
        entries = [self.requests.entry(text, question) for text in texts]
        found, new = self._looked_up(entries)
        try:
            await self._ask_all(new, question)
        finally:
            for entry in new:
                _fail(self._coming.pop(entry.key), JudgmentFailed("interrupted", "not asked"))
        return [await found[entry.key] for entry in entries]

    def _looked_up(self, entries: Sequence[Entry]) -> tuple[dict[str, Line], list[Entry]]:
        """Return the results to wait for by key, and the texts that are to be asked about."""
        found: dict[str, Line] = {}
        new = []
        # No await in here, or two callers would ask about the same text.
        for entry in entries:
            if known := found.get(entry.key) or self._coming.get(entry.key):
                self.door.reuse(True)
                found[entry.key] = known
                continue
            place = found[entry.key] = asyncio.get_running_loop().create_future()
            line = self.replies.line(entry)
            if line is None:
                self._coming[entry.key] = place
                new.append(entry)
            else:
                self.door.reuse(self.replies.was_asked(entry))
                self._learn(line)
                place.set_result(line)
        return found, new

    def _learn(self, line: str) -> None:
        """Note the dimensions of a vector. Raises ModelError for others than those before."""
        if not self.requests.are_vectors:
            return
        self.dimensions = self.dimensions or dimensions_of(line)
        if self.dimensions != dimensions_of(line):
            raise ModelError(
                f"{self.requests.settings.model}: kept vectors have {dimensions_of(line)} and"
                f" {self.dimensions} dimensions, so the model has changed: add --refresh"
            )

    async def _ask_all(self, left: list[Entry], question: str) -> None:
        if left and not self._is_proven:
            # One request first: how many texts it takes, and how long vectors are, is not known.
            now, left = left[: self.size], left[self.size :]
            await self._ask(now, question, now[0].text)
            self._is_proven = True
        batches = [left[start : start + self.size] for start in range(0, len(left), self.size)]
        asked = (self._ask(batch, question, batch[0].text) for batch in batches)
        # All of them, since others may wait for what one of them brings.
        for error in await asyncio.gather(*asked, return_exceptions=True):
            if error is not None:
                raise error

    async def _ask(self, entries: list[Entry], question: str, first: str) -> None:
        """Ask about texts: again with fewer or shorter ones where the endpoint refuses them.

        Raises ModelError; a JudgmentFailed goes to those who wait for the texts.
        """
        request = self.requests.about(entries, question, first, self.dimensions)
        try:
            lines = await self.door.ask(request)
        except JudgmentFailed as failed:
            for part in self._again(entries, failed):
                await self._ask(part, question, first)
            for entry in entries:
                _fail(self._coming.get(entry.key), failed)
            return
        for entry, line in zip(entries, lines, strict=True):
            self._learn(line)
            place = self._coming.get(entry.key)
            if place is not None and not place.done():
                place.set_result(line)

    def _again(self, entries: list[Entry], failed: JudgmentFailed) -> list[list[Entry]]:
        """Return the requests to make in place of one that was refused; none where that is final.

        One text may be refused and all the others taken.
        """
        message = failed.message.lower()
        if failed.kind not in OF_TEXTS:
            return []
        if failed.kind == "refused" and _FORM.search(message) and self.requests.takes_other_form():
            return [entries]
        if len(entries) > 1:
            half = (len(entries) + 1) // 2
            if _OF_THE_BATCH.search(message):
                self.size = min(self.size, half)
            return [entries[:half], entries[half:]]
        (entry,) = entries
        if failed.kind != "too_long" or len(entry.text) < SHORTEST:
            return []
        if not self._has_told:
            self._has_told = True
            self.notify(
                f"{self.requests.settings.model}: a text of {len(entry.text):,} characters is too"
                " long for it: only the beginning of such texts counts"
            )
        # Under the key of the whole text: what was found out is not asked again.
        return [[replace(entry, text=_beginning(entry.text))]]


def _fail(place: Line | None, failed: JudgmentFailed) -> None:
    """Let those who wait for a result know that there is none, unless there is one."""
    if place is not None and not place.done():
        place.set_exception(failed)
        place.exception()  # looked at: there may be nobody who waits


def _beginning(text: str) -> str:
    """Return the first half of a text, up to the end of a word."""
    half = text[: len(text) // 2]
    return half.rpartition(" ")[0] or half

"""Vectors and scores of texts from an endpoint: kept ones first, the others many at once."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.files import default_folder
from trecjudge.models.cache.store import CachedReply, ReplyCache, RequestInfo
from trecjudge.models.client import Client
from trecjudge.models.model import Program
from trecjudge.models.opening import ModelOptions
from trecjudge.models.plan import Planner
from trecjudge.models.prompt import PlainPrompt, Prompts
from trecjudge.models.reading import Unparsed
from trecjudge.models.requests import KeptReply, Replies, Request, Requests
from trecjudge.models.retrieval.settings import (
    EmbeddingSettings,
    RerankSettings,
    TextSettings,
    dimensions_of,
    lines_of,
    text_settings,
    vector_of,
)
from trecjudge.models.spending import Spending

TEXT = "text"
"""The role of a message that is one of the texts; there may be others on what was wrong."""
QUESTION = "query"


@dataclass(frozen=True, slots=True)
class TextEntry:
    """One text, and the keys of its result: one for each address."""

    text: str
    keys: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key that its result is kept under."""
        return self.keys[0]

    @property
    def mark(self) -> int:
        """60 bits of the key."""
        return int(self.key[:15], 16)


@dataclass(frozen=True, slots=True)
class TextsPrompt(PlainPrompt):
    """What a reply to a request about texts must be: one line for each.

    Where `are_vectors`, all have the same number of dimensions: `dimensions`, once that is known.
    """

    are_vectors: bool = False
    dimensions: int | None = None

    def parse(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the lines. Raises Unparsed for too many, too few, or one of another length."""
        lines = lines_of(reply, length or 0)
        if self.are_vectors:
            found = sorted({dimensions_of(line) for line in lines})
            wanted = [self.dimensions or found[0]]
            if found != wanted:
                raise Unparsed(f"its vectors have {found} dimensions, must have {wanted}.")
        return {"lines": lines}


@dataclass(frozen=True, slots=True)
class TextsRequest(Request):
    """A request about several texts; `entries` are what its results are kept under."""

    entries: tuple[TextEntry, ...] = ()


@dataclass
class TextRequests(Requests):
    """Makes requests about texts; `question` is what texts are scored for, "" for vectors."""

    form: str = "documents"
    program: Program = field(default=Program("embeddings", ""))

    @classmethod
    def of(cls, settings: TextSettings) -> TextRequests:
        """Return the requests of a service."""
        form = "documents"
        if isinstance(settings, RerankSettings) and settings.form == "texts":
            form = "texts"
        program = Program(settings.service.section, "")
        return cls(settings, Prompts({}), form=form, program=program)

    @property
    def are_vectors(self) -> bool:
        """Whether the results are vectors, not scores."""
        return isinstance(self.settings, EmbeddingSettings)

    def takes_other_form(self) -> bool:
        """Call the texts otherwise from now on; return whether that is a change."""
        may_change = isinstance(self.settings, RerankSettings) and self.settings.form == "auto"
        changes = may_change and self.form == "documents"
        self.form = "texts" if changes else self.form
        return changes

    def entry(self, text: str, question: str = "") -> TextEntry:
        """Return the entry of a text: its keys are those of a request about it only.

        Half of a surrogate pair, which cannot be sent, becomes `?`.
        """
        text, question = (part.encode(errors="replace").decode() for part in (text, question))
        asked = {"model": self.settings.model, "text": text, **self._dimensions_field}
        asked |= {QUESTION: question} if question else {}
        return TextEntry(text, tuple(self.keys(self.settings.extra_body | asked)))

    def about(
        self, entries: Sequence[TextEntry], question: str, first: str, dimensions: int | None
    ) -> TextsRequest:
        """Return the request about these texts; `first` is what requests in place of it share."""
        more = {QUESTION: question} if question else {}
        messages = [{"role": TEXT, "content": entry.text} for entry in entries]
        joined = "".join([self.form, *(entry.key for entry in entries)])
        key = hashlib.sha256(joined.encode()).hexdigest()
        vectors = self.are_vectors
        prompt = TextsPrompt(more, self.program, are_vectors=vectors, dimensions=dimensions)
        return TextsRequest(
            prompt, messages, key, len(entries), (), first, 0, entries=tuple(entries)
        )

    def body(
        self,
        messages: list[dict[str, Any]],
        more: dict[str, Any],
        max_tokens: int | None = None,
    ) -> dict[str, Any]:
        """Return the JSON body of a request, as the endpoint gets it."""
        settings = self.settings
        texts = [message["content"] for message in messages if message["role"] == TEXT]
        body: dict[str, Any] = {"model": settings.model}
        if isinstance(settings, EmbeddingSettings):
            body |= {"input": texts, "encoding_format": settings.encoding, **self._dimensions_field}
        elif self.form == "texts":
            body = {"texts": texts}
        else:
            body |= {"documents": texts, "top_n": len(texts)}
        return settings.extra_body | body | more

    @property
    def _dimensions_field(self) -> dict[str, Any]:
        dimensions = getattr(self.settings, "dimensions", None)
        return {} if dimensions is None else {"dimensions": dimensions}


@dataclass(slots=True)
class TextReplies(Replies):
    """Kept results of texts: a request is answered where each of its texts is."""

    def line(self, entry: TextEntry) -> str | None:
        """Return the kept result of a text, None where there is none."""
        if self.refresh and not self.was_asked(entry):
            return None
        found = (self.cache.get(key) for key in entry.keys)
        return next((reply.text for reply in found if reply is not None), None)

    def was_asked(self, entry: TextEntry) -> bool:
        """Return whether this command itself asked about the text."""
        return entry.mark in self.asked_marks

    def find_kept(self, request: Request) -> KeptReply | None:
        """Return the results of a request, where all of them are kept."""
        assert isinstance(request, TextsRequest)
        lines = [line for entry in request.entries if (line := self.line(entry)) is not None]
        if len(lines) < len(request.entries):
            return None
        return KeptReply(request, CachedReply("\n".join(lines)), {"lines": lines})

    async def keep(self, request: Request, reply: CachedReply) -> bool:
        """Keep the result of each text; return whether all are on disk."""
        assert isinstance(request, TextsRequest)
        count = len(request.entries)
        share, rest = divmod(reply.prompt_tokens, count)
        asked = RequestInfo(request.prompt.program.name)
        lines = zip(request.entries, lines_of(reply.text, count), strict=True)
        origin = self.requests.origin
        kept = [
            self.cache.put(entry.key, CachedReply(line, share + (number < rest)), origin, asked)
            for number, (entry, line) in enumerate(lines)
        ]
        are_kept = await asyncio.gather(*kept)
        self.asked_marks.update(entry.mark for entry in request.entries)
        return all(are_kept)


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


class TextClient(Client):
    """A client whose requests are about texts."""

    async def ask(self, request: TextsRequest) -> list[str]:
        """Return a line for each text. Raises JudgmentFailed, ModelError."""
        if self.offline:
            raise JudgmentFailed("offline", "the result is not in the cache")
        fields, _ = await self._ask_once(request)
        lines: list[str] = fields["lines"]
        return lines

    def reuse(self, asked_now: bool) -> None:
        """Count a result that is kept."""
        self.spending.reuse(asked_now)


class TextPlanner(Planner):
    """A planner of requests about texts."""

    async def ask(self, request: TextsRequest) -> list[str]:
        """Note what the request would cost, and raise JudgmentFailed."""
        raise self.plan_request(request)

    def reuse(self, asked_now: bool) -> None:
        """Count a result that is kept."""
        self.plan.cached += 1


@dataclass(slots=True)
class TextResults:
    """The results of texts, one line each.

    A result that is kept, or that a request under way will bring, is not asked for. `size` texts go
    into one request: fewer, once the endpoint has refused so many. `dimensions` are those of the
    vectors, once they are known.
    """

    replies: TextReplies
    requests: TextRequests
    door: TextClient | TextPlanner
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

    def _looked_up(self, entries: Sequence[TextEntry]) -> tuple[dict[str, Line], list[TextEntry]]:
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

    async def _ask_all(self, left: list[TextEntry], question: str) -> None:
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

    async def _ask(self, entries: list[TextEntry], question: str, first: str) -> None:
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

    def _again(self, entries: list[TextEntry], failed: JudgmentFailed) -> list[list[TextEntry]]:
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


# Vectors and scores of texts, as an endpoint gives them.

PROBE = "dimensions"
"""A text whose vector shows how many dimensions there are."""


@dataclass(frozen=True, slots=True)
class EndpointVectors:
    """Vectors of length 1 from an endpoint's `/v1/embeddings`."""

    texts: TextResults

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.texts.requests.settings.model

    @property
    def digest(self) -> str:
        """The sha256 of the endpoint's address, its model and the dimensions asked for."""
        settings = self.texts.requests.settings
        assert isinstance(settings, EmbeddingSettings)
        parts = [settings.url, settings.model, str(settings.dimensions or "")]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    async def dimensions(self) -> int:
        """Return how many numbers a vector has. Raises JudgmentFailed, ModelError."""
        if self.texts.dimensions is None:
            await self.texts.lines([PROBE])
        return self.texts.dimensions or 0

    async def of(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions): rows of length 1, zeros for blank texts.

        Raises JudgmentFailed, ModelError.
        """
        numpy = importlib.import_module("numpy")
        places = [place for place, text in enumerate(texts) if text.strip()]
        lines = await self.texts.lines([texts[place] for place in places])
        found = numpy.zeros((len(texts), await self.dimensions()), dtype=numpy.float32)
        for place, line in zip(places, lines, strict=True):
            found[place] = vector_of(line)
        return found

    def spent(self) -> dict[str, Any]:
        """Return calls, results from the cache, tokens and cost so far."""
        return self.texts.door.spent()


@dataclass(frozen=True, slots=True)
class EndpointRanker:
    """Scores of texts for a question, from an endpoint's `/rerank`."""

    texts: TextResults

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.texts.requests.settings.model

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the question: the more, the better.

        Each is kept by question and text: the model must not weigh the texts against one another.
        Raises JudgmentFailed, ModelError.
        """
        return [float(line) for line in await self.texts.lines(texts, question)]

    def spent(self) -> dict[str, Any]:
        """Return calls, results from the cache, tokens and cost so far."""
        return self.texts.door.spent()


@asynccontextmanager
async def open_vectors(
    options: ModelOptions, given: Mapping[str, Any], notify: Callable[[str], None]
) -> AsyncIterator[EndpointVectors]:
    """Yield what gives vectors; `given` are the settings of `embeddings:`. Raises as `open_model`.

    It shares budget and cache with the chat model that the same options open.
    """
    async with _open_texts(EmbeddingSettings, options, given, notify) as texts:
        yield EndpointVectors(texts)


@asynccontextmanager
async def open_ranker(
    options: ModelOptions, given: Mapping[str, Any], notify: Callable[[str], None]
) -> AsyncIterator[EndpointRanker]:
    """Yield what gives scores; `given` are the settings of `rerank:`. Raises as `open_model`."""
    async with _open_texts(RerankSettings, options, given, notify) as texts:
        yield EndpointRanker(texts)


@asynccontextmanager
async def _open_texts(
    owner: type[TextSettings],
    options: ModelOptions,
    given: Mapping[str, Any],
    notify: Callable[[str], None],
) -> AsyncIterator[TextResults]:
    section = owner.service.section
    if not options.use:
        raise ModelError(f"{section} of an endpoint: add --use-env-llm, so that it may be asked")
    settings = text_settings(owner, given, os.environ, options.asks)
    prices = settings.pricing
    if options.command.budget.max_cost is not None and prices is None:
        raise ModelError(
            f"--max cost=N: no prices are known for {settings.model!r}; set {section}.prices"
        )
    requests = TextRequests.of(settings)
    folder = options.cache_folder or default_folder()
    cache = ReplyCache(folder, notify, options.cache_from, writes=options.asks)
    try:
        asked = set() if options.plan else options.command.asked
        replies = TextReplies(requests, cache, options.refresh, asked)
        dimensions = getattr(settings, "dimensions", None)
        if options.plan:
            planner = TextPlanner(replies, prices, seen=options.command.asked)
            yield TextResults(replies, requests, planner, settings.batch_texts, dimensions, notify)
            return
        spending = Spending(options.command.budget, prices)
        options.command.spent.append(spending)
        async with TextClient(replies, spending, options.offline, notify) as client:
            yield TextResults(replies, requests, client, settings.batch_texts, dimensions, notify)
    finally:
        cache.close()

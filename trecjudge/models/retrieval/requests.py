"""Requests about many texts at once, whose results are kept text by text."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trecjudge.models.cache.replies import CachedReply, RequestInfo
from trecjudge.models.model import Program
from trecjudge.models.prompt import PlainPrompt, Prompts
from trecjudge.models.reading import Unparsed
from trecjudge.models.requests import KeptReply, Replies, Request, Requests
from trecjudge.models.retrieval.answers import dimensions_of, lines_of
from trecjudge.models.retrieval.settings import EmbeddingSettings, RerankSettings, TextSettings

TEXT = "text"
"""The role of a message that is one of the texts; there may be others on what was wrong."""
QUESTION = "query"


@dataclass(frozen=True, slots=True)
class Entry:
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

    entries: tuple[Entry, ...] = ()


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

    def entry(self, text: str, question: str = "") -> Entry:
        """Return the entry of a text: its keys are those of a request about it only.

        Half of a surrogate pair, which cannot be sent, becomes `?`.
        """
        text, question = (part.encode(errors="replace").decode() for part in (text, question))
        asked = {"model": self.settings.model, "text": text, **self._wanted}
        asked |= {QUESTION: question} if question else {}
        return Entry(text, tuple(self.keys(self.settings.extra_body | asked)))

    def about(
        self, entries: Sequence[Entry], question: str, first: str, dimensions: int | None
    ) -> TextsRequest:
        """Return the request about these texts; `first` is what requests in place of it share."""
        more = {QUESTION: question} if question else {}
        messages = [{"role": TEXT, "content": entry.text} for entry in entries]
        joined = "".join([self.form, *(entry.key for entry in entries)])
        key = hashlib.sha256(joined.encode()).hexdigest()
        vectors = self.are_vectors
        prompt = TextsPrompt(more, self.program, are_vectors=vectors, dimensions=dimensions)
        return TextsRequest(prompt, messages, key, len(entries), (), first, 0, tuple(entries))

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
            body |= {"input": texts, "encoding_format": settings.encoding, **self._wanted}
        elif self.form == "texts":
            body = {"texts": texts}
        else:
            body |= {"documents": texts, "top_n": len(texts)}
        return settings.extra_body | body | more

    @property
    def _wanted(self) -> dict[str, Any]:
        dimensions = getattr(self.settings, "dimensions", None)
        return {} if dimensions is None else {"dimensions": dimensions}


@dataclass(slots=True)
class TextReplies(Replies):
    """Kept results of texts: a request is answered where each of its texts is."""

    def line(self, entry: Entry) -> str | None:
        """Return the kept result of a text, None where there is none."""
        if self.refresh and not self.was_asked(entry):
            return None
        found = (self.cache.get(key) for key in entry.keys)
        return next((reply.text for reply in found if reply is not None), None)

    def was_asked(self, entry: Entry) -> bool:
        """Return whether this command itself asked about the text."""
        return entry.mark in self.asked_marks

    def kept(self, request: Request) -> KeptReply | None:
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

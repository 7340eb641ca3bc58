"""Requests by what makes them what they are: program, inputs, form, settings; and their keys."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from trecjudge.cache.store import Asked, CachedReply, Origin, ReplyCache
from trecjudge.llm.habits import FORMS, Form, Habits
from trecjudge.llm.lengths import Lengths, Seen, stated_length
from trecjudge.llm.model import Program
from trecjudge.llm.prompt import PlainPrompt, Prompt, Prompts
from trecjudge.llm.reading import Unparsed
from trecjudge.llm.settings import LlmSettings

MODULE_TOKENS = 150
"""About what a reply to a module's own request has."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its messages, the body around them, and the sha256 of all that it is."""

    prompt: Prompt | PlainPrompt
    messages: list[dict[str, Any]]
    key: str
    length: int | None = None
    """How long every list of the reply must be."""
    stated: int = MODULE_TOKENS
    """About how many tokens the reply has, as its program states it."""

    def parse(self, reply: str) -> dict[str, Any]:
        """Return the output fields of a reply. Raises Unparsed, saying what is wrong."""
        return self.prompt.parse(reply, self.length)

    @property
    def mark(self) -> int:
        """60 bits of the key: enough to know a request again, and small."""
        return int(self.key[:15], 16)


@dataclass(slots=True)
class Requests:
    """Makes requests with one set of settings and prompts."""

    settings: LlmSettings
    prompts: Prompts

    @property
    def origin(self) -> Origin:
        """Endpoint and model, as the cache notes them."""
        return Origin(self.settings.url, self.settings.model)

    def make(self, program: Program, inputs: dict[str, Any], form: Form) -> Request:
        """Return the request of a program with these inputs in this form."""
        prompt = self.prompts.get(program, form)
        messages = prompt.messages(inputs)
        key = self.key(self.body(messages, prompt.request))
        aligned = inputs.get(program.aligned_with)
        stated = stated_length(program, inputs, self.settings.reasoning)
        return Request(prompt, messages, key, None if aligned is None else len(aligned), stated)

    def body(
        self,
        messages: list[dict[str, Any]],
        more: dict[str, Any],
        max_tokens: int | None = None,
    ) -> dict[str, Any]:
        """Return the JSON body of a request, as the endpoint gets it."""
        settings = self.settings
        limit = "max_completion_tokens" if settings.reasoning else "max_tokens"
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            limit: max_tokens or settings.max_tokens,
        }
        if settings.temperature is not None and not settings.reasoning:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed
        return body | more | settings.extra_body

    def key(self, body: dict[str, Any]) -> str:
        """Return the sha256 of endpoint and body: everything that can change the reply."""
        exact = orjson.dumps([self.settings.url, body], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(exact).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply that needs no asking, and its output fields."""

    request: Request
    reply: CachedReply
    fields: dict[str, Any]


@dataclass(slots=True)
class Replies:
    """The replies that a job may use without asking: of earlier jobs, and of its own calls.

    `refresh` takes none of earlier jobs; `asked_marks` tell what the command asked for itself.
    `habits` are what is known of the endpoint.
    """

    requests: Requests
    cache: ReplyCache
    refresh: bool = False
    asked_marks: set[int] = field(default_factory=set)
    habits: Habits = field(init=False)
    answered_before: bool = field(init=False)
    """Whether the endpoint is known to have answered an earlier job."""
    lengths: Lengths = field(init=False)

    def __post_init__(self) -> None:
        kept = self.cache.habits(self.requests.origin)
        self.answered_before = kept is not None
        self.habits = Habits.read(kept)
        limit = self.requests.settings.max_tokens
        self.lengths = Lengths(self._kept_lengths, self.habits.limits, limit)

    def _kept_lengths(self) -> dict[str, Seen]:
        """Return what kept replies of the model took, by program."""
        measured = self.cache.measured(self.requests.settings.model)
        return {program: Seen(*counts) for program, counts in measured.items()}

    def possible(self, program: Program, inputs: dict[str, Any]) -> dict[Form, Request]:
        """Return the request of a program with these inputs in every form it may have."""
        known = self.form_of(program)
        forms = FORMS if known is None else (known,)
        return {form: self.requests.make(program, inputs, form) for form in forms}

    def form_of(self, program: Program) -> Form | None:
        """Return the form of a program's replies, None while it is to be found out."""
        structured = self.requests.settings.structured
        if structured == "auto":
            return self.habits.forms.get(program.name)
        return "schema" if structured == "always" else "chat"

    def find(self, made: Mapping[Form, Request]) -> Kept | None:
        """Return what is kept for one of these requests."""
        return next((kept for request in made.values() if (kept := self.kept(request))), None)

    def kept(self, request: Request) -> Kept | None:
        """Return the kept reply to a request, where it parses."""
        if self.refresh and not self.asked(request):
            return None
        reply = self.cache.get(request.key)
        if reply is None:
            return None
        try:
            return Kept(request, reply, request.parse(reply.text))
        except Unparsed:
            return None

    def asked(self, request: Request) -> bool:
        """Return whether this job itself asked for the reply."""
        return request.mark in self.asked_marks

    async def keep(self, request: Request, reply: CachedReply) -> None:
        """Keep the reply to a request of this job; returns when it is on disk."""
        asked = Asked(request.prompt.program.name, request.stated)
        await self.cache.put(request.key, reply, self.requests.origin, asked)
        self.asked_marks.add(request.mark)

    def keep_habits(self) -> None:
        """Keep what is known of the endpoint, for later jobs too."""
        self.cache.keep_habits(self.requests.origin, self.habits.text())

"""Requests, made of program, inputs, form and settings; their cache keys; their kept replies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import orjson

from trecjudge.errors import JudgmentFailed
from trecjudge.models.access.addresses import VARIABLE
from trecjudge.models.adapters import FORMS, Form
from trecjudge.models.cache.store import CachedReply, ReplyCache, ReplyOrigin, RequestInfo
from trecjudge.models.endpoint import EndpointCapabilities, shared_capabilities
from trecjudge.models.envelope import Reply
from trecjudge.models.model import Program
from trecjudge.models.prompt import PlainPrompt, Prompt, Prompts
from trecjudge.models.reading import Unparsed, close_cut_list, without_reasoning
from trecjudge.models.settings import LlmSettings
from trecjudge.models.spending import Lengths, TokenCounts, stated_length
from trecjudge.records import ModelCall, TokenChances, Usage

MODULE_TOKENS = 150
"""About how many tokens a reply to a DSPy module's own request has."""


@dataclass(frozen=True)
class Request:
    """One request: its messages, the body around them, and the sha256 of all that it is."""

    prompt: Prompt | PlainPrompt
    messages: list[dict[str, Any]]
    key: str
    length: int | None = None
    """How long every list of the reply must be."""
    others: tuple[str, ...] = ()
    """The keys under which an equal model at another address may have answered."""
    first: str = ""
    """The text that requests about one document have in common."""
    stated: int = MODULE_TOKENS
    """About how many tokens the reply has, as its program states it."""
    max_tokens: int | None = None
    """The limit of its reply, where it is not that of the settings."""

    def parse(self, reply: str) -> dict[str, Any]:
        """Return the output fields of a reply. Raises Unparsed, saying what is wrong."""
        return self.prompt.parse(reply, self.length)

    def parse_part(self, reply: str) -> dict[str, Any]:
        """Return the output fields of a reply that was cut: its lists have the whole entries only.

        Raises Unparsed where the program has no use for a part, or there is none.
        """
        part = (
            close_cut_list(without_reasoning(reply) or "") if self.prompt.program.in_part else None
        )
        if part is None:
            raise Unparsed("it was cut.")
        return self.parse(part)

    def kept_text(self, reply: Reply) -> str:
        """Return what the cache keeps of a reply; `read_kept` reads it."""
        if not self.prompt.wants_logprobs:
            return reply.text
        return orjson.dumps({"reply": reply.text, "logprobs": reply.logprobs}).decode()

    def read_kept(self, text: str) -> tuple[str, TokenChances]:
        """Return a kept reply and its log-probabilities.

        Raises Unparsed where it was kept for a request that asked for none.
        """
        if not self.prompt.wants_logprobs:
            return text, ()
        try:
            kept = orjson.loads(text)
            return kept["reply"], tuple((int(end), float(p)) for end, p in kept["logprobs"])
        except (LookupError, TypeError, ValueError) as error:
            raise Unparsed("it has no log-probabilities.") from error

    @cached_property
    def mark(self) -> int:
        """60 bits of the key: enough to recognise a request, and an int is small."""
        return int(self.key[:15], 16)


@dataclass
class Requests:
    """Makes requests with one set of settings and prompts."""

    settings: LlmSettings
    prompts: Prompts
    sample: int = 0
    """Which of several replies to equal requests is wanted: part of the key, and not sent."""

    @property
    def origin(self) -> ReplyOrigin:
        """Endpoint and model, as the cache notes them: of several, the first."""
        return self.origins[0]

    @cached_property
    def origins(self) -> list[ReplyOrigin]:
        """All endpoints, each with the model."""
        return [ReplyOrigin(url, self.settings.model) for url in self.settings.urls]

    def make(self, program: Program, inputs: dict[str, Any], form: Form) -> Request:
        """Return the request of a program with these inputs in this form."""
        if not program.reference:
            return self._of_messages(program, **inputs)
        prompt = self.prompts.get(program, form)
        if prompt.more_inputs:
            inputs = dict.fromkeys(prompt.more_inputs, "") | inputs
        messages = prompt.messages(inputs)
        # By the body as it would be sent first: what is learned later of limits and parameters
        # must not change the key, or kept replies would be lost.
        key, *others = self.keys(self.body(messages, prompt.request), prompt.rollout)
        aligned = inputs.get(program.aligned_with)
        length = None if aligned is None else len(aligned)
        stated = stated_length(program, inputs, self.settings.reasoning)
        first = common_part(inputs)
        return Request(prompt, messages, key, length, tuple(others), first, stated)

    def _of_messages(
        self,
        program: Program,
        messages: list[dict[str, Any]],
        sampling: dict[str, Any],
        max_tokens: int | None = None,
        rollout: int | None = None,
    ) -> Request:
        """Return the request of messages that the caller wrote; any reply to it is a good one."""
        prompt = PlainPrompt(sampling, program, rollout=rollout)
        key, *others = self.keys(self.body(messages, sampling, max_tokens), rollout)
        first = str(messages[0].get("content")) if messages else ""
        return Request(prompt, messages, key, None, tuple(others), first, max_tokens=max_tokens)

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
        return settings.extra_body | body | more

    def keys(self, body: dict[str, Any], rollout: int | None = None) -> list[str]:
        """Return the sha256 of address and body, and all else that can change the reply.

        One for each address: the reply is kept under the first. A header given in clear counts, one
        that the environment gives does not. So does a rollout, which is not sent.
        """
        headers = self._headers
        more: list[object] = [headers] if headers else []
        if self.sample:  # the first has the key of a request without samples
            more.append({"sample": self.sample})
        if rollout is not None:
            more.append({"rollout": rollout})
        return [_digest([url, body, *more]) for url in self.settings.urls]

    @cached_property
    def _headers(self) -> dict[str, str]:
        given = {name.lower(): str(value) for name, value in self.settings.headers.items()}
        return {name: value for name, value in given.items() if not VARIABLE.search(value)}


def _digest(value: list[Any]) -> str:
    # Sorted: the order of keys in a workflow must not make another request.
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def common_part(inputs: Mapping[str, Any]) -> str:
    """Return the input that other requests will have too: the longest text, a document."""
    return max((value for value in inputs.values() if isinstance(value, str)), key=len, default="")


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply that needs no asking, and its output fields."""

    request: Request
    reply: CachedReply
    fields: dict[str, Any]
    cut: bool = False
    """Whether the fields are those of a part."""
    logprobs: TokenChances = ()

    def call(self, program: str, cost: float | None = None, shared: bool = False) -> ModelCall:
        """Return the exchange for the log; `shared`: this command itself asked for the reply."""
        reply, messages = self.reply, self.request.messages
        usage = Usage(
            True, reply.prompt_tokens, reply.completion_tokens, cost=cost, program=program
        )
        return ModelCall(
            program,
            messages,
            reply.text,
            usage,
            tries=0,
            source=reply.source,
            cut=self.cut,
            shared=shared,
            number=0,
            logprobs=self.logprobs,
        )


Failed = tuple[str, str, int, ModelCall | None]
"""How a request failed: kind, message, tries, and the exchange."""


@dataclass(slots=True)
class Replies:
    """The replies that a job may use without asking: of earlier jobs, and of its own calls.

    `refresh` takes none of earlier jobs; `asked_marks` are the requests of this command.
    `capabilities` are what is known of the endpoint: of several, the form that all of them take and
    the limits of tokens that the model needs. `of_each` is what each endpoint takes. `failed` are
    requests of this job that came to nothing, by mark; `given_up` those that are not asked again.
    """

    requests: Requests
    cache: ReplyCache
    refresh: bool = False
    asked_marks: set[int] = field(default_factory=set)
    failed: dict[int, Failed] = field(default_factory=dict)
    given_up: Mapping[int, Failed] = field(default_factory=dict)
    capabilities: EndpointCapabilities = field(init=False)
    of_each: list[EndpointCapabilities] = field(init=False)
    answered_before: bool = field(init=False)
    """Whether the endpoint is known to have answered an earlier job."""
    lengths: Lengths = field(init=False)

    def __post_init__(self) -> None:
        kept = [self.cache.habits(origin) for origin in self.requests.origins]
        self.answered_before = any(kept)
        self.of_each = [EndpointCapabilities.read(text) for text in kept]
        self.capabilities = self.of_each[0] if len(kept) == 1 else shared_capabilities(self.of_each)
        limit = self.requests.settings.max_tokens
        self.lengths = Lengths(self._kept_lengths, self.capabilities.limits, limit)

    def _kept_lengths(self) -> dict[str, TokenCounts]:
        """Return what kept replies of the model took, by program."""
        measured = self.cache.measure_lengths(self.requests.settings.model)
        return {program: TokenCounts(*counts) for program, counts in measured.items()}

    def possible(self, program: Program, inputs: dict[str, Any]) -> dict[Form, Request]:
        """Return the request of a program with these inputs in every form that it may have."""
        known = self.form_of(program)
        forms = FORMS if known is None else (known,)
        return {form: self.requests.make(program, inputs, form) for form in forms}

    def form_of(self, program: Program) -> Form | None:
        """Return the form of a program's replies, None while it is to be found out."""
        structured = self.requests.settings.structured
        if (only := self.requests.prompts.only_form(program)) is not None:
            return only
        if structured == "auto":
            return self.capabilities.forms.get(program.name)
        return "schema" if structured == "always" else "chat"

    def find(self, made: Mapping[Form, Request]) -> KeptReply | None:
        """Return what is kept for one of these requests."""
        return next((kept for request in made.values() if (kept := self.find_kept(request))), None)

    def find_kept(self, request: Request) -> KeptReply | None:
        """Return the kept reply to a request, where it parses.

        Raises JudgmentFailed for one that is not asked again.
        """
        if self.given_up and (failed := self.given_up.get(request.mark)):
            raise JudgmentFailed(*failed)
        if self.refresh and not self.is_from_this_job(request):
            return None
        # An equal model at another address may have answered: its reply is as good.
        keys = (request.key, *request.others)
        reply = next((kept for key in keys if (kept := self.cache.get(key)) is not None), None)
        if reply is None:
            return None
        with suppress(Unparsed):
            text, logprobs = request.read_kept(reply.text)
            reply = replace(reply, text=text)
            with suppress(Unparsed):
                return KeptReply(request, reply, request.parse(text), logprobs=logprobs)
            return KeptReply(request, reply, request.parse_part(text), True, logprobs)
        return None  # cut, or kept by an older version that read more: asked for again

    def is_from_this_job(self, request: Request) -> bool:
        """Return whether this job itself asked for the reply."""
        return request.mark in self.asked_marks

    async def keep(self, request: Request, reply: CachedReply) -> bool:
        """Keep the reply to a request of this job; return whether it is on disk."""
        prompt = request.prompt
        asked = RequestInfo(prompt.program.name, request.stated, prompt.digest)
        is_kept = await self.cache.put(request.key, reply, self.requests.origin, asked)
        self.asked_marks.add(request.mark)
        return is_kept

    def learned_form(self, program: Program) -> Form | None:
        """Return the form of a program's replies, also as another job has found it out since."""
        for origin, known in zip(self.requests.origins, self.of_each, strict=True):
            since = EndpointCapabilities.read(self.cache.habits(origin))
            known.forms = since.forms | known.forms
        if len(self.of_each) > 1:
            shared = shared_capabilities(self.of_each)
            self.capabilities.forms = shared.forms | self.capabilities.forms
        return self.form_of(program)

    def keep_capabilities(self) -> None:
        """Keep what is known of the endpoints, for later jobs too."""
        for origin, capabilities in zip(self.requests.origins, self.of_each, strict=True):
            self.cache.keep_habits(origin, capabilities.text())

"""Settings of the model client: `llm:` of a workflow over the OPENAI_* environment."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar
from urllib.parse import parse_qsl, urlsplit

import orjson

from trecjudge.errors import ModelError
from trecjudge.models.access.addresses import (
    check_address,
    check_in_clear,
    service_url,
    split_addresses,
    stored_address,
    tls_context,
)
from trecjudge.models.adapters import IN_TEXT, AdapterName
from trecjudge.models.envelope import Reply, reply_in
from trecjudge.models.spending import Prices, listed_prices
from trecjudge.settings.fields import typed_fields

# What an endpoint is asked for: where it is posted to, what sets it up, how answers are read.
BASE_URL = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
MODEL = "OPENAI_MODEL"
KEY = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class EndpointService:
    """One service of an endpoint.

    `path` follows the base URL. `section` is its part of a workflow. `base_urls`, `models` and
    `keys` are variables of the environment, the first that is set counts. `reads` returns the reply
    in an answer, None where the answer is none.
    """

    section: str
    path: str
    base_urls: tuple[str, ...]
    models: tuple[str, ...]
    keys: tuple[str, ...]
    reads: Callable[[Any], Reply | None]

    def advice(self, status: int) -> str:
        """Return what to check after an answer of this status, as the end of a message."""
        address, model, key = self.base_urls[0], self.models[0], self.keys[0]
        known = {401: key, 403: key, 405: address}
        known |= dict.fromkeys((404, 410), f"{address} and {model}")
        return f"; check {known[status]}" if status in known else ""


CHAT = EndpointService("llm", "/chat/completions", BASE_URL, (MODEL,), (KEY,), reply_in)
"""A chat model's completions."""


_BASIC = (
    "model messages prompt temperature seed maxtokens maxcompletiontokens responseformat n stream"
)
_MORE = """
models modelname engine deployment deploymentid modelid modellist route router fallbacks
fallbackmodels contextwindowfallbackdict contextwindowfallbacks contentpolicyfallbacks apibase
baseurl apibaseurl customllmprovider endpoint url apikey headers extraheaders defaultheaders
extraquery defaultquery randomseed maxoutputtokens maxnewtokens maxlength npredict numpredict
maxtokenstosample guidedjson guidedregex guidedchoice guidedgrammar guideddecoding
structuredoutputs structuredoutput jsonschema jsonmode grammar format responseschema
responsemimetype ebnf regex prompts input inputs instructions system systemprompt systemmessage
systeminstruction contents context prefix suffix prefill assistantprefill template chattemplate
conversation previousresponseid promptembeds inputids tools toolchoice functions functioncall
documents plugins websearchoptions transforms truncateprompttokens continuefinalmessage
addgenerationprompt query texts topn encodingformat dimensions timeout requesttimeout customid
method body requests bestof numreturnsequences numcompletions candidatecount streaming
streamoptions echo usebeamsearch mockresponse
"""
_OF_CONNECTION = """
host content-length content-type content-encoding transfer-encoding te trailer connection keep-alive
upgrade expect accept-encoding proxy-connection proxy-authorization x-http-method-override
x-http-method x-method-override x-original-url x-rewrite-url x-forwarded-host
"""
_IN_QUERY = frozenset(_BASIC.split())
"""Fields that a server may also take from a query; other names there may be a gateway's."""
_OWN = _IN_QUERY | frozenset(_MORE.split())
"""Fields of a request that the judge sets, or that would replace or add to them, as `_plain`."""
_HEADERS = frozenset(_OF_CONNECTION.split())
"""Headers that the connection sets, or that change what a request is."""
_FREE = frozenset({"metadata", "logitbias", "user"})
"""Fields whose inner names mean nothing to a server."""
_SIGNS = re.compile(r"[\W_]+")


def check_additions(
    section: str,
    extra_body: Mapping[str, Any],
    headers: Iterable[str],
    query: Iterable[str],
    base_urls: Iterable[str],
) -> None:
    """Raise ModelError for what would take the place of what the judge itself sends.

    `headers` and `query` are names; the query of a base URL must not have those again.
    """
    try:
        orjson.dumps(extra_body)
    except TypeError as error:
        raise ModelError(f"{section}.extra_body: cannot be sent as JSON: {error}") from error
    # Servers that hand headers on as variables take `_` for `-`.
    headers, query = [name.lower().replace("_", "-") for name in headers], list(query)
    for where, taken in (
        ("extra_body", list(_reserved_names(extra_body))),
        ("headers", [name for name in headers if name in _HEADERS]),
        ("query", [name for name in query if _plain(name) in _IN_QUERY]),
    ):
        if taken:
            names, what = ", ".join(map(repr, taken)), "nothing may replace what the judge sets"
            raise ModelError(f"{section}.{where}: {names}: {what}")
    if again := sorted({name for name in headers if headers.count(name) > 1}):
        raise ModelError(f"{section}.headers: {', '.join(again)} is given twice")
    known = set(map(str.casefold, query))
    pairs = (pair for url in base_urls for pair in parse_qsl(urlsplit(url).query, True))
    if again := sorted({name for name, _ in pairs if name.casefold() in known}):
        raise ModelError(f"{section}.query: {', '.join(again)} is in base_url already")


def _reserved_names(given: Any, path: str = "") -> Iterator[str]:
    """Yield the names of what the judge itself sets, at any depth."""
    for name, value in given.items() if isinstance(given, Mapping) else (("", e) for e in given):
        plain, here = _plain(str(name)), f"{path}.{name}".strip(".")
        # How many tokens a model may think is not the limit of a reply.
        if plain in _OWN and (path, plain) != ("reasoning", "maxtokens"):
            yield here
        elif isinstance(value, Mapping | list) and plain not in _FREE:
            yield from _reserved_names(value, here)


def _plain(name: str) -> str:
    """Return a name as the most generous server reads it: without case, signs and blanks."""
    return _SIGNS.sub("", unicodedata.normalize("NFKC", name).casefold())


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_TRIES = 100
REASONING_TOKENS = 4096
"""Tokens of a reply of a reasoning model, unless it is set otherwise."""
AT_LEAST_ONE = (
    *("tries", "in_flight", "max_tokens", "most_tokens", "most_bytes", "give_up_after"),
    "batch_size",
)
HeaderValue = str | int | float | date
"""A value of `headers` or `query`: YAML reads `api-version: 2024-10-21` as a date."""
Structured = Literal["auto", "always", "never"]
S = TypeVar("S", bound="LlmSettings")


@dataclass(frozen=True)
class LlmSettings:
    """Settings of the model client.

    Asking: `temperature` null sends none; `reasoning` sends `max_completion_tokens` and no
    temperature; `structured` asks for a reply by JSON schema (`auto`: where the endpoint takes it);
    `adapter` is the one of DSPy that writes the prompt (`chat` and `xml` send no schema);
    `extra_body` is added to every request, and replaces nothing that the judge sets.
    Replies: one may have `max_tokens`. Where it is cut, up to `most_tokens` are asked for. A reply
    of more than `most_bytes` is not read.
    Patience: one try may take `timeout` seconds; `tries` counts the first. An endpoint that is busy
    or out of order is waited for `patience` seconds in all. The first answer of any kind is waited
    for `first_answer` seconds, or `patience` if that is less. Both are at least twice `timeout`.
    After `give_up_after` failures in a row for one cause, on different items, no more is asked.
    Pace: `in_flight` requests at once, in all; `rpm` requests and `tpm` tokens per minute, at each
    endpoint. `prices` are per million tokens: {input: 0.15, output: 0.6}.
    Batches: `batch` asks by the endpoint's Batch API, up to `batch_size` requests at a time, at
    `batch_price` times the price. A batch is looked at after `batch_poll` seconds, then less and
    less often, down to once a minute. It is waited for `batch_wait` seconds; null: as long as the
    endpoint says that it takes, and `patience`. A share `batch_nonce` of the requests in it, one at
    least, carries a code that the reply must repeat. `in_flight`, `rpm` and `tpm` do not apply to
    batches.
    Access: `base_url` may be several, of equal models. `headers` and `query` are sent with every
    request; `${NAME}` in a value is a variable of the environment. `ca_file` is a file of
    certificates to trust, `cert_file` and `key_file` are the client's own. `key_variable` is the
    variable of the environment that has the key; the service's own where it is empty.
    """

    service: ClassVar[EndpointService] = CHAT

    base_url: str | list[str] = field(repr=False)
    model: str
    api_key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 512
    most_tokens: int = 16_384
    most_bytes: int = 8 << 20
    reasoning: bool = False
    structured: Structured = "auto"
    adapter: AdapterName = "auto"
    extra_body: dict[str, Any] = field(default_factory=dict)
    timeout: float = 120.0
    tries: int = 3
    patience: float = 900.0
    first_answer: float = 300.0
    give_up_after: int = 50
    in_flight: int = 32
    rpm: float | None = None
    tpm: float | None = None
    batch: bool = False
    batch_size: int = 50_000
    batch_price: float = 0.5
    batch_poll: float = 0.5
    batch_wait: float | None = None
    batch_nonce: float = 0.0
    prices: dict[str, float] | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    query: dict[str, HeaderValue] = field(default_factory=dict)
    key_variable: str = ""

    @cached_property
    def urls(self) -> tuple[str, ...]:
        """The addresses that requests are posted to, secrets hidden."""
        query = {name: str(value) for name, value in self.query.items()}
        return tuple(
            stored_address(service_url(url, query, self.service.path)) for url in self.base_urls
        )

    @property
    def base_urls(self) -> list[str]:
        """The base URLs, each place once however it is spelled; secrets may stand in them."""
        different: dict[str, str] = {}
        for url in split_addresses(self.base_url):
            different.setdefault(service_url(url, service=self.service.path), url)
        return list(different.values())

    @property
    def url(self) -> str:
        """The first of the addresses: replies are kept under it, whichever of them answered."""
        return self.urls[0]

    @property
    def most(self) -> int:
        """The most tokens that are ever asked for in one reply."""
        return max(self.max_tokens, self.most_tokens)

    @property
    def pricing(self) -> Prices | None:
        """The workflow's prices, else those of LiteLLM's list, else None; for batches, reduced."""
        try:
            found = Prices(**self.prices) if self.prices is not None else listed_prices(self.model)
            return found.times(self.batch_price) if found and self.batch else found
        except TypeError as error:
            message = f"{self.service.section}.prices is {self.prices}: give input and output"
            raise ModelError(message) from error

    def public(self) -> dict[str, Any]:
        """Return the settings without the key, and with no other secret."""
        given = list(map(stored_address, self.base_urls))
        shown = {"base_url": given[0] if len(given) == 1 else given}
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "api_key"}
        return named | shown | ({"temperature": None} if self.reasoning else {})


def llm_settings(
    workflow: Mapping[str, Any], environment: Mapping[str, str], key_needed: bool = True
) -> LlmSettings:
    """Return the settings of the model; raises as `settings_of`."""
    return settings_of(LlmSettings, workflow, environment, key_needed)


def settings_of(
    owner: type[S],
    workflow: Mapping[str, Any],
    environment: Mapping[str, str],
    key_needed: bool = True,
) -> S:
    """Return the settings of a service; the workflow's values win over the environment's.

    Raises WorkflowError for an unknown key or a value of the wrong type, ModelError for a missing
    address, model or key, or a file that is not there.
    """
    service = owner.service
    section, address, model, key_variable = (
        service.section,
        *(names[0] for names in (service.base_urls, service.models, service.keys)),
    )
    values = {key: value for key, value in workflow.items() if key != "api_key"}
    if "api_key" in workflow:
        message = f"{section}.api_key: keys do not belong in a workflow; set {key_variable}"
        raise ModelError(message)
    # Before any other check: no message may quote a secret.
    check_in_clear(workflow)
    values.setdefault("base_url", first_set(service.base_urls, environment))
    values.setdefault("model", first_set(service.models, environment))
    for name, variable in (("base_url", address), ("model", model)):
        if not values[name]:
            message = f"no {name}: set {variable}, or {section}.{name} in the workflow"
            raise ModelError(message)
    typed = typed_fields(owner, values, section)
    named = typed.get("key_variable", "")
    if named and not NAME.fullmatch(named):  # it may be the key itself: it is not shown
        message = f"{section}.key_variable: give the name of a variable of the environment"
        raise ModelError(message)
    key = first_set((named,) if named else service.keys, environment).strip()
    if not key and key_needed:
        variable = named or key_variable
        message = f"no key: set {variable} (to any text if the endpoint asks for none)"
        raise ModelError(message)
    if typed.get("reasoning"):
        typed.setdefault("max_tokens", REASONING_TOKENS)
    settings = owner(**typed | {"api_key": key})
    _check(settings)
    return settings


def first_set(names: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the first of these variables that is set; "" where none is."""
    return next((environment[name] for name in names if environment.get(name)), "")


def _check(settings: LlmSettings) -> None:
    service, section = settings.service, settings.service.section
    addresses = split_addresses(settings.base_url)
    if not addresses:
        variable = service.base_urls[0]
        raise ModelError(f"no base_url: set {variable}, or {section}.base_url in the workflow")
    for address in addresses:
        check_address(address)
    try:
        settings.model.encode()
    except ValueError as error:
        raise ModelError(f"model {settings.model!r}: is not valid text") from error
    if not (settings.api_key.isascii() and settings.api_key.isprintable()):
        raise ModelError(
            f"{settings.key_variable or service.keys[0]}: holds characters that no key has"
        )
    added = settings.extra_body, settings.headers, settings.query
    check_additions(section, *added, settings.base_urls)
    tls_context(settings.ca_file, settings.cert_file, settings.key_file)
    for name in AT_LEAST_ONE:
        if getattr(settings, name) < 1:
            raise ModelError(f"{section}.{name} is {getattr(settings, name)}: must be at least 1")
    if settings.batch and len(settings.base_urls) > 1:
        raise ModelError(f"{section}.batch: goes with one base_url only")
    if settings.structured == "always" and settings.adapter in IN_TEXT:
        message = f"is always, but adapter {settings.adapter} sends no schema"
        raise ModelError(f"{section}.structured: {message}")
    if not 0 <= settings.batch_nonce <= 1:
        raise ModelError(f"{section}.batch_nonce is {settings.batch_nonce}: must be 0 to 1")
    if settings.tries > MOST_TRIES:
        raise ModelError(f"{section}.tries is {settings.tries}: must be at most {MOST_TRIES}")
    for name in ("timeout", "first_answer", "rpm", "tpm", "batch_poll", "batch_wait"):
        value = getattr(settings, name)
        if value is not None and value <= 0:
            raise ModelError(f"{section}.{name} is {value}: must be more than 0")

"""Settings of the model client: `llm:` of a workflow over the OPENAI_* environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from typing import Any, Literal

from trecjudge.errors import ModelError
from trecjudge.models.access.addresses import check_address, completions_url, split_addresses
from trecjudge.models.access.certificates import tls_context
from trecjudge.models.access.secrets import check_in_clear, public
from trecjudge.models.spending import Prices, listed_prices
from trecjudge.settings.fields import typed_fields

BASE_URL = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
MODEL = "OPENAI_MODEL"
KEY = "OPENAI_API_KEY"
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


@dataclass(frozen=True)
class LlmSettings:
    """Settings of the model client.

    Asking: `temperature` null sends none; `reasoning` sends `max_completion_tokens` and no
    temperature; `structured` asks for a reply by JSON schema (`auto`: where the endpoint takes it);
    `extra_body` is added to every request.
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
    less often, down to once a minute. `in_flight`, `rpm` and `tpm` do not apply to batches.
    Access: `base_url` may be several, of equal models. `headers` and `query` are sent with every
    request; `${NAME}` in a value is a variable of the environment. `ca_file` is a file of
    certificates to trust, `cert_file` and `key_file` are the client's own.
    """

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
    prices: dict[str, float] | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    query: dict[str, HeaderValue] = field(default_factory=dict)

    @cached_property
    def urls(self) -> tuple[str, ...]:
        """The addresses that requests are posted to, secrets hidden."""
        query = {name: str(value) for name, value in self.query.items()}
        return tuple(public(completions_url(url, query)) for url in self.base_urls)

    @property
    def base_urls(self) -> list[str]:
        """The base URLs, each place once however it is spelled; secrets may stand in them."""
        different: dict[str, str] = {}
        for url in split_addresses(self.base_url):
            different.setdefault(completions_url(url), url)
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
            raise ModelError(f"llm.prices is {self.prices}: give input and output") from error

    def public(self) -> dict[str, Any]:
        """Return the settings without the key, and with no other secret."""
        given = list(map(public, self.base_urls))
        shown = {"base_url": given[0] if len(given) == 1 else given}
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "api_key"}
        return named | shown


def llm_settings(
    workflow: Mapping[str, Any], environment: Mapping[str, str], key_needed: bool = True
) -> LlmSettings:
    """Return the settings; the workflow's values win over the environment's.

    Raises WorkflowError for an unknown key or a value of the wrong type, ModelError for a missing
    address, model or key, or a file that is not there.
    """
    values = {key: value for key, value in workflow.items() if key != "api_key"}
    if "api_key" in workflow:
        raise ModelError(f"llm.api_key: keys do not belong in a workflow; set {KEY}")
    # Before any other check: no message may quote a secret.
    check_in_clear(workflow)
    address = next((environment[name] for name in BASE_URL if environment.get(name)), "")
    values.setdefault("base_url", address)
    values.setdefault("model", environment.get(MODEL, ""))
    for name, variable in (("base_url", BASE_URL[0]), ("model", MODEL)):
        if not values[name]:
            raise ModelError(f"no {name}: set {variable}, or llm.{name} in the workflow")
    key = environment.get(KEY, "").strip()
    if not key and key_needed:
        raise ModelError(f"no key: set {KEY} (to any text if the endpoint asks for none)")
    typed = typed_fields(LlmSettings, values, "llm")
    if typed.get("reasoning"):
        typed.setdefault("max_tokens", REASONING_TOKENS)
    settings = LlmSettings(**typed | {"api_key": key})
    _check(settings)
    return settings


def _check(settings: LlmSettings) -> None:
    addresses = split_addresses(settings.base_url)
    if not addresses:
        raise ModelError(f"no base_url: set {BASE_URL[0]}, or llm.base_url in the workflow")
    for address in addresses:
        check_address(address)
    try:
        settings.model.encode()
    except ValueError as error:
        raise ModelError(f"model {settings.model!r}: is not valid text") from error
    if not (settings.api_key.isascii() and settings.api_key.isprintable()):
        raise ModelError(f"{KEY}: holds characters that no key has")
    tls_context(settings.ca_file, settings.cert_file, settings.key_file)
    for name in AT_LEAST_ONE:
        if getattr(settings, name) < 1:
            raise ModelError(f"llm.{name} is {getattr(settings, name)}: must be at least 1")
    if settings.batch and len(settings.base_urls) > 1:
        raise ModelError("llm.batch: goes with one base_url only")
    if settings.tries > MOST_TRIES:
        raise ModelError(f"llm.tries is {settings.tries}: must be at most {MOST_TRIES}")
    for name in ("timeout", "first_answer", "rpm", "tpm", "batch_poll"):
        value = getattr(settings, name)
        if value is not None and value <= 0:
            raise ModelError(f"llm.{name} is {value}: must be more than 0")

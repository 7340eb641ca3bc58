"""Settings of embeddings and of reranking: their sections of a workflow over the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from trecjudge.errors import ModelError, WorkflowError
from trecjudge.models.access.addresses import same_origin, split_addresses
from trecjudge.models.retrieval.answers import scores_in, vectors_in
from trecjudge.models.service import BASE_URL, KEY, Service
from trecjudge.models.settings import LlmSettings, S, first_set, settings_of

OF_CHAT = frozenset(
    {"temperature", "seed", "max_tokens", "most_tokens", "reasoning", "structured", "first_answer"}
    | {"adapter", "batch", "batch_size", "batch_price", "batch_poll", "batch_wait"}
    | {"batch_nonce"}
)
"""Settings of a chat model that mean nothing here."""
COUNTS = ("batch_texts", "dimensions")
"""Settings that are numbers from 1 on."""
EMBEDDINGS = Service(
    "embeddings",
    "/embeddings",
    ("OPENAI_EMBEDDING_BASE_URL", *BASE_URL),
    ("OPENAI_EMBEDDING_MODEL",),
    ("OPENAI_EMBEDDING_API_KEY", KEY),
    vectors_in,
)
RERANK = Service(
    "rerank",
    "/rerank",
    ("RERANK_BASE_URL", *BASE_URL),
    ("RERANK_MODEL",),
    ("RERANK_API_KEY", KEY),
    scores_in,
)


@dataclass(frozen=True)
class TextSettings(LlmSettings):
    """What embeddings and reranking have in common; access, pace and patience are as in `llm:`.

    At most `batch_texts` are sent in one request. A request may take `timeout` seconds.
    """

    max_tokens: int = 1
    most_bytes: int = 64 << 20
    in_flight: int = 8
    batch_texts: int = 64


@dataclass(frozen=True)
class EmbeddingSettings(TextSettings):
    """Settings of an endpoint's embeddings.

    `dimensions` asks for vectors of so many numbers, where the model can give them. `encoding`
    base64 makes answers a quarter as long, where the endpoint takes it.
    """

    service: ClassVar[Service] = EMBEDDINGS

    dimensions: int | None = None
    encoding: Literal["float", "base64"] = "float"


@dataclass(frozen=True)
class RerankSettings(TextSettings):
    """Settings of an endpoint's reranking.

    `form` is what the endpoint calls the texts: `documents` (Jina, Cohere, vLLM) or `texts`
    (text-embeddings-inference); `auto` tries the first and then the second.
    """

    service: ClassVar[Service] = RERANK

    form: Literal["auto", "documents", "texts"] = "auto"


def text_settings(
    owner: type[S], given: Mapping[str, Any], environment: Mapping[str, str], key_needed: bool
) -> S:
    """Return the settings of a section; raises as `settings_of`.

    The key of the chat model is sent to no other address than its own.
    """
    service = owner.service
    for name in sorted(OF_CHAT & given.keys()):
        raise WorkflowError(f"{service.section}: {name} is a setting of a chat model only")
    own = given.get("base_url") or environment.get(service.base_urls[0], "")
    chat = first_set(BASE_URL, environment)
    if own and chat and not _is_same(own, chat) and not environment.get(service.keys[0]):
        if key_needed and environment.get(KEY):
            raise ModelError(
                f"no key: set {service.keys[0]} (to any text if the endpoint asks for none);"
                f" {KEY} is for another address"
            )
        environment = {name: value for name, value in environment.items() if name != KEY}
    settings = settings_of(owner, given, environment, key_needed)
    for name in COUNTS:
        if (value := getattr(settings, name, None)) is not None and value < 1:
            raise ModelError(f"{service.section}.{name} is {value}: must be at least 1")
    return settings


def _is_same(own: Any, chat: str) -> bool:
    """Return whether every address is at the origin of one of the chat model's."""
    texts = own if isinstance(own, str | list) else ""
    if not (isinstance(texts, str) or all(isinstance(text, str) for text in texts)):
        return False
    return all(
        any(same_origin(known, address) for known in split_addresses(chat))
        for address in split_addresses(texts)
    )

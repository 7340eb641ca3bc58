"""Settings of embeddings and of reranking: their sections of a workflow over the environment."""

from __future__ import annotations

import base64
import binascii
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeGuard

from trecjudge.errors import ModelError, WorkflowError
from trecjudge.models.access.addresses import same_origin, split_addresses
from trecjudge.models.envelope import Reply, token_count
from trecjudge.models.faults import Fault
from trecjudge.models.reading import Unparsed
from trecjudge.models.settings import (
    BASE_URL,
    KEY,
    EndpointService,
    LlmSettings,
    S,
    first_set,
    settings_of,
)

FLOAT32 = "<f4"
SCORES = ("relevance_score", "score")
"""What servers call a score."""
LISTS = ("results", "data")
"""What servers call the list of scores; one sends the list itself."""


def vectors_in(answer: Any) -> Reply | None:
    """Return the vectors of an answer, one a line in the order of the texts; None if it has none.

    Each is base64 of float32 numbers, of length 1. Raises Fault for one that cannot be a vector.
    """
    entries = answer.get("data") if isinstance(answer, Mapping) else None
    if not _are_entries(entries) or not all("embedding" in entry for entry in entries):
        return None
    tokens = _tokens_in(answer)
    return _reply(
        {n: _line(entry["embedding"], tokens) for n, entry in _number_entries(entries)}, tokens
    )


def scores_in(answer: Any) -> Reply | None:
    """Return the scores of an answer, one a line in the order of the texts; None if it has none."""
    entries = answer
    if isinstance(answer, Mapping):
        entries = next((answer[name] for name in LISTS if name in answer), None)
    if not _are_entries(entries) or not all(set(SCORES) & set(entry) for entry in entries):
        return None
    tokens = _tokens_in(answer)
    lines = {}
    for number, entry in _number_entries(entries):
        score = next(entry[name] for name in SCORES if name in entry)
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise _unreadable(f"the score of text {number} is no number", tokens)
        if not math.isfinite(score):
            raise _unreadable(f"the score of text {number} is not finite", tokens)
        lines[number] = repr(float(score))
    return _reply(lines, tokens)


def lines_of(text: str, count: int) -> list[str]:
    """Return the lines of a reply. Raises Unparsed where there is not one for each text."""
    lines = text.split("\n") if text else []
    if len(lines) != count:
        raise Unparsed(f"it has {len(lines)} results for {count} texts.")
    return lines


def vector_of(line: str) -> Any:
    """Return a vector as a float32 array."""
    numpy = importlib.import_module("numpy")
    return numpy.frombuffer(base64.b64decode(line), dtype=FLOAT32)


def dimensions_of(line: str) -> int:
    """Return how many numbers a vector has."""
    return (len(line) * 3 // 4 - line.count("=", -2)) // 4


def _tokens_in(answer: Any) -> tuple[int, int]:
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    return token_count(usage, "prompt_tokens") or token_count(usage, "total_tokens"), 0


def _are_entries(entries: Any) -> TypeGuard[list[Any]]:
    return isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries)


def _number_entries(entries: list[Any]) -> list[tuple[int, Any]]:
    """Return entries by the number of their text: `index`, where that is given."""
    return [(_index(entry.get("index"), place), entry) for place, entry in enumerate(entries)]


def _index(given: Any, place: int) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) else place


def _reply(lines: Mapping[int, str], tokens: tuple[int, int]) -> Reply:
    """Return lines in order. Raises Fault where the numbers are not 0, 1, 2, ..."""
    if sorted(lines) != list(range(len(lines))):
        raise _unreadable("its results are not numbered 0, 1, 2, ...", tokens)
    return Reply("\n".join(lines[number] for number in sorted(lines)), "stop", *tokens)


def _line(given: Any, tokens: tuple[int, int]) -> str:
    """Return a vector, a list or base64, as base64 of length 1; one of zeros stays as it is."""
    numpy = importlib.import_module("numpy")
    try:
        if isinstance(given, str):
            found = numpy.frombuffer(base64.b64decode(given, validate=True), dtype=FLOAT32)
        else:
            found = numpy.asarray(given, dtype=numpy.float64)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise _unreadable("a vector is neither numbers nor base64 of them", tokens) from None
    if found.ndim != 1 or not found.size:
        raise _unreadable("a vector is no list of numbers", tokens)
    if not numpy.isfinite(found).all():
        raise _unreadable("a vector holds a number that is not finite", tokens)
    found = found.astype(numpy.float64)
    largest = abs(found).max()
    # By its largest number first: the squares of very large ones would not be finite.
    found = found / largest if largest else found
    length = math.sqrt(float(found @ found))
    unit = (found / length if length else found).astype(FLOAT32)
    return base64.b64encode(unit.tobytes()).decode("ascii")


def _unreadable(message: str, tokens: tuple[int, int]) -> Fault:
    return Fault("parse", f"the reply does not parse: {message}").after_paying(*tokens)


OF_CHAT = frozenset(
    {"temperature", "seed", "max_tokens", "most_tokens", "reasoning", "structured", "first_answer"}
    | {"adapter", "batch", "batch_size", "batch_price", "batch_poll", "batch_wait"}
    | {"batch_nonce"}
)
"""Settings of a chat model that mean nothing here."""
COUNTS = ("batch_texts", "dimensions")
"""Settings that are numbers from 1 on."""
EMBEDDINGS = EndpointService(
    "embeddings",
    "/embeddings",
    ("OPENAI_EMBEDDING_BASE_URL", *BASE_URL),
    ("OPENAI_EMBEDDING_MODEL",),
    ("OPENAI_EMBEDDING_API_KEY", KEY),
    vectors_in,
)
RERANK = EndpointService(
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

    service: ClassVar[EndpointService] = EMBEDDINGS

    dimensions: int | None = None
    encoding: Literal["float", "base64"] = "float"


@dataclass(frozen=True)
class RerankSettings(TextSettings):
    """Settings of an endpoint's reranking.

    `form` is what the endpoint calls the texts: `documents` (Jina, Cohere, vLLM) or `texts`
    (text-embeddings-inference); `auto` tries the first and then the second.
    """

    service: ClassVar[EndpointService] = RERANK

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

"""Scripted endpoints that give vectors and scores, and doors to them."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.endpoint import Answer, Endpoint, Script, running
from trecjudge.models.opening import CommandState, ModelOptions
from trecjudge.models.retrieval.asking import (
    EndpointRanker,
    EndpointVectors,
    open_ranker,
    open_vectors,
)

KEY = "sk-secret-0123456789"


def vector(text: str) -> list[float]:
    """Return a vector of a text: its length, its words, its commas."""
    return [float(len(text)), float(len(text.split())), float(text.count(","))]


def embedded(body: dict[str, Any], number: int = 0) -> Answer:
    """Return an answer with the vector of each text, the last one first."""
    data = [
        {"object": "embedding", "index": place, "embedding": written(vector(text), body)}
        for place, text in enumerate(body["input"])
    ]
    tokens = sum(len(text.split()) for text in body["input"])
    return answered({"data": data[::-1], "usage": {"prompt_tokens": tokens}})


def written(numbers: Sequence[float], body: dict[str, Any]) -> Any:
    """Return numbers in the encoding that is asked for."""
    if body.get("encoding_format") == "base64":
        return base64.b64encode(np.asarray(numbers, dtype="<f4").tobytes()).decode()
    return list(numbers)


def answered(value: Any, status: int = 200) -> Answer:
    """Return an answer with this JSON value."""
    return Answer(raw=json.dumps(value).encode(), status=status)


def refused(message: str, status: int = 400) -> Answer:
    """Return an answer that refuses with a message."""
    return answered({"error": {"message": message}}, status)


def unit(text: str) -> Any:
    """Return the vector that is expected of a text: of length 1."""
    found = np.asarray(vector(text))
    return (found / np.linalg.norm(found)).astype(np.float32)


@asynccontextmanager
async def at_one_address(script: Script, path: str, folder: Path) -> AsyncIterator[Endpoint]:
    """Run an endpoint where the one before it was that had the same folder: a cache has its key."""
    note = folder / "port"
    port = int(note.read_text()) if note.exists() else 0
    async with running(script, path=path, port=port) as endpoint:
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(str(urlsplit(endpoint.url).port))
        yield endpoint


@asynccontextmanager
async def vectors_of(
    script: Script, folder: Path, *, options: ModelOptions | None = None, **given: Any
) -> AsyncIterator[tuple[EndpointVectors, Endpoint]]:
    """Open vectors of a scripted endpoint, with a cache in `folder`."""
    options = options or ModelOptions(use=True, cache_folder=folder)
    async with at_one_address(script, "/v1/embeddings", folder) as endpoint:
        with environment(endpoint.url, "OPENAI_EMBEDDING_MODEL"):
            async with open_vectors(options, given, noted(folder)) as vectors:
                yield vectors, endpoint


@asynccontextmanager
async def ranker_of(
    script: Script, folder: Path, path: str = "/v1/rerank", **given: Any
) -> AsyncIterator[tuple[EndpointRanker, Endpoint]]:
    """Open a ranker of a scripted endpoint, with a cache in `folder`."""
    options = ModelOptions(use=True, cache_folder=folder)
    async with at_one_address(script, path, folder) as endpoint:
        url = endpoint.url if path.startswith("/v1") else endpoint.url.removesuffix("/v1") + path
        with environment(url, "RERANK_MODEL"):
            async with open_ranker(options, given, noted(folder)) as ranker:
                yield ranker, endpoint


@contextmanager
def environment(url: str, model: str) -> Iterator[None]:
    """Within it, the variables of the environment lead to this address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", url)
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv(model, "stub")
        yield


def noted(folder: Path) -> Callable[[str], None]:
    """Return what writes messages to a file in a folder."""

    def note(message: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "messages").open("a") as file:
            file.write(message + "\n")

    return note


def with_command(folder: Path, command: CommandState, **more: Any) -> ModelOptions:
    """Return options of a command that has a budget."""
    return ModelOptions(use=True, cache_folder=folder, command=command, **more)

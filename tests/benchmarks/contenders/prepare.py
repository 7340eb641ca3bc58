"""The requests that the citation judge makes of invented pairs: as bodies, or with kept replies."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from invented import Pair, pairs

from trecjudge.judges.citation import ATTEST
from trecjudge.models.cache.store import CachedReply, ReplyCache
from trecjudge.models.endpoint import EndpointCapabilities
from trecjudge.models.prompt import Prompts
from trecjudge.models.requests import Request, Requests
from trecjudge.models.settings import LlmSettings

LABELS = ("full_support", "partial_support", "no_support")
QUOTED = 12
"""Words of a document that a kept reply quotes."""


def requests_of(requests: Requests, made: Iterator[Pair]) -> Iterator[tuple[Pair, Request]]:
    """Yield the request for each pair, in the form that an endpoint with schemas takes."""
    for pair in made:
        inputs = {"document": pair.document, "sentence": pair.sentence}
        yield pair, requests.make(ATTEST, inputs, "schema")


def write_bodies(requests: Requests, made: Iterator[Pair], path: Path) -> None:
    """Write one request body a line."""
    with path.open("wb") as file:
        for _, request in requests_of(requests, made):
            body = requests.body(request.messages, request.prompt.request)
            file.write(orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE))


async def fill(requests: Requests, made: Iterator[Pair], folder: Path) -> None:
    """Keep a reply to every request, as if it had been asked for."""
    with closing(ReplyCache(folder)) as cache:
        puts = []
        for number, (pair, request) in enumerate(requests_of(requests, made)):
            quote = " ".join(pair.document.split()[:QUOTED])
            text = json.dumps({"evidence": quote, "label": LABELS[number % len(LABELS)]})
            puts.append(cache.put(request.key, CachedReply(text, 500, 40), requests.origin))
        await asyncio.gather(*puts)
        cache.keep_habits(requests.origin, EndpointCapabilities({"attest": "schema"}).text())


def main() -> None:
    """Do what standard input describes."""
    spec: dict[str, Any] = json.loads(sys.stdin.read())
    requests = Requests(LlmSettings(spec["url"], "stub"), Prompts())
    made = pairs(spec["items"], spec["seed"])
    if spec["bodies"]:
        write_bodies(requests, made, Path(spec["bodies"]))
    else:
        asyncio.run(fill(requests, made, Path(spec["cache"])))


if __name__ == "__main__":
    main()

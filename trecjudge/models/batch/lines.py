"""The lines of a batch: requests as they are sent, answers as they come back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson

from trecjudge.models.faults import NOT_READ
from trecjudge.settings.limits import limits

TARGET = "/v1/chat/completions"
CHUNK = 1 << 16
KEY = re.compile(rb'"custom_id"\s*:\s*"([^"\\]+)"')
TOO_LARGE = {
    "code": NOT_READ,
    "message": "the reply is too large (llm.most_bytes, --limit depth, --limit entries)",
}
"""The error that stands for an answer which is not read."""
NOT_ASKED = ("batch_expired", "batch_cancelled")

RawAnswer = tuple[int, bytes]
"""Status and body, as if the request had been sent on its own."""


@dataclass(eq=False, slots=True)
class PendingRequest:
    """A request that waits for its answer."""

    key: str
    body: dict[str, Any]
    admit: Callable[[], None]
    answer: asyncio.Future[RawAnswer]
    done: asyncio.Future[None]
    """Done when the answer was used."""
    admitted: bool = False
    sent: int = 0
    nonce: str = ""
    """What its reply must repeat, if anything."""

    def fail(self, error: BaseException) -> None:
        """Raise an error where the answer is awaited."""
        if not self.answer.done():
            self.answer.set_exception(error)


@dataclass(eq=False, slots=True)
class Batch:
    """A batch and the requests in it; `id` is empty until it has begun."""

    file: str = ""
    id: str = ""
    waiting: dict[str, PendingRequest] = field(default_factory=dict)


def line_of(waiting: PendingRequest) -> dict[str, Any]:
    """Return a request as a line of a batch; its id says which nonce it carries."""
    name = f"{waiting.key}.{waiting.nonce}" if waiting.nonce else waiting.key
    return {"custom_id": name, "method": "POST", "url": TARGET, "body": waiting.body}


def entries(files: Iterable[Path], most: int) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (key, nonce, entry) of the answers in files of a batch; the key of no answer is empty.

    For an answer of more than `most` bytes, or nested too deep, the error `too_large` is yielded.
    """
    for path in files:
        with path.open("rb") as file:
            for line in iter(partial(file.readline, most + 1), b""):
                if line.isspace():
                    continue
                is_long = len(line) > most and not line.endswith(b"\n")
                if is_long:
                    _pass_line(file)
                entry = None if is_long else _entry(line)
                if entry is None and (key := KEY.search(line[:CHUNK])):
                    entry = {"custom_id": key[1].decode(errors="replace"), "error": TOO_LARGE}
                name = (entry or {}).get("custom_id")
                found, _, nonce = name.partition(".") if isinstance(name, str) else ("", "", "")
                yield found, nonce, entry or {}


def _entry(line: bytes) -> Mapping[str, Any] | None:
    """Return the object of a line; None where it is beyond a limit, {} where it is not JSON."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None if "ecursion" in str(error) else {}
    if limits().excess(found):
        return None
    return found if isinstance(found, Mapping) else {}


def _pass_line(file: IO[bytes]) -> None:
    """Go past the current line."""
    for rest in iter(partial(file.readline, CHUNK), b""):
        if rest.endswith(b"\n"):
            return


def is_unanswered(entry: Mapping[str, Any]) -> bool:
    """Return whether a request was not asked at all: its batch ended before."""
    error = entry.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return code in NOT_ASKED


def answered(entry: Mapping[str, Any]) -> RawAnswer:
    """Return status and body of an answer, as if the request had been sent on its own."""
    response = entry.get("response")
    if isinstance(response, Mapping) and response.get("body") is not None:
        status = response.get("status_code")
        return (status if isinstance(status, int) else 200), orjson.dumps(response["body"])
    return 200, orjson.dumps({"error": entry.get("error") or "no answer"})


def is_failure(found: RawAnswer) -> bool:
    """Return whether an answer is no completion."""
    return found[0] != 200 or re.match(rb'\{"error":(?!null)', found[1]) is not None

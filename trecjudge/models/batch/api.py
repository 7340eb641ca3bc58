"""OpenAI's Batch API over HTTP: files of requests and answers, and the batches made of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import orjson

from trecjudge.errors import ModelError
from trecjudge.models.envelope import token_count
from trecjudge.models.faults import (
    NOT_READ,
    ConfigurationFault,
    Fault,
    ItemFault,
    ParameterFault,
)
from trecjudge.models.transport import OF_A_FILE, Transport
from trecjudge.settings.limits import limits

TARGET = "/v1/chat/completions"
CHUNK = 1 << 16
# Finds whose answer it is in a line that is too long, or too deep, to be read as JSON.
KEY = re.compile(rb'"custom_id"\s*:\s*"([^"\\]+)"')
UNREAD = {
    "code": NOT_READ,
    "message": "the reply is too large (llm.most_bytes, --limit depth, --limit entries)",
}
"""The error that stands for an answer which is not read."""
NOT_ASKED = ("batch_expired", "batch_cancelled")

COMPLETIONS = "/chat/completions"
WINDOW = "24h"
"""The time within which a batch is answered: the only one that OpenAI offers."""
DAY = 24 * 60 * 60.0
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
STEPS = frozenset({"validating", "in_progress", "finalizing"})
"""The states of a batch that is worked on."""
GONE = 410
NO_API = frozenset({404, 405, 501})
TOO_LARGE = 413
MOST_PAGES = 100
"""How many pages of a list of batches are read, the newest ones first."""
FILES = 30
"""How many times `timeout` a request with a file may take."""
RawAnswer = tuple[int, bytes]
"""Status and body, as if the request had been sent on its own."""


class BatchTooLarge(Exception):
    """The endpoint takes no batch of this size, at the moment or ever."""


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

    @property
    def line(self) -> dict[str, Any]:
        """The line of a batch that asks it; its id says which nonce it carries."""
        name = f"{self.key}.{self.nonce}" if self.nonce else self.key
        return {"custom_id": name, "method": "POST", "url": TARGET, "body": self.body}


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch; `files` hold its answers and errors, `problem` is why it failed.

    `expires` is when it ends, in seconds since 1970, 0 where the endpoint does not say that.
    """

    id: str
    status: str
    done: int
    total: int
    files: tuple[str, ...]
    problem: bytes
    expires: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it will not change any more, and its files are there."""
        are_due = self.done > 0 and self.status != "failed"
        return self.status in OVER and (bool(self.files) or not are_due)

    def __str__(self) -> str:
        is_known = self.status in OVER | STEPS | {"cancelling"}
        status = self.status if is_known else f"{self.status[:80]!r} (a status that is not known)"
        files = ", but without its files" if self.status in OVER and not self.is_over else ""
        return f"{status}, {self.done} of {self.total} requests done{files}"


@dataclass(frozen=True, slots=True)
class BatchApi:
    """Files and batches of one endpoint. Raises a Fault where a request to it fails."""

    transport: Transport
    completions: str
    timeout: float
    most_bytes: int
    """The most that is read of one answer in a file of them."""

    def address(self, path: str) -> str:
        """Return the address of a path beside that of completions."""
        return self.completions.replace(COMPLETIONS, f"/{path}", 1)

    async def upload(self, lines: Path) -> str:
        """Upload a file of requests, one a line; return its id."""
        import aiohttp  # it loads slowly, and every job with a model imports this module

        with lines.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            kind = "application/jsonl"
            form.add_field("file", file, filename="requests.jsonl", content_type=kind)
            content = form()
            headers = {"Content-Type": content.headers["Content-Type"]}
            answer = await self._request("POST", "files", content, headers=headers)
        return _text(answer, "id")

    async def begin(self, file: str) -> BatchState:
        """Begin the batch of an uploaded file."""
        wanted = {"input_file_id": file, "endpoint": TARGET, "completion_window": WINDOW}
        return _state(await self._request("POST", "batches", orjson.dumps(wanted)))

    async def of_file(self, file: str) -> BatchState | None:
        """Return the batch that was begun with a file, None where none of the newest was."""
        seen, more = {""}, dict[str, Any]()
        for _ in range(MOST_PAGES):
            try:
                answer = await self._request("GET", "batches", **more)
            except (ConfigurationFault, ItemFault):  # an endpoint that cannot list them
                return None
            entries = answer.get("data")
            listed = entries if isinstance(entries, list) else ()
            found = [entry for entry in listed if isinstance(entry, Mapping)]
            if ours := [e for e in found if e.get("input_file_id") == file]:
                return _state(ours[0])
            last = str(found[-1].get("id", "")) if found else ""
            if not answer.get("has_more") or last in seen:
                return None
            seen.add(last)  # a service that ignores `after` gives the first page for ever
            more = {"params": {"after": last}}
        return None

    async def state(self, batch_id: str) -> BatchState | None:
        """Return how far a batch is, None where the endpoint does not know it."""
        path = f"batches/{quote(batch_id, safe='')}"
        status, headers, payload = await self._exchange("GET", path)
        if status in (404, GONE):
            return None
        if status != 200:
            raise self._failure(status, headers, payload)
        state = _state(_object(payload))
        if state.id != batch_id:
            raise Fault("transport", f"asked for batch {batch_id}, it answers about {state.id!r}")
        return state

    def most_of_file(self, answers: int) -> int:
        """Return the most that is read of a file of so many answers."""
        return min(OF_A_FILE, answers * self.most_bytes)

    async def content(self, file: str, into: Path, most: int, is_old: bool = False) -> Path | None:
        """Return `into` with the content of a file, None where it is gone for good.

        One that is not there yet is a Fault, which waiting may mend, unless it `is_old`. Of one of
        more than `most` bytes only a part is written, which is longer than that.
        """
        path = f"files/{quote(file, safe='')}/content"
        with into.open("wb") as kept:
            status, headers, payload = await self._exchange("GET", path, into=kept, most=most)
        if status == GONE or (status == 404 and is_old):
            return None
        if status == 404:
            raise Fault("transport", f"HTTP 404: file {file} of a batch is not there", status)
        if status != 200:
            raise self._failure(status, headers, payload)
        return into

    async def _request(
        self, method: str, path: str, data: Any = None, **more: Any
    ) -> dict[str, Any]:
        status, headers, payload = await self._exchange(method, path, data, **more)
        if status == TOO_LARGE:
            raise BatchTooLarge(str(self.transport.failure(status, headers, payload)))
        if status in NO_API and method == "POST":
            url = self.address(path)
            raise ModelError(f"{url}: HTTP {status}: no Batch API there; set llm.batch to false")
        if status not in (200, 201):
            raise self._failure(status, headers, payload)
        return _object(payload)

    async def _exchange(
        self, method: str, path: str, data: Any = None, **more: Any
    ) -> tuple[int, Any, bytes]:
        import aiohttp

        # A large file may take long, but must not stop, nor come in tiny pieces for ever.
        longest = FILES * self.timeout if path.startswith("files") else self.timeout
        patience = aiohttp.ClientTimeout(
            total=longest, sock_connect=self.timeout, sock_read=self.timeout
        )
        address = self.address(path)
        return await self.transport.exchange(method, address, data, timeout=patience, **more)

    def _failure(self, status: int, headers: Any, payload: bytes) -> Fault:
        return of_all(self.transport.failure(status, headers, payload))


def of_all(fault: Fault) -> Fault:
    """Return a fault of a whole batch: an item's fault is then one of the configuration."""
    if isinstance(fault, ItemFault | ParameterFault):
        return ConfigurationFault("refused", str(fault), fault.status)
    return fault


def _object(payload: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(payload)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise Fault("transport", f"the answer is not a JSON object: {payload[:100]!r}")
    return found


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise Fault("transport", f"the answer has no {name}")
    return value


def _state(answer: Mapping[str, Any]) -> BatchState:
    counts = answer.get("request_counts")
    numbers = counts if isinstance(counts, Mapping) else {}
    done, failed, total = (token_count(numbers, n) for n in ("completed", "failed", "total"))
    files = (answer.get("output_file_id"), answer.get("error_file_id"))
    errors = answer.get("errors")
    problem = errors.get("data") if isinstance(errors, Mapping) else errors
    return BatchState(
        _text(answer, "id"),
        _text(answer, "status"),
        done + failed,
        total,
        tuple(file for file in files if isinstance(file, str) and file),
        orjson.dumps({"error": _one(problem)}),
        token_count(answer, "expires_at"),
    )


def _one(errors: Any) -> Any:
    """Return the first of several errors: those of a batch are mostly the same for each line."""
    return errors[0] if isinstance(errors, list) and errors else errors or "it failed"


def answers_in(files: Iterable[Path], most: int) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
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
                    entry = {"custom_id": key[1].decode(errors="replace"), "error": UNREAD}
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


def was_not_asked(entry: Mapping[str, Any]) -> bool:
    """Return whether a request was not asked at all: its batch ended before."""
    error = entry.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return code in NOT_ASKED


def read_answer(entry: Mapping[str, Any]) -> RawAnswer:
    """Return status and body of an answer, as if the request had been sent on its own."""
    response = entry.get("response")
    if isinstance(response, Mapping) and response.get("body") is not None:
        status = response.get("status_code")
        return (status if isinstance(status, int) else 200), orjson.dumps(response["body"])
    return 200, orjson.dumps({"error": entry.get("error") or "no answer"})


def is_failure(found: RawAnswer) -> bool:
    """Return whether an answer is no completion."""
    return found[0] != 200 or re.match(rb'\{"error":(?!null)', found[1]) is not None

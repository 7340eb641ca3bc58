"""A real endpoint on loopback with a Batch API that is strict about its protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.endpoint import Answer, Script, completion, in_a_thread

STEPS = ("validating", "in_progress", "finalizing")
LINE = {"custom_id", "method", "url", "body"}


@dataclass
class Batch:
    """A batch: its lines, and how often it was looked at."""

    id: str
    file: str
    lines: list[dict[str, Any]]
    looks: int = 0
    status: str = "validating"
    files: dict[str, str] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class BatchEndpoint:
    """A running endpoint.

    A batch ends when each of its steps was looked at once and `held` is False. `expires` has the
    number of lines after which the n-th batch expires, `fails` the error with which it fails.
    Of a list, the newest first, a request gets `page` batches, where that is set. Where `stays` is
    set, no batch goes beyond that status. `tells` is added to each state. `mix`
    changes the entries of each file of answers before it is written.
    `refuse` has the statuses that a path answers with, `refusal` their message. The replies to the
    first `loses` batches are lost. `asked` are the bodies of all lines that were answered.
    """

    script: Script
    url: str = ""
    held: bool = False
    lists: bool = True
    page: int = 0
    loses: int = 0
    expires: dict[int, int] = field(default_factory=dict)
    ends: str = "expired"
    fails: dict[int, dict[str, Any]] = field(default_factory=dict)
    refuse: dict[str, list[int]] = field(default_factory=dict)
    refusal: str = "not now"
    batches: list[Batch] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    stays: str = ""
    tells: dict[str, Any] = field(default_factory=dict)
    mix: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda entries: entries
    after: bytes = b""
    """Bytes that follow the content of each file, repeated without end."""

    def environment(self) -> dict[str, str]:
        """Return the OPENAI_* variables that lead here."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_MODEL": "stub", "OPENAI_API_KEY": "sk-secret"}

    async def upload(self, request: web.Request) -> web.Response:
        """Take a file; a request that breaks the protocol is refused."""
        if request.content_type != "multipart/form-data":
            return _refused(f"Content-Type is {request.content_type}")
        parts: dict[str, bytes] = {}
        async for part in await request.multipart():
            assert not isinstance(part, type(None))
            parts[str(part.name)] = bytes(await part.read())  # type: ignore[union-attr]
            if part.name == "file" and not str(part.filename).endswith(".jsonl"):  # type: ignore[union-attr]
                return _refused("the file is not .jsonl")
        if parts.get("purpose") != b"batch" or parts.keys() != {"purpose", "file"}:
            return _refused(f"fields are {sorted(parts)}, purpose {parts.get('purpose')!r}")
        name = f"file-{len(self.files)}"
        self.files[name] = parts["file"]
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def begin(self, request: web.Request) -> web.Response:
        """Begin a batch of an uploaded file."""
        wanted = await request.json()
        file = wanted.pop("input_file_id", "")
        if wanted != {"endpoint": "/v1/chat/completions", "completion_window": "24h"}:
            return _refused(f"cannot begin: {wanted}")
        if file not in self.files:
            return _refused(f"no such file: {file}")
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        batch = Batch(f"batch_{len(self.batches)}", file, lines)
        ids = {line["custom_id"] for line in lines}
        if len(ids) < len(lines) or any(line.keys() != LINE for line in lines):
            batch.errors.append({"code": "duplicate_custom_id", "message": "lines are wrong"})
        elif any(line["url"] != "/v1/chat/completions" for line in lines):
            batch.errors.append({"code": "invalid_url", "message": "lines are wrong"})
        elif failure := self.fails.get(len(self.batches)):
            batch.errors.append(failure)
        self.batches.append(batch)
        if len(self.batches) <= self.loses:
            return _refused("the reply is lost", 503)
        return web.json_response(self._state_of(batch))

    async def look(self, request: web.Request) -> web.Response:
        """Return the state of a batch; each look takes it one step further."""
        found = [b for b in self.batches if b.id == request.match_info["id"]]
        if not found:
            return _refused("no such batch", 404)
        batch = found[0]
        batch.looks += 1
        if batch.errors:
            batch.status = "failed"
        elif self.stays:
            batch.status = self.stays
        elif batch.looks <= len(STEPS):
            batch.status = STEPS[batch.looks - 1]
        elif not self.held and batch.status not in ("completed", "expired", "cancelled"):
            self._work(batch)
        return web.json_response(self._state_of(batch) | self.tells)

    async def listed(self, request: web.Request) -> web.Response:
        """Return all batches, or a page of them after the one that is named."""
        if not self.lists:
            return _refused("no such path", 404)
        left = self.batches[::-1]
        if after := request.query.get("after"):
            left = left[1 + [batch.id for batch in left].index(after) :]
        shown = left[: self.page or None]
        states, has_more = [self._state_of(batch) for batch in shown], len(shown) < len(left)
        return web.json_response({"object": "list", "data": states, "has_more": has_more})

    async def content(self, request: web.Request) -> web.StreamResponse:
        """Return the content of a file."""
        content = self.files.get(request.match_info["id"])
        if content is None:
            return _refused("no such file", 404)
        if not self.after:
            return web.Response(body=content)
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(content)
        with suppress(ConnectionError):
            for _ in range(1 << 20):
                await answer.write(self.after)
        return answer

    def _state_of(self, batch: Batch) -> dict[str, Any]:
        total, over = len(batch.lines), batch.status == "completed"
        counts = {"total": total, "completed": total if over else 0, "failed": 0}
        errors = {"object": "list", "data": batch.errors} if batch.errors else None
        return {
            "id": batch.id, "object": "batch", "input_file_id": batch.file, "status": batch.status,
            "request_counts": counts, "errors": errors,
            "output_file_id": None, "error_file_id": None, **batch.files,
        }  # fmt: skip

    def _work(self, batch: Batch) -> None:
        """Answer the lines of a batch, the last first, since the protocol promises no order."""
        number = self.batches.index(batch)
        until = self.expires.get(number, len(batch.lines))
        batch.status = self.ends if number in self.expires else "completed"
        good, bad = [], []
        for place, line in reversed(list(enumerate(batch.lines))):
            line_id = {"id": f"batch_req_{place}", "custom_id": line["custom_id"]}
            if place >= until:
                error = {"code": f"batch_{batch.status}", "message": "It could not be executed."}
                bad.append(line_id | {"response": None, "error": error})
                continue
            answer = self.script(line["body"], len(self.asked))
            self.asked.append(line["body"])
            body = _body(answer)
            for n, tokens in enumerate(answer.usage or ()) if answer.status == 200 else ():
                self.tokens[n] += tokens
            response = {"status_code": answer.status, "request_id": "r", "body": body}
            entry = line_id | {"response": response, "error": None}
            (good if answer.status == 200 else bad).append(entry)
        for kind, entries in (("output_file_id", good), ("error_file_id", bad)):
            if entries and (entries := self.mix(entries)):
                name = f"file-{len(self.files)}"
                self.files[name] = "".join(json.dumps(e) + "\n" for e in entries).encode()
                batch.files[kind] = name

    @web.middleware
    async def refusing(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Answer with the next status in `refuse` for this path, if there is one."""
        due = self.refuse.get(f"{request.method} {request.path.split('/')[2]}")
        if due:
            return _refused(self.refusal, due.pop(0))
        answer: web.StreamResponse = await handler(request)
        return answer


def _body(answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        raw = answer.raw or b'{"error": {"message": "no"}}'
        found: dict[str, Any] = json.loads(raw)
        return found
    return completion(answer)


def _refused(message: str, status: int = 400) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=status)


@asynccontextmanager
async def batching(script: Script, **options: Any) -> AsyncIterator[BatchEndpoint]:
    """Run such an endpoint in the running event loop."""
    endpoint = BatchEndpoint(script, **options)
    app = web.Application(middlewares=[endpoint.refusing], client_max_size=1 << 28)
    app.router.add_post("/v1/files", endpoint.upload)
    app.router.add_post("/v1/batches", endpoint.begin)
    app.router.add_get("/v1/batches", endpoint.listed)
    app.router.add_get("/v1/batches/{id}", endpoint.look)
    app.router.add_get("/v1/files/{id}/content", endpoint.content)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    endpoint.url = f"http://{host}:{port}/v1"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


def serving_batches(script: Script, **options: Any) -> AbstractContextManager[BatchEndpoint]:
    """Run such an endpoint in a thread of its own."""
    return in_a_thread(batching(script, **options))

"""A real service of documents on loopback that speaks as the tracks' one does, or rudely."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

INDEX = "books"
TOKEN = "token-of-the-library-0123456789"


@dataclass
class Reply:
    """One reply: an object is sent as JSON. `cut` breaks off in the body, `drop` before it."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    drop: bool = False
    endless: bool = False
    packed: bool = False

    @property
    def payload(self) -> bytes:
        """What is sent."""
        plain = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return gzip.compress(plain) if self.packed else plain


def missing(doc_id: str) -> Reply:
    """Return what the service says of a document that is not there."""
    return Reply({"error": f"Document not found: {doc_id}"}, 404)


@dataclass
class DocumentService:
    """A running service: what it has, how it replies to some ids, and what it was asked for.

    The replies of `rude` to an id are given one after the other, then always the last one; None
    stands for what is usual. Those of "*" are for ids without any of their own. The first `answers`
    requests are answered; the others wait for ever.
    """

    documents: Mapping[str, Any]
    rude: Mapping[str, Sequence[Reply | None]] = field(default_factory=dict)
    token: str = ""
    url: str = ""
    answers: float = math.inf
    asked: Counter[str] = field(default_factory=Counter)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0

    @property
    def pattern(self) -> str:
        """The address of one document."""
        return f"{self.url}/v1/{INDEX}/doc/{{docid}}"

    async def description(self, request: web.Request) -> web.Response:
        """Return the description of the service in the form of OpenAPI."""
        path = {"get": {"parameters": [{"name": "docid", "in": "path", "required": True}]}}
        return web.json_response(
            {"openapi": "3.1.0", "paths": {"/v1/{index}/doc/{docid}": path}}
        )  # fmt: skip

    async def document(self, request: web.Request) -> web.StreamResponse:
        """Reply to a request for a document."""
        doc_id = request.match_info["docid"]
        number = self.asked[doc_id]
        self.asked[doc_id] += 1
        self.headers.append(request.headers)
        self.targets.append(request.raw_path)
        self.times.append(asyncio.get_running_loop().time())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            replies = self.rude.get(doc_id) or self.rude.get("*") or [None]
            reply = replies[min(number, len(replies) - 1)] or self._usual(request, doc_id)
            await asyncio.sleep(reply.delay if len(self.times) <= self.answers else 3600)
            return await _sent(request, reply)
        finally:
            self._at_once -= 1

    def _usual(self, request: web.Request, doc_id: str) -> Reply:
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return Reply({"error": "Invalid or missing token"}, 401)
        if request.match_info["index"] != INDEX:
            return Reply({"error": f"Unknown index: {request.match_info['index']}"}, 400)
        if doc_id not in self.documents:
            return missing(doc_id)
        found = self.documents[doc_id]
        if request.query.get("parse") == "false":
            found = json.dumps(found)
        return Reply({"api": "v1", "index": INDEX, "docid": doc_id, "doc": found})


async def _sent(request: web.Request, reply: Reply) -> web.StreamResponse:
    if reply.drop and request.transport is not None:
        request.transport.abort()
    headers = {"Content-Type": "application/json"} | dict(reply.headers)
    if reply.packed:
        headers["Content-Encoding"] = "gzip"
    if not (reply.cut or reply.endless):
        return web.Response(body=reply.payload, status=reply.status, headers=headers)
    begun = web.StreamResponse(status=reply.status, headers=headers)
    await begun.prepare(request)
    await begun.write(reply.payload[:10])
    while reply.endless:
        await asyncio.sleep(1)
        await begun.write(b" ")
    if request.transport is not None:
        request.transport.abort()
    return begun


@asynccontextmanager
async def serving_documents(
    documents: Mapping[str, Any],
    rude: Mapping[str, Sequence[Reply | None]] | None = None,
    token: str = "",
    port: int = 0,
) -> AsyncIterator[DocumentService]:
    """Run a service in the running event loop."""
    service = DocumentService(documents, rude or {}, token)
    app = web.Application()
    app.router.add_get("/openapi.json", service.description)
    app.router.add_get("/v1/{index}/doc/{docid:(?s:.*)}", service.document)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    service.url = "http://{}:{}".format(*runner.addresses[0][:2])
    try:
        yield service
    finally:
        await runner.cleanup()

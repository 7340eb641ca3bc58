"""Transport by batches, at half the price: collects requests, sends them, hands out replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import orjson

from trecjudge.models.batch.api import BatchApi, PendingRequest, read_answer
from trecjudge.models.batch.batches import Batches
from trecjudge.models.cache.batch_book import BatchBook
from trecjudge.models.cache.request_locks import RequestLocks
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.envelope import Reply
from trecjudge.models.pace import Pace
from trecjudge.models.requests import Requests
from trecjudge.models.transport import Transport

T = TypeVar("T")
IDLE = 0.5
"""Idle seconds before a batch is sent."""
TURNS = 20
"""Turns of the event loop to wait for more requests: more than one needs from its judge to here."""

# OpenAI takes input files of 200 MB; the margin is for other ways to count megabytes.
MOST_BYTES = 190_000_000


class BatchTransport:
    """Collects requests until no more come, and has them answered together."""

    last_wait = 0.0

    def __init__(
        self,
        requests: Requests,
        cache: ReplyCache,
        leases: RequestLocks,
        notify: Callable[[str], None],
        plain: Transport,
    ) -> None:
        settings = requests.settings
        self.pace = Pace(settings.batch_size)
        self._most = settings.batch_size
        self._plain = plain
        self.load = plain.load
        self._book = BatchBook(cache.path, notify, cache.refuse)
        api = BatchApi(plain, plain.address, settings.timeout, settings.most_bytes)
        self._batches = Batches(api, self._book, cache, leases, requests, self._gather, notify)
        self._gathered: list[PendingRequest] = []
        self._bytes = 0
        self._posts = 0
        self._keeping = 0
        self._settling: asyncio.Task[None] | None = None

    @property
    def at_once(self) -> int:
        """How many answers the last batch had."""
        return self._batches.last_size

    async def post(
        self,
        body: dict[str, Any],
        tokens: int,
        admit: Callable[[], None],
        keep: Callable[[Reply], Awaitable[T]],
        key: str = "",
    ) -> T:
        """Return what `keep` makes of the reply to one request, which is sent in a batch.

        `admit` is called when its batch is sent. A request that is in a batch under way, also of
        an earlier command, waits for that one. Raises a Fault.
        """
        loop = asyncio.get_running_loop()
        waiting = PendingRequest(key, body, admit, loop.create_future(), loop.create_future())
        self.pace.in_flight += 1
        self._posts += 1
        try:
            self._place(waiting)
            status, payload = await waiting.answer
            self._keeping += 1
            try:
                return await keep(self._plain.read(status, {}, payload))
            finally:
                self._keeping -= 1
        finally:
            self.pace.in_flight -= 1
            # `done` lets the batch go on: its answers count as used once they are in the cache.
            waiting.answer.cancel()
            if not waiting.done.done():
                waiting.done.set_result(None)

    def hurry(self) -> None:
        """Wait for no large answer any more."""
        self._plain.hurry()

    def _place(self, waiting: PendingRequest) -> None:
        """Give a request its answer, if it has come; else put it into its batch or a new one."""
        known = self._book.where(waiting.key)
        batch = self._batches.of(known.file) if known and known.answer is None else None
        if known is None or (known.answer is None and batch is None):
            self._gather(waiting)
            return
        waiting.admit()
        waiting.admitted = True
        if batch is not None:
            batch.waiting[waiting.key] = waiting
        elif known.answer is not None:
            self._book.drop(waiting.key)
            waiting.answer.set_result(read_answer(orjson.loads(known.answer)))

    def _gather(self, waiting: PendingRequest) -> None:
        size = len(orjson.dumps(waiting.body)) + 200  # and what a line has around the body
        if self._gathered and self._bytes + size > MOST_BYTES:
            self._send_gathered()
        self._gathered.append(waiting)
        self._bytes += size
        if len(self._gathered) >= min(self._most, self._batches.most):
            self._send_gathered()
        elif self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        """Send what is gathered once nothing more can be asked before replies come."""
        while self._gathered:
            posts = self._posts
            await asyncio.sleep(IDLE)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            # A reply that is being kept may lead to the next question of its item.
            if posts == self._posts and not self._keeping:
                self._send_gathered()

    def _send_gathered(self) -> None:
        gathered, self._gathered, self._bytes = self._gathered, [], 0
        self._batches.send(gathered)

    async def close(self) -> None:
        """Stop waiting; batches under way stay so, and are found again."""
        if self._settling is not None:
            self._settling.cancel()
            await asyncio.gather(self._settling, return_exceptions=True)
        await self._batches.close()
        self._book.close()
        await self._plain.close()

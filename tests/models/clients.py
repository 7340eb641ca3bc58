"""Doors to a scripted endpoint, and questions to ask through them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from tests.endpoint import Endpoint
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.citation import ATTEST
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.client import Client
from trecjudge.models.model import Prediction
from trecjudge.models.prompt import Prompts
from trecjudge.models.requests import Replies, Requests
from trecjudge.models.settings import LlmSettings
from trecjudge.models.spending import Budget, Prices, Spending

KEY = "sk-secret-0123456789"


def settings_for(base_url: str | list[str], **settings: Any) -> LlmSettings:
    """Return settings with the test's key."""
    return LlmSettings(**{"base_url": base_url, "model": "stub", "api_key": KEY} | settings)


@asynccontextmanager
async def client_to(
    where: Endpoint | str | list[str],
    folder: Path,
    *,
    refresh: bool = False,
    offline: bool = False,
    budget: Budget | None = None,
    prices: Prices | None = None,
    behind: Sequence[Path] = (),
    prompts: dict[str, str] | None = None,
    notify: Callable[[str], None] = lambda message: None,
    **settings: Any,
) -> AsyncIterator[Client]:
    """Open a client with a cache in `folder`."""
    url = where.url if isinstance(where, Endpoint) else where
    adapter = settings.get("adapter", "auto")
    requests = Requests(settings_for(url, **settings), Prompts(prompts or {}, adapter))
    with closing(ReplyCache(folder, notify, behind)) as cache:
        replies = Replies(requests, cache, refresh)
        async with Client(replies, Spending(budget or Budget(), prices), offline, notify) as client:
            yield client


async def ask(client: Client, sentence: str = "A claim.", document: str = "Text.") -> Prediction:
    """Ask whether the document attests the sentence."""
    return await client.predict(ATTEST, document=document, sentence=sentence)


async def ask_many(client: Client, count: int) -> list[Prediction | BaseException]:
    """Ask about so many different sentences at once; return predictions and what was raised."""
    asked = (ask(client, f"Claim {number}.") for number in range(count))
    return await asyncio.gather(*asked, return_exceptions=True)


async def failure(client: Client, sentence: str = "A claim.") -> JudgmentFailed:
    """Return how asking fails."""
    try:
        await ask(client, sentence)
    except JudgmentFailed as failed:
        return failed
    raise AssertionError("it did not fail")


def kinds(found: Sequence[Prediction | BaseException]) -> list[str]:
    """Return the kind of each failure, and `ok` for a prediction."""
    return [f.kind if isinstance(f, JudgmentFailed) else _word(f) for f in found]


def _word(found: Prediction | BaseException) -> str:
    return "ok" if isinstance(found, Prediction) else type(found).__name__

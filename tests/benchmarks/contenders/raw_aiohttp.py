"""Nothing but aiohttp: the bodies posted, the replies read as JSON, nothing kept."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from clock import Clock


async def post_all(url: str, bodies: list[bytes], in_flight: int) -> int:
    """Post every body, so many at once, and return how many answers had content."""
    answered = 0
    left: Iterator[bytes] = iter(bodies)

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal answered
        for body in left:
            async with session.post(f"{url}/chat/completions", data=body) as response:
                answer = orjson.loads(await response.read())
            answered += bool(answer["choices"][0]["message"]["content"])

    connector = aiohttp.TCPConnector(limit=in_flight)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(work(session) for _ in range(in_flight)))
    return answered


def main() -> None:
    """Post what standard input describes and report."""
    spec: dict[str, Any] = json.loads(sys.stdin.read())
    bodies = Path(spec["bodies"]).read_bytes().splitlines()
    clock = Clock()
    clock.report(asyncio.run(post_all(spec["url"], bodies, spec["in_flight"])))


if __name__ == "__main__":
    main()

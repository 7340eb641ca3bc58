"""minima-llm at its best setting: no limit per minute, a worker for each request in flight.

Runs under the peers' interpreter. `cache` is a folder to keep replies in, or null; with `warm`
everything is asked once before, and what is reported comes from the cache.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from clock import Clock
from minima_llm import BatchConfig, MinimaLlmConfig, MinimaLlmRequest, OpenAIMinimaLlm

NEVER = 1e9


def requests_in(path: Path) -> list[MinimaLlmRequest]:
    """Return the bodies of a file as minima-llm's requests."""
    bodies = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [
        MinimaLlmRequest(
            request_id=str(number),
            messages=body["messages"],
            temperature=body["temperature"],
            max_tokens=body["max_tokens"],
            extra={"response_format": body["response_format"]},
        )
        for number, body in enumerate(bodies)
    ]


async def run(spec: dict[str, Any], requests: list[MinimaLlmRequest]) -> None:
    """Ask for everything and report."""
    config = MinimaLlmConfig(
        base_url=spec["url"],
        model="stub",
        api_key="none",
        rpm=0,
        max_outstanding=spec["in_flight"],
        batch=BatchConfig(num_workers=spec["in_flight"], heartbeat_s=NEVER),
        cache_dir=spec["cache"],
    )
    if spec["warm"]:
        filling = OpenAIMinimaLlm(config)
        await filling.run_batched(requests)
        await filling.aclose()
    backend = OpenAIMinimaLlm(config)
    clock = Clock()
    results = await backend.run_batched(requests)
    clock.report(sum(bool(getattr(result, "text", "")) for result in results))
    await backend.aclose()


def main() -> None:
    """Ask what standard input describes."""
    spec: dict[str, Any] = json.loads(sys.stdin.read())
    asyncio.run(run(spec, requests_in(Path(spec["bodies"]))))


if __name__ == "__main__":
    main()

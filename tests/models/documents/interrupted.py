"""A program that fetches twenty documents of a service until it is interrupted."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.models.documents.opening import ServiceUse, fetch
from trecjudge.models.documents.service import DocumentApi


def interrupt(*given: object) -> None:
    raise KeyboardInterrupt


def main(url: str, folder: str, inside: str) -> None:
    """Fetch them, with `inside` "yes" in a running event loop."""
    kept = KeptDocuments.open(Path(folder), url)

    def work() -> None:
        fetch(
            DocumentApi(url),
            kept,
            WantedDocuments.of_ids(f"d{n}" for n in range(20)),
            ServiceUse(),
            print,
        )

    async def loop() -> None:
        work()

    signal.signal(signal.SIGTERM, interrupt)
    try:
        asyncio.run(loop()) if inside == "yes" else work()
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("interrupted")


if __name__ == "__main__":
    main(*sys.argv[1:])

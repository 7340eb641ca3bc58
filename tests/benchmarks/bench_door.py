"""Measure the door to models: speed against its peers, memory, busy and faulty endpoints, kills.

    python tests/benchmarks/bench_door.py [PART ...] --stub stub_server.py --peers bin/python

Parts: calls, warm, memory, throttle, faults, kill, shared, start; all of them without a name. What
needs a tool that is not given is passed over and said. README.md tells what each part measures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import Bench, Missing
from resilience import faults, kill, shared, throttle
from speed import calls, memory, start, warm
from table import Row, lines_of, versions

Part = Callable[[Bench], Iterator[Row]]
PARTS: dict[str, Part] = {
    part.__name__: part for part in (calls, warm, memory, throttle, faults, kill, shared, start)
}


def measured(part: str, bench: Bench) -> list[Row]:
    """Return the rows of a part, or one that says what is missing."""
    try:
        return list(PARTS[part](bench))
    except Missing as missing:
        return [Row(part, f"passed over: {missing}", "")]


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--stub", type=Path, help="the stub server's script")
    parser.add_argument("--peers", help="a Python that has minima-llm")
    parser.add_argument("--rounds", type=int, default=3, help="medians of so many (3)")
    parser.add_argument("--profile", type=Path, help="a folder: profile our judge into it as well")
    given = parser.parse_args()
    for part in given.parts:
        if part not in PARTS:
            parser.error(f"part {part!r}: choose from {', '.join(PARTS)}")
    return given


def main() -> None:
    """Run the parts and print the table."""
    given = options()
    print(f"{time.strftime('%Y-%m-%d')}: {versions(given.peers)}; medians of {given.rounds}")
    for part in given.parts or PARTS:
        print(f"measuring {part} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            bench = Bench(Path(folder), given.stub, given.peers, given.rounds, given.profile)
            print("\n".join(lines_of(measured(part, bench))), flush=True)


if __name__ == "__main__":
    main()

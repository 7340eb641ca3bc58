"""Measure reading: MB/s parsed and resolved, and peak memory, beside plain JSON and a peer.

    python tests/benchmarks/bench_readers.py --megabytes 1000 [--peers PATH/bin/python]

A folder of TREC RAG 2025 runs with documents is generated: invented words, about 15 KB a record.
Each contender reads all of it in a process of its own. Aims: 150 MB/s, under 300 MB, and the same
memory for 100 MB and 1 GB. The peer is autojudge-base, which reads the part that fits its model.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import textwrap
from importlib.metadata import version
from pathlib import Path

TOPICS, SENTENCES, DOCUMENTS, WORDS = 100, 11, 8, 180
MB = 1_000_000
ENDING = """
import resource, sys, time
from pathlib import Path
files = sorted(Path(sys.argv[1]).glob("*.jsonl"))
started = time.perf_counter()
{work}
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
print(count, seconds, peak)
"""
OURS = """
from trecjudge.job.process import tune_process
tune_process()  # as a job does
started = time.perf_counter()
from trecjudge.findings import FindingLog
from trecjudge.inputs.runs import RunReader
count = sum(1 for _ in RunReader(files, FindingLog()))
"""
PLAIN = """
import {module}
count = 0
for file in files:
    with file.open("rb") as lines:
        count += sum(1 for line in lines if {module}.loads(line))
"""
PEER = """
from autojudge_base.report import load_report
count = sum(len(load_report(file)) for file in files)
"""


def record(run: str, topic: int, words: list[str], rng: random.Random) -> dict[str, object]:
    """Return one response of about 15 KB."""
    ids = [f"msmarco_v2.1_doc_{topic:02}_{n}#0_{n}" for n in range(DOCUMENTS)]

    def text(length: int) -> str:
        return " ".join(rng.choices(words, k=length)).capitalize() + "."

    return {
        "metadata": {
            "team_id": "bench",
            "run_id": run,
            "type": "automatic",
            "narrative_id": str(topic),
            "narrative": text(30),
        },
        "references": ids,
        "answer": [
            {"text": text(25), "citations": [rng.randrange(DOCUMENTS)]} for _ in range(SENTENCES)
        ],
        "documents": {i: {"id": i, "title": text(6), "text": text(WORDS)} for i in ids},
    }


def generate(folder: Path, megabytes: int) -> float:
    """Write run files until there are so many megabytes; return how many there are."""
    rng = random.Random(7)
    words = ["".join(rng.choices("aeioulnrstdmkp", k=rng.randint(2, 11))) for _ in range(4000)]
    written = number = 0
    while written < megabytes * MB:
        run = f"run{number:03}"
        lines = [json.dumps(record(run, topic, words, rng)) for topic in range(TOPICS)]
        path = folder / f"{run}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        written += path.stat().st_size
        number += 1
    return written / MB


def measured(python: str, work: str, folder: Path, repeats: int) -> tuple[int, float, float]:
    """Return (records, median seconds, peak MB) of reading the folder in other processes."""
    script = ENDING.format(work=textwrap.dedent(work))
    runs = []
    for _ in range(repeats):
        done = subprocess.run(
            [python, "-c", script, str(folder)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        count, seconds, peak = done.stdout.split()[-3:]
        runs.append((int(count), float(seconds), float(peak)))
    return runs[0][0], statistics.median(r[1] for r in runs), max(r[2] for r in runs)


def contenders(peers: str | None) -> dict[str, tuple[str, str]]:
    """Return (interpreter, code) by name."""
    found = {
        "json.loads per line": (sys.executable, PLAIN.format(module="json")),
        "orjson.loads per line": (sys.executable, PLAIN.format(module="orjson")),
        "trecjudge, resolved": (sys.executable, OURS),
    }
    return found | ({"autojudge-base load_report": (peers, PEER)} if peers else {})


def main() -> None:
    """Generate, measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", help="an interpreter with autojudge-base")
    options = parser.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("trecjudge", "orjson"))
    print(f"Python {platform.python_version()}, {packages}")
    with tempfile.TemporaryDirectory() as folder:
        size = generate(Path(folder), options.megabytes)
        print(f"{size:.0f} MB; medians of {options.repeats}")
        baseline = 0.0
        for name, (python, work) in contenders(options.peers).items():
            count, seconds, peak = measured(python, work, Path(folder), options.repeats)
            baseline = baseline or seconds
            speed = f"{size / seconds:7.1f} MB/s {baseline / seconds:6.2f} x json"
            print(f"{name:28} {count:7} records {speed} {peak:6.0f} MB peak")


if __name__ == "__main__":
    main()

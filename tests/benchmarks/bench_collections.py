"""How fast a collection is read for what is cited, beside grep over the same bytes.

    python tests/benchmarks/bench_collections.py [--mb 1400] [--wanted 1000] [--folder DIR]

A collection of that size is made up: JSONL in the form of MS MARCO V2.1, plain, as one gzip file,
as four, and as Parquet. Each is read for the wanted ids by one pass, in turn with `grep -F`, or
`zcat | grep -F`, over the same files. Times are wall seconds; memory is the peak of all processes
together, what they share counted once (Linux).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.lookup import CollectionLookup
from trecjudge.inputs.sources.paths import files_below

SEED, WORDS, TEXTS = 3, 5000, 3000
PASS = "import sys; from tests.benchmarks.bench_collections import read; read(*sys.argv[1:])"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1400)
    parser.add_argument("--wanted", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        folder = given.folder or Path(passing)
        folder.mkdir(exist_ok=True)
        ids = made(folder, given.mb << 20, given.wanted)
        print(f"{given.mb} MB, {len(ids)} wanted, {os.cpu_count()} cores, {sys.version.split()[0]}")
        print(f"{'':10} {'grep s':>8} {'pass s':>8} {'ratio':>6} {'found':>6} {'MB':>6}")
        for name in ("plain", "gzip", "gzip4", "parquet"):
            path = folder / name
            if not path.exists():
                continue
            theirs = 0.0 if name == "parquet" else grep(path, folder / "patterns")
            ours, found, memory = passed(path, folder / "ids")
            beside = f"{theirs:8.1f}" if theirs else " " * 8
            ratio = f"{ours / theirs:6.2f}" if theirs else " " * 6
            print(f"{name:10} {beside} {ours:8.1f} {ratio} {found:6} {memory:6}")


def made(folder: Path, size: int, wanted: int) -> list[str]:
    """Make the files where they are not there; return the ids that are wanted."""
    if not (folder / "ids").exists():
        for name in ("plain", "gzip", "gzip4"):
            (folder / name).mkdir()
        ids = write_lines(folder / "plain" / "a.jsonl", size)
        rng = random.Random(SEED)
        some = rng.sample(ids, min(wanted, len(ids)))
        (folder / "ids").write_text("\n".join(some))
        (folder / "patterns").write_text("\n".join(f'"docid": "{i}"' for i in some))
        with ExitStack() as files:
            plain = files.enter_context((folder / "plain" / "a.jsonl").open("rb"))
            names = ["gzip/a.jsonl.gz", *(f"gzip4/{n}.jsonl.gz" for n in range(4))]
            one, *four = [files.enter_context(gzip.open(folder / n, "wb", 6)) for n in names]
            for number, line in enumerate(plain):
                one.write(line)
                four[4 * number // len(ids)].write(line)
        write_parquet(folder)
    return (folder / "ids").read_text().split("\n")


def write_lines(path: Path, size: int) -> list[str]:
    ids: list[str] = []
    place = 0
    with path.open("wb") as file:
        for number, text in enumerate(texts()):
            ids.append(f"msmarco_v2.1_doc_00_{place}")
            record = {"docid": ids[-1], "url": f"https://example.org/{number}", "title": text[:40]}
            line = json.dumps({**record, "headings": text[50:90], "body": text}).encode() + b"\n"
            place += file.write(line)
            if place > size:
                return ids
    return ids


def texts() -> Iterator[str]:
    rng = random.Random(SEED)
    words = []
    for _ in range(WORDS):
        words.append("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10))))
    known = [" ".join(rng.choices(words, k=rng.randint(60, 150))) for _ in range(TEXTS)]
    number = 0
    while True:
        number += 1
        yield known[number % TEXTS] + ' He said "yes" and left.\nA new line.' * (number % 7 == 0)


def write_parquet(folder: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return
    (folder / "parquet").mkdir()
    with (folder / "plain" / "a.jsonl").open("rb") as file:
        writer = None
        while lines := list(islice(file, 50_000)):
            table = pyarrow.Table.from_pylist(list(map(json.loads, lines)))
            path = folder / "parquet" / "a.parquet"
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)
        assert writer is not None
        writer.close()


def grep(path: Path, patterns: Path) -> float:
    began = time.monotonic()
    for file in files_below(path):
        command = f"cat {file}" if file.suffix == ".jsonl" else f"zcat {file}"
        subprocess.run(f"{command} | grep -F -c -f {patterns}", shell=True, capture_output=True)
    return time.monotonic() - began


def passed(path: Path, ids: Path) -> tuple[float, int, int]:
    """Return the seconds of one pass, how many were found, and the peak of memory in MB."""
    process = subprocess.Popen(
        [sys.executable, "-c", PASS, str(path), str(ids)], stdout=subprocess.PIPE, text=True
    )
    peak = [0]
    watch = threading.Thread(target=_watch, args=(process, peak))
    watch.start()
    out = process.communicate()[0].split()
    watch.join()
    return float(out[0]), int(out[1]), peak[0]


def read(path: str, ids: str) -> None:
    """Read a collection for ids, and print the seconds and how many were found."""
    wanted = Path(ids).read_text().split("\n")
    files = files_below(Path(path))
    with tempfile.TemporaryDirectory() as cache:
        kept = KeptDocuments.open(Path(cache), path)
        kept.begin(files)
        began = time.monotonic()
        CollectionLookup(files, kept, print, path).find_in_pass(wanted)
        found = sum(kept.state_of(doc_id) == "found" for doc_id in wanted)
        print(round(time.monotonic() - began, 2), found)


def _watch(process: subprocess.Popen[str], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(map(_memory, _tree(process.pid))))
        time.sleep(0.1)


def _tree(process: int) -> Sequence[int]:
    listed = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True)
    return [process, *(p for child in listed.stdout.split() for p in _tree(int(child)))]


def _memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()

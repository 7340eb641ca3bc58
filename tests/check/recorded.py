"""The recorded verdicts of the organisers' checker on mutated runs, and how they are renewed.

`python -m tests.check.recorded PYTHON` records them anew by a Python that has `autojudge-base` (and
`requests`, which it needs and does not name), with NLTK's stop words where `NLTK_DATA` says.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.check.mutations import TRACKS, mutated, mutations, requests

RECORDED = Path(__file__).with_name("organisers.tsv")
Verdicts = dict[tuple[str, str], str]
"""`accepted`, `warned`, `refused`, or `unread` for one that ends in an exception, by mutation."""


def write_runs(folder: Path) -> dict[tuple[str, str], Path]:
    """Write every mutated run and the topics of its track; return the runs by track and name."""
    runs = {}
    for track in TRACKS:
        (folder / track).mkdir()
        (folder / track / "requests.jsonl").write_text(requests(track), encoding="utf-8")
        for number, name in enumerate(mutations(track)):
            path = folder / track / f"{number:03}.run"
            path.write_bytes(mutated(track, name))
            runs[track, name] = path
    return runs


def verdicts_by(python: str, folder: Path) -> Verdicts:
    """Return the verdicts of the checker that a Python has, by track and mutation."""
    script = Path(__file__).with_name("organisers.py")
    done = subprocess.run(
        [python, str(script), str(folder)], capture_output=True, text=True, check=True
    )
    names = {track: list(mutations(track)) for track in TRACKS}
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    return {(track, names[track][int(number)]): verdict for track, number, verdict in rows}


@cache
def read_recorded() -> Verdicts:
    """Return the recorded verdicts, by track and mutation."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(track, name): verdict for track, name, verdict in rows}


def main(python: str) -> None:
    """Record the verdicts anew."""
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Path(folder))
        verdicts = verdicts_by(python, Path(folder))
    lines = [f"{track}\t{name}\t{verdict}\n" for (track, name), verdict in verdicts.items()]
    RECORDED.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

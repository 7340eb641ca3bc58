"""Measure the commands that read judgments: peak memory and CPU of each, on files of TREC's size.

    python tests/benchmarks/bench_judgments.py [--runs 83 --topics 119 --pairs 101]
    python tests/benchmarks/bench_judgments.py --baseline FOLDER [--only compare report ...]

Three invented jobs on the same pairs are written, and every command reads them in a process of its
own. FOLDER is a checkout of another version: it runs the same commands in turn, and what both
print and write is held against each other, byte for byte. Aim: under 300 MB, whatever the command.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # for the package, where it is not installed

from judged import write_judged  # noqa: E402
from processes import Ran, ran  # noqa: E402
from table import Row, lines_of, versions  # noqa: E402

AIM_MB = 300


def commands(folder: Path) -> Mapping[str, tuple[Sequence[str | Path], Path | None]]:
    """Return the commands by name, each with the file that it writes; the first makes scores."""
    one, other, scored = (folder / name for name in ("one", "other", "scored"))
    page = one / "x.report.html"
    return {
        "rescore": (("rescore", one, "-q"), one / "x.leaderboard.txt"),
        "compare": (("compare", one, other), None),
        "compare --json": (("compare", one, other, "--json"), None),
        "agree": (("agree", "--truth", one, "--predicted", other, "--json"), None),
        "agree, with scores": (("agree", "--truth", one, "--predicted", scored, "--json"), None),
        "report": (("report", one, "-q"), page),
        "report --compare": (("report", one, "--compare", other, "-q"), page),
        "gate": (("gate", other, "--baseline", one, "--max-drop", "1", "--json"), None),
        "meta-evaluate": (("meta-evaluate", other, "--truth", one, "--json"), None),
        "label-next": (("label-next", one, "--json"), None),
        "show": (("show", one, "--run", "run-00", "--topic", "1000"), None),
    }


def run(root: Path, words: Sequence[str | Path], written: Path | None) -> tuple[Ran, bytes]:
    """Run a command of the version in `root`; return what it took, and all that it left."""
    done = ran(sys.executable, root / "run_judge.py", *words)
    return done, done.printed + (written.read_bytes() if written else b"")


def rows(folder: Path, only: Sequence[str], baseline: Path | None) -> list[Row]:
    """Run the commands and return what each took."""
    found = []
    for name, (words, written) in commands(folder).items():
        if only and name not in only:
            continue
        (ours, left), against = run(ROOT, words, written), ""
        if baseline:
            theirs, other = run(baseline, words, written)
            same = "the same output" if other == left else "ANOTHER OUTPUT"
            against = f"{theirs.peak:.0f} MB, {theirs.cpu:.1f} s: {same}"
        figure = f"{ours.peak:.0f} MB, {ours.cpu:.1f} s"
        row = Row("judgments", name, figure, against, f"{AIM_MB} MB", ours.peak < AIM_MB)
        print("  ".join(row.cells), file=sys.stderr)
        found.append(row)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, number in (("runs", 83), ("topics", 119), ("pairs", 101)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--baseline", type=Path, help="a checkout of another version")
    parser.add_argument("--only", nargs="*", default=[], help="commands; by default all")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: nothing is left
    print(versions(None))
    size = given.runs, given.topics, given.pairs
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for seed, name in enumerate(("one", "other", "scored")):
            write_judged(folder / name, "x", *size, seed, scored=name == "scored")
            run(ROOT, ("rescore", folder / name, "-q"), None)  # they are compared by their scores
        megabytes = (folder / "one" / "x.judgments.jsonl").stat().st_size / 1e6
        print(f"{size[0] * size[1] * size[2]:,} pairs, {megabytes:.0f} MB of judgments a job")
        print("\n".join(lines_of(rows(folder, given.only, given.baseline))))


if __name__ == "__main__":
    main()

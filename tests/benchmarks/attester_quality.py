"""How good the offline attester is on all sets of labels, and whether a change loses anywhere.

    python tests/benchmarks/attester_quality.py --data DIR [--against CHECKOUT] [--out FOLDER]
                                                [--only SET ...]

DIR holds `rag25_support/` (TREC: pairs, labels, runs) and `public_pairs/*.pairs.jsonl.gz`. Each
topic of TREC is judged by what the other topics teach, the other sets by the shipped weights. With
--against the same is done by another checkout, in a process of its own, and both are compared pair
by pair, as `pairs --against` does. The exit status is 1 where an AUC is lower than there, with the
whole 95 % interval below 0. The verdicts stay in FOLDER, for `pairs --against`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from attester_verdicts import ORDER, TREC, sets_of, start_part, verdicts_at

from trecjudge.errors import unknown
from trecjudge.evaluation.pairs.differences import (
    PairedDifference,
    VerdictComparison,
    VerdictDifferences,
)
from trecjudge.evaluation.pairs.earlier import read_earlier, read_verdicts
from trecjudge.show.evaluation import verdict_difference_lines
from trecjudge.show.formats import interval, number, signed
from trecjudge.stats.resampling import interval_of

ROOT = Path(__file__).parents[2]
SHOWN = {
    "AUC full": "AUC, full against the rest",
    "AUC supported": "AUC, supported or not",
    "same label": "same label",
    "calibration error": "calibration error, P(supported)",
}
GUARDED = ("AUC full", "AUC supported")
"""Figures of which no set may lose."""
DIGITS = 3


@dataclass(frozen=True)
class SetQuality:
    """One set as this checkout judges it, beside the other; beside itself without one."""

    name: str
    found: VerdictDifferences

    def figure(self, title: str) -> PairedDifference:
        """Return a figure of all pairs by its column."""
        assert self.found.whole is not None, f"{self.name}: no labelled pair that both judge"
        return _named(self.found.whole.figures, title)

    def cells(self, is_compared: bool) -> list[str]:
        """Return its row of the table."""
        figures = {title: self.figure(title) for title in SHOWN}
        values = {title: number(figure.this, DIGITS) for title, figure in figures.items()}
        if self.name == TREC and self.found.by_group:
            errors = {
                part.name: _named(part.figures, "calibration error").this or 0.0
                for part in self.found.by_group
            }
            worst = max(errors, key=errors.__getitem__)
            values["calibration error"] += f" (topic {worst} {errors[worst]:.{DIGITS}f})"
        differences = map(describe_difference, figures.values()) if is_compared else ()
        return [self.name, f"{self.found.compared:,}", *values.values(), *differences]

    def losses(self) -> Iterator[str]:
        """Yield what is lost beyond noise."""
        for title in GUARDED:
            figure = self.figure(title)
            if figure.interval.high is not None and figure.interval.high < 0:
                yield f"loss: {self.name}, {title}: {describe_difference(figure)}"


def _named(figures: Sequence[PairedDifference], title: str) -> PairedDifference:
    return next(figure for figure in figures if figure.name == SHOWN[title])


def describe_difference(figure: PairedDifference) -> str:
    """Return `+0.012 (0.004 to 0.020)`."""
    bounds = interval(figure.interval, DIGITS, " ({} to {})", "")
    return f"{signed(figure.difference, DIGITS)}{bounds}"


def compare_set(name: str, this: Path, other: Path) -> SetQuality:
    """Return a set as the verdicts in two folders have it."""
    comparison = VerdictComparison(read_earlier(verdicts_at(other, name), print))
    for verdict in read_verdicts(verdicts_at(this, name), print):
        comparison.add(verdict, name)
    comparison.require_pairs(str(verdicts_at(this, name)))
    return SetQuality(name, comparison.compute_differences())


def table_lines(sets: Sequence[SetQuality], is_compared: bool) -> Iterator[str]:
    """Yield the table: this checkout's figures, then this minus other."""
    more = [f"difference: {title}" for title in SHOWN] if is_compared else []
    columns = ("set", "pairs", *SHOWN, *more)
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for one in sets:
        yield f"| {' | '.join(one.cells(is_compared))} |"


def has_held_out(side: Path) -> bool:
    """Return whether TREC's topics were held out, not judged by weights that have seen them."""
    return (side / ORDER).exists()


def order_lines(labels: Path, this: Path, other: Path, is_compared: bool) -> Iterator[str]:
    """Yield how well the runs are ordered: tau-b with the order by labels, topics held out."""
    from fit_lexical import order_draws  # late: other sets need none of what it imports
    from lexical_data import read_data, run_order

    if not has_held_out(other):
        yield "order of runs: not compared, the other checkout has not held out the topics"
        other, is_compared = this, False
    data = read_data(labels)
    orders = [json.loads((folder / ORDER).read_text()) for folder in (this, other)]
    topics = len({one.topic for one in data.judged})
    for title in ("expected", "labels"):
        own, theirs = (np.array(order[title]) for order in orders)
        tau = run_order(data, own)
        line = f"tau-b of {len(data.runs)} runs by {title}: {tau:.{DIGITS}f}"
        if is_compared:
            line += f", difference {signed(tau - run_order(data, theirs), DIGITS)}"
        if is_compared and not np.array_equal(own, theirs):
            drawn = interval_of(order_draws(data, own) - order_draws(data, theirs), topics)
            line += interval(drawn, DIGITS, " ({} to {})", "")
        yield line


def measure(data: Path, against: Path | None, out: Path, only: Sequence[str]) -> int:
    """Judge, compare and print; return the exit status."""
    this = out / "this"
    other = out / "other" if against else this
    parts = {"this": start_part(ROOT, data, this, only, may_fall_back=False)}
    if against:
        parts["other"] = start_part(against, data, other, only, may_fall_back=True)
    for side, part in parts.items():
        said, _ = part.communicate()
        if part.returncode:
            print(f"{side}: no verdicts, status {part.returncode}", said, file=sys.stderr)
            return 2
        print("".join(f"{side}: {line}\n" for line in said.splitlines()), end="")
    names = [name for name in sets_of(data) if not only or name in only]
    sets = [compare_set(name, this, other) for name in names]
    print("", *table_lines(sets, is_compared=against is not None), "", sep="\n")
    if TREC in names:
        print(*order_lines(data / "rag25_support", this, other, against is not None), sep="\n")
    if not against:
        return 0
    for one in sets:
        if one.found.not_compared:
            print(*list(verdict_difference_lines(one.found))[1:], sep="\n")
    alike = [one for one in sets if one.name != TREC or has_held_out(other)]
    losses = [loss for one in alike for loss in one.losses()]
    print(*(losses or ["no loss of AUC beyond noise"]), sep="\n")
    return 1 if losses else 0


def main() -> int:
    """Read the command line, measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", default=[], metavar="SET")
    options = parser.parse_args()
    known = sets_of(options.data)
    if not known:
        parser.error(f"--data {options.data}: no rag25_support/ or public_pairs/ with pairs in it")
    for name in options.only:
        if name not in known:
            parser.error(f"--only: {unknown('set', name, known)}")
    if options.against and not (options.against / "trecjudge").is_dir():
        parser.error(f"--against {options.against}: no checkout, it has no folder trecjudge")
    if options.out:
        return measure(options.data, options.against, options.out, options.only)
    with tempfile.TemporaryDirectory() as out:
        return measure(options.data, options.against, Path(out), options.only)


if __name__ == "__main__":
    sys.exit(main())

"""What runs gain over a baseline run from snapshot to snapshot, as CLEF LongEval asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.jobs import as_json
from tests.commandline import command

SNAPSHOTS = {
    "june": {"bm25": (0.2, 0.4), "dense": (0.4, 0.5), "zero": (0.0, 0.0)},
    "july": {"bm25": (0.3, 0.5), "dense": (0.3, 0.7), "new": (0.6, 0.6), "zero": (0.0, 0.0)},
}
"""Values of each run on two topics, which are others in each snapshot."""


@pytest.fixture
def boards(tmp_path: Path) -> list[Path]:
    files = []
    for name, runs in SNAPSHOTS.items():
        rows = [
            f"{run}\t{topic}\tM\t{value}\n"
            for run, values in runs.items()
            for topic, value in ((f"{name}-1", values[0]), (f"{name}-2", values[1]))
        ]
        rows += [f"{run}\tall\tM\t{sum(values) / 2}\n" for run, values in runs.items()]
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("".join(rows))
    return files


def gains(boards: list[Path], against: str) -> dict[tuple[str, str], tuple[float | None, ...]]:
    status, found = as_json("compare", *boards, "--trend", "--against", against)
    assert status == 0
    return {
        (Path(point["entry"]).stem, point["run_id"]): tuple(point["improvement"].values())
        for point in found["trend"]
        if "improvement" in point
    }


def test_relative_improvement_what_is_lost_of_it_and_the_effect_ratio(boards: list[Path]) -> None:
    found = gains(boards, "bm25")
    assert found["june", "dense"] == (0.5, 0.0, 1.0)
    # From .30 to .45, then from .40 to .50.
    assert found["july", "dense"] == (0.25, 0.25, 0.666667)
    assert found["july", "new"] == (0.5, None, None)
    assert ("june", "bm25") not in found


def test_over_nothing_no_improvement_is_relative(boards: list[Path]) -> None:
    assert gains(boards, "zero")["july", "dense"] == (None, None, 1.111111)


def test_the_table_has_it_and_a_baseline_that_is_not_there_is_told(boards: list[Path]) -> None:
    done = command("compare", *boards, "--trend", "--against", "bm25")
    assert done.status == 0 and "delta" in done.out and "+0.250" in done.out
    done = command("compare", *boards, "--trend", "--against", "new")
    assert (done.status, "june.txt: unknown run 'new'" in done.err) == (1, True)
    assert "delta" not in command("compare", *boards, "--trend").out

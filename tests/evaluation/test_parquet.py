"""A leaderboard as Parquet, read back by pyarrow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.cli.jobs import partly_judged
from tests.commandline import ROOT, command

parquet = pytest.importorskip("pyarrow.parquet")


def rows(path: Path, target: Path) -> list[dict[str, Any]]:
    """Return the rows that a leaderboard becomes."""
    assert command("convert", path, target, "--to", "parquet").status == 0
    found: list[dict[str, Any]] = parquet.read_table(target).to_pylist()
    return found


def test_each_mean_has_its_statistics_and_each_topic_its_value(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    found = rows(path, tmp_path / "x.parquet")
    lines = [json.loads(line) for line in path.with_suffix(".leaderboard.jsonl").open()]
    means = {(r["run_id"], r["measure"]): r for r in found if r["topic_id"] is None}
    assert len(means) == len(lines) == 25
    for line in lines:
        own = means[line["run_id"], line["measure"]]
        names = ("low", "high", "lowest", "highest", "rank", "groups", "expected", "topics")
        assert [own[name] for name in names] == [line[name] for name in names]
        assert (own["value"], own["aggregate"]) == (line["mean"], line["aggregate"])
    text = path.with_suffix(".leaderboard.txt").read_text()
    topics = [
        line for line in text.splitlines() if "\tall\t" not in line and ".unjudged" not in line
    ]
    assert len(topics) == len(found) - len(means)


def test_what_is_unjudged_as_a_whole_has_a_row_without_a_value(tmp_path: Path) -> None:
    found = rows(partly_judged(tmp_path), tmp_path / "x.parquet")
    own = next(r for r in found if (r["run_id"], r["measure"]) == ("e", "CITATION_SUPPORT"))
    assert (own["value"], own["unjudged"], own["lowest"], own["highest"]) == (None, 6, 0.0, 1.0)


def test_the_package_is_asked_for_where_it_is_missing(tmp_path: Path) -> None:
    (tmp_path / "lb.txt").write_text("a all M 0.5\n")
    code = (
        "import sys; sys.modules['pyarrow'] = None; import run_judge;"
        f" sys.argv = ['x', 'convert', {str(tmp_path / 'lb.txt')!r},"
        f" {str(tmp_path / 'x')!r}, '--to', 'parquet']; run_judge.cli()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'trecjudge[parquet]'; csv needs none" in done.stderr
    assert not (tmp_path / "x").exists()


class Frame:
    """The rows of a table as data frames have them."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._records = records
        self.columns = list(records[0])

    def to_dict(self, how: str) -> list[dict[str, Any]]:
        assert how == "records"
        return self._records


def test_a_frame_of_it_is_the_leaderboard(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    frame = Frame(rows(path, tmp_path / "x.parquet"))
    here, there = (
        trecjudge.meta_evaluate(
            board,
            truth=path,
            measures="CITATION_SUPPORT",
            on_missing="common",
            on_finding=lambda finding: None,
        )
        for board in (path, frame)
    )
    values = [
        [(c.name, c.value, c.topics) for one in found.pairs for c in one.correlations]
        for found in (here, there)
    ]
    assert values[0] == values[1]
    assert [one.items_unjudged() for one in there.pairs] == [(4, 4)] * len(there.pairs)

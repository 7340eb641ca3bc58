"""Labels that people gave, in tables and Parquet."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import trecjudge
from tests.cli.jobs import partly_judged
from tests.commandline import ROOT, command
from tests.stats.texts import by_topic, scores
from trecjudge.records import FULL, NONE, Evidence, Failure, Judgment
from trecjudge.show.comparison import (
    correlation_table,
    difference_table,
    moved_lines,
    verdict_lines,
)
from trecjudge.show.formats import interval, number, probability
from trecjudge.show.tables import TextTable, candidate_table, table
from trecjudge.stats.comparison import compare, pairs_of
from trecjudge.stats.flips import Flip, VerdictChanges
from trecjudge.stats.labelling import LabelCandidate
from trecjudge.stats.meta import Correlated, Correlation
from trecjudge.stats.resampling import NO_INTERVAL, Interval


def printed(grid: TextTable) -> list[list[str]]:
    """Return the rows as words."""
    file = io.StringIO()
    Console(file=file, width=250).print(grid)
    return [line.split() for line in file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "n/a"), (0.5, "0.5000"), (-1e-9, "-0.0000"), (12345.6, "12345.6000")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(None, "n/a"), (1.0, "1.0000"), (0.0001, "0.0001"), (3.2e-7, "3e-07")]
)
def test_p_values(p: float | None, text: str) -> None:
    assert probability(p) == text


def test_intervals() -> None:
    assert interval(Interval(-0.1, 0.25)) == "-0.100 to 0.250"
    assert interval(NO_INTERVAL) == "n/a"


def test_a_hostile_name_steers_neither_terminal_nor_markup() -> None:
    file = io.StringIO()
    Console(file=file, width=80, force_terminal=True).print(table(("x",), [("[red]a\x1b[2J",)]))
    assert "[red]a\\x1b[2J" in file.getvalue()


def test_a_coefficient_a_row() -> None:
    found = Correlation("kendall", 0.5, NO_INTERVAL, Interval(0.1, 0.9))
    one = Correlated("judge", "H", "M", ["a", "b", "c"], 0, [1, 2, 3], [1, 3, 2], [found])
    rows = printed(correlation_table([one]))
    assert rows[1] == [
        "judge",
        "M",
        "H",
        "kendall",
        "0.5000",
        "n/a",
        "0.100",
        "to",
        "0.900",
        "3",
        "0",
    ]


def test_a_difference_a_row_and_its_topics_below() -> None:
    table = scores(by_topic("a", [0.1, 0.5]) + by_topic("b", [0.4, 0.5]))
    found = compare(pairs_of([table]))
    rows = printed(difference_table(found))
    assert rows[1][:7] == ["M", "lb:", "a", "lb:", "b", "0.3000", "0.4500"]
    assert rows[1][7] == "+0.1500"
    assert list(moved_lines(found)) == ["moved most, M, lb: a -> lb: b: t000 0.100 -> 0.400"]


def test_nothing_moved() -> None:
    table = scores(by_topic("a", [0.1]) + by_topic("b", [0.1]))
    assert list(moved_lines(compare(pairs_of([table])))) == []


def judged(label: str, **fields: object) -> Judgment:
    return Judgment("r", "t", 3, "d", label=label, **fields)  # type: ignore[arg-type]


def test_flips_are_shown_with_what_either_side_had() -> None:
    failed = Judgment("r", "t", 3, "d", failure=Failure("transport", "reset"))
    found = VerdictChanges(only_before=2)
    found.counts.update({(FULL, NONE): 1, (FULL, FULL): 5, (NONE, "unjudged"): 1})
    found.flips = [
        Flip("Said.", judged(FULL, evidence=Evidence(0, 4, "Seen")), judged(NONE, reason="why")),
        Flip("Said too.", judged(NONE), failed),
    ]
    assert list(verdict_lines(found)) == [
        "verdicts: 7 items on both sides, 2 decided differently; 2 only on the first side,"
        " 0 only on the second",
        "  1 x full_support -> no_support",
        "  1 x no_support -> unjudged",
        "r t sentence 4 d: full_support -> no_support: Said.",
        "    before: no reason given 'Seen'",
        "    after: why ''",
        "r t sentence 4 d: no_support -> unjudged: Said too.",
        "    before: no reason given ''",
        "    after: reset ''",
    ]


def test_only_the_first_flips_are_shown() -> None:
    found = VerdictChanges(flips=[Flip("S.", judged(FULL), judged(NONE))] * 50)
    lines = list(verdict_lines(found))
    assert len(lines) == 1 + 3 * 20 + 1
    assert lines[-1] == "  … 50 in all; --json has them all"


def test_an_item_to_label_a_row() -> None:
    rows = printed(candidate_table([(0.001, LabelCandidate("r", "t", None, None, 0.1, None))]))
    assert rows[1] == ["1", "r", "t", "unjudged", "1.00e-03"]


def test_a_nugget_to_label_is_named() -> None:
    fact = LabelCandidate("r", "t", None, None, 0.1, None, nugget="tin")
    rows = printed(candidate_table([(0.001, fact)]))
    assert rows[0] == ["run", "topic", "sentence", "document", "nugget", "judged", "gain"]
    assert rows[1] == ["1", "r", "t", "tin", "unjudged", "1.00e-03"]


parquet = pytest.importorskip("pyarrow.parquet")


def rows(path: Path, target: Path) -> list[dict[str, Any]]:
    """Return the rows that a leaderboard becomes."""
    assert command("job", "convert", path, target, "--to", "parquet").status == 0
    found: list[dict[str, Any]] = parquet.read_table(target).to_pylist()
    return found


def test_each_mean_has_its_statistics_and_each_topic_its_value(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    found = rows(path, tmp_path / "x.parquet")
    lines = [json.loads(line) for line in path.with_suffix(".leaderboard.jsonl").open()]
    means = {(r["run_id"], r["measure"]): r for r in found if r["topic_id"] is None}
    assert len(means) == len(lines) == 30
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

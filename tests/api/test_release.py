"""A gate and a report from Python: what the commands give, on results and paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.api.test_result import LABELS, record
from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import command
from trecjudge import InputError, Result, WorkflowError

TEXTS = {"good": "The Perch sails.", "bad": "The kettle was invented in Lyon in 1894."}


def judged(kind: str, **more: Any) -> Result:
    records = [record(str(n), "d") for n in range(1, 9)]
    for one in records:
        one["responses"][0]["text"] = TEXTS[kind]
    return trecjudge.judge(records, "citation", **more)


@pytest.fixture(scope="module")
def good() -> Result:
    return judged("good")


@pytest.fixture(scope="module")
def bad() -> Result:
    return judged("bad")


def test_it_says_what_the_command_says(tmp_path: Path) -> None:
    old, new = (job(tmp_path, n, {"r": [t] * 8}) for n, t in (("old", GOOD), ("new", BAD)))
    found = trecjudge.gate(
        str(new),
        min={"CITATION_SUPPORT": 0.8},
        max={"AVG_CITATIONS": 2},
        baseline=old,
        max_drop={"CITATION_SUPPORT": 0.05},
        junit=tmp_path / "python.xml",
    )
    rules = ("--min", "CITATION_SUPPORT=0.8", "--max", "AVG_CITATIONS=2")
    rules += ("--baseline", old, "--max-drop", "CITATION_SUPPORT=0.05")
    done = command("gate", new, *rules, "--junit", tmp_path / "command.xml")
    assert (f"{found}\n", int(not found.passed)) == (done.out, done.status)
    assert list(found.broken) == done.out.splitlines()[:-1]
    assert (tmp_path / "python.xml").read_bytes() == (tmp_path / "command.xml").read_bytes()


def test_a_result_is_compared_with_a_result(good: Result, bad: Result) -> None:
    assert trecjudge.gate(good, baseline=good, max_drop=0).passed
    found = trecjudge.gate(bad, baseline=good, max_drop=0.05)
    with pytest.raises(
        AssertionError, match=r"^r: EXPECTED_CITATION_SUPPORT fell by .*\n *gate: 0"
    ):
        assert found.passed, found


def test_a_baseline_moves_on(good: Result, bad: Result, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    drop = {"baseline": kept, "max_drop": 0.05, "move_baseline": True}
    with pytest.warns(trecjudge.FindingWarning, match="has no entry yet"):
        assert trecjudge.gate(good, **drop).kept
    assert trecjudge.gate(bad, **drop).kept is None
    assert len(list(kept.glob("default.0001-*.config.yml"))) == 1


@pytest.mark.parametrize(
    ("found", "rules", "error", "message"),
    [
        (3, {"min": {"M": 1}}, InputError, "found: 3: give a result or a path"),
        (None, {}, WorkflowError, "give a rule: --min"),
        (None, {"max_drop": 0.1}, WorkflowError, "--baseline and --max-drop go together"),
        (None, {"min": {"X": 1}}, InputError, "unknown measure 'X'"),
        (None, {"min": {"CITATION_SUPPORT": "high"}}, WorkflowError, "give MEASURE=NUMBER"),
    ],
)
def test_mistakes(
    found: Any, rules: Any, error: type[Exception], message: str, good: Result
) -> None:
    with pytest.raises(error, match=message):
        trecjudge.gate(good if found is None else found, **rules)


def test_a_report_lies_beside_the_job(good: Result, bad: Result, tmp_path: Path) -> None:
    good.write(tmp_path, "x")
    path = trecjudge.report(tmp_path, compare=bad)
    assert path == tmp_path / "x.report.html"
    assert "<html" in path.read_text()[:200]


HOSTILE = "<script>\n&"


def test_a_notebook_shows_the_table_escaped(tmp_path: Path) -> None:
    one = record("1", "d", "e")
    one["metadata"]["run_id"] = HOSTILE
    labels = tmp_path / "labels.jsonl"
    labels.write_text(LABELS % ("1", "full") + LABELS % ("2", "full"))
    given = [one, record("2", "d"), record("3", "d")]
    folder = tmp_path / "a<b"
    result = trecjudge.judge(given, "citation", judgments_from=labels, out_dir=folder)
    shown = result._repr_html_()
    assert shown is not None
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "a<b" not in shown
    assert "3 items unjudged (not_given 3); evidence: <a href=" in shown
    assert "\n" not in repr(result) and "not_given 3" in repr(result)
    report = trecjudge.report(result)
    assert f"{report.name}</a>" in str(result._repr_html_())
    trecjudge.judge(given, "citation", out_dir=folder)
    assert result._repr_html_() is None  # its judgments are gone


def test_the_others_are_one_line(good: Result, bad: Result) -> None:
    found = trecjudge.compare(good, bad, measures="CITATION_SUPPORT")
    assert "1 difference, 0 of 0" not in repr(found) and "1 difference" in repr(found)
    assert repr(trecjudge.agree(good, good)) == "<Agreement of 8 items, accuracy 1.000>"


def test_frames_of_polars_are_taken(good: Result) -> None:
    polars = pytest.importorskip("polars")
    found = trecjudge.compare(polars.DataFrame(good.scores), good, measures="CITATION_SUPPORT")
    assert found.differences[0].difference == 0
    labels = good.judgments_frame()[["topic_id", "run_id", "sentence_index", "doc_id", "label"]]
    assert trecjudge.agree(polars.from_pandas(labels), good).items == 8

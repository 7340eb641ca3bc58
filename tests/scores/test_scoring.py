"""A judgments file scored: companions of rows that lack items, grades that contradict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import ir_measures
import pytest

from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import command, sample
from tests.fakes import judgment, response
from trecjudge.findings import Finding, ignore
from trecjudge.records import FULL, NONE, Claim, Vote
from trecjudge.results.trec import read_qrels
from trecjudge.scores.scoring import Pool, VoteTally


def labels(folder: Path, *topics: int) -> Path:
    """Return labels of full support of the sentence of run r on these topics."""
    path = folder / "labels.jsonl"
    line = (
        '{"topic_id": "%d", "run_id": "r", "sentence_index": 0, "doc_id": "k", "label": "full"}\n'
    )
    path.write_text("".join(line % topic for topic in topics))
    return path


@pytest.fixture
def partly(tmp_path: Path) -> Path:
    """Return a job of two runs on three topics of which two items of run r are judged."""
    runs = {"r": [GOOD] * 3, "s": [GOOD] * 3}
    given = ("--judgments-from", labels(tmp_path, 1, 2))
    return job(tmp_path, "x", runs, *given, status=3)


def rows(path: Path, measure: str) -> list[str]:
    lines = Path(f"{path}.leaderboard.txt").read_text().splitlines()
    return [" ".join(cells) for line in lines if (cells := line.split("\t"))[2].startswith(measure)]


def test_no_mean_stands_without_what_it_lacks(partly: Path) -> None:
    assert rows(partly, "CITATION_SUPPORT") == [
        "r 1 CITATION_SUPPORT 1.000000",
        "r 2 CITATION_SUPPORT 1.000000",
        "r 3 CITATION_SUPPORT.unjudged 1",
        "r all CITATION_SUPPORT 1.000000",
        "r all CITATION_SUPPORT.unjudged 1",
        "s 1 CITATION_SUPPORT.unjudged 1",
        "s 2 CITATION_SUPPORT.unjudged 1",
        "s 3 CITATION_SUPPORT.unjudged 1",
        "s all CITATION_SUPPORT.unjudged 3",
    ]


def test_a_reader_of_four_columns_reads_it(partly: Path) -> None:
    for line in Path(f"{partly}.leaderboard.txt").read_text().splitlines():
        run, topic, measure, value = line.split()
        metric = ir_measures.Metric(query_id=topic, measure=measure, value=float(value))
        assert (metric.query_id, run in ("r", "s")) == (topic, True)


def test_counts_are_those_of_the_statistics(partly: Path) -> None:
    lines = Path(f"{partly}.leaderboard.jsonl").read_text().splitlines()
    wanted = {
        f"{r['run_id']} all {r['measure']}.unjudged {r['expected'] - r['judged']}"
        for r in map(json.loads, lines)
        if r["judged"] < r["expected"]
    }
    assert {row for row in rows(partly, "") if " all " in row and ".unjudged" in row} == wanted


def test_scored_anew_it_is_the_same_byte_for_byte(partly: Path, tmp_path: Path) -> None:
    command("job", "rescore", f"{partly}.judgments.jsonl", "--out-dir", tmp_path / "again", "-q")
    for kind in ("txt", "jsonl"):
        again = (tmp_path / "again" / f"x.leaderboard.{kind}").read_bytes()
        assert again == Path(f"{partly}.leaderboard.{kind}").read_bytes()


def test_where_all_is_judged_there_is_no_companion(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD, BAD]})
    assert ".unjudged" not in Path(f"{path}.leaderboard.txt").read_text()


@pytest.mark.parametrize(
    ("other", "grades"),
    [
        pytest.param(("Kettles whistle.", "d"), [0], id="the same sentence and document"),
        pytest.param((" Kettles  whistle.", "d"), [0], id="but for white space"),
        pytest.param(("Kettles sing.", "d"), [], id="another sentence"),
        pytest.param(("Kettles whistle.", "e"), [], id="another document"),
    ],
)
def test_grades_of_a_pool_that_contradict_each_other(
    other: tuple[str, str], grades: list[int]
) -> None:
    text, doc_id = other
    findings: list[Finding] = []
    pool = Pool(Path("j"), findings.append)
    pool.add(response(("Kettles whistle.", ["d"]), run_id="a"), [graded("a", "d", 2)])
    pool.add(response((text, [doc_id]), run_id="b"), [graded("b", doc_id, 0)])
    assert [(f.kind, int(f.value), f.run_id) for f in findings] == [
        ("grade_conflict", grade, "b") for grade in grades
    ]
    assert all("in run 'a', sentence 1 2: the highest counts" in f.message for f in findings)
    assert pool.best["t1", "d"] == 2


def test_two_claims_of_a_sentence_contradict_each_other_in_nothing() -> None:
    findings: list[Finding] = []
    pool = Pool(Path("j"), findings.append)
    contradicting = [
        replace(graded("a", "d", grade), claim=Claim(n, text, 0))
        for n, (text, grade) in enumerate([("Kettles whistle.", 2), ("Kettles are new.", 0)])
    ]
    pool.add(response(("Kettles whistle and are new.", ["d"]), run_id="a"), contradicting)
    assert (findings, pool.best) == ([], {("t1", "d"): 2})


def graded(run_id: str, doc_id: str, grade: int):  # type: ignore[no-untyped-def]
    label = FULL if grade else NONE
    return judgment(label, run_id=run_id, doc_id=doc_id, grade=grade, sentence_index=0)


def test_a_job_reports_them(tmp_path: Path) -> None:
    paths = job(tmp_path, "x", {"a": [GOOD]}).parent.parent / "x.runs"
    text = (paths / "a.jsonl").read_text().replace('"run_id": "a"', '"run_id": "b"')
    own = "Steam forced through a narrow gap in the spout makes a kettle whistle."
    (paths / "b.jsonl").write_text(text.replace(own, "Bread rises in warm ovens."))
    given = ("--judge", "citation", "--out-dir", tmp_path / "out", "--name", "y")
    done = command("--rag-responses", paths, *given, "--qrels-pool", "--json")
    assert json.loads(done.out)["findings"]["grade_conflict"] == 1
    assert (tmp_path / "out" / "y.qrels").read_text() == "1 0 k 2\n"
    done = command("job", "rescore", tmp_path / "out" / "y.judgments.jsonl")
    assert "is graded 0, for the same in run 'a', sentence 1 2: the highest counts" in done.err


OBSERVERS = {
    "a": "1 2 3 3 2 1 4 1 2 . . .",
    "b": "1 2 3 3 2 2 4 1 2 5 . 3",
    "c": ". 3 3 3 2 3 4 2 2 5 1 .",
    "d": "1 2 3 3 2 4 4 1 2 5 1 .",
}
"""The example of Krippendorff's computing pages: 12 units, alpha 0.743."""


def test_alpha_of_voters_with_missing_votes_is_krippendorffs() -> None:
    tally = VoteTally()
    units = zip(*(row.split() for row in OBSERVERS.values()), strict=True)
    for unit in units:
        votes = (
            Vote(name, failure="transport: reset") if label == "." else Vote(name, label)
            for name, label in zip(OBSERVERS, unit, strict=True)
        )
        tally.add([judgment("1", judge="j", votes=tuple(votes))])
    (found,) = tally.figures()
    assert found["alpha"] == pytest.approx(0.743, abs=5e-4)
    assert found["failed"] == {"a": 3, "b": 1, "c": 2, "d": 1}
    assert found["items"] == 11  # on the last unit only one voter decided


@pytest.mark.parametrize("pooled", [(), ("--qrels-pool",)], ids=["by run", "pooled"])
def test_qrels_as_binary_have_1_where_support_is_full(
    pooled: tuple[str, ...], tmp_path: Path
) -> None:
    written = []
    for form in ("grades", "binary"):
        sample("rag", tmp_path / form, "-q", "--no-check", "--qrels-as", form, *pooled)
        written.append((tmp_path / form / "x.qrels").read_text().splitlines())
    grades = [line.rsplit(" ", 1) for line in written[0]]
    assert {grade for _, grade in grades} >= {"0", "2"}
    assert written[1] == [f"{row} {float(grade == '2')}" for row, grade in grades]
    qrels = tmp_path / "binary" / "x.qrels"
    assert {row.grade for row in read_qrels(qrels, ignore)} == {0, 1}
    command("job", "rescore", tmp_path / "binary", "-q")
    assert qrels.read_text().splitlines() == written[1]

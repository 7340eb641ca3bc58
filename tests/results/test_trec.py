"""Leaderboard and qrels lines, written and read."""

from __future__ import annotations

import math
from pathlib import Path

import ir_measures
import pytest
from ir_measures import nDCG

from tests.cli.jobs import as_json
from tests.commandline import command, sample
from tests.reading import Write, fail
from trecjudge.findings import Finding, OnFinding
from trecjudge.results.leaderboards.reading import read_rows
from trecjudge.results.trec import (
    LeaderboardRow,
    QrelsRow,
    companion,
    encode,
    graded_records,
    is_graded_records,
    leaderboard_line,
    qrels_line,
    read_decimal_qrels,
    read_grades,
    read_qrels,
    run_lines,
)


def rows_of(path: Path, report: OnFinding) -> list[LeaderboardRow]:
    return [row for _, row in read_rows(path, report, "ir_measures")]


ODD = [
    "a b",
    "a\tb",
    "a\nb",
    "a\x1cb",
    "a\x85b",
    "a\u2028b",
    "a\u3000b",
    "100%",
    "a%20b",
    "é",
    "\0",
]


def test_encode() -> None:
    cases = [("a b", "a%20b"), ("100%", "100%25"), ("a\nb", "a%0Ab"), ("msmarco_v2.1#0_1", None)]
    wrong = [(text, wanted) for text, wanted in cases if encode(text) != (wanted or text)]
    assert not wrong


def test_leaderboard_line() -> None:
    assert (
        leaderboard_line(LeaderboardRow("run 1", None, "SUPPORT", 2 / 3))
        == "run%201\tall\tSUPPORT\t0.666667\n"
    )


def test_a_companion_counts_items() -> None:
    row = companion(LeaderboardRow("r", "all", "SUPPORT", 2 / 3), 3)
    assert leaderboard_line(row) == "r\t%61ll\tSUPPORT.unjudged\t3\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_nan_is_written(value: float) -> None:
    with pytest.raises(AssertionError):
        leaderboard_line(LeaderboardRow("r", None, "M", value))


def test_qrels_line() -> None:
    assert qrels_line(QrelsRow("2024-1", "my run", "d#0_1", 2)) == "2024-1 my%20run d#0_1 2\n"


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_an_odd_id_is_read_as_it_was_written(text: str, write: Write) -> None:
    row = QrelsRow(text, text, text, 1)
    assert list(read_qrels(write(qrels_line(row), "q"), fail)) == [row]
    line = leaderboard_line(LeaderboardRow(text, text, "M", 0.5))
    assert rows_of(write(line, "l"), fail) == [(text, text, "M", 0.5)]


@pytest.mark.parametrize("iteration", ["0", "1", "Q0"])
def test_any_second_column_of_qrels_is_read(iteration: str, write: Write) -> None:
    text = f"t1 {iteration} d1 1\n\n t2\t{iteration}\td2  -1\r\n"
    rows = [QrelsRow("t1", iteration, "d1", 1), QrelsRow("t2", iteration, "d2", -1)]
    assert list(read_qrels(write(text), fail)) == rows


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"t 0 d", id="three columns"),
        pytest.param(b"t 0 d 1 run", id="five columns"),
        pytest.param(b"t 0 d 1.5", id="fraction"),
        pytest.param(b"t 0 d x", id="word"),
        pytest.param(b"t 0 d 1_0", id="underscore"),
        pytest.param(b"t 0 d " + b"9" * 5000, id="5000 digits"),
        pytest.param(b"t 0 d\xff 1", id="bad bytes"),
    ],
)
def test_a_bad_line_of_qrels_is_found(bad: bytes, write: Write) -> None:
    findings: list[Finding] = []
    rows = list(read_qrels(write(b"a 0 d 1\n" + bad + b"\nb 0 d 1\n"), findings.append))
    assert [row.topic_id for row in rows] == ["a", "b"]
    assert [(f.place.line, f.severity) for f in findings] == [(2, "error")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1 0 a 2\n1 0 b%20b 0\n", id="lines, encoded"),
        pytest.param('{"1": {"a": 2, "b b": 0}}', id="one line"),
        pytest.param('{\n "1": {\n  "a": 2.0,\n  "b b": "0"\n }\n}\n', id="pretty"),
        pytest.param('{"1": {"a": 2}}\n{"1": {"b b": 0}}\n', id="a topic a line"),
    ],
)
def test_qrels_of_lines_and_of_json_are_the_same(text: str, write: Write) -> None:
    rows = [QrelsRow("1", "0", "a", 2), QrelsRow("1", "0", "b b", 0)]
    path = write(text)
    assert list(read_qrels(path, fail)) == rows
    assert list(read_decimal_qrels(path, fail)) == [(row, float(row.grade)) for row in rows]
    assert read_grades(path, fail) == {"1": {"a": 2, "b b": 0}}


def test_a_bad_grade_in_json_is_reported_and_the_others_are_read(write: Write) -> None:
    findings: list[Finding] = []
    text = '{"1": {"a": 2, "b": 0.5, "c": true, "d": null}}\n{"2": 1, "3": {"e": 1}}\n'
    rows = list(read_qrels(write(text), findings.append))
    assert rows == [QrelsRow("1", "0", "a", 2), QrelsRow("3", "0", "e", 1)]
    assert [(f.kind, f.place.line) for f in findings] == [("row_unreadable", 1)] * 3 + [
        ("row_unreadable", 2)
    ]


@pytest.mark.parametrize(
    "header", ["", "run topic measure value\n", "Run\tTopic\tMeasure\tValue\n"]
)
def test_a_header_of_a_leaderboard_is_passed_over(header: str, write: Write) -> None:
    text = f"{header}r1\tt1\tS\t1.0\nr1  all S True\n"
    rows = [("r1", "t1", "S", 1.0), ("r1", None, "S", 1.0)]
    assert rows_of(write(text), fail) == rows


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "1e999", "0x1", "1_0", "value", ""])
def test_a_value_that_is_no_number_is_found(value: str, write: Write) -> None:
    findings: list[Finding] = []
    text = f"r all S 0.5\nr t1 S {value}\nr t2 S 0.5\n"
    found = rows_of(write(text), findings.append)
    assert [topic for _, topic, _, _ in found] == [None, "t2"]
    assert [(f.kind, f.place.line) for f in findings] == [("row_unreadable", 2)]


def test_a_topic_called_all_is_not_the_mean(write: Write) -> None:
    topic, mean = LeaderboardRow("r", "all", "M", 1.0), LeaderboardRow("r", None, "M", 0.5)
    text = leaderboard_line(topic) + leaderboard_line(mean)
    assert text == "r\t%61ll\tM\t1.000000\nr\tall\tM\t0.500000\n"
    assert rows_of(write(text), fail) == [topic, mean]


def test_grades_by_topic_and_document_the_highest_of_each(write: Write) -> None:
    path = write("1 r a 1\n1 s a 2\n2 Q0 b 0\n", "q")
    assert read_grades(path, fail) == {"1": {"a": 2}, "2": {"b": 0}}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param("1 0 a 1\n1 0 a 2\n", "q:1 gives it 1: the highest counts", id="higher"),
        pytest.param("1 0 a 2\n1 Q0 a 1\n", "q:1 gives it 2: the highest counts", id="lower"),
        pytest.param("1 r a 2\n1 r a 0\n", "gives topic '1', run 'r', document 'a' 0,", id="run"),
        pytest.param("1 r a 2\n1 s a 0\n", "", id="of two runs, which is none"),
        pytest.param("1 0 a 2\n1 0 a 2\n", "", id="the same grade"),
    ],
)
def test_a_document_that_is_graded_twice_is_found(lines: str, message: str, write: Write) -> None:
    findings: list[Finding] = []
    grades = read_grades(write(lines, "q"), findings.append)
    assert grades == {"1": {"a": 2}}
    assert [f.kind for f in findings] == (["grade_duplicate"] if message else [])
    assert all(message in f.message and f.place.line == 2 for f in findings)


@pytest.mark.parametrize(
    "ids", [("a/b", "a%2Fb"), ("100%", "100%25x"), ("%FE", "%FF"), ("all", "%61ll")], ids=str
)
def test_two_names_of_another_tool_stay_two(ids: tuple[str, str], write: Write) -> None:
    board = write("".join(f"{run}\tt\tM\t1\n" for run in ids))
    assert len({row.run_id for row in rows_of(board, fail)}) == 2
    qrels = write("".join(f"t 0 {doc} 1\n" for doc in ids))
    assert len({row.doc_id for row in read_qrels(qrels, fail)}) == 2


@pytest.mark.parametrize(
    "ids", [("my run", "my%20run"), ("a%", "a%25"), ("a\tb", "a%09b")], ids=str
)
def test_two_names_of_ours_stay_two(ids: tuple[str, str], write: Write) -> None:
    text = "".join(leaderboard_line(LeaderboardRow(run, "t", "M", 1)) for run in ids)
    assert [row.run_id for row in rows_of(write(text), fail)] == list(ids)


FLAT = '{"qid": "1", "docid": "d1", "query": "q", "passage": "p", "judgment": 3}'
QUERY = '{"query": {"qid": 1, "text": "q"}, "docid": "d1", "judgment": 3, "result_status": 1}'
NESTED = '{"query": {"qid": "1", "text": "q"}, "candidates": [{"docid": "d1", "judgment": 3}]}'


@pytest.mark.parametrize("line", [FLAT, QUERY, NESTED], ids=["flat", "query", "candidates"])
def test_a_grade_has_the_ids_of_its_record(line: str, tmp_path: Path) -> None:
    (tmp_path / "u.jsonl").write_text(line + "\n")
    assert is_graded_records(tmp_path / "u.jsonl")
    rows = list(graded_records(tmp_path / "u.jsonl", pytest.fail))
    assert [(ids, grade) for _, ids, grade in rows] == [(("1", "0", "d1"), "3")]


def test_a_grade_that_stands_for_no_reply_is_unjudged_and_not_0(tmp_path: Path) -> None:
    path, found = tmp_path / "u.jsonl", list[Finding]()
    path.write_text('{"qid": "1", "docid": "d", "judgment": 0, "result_status": 0}\n')
    assert not list(graded_records(path, found.append))
    assert [(one.kind, str(one)) for one in found] == [
        (
            "grade_missing",
            f"{path}:1: document 'd' of topic '1' is unjudged: no grade was found in the"
            " model's reply",
        )
    ]


def test_records_that_name_no_document(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    path = tmp_path / "u.jsonl"
    path.write_text('{"query": "q", "passage": "p", "prediction": "", "judgment": 3}\n')
    done = command("labels", "agree", "--truth", path, "--predicted", tmp_path)
    assert done.status == 1
    assert "give the qrels of it, or add qid and docid to each record" in done.err


def grades(folder: Path) -> list[list[str]]:
    """Return the rows of our own qrels over all runs of the sample."""
    assert sample("rag", folder, "-q", "--qrels-pool").status == 0
    return [line.split() for line in (folder / "x.qrels").read_text().splitlines()]


@pytest.mark.parametrize("ours", ["--truth", "--predicted"])
@pytest.mark.parametrize("separator", [" ", "\t"], ids=["blanks", "tabs"])
def test_qrels_of_umbrela_are_compared_with_ours_on_both_sides(
    ours: str, separator: str, tmp_path: Path
) -> None:
    rows = grades(tmp_path)
    lines = (separator.join((topic, "0", doc, grade)) for topic, _, doc, grade in rows)
    (tmp_path / "umbrela.txt").write_text("\n".join(lines) + "\n")
    theirs = "--predicted" if ours == "--truth" else "--truth"
    given = (ours, tmp_path / "x.qrels", theirs, tmp_path / "umbrela.txt")
    status, found = as_json("agree", *given)
    alike = sum(found["confusion"][i][i] for i in range(len(found["labels"])))
    assert (status, found["items"], alike) == (0, len(rows), len(rows))


def test_records_are_compared_with_a_job(tmp_path: Path) -> None:
    rows = grades(tmp_path)
    record = '{{"qid": "{0}", "docid": "{2}", "judgment": {3}, "result_status": {4}}}\n'
    lines = [record.format(*row, 1) for row in rows[1:]] + [record.format(*rows[0], 0)]
    (tmp_path / "u.jsonl").write_text("".join(lines))
    status, found = as_json("agree", "--truth", tmp_path / "u.jsonl", "--predicted", tmp_path)
    assert (status, found["items"], found["unjudged"]) == (3, len(rows) - 1, [1, 0])


def test_a_line_has_topic_document_rank_score_and_tag() -> None:
    lines = list(run_lines("t 1", [("d", 1.5), ("e f", 0.25)], "my run"))
    assert lines == ["t%201 Q0 d 1 1.500000 my%20run\n", "t%201 Q0 e%20f 2 0.250000 my%20run\n"]


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, 1.0, 1.0],
        [0.0, 0.0],
        [3.0, 3.0, 2.9999999],
        [151.00001, 151.00001, 151.0],
        [-1.0, -5.0],
    ],
    ids=["equal", "zero", "close", "large", "negative"],
)
def test_scores_fall_strictly_as_floats_of_32_bits(scores: list[float]) -> None:
    import numpy as np

    lines = run_lines("t", [(f"d{n}", score) for n, score in enumerate(scores)], "x")
    written = np.array([line.split()[4] for line in lines], np.float32)
    assert (np.diff(written) < 0).all()


def test_ir_measures_judges_it_in_the_order_of_ranks() -> None:
    # All scores are equal: a tool that orders ties by id would put c first.
    text = "".join(run_lines("1", [("a", 2.0), ("b", 2.0), ("c", 2.0)], "x"))
    qrels = list(ir_measures.read_trec_qrels("1 0 a 1\n1 0 b 0\n1 0 c 0\n"))
    run = list(ir_measures.read_trec_run(text))
    assert ir_measures.calc_aggregate([nDCG @ 10], qrels, run) == {nDCG @ 10: 1.0}


def test_nothing_found_is_no_line() -> None:
    assert list(run_lines("t", [], "x")) == []

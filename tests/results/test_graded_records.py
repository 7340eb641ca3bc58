"""Grades of documents as UMBRELA writes them, beside ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.jobs import as_json
from tests.commandline import command, sample
from trecjudge.findings import Finding
from trecjudge.results.trec import graded_records, is_graded_records

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
    done = command("agree", "--truth", path, "--predicted", tmp_path)
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

"""Kinds of findings, their log, and values as messages show them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trecjudge
from trecjudge.findings import KINDS, MOST_UNREAD, Finding, FindingLog, brief, visible, visible_line
from trecjudge.records import Place

PACKAGE = Path(trecjudge.__file__).parent
REPORTED = re.compile(r'(?:Finding|complain|_about)\(\s*"(\w+)"')
NAMED = re.compile(r'"(\w+)"')


def test_the_kinds_are_those_that_the_code_reports() -> None:
    paths = (path for path in PACKAGE.rglob("*.py") if path.name != "findings.py")
    sources = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    assert set(REPORTED.findall(sources)) <= set(KINDS)
    assert set(KINDS) <= set(NAMED.findall(sources))


def test_by_which_kinds_something_is_not_judged() -> None:
    """They end a job with status 3, and `--strict` with 1."""
    assert {name for name, kind in KINDS.items() if kind.severity == "error"} == {
        "answer_failed",
        "assessment_missing",
        "bad_utf8",
        "collection_unreadable",
        "criterion_weight_unusable",
        "documents_not_fetched",
        "file_unreadable",
        "file_without_responses",
        "grade_missing",
        "label_unusable",
        "line_not_json",
        "nugget_bank_topicless",
        "nugget_bank_unknown",
        "nuggets_not_asked",
        "nuggets_not_found",
        "record_not_an_object",
        "record_too_large",
        "record_unknown_shape",
        "row_unreadable",
        "table_row_unusable",
        "topic_id_missing",
        "topic_unreadable",
    }


@pytest.mark.parametrize(
    ("finding", "wanted"),
    [
        (
            Finding("citation_out_of_range", Place("a", 17), "cites 9", sentence=3),
            "a:17: sentence 4 cites 9",
        ),
        (Finding("topic_unknown", Place("a", 1), "answers '9'"), "a:1: answers '9'"),
        (
            Finding("file_unreadable", Place("a"), "breaks off", sentence=0),
            "a: sentence 1 breaks off",
        ),
    ],
    ids=["sentence", "line", "file"],
)
def test_a_finding_names_its_place(finding: Finding, wanted: str) -> None:
    assert str(finding) == wanted


def test_the_log_counts_and_passes_on() -> None:
    listened: list[Finding] = []
    log = FindingLog([listened.append])
    kinds = ["line_not_json", "topic_unknown", "topic_unknown", "team_id_missing"]
    for kind in kinds:
        log(Finding(kind, Place("a"), "message"))
    assert [finding.kind for finding in listened] == kinds
    assert dict(log.counts) == {"line_not_json": 1, "topic_unknown": 2, "team_id_missing": 1}
    assert [log.of_severity(s) for s in ("error", "warning", "note")] == [1, 2, 1]
    assert log.of_severity("error", "warning") == 3


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("a", "'a'"),
        (None, "None"),
        ("\ud800\n\x1b[31m", r"'\ud800\n\x1b[31m'"),
        ("x" * 100, "'" + "x" * 78 + "…"),
    ],
    ids=["text", "null", "what no terminal should get", "long"],
)
def test_shown(value: object, wanted: str) -> None:
    assert brief(value) == wanted


def test_a_value_nested_too_deep_is_shown_all_the_same() -> None:
    value: list[object] = []
    for _ in range(1020):
        value = [value]
    assert len(brief(value)) <= 80


def test_nothing_steers_a_terminal() -> None:
    assert visible("a\x1b[2J\r\u202eb\n") == "a\\x1b[2J\\x0d\\x202eb\n"
    assert visible("a\u061c\u200bb\ufeff") == "a\\x61c\\x200bb\\xfeff"
    assert visible("می\u200cخواهم 👩\u200d👧") == "می\u200cخواهم 👩\u200d👧"  # joiners are spelling


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        pytest.param("::error::x", r"\x3a:error::x", id="GitHub"),
        pytest.param(
            "r\n ::add-mask::y", r"r\x0a \x3a:add-mask::y", id="GitHub, on a line of its own"
        ),
        pytest.param("r ##[error]x", r"r \x23#[error]x", id="GitHub as it was"),
        pytest.param("##vso[task.complete]", r"\x23#vso[task.complete]", id="Azure"),
        pytest.param("##teamcity[x]", r"\x23#teamcity[x]", id="TeamCity"),
        pytest.param("std::error, a :: b, ## Heading", "std::error, a :: b, ## Heading", id="text"),
    ],
)
def test_no_text_is_a_command_to_a_server_that_reads_what_is_printed(
    text: str, printed: str
) -> None:
    assert visible_line(text) == printed


def test_a_file_name_that_is_not_utf_8_can_be_written() -> None:
    assert str(Place("a\udcff", 1)) == "a\\udcff:1"


def test_of_a_million_lines_that_cannot_be_read_the_first_are_passed_on() -> None:
    passed_on: list[Finding] = []
    log = FindingLog([passed_on.append])
    for number in range(1, MOST_UNREAD + 501):
        log(Finding("line_not_json", Place("r.jsonl", number), "is not JSON"))
    log(Finding("citation_unusable", Place("r.jsonl", 1), "is there twice"))
    assert len(passed_on) == MOST_UNREAD + 1
    assert passed_on[MOST_UNREAD - 1].place.line == MOST_UNREAD
    assert log.counts["line_not_json"] == MOST_UNREAD + 500

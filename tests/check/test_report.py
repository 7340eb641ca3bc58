"""The report as data and as a table."""

from __future__ import annotations

import json
from io import StringIO

from rich.console import Console

from tests.check.samples import GOOD, Write, changed, checked, citing, lines, topics
from trecjudge.check.checking import check
from trecjudge.check.outcome import CheckReport
from trecjudge.show.check import cause_lines, closing_line, place_lines, shared_rules, verdict_table


def example(write: Write) -> CheckReport:
    """Return the report on a refused, a warned and an accepted run."""
    refused = citing("rag25", [7], [8], [9], [10], metadata__run_id="[b]bad[/b]")
    files = {
        "a.jsonl": lines(refused),
        "b.jsonl": lines(changed("rag25", metadata__type=None)),
        "c.jsonl": lines(GOOD["rag25"], changed("rag25", metadata__narrative_id="2")),
    }
    known = topics(_1="What?", _2="What?")
    return check([write(text, name) for name, text in files.items()], known)


def test_the_report_as_json(write: Write) -> None:
    report = example(write).as_dict()
    assert json.loads(json.dumps(report)) == report
    assert report["totals"] == {
        "runs": 3,
        "records": 4,
        "refused": 1,
        "warned": 1,
        "accepted": 1,
        "violations": {"citation_out_of_range": 4, "response_missing": 2, "field_missing": 1},
    }
    first = report["runs"][0]
    assert {key: first[key] for key in first if key not in ("violations", "path")} == {
        "run_id": "[b]bad[/b]",
        "track": "rag25",
        "records": 1,
        "topics_answered": 1,
        "topics_expected": 2,
        "verdict": "refused",
    }
    worst = first["violations"][0]
    assert (worst["rule"], worst["verdict"], worst["count"]) == (
        "citation_out_of_range",
        "refused",
        4,
    )
    assert worst["examples"][0] == {
        "path": first["path"],
        "line": 1,
        "sentence": 0,
        "topic_id": "1",
        "message": "cites 7, references has 2",
    }
    assert len(worst["examples"]) == 3


def rows_of(report: CheckReport) -> list[list[str]]:
    out = StringIO()
    Console(file=out, width=140).print(verdict_table(report))
    return [line.split() for line in out.getvalue().splitlines()]


def test_the_table_has_a_row_for_each_run_and_the_file_of_one_run_id(write: Write) -> None:
    assert rows_of(example(write)) == [
        ["run", "file", "track", "records", "topics", "verdict", "refused", "for", "warned", "of"],
        [
            *("[b]bad[/b]", "a.jsonl", "rag25", "1", "1/2", "refused"),
            *("citation_out_of_range", "4", "response_missing", "1"),
        ],
        [
            *("r", "b.jsonl", "rag25", "1", "1/2", "warned"),
            *("field_missing", "1,", "response_missing", "1"),
        ],
        ["r", "c.jsonl", "rag25", "2", "2/2", "accepted"],
    ]


def test_the_table_needs_no_file_where_run_ids_are_enough(write: Write) -> None:
    report = checked(write, GOOD["rag25"])
    assert rows_of(report)[1] == ["r", "rag25", "1", "1", "accepted"]


def test_rows_of_one_run_id_show_folders_and_names(write: Write) -> None:
    other = changed("rag25", answer=[{"text": "Another.", "citations": [0]}])
    report = check([write(lines(GOOD["rag25"]), "x/r.jsonl"), write(lines(other), "y/r.jsonl")])
    assert [row[:2] for row in rows_of(report)[1:]] == [["r", "x/r.jsonl"], ["r", "y/r.jsonl"]]
    assert [run.as_dict().get("name") for run in report.runs] == [None, "y/r"]


def test_places_and_totals_as_lines(write: Write) -> None:
    report = example(write)
    found = [line.replace(report.runs[0].path, "a.jsonl") for line in place_lines(report)]
    assert found[:5] == [
        "refused (citation_out_of_range): a.jsonl:1: sentence 0 cites 7, references has 2",
        "refused (citation_out_of_range): a.jsonl:1: sentence 1 cites 8, references has 2",
        "refused (citation_out_of_range): a.jsonl:1: sentence 2 cites 9, references has 2",
        "refused (citation_out_of_range): a.jsonl: 4 in all",
        "warned (response_missing): a.jsonl: has no response on 1 of 2 topics: 2",
    ]
    assert closing_line(report) == "checked: 3 runs, 4 records: 1 refused, 1 warned, 1 accepted"


def test_no_run_at_all_is_refused(write: Write) -> None:
    assert check([write("read me", "README")]).refused
    assert not checked(write, GOOD["rag25"]).refused


def test_a_cause_that_all_records_share_is_one_line(write: Write) -> None:
    files = [
        write(
            lines(
                *(
                    changed(
                        "rag25",
                        metadata__type=None,
                        metadata__narrative_id=str(topic),
                        metadata__run_id=name,
                    )
                    for topic in range(1, 6)
                )
            ),
            f"{name}.jsonl",
        )
        for name in "ab"
    ]
    report = check(files)
    shared = shared_rules(report)
    (line,) = [line for line in cause_lines(report, shared) if "field_" in line]
    assert line.startswith("warned (field_missing): 10 of 10 records, 2 of 2 runs: has no metadata")
    assert line.endswith("the first: " + str(files[0]) + ":1")
    assert not any("field_missing" in line for line in place_lines(report, shared, show_all=False))
    assert not any("field_missing" in " ".join(row) for row in rows_of(report)[1:])

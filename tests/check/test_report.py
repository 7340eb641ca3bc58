"""The report of a check, in the terminal and as JSON; its packed places."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from tests.check.samples import GONE, GOOD, Write, as_json, changed, checked, citing, lines, topics
from tests.commandline import command
from trecjudge.check.checker import check_files
from trecjudge.check.outcome import AT_ONCE, CheckReport, JsonLines, PackedList
from trecjudge.findings import Finding
from trecjudge.records import Place
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
    return check_files([write(text, name) for name, text in files.items()], known)


def test_the_report_as_json(write: Write) -> None:
    report = as_json(example(write))
    assert report["totals"] == {
        "runs": 3,
        "records": 4,
        "refused": 1,
        "accepted": 2,
        "accepted_with_warnings": 1,
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
        "warnings": 1,
    }
    worst, missing = first["violations"]
    assert (worst["rule"], worst["verdict"], worst["count"]) == (
        "citation_out_of_range",
        "refused",
        4,
    )
    assert worst["places"][0] == {
        "path": first["path"],
        "line": 1,
        "sentence_index": 0,
        "topic_id": "1",
        "message": "cites 7, references has 2",
    }
    assert [place["sentence_index"] for place in worst["places"]] == [0, 1, 2, 3]
    assert [place["topic_id"] for place in missing["places"]] == ["2"]


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
            *("r", "b.jsonl", "rag25", "1", "1/2", "accepted,", "2", "warnings"),
            *("field_missing", "1,", "response_missing", "1"),
        ],
        ["r", "c.jsonl", "rag25", "2", "2/2", "accepted"],
    ]


def test_the_table_needs_no_file_where_run_ids_are_enough(write: Write) -> None:
    report = checked(write, GOOD["rag25"])
    assert rows_of(report)[1] == ["r", "rag25", "1", "1", "accepted"]


def test_rows_of_one_run_id_show_folders_and_names(write: Write) -> None:
    other = changed("rag25", answer=[{"text": "Another.", "citations": [0]}])
    report = check_files(
        [write(lines(GOOD["rag25"]), "x/r.jsonl"), write(lines(other), "y/r.jsonl")]
    )
    assert [row[:2] for row in rows_of(report)[1:]] == [["r", "x/r.jsonl"], ["r", "y/r.jsonl"]]
    assert [run.as_dict().get("name") for run in report.runs] == [None, "y/r"]


def test_places_and_totals_as_lines(write: Write) -> None:
    report = example(write)
    found = [line.replace(report.runs[0].path, "a.jsonl") for line in place_lines(report)]
    rule = "refused (citation_out_of_range): a.jsonl:1: sentence"
    assert found[:5] == [
        f"{rule} 1 cites 7, references has 2",
        f"{rule} 2 cites 8, references has 2",
        f"{rule} 3 cites 9, references has 2",
        f"{rule} 4 cites 10, references has 2",
        "warned (response_missing): a.jsonl: has no response on topic '2'",
    ]
    assert closing_line(report) == (
        "checked: 3 runs, 4 records: 1 refused, 2 accepted (1 with warnings)"
    )


def test_no_run_at_all_is_refused(write: Write) -> None:
    assert check_files([write("read me", "README")]).is_refused
    assert not checked(write, GOOD["rag25"]).is_refused


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
    report = check_files(files)
    shared = shared_rules(report)
    (line,) = [line for line in cause_lines(report, shared) if "field_" in line]
    assert line.startswith("warned (field_missing): 10 of 10 records, 2 of 2 runs: has no metadata")
    assert line.endswith(f"the first: {files[0]}:1, :2, :3 … 7 more: --all or --json")
    assert not any("field_missing" in line for line in place_lines(report, shared, show_all=False))
    assert not any("field_missing" in " ".join(row) for row in rows_of(report)[1:])


def run_of_24_bad_citations(write: Write) -> Path:
    """Return a run of 8 records: each cites 3 times what is not there, half lack two fields."""
    bad = [{"text": "It is.", "citations": [7 + n]} for n in range(3)]
    return write(
        lines(
            *(
                changed(
                    "rag25",
                    answer=bad,
                    metadata__narrative_id=number,
                    metadata__prompt=GONE,
                    metadata__type=GONE if number > 4 else "automatic",
                )
                for number in range(1, 9)
            )
        )
    )


def test_all_names_every_place_and_the_plain_view_three(write: Write) -> None:
    path = run_of_24_bad_citations(write)
    every = {
        f"refused (citation_out_of_range): {path}:{line}: sentence {n + 1} cites {7 + n},"
        " references has 2"
        for line in range(1, 9)
        for n in range(3)
    }
    assert every <= set(command("check", path, "--all").out.splitlines())
    plain = command("check", path).out.splitlines()
    assert (
        "refused (citation_out_of_range): 8 times, 1 of 1 run: cites 9, references has 2;"
        f" the first: {path}:1 sentence 3, :2 sentence 3, :3 sentence 3 … 5 more: --all or --json"
    ) in plain
    assert len(plain) < 15


def test_a_problem_behind_another_of_the_same_rule_is_named(write: Write) -> None:
    plain = command("check", run_of_24_bad_citations(write)).out
    assert "8 of 8 records, 1 of 1 run: has no metadata.prompt" in plain
    assert "4 of 8 records, 1 of 1 run: has no metadata.type" in plain


def test_json_names_every_place_and_topic(write: Write) -> None:
    known = write("".join(f'{{"id": "{n}", "title": "What?"}}\n' for n in range(1, 40)), "t.jsonl")
    path = run_of_24_bad_citations(write)
    (run,) = json.loads(command("check", path, "--rag-topics", known, "--json").out)["runs"]
    found = {v["rule"]: v for v in run["violations"]}
    assert {rule: len(v["places"]) for rule, v in found.items()} == {
        rule: v["count"] for rule, v in found.items()
    }
    assert [p["topic_id"] for p in found["response_missing"]["places"]] == [
        str(n) for n in range(9, 40)
    ]


def test_a_run_that_would_be_accepted_reads_so(write: Write) -> None:
    path = write(lines(changed("rag25", metadata__type=GONE, metadata__prompt=GONE)))
    done = command("check", path)
    assert done.status == 0
    assert "accepted, 2 warnings" in done.out
    assert done.out.splitlines()[-1] == (
        "checked: 1 run, 1 record: 0 refused, 1 accepted (1 with warnings)"
    )


def test_repairs_are_a_line_a_kind_and_what_is_left_is_listed(write: Write, tmp_path: Path) -> None:
    path = run_of_24_bad_citations(write)
    out = command("check", path, "--fix", tmp_path / "fixed").out.splitlines()
    copy = tmp_path / "fixed" / "run.jsonl"
    assert [line for line in out if line.startswith(("mended", "by hand"))] == [
        f"mended (citations): 24 times; the first: {path}:1: citations of sentence 1: [7] -> []",
        "by hand: warned (field_missing): 8 of 8 records, 1 of 1 run: has no metadata.prompt;"
        f" the first: {copy}:1, :2, :3 … 5 more: --all or --json",
        "by hand: warned (field_missing): 4 of 8 records, 1 of 1 run: has no metadata.type;"
        f" the first: {copy}:5, :6, :7 … 1 more: --all or --json",
        f"mended: 24 changes in {tmp_path / 'fixed'}; of the copies 0 would still be refused",
    ]


def test_all_lists_every_change_and_all_that_is_left(write: Write, tmp_path: Path) -> None:
    path = run_of_24_bad_citations(write)
    out = command("check", path, "--fix", tmp_path / "fixed", "--all").out
    assert out.count(": citations of sentence ") == 24
    assert out.count("by hand: warned (field_missing): ") == 12


def place(number: int) -> Finding:
    return Finding("citation_malformed", Place("runs/a.jsonl", number), f"cites 'bad_{number}'")


def test_all_come_back_in_order_as_often_as_asked() -> None:
    packed = PackedList[Finding]()
    for number in range(3 * AT_ONCE + 5):
        packed.append(place(number))
    assert len(packed) == packed.given == 3 * AT_ONCE + 5
    assert list(packed) == list(packed) == [place(n) for n in range(3 * AT_ONCE + 5)]


def test_of_a_bounded_one_the_first_are_kept() -> None:
    packed = PackedList[int](3)
    for number in range(9):
        packed.append(number)
    assert (list(packed), len(packed), packed.given) == ([0, 1, 2], 3, 9)
    assert list(JsonLines(packed, str)) == ["0", "1", "2"]


def test_a_place_takes_few_bytes() -> None:
    packed = PackedList[Finding]()
    for number in range(50 * AT_ONCE):
        packed.append(place(number))
    assert sum(map(len, packed._full)) < 40 * len(packed)

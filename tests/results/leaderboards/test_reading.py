"""Leaderboards of every format read: recognised, headers known, what is odd found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.results.leaderboards.reading import read_all, read_rows
from trecjudge.results.trec import LeaderboardRow
from trecjudge.settings.limits import apply_limits

ROWS = [LeaderboardRow("r1", "t1", "M", 0.5), LeaderboardRow("r1", None, "M", 0.25)]


def read(path: Path, format_name: str = "auto") -> tuple[list[LeaderboardRow], list[str]]:
    findings: list[Finding] = []
    rows = [row for _, row in read_rows(path, findings.append, format_name)]
    return rows, [f"{f.place.line}: {f.message}" for f in findings]


def test_a_format_is_recognised_by_the_file(write: Write) -> None:
    cases = {
        "ir_measures": ("r1 t1 M 0.5\nr1\tall  M 0.25\n", "lb.txt"),
        "tot": ("r1 M t1 0.5\nr1 M all 0.25\n", "lb.txt"),
        "trec_eval": ("M t1 0.5\nM all 0.25\n", "r1"),
        "trec_eval with its run": ("runid all r1\nM t1 0.5\nM all 0.25\n", "x"),
        "rag4reports": ("t1 r1 M 0.5\nall r1 M 0.25\n", "lb.txt"),
        "rag4reports with its header": (
            "topic_id\tgeneration_system_id\tmetric_name\tscore\nt1\tr1\tM\t0.5\nall\tr1\tM\t.25\n",
            "lb.tsv",
        ),
        "a header": ("run topic measure value\nr1 t1 M 0.5\nr1 all M 0.25\n", "l"),
        "words": ("RUN_ID Measure Query Score\nr1 M t1 0.5\nr1 M all 0.25\n", "l"),
        "csv": ("run,topic,measure,value\nr1,t1,M,0.5\nr1,all,M,0.25\n", "l.csv"),
        ";": ("run;topic;measure;value\nr1;t1;M;0,5\nr1;all;M;0,25\n", "l.csv"),
        "jsonl": (
            '{"run_id": "r1", "topic_id": "t1", "measure": "M", "value": 0.5}\n'
            '{"run_id": "r1", "topic_id": "all", "measure": "M", "value": 0.25}\n',
            "l.jsonl",
        ),
        "an array of objects": (
            '[{"run": "r1", "query_id": "t1", "metric": "M", "score": 0.5},'
            ' {"run": "r1", "query_id": "all", "metric": "M", "score": 0.25}]',
            "l.json",
        ),
    }
    wrong = {
        case: found
        for case, (text, name) in cases.items()
        if (found := read(write(text, name))) != (ROWS, [])
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"qid": "t1", "M": 0.5, "N": null}\n{"qid": "all", "M": 0.25, "N": 1}', "r1.jsonl"),
        ("qid\tM\tN\nt1\t0,5\t\nmean\t0,25\t1\n", "r1.tsv"),
        ('run;id;note;M;N\nr1;t1;"a\nb";0,5;nan\nr1;Overall;;0,25;1\n', "l.csv"),
    ],
    ids=["JSONL", "decimal commas", "a column of runs"],
)
def test_a_measure_a_column(text: str, name: str, write: Write) -> None:
    rows, findings = read(write(text, name))
    assert rows == [ROWS[0], ("r1", "t1", "N.unjudged", 1.0), ROWS[1], ("r1", None, "N", 1.0)]
    assert findings == []


def test_a_measure_a_column_without_topics(write: Write) -> None:
    assert read(write("system,is_valid,chunk_id\na,0.5,1\nb,1,2\n", "l"))[0] == [
        ("a", None, "is_valid", 0.5),
        ("b", None, "is_valid", 1.0),
    ]
    text = "user_input,response,retrieved_contexts,M\nQ?,A.,\"['C.']\",1\n P?,B.,[],0\n"
    ids = [row.topic_id for row in read(write(text, "l.csv"))[0]]
    assert ids == ["q-9fe05e41", "p-f4fe429b"]


def test_where_tabs_part_columns_an_id_may_hold_spaces(write: Write) -> None:
    path = write("my run\tt1\tM\t0.5\nmy run\tall\tAt  5 \t 0.25\n", "l.tsv")
    assert read(path) == ([("my run", "t1", "M", 0.5), ("my run", None, "At  5", 0.25)], [])


def test_a_header_may_name_further_columns(write: Write) -> None:
    cases = [
        "run,topic,measure,value,team,date\nr1,t1,M,0.5,x,y\nr1,all,M,0.25,x,y\n",
        "team,score,metric,query,system\nx,0.5,M,t1,r1\nx,0.25,M,all,r1\n",
        "run\ttopic\tmeasure\tvalue\tn\tsd\nr1\tt1\tM\t0.5\t1\t2\nr1\tall\tM\t0.25\t1\t2\n",
    ]
    wrong = [text for text in cases if read(write(text, "l")) != (ROWS, [])]
    assert not wrong


def test_a_line_without_all_columns_of_the_header_is_found(write: Write) -> None:
    path = write("run,topic,measure,value,a,b\nr1,t1,M,0.5\nr1,all,M,0.25,1,2\n", "l.csv")
    assert read(path) == (ROWS[1:], ["2: has 4 columns, not 6"])


def test_integer_topics_are_text(write: Write) -> None:
    line = '{"run_id": "r1", "topic_id": 1, "measure": "S", "value": true}'
    assert read(write(line, "l"))[0] == [("r1", "1", "S", 1.0)]


def test_an_id_may_hold_commas(write: Write) -> None:
    assert read(write("r,1,2,3 all M 0.5\n", "l"))[0] == [("r,1,2,3", None, "M", 0.5)]
    assert read(write('"r,1",all,M,0.5\n', "l.csv"), "csv")[0] == [("r,1", None, "M", 0.5)]


def test_csv_that_breaks_off_is_found(write: Write) -> None:
    path = write("run,topic,measure,value\nr1,t1,M,0.5\nr1,t1,,1\nr\r1,t1,M,1\nr1,all,M,.25\n", "l")
    rows, findings = read(path)
    assert rows == ROWS
    assert findings == ["3: has a column that is empty", "4: has 0 columns, not 4"]


def test_statistics_are_read_as_all_rows(write: Write) -> None:
    text = (
        '{"run_id": "r1", "measure": "M", "mean": 0.5, "low": 0.4}\n'
        '{"run_id": "r2", "measure": "M", "mean": null, "low": null}\n'
    )
    assert read(write(text, "l")) == ([("r1", None, "M", 0.5)], [])


def test_statistics_tell_of_unjudged_items_whatever_their_file_is_called(write: Write) -> None:
    text = (
        '{"run_id": "r1", "measure": "M", "mean": 0.5, "judged": 3, "expected": 4}\n'
        '{"run_id": "r2", "measure": "M", "mean": null, "judged": 0, "expected": 4}\n'
    )
    assert read(write(text, "l"))[0] == [
        ("r1", None, "M.unjudged", 1.0),
        ("r1", None, "M", 0.5),
        ("r2", None, "M.unjudged", 4.0),
    ]


def test_where_nothing_decides_the_choices_are_named(write: Write) -> None:
    path = write("r1 t1 M 0.5\nr2 t1 M 0.5\n", "l")
    with pytest.raises(InputError, match=r"neither a header nor `all` rows .* give one of ir_meas"):
        read(path)
    assert read(path, "ir_measures")[0][0] == ("r1", "t1", "M", 0.5)
    assert read(path, "tot")[0][0] == ("r1", "M", "t1", 0.5)


def test_an_unknown_format(write: Write) -> None:
    with pytest.raises(InputError, match="unknown leaderboard format 'tott'; did you mean 'tot'"):
        read(write("", "l"), "tott")


def test_a_named_format_passes_over_its_header_too(write: Write) -> None:
    path = write("run measure topic value\nr1 M t1 0.5\nr1 M all 0.25\n", "l")
    assert read(path, "tot") == (ROWS, [])


BAD_LINES = {
    "NaN": ("r1 t1 M nan", "has value 'nan', not a number"),
    "three columns": ("r1 t1 M", "has 3 columns, not 4"),
    "five columns": ("r1 t1 M 1 2", "has 5 columns, not 4"),
    "no count": ("r1 t1 M.unjudged 0.3", "has 0.3 as M.unjudged, not a number of items"),
    "below 0": ("r1 t1 M.unjudged -1", "has -1 as M.unjudged, not a number of items"),
    "of nothing": ("r1 t1 .unjudged 1", "has 1 as .unjudged, not a number of items"),
    "bad bytes": (b"r1 t\x81 M 1", "is not UTF-8 at byte 4"),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_found_and_the_others_count(
    line: str | bytes, message: str, write: Write
) -> None:
    bad = line if isinstance(line, bytes) else line.encode()
    path = write(b"r1 t1 M 0.5\n" + bad + b"\nr1 all M 0.25\n", "l")
    assert read(path) == (ROWS, [f"2: {message}"])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"run_id": "r", "topic_id": "t", "measure": "M"}', "has no value"),
        ('{"topic_id": "t", "value": 1}', "has no measure, run"),
        ('{"run_id": "r", "topic_id": "t", "measure": "M", "value": null}', "has value None"),
        ('{"run_id": "r", "topic_id": [1], "measure": "M", "value": 1}', "has ids ['r', None"),
        ('{"run_id": "r", "topic_id": "t", "measure": "M", "value": "NaN"}', "has value 'NaN'"),
    ],
)
def test_a_bad_record_is_found(record: str, message: str, write: Write) -> None:
    rows, findings = read(write(record, "l.jsonl"))
    assert rows == []
    assert findings[0].startswith(f"1: {message}")


def test_several_files_are_one_leaderboard(write: Write) -> None:
    paths = [write("M all 1\n", "runs/a"), write("M all 2\n", "runs/b.txt.gz".removesuffix(".gz"))]
    rows = [row for _, row in read_all(paths, lambda finding: None)]
    assert rows == [("a", None, "M", 1.0), ("b.txt", None, "M", 2.0)]


def test_runs_that_are_all_called_alike_are_named_after_their_files(write: Write) -> None:
    texts = {"a": "runid all std\nM all 1\n", "b": "M all 2\nrunid all std\n", "c": "M all 3\n"}
    paths = [write(text, f"runs/{name}") for name, text in texts.items()]
    findings: list[Finding] = []
    rows = [row for _, row in read_all(paths, findings.append)]
    assert rows == [("a", None, "M", 1.0), ("b", None, "M", 2.0), ("c", None, "M", 3.0)]
    assert [f.message for f in findings] == [
        "2 files have the runid 'std': runs are named after files, ['a', 'b']"
    ]
    assert [row.run_id for _, row in read_all(paths[:1], findings.append)] == ["std"]


def test_an_empty_file_has_no_rows(write: Write) -> None:
    assert read(write("\n\n", "l")) == ([], [])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("r1 t1 M 1\n" * 3 + "r1 all M 1\n", 4, id="lines"),
        pytest.param("topic,a,b\nt1,1,1\nt2,1,1\n", 3, id="a measure a column"),
        pytest.param('{"topic": "t1", "a": 1, "b": 1}\n' * 2, 2, id="objects"),
    ],
)
def test_more_rows_than_are_held_are_refused_with_the_place(
    text: str, place: int, write: Write
) -> None:
    path = write(text, "lb.txt")
    with apply_limits(["rows=3"]), pytest.raises(InputError) as error:
        read(path)
    assert str(error.value) == f"{path}:{place}: has more than 3 rows of scores (--limit rows)"


def test_a_line_of_a_million_columns_is_one_bad_row(write: Write) -> None:
    rows, messages = read(write("1 " * 1_000_000 + "\nr1 all M 0.25\nr1 t1 M 0.5\n", "lb.txt"))
    assert rows == ROWS[::-1]
    assert [m.split(",")[0] for m in messages] == ["1: has 1001 columns"]

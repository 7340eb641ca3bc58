"""Leaderboards in the formats of every tool: written, spoiled, opened in a spreadsheet."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from tests.commandline import command, sample
from tests.reading import fail
from trecjudge.errors import InputError, OutputError
from trecjudge.findings import Finding
from trecjudge.results.jobs import outcome
from trecjudge.results.leaderboards.reading import read_all, read_rows
from trecjudge.results.leaderboards.writing import LAYOUTS, csv_cells, csv_line, write_rows
from trecjudge.results.trec import LeaderboardRow

ODD = ["a b", "a\tb", "100%", "a%20b", "é", "a,b", 'a"b', "../a", ".a", "a/b", "a\u2028b", "a.json"]
ODD += ['=HYPERLINK("http://x")', "+a", "-a", "@a", "'=a", "''=a", "'a", "-0.5", "'-0.5", "a;=b"]
ROWS = [
    LeaderboardRow(run, topic, measure, value)
    for run in ["plain", *ODD]
    for topic, measure, value in [("t 1", "M", 1 / 3), ("all", "M", 1e-17), (None, "N.M@5", -2.0)]
] + [LeaderboardRow("plain", None, measure, 0.5) for measure in ODD]


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_written_is_read_again_to_the_last_digit(name: str, tmp_path: Path) -> None:
    written = write_rows(ROWS, tmp_path / "lb", LAYOUTS[name])
    read = [row for _, row in read_all(written, fail, name)]
    assert sorted(read, key=str) == sorted(ROWS, key=str)


@pytest.mark.parametrize("name", LAYOUTS)
def test_and_recognised_without_its_name(name: str, tmp_path: Path) -> None:
    rows = [r for r in ROWS if r.run_id == "plain"]
    write_rows(rows, tmp_path / "lb", LAYOUTS[name])
    read = [row for _, row in read_all(outcome(tmp_path / "lb").leaderboard, fail)]
    assert sorted(read, key=str) == sorted(rows, key=str)


def test_trec_eval_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    write_rows(ROWS, tmp_path / "lb", LAYOUTS["trec_eval"])
    assert os.listdir(tmp_path) == ["lb"]
    names = os.listdir(tmp_path / "lb")
    assert len(names) == len(ODD) + 1
    assert not [name for name in names if name.startswith(".")]


def test_a_run_too_long_for_a_file_name(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long for the name of a file; give another format"):
        write_rows([LeaderboardRow("x" * 300, None, "M", 1)], tmp_path, LAYOUTS["trec_eval"])


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="no folder for one file a run"):
        write_rows(ROWS, tmp_path / "file" / "x", LAYOUTS["trec_eval"])


def test_ir_measures_reads_our_qrels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--qrels-pool")
    rows = list(ir_measures.read_trec_qrels(str(tmp_path / "x.qrels")))
    ours = (tmp_path / "x.qrels").read_text().split()
    assert [(r.query_id, r.doc_id, str(r.relevance)) for r in rows] == list(
        zip(ours[0::4], ours[2::4], ours[3::4], strict=True)
    )


def test_pytrec_eval_and_ir_measures_evaluate_a_run_by_our_qrels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--qrels-pool")
    with (tmp_path / "x.qrels").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert sum(map(len, qrels.values())) == len((tmp_path / "x.qrels").read_text().splitlines())
    lines = [
        f"{topic} Q0 {doc_id} {rank} {-rank} r"
        for topic, docs in qrels.items()
        for rank, doc_id in enumerate(sorted(docs), 1)
    ]
    (tmp_path / "run").write_text("\n".join(lines))
    with (tmp_path / "run").open() as file:
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(
            pytrec_eval.parse_run(file)
        )
    measure = ir_measures.nDCG
    read = ir_measures.read_trec_qrels(str(tmp_path / "x.qrels"))
    found = ir_measures.iter_calc([measure], read, ir_measures.read_trec_run(str(tmp_path / "run")))
    by_topic = {metric.query_id: metric.value for metric in found}
    assert by_topic == pytest.approx({topic: own["ndcg"] for topic, own in scores.items()})
    assert 0 < sum(by_topic.values()) / len(by_topic) < 1


LOADED = """
import json, pathlib, sys
from autojudge_evaluate.eval_results import load
found = load(pathlib.Path(sys.argv[1]), format=sys.argv[2], has_header=False,
             recompute_aggregates=False, verify=True, on_missing="error")
rows = [[e.run_id, e.topic_id, e.measure, float(e.value)] for e in found.entries]
print(json.dumps(rows))
"""


@pytest.mark.skipif(
    find_spec("autojudge_evaluate") is None, reason="pip install autojudge-evaluate"
)
@pytest.mark.parametrize("name", ["ir_measures", "tot", "trec_eval", "jsonl"])
def test_autojudge_evaluate_reads_what_we_write(name: str, tmp_path: Path) -> None:
    rows = [
        LeaderboardRow(run, topic, "M", value)
        for run in ("a", "b", "c")
        for topic, value in (("1", 0.25), ("2", 0.75), (None, 0.5))
    ]
    write_rows(rows, tmp_path / "lb", LAYOUTS[name])
    done = subprocess.run(  # it looks for data in the network while it is imported
        [sys.executable, "-c", LOADED, str(tmp_path / "lb"), name],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {tuple(row) for row in json.loads(done.stdout.splitlines()[-1])}
    assert found == {(r.run_id, r.topic_id or "all", r.measure, r.value) for r in rows}


CELLS = st.text(st.sampled_from("'=+-@\uff1d,;\"|a1.e5\t\r"), max_size=6)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param('=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"', id="a link"),
        pytest.param("=1+1", "'=1+1", id="a sum"),
        pytest.param("+x", "'+x", id="plus"),
        pytest.param("-x", "'-x", id="minus"),
        pytest.param("@SUM(1)", "'@SUM(1)", id="at"),
        pytest.param("\t=1", '"\'\t=1"', id="a tab before it"),
        pytest.param("\r=1", '"\'\r=1"', id="a carriage return before it"),
        pytest.param("\uff1d1", "'\uff1d1", id="full width"),
        pytest.param("-1+1|cmd", "'-1+1|cmd", id="begins as a number"),
        pytest.param("a;=1", '"a;=1"', id="behind a semicolon"),
        pytest.param("'=1", "''=1", id="a mark of its own"),
        pytest.param("'a", "'a", id="a quote that is in nobody's way"),
        pytest.param("-0.5", "-0.5", id="a negative number"),
        pytest.param("+1", "+1", id="a number with its sign"),
        pytest.param("-2e-05", "-2e-05", id="a small number"),
        pytest.param("-inf", "'-inf", id="no number to a spreadsheet"),
        pytest.param("nDCG@20", "nDCG@20", id="a measure"),
    ],
)
def test_a_cell(text: str, written: str) -> None:
    assert csv_line([text]) == f"{written}\n"


@given(st.lists(CELLS.filter(lambda cell: "\r" not in cell), min_size=2, max_size=4))
def test_cells_are_read_back_as_they_were(cells: list[str]) -> None:
    assert csv_cells(csv_line(cells).removesuffix("\n")) == cells


@given(CELLS)
def test_no_cell_is_calculated(text: str) -> None:
    cell = next(csv.reader([csv_line([text])], strict=True), [""])[0] if text else ""
    try:
        float(cell)
    except ValueError:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))


def test_a_command_there_and_back(tmp_path: Path) -> None:
    rows = 'x=1\tall\tM\t-0.5\n=HYPERLINK("http://x")\tall\tM\t0.25\n'
    (tmp_path / "board.txt").write_text(rows)
    assert (
        command("job", "convert", tmp_path / "board.txt", tmp_path / "b.csv", "--to", "csv").status
        == 0
    )
    assert (tmp_path / "b.csv").read_text().splitlines()[1:] == [
        "x=1,all,M,-0.5",
        '"\'=HYPERLINK(""http://x"")",all,M,0.25',
    ]
    command("job", "convert", tmp_path / "b.csv", tmp_path / "back.txt", "--to", "ir_measures")
    assert (tmp_path / "back.txt").read_text() == rows


CELL = st.sampled_from(
    ["all", "r1", "t1", "M", "0.5", "nan", "run", "topic", "value", "%61ll", "é"]
)
LINE = st.lists(CELL, min_size=1, max_size=6).map(" ".join)
JSON = st.sampled_from(
    [
        '{"run_id": "r", "topic_id": 1, "measure": "M", "value": 1}',
        '{"run_id": null}',
        '{"run_id": "r", "measure": "M", "mean": [1]}',
        "[1, 2]",
        '{"value": 1e999}',
        "{",
        "null",
    ]
)
TEXT = st.lists(st.one_of(LINE, JSON, st.text(max_size=20)), max_size=8).map("\n".join)
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
ANY_ROWS = st.lists(
    st.builds(
        LeaderboardRow,
        IDS.map(str.strip),
        st.one_of(st.none(), IDS.map(str.strip)),
        st.sampled_from(["M", "nDCG@10", "A.B"]),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    max_size=6,
    unique_by=lambda row: row[:3],
)


def read(content: bytes, format_name: str) -> None:
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lb"
        path.write_bytes(content)
        try:
            rows = [row for _, row in read_rows(path, findings.append, format_name)]
        except InputError as error:
            assert "\n" not in str(error)
            return
    assert all(math.isfinite(row.value) for row in rows)
    assert all(row.run_id and row.measure and row.topic_id != "" for row in rows)


@pytest.mark.parametrize("name", ["auto", *LAYOUTS])
@given(text=TEXT)
def test_any_text(name: str, text: str) -> None:
    read(text.encode(errors="surrogatepass"), name)


@given(content=st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    read(content, "auto")


@pytest.mark.parametrize("name", ["ir_measures", "tot", "rag4reports", "jsonl", "csv"])
@given(rows=ANY_ROWS)
def test_any_ids_are_read_as_they_were_written(name: str, rows: list[LeaderboardRow]) -> None:
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        written = write_rows(rows, Path(folder) / "lb", LAYOUTS[name])
        found = [row for _, row in read_rows(written[0], findings.append, name)]
    assert (found, findings) == (rows, [])

"""Names that mean something to a file or a reader are read back as they were, by every command."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trecjudge
from tests.commandline import Done, command
from tests.reading import Write, fail
from trecjudge.results.leaderboards.reading import read_all
from trecjudge.results.leaderboards.writing import LAYOUTS, UNSAFE, write_rows
from trecjudge.results.trec import (
    NO_RUN,
    RESERVED_ALL,
    LeaderboardRow,
    QrelsRow,
    decode,
    encode,
    qrels_line,
    read_qrels,
)

WORDS = (
    *("all", "ALL", "amean", "amean_x", "mean", "total", "average", "run", "topic", "measure"),
    *("value", "run_id", "runid", "_", "-", "--", "0", "1", "Q0", "007", "1e5", "nan", "inf"),
    *("true", "null", "n/a", "#x", "100%", "a%20b", "%61ll", "%2561ll", "%", "%30", "x.unjudged"),
    *('a"b', '"a"', "'a", "'=a", "a\\nb", "../x", "C:x", "CON", "nul.x", "--help", "-q", ".x"),
    *("=1+1", "@x", "+", "+1", "-1", "a,b", "topic,measure,value,x", "topic,x", "a;b", "a.gz"),
    *("{x", "[x]", "[]", "{}", "sep=,", "BZhang", "PK", "*", "a/b", "a:b", "<b>&x", "a|b", "b."),
)
ODD = ("a b", "a\tb", "a\nb", "a\rb", "a\vb", "a\fb", "a\x1cb", "a\x85b", "a\u2028b", "a\xa0b")
UNSEEN = ("\0", "\x1b[31m", "a\x7f", "a\x9b", "\u200b", "\ufeff", "\ufeffa", "\xad", "all\u200b")
LETTERS = ("\u0301a", "e\u0301", "\xe9", "\u202ea", "\uff21", "A", "a", "\U0001f600", "x" * 300)
NAMES = (*WORDS, *ODD, *UNSEEN, *LETTERS)
A_NAME = st.sampled_from(NAMES) | st.text(st.sampled_from("al%\t \u200b\n\x850Q61{[B,Zh'\""))
TEXT = "Steam forced through a narrow gap in the spout makes a kettle whistle."
GOOD, BAD = TEXT, "The kettle was invented in Lyon in 1894."
Rows = dict[tuple[str, str | None, str], float]


def read(*paths: Path, format_name: str = "auto") -> Rows:
    found = [row for _, row in read_all(paths, fail, format_name)]
    rows = {row[:3]: round(row.value, 6) for row in found}
    assert len(rows) == len(found)
    return rows


@given(st.lists(A_NAME, min_size=2, max_size=6, unique=True))
def test_columns_are_as_many_as_names(names: list[str]) -> None:
    for reserved in (frozenset[str](), RESERVED_ALL, NO_RUN):
        columns = [encode(name, reserved) for name in names]
        assert [decode(column, reserved) for column in columns] == names
        assert not reserved.intersection(columns)
        assert all(column.split() == [column] and column.isprintable() for column in columns)


@pytest.mark.parametrize("name", ["a", "r-1.x_2+b", "2024-145", "d#0_1", "é", "mean", "0", "C:x"])
def test_a_name_that_a_column_holds_stays_as_it_is(name: str) -> None:
    assert encode(name) == name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_leaderboard_in_any_layout(layout: str, seed: int, tmp_path: Path) -> None:
    names = [name for name in NAMES if layout != "trec_eval" or len(name) < 60]
    # JSON takes no blanks around a name, as no reader does.
    names = random.Random(seed).sample([name for name in names if name == name.strip()], 14)
    runs, topics, measures = names[:6], names[5:10], ["all", "runid", "M", "m%20"]
    rows = [
        LeaderboardRow(run, topic, measure, i + j / 8)
        for i, run in enumerate(runs)
        for j, topic in enumerate((*topics, None))
        for measure in measures
    ]
    files = write_rows(rows, tmp_path / "board", LAYOUTS[layout])
    wanted = {row[:3]: row.value for row in rows}
    assert read(*files) == read(*files, format_name=layout) == wanted


def test_each_kind_may_be_the_first_of_a_file(tmp_path: Path) -> None:
    for name in (name for name in NAMES if name == name.strip()):
        rows = [LeaderboardRow(name, topic, "M", 0.5) for topic in (name, None)]
        for layout in ("ir_measures", "rag4reports", "jsonl", "csv"):
            files = write_rows(rows, tmp_path / "board", LAYOUTS[layout])
            assert read(*files) == {row[:3]: 0.5 for row in rows}


def test_qrels_tell_a_run_that_is_called_0_from_none(write: Write) -> None:
    rows = [QrelsRow(n, n, n, 1, n in NO_RUN) for n in NAMES] + [QrelsRow("t", "0", "d", 2)]
    path = write("".join(map(qrels_line, rows)), "q")
    assert list(read_qrels(path, fail)) == rows
    assert [row.run_id for row in rows] == [*NAMES, ""]


def test_files_of_runs_are_safe_and_as_many_as_runs(tmp_path: Path) -> None:
    names = [name for name in NAMES if len(name) < 60]
    rows = [LeaderboardRow(name, None, "M", 0.5) for name in names]
    files = write_rows(rows, tmp_path / "runs", LAYOUTS["trec_eval"])
    assert {file.parent for file in files} == {tmp_path / "runs"}
    assert len({file.name.casefold() for file in files}) == len(names)
    assert not [file.name for file in files if UNSAFE.search(file.name)]


BOARDS = {
    "run": ("all t M 1\nr t M 0\nall all M 1\n", "", "column 1 (FILE:1) and column 2 (FILE:3)"),
    "only": ("all t M 1\nall u M 0\n", "", "FILE:1: `all` is the first column"),
    "named": ("all t M 1\nall u M 0\nr t M 1\n", "ir_measures", ""),
}


@pytest.mark.parametrize(("text", "format_name", "said"), BOARDS.values(), ids=BOARDS)
def test_a_board_of_others_with_a_run_called_all(
    text: str, format_name: str, said: str, write: Write
) -> None:
    board = write(text, "board.txt")
    named = ["--format", format_name] if format_name else []
    done = command("job", "convert", board, board.with_name("x.jsonl"), "--to", "jsonl", *named)
    assert said.replace("FILE", str(board)) in done.err
    if format_name:
        assert ("all", "t", "M") in read(board.with_name("x.jsonl"))


def _records(runs: list[str], topics: list[str], docs: list[str]) -> Iterator[dict[str, Any]]:
    for r, run in enumerate(runs):
        for t, topic in enumerate(topics):
            good = {"text": GOOD, "citations": docs[:1]}
            bad = {"text": BAD, "citations": docs[1:]}
            yield {
                "metadata": {"team_id": run, "run_id": run, "topic_id": topic},
                "responses": [good] * (1 + t + 2 * r) + [bad] * (r + 1),
                "documents": {doc: {"text": TEXT} for doc in docs},
            }


def ok(*arguments: str | Path) -> Done:
    done = command(*arguments)
    assert done.status == 0, done.err
    return done


def as_json(*arguments: str | Path) -> Any:
    return json.loads(ok(*arguments, "--json").out)


@pytest.mark.parametrize("seed", range(4))
def test_commands_read_back_what_a_job_wrote(seed: int, tmp_path: Path) -> None:
    names = [name for name in NAMES if name == name.strip() and len(name) < 60]
    names = random.Random(seed).sample(names, len(names))
    names.remove("all")
    # Three runs: a correlation needs them. One of the names is always the hardest.
    runs, topics, docs = ["all", *names[:2]], ["all", names[2]], names[3:5]
    records = list(_records(runs, topics, docs))
    source, out = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    ok("--rag-responses", source, "--judge", "citation", "--out-dir", out, "--name", "x", "-q")
    job, boards = out / "x", [out / "x.leaderboard.txt"]
    result = trecjudge.judge(records, "citation")  # writes nothing
    wanted: Rows = {
        (s.run_id, s.topic_id, s.measure): round(s.value, 6)
        for s in result.scores
        if s.value is not None
    }
    wanted |= {(s.run_id, None, s.measure): round(s.mean or 0, 6) for s in result.statistics}
    before = {path: path.read_bytes() for path in out.iterdir() if "board" in path.name}
    ok("rescore", job, "-q")
    assert {path: path.read_bytes() for path in before} == before
    for layout in ("ir_measures", "csv", "jsonl", "trec_eval"):
        boards.append(tmp_path / layout)
        ok("convert", job, boards[-1], "--to", layout)
    for board in boards:
        files = sorted(board.iterdir()) if board.is_dir() else [board]
        found = read(*files)
        assert found == wanted, board
    for board in boards[1:]:
        assert as_json("gate", board, "--min", "CITATION_SUPPORT=0")["passed"]
        compared = as_json("compare", job, board)
        assert not [f for f in compared["findings"] if f["severity"] == "error"]
        assert {d["difference"] for d in compared["differences"]} == {0}
        found = as_json("meta-evaluate", job, "--truth", board, "--measure", "CITATION_SUPPORT")
        assert {f["kind"] for f in found["findings"]} <= {"scores_constant"}
    judged = {(j.run_id, j.topic_id, j.sentence_index, j.doc_id) for j in result.judgments()}
    for ending in ("jsonl", "csv", "tsv"):
        rows = tmp_path / f"rows.{ending}"
        ok("judgments", job, "--output", rows, "-q")
        agreed = as_json("agree", "--truth", rows, "--predicted", job)
        assert (agreed["items"], agreed["findings"]) == (len(judged), [])
    ok("--rag-responses", source, "--judgments-from", tmp_path / "rows.csv", "--judge", "citation",
       "--out-dir", out, "--name", "again", "-q")  # fmt: skip
    again = read(out / "again.leaderboard.txt")
    of_labels = {key for key in wanted if not key[-1].startswith("EXPECTED_")}
    assert {key: again[key] for key in of_labels} == {key: wanted[key] for key in of_labels}
    assert as_json("agree", "--truth", out / "x.qrels", "--predicted", job)["items"] == 12
    ok("judgments", job, f"--run={runs[1]}", f"--topic={topics[1]}", "-q", "--output", rows)
    assert len(rows.read_text()) > 100
    ok("report", job, "-q")


def test_a_table_that_cannot_hold_a_name_is_refused(tmp_path: Path) -> None:
    source, out = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_text("".join(map(json.dumps, _records(["a\r\nb"], ["t"], ["d", "e"]))))
    ok("--rag-responses", source, "--judge", "citation", "--out-dir", out, "-q")
    done = command("job", "judgments", out, "--output", tmp_path / "rows.csv")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "does not keep its line ends; give a .jsonl file" in done.err
    ok("judgments", out, "--output", tmp_path / "rows.jsonl")

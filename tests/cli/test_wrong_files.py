"""Every reader of every command with files of other kinds: few lines, no traceback, status 1."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, Done, command, sample

RAG = SAMPLES / "rag"
RUNS, TOPICS, DOCUMENTS = RAG / "runs", RAG / "topics.jsonl", RAG / "documents.jsonl"
MOST_LINES = 20
ROWS = range(60)


def rows(*records: Callable[[int], object]) -> str:
    """Return JSON lines: of every number one line of each kind of record."""
    return "".join(json.dumps(make(n)) + "\n" for n in ROWS for make in records)


def text(line: str) -> str:
    """Return lines with their number in the place of `{n}`."""
    return "".join(line.replace("{n}", str(n)) + "\n" for n in ROWS)


NOISE = random.Random(1).randbytes(20_000)
NUGGET = {"criterion": "States a fact", "weight": 3, "axis": "Explicit"}
WRONG: dict[str, str | bytes] = {
    "criteria.jsonl": rows(lambda n: {"qid": f"q{n}", "items": [NUGGET] * 20}),
    "nuggets_without_text.jsonl": rows(lambda n: {"qid": f"q{n}", "nuggets": [{"weight": 3}] * 20}),
    "array.json": json.dumps([{"city": f"c{n}", "tags": [1]} for n in ROWS]),
    "numbers.json": json.dumps(list(ROWS)),
    "object.json": json.dumps({f"k{n}": {"x": [n]} for n in ROWS}, indent=2),
    "table.csv": "name,age\n" + text('n{n},"old, {n}"'),
    "run.jsonl": (RUNS / "careful.jsonl").read_text() * 20,
    "trec.run": text("t{n} Q0 d{n} 1 0.5 tag"),
    "qrels.txt": text("t{n} 0 d{n} 1"),
    "leaderboard.txt": text("r{n}\tMEASURE\tt1\t0.5"),
    "labels.jsonl": rows(
        lambda n: {"topic_id": f"t{n}", "run_id": "r", "doc_id": "d", "label": "x"}
    ),
    "documents.jsonl": rows(lambda n: {"docid": f"d{n}", "text": "Some text."}),
    "log.jsonl": rows(lambda n: {"event": "FINDING", "timestamp": "2026", "n": n}),
    "mixed.jsonl": "".join(f'{{"a": {n}}}\n{{cut\n7\n[1]\n"x"\n' for n in ROWS),
    "notes.md": text("# Title {n}\n\nSome words, here.\n"),
    "code.py": text("def f{n}(x):\n    return x + {n}"),
    "binary.bin": NOISE,
    "binary.jsonl": NOISE,
    "nulls.jsonl": bytes(5000),
    "latin.jsonl": text('{"id": "t{n}", "text": "caf\xe9"}').encode("latin-1"),
}
LABELS = {"labels.jsonl"}
TABLES = {"documents.jsonl", "leaderboard.txt", "table.csv", "latin.jsonl", "criteria.jsonl"}
Reader = Callable[[Path, Path, Path], Iterable[str | Path]]
"""The arguments of a command with a file, a job's folder, and a folder to write to."""


def _judging(*more: str | Path) -> list[str | Path]:
    """Return the arguments of a job of the sample data."""
    given = {"--rag-responses": RUNS, "--rag-topics": TOPICS, "--documents": DOCUMENTS}
    given |= dict(zip(more[::2], more[1::2], strict=True))
    return [part for pair in given.items() for part in pair]


READERS: dict[str, tuple[Reader, set[str]]] = {
    "runs": (lambda f, j, o: _judging("--rag-responses", f, "--out-dir", o), {"run.jsonl"}),
    "topics": (lambda f, j, o: _judging("--rag-topics", f, "--out-dir", o), set()),
    "documents": (lambda f, j, o: _judging("--documents", f, "--out-dir", o), {"run.jsonl"}),
    "a bank": (
        lambda f, j, o: _judging("--nuggets", f, "--judge", "rubric", "--out-dir", o),
        set(),
    ),
    "qrels of a job": (
        lambda f, j, o: _judging("--qrels", f, "--judge", "grounding", "--out-dir", o),
        set(),
    ),
    "labels of people": (lambda f, j, o: _judging("--human", f, "--out-dir", o), LABELS),
    "judgments of others": (
        lambda f, j, o: _judging("--judgments-from", f, "--out-dir", o),
        LABELS,
    ),
    "a workflow": (lambda f, j, o: _judging("--workflow", f, "--out-dir", o), set()),
    "a calibration": (lambda f, j, o: _judging("--calibration", f, "--out-dir", o), set()),
    "runs to check": (lambda f, j, o: ["check", f, "--rag-topics", TOPICS], {"run.jsonl"}),
    "topics of a check": (lambda f, j, o: ["check", RUNS, "--rag-topics", f], set()),
    "a bank to check": (lambda f, j, o: ["check", "--nuggets", f], set()),
    "labels to compare with": (lambda f, j, o: ["agree", "--truth", f, "--predicted", j], set()),
    "labels to next": (lambda f, j, o: ["label-next", j, "--human", f], LABELS),
    "labels to rescore": (lambda f, j, o: ["rescore", j, "--human", f, "--out-dir", o], LABELS),
    "labels to fit": (
        lambda f, j, o: ["calibrate", "--labels", f, "--rag-responses", RUNS, "--out", o / "c"],
        set(),
    ),
    "a leaderboard": (lambda f, j, o: ["compare", j / "x.leaderboard.txt", f], set()),
    "a baseline": (
        lambda f, j, o: ["gate", j, "--baseline", f, "--max-drop", "0.05"],
        set(),
    ),
    "a truth": (lambda f, j, o: ["meta-evaluate", j, "--truth", f], set()),
    "runs of a report": (lambda f, j, o: ["report", j, "--rag-responses", f], {"run.jsonl"}),
    "topics of a report": (
        lambda f, j, o: ["report", j, "--rag-topics", f, "--rag-responses", RUNS],
        set(),
    ),
    "a job": (lambda f, j, o: ["show", f], set()),
    "pairs": (lambda f, j, o: ["pairs", f], set()),
    "verdicts": (
        lambda f, j, o: ["pairs", j.with_name("pairs"), "--against", f, "--output", o / "v"],
        set(),
    ),
    "a bank to convert": (
        lambda f, j, o: ["convert", f, o / "x.jsonl", "--to", "nuggetizer"],
        {"nuggets_without_text.jsonl"},
    ),
    "documents to index": (lambda f, j, o: ["index", f, "--to", o / "i.db"], TABLES),
    "topics to ask": (
        lambda f, j, o: ["nuggets", "create", o / "n.jsonl", "--rag-topics", f, "--documents", f],
        TABLES,
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a job in `job` and the wrong files in `wrong`."""
    made = tmp_path_factory.mktemp("made")
    assert sample("rag", made / "job").status == 0
    (made / "pairs").write_text('{"sentence": "It whistles.", "document": "A whistle."}')
    (made / "wrong").mkdir()
    for name, content in WRONG.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (made / "wrong" / name).write_bytes(raw)
    return made


@pytest.mark.parametrize(("reader", "readable"), READERS.values(), ids=READERS)
def test_a_wrong_file(reader: Reader, readable: set[str], folder: Path, tmp_path: Path) -> None:
    for name in WRONG:
        out = tmp_path / name
        out.mkdir()
        done = command(*reader(folder / "wrong" / name, folder / "job", out))
        assert _fault(done, name in readable) == "", name


def _fault(done: Done, may_be_read: bool) -> str:
    lines = done.err.splitlines()
    if len(lines) > MOST_LINES or "a bug" in done.err or "Traceback" in done.err:
        return done.err
    return "" if done.status == 1 or may_be_read else f"status {done.status}: {done.out}{done.err}"

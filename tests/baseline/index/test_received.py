"""Indexes that somebody sent: damaged ones, and ones that were made to harm."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.baseline.index.indexed import Letters, found, refreshed, source
from tests.baseline.index.mutations import ENDLESS, opened
from tests.commandline import SAMPLES, command
from trecjudge.baseline.index.index import make_index, open_index
from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.retrieve.retriever import IndexRetriever
from trecjudge.errors import InputError, TrecJudgeError
from trecjudge.inputs.documents.index_file import DocumentsOfIndex
from trecjudge.inputs.sources import databases

AGAIN = r"x\.index: is damaged: .*; index the documents again, into another file"
TAX = [source(f"d{n}", f"A tax number {n} is paid.", kind=str(n % 2)) for n in range(6)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.index"
    with closing(make_index(str(path))) as index:
        refreshed(index, TAX, embeds=Letters())
    return path


def changed(path: Path, *statements: str) -> None:
    with closing(opened(path)) as database:
        for statement in statements:
            database.execute(statement)


def searched(path: Path) -> None:
    with closing(open_index(str(path))) as index:
        asyncio.run(IndexRetriever(index).retrieve("tax number", 9))


def near(path: Path) -> None:
    with closing(open_index(str(path))) as index:
        index.by_vector([1, 0, 0], 9)


def narrowed(path: Path) -> None:
    with closing(open_index(str(path))) as index:
        found(index, "tax", only=Filter({"kind": ["1"]}))


def refilled(path: Path) -> None:
    with closing(make_index(str(path))) as index:
        refreshed(index, TAX[3:], embeds=Letters())


def judged(path: Path) -> None:
    documents = DocumentsOfIndex(path)
    for one in TAX:
        documents.get(one.document.doc_id)


STATE = "UPDATE state SET state = json_set(state, '$.{}', {})"
DAMAGE = {
    "an endless view": (
        ["DROP TABLE texts", f"CREATE VIEW texts AS {ENDLESS.format('x AS document, x AS text')}"],
        [searched, near, narrowed, refilled, judged],
    ),
    "a trigger": (
        ["CREATE TRIGGER t AFTER DELETE ON chunks BEGIN DELETE FROM texts; END"],
        [searched, refilled, judged],
    ),
    "one more table": (["CREATE TABLE more (x)"], [searched, judged]),
    "a billion chunks": (
        ["UPDATE documents SET first_chunk = 0, chunks = 1000000000"],
        [narrowed, refilled],
    ),
    "many numbers": ([STATE.format("next_document", "9000000000000000")], [searched, refilled]),
    "counts that agree with nothing": ([STATE.format("chunks", "7")], [searched, refilled]),
    "a state of text": ([STATE.format("documents", "'six'")], [searched, judged]),
    "no state": (["DELETE FROM state"], [searched, refilled, judged]),
    "two states": (["INSERT INTO state SELECT * FROM state"], [searched, refilled]),
    "fields of a document": (["UPDATE documents SET metadata = '{'"], [searched, judged]),
    "another text": (["UPDATE texts SET text = 'A tax number 9'"], [searched, judged]),
    "no texts": (["DELETE FROM texts"], [searched, judged]),
    "one document less": (["DELETE FROM documents WHERE number = 3"], [searched, judged]),
    "a chunk before its document": (["UPDATE chunks SET start = -3"], [searched]),
    "a chunk behind its document": (["UPDATE chunks SET end = 1 << 40"], [searched]),
    "chunks of others": (["UPDATE chunks SET document = (document + 1) % 6"], [searched]),
    "cut numbers": (["UPDATE segments SET lengths = x'010203'"], [searched, refilled]),
    "numbers as text": (["UPDATE segments SET chunks = 'text'"], [searched, refilled]),
    "many numbers gone": (["UPDATE segments SET gone = zeroblob(4000000)"], [searched, refilled]),
    "places beyond": (["UPDATE postings SET list = x'ffff01'"], [searched]),
    "places twice": (["UPDATE postings SET list = x'010001000101'"], [searched]),
    "counts of nothing": (["UPDATE postings SET list = x'010000'"], [searched]),
    "no terms": (["DELETE FROM postings"], [searched, refilled]),
    "vectors cut": (["UPDATE vectors SET vector = x'00'"], [near]),
    "no numbers": (["UPDATE vectors SET vector = x'0000c07f0000c07f0000c07f'"], [near]),
    "a vector less": (["DELETE FROM vectors WHERE chunk = 2"], [near]),
    "fields of nobody": (["UPDATE fields SET document = 99 WHERE document = 1"], [narrowed]),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_one_line(kind: str, path: Path) -> None:
    statements, uses = DAMAGE[kind]
    changed(path, *statements)
    for use in uses:
        with pytest.raises(TrecJudgeError, match=AGAIN) as error:
            use(path)
        assert "\n" not in str(error.value)


@pytest.mark.slow("trecjudge/baseline/index")
def test_damage_by_chance() -> None:
    """Every kind is tried by `python -m tests.baseline.index.mutations SEED 1000`."""
    words = [sys.executable, "-m", "tests.baseline.index.mutations", "11", "14"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def circle(path: Path) -> None:
    """Make the pages of the chunks lead to each other, over and over."""
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'postings'"
        (page,) = database.execute(query).fetchone()
    data = bytearray(path.read_bytes())
    leaf = bytes(data[4096 * (page - 1) :][:4096])
    # An inner page of an index has a key in each cell; forty cells that lead to one page.
    key = b"\x06\x04\x01\x0d\x0f\x01a"
    for level in range(12):
        below = page if level == 0 else len(data) // 4096
        child = below.to_bytes(4, "big")
        cells = (child + key) * 40
        start = 4096 - len(cells)
        places = b"".join((start + k * 11).to_bytes(2, "big") for k in range(40))
        head = b"\x02\0\0\0" + (40).to_bytes(1, "big") + start.to_bytes(2, "big") + b"\0" + child
        data += (head + places).ljust(start, b"\0") + cells
    data[28:32] = (len(data) // 4096).to_bytes(4, "big")
    last = bytes(data[-4096:])
    data += leaf
    data[4096 * (page - 1) : 4096 * page] = last
    path.write_bytes(data)


def test_pages_in_a_circle_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases.TimedConnection, "patience", 0.3)
    circle(path)
    for use in (searched, refilled):
        try:
            use(path)
        except InputError as error:
            assert "is damaged" in str(error)


def test_a_journal_that_names_a_file_deletes_none(path: Path) -> None:
    """SQLite takes what is behind a journal for another one, which it deletes in the end."""
    victim = path.with_name("victim")
    victim.write_text("kept")
    name = str(victim).encode()
    tail = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big")
    head = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(8) + b"\0\0\0\1\0\0\2\0\0\0\x10\0"
    journal = head.ljust(512, b"\0") + b"\x40\x00\x00\x00" + tail + databases.OF_SEVERAL
    path.with_name("x.index-journal").write_bytes(journal)
    for use in (searched, refilled, judged):
        with pytest.raises(InputError, match=r"x\.index-journal is a journal of several"):
            use(path)
    assert victim.read_text() == "kept"


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_a_pipe_is_not_waited_for(ending: str, path: Path) -> None:
    if not ending:
        path.unlink()
    os.mkfifo(f"{path}{ending}")
    for use in (searched, judged):
        with pytest.raises(InputError, match=r"a pipe, not a file|no ordinary file"):
            use(path)


USES: dict[str, Callable[[str, str], list[str]]] = {
    "search": lambda index, topics: ["search", index, "tax number"],
    "generate": lambda index, topics: [
        *("generate", "--index", index, "--rag-topics", topics, "--format", "rag25"),
    ],
    "judge": lambda index, topics: [
        *("--rag-responses", str(SAMPLES / "rag" / "runs"), "--documents", index),
    ],
    "index": lambda index, topics: [
        *("index", str(SAMPLES / "rag" / "documents.jsonl"), "--to", index),
    ],
}


@pytest.mark.parametrize("use", USES)
def test_commands_say_it_in_one_line(use: str, path: Path, tmp_path: Path) -> None:
    damage = "another text" if use == "judge" else "an endless view"
    changed(path, *DAMAGE[damage][0])
    if use == "judge":
        changed(
            path, "UPDATE documents SET id = 'msmarco_v2.1_doc_99_110002#3_210023' WHERE number = 1"
        )
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"id": "1", "title": "who paid the tax"}\n')
    out = [] if use in ("search", "index") else ["--out-dir", str(tmp_path / "o")]
    done = command(*USES[use](str(path), str(topics)), *out)
    assert done.status == 1
    assert "error: " in done.err
    assert (
        done.err.rstrip().splitlines()[-1].endswith("index the documents again, into another file")
    )
    assert "Traceback" not in done.err

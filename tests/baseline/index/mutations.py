"""Indexes damaged in every way, by a seed, and used: `python -m tests.baseline.index.mutations`."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.baseline.index.indexed import Letters, refreshed, source
from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index import postings
from trecjudge.baseline.index.index import make_index, open_index
from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.retrieve.retriever import IndexRetriever
from trecjudge.errors import TrecJudgeError
from trecjudge.inputs.documents.index_file import TABLES, DocumentsOfIndex

SECONDS = 10
MEMORY = 300 << 20
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {} FROM n"
REFUSED = re.compile(
    r"; (?:give that model, or )?index the documents again, into another file$"
    r"|is no index, but another|is of version -?\d+, and this|its words were made by"
    r"|holds no document|remove it$|is longer than|: cannot be used: "
)
UNSEEN = re.compile(
    r"chunks\.(start|end)|state\.state|no vectors|segments\.lengths|postings|vectors\.vector|zeros"
    r"|fields|page|documents\.(id|record)"
)
"""What may change what is found, since no value tells that it was another one."""
SOURCES = [
    source(
        f"d{n}",
        " ".join(
            f"Fact {n} {k}: the fox number {n * k} met abc dog {k}." for k in range(n % 7 + 1)
        ),
        f"Title {n}" if n % 3 else "",
        date=f"202{n % 5}-05-0{n % 8 + 1}",
        kind=str(n % 4),
    )
    for n in range(30)
]
Mutation = tuple[str, Callable[[Path], None]]
"""Its name, and what it does to a file."""


def made(path: Path) -> None:
    """Make an index of several segments, of which some chunks went."""
    postings.MOST_CHUNKS = 16
    with closing(make_index(str(path), ChunkSettings(20, 5))) as index:
        refreshed(index, SOURCES, embeds=Letters())
        refreshed(index, SOURCES[:20] + SOURCES[22:], embeds=Letters())


def searched(path: Path) -> Any:
    """Return what is found by words, by vectors and narrowed."""
    with closing(open_index(str(path))) as index:
        retriever = IndexRetriever(index)
        found = [asyncio.run(retriever.retrieve(q, 50)) for q in ("fox number 12", "title dog")]
        near = index.by_vector([1, 1, 0], 9)
        held = index.chunks([number for number, _ in near])
        only = index.by_words({"fox": 1.0}, 9, Filter({"kind": ["1"]}, since="2021"))
        return repr((found, near, held, only, index.chunks([n for n, _ in only])))


def judged(path: Path) -> Any:
    """Return the documents that a judge reads."""
    documents = DocumentsOfIndex(path)
    return repr([documents.get(one.document.doc_id) for one in SOURCES])


def generated(path: Path) -> Any:
    """Return whole documents, as answers and their provenance need them."""
    with closing(open_index(str(path))) as index:
        return repr([index.document(one.document.doc_id) for one in SOURCES[:9]])


def refreshed_(path: Path) -> Any:
    """Return what a refresh did, and what is found then."""
    with closing(make_index(str(path))) as index:
        changes = refreshed(index, [*SOURCES[3:], source("new", "A new fox.")], embeds=Letters())
    return changes, searched(path)


USES = {"search": searched, "judge": judged, "generate": generated, "refresh": refreshed_}


def mutations(path: Path, draw: random.Random) -> Iterator[Mutation]:
    """Yield all mutations of an index, in the order of the draw."""
    with closing(sqlite3.connect(path)) as database:
        tables = {
            name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    found: list[Mutation] = []
    for table, columns in tables.items():
        for column in columns:
            for name, change in VALUES.items():
                found.append(_value(table, column, name, change, draw.random()))
        for name, statements in ROWS.items():
            found.append(_sql(f"{table} {name}", [s.format(t=table) for s in statements]))
        for name, statements in _instead(table, columns).items():
            found.append(_sql(f"{table} {name}", statements))
    for name, statement in WHOLE.items():
        found.append(_sql(name, [statement]))
    size = path.stat().st_size
    for k in range(120):
        found.append(_bytes(f"page {k}", draw.randrange(1 << 30), size))
    for k in range(20):
        found.append((f"page cut {k}", _cut(draw.randrange(size))))
    draw.shuffle(found)
    yield from found


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1") or "x"
    return (value if isinstance(value, str) else str(value)).encode() or b"x"


def _flipped(value: Any) -> Any:
    if isinstance(value, int):
        return value ^ 4
    data = bytearray(value if isinstance(value, bytes) else value.encode())
    if not data:
        return b"\x01" if isinstance(value, bytes) else "x"
    data[len(data) // 2] ^= 1
    return bytes(data) if isinstance(value, bytes) else data.decode("latin-1")


VALUES: dict[str, Callable[[Any], Any]] = {
    "null": lambda value: None,
    "other type": _other,
    "negative": lambda value: -5,
    "huge": lambda value: 2**62,
    "billion": lambda value: 10**9,
    "float": lambda value: 1.5,
    "empty": lambda value: b"" if isinstance(value, bytes) else "",
    "cut": lambda value: value[:-1] if isinstance(value, bytes | str) else value // 3,
    "flipped": _flipped,
    "doubled": lambda value: value + value,
    "long": lambda value: b"\xff" * (12 << 20) if isinstance(value, bytes) else "[" * (12 << 20),
    "brackets": lambda value: "[" * 5000,
    "json": lambda value: '{"a": [1, {"b": null}]}',
    "not utf-8": lambda value: "\udcff",
}
ROWS = {
    "emptied": ["DELETE FROM {t}"],
    "one row gone": ["DELETE FROM {t} WHERE rowid = (SELECT max(rowid) FROM {t})"],
    "first row gone": ["DELETE FROM {t} WHERE rowid = (SELECT min(rowid) FROM {t})"],
    "rows moved": ["UPDATE OR IGNORE {t} SET rowid = rowid + 1000000"],
    "dropped": ["DROP TABLE {t}"],
    "trigger": ["CREATE TRIGGER tr AFTER INSERT ON documents BEGIN DELETE FROM {t}; END"],
    "index": ["CREATE INDEX more ON {t} (1)"],
    "renamed": ["ALTER TABLE {t} RENAME TO other"],
    "column": ["ALTER TABLE {t} ADD COLUMN more TEXT"],
    "computed": ["ALTER TABLE {t} ADD COLUMN more AS (1)"],
}
WHOLE = {
    "application": "PRAGMA application_id = 7",
    "version": "PRAGMA user_version = -3",
    "fts": "CREATE VIRTUAL TABLE more USING fts5(x)",
    "analysed": "ANALYZE",
    "encoding of journal": "PRAGMA journal_mode = DELETE",
    "more states": "INSERT INTO state SELECT state FROM state",
    "segment of all": "UPDATE segments SET chunks = zeroblob(20000000) WHERE number < 3",
    "gone of all": "UPDATE segments SET gone = zeroblob(20000000) WHERE number < 3",
    "many chunks": "UPDATE documents SET first_chunk = 0, chunks = 1000000000",
    "counted": (
        "UPDATE state SET state = json_set(state, '$.next_document', 4000000000,"
        " '$.next_chunk', 4000000000, '$.chunks', 3000000000)"
    ),
    "dimensions": "UPDATE state SET state = json_set(state, '$.vectors.dimensions', 1)",
    "no vectors": "UPDATE state SET state = json_set(state, '$.vectors', json('null'))",
    "zeros": "UPDATE vectors SET vector = zeroblob(12)",
    "nan": "UPDATE vectors SET vector = x'0000c07f0000c07f0000c07f'",
}


def _instead(table: str, columns: list[str]) -> dict[str, list[str]]:
    named = ", ".join(columns)
    values = ", ".join(f"x AS {column}" for column in columns)
    view = f"CREATE VIEW {table} AS {ENDLESS.format(values)}"
    copy = f"CREATE VIEW {table} AS SELECT {named} FROM kept"
    return {
        "endless": [f"DROP TABLE {table}", view],
        "view": [f"ALTER TABLE {table} RENAME TO kept", copy],
        "virtual": [f"DROP TABLE {table}", f"CREATE VIRTUAL TABLE {table} USING fts5({named})"],
    }


def opened(path: Path) -> sqlite3.Connection:
    """Return a connection that may lose all where the machine stops."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    return database


def _sql(name: str, statements: list[str]) -> Mutation:
    def change(path: Path) -> None:
        with closing(opened(path)) as database:
            for statement in statements:
                database.execute(statement)

    return name, change


def _value(
    table: str, column: str, name: str, changed: Callable[[Any], Any], where: float
) -> Mutation:
    def change(path: Path) -> None:
        bare = {t: _bare(t) for t in TABLES}
        with closing(opened(path)) as database:
            _schema(database, bare)
        with closing(opened(path)) as database:
            database.text_factory = lambda data: data.decode(errors="surrogateescape")
            key = "name, value, document" if table == "fields" else "segment, term"
            key = key if table in ("fields", "postings") else "rowid"
            rows = database.execute(f"SELECT {column}, {key} FROM {table}").fetchall()
            value, *keys = rows[int(where * len(rows))]
            there = " AND ".join(f"{k} IS ?" for k in key.split(", "))
            new = changed(value)
            if isinstance(new, str) and "\udcff" in new:
                new = sqlite3.Binary(b"a\xff")
                database.execute(
                    f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {there}", (new, *keys)
                )
            else:
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {there}", (new, *keys))
        with closing(opened(path)) as database:
            _schema(database, {b: t for t, b in bare.items()})

    return f"{table}.{column} {name}", change


def _bare(table: str) -> str:
    """Return a table without what keeps wrong values out of it."""
    return re.sub(r" (?:TEXT|BLOB|INTEGER)(?! PRIMARY)| NOT NULL", "", table)


def _schema(database: sqlite3.Connection, new: dict[str, str]) -> None:
    database.execute("PRAGMA writable_schema = ON")
    for before, after in new.items():
        database.execute("UPDATE sqlite_master SET sql = ? WHERE sql = ?", (after, before))
    database.execute("PRAGMA writable_schema = OFF")


def _bytes(name: str, seed: int, size: int) -> Mutation:
    def change(path: Path) -> None:
        draw, pages = random.Random(seed), size // 4096
        data = bytearray(path.read_bytes())
        one, other = (draw.randrange(pages) * 4096 for _ in range(2))
        match seed % 6:
            case 0:  # a bit
                data[draw.randrange(size)] ^= 1 << draw.randrange(8)
            case 1:  # the head of a page, where its cells and its child are
                data[one + draw.randrange(12) + (100 if one == 0 else 0)] = draw.randrange(256)
            case 2:  # a page in place of another
                data[max(one, 4096) : max(one, 4096) + 4096] = data[max(other, 4096) :][:4096]
            case 3:  # noise
                data[max(one, 100) : max(one, 100) + 64] = draw.randbytes(64)
            case 4:  # the header: sizes, counts, versions
                data[draw.randrange(16, 100)] = draw.randrange(256)
            case 5:  # an inner page that leads to itself, over and over
                page = max(one, 4096)
                cells = b"".join((page // 4096 + 1).to_bytes(4, "big") + b"\x7f" for _ in range(50))
                head = b"\x05\x00\x00\x00\x32" + (4096 - 250).to_bytes(2, "big") + b"\x00"
                places = b"".join((4096 - 250 + 5 * k).to_bytes(2, "big") for k in range(50))
                head += (page // 4096 + 1).to_bytes(4, "big") + places
                data[page : page + 4096] = head.ljust(4096 - 250, b"\0") + cells
        path.write_bytes(data[:size])

    return f"{name}.{seed % 6}", change


def _cut(size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, size)


def outcome(path: Path, use: Callable[[Path], Any]) -> tuple[str, str]:
    """Return (ending, text) of a use."""
    try:
        return "found", repr(use(path))
    except TrecJudgeError as error:
        return "refused", str(error)
    except BaseException:
        return "bug", traceback.format_exc()


def apart(path: Path, use: Callable[[Path], Any]) -> tuple[str, str]:
    """Return the outcome of a use in a process of its own, with little time and memory."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        signal.alarm(SECONDS)
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, -1))
        found = outcome(path, use)
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        with os.fdopen(write, "w") as file:
            json.dump(found, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    ending, said = json.loads(text) if text else ("killed", str(status))
    return ending, said


def faults(seed: int, most: int, run: Any = outcome) -> Iterator[str]:
    """Yield a line for each damaged index that does not end as it must."""
    with TemporaryDirectory() as name:
        good, folder = Path(name) / "good", Path(name)
        made(good)
        sound = {use: run(_copied(good, folder), action) for use, action in USES.items()}
        assert {ending for ending, _ in sound.values()} == {"found"}, sound
        for mutation, change in [*mutations(good, random.Random(seed))][:most]:
            path = _copied(good, folder)
            try:
                change(path)
            except (sqlite3.Error, TypeError, AttributeError):
                continue  # such a value cannot be written
            damaged = path.read_bytes()
            for use, action in USES.items():
                path = _copied(good, folder)
                path.write_bytes(damaged)
                ending, text = run(path, action)
                path.unlink()
                if ending == "refused" and REFUSED.search(text) and "\n" not in text:
                    COUNTS["refused"] += 1
                elif ending == "found" and text == sound[use][1]:
                    COUNTS["same"] += 1
                elif ending in ("found", "refused") and UNSEEN.search(mutation):
                    COUNTS["unseen"] += 1
                else:
                    yield f"{mutation} | {use} | {ending} | {text[-1000:]}"


COUNTS: Counter[str] = Counter()
NUMBERS = count()


def _copied(good: Path, folder: Path) -> Path:
    """Return a copy of a name of its own: a file may still be open."""
    path = folder / f"{next(NUMBERS)}" / "x.index"
    path.parent.mkdir()
    return Path(shutil.copy(good, path))


if __name__ == "__main__":
    SEED, MOST = map(int, sys.argv[1:3])
    for line in faults(SEED, MOST, apart if MOST > 100 else outcome):
        print(line)
    print(dict(COUNTS), file=sys.stderr)

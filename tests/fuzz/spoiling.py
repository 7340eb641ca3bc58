"""Ways to spoil a file that keep most of its structure, so that readers get deep into it."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import yaml
import zstandard

Spoil = Callable[[bytes, random.Random], bytes]
ODD_TEXTS = (
    *("", " ", "all", "amean", "nan", "null", "-", "#", "0", "007", "1e999", "../../x", "=1+1"),
    *("a\tb", "a\nb", "a\r\nb", "\x00", "\x1b[31m", "\u00ad", "\u200b", "\u202e", "\ufeff"),
    *("\ud800", "e\u0301", "'\"\\", "<script>alert(1)</script>", "</document>", "<|im_end|>"),
    *("[1][2][99]", "{{x}}", "${HOME}", "!!python/object:x", "/dev/zero", "/", "-q", "--help"),
    *("postgresql://u:p@127.0.0.1:1/x", "http://127.0.0.1:1", "\U0001f600" * 50),
    *("x" * 100_000, "(" * 5_000, "a " * 50_000, "\n" * 10_000),
)
WHOLE_NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**400)
FRACTIONS = (0.5, -0.0, 1e308, math.nan, math.inf)
EMPTY = (None, True, False, [], {}, [[]], [None], {"": None}, [{}], {"text": []})
ODD = (*ODD_TEXTS, *WHOLE_NUMBERS, *FRACTIONS, *EMPTY)


def spoil(path: Path, dice: random.Random) -> str:
    """Spoil a file, or one in a folder; return how."""
    if path.is_dir():
        path = dice.choice(sorted(p for p in path.rglob("*") if p.is_file()))
    if dice.random() < 0.06:
        name = dice.choice(list(WHOLE))
        WHOLE[name](path)
        return f"{path.name}: {name}"
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3") and dice.random() < 0.7:
        return f"{path.name}: {_spoil_tables(path, dice)}"
    done = []
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        name, data = _spoiled(data, dice)
        done.append(name)
    path.unlink()
    path.write_bytes(data)
    return f"{path.name}: {', '.join(done)}"


def _spoiled(data: bytes, dice: random.Random) -> tuple[str, bytes]:
    for magic, unpack, pack in PACKINGS:
        if data.startswith(magic) and dice.random() < 0.8:
            with suppress(OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError):
                name, inner = _spoiled(unpack(data), dice)
                return f"packed {name}", pack(inner)
    ways = dict(BYTES)
    if _is_text(data):
        ways |= LINES
    if data[:1] in (b"{", b"["):
        ways |= JSON_WAYS
        if dice.random() < 0.7:
            ways = JSON_WAYS
    elif _is_text(data):
        ways |= {"yaml": _yaml, "cell": _cell}
        if dice.random() < 0.5:
            ways = {"cell": _cell, "yaml": _yaml}
    name = dice.choice(sorted(ways))
    with suppress(ValueError, RecursionError, IndexError, TypeError, yaml.YAMLError, UnicodeError):
        return name, ways[name](data, dice)
    return "flip", _flip(data, dice)


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:4096]


def _unzstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


PACKINGS: tuple[tuple[bytes, Callable[[bytes], bytes], Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress, gzip.compress),
    (b"\x28\xb5\x2f\xfd", _unzstd, zstandard.ZstdCompressor().compress),
)


def _flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(dice.choice((1, 1, 8, 64))):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _hole(data: bytes, dice: random.Random) -> bytes:
    begin = dice.randrange(len(data) + 1)
    return data[:begin] + data[begin + dice.choice((1, 10, 1000)) :]


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(PIECES) + data[at:]


def _twice(data: bytes, dice: random.Random) -> bytes:
    return data + data


def _emptied(data: bytes, dice: random.Random) -> bytes:
    return b""


def _recoded(data: bytes, dice: random.Random) -> bytes:
    coding = dice.choice(
        ("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7", "utf-8-sig", "cp037")
    )
    return data.decode(errors="replace").encode(coding, errors="replace")


PIECES = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\x1a", b"\xe2\x80\xa8", b"\xed\xa0\x80"),
    *(b"\t", b",", b'"', b"]", b"}", b"\\", b"\\ud800", b"<DOC>", b"</DOC>", b"&#0;"),
    *(b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"PAR1", b"[" * 3_000, b"{" * 3_000, b"1" * 6_000),
    *(b"\n" * 4_000_000, b" " * 4_000_000, b"\n \r\n" * 200_000, b"[[],[]," * 30_000),
)
BYTES: dict[str, Spoil] = {
    "flip": _flip,
    "cut": _cut,
    "hole": _hole,
    "insert": _insert,
    "twice": _twice,
    "emptied": _emptied,
    "recoded": _recoded,
}


def _lines_moved(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    dice.shuffle(lines)
    return b"\n".join(lines)


def _line_repeated(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    return b"\n".join([*lines[:at], *[lines[at]] * dice.choice((2, 3, 500)), *lines[at + 1 :]])


def _line_gone(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[dice.randrange(len(lines))]
    return b"\n".join(lines)


def _one_line(data: bytes, dice: random.Random) -> bytes:
    return data.replace(b"\n", dice.choice((b"", b" ", b",", b"\r")))


LINES: dict[str, Spoil] = {
    "lines moved": _lines_moved,
    "line repeated": _line_repeated,
    "line gone": _line_gone,
    "one line": _one_line,
}


def _json_value(data: bytes, dice: random.Random) -> bytes:
    """Change one value, key or entry of one record."""
    lines = data.split(b"\n")
    try:
        whole = [json.loads(data)]
        changed = [_changed(whole[0], dice)]
        return json.dumps(changed[0], indent=dice.choice((None, 1))).encode()
    except ValueError:
        at = dice.choice([n for n, line in enumerate(lines) if line.strip()])
        lines[at] = json.dumps(_changed(json.loads(lines[at]), dice)).encode()
        return b"\n".join(lines)


def _json_array(data: bytes, dice: random.Random) -> bytes:
    values = [json.loads(line) for line in data.splitlines() if line.strip()]
    return json.dumps(values, indent=dice.choice((None, 2))).encode()


def _json_deep(data: bytes, dice: random.Random) -> bytes:
    depth = dice.choice((150, 250, 5_000))
    return data + b"\n" + b'{"a":' * depth + b"1" + b"}" * depth


JSON_WAYS: dict[str, Spoil] = {
    "value": _json_value,
    "values": lambda data, dice: _json_value(_json_value(data, dice), dice),
    "array": _json_array,
    "deep": _json_deep,
}


def _changed(value: Any, dice: random.Random) -> Any:
    """Return a JSON value with one change at a random depth."""
    if isinstance(value, dict) and value:
        key = dice.choice(list(value))
        match dice.randrange(12):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {dice.choice(ODD_TEXTS) if k == key else k: v for k, v in value.items()}
            case 2:
                return {**value, dice.choice((*ODD_TEXTS, key.upper(), f"{key}s")): value[key]}
            case 3:
                other = dice.choice(list(value))
                return {**value, key: value[other], other: value[key]}
        return {**value, key: _changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        at = dice.randrange(len(value))
        match dice.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value * dice.choice((2, 100))
            case 2:
                return dict(enumerate(value))
            case 3:
                return [*value, dice.choice(ODD)]
        return [*value[:at], _changed(value[at], dice), *value[at + 1 :]]
    if isinstance(value, str) and dice.random() < 0.4:
        odd = dice.choice(ODD_TEXTS)
        return dice.choice((value + odd, odd + value, value.replace(" ", odd, 3), value[:3]))
    return dice.choice(ODD)


def _yaml(data: bytes, dice: random.Random) -> bytes:
    made = yaml.safe_load(data)
    return yaml.safe_dump(_changed(made, dice), allow_unicode=True).encode(errors="replace")


def _cell(data: bytes, dice: random.Random) -> bytes:
    """Change one cell of a table, whatever separates its cells."""
    cells = re.split(rb"([\t,; \n])", data)
    at = 2 * dice.randrange((len(cells) + 1) // 2)
    odd = str(dice.choice((*ODD_TEXTS, *map(repr, (*FRACTIONS, *WHOLE_NUMBERS))))).encode(
        errors="surrogatepass"
    )
    cells[at] = dice.choice((odd, cells[at] + odd, b'"' + cells[at], b""))
    return b"".join(cells)


def _spoil_tables(path: Path, dice: random.Random) -> str:
    """Change what a SQLite file holds, by SQL."""
    for beside in path.parent.glob(f"{path.name}-*"):
        beside.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        names = [
            n for (n,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        table = dice.choice(sorted(names))
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        column = dice.choice(columns)
        one = f'rowid = (SELECT rowid FROM "{table}" LIMIT 1 OFFSET {dice.randrange(5)})'
        statement = dice.choice(
            (
                f'UPDATE "{table}" SET "{column}" = ? WHERE {one}',
                f'UPDATE "{table}" SET "{column}" = ?',
                f'UPDATE "{table}" SET "{column}" = substr("{column}", 1, length("{column}") / 2)',
                f'UPDATE "{table}" SET "{column}" = zeroblob(100000) WHERE {one}',
                f'DELETE FROM "{table}" WHERE {one}',
                f'DELETE FROM "{table}"',
                f'DROP TABLE "{table}"',
                f'ALTER TABLE "{table}" RENAME TO other_table',
                f'ALTER TABLE "{table}" ADD COLUMN more TEXT',
                f'CREATE VIEW more AS SELECT * FROM "{table}"',
                ENDLESS.format(table=table, columns=", ".join(f'1 AS "{c}"' for c in columns)),
                f"PRAGMA user_version = {dice.randrange(99)}",
                f"PRAGMA application_id = {dice.randrange(99)}",
            )
        )
        value = dice.choice((None, -1, 2**62, 0.5, "x", "", b"", b"\xff" * 99, "[]", "\u202e"))
        with suppress(sqlite3.Error):
            for part in statement.split(";"):
                database.execute(part, (value,) if "?" in part else ())
    return statement


ENDLESS = (
    'DROP TABLE "{table}"; CREATE VIEW "{table}" AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL'
    " SELECT i + 1 FROM n) SELECT {columns} FROM n"
)


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def _unreadable(path: Path) -> None:
    shutil.copy(__file__, path)


WHOLE: dict[str, Callable[[Path], None]] = {
    "a folder": _as_folder,
    "a pipe": _as_pipe,
    "a link to itself": lambda path: _as_link(path, path.name),
    "a link to nowhere": lambda path: _as_link(path, "nowhere"),
    "an endless device": lambda path: _as_link(path, "/dev/zero"),
    "a terminal": lambda path: _as_link(path, "/dev/tty"),
    "gone": Path.unlink,
    "another kind": _unreadable,
}

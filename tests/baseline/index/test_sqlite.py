"""The index in one SQLite file: refreshed, searched, narrowed, killed, opened by others."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.baseline.index.indexed import ALL, DOG, FOX, found, refreshed, source
from trecjudge.baseline.index import sqlite
from trecjudge.baseline.index.index import Index, make_index, open_index
from trecjudge.baseline.index.records import Changes
from trecjudge.errors import InputError, OutputError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.index"


@pytest.fixture
def index(path: Path) -> Iterator[Index]:
    made = make_index(str(path))
    assert refreshed(made, ALL) == Changes(added=3, chunks=3)
    yield made
    made.close()


def test_nothing_new_writes_nothing(index: Index, path: Path) -> None:
    before = path.read_bytes()
    assert refreshed(index, reversed(ALL)) == Changes(kept=3)
    assert path.read_bytes() == before


KILLED = """
import asyncio, os, signal, sys
from tests.baseline.index.indexed import source
from trecjudge.baseline.index import postings
from trecjudge.baseline.index.index import make_index

postings.MOST_CHUNKS = 50
def sources():
    for n in range(600):
        if n == 400:
            os.kill(os.getpid(), signal.SIGKILL)
        yield source(f"new{n}", f"cats meow {n} " * 100)

index = make_index(sys.argv[1])
asyncio.run(index.refresh(sources()))
"""


def test_a_kill_leaves_what_was_there(index: Index, path: Path) -> None:
    before = index.facts
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=Path.cwd(), check=False)
    assert done.returncode == -signal.SIGKILL
    for seen in (index, open_index(str(path))):
        assert seen.facts == before
        assert (found(seen, "fox"), found(seen, "meow")) == (["fox", "dog"], [])
    changes = refreshed(index, [FOX, source("cat", "Cats meow.")])
    assert changes == Changes(added=1, removed=2, kept=1, chunks=1)
    assert found(index, "meow") == ["cat"]


def test_a_killed_first_refresh_leaves_an_index_to_be_filled(path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=Path.cwd(), check=False)
    with pytest.raises(InputError, match=r"x\.index: holds no document: .*; run `rag index` again"):
        open_index(str(path))
    index = make_index(str(path))
    assert refreshed(index, [FOX]) == Changes(added=1, chunks=1)
    index.close()


def test_a_second_refresh_at_once_is_told(
    index: Index, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    other = open_index(str(path))

    def meanwhile() -> Iterator[object]:
        yield FOX
        with ThreadPoolExecutor(1) as threads, pytest.raises(OutputError, match="another refresh"):
            threads.submit(refreshed, other, [DOG]).result()

    refreshed(index, meanwhile())  # type: ignore[arg-type]
    assert other.facts.documents == 1
    other.close()


def test_one_file_is_left(index: Index, path: Path) -> None:
    index.close()
    assert [file.name for file in path.parent.iterdir()] == ["x.index"]


NOBODY = 65534
SEARCHING = f"""
import os, sys
from trecjudge.baseline.index.index import open_index

if os.getuid() == 0:  # it may write anywhere
    os.setuid({NOBODY})
index = open_index(sys.argv[1])
print(len(index.by_words({{"fox": 1.0}}, 9)), index.facts.documents)
"""


def test_it_can_be_searched_where_nothing_may_be_written(index: Index, path: Path) -> None:
    index.close()
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy = Path(shutil.copy(path, folder))
        copy.chmod(0o444)
        folder.chmod(0o555)
        words = [sys.executable, "-c", SEARCHING, str(copy)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("2 3\n", "")
        assert [file.name for file in folder.iterdir()] == ["x.index"]
        folder.chmod(0o755)


def test_a_file_of_another_kind_is_never_overwritten(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("A text.")
    database = tmp_path / "other.sqlite"
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    for path, message in ((text, "another file"), (database, "another database")):
        before = path.read_bytes()
        with pytest.raises(InputError, match=message):
            make_index(str(path))
        with pytest.raises(InputError, match=message):
            open_index(str(path))
        assert path.read_bytes() == before
    with pytest.raises(InputError, match="it is a folder"):
        open_index(str(tmp_path))


def test_what_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no such index; make one: run_judge\.py rag index DOCUMENTS"
    ):
        open_index(str(tmp_path / "none"))
    with pytest.raises(OutputError, match="there is no such folder"):
        make_index(str(tmp_path / "none" / "x"))


def test_a_damaged_file_is_one_line(index: Index, path: Path) -> None:
    index.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(InputError, match=r"x\.index: is damaged: .*; index the documents again"):
        refreshed(open_index(str(path)), ALL)


@pytest.mark.parametrize("text", [b"CREATE TABLE chunks", b"postings", b"segments"])
def test_a_spoiled_schema_is_one_line(text: bytes, index: Index, path: Path) -> None:
    index.close()
    whole = path.read_bytes()
    at = whole.index(text) + len(text) // 2
    path.write_bytes(whole[:at] + b"\xc4" + whole[at + 1 :])
    with pytest.raises(InputError, match=r"x\.index: is damaged: .*; index the documents again"):
        refreshed(open_index(str(path)), ALL)


def test_an_index_of_another_analyser_or_version_is_refused(index: Index, path: Path) -> None:
    index.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE state SET state = replace(state, 'forms-', 'words-')")
    database.close()
    with pytest.raises(InputError, match="its words were made by 'words-1'"):
        open_index(str(path))
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(InputError, match="is of version 9, and this program reads 1"):
        open_index(str(path))

"""Caches of others: nothing in them is believed, and nothing in them holds a job up."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.models.cache.test_replies import HERE, filled, held
from trecjudge.errors import InputError, TrecJudgeError
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import CachedReply, ReplyCache
from trecjudge.models.cache.upkeep import holdings, import_from, prune


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return filled(tmp_path / "theirs", 3)


def altered(folder: Path, script: str) -> Path:
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.executescript(script)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


BAD = {
    "text in prompt_tokens": ("prompt_tokens = 'many'", "prompt_tokens is text, not an integer"),
    "a float": ("completion_tokens = 1.5", "completion_tokens is a float, not an integer"),
    "a negative number": ("prompt_tokens = -1", "prompt_tokens is out of range"),
    "a huge number": ("prompt_tokens = 9223372036854775807", "prompt_tokens is out of range"),
    "a BLOB reply": ("reply = x'00ff'", "reply is a BLOB, not text"),
    "no UTF-8": ("reply = CAST(x'ff41' AS TEXT)", "reply is a BLOB, not text"),
    "a number for an endpoint": ("endpoint = x'01'", "endpoint is a BLOB, not text"),
    "a time before all": ("written = -5", "written is out of range"),
    "another reply": ("reply = 'no'", "the checksum is wrong"),
}


@pytest.mark.parametrize(("change", "fault"), BAD.values(), ids=BAD.keys())
def test_a_bad_row_is_skipped_and_counted(
    change: str, fault: str, theirs: Path, tmp_path: Path
) -> None:
    altered(theirs, f"UPDATE replies SET {change} WHERE key != 'k1'")
    notices: list[str] = []
    with closing(ReplyCache(tmp_path / "own", notices.append, [theirs])) as cache:
        assert [cache.get(f"k{n}") is not None for n in range(3)] == [False, True, False]
        assert cache.measure_lengths(HERE.model) == {}
    assert notices == [f"{theirs / FILE}: 2 replies are skipped: {fault}; see `cache verify`"]
    assert import_from(tmp_path / "new", theirs, notices.append) == 1
    assert notices[1:] == notices[:1]


def test_no_value_where_one_must_be(theirs: Path, tmp_path: Path) -> None:
    columns = "key TEXT PRIMARY KEY, reply, prompt_tokens, completion_tokens, endpoint, model"
    script = f"DROP TABLE replies; CREATE TABLE replies ({columns}, written) WITHOUT ROWID;"
    altered(theirs, f"{script} INSERT INTO replies (key) VALUES ('k0');")
    with closing(ReplyCache(tmp_path / "own", behind=[theirs])) as cache:
        assert cache.get("k0") is None
    assert import_from(tmp_path / "new", theirs) == 0


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
ROW = "key, reply, prompt_tokens, completion_tokens, endpoint, model, written"
REFUSED = {
    "a view": (
        "DROP TABLE replies; CREATE VIEW replies AS SELECT i AS key, '' AS reply,"
        " 0 AS prompt_tokens, 0 AS completion_tokens, '' AS endpoint, '' AS model, 0 AS written"
        f" FROM ({ENDLESS})",
        "'replies' is a view",
    ),
    "a view of abilities": (
        f"DROP TABLE abilities; CREATE VIEW abilities (endpoint) AS {ENDLESS}",
        "'abilities' is a view",
    ),
    "a virtual table": (
        f"DROP TABLE replies; CREATE VIRTUAL TABLE replies USING fts5({ROW})",
        "'replies' is a virtual table",
    ),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON replies BEGIN DELETE FROM replies; END",
        "has a trigger 't'",
    ),
    "a computed column": (
        "ALTER TABLE replies ADD COLUMN more AS (length(zeroblob(1000000)))",
        "has a computed column",
    ),
    "a column less": ("ALTER TABLE replies DROP COLUMN written", "has no column 'written'"),
    "no key": (
        "CREATE TABLE r AS SELECT * FROM replies; DROP TABLE replies;"
        " ALTER TABLE r RENAME TO replies",
        "has another primary key than 'key'",
    ),
    "no table": ("DROP TABLE replies; VACUUM", "its table 'replies' is missing"),
    "a newer version": ("PRAGMA user_version = 99", "a cache of version 99, written by a newer"),
}


@pytest.mark.parametrize(("script", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_ordinary_table_is_refused(
    script: str, message: str, theirs: Path, tmp_path: Path
) -> None:
    altered(theirs, script)
    with pytest.raises(InputError, match=message):
        ReplyCache(tmp_path / "own", behind=[theirs])
    with pytest.raises(InputError, match=message):
        import_from(tmp_path / "new", theirs)
    assert not (tmp_path / "own").exists()


def test_further_tables_do_no_harm(theirs: Path, tmp_path: Path) -> None:
    altered(theirs, f"CREATE TABLE more (x); CREATE VIEW endless AS {ENDLESS}")
    assert import_from(tmp_path / "own", theirs) == 3


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_pipe_holds_nobody_up(suffix: str, theirs: Path, tmp_path: Path) -> None:
    (theirs / f"{FILE}{suffix}").unlink(missing_ok=True)
    os.mkfifo(theirs / f"{FILE}{suffix}")
    with pytest.raises(InputError, match="is no ordinary file"):
        ReplyCache(tmp_path / "own", behind=[theirs])


def test_a_link_is_followed_and_one_to_nothing_named(theirs: Path, tmp_path: Path) -> None:
    for name, target in (("good", theirs / FILE), ("bad", tmp_path / "nothing")):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).symlink_to(target)
    assert import_from(tmp_path / "own", tmp_path / "good") == 3
    with pytest.raises(InputError, match="is no cache that can be read"):
        import_from(tmp_path / "own", tmp_path / "bad")


def test_what_a_newer_version_wrote_is_left_as_it_is(tmp_path: Path) -> None:
    script = "INSERT INTO versions VALUES (99, '7.1'); PRAGMA user_version = 99"
    folder = altered(filled(tmp_path / "new"), script)
    before = (folder / FILE).read_bytes()
    for use in (
        lambda: ReplyCache(folder),
        lambda: ReplyCache(folder, writes=False),
        lambda: holdings(folder),
        lambda: prune(folder, "m"),
        lambda: import_from(folder, filled(tmp_path / "other")),
    ):
        with pytest.raises(
            TrecJudgeError, match=r"version 99, written by trecjudge 7\.1; .*update"
        ):
            use()
    assert (folder / FILE).read_bytes() == before


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("CREATE TABLE photos (name)")
    with pytest.raises(InputError, match="is a database of something else"):
        ReplyCache(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master")]
    assert names == ["photos"]


def test_where_nothing_may_be_written_what_is_there_is_read(tmp_path: Path) -> None:
    folder = filled(tmp_path / "own")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with closing(ReplyCache(folder, writes=False)) as cache:
        assert cache.get("k1") == CachedReply("yes" * 100, 10, 5)
        assert cache.habits(HERE) == "schema"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_where_nothing_may_be_written_a_cache_need_not_be_there(tmp_path: Path) -> None:
    with closing(ReplyCache(tmp_path / "none", writes=False)) as cache:
        assert cache.get("k1") is None
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("start", "held"), [(0, range(1)), (12 * 4096, range(150, 200))])
def test_what_is_damaged_is_read_as_far_as_it_can_be(
    start: int, held: range, tmp_path: Path
) -> None:
    folder = filled(tmp_path / "own", 200)
    with (folder / FILE).open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * 4096)
    before = (folder / FILE).read_bytes()
    notices: list[str] = []
    with closing(ReplyCache(folder, notices.append, writes=False)) as cache:
        assert sum(cache.get(f"k{n}") is not None for n in range(200)) in held
    (notice,) = notices
    assert f"{folder / FILE}: " in notice
    assert (folder / FILE).read_bytes() == before


def test_an_older_cache_says_nothing_of_where_it_is_from(theirs: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "own", ignore_errors=True)
    altered(theirs, "ALTER TABLE replies DROP COLUMN prompt; PRAGMA user_version = 2")
    assert import_from(tmp_path / "own", theirs) == 3
    with closing(sqlite3.connect(tmp_path / "own" / FILE)) as database:
        assert set(database.execute("SELECT prompt FROM replies")) == {("",)}
    assert held(tmp_path / "own") == 3

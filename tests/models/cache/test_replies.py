"""The cache file: shared, damaged, older, in the way; and its writes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.commandline import ROOT
from tests.models.clock import run
from trecjudge.errors import InputError, OutputError
from trecjudge.models.cache import schema, store
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import CachedReply, ReplyCache, ReplyOrigin, RequestInfo
from trecjudge.models.cache.upkeep import export_to, import_from

HERE = ReplyOrigin("http://a/v1/chat/completions", "m")
OTHER = ReplyOrigin("http://a/v1/chat/completions", "n")


def filled(folder: Path, count: int = 3, origin: ReplyOrigin = HERE, prefix: str = "k") -> Path:
    """Make a cache of `count` replies."""

    async def fill() -> None:
        with closing(ReplyCache(folder)) as cache:
            cache.keep_habits(origin, "schema")
            reply = CachedReply("yes" * 100, 10, 5)
            await asyncio.gather(*(cache.put(f"{prefix}{n}", reply, origin) for n in range(count)))

    run(fill())
    return folder


def held(folder: Path, count: int = 3, prefix: str = "k") -> int:
    """Return how many of the replies a cache has."""
    with closing(ReplyCache(folder)) as cache:
        return sum(cache.get(f"{prefix}{n}") is not None for n in range(count))


def test_what_is_put_is_there_with_what_it_cost(tmp_path: Path) -> None:
    filled(tmp_path)
    with closing(ReplyCache(tmp_path)) as cache:
        assert cache.get("k1") == CachedReply("yes" * 100, 10, 5)
        assert cache.get("none") is None
        assert (cache.habits(HERE), cache.habits(OTHER)) == ("schema", None)


def test_more_replies_at_once_than_one_statement_takes(tmp_path: Path) -> None:
    count = 2 * store.MOST_ROWS + 1
    assert held(filled(tmp_path, count), count) == count


def test_a_later_reply_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    async def twice() -> CachedReply | None:
        with closing(ReplyCache(tmp_path)) as cache:
            await cache.put("k", CachedReply("one"), HERE)
            await cache.put("k", CachedReply("two"), HERE)
            return cache.get("k")

    assert run(twice()) == CachedReply("two")


def test_nothing_that_was_put_is_lost_when_it_is_closed_at_once(tmp_path: Path) -> None:
    async def begin() -> None:
        cache = ReplyCache(tmp_path)
        puts = []
        for n in range(9):
            puts.append(asyncio.create_task(cache.put(f"k{n}", CachedReply("yes"), HERE)))
            await asyncio.sleep(0)
        for put in puts:
            put.cancel()
        cache.close()
        await asyncio.gather(*puts, return_exceptions=True)

    run(begin())
    assert held(tmp_path, 9) == 9


def zeros(path: Path) -> None:
    path.write_bytes(bytes(8192))


def text(path: Path) -> None:
    path.write_text("no database " * 500)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scrawled(path: Path) -> None:
    """Overwrite all but the first page."""
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))


@pytest.mark.parametrize("damage", [zeros, text, cut, scrawled])
def test_a_damaged_file_is_moved_aside_and_reported(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    filled(tmp_path, 200)
    damage(tmp_path / FILE)
    damaged = (tmp_path / FILE).read_bytes()
    notices: list[str] = []

    async def use() -> bool:
        with closing(ReplyCache(tmp_path, notices.append)) as cache:
            for n in range(200):
                cache.get(f"k{n}")
            await cache.put("k", CachedReply("yes"), HERE)
            return cache.get("k") is not None

    assert run(use())
    (message,) = notices
    assert f"{FILE}.damaged-1" in message
    assert (tmp_path / f"{FILE}.damaged-1").read_bytes() == damaged


def test_damaged_twice(tmp_path: Path) -> None:
    for _ in range(2):
        zeros(tmp_path / FILE)
        ReplyCache(tmp_path).close()
    assert {p.name for p in tmp_path.glob("*damaged*")} == {f"{FILE}.damaged-{n}" for n in (1, 2)}


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.write_text("I was here first.")
    with pytest.raises(OutputError, match="--cache-dir"):
        ReplyCache(folder)


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


def test_an_older_file_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    newer = (*schema.MIGRATIONS, "CREATE TABLE notes (note TEXT);")
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    assert held(tmp_path) == 3
    assert version(tmp_path / FILE) == len(newer)


def old(folder: Path) -> Path:
    """Make a cache of the first version of the file."""
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.executescript(schema.MIGRATIONS[0])
        row = ("k0", "yes", 10, 5, HERE.endpoint, HERE.model, 1_700_000_000)
        database.execute("INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        database.execute("PRAGMA user_version = 1")
        database.commit()
    return folder


def test_a_file_without_programs_gets_them(tmp_path: Path) -> None:
    async def added() -> dict[str, tuple[int, int, int]]:
        with closing(ReplyCache(old(tmp_path))) as cache:
            assert cache.get("k0") == CachedReply("yes", 10, 5)
            await cache.put("k1", CachedReply("no", 10, 7), HERE, RequestInfo("attest", 60))
            return cache.measure_lengths(HERE.model)

    assert run(added()) == {"attest": (1, 60, 7)}
    assert version(tmp_path / FILE) == len(schema.MIGRATIONS)


def test_an_old_file_is_read_behind_a_new_one(tmp_path: Path) -> None:
    with closing(ReplyCache(tmp_path / "new", behind=[old(tmp_path / "old")])) as cache:
        assert cache.get("k0") == CachedReply("yes", 10, 5)
        assert cache.measure_lengths(HERE.model) == {}


def test_programs_go_along_with_exports_and_imports(tmp_path: Path) -> None:
    async def fill() -> None:
        with closing(ReplyCache(tmp_path / "a")) as cache:
            await cache.put("k1", CachedReply("no", 10, 7), HERE, RequestInfo("attest", 60))

    run(fill())
    export_to(tmp_path / "a", tmp_path / "b")
    assert import_from(tmp_path / "c", tmp_path / "b") == 1
    assert import_from(tmp_path / "c", old(tmp_path / "old")) == 1
    with closing(ReplyCache(tmp_path / "c")) as cache:
        assert cache.measure_lengths(HERE.model) == {"attest": (1, 60, 7)}
    assert held(tmp_path / "c", 2) == 2


WRITER = """
import asyncio, sys
from pathlib import Path
from trecjudge.models.cache.store import CachedReply, ReplyOrigin, ReplyCache

async def main():
    cache = ReplyCache(Path(sys.argv[1]), print)
    for n in range(100):
        await cache.put(f"{sys.argv[2]}{n}", CachedReply("yes"), ReplyOrigin("e", "m"))
    cache.keep_habits(ReplyOrigin("e", "m"), "chat")
    cache.close()

asyncio.run(main())
"""


def test_processes_share_a_file(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for name in "abcd"
    ]
    assert [w.communicate(timeout=20)[0].decode() for w in writers] == [""] * 4
    assert [held(tmp_path, 100, name) for name in "abcd"] == [100] * 4


def test_one_sees_what_another_writes(tmp_path: Path) -> None:
    async def both() -> CachedReply | None:
        with closing(ReplyCache(tmp_path)) as one, closing(ReplyCache(tmp_path)) as other:
            assert one.get("k") is None
            await other.put("k", CachedReply("yes"), HERE)
            return one.get("k")

    assert run(both()) == CachedReply("yes")


def test_a_reply_is_there_as_soon_as_it_is_put(tmp_path: Path) -> None:
    async def found() -> list[CachedReply | None]:
        with closing(ReplyCache(tmp_path)) as cache:
            put = asyncio.create_task(cache.put("k", CachedReply("yes"), HERE))
            seen = [cache.get("k")]
            while not put.done():
                await asyncio.sleep(0)
                seen.append(cache.get("k"))
            return [seen[0], seen[-1], cache.get("k")]

    assert run(found()) == [None, CachedReply("yes"), CachedReply("yes")]


def test_a_cache_behind_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: there is no such folder; give a folder with a"):
        ReplyCache(tmp_path / "own", behind=[tmp_path / "none"])


def test_a_cache_behind_that_is_being_written(tmp_path: Path) -> None:
    async def both() -> CachedReply | None:
        with closing(ReplyCache(tmp_path / "a")) as writing:
            await writing.put("k", CachedReply("yes"), HERE)
            with closing(ReplyCache(tmp_path / "b", behind=[tmp_path / "a"])) as cache:
                return cache.get("k")

    assert run(both()) == CachedReply("yes")

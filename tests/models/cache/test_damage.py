"""A damaged cache: what can be read is kept, the damaged file set aside, the job goes on."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.commandline import ROOT, command
from tests.models.cache.test_replies import HERE, filled
from tests.models.clock import run
from trecjudge.models.cache.batch_book import BatchBook
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import CachedReply, ReplyCache

COUNT = 300
PAGE = 4096
ONE_PAGE = 60
"""More replies than a page and what hangs on it may cost."""


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def text(number: int) -> str:
    """Return a reply, now and then one of many pages."""
    return f"reply {number} " * (2000 if number % 50 == 0 else 20)


async def _fill(folder: Path, first: int, last: int, live: Path | None = None) -> None:
    with closing(ReplyCache(folder)) as cache:
        puts = (cache.put(key(n), CachedReply(text(n), 10, 5), HERE) for n in range(first, last))
        await asyncio.gather(*puts)
        if live:
            shutil.copytree(folder, live)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache whose job ended."""
    folder = tmp_path_factory.mktemp("closed")
    run(_fill(folder, 0, COUNT))
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache whose job was killed: half of it lies in the write-ahead log."""
    folder, live = tmp_path_factory.mktemp("open"), tmp_path_factory.mktemp("k") / "killed"
    run(_fill(folder, 0, COUNT // 2))
    run(_fill(folder, COUNT // 2, COUNT, live))
    return live


def used(folder: Path) -> tuple[int, list[str]]:
    """Read all replies, write one, read all again; return how many there are, and the notices."""
    notices: list[str] = []

    async def use() -> int:
        with closing(ReplyCache(folder, notices.append)) as cache:
            found = {n: cache.get(key(n)) for n in range(COUNT)}
            assert all(reply is None or reply.text == text(n) for n, reply in found.items())
            await cache.put("new", CachedReply("yes"), HERE)
        with closing(ReplyCache(folder, notices.append)) as cache:
            assert cache.get("new") == CachedReply("yes")
            return sum(cache.get(key(n)) is not None for n in range(COUNT))

    return run(use()), notices


def overwritten(path: Path, start: int, what: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(what)


def test_bytes_overwritten_anywhere_cost_what_hangs_on_them(killed: Path, tmp_path: Path) -> None:
    lost = []
    for seed in range(12):
        for name, first in ((FILE, 2 * PAGE), (f"{FILE}-wal", 0)):
            source = random.Random(seed)
            folder = shutil.copytree(killed, tmp_path / f"{name}-{seed}")
            size = (folder / name).stat().st_size
            overwritten(folder / name, source.randrange(first, size - 64), source.randbytes(64))
            held, notices = used(folder)
            assert len(notices) == len(list(folder.glob(f"{FILE}.damaged-?"))) <= 1
            # What the log has from a damaged transaction on is no part of the file to SQLite.
            if held < COUNT - (ONE_PAGE if name == FILE else COUNT // 2):
                lost.append((name, seed, held))
    assert lost == []


@pytest.mark.parametrize("filler", [b"\0", b"\xff", b"\xa5"], ids=["zeros", "ones", "noise"])
def test_a_page_overwritten(filler: bytes, closed: Path, tmp_path: Path) -> None:
    for page, least in ((0, 0), (1, 0), (2, COUNT - ONE_PAGE), (17, COUNT - ONE_PAGE)):
        folder = shutil.copytree(closed, tmp_path / str(page))
        overwritten(folder / FILE, page * PAGE, filler * PAGE)
        assert used(folder)[0] >= least, page


HEADER = {
    "magic": 0, "page size": 16, "who may read": 19, "reserved bytes": 20, "fractions": 21,
    "change counter": 24, "free list": 32, "schema cookie": 40, "largest root": 52, "version": 60,
    "cells": 103,
}  # fmt: skip
"""Where numbers stand in the first page of a file."""


def test_the_header_damaged_costs_the_file_at_most(closed: Path, tmp_path: Path) -> None:
    for name, start in HEADER.items():
        folder = shutil.copytree(closed, tmp_path / name)
        overwritten(folder / FILE, start, b"\xa5" * (1 if start in (18, 19, 20, 21) else 2))
        held, notices = used(folder)
        assert held == COUNT or f"{FILE}.damaged-1" in notices[0], name


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_file_cut_short_keeps_what_can_be_reached(
    share: float, closed: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(closed, tmp_path / "cache")
    os.truncate(folder / FILE, int((folder / FILE).stat().st_size * share))
    held, notices = used(folder)
    assert len(notices) == 1
    assert f"{held} replies are saved" in notices[0]
    assert held > COUNT / 2 or share < 0.9


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def other(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


@pytest.mark.parametrize("change", [as_folder, as_pipe, other])
def test_something_else_in_its_place(
    change: Callable[[Path], None], closed: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(closed, tmp_path / "cache")
    change(folder / FILE)
    held, notices = used(folder)
    assert (held, len(notices)) == (0, 1)
    assert f"0 replies are saved in a new file, the damaged one is {folder / FILE}" in notices[0]
    assert os.path.lexists(folder / f"{FILE}.damaged-1")


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_pipe_beside_it_holds_nobody_up(suffix: str, closed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(closed, tmp_path / "cache")
    os.mkfifo(folder / f"{FILE}{suffix}")
    assert used(folder)[0] == COUNT


def test_an_empty_file_is_a_new_cache(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"")  # a job was killed when it had just made it
    with closing(ReplyCache(tmp_path, writes=False)) as cache:
        assert cache.get(key(0)) is None
    assert used(tmp_path) == (0, [])


def test_a_letter_changed_inside_a_reply_is_no_reply(closed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(closed, tmp_path / "cache")
    whole = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(whole.replace(b"reply 7 reply 7", b"reply 7 reply 8", 1))
    held, (notice,) = used(folder)
    assert held == COUNT - 1
    assert "in a reply, the checksum is wrong" in notice


def test_nothing_set_aside_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.damaged-1-wal").write_text("an older one")
    for _ in range(2):
        other(tmp_path / FILE)
        ReplyCache(tmp_path).close()
    assert (tmp_path / f"{FILE}.damaged-1-wal").read_text() == "an older one"
    aside = {path.name for path in tmp_path.glob("*damaged-?")}
    assert aside == {f"{FILE}.damaged-2", f"{FILE}.damaged-3"}


def test_batches_and_habits_are_saved_too(tmp_path: Path) -> None:
    filled(tmp_path, 100)
    with closing(BatchBook(tmp_path / FILE)) as book:
        book.begin("file-1", HERE, ["a", "b"])
        book.keep([("a", b"{}")])
    overwritten(tmp_path / FILE, 12 * PAGE, b"\xa5" * PAGE)
    command("cache", "info", "--cache-dir", tmp_path)
    assert (tmp_path / f"{FILE}.damaged-1").exists()
    with closing(BatchBook(tmp_path / FILE)) as book, closing(ReplyCache(tmp_path)) as cache:
        found = book.where("a"), book.where("b"), book.record("file-1")
        assert cache.habits(HERE) == "schema"
    assert [f is not None for f in found] == [True] * 3
    assert found[0] is not None
    assert found[0].answer == b"{}"


WORKER = """
import asyncio, sys
from pathlib import Path
from trecjudge.models.cache.store import CachedReply, ReplyOrigin, ReplyCache

async def main():
    cache = ReplyCache(Path(sys.argv[1]), print)
    for n, key in enumerate(sys.argv[3:]):
        cache.get(key)
        await cache.put(f"{sys.argv[2]}{n}", CachedReply("yes"), ReplyOrigin("e", "m"))
    cache.close()

asyncio.run(main())
"""


def workers(folder: Path) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(folder), name, *map(key, range(COUNT))],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in "abcd"
    ]


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(0, id="the first page", marks=pytest.mark.slow("trecjudge/models/cache")),
        pytest.param(20 * PAGE, id="in the middle"),
    ],
)
def test_one_of_several_processes_repairs_it(start: int, closed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(closed, tmp_path / "cache")
    overwritten(folder / FILE, start, b"\xa5" * PAGE)
    said = [worker.communicate(timeout=60)[0] for worker in workers(folder)]
    assert sum(text.count("is damaged") for text in said) == 1, said
    assert "Error" not in "".join(said)
    assert len(list(folder.glob(f"{FILE}.damaged-?"))) == 1
    with closing(ReplyCache(folder)) as cache:
        new = sum(cache.get(f"{name}{n}") is not None for name in "abcd" for n in range(COUNT))
        old = sum(cache.get(key(n)) is not None for n in range(COUNT))
    assert new == 4 * COUNT
    assert old >= COUNT - ONE_PAGE or start == 0


@pytest.mark.parametrize("words", [("info",), ("prune", "--older-than", "1"), ("export", "e")])
def test_commands_repair_it_too(
    words: tuple[str, ...], closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(closed, tmp_path / "cache")
    overwritten(folder / FILE, 20 * PAGE, b"\xa5" * PAGE)
    done = command("cache", *words, "--cache-dir", folder)
    assert done.status == 0
    assert f"{FILE}.damaged-1" in done.err

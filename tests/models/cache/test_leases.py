"""Leases with real locks: of whom they are, until when, and what happens where there are none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.commandline import ROOT
from trecjudge.models import pace
from trecjudge.models.cache.request_locks import FILE, RequestLocks

KEY, OTHER = "0123456789abcdef", "f123456789abcdef"
CLAIMS = """
import sys, time
from pathlib import Path
from trecjudge.models.cache.request_locks import RequestLocks
leases = RequestLocks(Path(sys.argv[1]), print)
print(leases.claim(sys.argv[2]), flush=True)
time.sleep(60)
"""


def leases(folder: Path, notices: list[str] | None = None) -> RequestLocks:
    return RequestLocks(folder / FILE, (notices if notices is not None else []).append)


@contextmanager
def claiming(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run another process that holds the lease of KEY."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIMS, str(folder / FILE), KEY],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "True\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def freed(waiting: RequestLocks) -> None:
    """Wait until the lease of KEY is free."""
    asyncio.run(asyncio.wait_for(waiting.wait_until_free(KEY), 20))


def test_one_has_the_lease_until_it_is_released(tmp_path: Path) -> None:
    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        assert [first.claim(KEY), first.claim(KEY), second.claim(KEY)] == [True, True, False]
        assert [second.is_elsewhere(KEY), first.is_elsewhere(KEY)] == [True, False]
        assert second.claim(OTHER)
        first.release(KEY)
        assert [second.claim(KEY), first.claim(KEY)] == [True, False]
        second.close()
        assert first.claim(OTHER)


def test_what_another_has_is_not_released_by_us(tmp_path: Path) -> None:
    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        first.claim(KEY)
        second.claim(KEY)
        second.release(KEY)
        assert not second.claim(KEY)


def test_a_process_that_is_killed_loses_its_leases_at_once(tmp_path: Path) -> None:
    with closing(leases(tmp_path)) as ours, claiming(tmp_path) as process:
        assert not ours.claim(KEY)
        process.kill()
        freed(ours)
        assert ours.claim(KEY)


def test_nobody_waits_longer_for_a_lease_than_a_request_takes(tmp_path: Path) -> None:
    times = [1.0]
    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        second.longest, second.clock = 100.0, lambda: times[-1]
        first.claim(KEY)
        found = [(second.claim(KEY), second.is_elsewhere(KEY))]
        for time in (101.0, 101.1):  # the first might be a process that was stopped
            times.append(time)
            found.append((second.claim(KEY), second.is_elsewhere(KEY)))
        assert found == [(False, True), (False, True), (True, False)]
        second.release(KEY)  # asked without a lease: it is the first one's still
        assert not leases(tmp_path).claim(KEY)
        first.release(KEY)
        assert second.claim(KEY)


def test_a_turn_is_waited_for_as_long_as_a_file_takes(tmp_path: Path) -> None:
    times = [1.0]

    async def hold() -> bool:
        first.claim(KEY)
        for time in (1.0, 200.0):
            times.append(time)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(second.hold(KEY).__aenter__(), 0.2)
        times.append(100_000.0)
        async with second.hold(KEY):
            return True

    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        second.longest, second.clock = 100.0, lambda: times[-1]
        assert asyncio.run(hold())


def test_waiting_ends_where_it_is_pointless(tmp_path: Path) -> None:
    over: list[bool] = []
    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        first.claim(KEY)
        second.claim(OTHER)
        second.is_over = lambda: bool(over)

        async def wait() -> None:
            waiting = asyncio.create_task(second.wait_until_free(KEY))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            over.append(True)
            await asyncio.wait_for(waiting, 5)

        asyncio.run(wait())


def test_a_wait_for_others_is_told_once_however_much_they_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "NOTICE_AFTER", 0.1)
    told: list[str] = []

    async def wait() -> None:
        waiting = [asyncio.create_task(second.wait_until_free(key)) for key in (KEY, OTHER)]
        await asyncio.sleep(0.3)
        first.close()
        await asyncio.wait_for(asyncio.gather(*waiting), 5)
        await asyncio.sleep(0.2)

    with closing(leases(tmp_path)) as first, closing(leases(tmp_path, told)) as second:
        first.claim(KEY)
        first.claim(OTHER)
        second.claim("a" * 16)
        asyncio.run(wait())
    assert told == [f"waiting for another job that shares the cache {tmp_path}, for 0 s"]


def test_who_holds_a_lease_in_turn_is_by_itself(tmp_path: Path) -> None:
    inside: list[int] = []

    async def hold(which: RequestLocks) -> None:
        async with which.hold(KEY):
            inside.append(1)
            assert len(inside) == 1
            await asyncio.sleep(0.05)
            inside.pop()

    async def all_of_them() -> None:
        await asyncio.gather(*(hold(which) for which in holding))

    holding = [leases(tmp_path) for _ in range(3)]
    asyncio.run(asyncio.wait_for(all_of_them(), 20))
    for which in holding:
        which.close()


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("make", [a_folder, a_link])
def test_without_leases_work_goes_on_with_one_notice(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / FILE)
    notices: list[str] = []
    with closing(leases(tmp_path, notices)) as first:
        assert [first.claim(KEY), first.claim(OTHER)] == [True] * 2
        first.release(KEY)
        freed(first)
    assert len(notices) == 1
    assert "may pay twice" in notices[0]
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("content", [b"no leases", b"\xff" * 9000], ids=len)
def test_whatever_is_in_the_file_does_no_harm(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with closing(leases(tmp_path)) as first, closing(leases(tmp_path)) as second:
        assert [first.claim(KEY), second.claim(KEY)] == [True, False]


def test_nothing_is_opened_before_something_is_claimed(tmp_path: Path) -> None:
    with closing(leases(tmp_path)) as ours:
        ours.release(KEY)
        freed(ours)
    assert not list(tmp_path.iterdir())

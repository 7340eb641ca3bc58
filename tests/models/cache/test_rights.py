"""Who can read a cache: its user only, whatever the umask; a team where its folder says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.models.cache.test_replies import HERE, filled, held
from tests.reading import documents_of
from trecjudge.errors import OutputError
from trecjudge.files import tell_if_open, whole
from trecjudge.models.cache.cache_file import LOCK
from trecjudge.models.cache.request_locks import FILE as LEASES
from trecjudge.models.cache.request_locks import RequestLocks
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.cache.upkeep import export_to


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def used(folder: Path) -> dict[str, int]:
    """Use a cache in all ways; return the mode of every file in it meanwhile."""
    filled(folder)
    documents = folder.with_name("documents.jsonl")
    documents.write_text('{"id": "d", "text": "A text."}\n')
    documents_of([documents], folder, lambda finding: None, held_bytes=0)
    leases = RequestLocks(folder / LEASES, lambda message: None)
    with closing(ReplyCache(folder)) as cache, closing(leases):
        leases.claim("0" * 64)
        cache.keep_habits(HERE, "chat")
        return {path.name: mode(path) for path in folder.iterdir()}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077], ids=oct)
def test_it_is_for_its_user_only(mask: int, tmp_path: Path) -> None:
    with umask(mask):
        found = used(tmp_path / "cache")
        export_to(tmp_path / "cache", tmp_path / "published")
    assert mode(tmp_path / "cache") == 0o700
    assert {FILE, f"{FILE}-wal", f"{FILE}-shm", LEASES, LOCK} < found.keys()
    assert set(found.values()) == {0o600}
    assert {mode(path) for path in (tmp_path / "published").iterdir()} == {0o666 & ~mask}


def test_a_team_shares_a_folder_with_the_setgid_bit(tmp_path: Path) -> None:
    notices: list[str] = []
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o2770)
    found = used(tmp_path / "cache")
    tell_if_open(tmp_path / "cache", notices.append)
    assert {found[name] for name in (FILE, f"{FILE}-wal", LEASES, LOCK)} == {0o660}
    assert notices == []


def test_a_folder_that_others_may_look_into_is_named_once(tmp_path: Path) -> None:
    notices: list[str] = []
    (tmp_path / "my cache").mkdir(0o755)
    for _ in range(2):
        tell_if_open(tmp_path / "my cache", notices.append)
    assert len(notices) == 1
    assert notices[0].endswith(f"chmod -R go= '{tmp_path / 'my cache'}'")


@pytest.mark.parametrize("name", [FILE, LOCK])
def test_no_link_is_followed_where_others_can_write(name: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o1777)
    (tmp_path / "cache" / name).symlink_to(tmp_path / "victim")
    with pytest.raises(OutputError, match="it is a link, which another user may have put there"):
        ReplyCache(tmp_path / "cache")
    assert (tmp_path / "victim").read_text() == ""


def test_in_a_folder_of_ones_own_the_file_may_be_a_link(tmp_path: Path) -> None:
    filled(tmp_path / "large")
    (tmp_path / "cache").mkdir(0o700)
    (tmp_path / "cache" / FILE).symlink_to(tmp_path / "large" / FILE)
    assert held(tmp_path / "cache") == 3


@pytest.mark.parametrize(("before", "after"), [(0o600, 0o600), (0o640, 0o640), (0o666, 0o644)])
def test_an_output_keeps_rights_that_are_narrower(before: int, after: int, tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("old")
    path.chmod(before)
    with umask(0o022), whole(path, keep_partial=True) as file:
        (part,) = (p for p in tmp_path.iterdir() if p != path)
        assert mode(part) == 0o600
        file.write(b"new")
    assert (mode(path), path.read_text()) == (after, "new")

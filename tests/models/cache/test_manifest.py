"""The manifest of a published cache, `cache verify`, and where a reply came from."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.models.cache.test_replies import old
from tests.models.clock import run
from trecjudge.errors import InputError
from trecjudge.models.cache.readonly import MANIFEST, read_manifest
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import CachedReply, ReplyCache, ReplyOrigin, RequestInfo
from trecjudge.models.cache.upkeep import export_to, import_from
from trecjudge.version import __version__

SECRET = "sk-secret-0123456789abcdef"
PLAIN = ReplyOrigin("http://a/v1/chat/completions", "m")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a cache that was exported: two replies of a program, one of another."""

    async def fill() -> None:
        with closing(ReplyCache(tmp_path / "own")) as cache:
            for number, program in enumerate(("attest", "attest", "grade")):
                asked = RequestInfo(program, 60, f"digest-{program}")
                await cache.put(f"k{number}", CachedReply("yes", 10, 5), PLAIN, asked)

    run(fill())
    export_to(tmp_path / "own", tmp_path / "published")
    return tmp_path / "published"


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found


def test_what_a_manifest_says(published: Path) -> None:
    found = manifest(published)
    assert len(found.pop("sha256")) == 64
    assert found.pop("first_written") <= found.pop("last_written")
    assert found == {
        "format": 1,
        "written_by": f"trecjudge {__version__}",
        "replies": 3,
        "prompt_tokens": 30,
        "completion_tokens": 15,
        "endpoints": {PLAIN.endpoint: 3},
        "models": {"m": 3},
        "programs": {"attest": 2, "grade": 1},
        "prompts_sha256": {"attest": ["digest-attest"], "grade": ["digest-grade"]},
        "versions": {__version__: 3},
        "sources": {},
    }


def test_the_digest_is_of_the_content_not_of_the_file(published: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(published / FILE)) as database:
        database.execute("PRAGMA page_size = 8192")
        database.execute("VACUUM")
    assert command("cache", "verify", published).status == 0
    import_from(tmp_path / "c", published)
    export_to(tmp_path / "c", tmp_path / "d")
    again = manifest(tmp_path / "d")
    assert again["sources"] == {f"{published} sha256:{manifest(published)['sha256']}": 3}


def test_an_older_cache_has_a_manifest_without_what_was_not_noted(tmp_path: Path) -> None:
    export_to(old(tmp_path / "old"), tmp_path / "published")
    found = manifest(tmp_path / "published")
    assert [found[n] for n in ("programs", "prompts_sha256", "versions")] == [{}, {}, {}]
    assert found["first_written"] == "2023-11-14T22:13:20+00:00"


def changed(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute(statement)


TAMPERED = {
    "a reply": "UPDATE replies SET reply = 'no', checksum = NULL WHERE key = 'k1'",
    "a reply less": "DELETE FROM replies WHERE key = 'k1'",
    "another prompt": "UPDATE replies SET prompt = 'x' WHERE key = 'k1'",
    "habits": "INSERT INTO abilities VALUES ('e', 'm', '{}')",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED.keys())
def test_what_was_changed_since_is_refused(statement: str, published: Path, tmp_path: Path) -> None:
    changed(published, statement)
    done = command("cache", "verify", published)
    assert (done.status, "manifest" in done.out, "WRONG" in done.out) == (1, True, True)
    for use in (
        lambda: import_from(tmp_path / "new", published),
        lambda: ReplyCache(tmp_path / "new", behind=[published]),
    ):
        with pytest.raises(InputError, match=f"see `cache verify {published}`"):
            use()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sha256": 1}', '{"sha256": "x", "format": 9}'])
def test_a_manifest_that_is_none(text: str, published: Path, tmp_path: Path) -> None:
    (published / MANIFEST).write_text(text)
    assert command("cache", "verify", published).status == 1
    with pytest.raises(InputError, match=MANIFEST):
        import_from(tmp_path / "new", published)


def test_verify_says_one_line_each(published: Path) -> None:
    lines = [line.split() for line in command("cache", "verify", published).out.splitlines()]
    assert [line[:2] for line in lines] == [
        ["file", "sound"],
        ["replies", "3"],
        ["manifest", "the"],
    ]
    (published / MANIFEST).unlink()
    changed(published, "UPDATE replies SET prompt_tokens = 'many' WHERE key = 'k1'")
    done = command("cache", "verify", published)
    assert done.status == 1
    assert "WRONG: 2 good, 1 cannot be used: prompt_tokens is text, not an integer (1)" in done.out
    assert "none: there is no manifest.json" in done.out


def test_verify_finds_damage_and_what_is_no_cache(published: Path, tmp_path: Path) -> None:
    assert command("cache", "verify", tmp_path / "none").status == 1
    data = bytearray((published / FILE).read_bytes())
    data[4096:8192] = b"\xa5" * 4096
    (published / FILE).write_bytes(data)
    done = command("cache", "verify", published)
    assert (done.status, "bug" in done.err) == (1, False)


@pytest.mark.parametrize(
    "endpoint",
    [f"http://h/v1/chat/completions?api-key={SECRET}", f"http://me:{SECRET}@h/v1/chat/completions"],
)
def test_no_secret_is_published(endpoint: str, tmp_path: Path) -> None:
    async def fill() -> None:
        with closing(ReplyCache(tmp_path / "own")) as cache:
            await cache.put("k", CachedReply("yes"), ReplyOrigin(endpoint, "m"))
            cache.keep_habits(ReplyOrigin(endpoint, "m"), "{}")

    run(fill())
    assert export_to(tmp_path / "own", tmp_path / "published") == 1
    assert import_from(tmp_path / "new", tmp_path / "own") == 1
    for folder in ("published", "new"):
        for path in (tmp_path / folder).iterdir():
            assert SECRET.encode() not in path.read_bytes(), path


def test_a_manifest_that_would_fill_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(f"[{'[],' * 1_100_000}[]]")
    with pytest.raises(InputError, match=r"no manifest that can be read: has more than 100,000"):
        read_manifest(tmp_path)

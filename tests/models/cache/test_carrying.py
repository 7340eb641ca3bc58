"""Replies carried from one cache to another: as one file, and as they are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.models.cache.test_upkeep import HERE, OTHER, filled
from trecjudge.models.cache.readonly import ReadCache
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.cache.upkeep import export_replies, import_replies


def test_one_models_replies_are_carried_as_they_are(tmp_path: Path) -> None:
    cache = filled(tmp_path / "cache", 3, HERE, "k")
    filled(cache, 2, OTHER, "o")
    assert export_replies(cache, tmp_path / "part", "m") == 3
    assert [path.name for path in (tmp_path / "part").iterdir()] == [FILE]
    home = filled(tmp_path / "home", 1, HERE, "k")
    import_replies(home, tmp_path / "part", print)
    with closing(ReadCache(home)) as found, closing(ReadCache(cache)) as before:
        assert list(found.rows())[1:] == list(before.rows("m"))[1:]
    # They come from no other cache: the job itself asked for them.
    with closing(ReplyCache(home)) as used:
        assert used.get("k2") is not None
        assert used.record() == []


def test_only_replies_since_a_time_are_carried(tmp_path: Path) -> None:
    cache = filled(tmp_path / "cache", 3, HERE, "k")
    assert export_replies(cache, tmp_path / "none", "m", since=1 << 39) == 0
    import_replies(cache, tmp_path / "none", print)

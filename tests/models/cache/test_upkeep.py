"""What a cache holds, copies to publish, merging, pruning."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.commandline import command
from tests.models.cache.test_replies import HERE, OTHER, filled, held
from trecjudge.errors import InputError, OutputError
from trecjudge.models.cache.readonly import MANIFEST
from trecjudge.models.cache.schema import FILE
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.cache.upkeep import DAY, Holding, export_to, holdings, import_from, prune


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache of three replies of one model and two of another."""
    filled(tmp_path / "cache", 2, OTHER, "o")
    return filled(tmp_path / "cache", 3, HERE, "k")


def test_holdings(cache: Path) -> None:
    assert holdings(cache) == [
        Holding(HERE.endpoint, "m", 3, 30, 15),
        Holding(OTHER.endpoint, "n", 2, 20, 10),
    ]
    assert holdings(cache)[0].tokens == 45


@pytest.mark.parametrize(("model", "count"), [(None, 5), ("m", 3)])
def test_an_export_can_be_read_where_nothing_can_be_written(
    model: str | None, count: int, cache: Path, tmp_path: Path
) -> None:
    target = tmp_path / "export"
    assert export_to(cache, target, model) == count
    assert {path.name for path in target.iterdir()} == {FILE, MANIFEST}
    (target / FILE).chmod(0o444)
    target.chmod(0o555)
    try:
        with closing(ReplyCache(tmp_path / "own", behind=[target])) as own:
            found = [own.get(key) is not None for key in ("k0", "k1", "k2", "o0", "o1")]
    finally:
        target.chmod(0o755)
    assert sum(found) == count
    assert {path.name for path in target.iterdir()} == {FILE, MANIFEST}


def test_an_export_overwrites_nothing(cache: Path) -> None:
    with pytest.raises(OutputError, match="exists already"):
        export_to(cache, cache)


def test_an_import_adds_what_is_missing(cache: Path, tmp_path: Path) -> None:
    mine = filled(tmp_path / "mine", 1, HERE, "k")
    assert import_from(mine, cache) == 4
    assert import_from(mine, cache) == 0
    assert (held(mine, 3, "k"), held(mine, 2, "o")) == (3, 2)


def test_an_import_into_nothing_makes_a_cache(cache: Path, tmp_path: Path) -> None:
    assert import_from(tmp_path / "new", cache) == 5


@pytest.mark.parametrize(
    ("model", "days", "deleted"),
    [
        pytest.param("m", None, 3, id="a model"),
        pytest.param(None, 5, 2, id="older"),
        pytest.param("m", 5, 0, id="both: older ones of a model"),
        pytest.param(None, 0.0, 2, id="older than now"),
    ],
)
def test_prune(model: str | None, days: float | None, deleted: int, cache: Path) -> None:
    with closing(sqlite3.connect(cache / FILE)) as database, database:
        statement = "UPDATE replies SET written = written + ? WHERE model = ?"
        database.execute(statement, (-10 * DAY, "n"))
        database.execute(statement, (DAY, "m"))
    assert prune(cache, model, days) == deleted
    assert sum(h.replies for h in holdings(cache)) == 5 - deleted


def test_a_model_that_the_cache_has_nothing_of(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown model 'none'; there are: m, n"):
        export_to(cache, tmp_path / "export", "none")
    with pytest.raises(InputError, match="unknown model 'none'"):
        prune(cache, "none")


def test_prune_needs_a_model_or_an_age(cache: Path) -> None:
    with pytest.raises(InputError, match="--max days=N"):
        prune(cache)


def test_where_there_is_no_cache(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cache there"):
        holdings(tmp_path)
    with pytest.raises(InputError, match="none: there is no such folder; give a folder with a"):
        import_from(tmp_path, tmp_path / "none")


def test_from_the_command_line(cache: Path, tmp_path: Path) -> None:
    assert "3 replies, 45 tokens" in command("cache", "info", "--cache-dir", cache).out
    done = command("cache", "export", tmp_path / "e", "--cache-dir", cache, "--model", "m")
    assert (done.status, "3 replies" in done.out) == (0, True)
    assert "3 replies" in command("cache", "import", tmp_path / "e").out
    assert "3 replies" in command("cache", "prune", "--model", "m").out
    assert command("cache", "prune").status == 1


def test_a_file_of_other_tables_is_an_error(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA user_version = 1")
    with pytest.raises(InputError, match="no cache that can be read"):
        holdings(tmp_path)
    with pytest.raises(InputError, match="no cache that can be read"):
        prune(tmp_path, "m")

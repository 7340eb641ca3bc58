"""Where replies came from: in the cache, the log and the config; and jobs that write no cache."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import Done, command, judge
from tests.endpoint import attesting, serving
from trecjudge.models.cache.readonly import MANIFEST
from trecjudge.models.cache.schema import FILE
from trecjudge.version import __version__

Ask = Callable[..., Done]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return `ask(out, cache, *flags)`: judge three sentences with a model."""
    said = [{"text": f"Claim {n}.", "citations": ["d"]} for n in range(3)]
    meta = {"team_id": "x", "run_id": "r", "topic_id": "1"}
    record = {"metadata": meta, "responses": said, "documents": {"d": {"text": "Text."}}}
    (tmp_path / "r.jsonl").write_text(json.dumps(record))

    def ask(out: str, cache: str, *flags: str | Path) -> Done:
        given = ("--use-env-llm", "--judge", "citation", "--cache-dir", tmp_path / cache)
        return judge(tmp_path / "r.jsonl", tmp_path / out, *given, *flags)

    monkeypatch.chdir(tmp_path)
    with serving(attesting(), monkeypatch):
        yield ask


def config(out: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(Path(out, "x.config.yml").read_text())
    return found


def logged_sources(out: str) -> list[str | None]:
    lines = map(json.loads, Path(out, "x.log").read_text().splitlines())
    return [line.get("source") for line in lines if line["event"] == "MODEL_CALL"]


def test_a_reply_says_what_asked_for_it(ask: Ask) -> None:
    ask("out", "a")
    with closing(sqlite3.connect(Path("a", FILE))) as database:
        rows = set(database.execute("SELECT program, prompt, version, source FROM replies"))
    prompts = config("out")["model"]["prompts_sha256"]
    assert rows == {("attest", prompts["attest"], __version__, "")}
    assert "other_caches" not in config("out")["model"]
    assert logged_sources("out") == [None] * 3


def test_replies_of_other_caches_are_named_in_log_and_config(ask: Ask) -> None:
    ask("out", "a")
    command("cache", "export", "pub", "--cache-dir", "a")
    digest = json.loads(Path("pub", MANIFEST).read_text())["sha256"]
    label = f"pub sha256:{digest}"
    ask("from", "b", "--cache-from", "pub")
    assert logged_sources("from") == [label] * 3
    entry = {"source": label, "replies": 3, "sha256": digest}
    assert config("from")["model"]["other_caches"] == [entry]
    command("cache", "import", "pub", "--cache-dir", "c")
    ask("imported", "c")
    assert logged_sources("imported") == [label] * 3
    assert config("imported")["model"]["other_caches"] == [{"source": label, "replies": 3}]


def test_a_published_cache_that_was_changed_stops_the_job_before_a_call(ask: Ask) -> None:
    ask("out", "a")
    command("cache", "export", "pub", "--cache-dir", "a")
    with closing(sqlite3.connect(Path("pub", FILE))) as database, database:
        database.execute("UPDATE replies SET completion_tokens = 9, checksum = NULL")
    done = ask("from", "b", "--cache-from", "pub")
    assert (done.status, "see `cache verify pub`" in done.err) == (1, True)
    assert not Path("b").exists()


def test_bad_values_of_another_cache_are_asked_again_and_reported(ask: Ask) -> None:
    ask("out", "a")
    with closing(sqlite3.connect(Path("a", FILE))) as database, database:
        database.execute("UPDATE replies SET prompt_tokens = 'many'")
    done = ask("from", "b", "--cache-from", "a")
    assert (done.status, "bug" in done.err + done.out) == (0, False)
    assert "3 replies are skipped: prompt_tokens is text, not an integer" in done.err


@pytest.mark.parametrize("flag", ["--offline", "--plan"])
@pytest.mark.parametrize("batch", ["false", "true"])
def test_no_cache_is_written_where_nothing_is_asked(flag: str, batch: str, ask: Ask) -> None:
    ask("out", "a")
    before = {path.name: path.read_bytes() for path in Path("a").iterdir()}
    Path("a").chmod(0o555)
    try:
        done = ask("again", "a", flag, "--set", f"llm.batch={batch}")
    finally:
        Path("a").chmod(0o755)
    assert done.status == 0, done.err
    assert {path.name: path.read_bytes() for path in Path("a").iterdir()} == before
    assert ask("none", "missing", flag).status == (0 if flag == "--plan" else 3)
    assert not Path("missing").exists()

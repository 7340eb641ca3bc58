"""Judgments that somebody sent run no code of theirs, unless they are trusted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.commandline import ROOT, command, sample

EVIL = """
from pathlib import Path
from trecjudge import JudgmentFailed
Path("it_ran").touch()
def m(response, judgments): return 1.0
"""
COMMANDS = {
    "rescore": ["rescore", "x"],
    "report": ["report", "x"],
    "report --compare": ["report", "mine", "--compare", "x"],
    "label-next": ["label-next", "x"],
}
HEADERS = {
    "a measure": ({"measures": ["theirs.evil:m"]}, "the module theirs.evil"),
    "a measure of a judge": ({"measures": ["theirs.evil:m@support"]}, "the module theirs.evil"),
    "a judge": ({"judges": {"theirs.evil:Judge": {}}}, "the module theirs.evil"),
    "a judge of a folder": ({"judges": {"evil": {}}}, "judges/evil"),
    "a judge of that folder by its module": (
        {"judges": {"judges.evil:Judge": {}}},
        "the module judges.evil",
    ),
    "a module of Python": ({"measures": ["os:system"]}, "the module os"),
}


def received(folder: Path, header: dict[str, object]) -> None:
    """Lay a job of our own, `mine`, and one that was received, `x`, beside code of others."""
    for name in ("mine", "x"):
        sample("rag", folder, "--judge", "support", "--name", name, "-q")
    path = folder / "x.judgments.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(orjson.dumps(orjson.loads(first) | header) + b"\n" + rest)
    for package in (folder / "theirs", folder / "judges" / "evil"):
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(EVIL if package.name == "evil" else "")
    (folder / "theirs" / "evil.py").write_text(EVIL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in the test's folder, whose code could be imported; forget it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
        del sys.modules[name]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, in a process of its own: code of others stays in it."""
    words = [sys.executable, str(ROOT / "run_judge.py"), *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("header", "code"), HEADERS.values(), ids=HEADERS)
def test_code_of_others_is_named_and_not_run(
    header: dict[str, object], code: str, tmp_path: Path
) -> None:
    received(tmp_path, header)
    done = command("job", "rescore", "x")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert code in done.err
    assert "add --trust" in done.err
    assert not (tmp_path / "it_ran").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_command_runs_it_but_with_trust(words: list[str], tmp_path: Path) -> None:
    received(tmp_path, {"measures": ["theirs.evil:m"]})
    refused = command(*words)
    assert (refused.status, (tmp_path / "it_ran").exists()) == (1, False)
    assert "measure 'theirs.evil:m'" in refused.err
    assert command(*words, "--trust").status == 0
    assert (tmp_path / "it_ran").exists()


def test_what_is_trusted_is_found_in_the_working_folder(tmp_path: Path) -> None:
    received(tmp_path, {"measures": ["theirs.evil:m"]})
    trusted = run(tmp_path, "rescore", "x", "--trust")
    assert (trusted.returncode, (tmp_path / "it_ran").exists()) == (0, True), trusted.stderr


@pytest.mark.parametrize("name", ["support", "judges.support:SupportJudge"])
def test_what_is_ours_needs_no_trust(name: str, tmp_path: Path) -> None:
    sample("rag", tmp_path, "--judge", name, "-q")
    assert command("job", "rescore", tmp_path / "x").status == 0


def test_a_working_folder_is_no_place_for_modules_of_other_commands(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    for name in ("jinja2", "rich_extra", "pandas"):
        (tmp_path / f"{name}.py").write_text(EVIL)
    assert run(tmp_path, "report", "x").returncode == 0
    assert not (tmp_path / "it_ran").exists()

"""Judges and modules that are plugged in: whose they are, and when they are imported."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import ROOT, command
from trecjudge.job.workflow import find_workflow
from trecjudge.judges.length import LengthJudge
from trecjudge.judging.judge import judge_class, judge_names, make_judge
from trecjudge.measures import load_measure
from trecjudge.settings.plugins import import_named, judge_folders

OURS = sorted(path.parent.name for path in (ROOT / "judges").glob("*/__init__.py"))
MINE = (
    "from dataclasses import dataclass\n"
    "from trecjudge.measures import LeaderboardSpec, MeasureSpec\n"
    "{first}\n"
    "def sentences(response, judgments):\n    return len(response.sentences)\n"
    "@dataclass(frozen=True)\nclass Mine:\n    '''Says no.\n\n    Always.\n    '''\n"
    "    measures = LeaderboardSpec((MeasureSpec('NO', sentences),))\n"
    "    def pool(self, topic, response):\n        yield from ()\n"
    "    async def judge(self, item, model):\n        return []\n"
    "class Helper:\n    'Helps.'\n"
)


@pytest.fixture
def here(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Return `here(name, first)`: a judge of that name in the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    return lambda name, first="": write(MINE.format(first=first), f"judges/{name}/__init__.py")


@pytest.fixture
def foreign(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install another package that is called `judges`, with a module of ours and one of its own."""
    folder = tmp_path_factory.mktemp("foreign") / "judges"
    for name in ("", "length", "graders", "theirs_and_mine"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
    monkeypatch.syspath_prepend(folder.parent)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test imports as `judges`."""
    monkeypatch.delitem(sys.modules, "judges", raising=False)


def listed() -> dict[str, str]:
    """Return what the command `judges` says of each judge."""
    rows = (line.partition(" ") for line in command("judges").out.splitlines())
    return {name: text.strip() for name, _, text in rows}


def test_each_folder_is_a_judge() -> None:
    assert sorted(judge_folders()) == OURS
    assert set(OURS) <= set(judge_names())


def test_names_are_found_without_an_import() -> None:
    code = (
        "import sys; from trecjudge.judging import judge; judge.judge_names(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert [name for name in done.stdout.decode().split() if "judges." in name] == []


def test_ours_are_one_class_under_either_name() -> None:
    assert judge_class("judges.length:LengthJudge") is judge_class("length") is LengthJudge
    assert pickle.loads(pickle.dumps(LengthJudge(5))) == LengthJudge(5)
    assert LengthJudge.__module__ == "trecjudge.judges.length"


def test_another_package_called_judges_changes_nothing(foreign: None) -> None:
    assert judge_class("judges.length:LengthJudge") is LengthJudge
    assert set(OURS) <= set(judge_names())
    assert "graders" not in judge_names()
    assert "judges" not in sys.modules
    assert import_named("judges.graders").WHOSE == "theirs"


def test_a_judge_of_the_working_directory(here: Callable[..., Path], foreign: None) -> None:
    path = here("theirs_and_mine")
    assert make_judge("theirs_and_mine", {}) == make_judge("judges.theirs_and_mine:Mine", {})
    assert load_measure("judges.theirs_and_mine:sentences").name == "SENTENCES"
    assert import_named("judges.theirs_and_mine").__file__ == str(path)
    assert import_named("trecjudge.judges.theirs_and_mine").__file__ == str(path)


def test_what_is_only_listed_is_not_imported(here: Callable[..., Path]) -> None:
    here("refuses", "raise SystemExit('imported')")
    assert listed()["refuses"] == "Says no."
    assert "trecjudge.judges.refuses" not in sys.modules


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("def (", "broken: judge 'odd'"),
        ("'A module.'\n", "A module."),
        ("'A module.'\nclass A(Base):\n  'A class.'\n", "A class."),
        ("class A:\n  'Judges.'\n  def pool(self): ...\nclass B:\n  'No.'\n", "Judges."),
        ("", ""),
        ("\0", "broken: judge 'odd'"),
    ],
    ids=["no python", "no class", "a subclass", "one that pools", "empty", "binary"],
)
def test_a_folder_that_may_be_no_judge_is_listed(
    text: str, shown: str, write: Callable[..., Path], here: Callable[..., Path]
) -> None:
    here("beside")
    write(text, "judges/odd/__init__.py")
    assert listed()["odd"].partition(" cannot be read: ")[0] == shown


def test_a_name_of_ours_stays_ours(here: Callable[..., Path]) -> None:
    here("length", "raise SystemExit('imported')")
    assert judge_class("length") is LengthJudge


def test_the_working_directory_is_that_of_now(
    here: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("of_here")
    assert "of_here" in judge_names()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert "of_here" not in judge_names()
    gone.rmdir()
    assert set(OURS) <= set(judge_names())


def test_a_copy_of_a_judge_has_prompts_of_its_own(
    write: Callable[..., Path], here: Callable[..., Path]
) -> None:
    here("beside")
    for path in (ROOT / "judges" / "support").glob("*.py"):
        write(path.read_bytes(), f"judges/copied/{path.name}")
    for path in (ROOT / "judges" / "direct_prompt").glob("*.py"):
        write(path.read_bytes(), f"judges/asked/{path.name}")
    assert judge_class("copied").__module__ == "trecjudge.judges.copied"
    programs = judge_class("asked").programs  # type: ignore[attr-defined]
    assert [p.reference for p in programs] == ["trecjudge.judges.asked.program:GradeText"]


@pytest.mark.parametrize("given", ["citation", "citation.yml", "workflows/citation.yml"])
def test_workflows_that_are_shipped_are_found_from_anywhere(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_workflow(Path(given)) == (ROOT / "workflows" / "citation.yml", "")

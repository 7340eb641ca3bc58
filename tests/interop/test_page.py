"""The examples of the pages on AutoJudge: they need its package, so they are played here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.autojudge import auto_judge, rows
from tests.commandline import ROOT, command
from tests.examples import arguments

BLOCK = re.compile(r"<!-- (file|run): (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["docs/autojudge.md", "judges/autojudge/README.md"])
def test_examples(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    text = (ROOT / page).read_text(encoding="utf-8")
    for kind, name, block in BLOCK.findall(text):
        if kind == "file":
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(block)
        elif block.startswith("auto-judge run"):
            done = auto_judge(*block.replace("\\\n", " ").split()[2:])
            assert done.status == 0, done.err
        else:
            assert command(*arguments(block)).status == 0
    if page.startswith("docs"):
        assert rows(Path("theirs/default.eval.txt")) == rows(Path("ours/default.leaderboard.txt"))
        assert rows(Path("theirs/default.qrels.txt")) == rows(Path("ours/default.citation.qrels"))
        assert rows(Path("out/by-class.leaderboard.txt"))["careful", "all", "WINS"] == 2
    else:
        shown = Path("out/words.leaderboard.txt").read_text()
        assert f"```\n{shown}```" in text


def test_the_page_says_which_settings_there_are() -> None:
    from trecjudge.interop.autojudge_settings import Settings

    text = (ROOT / "docs" / "autojudge.md").read_text(encoding="utf-8")
    assert [n for n in Settings.__dataclass_fields__ if f"`{n}`" not in text] == []


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "autojudge_base.py").write_text("raise ImportError('not here')\n")
    shutil.copytree(ROOT / "sample_data" / "ragtime" / "runs", tmp_path / "runs")
    flags = ["--judge", "autojudge", "--set", "judge_class=mine:X", "--rag-responses", "runs"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *flags, "--out-dir", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'trecjudge[autojudge]'" in done.stderr

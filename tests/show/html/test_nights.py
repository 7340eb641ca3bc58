"""The page of a folder of jobs: its trend, its links, and what it cannot be of."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command

RAG = SAMPLES / "rag"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nights")
    for night, run in enumerate(("careful", "careless", "careful")):
        runs = folder / f"{night}"
        runs.mkdir()
        text = (RAG / "runs" / f"{run}.jsonl").read_text(encoding="utf-8")
        (runs / "a.jsonl").write_text(text.replace(f'"{run}"', '"<b>a</b>"'), encoding="utf-8")
        given = (runs, "--judge", "support", "--documents", RAG / "documents.jsonl", "-q")
        kept = ("--history", folder / "history", "--out-dir", folder / "out", "--name", "n")
        assert command("judge", *given, *kept).status in (0, 3)
    return folder / "history"


def test_a_folder_of_nights_has_a_page_with_a_line_for_each_run(history: Path) -> None:
    first = sorted(history.glob("n.0001*.judgments.jsonl"))[0].name.removesuffix(".judgments.jsonl")
    assert command("report", history / first, "-q").status == 0
    done = command("report", history)
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith(f"index: {history / 'index.html'} (3 jobs)\n")
    page = (history / "index.html").read_text(encoding="utf-8")
    assert "<b>a</b>" not in page and "&lt;b&gt;a&lt;/b&gt;" in page
    ((low,),) = [
        [float(dot.split(",")[1]) for dot in re.findall(r"points=\"(.*)\"", page)[0].split()][1:2]
    ]
    assert low == 32  # the second night is the worst: the lowest point of the line
    assert f'href="{first}.report.html"' in page and page.count("no report") == 2
    assert "script" not in re.sub(r"content=\"[^\"]*\"", "", page)


def test_jobs_of_several_names_have_a_trend_each(history: Path, tmp_path: Path) -> None:
    for file in history.glob("n.0001*"):
        for name in ("x", "y"):
            shutil.copy(file, tmp_path / re.sub(r"^n\.0001-[\d-]+", name, file.name))
    assert command("report", tmp_path).status == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "x: 1 job" in page and "y: 1 job" in page and page.count("<polyline") == 2


@pytest.mark.parametrize("flag", ["--against {}", "--run a", "--each-run sheets"])
def test_what_is_of_one_job_wants_its_name(flag: str, history: Path) -> None:
    done = command("report", history, *flag.format(history).split())
    assert done.status == 1 and "there are 3 jobs in it; give one of" in done.err

"""AutoJudge's package for tests; without it they are skipped. Its import asks NLTK for nothing."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.commandline import ROOT, Done

if "NLTK_DATA" not in os.environ:
    # Importing it looks for these, and would download them: files of their names will do.
    FOLDER = Path(tempfile.mkdtemp(prefix="nltk-"))
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
    (FOLDER / "corpora" / "stopwords").mkdir(parents=True)
    (FOLDER / "corpora" / "stopwords" / "english").write_text("the\n")
    os.environ["NLTK_DATA"] = str(FOLDER)
for folder in os.environ["NLTK_DATA"].split(os.pathsep)[:1]:
    if os.access(folder, os.W_OK):
        Path(folder, "tokenizers", "punkt").mkdir(parents=True, exist_ok=True)

if find_spec("autojudge_base") is None:  # its import takes seconds: not where none is judged
    pytest.skip("needs autojudge_base", allow_module_level=True)
THEIRS = ROOT / "tests" / "interop" / "theirs"
sys.path.append(str(THEIRS))
RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "%s", "topic_id": "%s"}, "responses": [{"text":'
    ' "%s", "citations": ["k"]}], "documents": {"k": {"id": "k", "text": "Steam forced through a'
    ' narrow gap in the spout makes a kettle whistle."}}}\n'
)
TEXTS = {
    "good": "Steam forced through a narrow gap makes a kettle whistle.",
    "bad": "The kettle was invented in Lyon.",
}


def inputs(folder: Path, runs: Iterable[str] = TEXTS, topics: Iterable[str] = "12") -> list[str]:
    """Write runs and topics; return the flags that name them, which both commands share."""
    (folder / "runs").mkdir()
    for run in runs:
        lines = (RECORD % (run, topic, TEXTS.get(run, run)) for topic in topics)
        (folder / "runs" / f"{run}.jsonl").write_text("".join(lines))
    lines = (f'{{"request_id": "{t}", "title": "Why do kettles whistle?"}}\n' for t in topics)
    (folder / "topics.jsonl").write_text("".join(lines))
    return ["--rag-responses", str(folder / "runs"), "--rag-topics", str(folder / "topics.jsonl")]


def auto_judge(*arguments: str | Path) -> Done:
    """Run `auto-judge run` in this process; return how it ended and what it printed."""
    from autojudge_base.cli import main

    result = CliRunner().invoke(main, ["run", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def auto_judge_apart(*arguments: str | Path) -> Done:
    """Run `auto-judge run` in a process of its own, as its users do."""
    code = "from autojudge_base.cli import main; main()"
    words = [sys.executable, "-c", code, "run", *map(str, arguments)]
    paths = os.pathsep.join([str(ROOT), str(THEIRS)])
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def rows(path: Path, columns: int = 3) -> dict[tuple[str, ...], float]:
    """Return the numbers of a file by the columns before them, to six decimals."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {tuple(line[:columns]): round(float(line[columns]), 6) for line in lines}

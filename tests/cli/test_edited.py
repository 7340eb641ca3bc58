"""Judgments that were edited by hand: every command that reads them says so, and goes on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import zstandard

from tests.commandline import Done, command, sample

COMMANDS = {
    "rescore": "rescore {job} --out-dir {job}/../again",
    "report": "report {job}",
    "agree": "agree --truth {job} --predicted {other}",
    "agree --predicted": "agree --truth {other} --predicted {job}",
    "judgments": "judgments {job}",
    "show": "show {job} --run careless --topic 12",
    "label-next": "label-next {job}",
    "compare": "compare {other} {job}",
}


@pytest.fixture(scope="module", params=[(), ("--compress", "--no-document-text")])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample data of RAG, judged; plain or packed."""
    folder = tmp_path_factory.mktemp("judged") / "out"
    sample("rag", folder, "-q", *request.param)
    return folder


def edited(whole: Path, folder: Path) -> Path:
    """Return a copy of a job with one verdict changed by hand, plain."""
    job = Path(shutil.copytree(whole, folder / "out"))
    (judgments,) = job.glob("*.judgments.jsonl*")
    if judgments.suffix == ".zst":
        with judgments.open("rb") as packed:
            opened = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
            text = opened.read()
        judgments.unlink()
        judgments = judgments.with_suffix("")
        judgments.write_bytes(text)
    text = judgments.read_text()
    judgments.write_text(text.replace('"reason":"', '"reason":"By hand. ', 1))
    return job


def run(words: str, job: Path, other: Path) -> Done:
    return command(*words.format(job=job, other=other).split())


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_an_edit_is_noted_once(words: str, whole: Path, tmp_path: Path) -> None:
    honest = run(words, whole, whole)
    assert "edited" not in honest.err, honest.err
    done = run(words, edited(whole, tmp_path), whole)
    assert done.status == honest.status, done.err
    notes = re.findall(r"note: .*: the file was edited since it was judged", done.err)
    assert len(notes) == 1, done.err


def test_the_report_shows_it(whole: Path, tmp_path: Path) -> None:
    job = edited(whole, tmp_path)
    assert command("report", job, "-q").err == ""
    (page,) = job.glob("*.report.html")
    assert "the judgments were edited since they were judged" in page.read_text()

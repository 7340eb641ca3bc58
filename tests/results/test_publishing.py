"""A job without its texts: no five words of anybody in a row, and the same figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.commandline import SAMPLES, command, sample
from tests.reading import records_in


def fives(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def published(folder: Path, *judges: str) -> Path:
    assert sample("rag", folder / "out", "--judge", ",".join(judges)).status == 0
    done = command("convert", folder / "out" / "x", folder / "pub", "--text", "none")
    assert done.status == 0 and "texts, reasons and evidence left out" in done.err
    return folder / "pub"


def test_no_five_words_in_a_row_of_anybody_are_left(tmp_path: Path) -> None:
    folder = published(tmp_path, "support", "attribution", "direct_prompt", "citation_score")
    rag = SAMPLES / "rag"
    given = [rag / "topics.jsonl", rag / "documents.jsonl", *(rag / "runs").iterdir()]
    said = set().union(*(fives(t) for path in given for t in texts(records_in(path))))
    for path in folder.iterdir():
        if path.suffix in (".jsonl", ".log"):
            found = set().union(*(fives(text) for text in texts(records_in(path))))
            assert found & said == set(), path
    assert len(said) > 500


def test_the_figures_are_the_same_and_other_commands_read_it(tmp_path: Path) -> None:
    folder = published(tmp_path, "support", "attribution")
    for source, target in ((folder, "a"), (tmp_path / "out", "b")):
        assert command("rescore", source / "x", "--out-dir", tmp_path / target, "-q").status == 0
    boards = [(tmp_path / t / "x.leaderboard.txt").read_text() for t in "ab"]
    assert boards[0] == boards[1]
    labels = SAMPLES / "rag" / "labels.jsonl"
    agree = ("agree", "--truth", labels, "--judge", "support", "--json", "--predicted")
    found = [json.loads(command(*agree, one / "x").out) for one in (folder, tmp_path / "out")]
    assert found[0]["figures"] == found[1]["figures"]
    for words in (
        ("show", "--run", "careful"),
        ("compare",),
        ("gate", "--min", "HARD_PRECISION=0"),
    ):
        assert command(words[0], folder / "x", *words[1:]).status == 0, words


def test_the_folder_of_the_job_itself_is_refused(tmp_path: Path) -> None:
    assert sample("rag", tmp_path).status == 0
    done = command("convert", tmp_path / "x", tmp_path, "--text", "none")
    assert done.status == 1 and "is the folder of the job" in done.err
    done = command("convert", tmp_path / "x", tmp_path / "y")
    assert done.status == 1 and "give --to FORMAT, or --text none" in done.err

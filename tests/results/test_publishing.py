"""A job without its texts: no five words of anybody in a row, and the same figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.commandline import SAMPLES, command, sample
from tests.fakes import judgment, response
from tests.reading import records_in
from tests.show.html.made import output
from trecjudge.records import FULL


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
    done = command("job", "convert", folder / "out" / "x", folder / "pub", "--text", "none")
    assert done.status == 0 and "texts, reasons, evidence left out" in done.err
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


CHINESE = "港口电车于一九九八年恢复运行，乘客很多"
"""A sentence without a blank: no word of it may pass for a mark of a citation."""


def test_no_sentence_passes_for_a_mark(tmp_path: Path) -> None:
    of_run = {"run_id": "zh", "team_id": "t", "narrative_id": "1", "narrative": CHINESE}
    answer = [{"text": f"{CHINESE}[1]。", "citations": ["d1"]}]
    record = {"metadata": of_run, "references": ["d1"], "answer": answer}
    (tmp_path / "zh.jsonl").write_text(json.dumps(record) + "\n")
    text = {"docid": "d1", "text": f"{CHINESE}。"}
    (tmp_path / "d.jsonl").write_text(json.dumps(text) + "\n")
    job = ("--rag-responses", tmp_path / "zh.jsonl", "--documents", tmp_path / "d.jsonl")
    out = ("--judge", "citation", "--out-dir", tmp_path / "out", "--name", "x", "-q")
    assert command(*job, *out).status == 0
    assert (
        command("job", "convert", tmp_path / "out", tmp_path / "pub", "--text", "none").status == 0
    )
    for path in (tmp_path / "out", tmp_path / "pub"):
        found = {file.name for file in path.iterdir() if CHINESE[:5] in file.read_text()}
        assert bool(found) == (path.name == "out"), found


def test_demonstrations_of_a_prompt_are_left_out(tmp_path: Path) -> None:
    out = output(tmp_path / "out", (response(("S.", ["d"])), [judgment(FULL, doc_id="d")]))
    sent = {"from": "attest.json", "messages": [{"role": "user", "content": "A document says so"}]}
    model = {"prompts": {"attest": sent}, "voters": {"a": {"prompts": {"attest": sent}}}}
    out.config.write_text(json.dumps({"model": model, "judges": {"citation": {}}}))
    out.log.write_text(json.dumps({"event": "session_start", "model": model}) + "\n")
    assert command("job", "convert", out.judgments, tmp_path / "pub", "--text", "none").status == 0
    config, log = ((tmp_path / "pub" / f"x.{end}").read_text() for end in ("config.yml", "log"))
    for found in (config, log):
        assert "A document says so" not in found and found.count("attest.json") == 2


def test_the_figures_are_the_same_and_other_commands_read_it(tmp_path: Path) -> None:
    folder = published(tmp_path, "support", "attribution")
    for source, target in ((folder, "a"), (tmp_path / "out", "b")):
        assert (
            command("job", "rescore", source / "x", "--out-dir", tmp_path / target, "-q").status
            == 0
        )
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
    done = command("job", "convert", tmp_path / "x", tmp_path, "--text", "none")
    assert done.status == 1 and "is the folder of the job" in done.err
    done = command("job", "convert", tmp_path / "x", tmp_path / "y")
    assert done.status == 1 and "give --to FORMAT, or --text none" in done.err

"""What lies beside runs and is none: passed over, and never a reason to refuse a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check.samples import lines, saying
from tests.commandline import command, judge
from tests.reading import PLAIN, Write, reading
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.run_records import not_a_run, stray_kind
from trecjudge.inputs.runs import find_runs, open_runs

STRAYS = {
    "topics.jsonl": '{"id": "7", "title": "why is moss green"}\n',
    "requests.jsonl": '{"request_id": "t1", "problem_statement": "Why?", "limit": 2000}\n',
    "topics.json": '[\n {"topic_id": 1, "title": "moss"},\n {"topic_id": 2, "title": "ponds"}]',
    "dragun.jsonl": '{"docid": "d", "url": "https://e.org", "title": "T", "body": "B."}\n',
    "documents.jsonl": '{"docid": "d", "title": "T", "text": "D."}\n',
    "corpus.jsonl": '{"_id": "d", "text": "D.", "metadata": {}}\n'.replace(', "metadata": {}', ""),
    "qrels.json": '{"t1": {"d": 1, "e": 0}, "t2": {"d": 2}}',
    "qrels": "t1 0 d 1\n",
    "labels.jsonl": (
        '{"topic_id": "1", "run_id": "r", "sentence_index": 0, "doc_id": "d", "label": "2"}\n'
    ),
    "README": "Notes.\n",
    "empty.txt": "",
}
LOST = {
    "another format": '{"topic_id": "1", "asked": "Why?", "replied": "Because."}',
    "generated text": '{"id": "1", "title": "Why?", "generated_text": "Because."}',
    "a run's ids": '{"run_id": "r", "id": "1", "text": "Because."}',
    "messages": '{"id": "1", "text": "Why?", "messages": [{"content": "Because."}]}',
    "nothing known": '{"foo": 1}',
    "a line that is cut": '{"topic_id": "1", "title',
    "empty": "",
}


@pytest.mark.parametrize(("name", "text"), STRAYS.items(), ids=STRAYS)
def test_what_is_no_run_is_passed_over_with_a_note(name: str, text: str, write: Write) -> None:
    write(PLAIN, "runs/r.jsonl")
    path = write(text, f"runs/{name}")
    found = reading(*find_runs([path.parent]))
    assert (found.answers, [f.severity for f in found.findings]) == ([("r", "1")], ["note"])


@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_a_run_that_is_lost_is_not_passed_over(text: str, write: Write) -> None:
    assert not_a_run(write(text)) is None
    assert "error" in [finding.severity for finding in reading(write(text)).findings]


@pytest.mark.parametrize("text", [PLAIN, *LOST.values()], ids=["run", *LOST])
def test_what_is_given_as_something_else_is_no_run(text: str, write: Write) -> None:
    path, run = write(text, "x.jsonl"), write(PLAIN, "r.jsonl")
    findings: list[Finding] = []
    found = [
        opened.path for opened in open_runs([path, run], findings.append, {"documents": [path]})
    ]
    assert (found, len(findings)) == (([path, run], 0) if text == PLAIN else ([run], 1))


def test_the_rest_of_a_topic_file_does_not_matter() -> None:
    assert stray_kind([json.loads(STRAYS["documents.jsonl"])]) == "topics or documents"
    assert stray_kind([{"id": "7", "title": "moss"}, {"foo": 1}]) == ""
    assert stray_kind([]) == ""


def test_files_that_are_no_runs_do_not_make_a_folder_refused(write: Write, tmp_path: Path) -> None:
    for name, text in STRAYS.items():
        write(text, f"runs/{name}")
    write(lines(saying("rag25", "It is.")), "runs/r.jsonl")
    done = command("check", tmp_path / "runs", "--json")
    report = json.loads(done.out)
    assert (done.status, [run["run_id"] for run in report["runs"]]) == (0, ["r"])
    assert len(report["beside"]) == len(STRAYS)
    done = judge(tmp_path / "runs", tmp_path / "out", "--judge", "length", "--strict")
    assert (done.status, "README: is not a run; passed over" in done.err) == (0, True)


def test_a_folder_without_a_run_says_what_is_there(write: Write) -> None:
    path = write(STRAYS["topics.jsonl"], "topics.jsonl")
    with pytest.raises(InputError, match=r"topics\.jsonl: holds topics or documents, no responses"):
        open_runs([path], lambda finding: None)

"""Records of run files; and files given as runs that are none."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.check.samples import lines, saying
from tests.commandline import command, judge
from tests.endpoint import attesting, serving
from tests.opens import counted_opens
from tests.reading import PLAIN, Write, reading
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.run_records import KeptRecords, RunRecord, RunRecords, not_a_run, stray_kind
from trecjudge.inputs.runs import RunReader, find_runs, open_runs
from trecjudge.records import Topic

TOPICS = '{"topic_id": "1", "title": "one"}\n{"topic_id": "2", "title": "two"}\n'
STEAM = "0a1b2c3d-0000-4000-8000-000000000000_1"
DOCUMENTS = f'{{"id": "{STEAM}", "text": "Steam whistles."}}\n'
RULE = "field_missing"
"""What the records break: a rule of the track that refuses nothing."""


def record(run_id: str, topic_id: str) -> dict[str, Any]:
    return {
        "metadata": {"team_id": "t", "run_id": run_id, "topic_id": topic_id},
        "responses": [{"text": "Steam whistles.", "citations": [STEAM]}],
        "references": [STEAM],
        "documents": {STEAM: "Steam whistles."},
    }


def in_lines(run_id: str) -> bytes:
    return "".join(json.dumps(record(run_id, t)) + "\n" for t in ("1", "2")).encode()


def in_array(run_id: str) -> bytes:
    return json.dumps([record(run_id, t) for t in ("1", "2")], indent=1).encode()


LAYOUTS: dict[str, Callable[[str], bytes]] = {
    "lines": in_lines,
    "an array on many lines": in_array,
    "gzip": lambda run_id: gzip.compress(in_lines(run_id)),
    "bzip2 of an array": lambda run_id: bz2.compress(in_array(run_id)),
    "a broken line": lambda run_id: in_lines(run_id) + b"{\n",
}


CITATION = ("--judge", "citation")
"""Named: else a job looks at the first record, whether it is a pipeline's."""


def two_runs(write: Write, make: Callable[[str], bytes] = in_lines) -> list[Path]:
    write(TOPICS, "topics.jsonl")
    write(DOCUMENTS, "documents.jsonl")
    return [write(make(run_id), f"runs/{run_id}.jsonl") for run_id in ("r", "s")]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_job_opens_a_run_file_once(layout: str, write: Write, tmp_path: Path) -> None:
    paths = two_runs(write, LAYOUTS[layout])
    with counted_opens(*paths) as opens:
        topics = tmp_path / "topics.jsonl"
        judge(tmp_path / "runs", tmp_path / "out", *CITATION, topics=topics)
    assert (opens, (tmp_path / "out" / "x.config.yml").is_file()) == ([1, 1], True)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        pytest.param(["--no-check"], 1, id="without the rules of the track"),
        pytest.param(["--strict"], 1, id="strict: all is checked before any is judged"),
        pytest.param(["--documents", "documents.jsonl"], 1, id="what is cited is looked at first"),
        pytest.param(["--documents", "documents.jsonl", "--strict"], 1, id="both"),
        pytest.param(["--also", "length"], 1, id="two judges"),
        pytest.param(["--max-topics", "1"], 1, id="the first topic only"),
        pytest.param(["--report"], 2, id="the page shows texts, which nothing else keeps"),
    ],
)
def test_whatever_is_asked_for(
    options: list[str],
    wanted: int,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = two_runs(write)
    monkeypatch.chdir(tmp_path)
    with counted_opens(*paths) as opens:
        done = judge(Path("runs"), Path("out"), *CITATION, *options, topics=Path("topics.jsonl"))
    assert (done.status, opens) == (0, [wanted] * 2)


def test_with_a_model_the_rules_come_before_a_call_and_a_file_is_opened_once(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = two_runs(write)
    with serving(attesting(evidence="Steam")) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        with counted_opens(*paths) as opens:
            judge(tmp_path / "runs", tmp_path / "out", *CITATION, "--use-env-llm")
    log = [json.loads(line) for line in (tmp_path / "out" / "x.log").open()]
    ruled = [n for n, event in enumerate(log) if event.get("kind") == RULE]
    asked = [n for n, event in enumerate(log) if event["event"] == "MODEL_CALL"]
    assert (len(ruled), len(asked), max(ruled) < min(asked)) == (4, 4, True)
    assert opens == [1, 1]


def test_without_a_model_the_rules_come_where_the_record_is(write: Write, tmp_path: Path) -> None:
    two_runs(write)
    judge(tmp_path / "runs", tmp_path / "out")
    log = [json.loads(line) for line in (tmp_path / "out" / "x.log").open()]
    ruled = [n for n, event in enumerate(log) if event.get("kind") == RULE]
    judged = [n for n, event in enumerate(log) if event["event"] == "CITATION_OUTPUT"]
    assert (len(ruled), len(judged)) == (4, 4)
    assert all(before < after for before, after in zip(ruled, judged, strict=True))


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("most", [None, 1], ids=["read to the end", "--max-runs 1"])
def test_the_config_has_the_sha256_of_every_input_as_it_lies_on_disk(
    most: int | None, make: Callable[[str], bytes], write: Write, tmp_path: Path
) -> None:
    paths = [*two_runs(write, make), tmp_path / "topics.jsonl", tmp_path / "documents.jsonl"]
    limit = ["--max-runs", str(most)] if most else []
    options = ["--documents", tmp_path / "documents.jsonl", *limit]
    judge(tmp_path / "runs", tmp_path / "out", *options, topics=paths[2])
    config = yaml.safe_load((tmp_path / "out" / "x.config.yml").read_text())
    wanted = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert {k: v for k, v in config["inputs_sha256"].items() if k in wanted} == wanted


def kept(paths: list[Path], room: int) -> KeptRecords:
    return KeptRecords(RunRecords(open_runs(paths, lambda finding: None)), room)


def seen(records: list[Any], findings: list[Finding]) -> tuple[list[str], list[str]]:
    return [str(r.place) for r in records if isinstance(r, RunRecord)], list(map(str, findings))


@pytest.mark.parametrize(
    ("room", "opens_wanted"),
    [(1 << 20, [1, 1]), (900, [2, 2]), (0, [2, 2])],
    ids=["they fit", "the second file does not", "nothing does"],
)
@pytest.mark.parametrize("first", [None, 2, 6], ids=["all", "two events", "into the second file"])
def test_each_reader_is_given_the_same(
    room: int, opens_wanted: list[int], first: int | None, write: Write
) -> None:
    paths = two_runs(write, LAYOUTS["a broken line"])
    findings = list[Finding]()
    wanted = seen(list(RunRecords(paths).read(findings.append)), findings)
    with counted_opens(*paths) as opens:
        records = kept(paths, room)
        list(islice(records.read(lambda finding: None), first))
        for read in (records.read, records.read_last):
            found = list[Finding]()
            assert seen(list(read(found.append)), found) == wanted
    assert len(wanted[0]) == 4 and len(wanted[1]) == 2
    assert room < 1 << 20 or opens == opens_wanted


def test_what_was_read_for_the_last_time_is_not_kept(write: Write) -> None:
    records = kept(two_runs(write), 1 << 20)
    assert len(list(records.read(lambda finding: None))) == 8
    assert len(list(records.read_last(lambda finding: None))) == 8
    assert list(records.read_last(lambda finding: None)) == []


@pytest.mark.parametrize(
    ("topics", "wanted"),
    [(None, [8, 8]), ({"1"}, [4, 4])],
    ids=["all topics", "half of the topics"],
)
def test_how_many_responses_there_are_follows_from_the_bytes_read(
    topics: set[str] | None, wanted: list[int], write: Write
) -> None:
    paths = [write(in_lines(run_id), f"{run_id}.jsonl") for run_id in "abcd"]
    every = {t: Topic(t) for t in topics} if topics else None
    reader = RunReader(
        paths, lambda finding: None, topics=every, known={"1": Topic("1"), "2": Topic("2")}
    )
    assert reader.expected_responses is None
    expected = [reader.expected_responses for _ in reader]
    assert all(expected) and [expected[-1], reader.expected_responses] == [wanted[0], wanted[1]]


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


def test_a_folder_of_a_dataset_says_how_to_write_a_run(write: Write) -> None:
    data = write(b"\xff\xff\xff\xff\x10", "data-00000-of-00001.arrow")
    beside = write('{"_data_files": [], "_fingerprint": "f", "_split": null}', "state.json")
    told = [str(finding) for finding in map(not_a_run, (data, beside))]
    assert "to_json('run.jsonl')" in told[0] and "the description of a dataset" in told[1]

"""Run files: found, recognised, read in order, checked against topics; samples of one answer."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.reading import PLAIN, SECOND, Read, Write, reading
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.inputs.run_records import looks_like_a_run
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Document, Topic

ONE, BOTH = {"1": Topic("1", "one")}, {"1": Topic("1", "one"), "2": Topic("2", "two")}


def record(run_id: str = "r", topic_id: str = "1", team: str | None = '"t"') -> str:
    team_id = f'"team_id": {team}, ' if team else ""
    metadata = f'{{{team_id}"run_id": "{run_id}", "topic_id": "{topic_id}"}}'
    return f'{{"metadata": {metadata}, "responses": [{{"text": "S.", "citations": []}}]}}\n'


def test_find_runs_names_each_file_once(write: Write, tmp_path: Path) -> None:
    a, b = write("", "runs/a.jsonl"), write("", "runs/team/b")
    assert find_runs([b, tmp_path / "runs", a]) == [b, a]


def test_find_runs_refuses_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run files in it; give JSONL files"):
        find_runs([tmp_path])
    with pytest.raises(InputError, match="gone: no such file or folder"):
        find_runs([tmp_path / "gone"])


def test_a_link_that_leads_nowhere_is_found(write: Write, tmp_path: Path) -> None:
    write(PLAIN, "runs/a.jsonl")
    (tmp_path / "runs" / "b.jsonl").symlink_to(tmp_path / "gone")
    found = reading(*find_runs([tmp_path / "runs"]))
    assert (found.answers, found.kinds) == ([("r", "1")], ["file_unreadable"])


def test_a_file_that_went_away_is_found_and_the_others_are_read(
    write: Write, tmp_path: Path
) -> None:
    found = reading(tmp_path / "gone.jsonl", write(PLAIN))
    assert (found.answers, found.kinds) == ([("r", "1")], ["file_unreadable"])
    assert str(found.findings[0]).startswith(f"{tmp_path}/gone.jsonl: cannot be read: ")


def test_what_gzip_holds_before_it_breaks_off_is_read(write: Write) -> None:
    packed = gzip.compress(f"{PLAIN}\n{SECOND}\n".encode())[:-8]
    found = reading(write(packed, "a.jsonl.gz"), write(record("later"), "b.jsonl"))
    assert found.answers == [("r", "1"), ("r", "2"), ("later", "1")]
    assert found.kinds == ["file_unreadable"]


def test_corrupt_gzip_is_found_and_the_others_are_read(write: Write) -> None:
    corrupt = gzip.compress(PLAIN.encode())[:10] + b"\xff" * 20
    found = reading(write(corrupt, "a.jsonl.gz"), write(record("later"), "b.jsonl"))
    assert (found.answers, found.kinds) == ([("later", "1")], ["file_unreadable"])


@pytest.mark.parametrize("text", ["", "\n \n", "[]", gzip.compress(b"", mtime=0)])
def test_a_file_without_records_is_found(text: str | bytes, read: Read) -> None:
    found = read(text)
    assert (found.answers, found.kinds) == ([], ["file_without_responses"])


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        pytest.param("Notes.\n", "README.md", False, id="prose"),
        pytest.param("a,b\n1,2\n", "scores.csv", False, id="CSV"),
        pytest.param("[a link](https://e.org)\n", "README.md", False, id="Markdown link"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "plot.png", False, id="picture"),
        pytest.param("Notes.\n" * 6 + PLAIN, "README.md", False, id="prose that shows a record"),
        pytest.param(PLAIN, "dragun-run", True, id="no extension"),
        pytest.param(f"Notes.\n{PLAIN}", "run", True, id="a record among the first lines"),
        pytest.param("", "run", True, id="empty"),
        pytest.param("{cut\n" * 6 + PLAIN, "run", True, id="six cut lines first"),
        pytest.param("[\n" + PLAIN + "\n]", "run.json", True, id="pretty array"),
    ],
)
def test_looks_like_a_run(text: str | bytes, name: str, wanted: bool, write: Write) -> None:
    assert looks_like_a_run(write(text, name)) is wanted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN[:-9], id="cut"),
        pytest.param(PLAIN.encode().replace(b"S.", b"S\xff"), id="bad bytes"),
        pytest.param(PLAIN.encode("utf-16")[:-9], id="UTF-16, cut"),
        pytest.param(PLAIN.replace("[]", "[" * 2000 + "]" * 2000), id="nested too deep"),
        pytest.param("// made by hand\n{cut", id="comment first"),
    ],
)
def test_a_run_with_no_readable_record_is_lost_not_passed_over(
    text: str | bytes, read: Read
) -> None:
    found = read(text)
    assert found.answers == []
    assert "error" in [finding.severity for finding in found.findings]
    assert "file_not_a_run" not in found.kinds


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        pytest.param('"question": "what  is X?"', "1", id="by its text"),
        pytest.param('"question": "Y?", "id": 3', "3", id="of two by its id"),
        pytest.param('"question": "Y?"', "", id="one of two"),
        pytest.param('"question": "Z?", "id": 1', "", id="another question"),
    ],
)
def test_a_topic_is_known_by_its_text(record: str, wanted: str, read: Read) -> None:
    every = {t: Topic(t, text) for t, text in {"1": "What is X?", "2": "Y?", "3": "Y?"}.items()}
    found = read(f'{{"answer": "A.", {record}}}', topics=every)
    assert [r.topic_id for r in found.responses] == ([wanted] if wanted else [])
    assert found.kinds[0] == ("topic_by_text" if wanted else "topic_unknown")


def test_a_workbook_is_named_as_one(write: Write, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    old = write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.xls")
    for path in (tmp_path / "a.xlsx", old):
        (finding,) = reading(path).findings
        assert finding.message == "is an Excel workbook; save it as CSV"
        with pytest.raises(InputError, match="is an Excel workbook"):
            read_topics(path, print)


def test_records_after_many_bad_lines_are_read(read: Read) -> None:
    found = read("1\n" * 6 + PLAIN)
    assert (found.answers, found.kinds) == ([("r", "1")], ["record_not_an_object"] * 6)


def test_topics_come_from_the_file_or_from_the_runs(read: Read) -> None:
    text = (
        '{"run_id": "r", "topic_id": "1", "topic": "as the run says", "answer": [{"text": "S."}]}'
    )
    assert [topic.title for topic, _ in read(text, topics=ONE).pairs] == ["one"]
    assert [topic.title for topic, _ in read(text).pairs] == ["as the run says"]


def test_a_topic_that_is_not_in_the_file_is_found(read: Read) -> None:
    found = read(record() + record(topic_id="99"), topics=ONE)
    assert (found.answers, found.kinds) == ([("r", "1")], ["topic_unknown"])
    assert str(found.findings[0]).endswith(
        "run.jsonl:2: answers topic '99', which is not in the topic file"
    )
    assert (found.findings[0].run_id, found.findings[0].topic_id) == ("r", "99")


def test_a_known_topic_that_is_not_wanted_is_no_finding(read: Read) -> None:
    found = read(record() + record(topic_id="2"), topics=ONE, known=BOTH)
    assert (found.answers, found.kinds) == ([("r", "1")], [])


def test_a_missing_response_is_found(read: Read) -> None:
    found = read(record() + record("s", "1") + record("s", "2"), topics=BOTH)
    assert found.kinds == ["response_missing"]
    assert "run 'r' has no response on 1 of 2 topics: 2" in str(found.findings[0])


def test_the_first_of_two_responses_counts(read: Read) -> None:
    found = read(f"{PLAIN}\n{PLAIN.replace('S.', 'Other.')}\n{SECOND}")
    assert [response.text for response in found.responses] == ["S.", "S."]
    assert found.kinds == ["response_duplicate"]
    assert "run.jsonl:2: run 'r' answers topic '1' a second time" in str(found.findings[0])


def test_a_run_may_stand_in_several_files(write: Write) -> None:
    found = reading(write(record(), "1.jsonl"), write(record(topic_id="2"), "2.jsonl"), topics=BOTH)
    assert (found.answers, found.kinds) == ([("r", "1"), ("r", "2")], [])


def test_two_teams_may_use_one_run_id(write: Write) -> None:
    two = record(team='"u"') + record(topic_id="2", team='"u"')
    found = reading(write(record(), "1.jsonl"), write(two, "2.jsonl"))
    assert found.answers == [("r", "1"), ("u/r", "1"), ("u/r", "2")]
    assert found.kinds == ["run_id_conflict"]
    assert "run_id 'r' is also used by team 't'; named 'u/r'" in str(found.findings[0])


@pytest.mark.parametrize(
    ("first", "second"), [('"t"', None), (None, '"t"'), ('"t"', "null")], ids=str
)
def test_a_line_without_its_team_stays_in_its_run(
    first: str | None, second: str | None, read: Read
) -> None:
    found = read(record(team=first) + record(topic_id="2", team=second), topics=BOTH)
    assert (found.answers, found.kinds) == ([("r", "1"), ("r", "2")], ["team_id_missing"])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("a.jsonl", "a"), ("a.jsonl.gz", "a"), ("team/a.b", "a.b"), ("my run.jsonl", "my run")],
)
def test_a_run_without_run_id_is_named_by_its_file(name: str, wanted: str, read: Read) -> None:
    found = read(PLAIN.replace('"run_id"', '"x"'), name)
    assert (found.answers, found.kinds) == ([(wanted, "1")], ["run_id_missing"])


def test_max_runs_takes_the_first_runs_whole(read: Read) -> None:
    text = record("a") + record("b") + record("a", "2") + record("c")
    assert read(text, max_runs=1).answers == [("a", "1"), ("a", "2")]


@pytest.mark.parametrize(
    ("dataset", "kinds"),
    [("auto", []), ("ragtime", []), ("rag", ["file_other_dataset"])],
)
def test_a_run_of_another_dataset_is_found(dataset: str, kinds: list[str], read: Read) -> None:
    found = read(f"{PLAIN}\n{SECOND}", dataset=dataset)
    assert (len(found.responses), found.kinds) == (2, kinds)


def test_what_a_file_was_taken_for_is_reported_once(write: Write) -> None:
    seen: list[tuple[Any, ...]] = []
    path = write(f"{PLAIN}\n{SECOND}")
    reading(path, taken=lambda *what: seen.append(what))
    assert seen == [(path, "ragtime", "it has `responses`")]


def test_a_record_of_no_known_format_is_found(read: Read) -> None:
    found = read('{"foo": 1, "bar": 2}\n' + PLAIN)
    assert (found.answers, found.kinds) == ([("r", "1")], ["record_unknown_shape"])
    assert "neuclir24, rag24, rag25, ragtime" in found.findings[0].message
    assert "keys ['bar', 'foo']" in found.findings[0].message


def test_documents_given_beside_the_runs_are_found(read: Read) -> None:
    store = HeldDocuments({"d": Document("d", "D.")})
    text = PLAIN.replace("[]", '["d", "gone"]')
    found = read(text, store=store)
    assert (dict(found.response.documents), found.kinds) == (
        {"d": Document("d", "D.")},
        ["document_missing"],
    )


@pytest.mark.parametrize(("own", "text"), [(False, "store"), (True, "run")])
def test_a_document_beside_the_runs_goes_before_that_of_the_run(
    own: bool, text: str, read: Read
) -> None:
    store = HeldDocuments({i: Document(i, "store") for i in "ab"} | {"c": Document("c")})
    cited = PLAIN.replace("[]", '["a", "b", "c"]')
    documents = '{"a": "run", "b": null, "c": "run"}'
    found = read(f'{cited[:-1]}, "documents": {documents}}}', store=store, own_documents=own)
    texts = {i: document.text for i, document in found.response.documents.items()}
    assert texts == {"a": text, "b": "store", "c": "run"}
    assert found.kinds == ["document_differs"]


def test_text_of_documents_that_the_organiser_lacks_is_reported(read: Read) -> None:
    store = HeldDocuments({"d": Document("d", "One."), "c": Document("c")})
    documents = '{"d": "One.", "D": "Forged.", "d\\u200b": "Forged.", "c": "Own.", "e": ""}'
    text = f'{PLAIN[:-1]}, "documents": {documents}}}'
    found = read(text, store=store)
    assert found.kinds == ["documents_beside", "own_document_empty"]
    assert "carries 2 documents that --documents lacks, such as 'D'" in str(found.findings[0])
    assert "documents_beside" not in read(text).kinds


def carrying(text: str, topic_id: str, run_id: str = "r") -> str:
    """Return a record that carries this text as `d`."""
    return f'{record(run_id, topic_id)[:-2]}, "documents": {{"d": "{text}"}}}}\n'


@pytest.mark.parametrize(
    ("texts", "reported"),
    [
        pytest.param(["One.", " One. ", "One."], 0, id="the same but for white space"),
        pytest.param(["One.", "Two.", "Three."], 1, id="another, reported once"),
        pytest.param(["One.", "", "One."], 0, id="none is another finding"),
    ],
)
def test_texts_that_a_run_carries_under_one_id(texts: list[str], reported: int, read: Read) -> None:
    lines = [carrying(text, str(number)) for number, text in enumerate(texts)]
    assert read("".join(lines)).kinds.count("document_varies") == reported


def test_texts_that_runs_carry_under_one_id(write: Write) -> None:
    files = [
        write(carrying(t, "1", run), f"{run}.jsonl") for run, t in zip("abc", "XYX", strict=True)
    ]
    (found,) = reading(*files).findings
    assert (found.kind, found.run_id, found.topic_id) == ("document_varies", "b", "1")
    assert "carries 'd' with another text than an earlier record" in str(found)
    held = HeldDocuments({"d": Document("d", "X")})
    (found,) = reading(*files, store=held).findings
    assert (found.kind, found.run_id) == ("document_differs", "b")


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_a_file_name_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    path.write_text(PLAIN)
    assert reading(*find_runs([tmp_path])).answers == [("r", "1")]


def test_what_is_whole_in_an_array_that_is_cut_is_read(read: Read) -> None:
    found = read("[\n" + PLAIN + ",\n" + SECOND)
    assert found.answers == [("r", "1"), ("r", "2")]
    assert found.kinds == ["line_not_json"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("r.jsonl", []), ("t-r.jsonl.gz", []), ("r", []), ("other.jsonl", ["file_name_differs"])],
)
def test_a_file_that_is_not_called_after_its_run(name: str, kinds: list[str], write: Write) -> None:
    findings: list[Finding] = []
    list(RunReader([write(PLAIN, name)], findings.append))
    assert [finding.kind for finding in findings] == kinds


def test_only_wanted_runs(read: Read) -> None:
    other = PLAIN.replace('"run_id": "r"', '"run_id": "s"')
    found = read(f"{PLAIN}\n{other}", only_runs=["s", "u"])
    assert found.answers == [("s", "1")]
    assert found.kinds == ["run_not_there"]


def test_no_further_file_is_read_once_there_are_enough_runs(write: Write) -> None:
    first, second = write(PLAIN, "a"), write("{not JSON", "b")
    assert reading(first, second, max_runs=1).kinds == []


def test_a_file_given_by_two_spellings_is_one(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(PLAIN, "a.jsonl")
    monkeypatch.chdir(tmp_path)
    assert find_runs([Path("a.jsonl"), path, tmp_path]) == [Path("a.jsonl")]


@pytest.mark.parametrize(
    ("wanted", "topics", "kinds"),
    [
        pytest.param({"only_topics": ["2"]}, ["2"], [], id="one"),
        pytest.param({"only_topics": ["2", "9"]}, ["2"], ["topic_not_there"], id="one that is not"),
        pytest.param({"max_topics": 1}, ["1"], [], id="the first"),
        pytest.param({"max_topics": 5}, ["1", "2"], [], id="more than there are"),
        pytest.param({"only_topics": ["2"], "max_topics": 1}, ["2"], [], id="the first of these"),
    ],
)
def test_topics_are_chosen_among_those_of_the_runs(
    wanted: dict[str, Any], topics: list[str], kinds: list[str], read: Read
) -> None:
    record = PLAIN.replace('"topic_id": "1"', '"topic_id": "%s"')
    found = read("\n".join(record % topic for topic in ("1", "2")), **wanted)
    assert [topic.topic_id for topic, _ in found.pairs] == topics
    lacking = [finding.message for finding in found.findings if finding.kind == "topic_not_there"]
    assert lacking == ["unknown topic '9'; there are: 1, 2" for _ in kinds]


TRACK = {"run_id": "r", "references": [], "answer": [{"text": "S.", "citations": []}]}


def pipeline_record(answer: str, **more: Any) -> dict[str, Any]:
    """Return a record of a pipeline on topic 1."""
    return {"topic_id": "1", "question": "Q?", "answer": answer, "contexts": ["A."], **more}


def track(answer: str, **more: Any) -> dict[str, Any]:
    """Return a record of RAG 2024 on topic 1."""
    return {"topic_id": "1", **TRACK, "answer": [{"text": answer, "citations": []}], **more}


SAMPLES = {
    "by a key": ([pipeline_record("A.", sample=0), pipeline_record("A.", sample=1)], "1 1~1", 0),
    "by name": ([pipeline_record("A.", repeat="x"), pipeline_record("B.", repeat="y")], "1 1~y", 0),
    "a key in the metadata": (
        [
            pipeline_record("A.", metadata={"epoch": 1}),
            pipeline_record("B.", metadata={"epoch": 2}),
        ],
        "1 1~2",
        0,
    ),
    "a number beside an id": (
        [
            pipeline_record("A.", sample_id="q", epoch=1),
            pipeline_record("B.", sample_id="q", epoch=2),
        ],
        "1 1~2",
        0,
    ),
    "no key": (
        [pipeline_record("A."), pipeline_record("B."), pipeline_record("C.")],
        "1 1~2 1~3",
        2,
    ),
    "the same to the letter": ([pipeline_record("A."), pipeline_record("A.")], "1", 1),
    "one sample twice": (
        [pipeline_record("A.", sample=1), pipeline_record("A.", sample=1)],
        "1",
        1,
    ),
    "one name": ([pipeline_record("A.", sample=1), pipeline_record("B.", sample=1)], "1 1~2", 1),
    "a run of a track": ([track("A."), track("B.")], "1", 1),
    "of one by a key": ([track("A.", sample=1), track("B.", sample=2)], "1 1~2", 0),
    "the second by a key": ([track("A."), track("B.", sample=2)], "1 1~2", 0),
}


@pytest.mark.parametrize(("records", "ids", "found"), SAMPLES.values(), ids=SAMPLES)
def test_what_is_a_sample(records: list[dict[str, Any]], ids: str, found: int, read: Read) -> None:
    seen = read("\n".join(map(json.dumps, records)), name="r")
    assert [response.topic_id for response in seen.responses] == ids.split()
    assert {response.topic_asked for response in seen.responses} == {"1"}
    assert [topic.topic_id for topic, _ in seen.pairs] == ids.split()
    assert seen.kinds.count("response_duplicate") == found


def test_what_a_record_says_was_retrieved(read: Read) -> None:
    cases = {
        "references of RAG 2024": ({"references": ["a", "b"]}, ("a", "b")),
        "said, by ids or objects": ({"retrieved": ["b", {"docid": "c"}]}, ("b", "c")),
    }
    wrong = {
        name: found
        for name, (more, retrieved) in cases.items()
        if (found := read(json.dumps(track("A.", **more))).response.retrieved) != retrieved
    }
    assert not wrong


ANSWERS = [
    "The Alder bridge opened in 1931.",
    "It fell into the sea in 1660.",
    "It opened in 1931.",
]


def test_samples_stay_apart_in_every_file_and_part(tmp_path: Path) -> None:
    """A whole job, workers and merged parts write the same, and a second job judges nothing."""
    run = tmp_path / "r.jsonl"
    lines = [
        pipeline_record(
            text, epoch=n, topic_id=topic, contexts=["The Alder bridge opened in 1931."]
        )
        for n, text in enumerate(ANSWERS)
        for topic in "12"
    ]
    run.write_text("\n".join(map(json.dumps, lines)))
    job = ("--rag-responses", run, "--judge", "grounding", "--no-check", "-q", "--out-dir")
    done = [command(*job, tmp_path / "one", "--name", "x")]
    done += [command(*job, tmp_path / "many", "--name", "x", "--workers", "2")]
    done += [
        command(*job, tmp_path / "parts", "--name", "x", "--shard", f"{n}/3") for n in (1, 2, 3)
    ]
    done += [
        command("job", "merge", tmp_path / "parts", "--out-dir", tmp_path / "all", "--name", "x")
    ]
    done += [command("report", tmp_path / "one")]
    assert [one.status for one in done] == [0] * 7, [one.err for one in done]
    assert "samples: run r has 6 samples of 2 topics: EXPECTED_FACTUALITY spread" in done[5].out
    files = [tmp_path / folder / "x.leaderboard.jsonl" for folder in ("one", "many", "all")]
    first, *others = [file.read_bytes() for file in files]
    assert others == [first, first]
    assert json.loads(first.splitlines()[0])["samples"]["samples"] == 6

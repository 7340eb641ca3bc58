"""`judgments` and `show`: judgments by run, topic, label, document and word; files of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.jobs import partly_judged
from tests.commandline import Done, command, sample
from trecjudge.inputs.pipelines.parts import id_of_question
from trecjudge.show.formats import TopicNames


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample data of RAG, judged."""
    folder = tmp_path_factory.mktemp("judged")
    sample("rag", folder, "-q")
    return folder


def rows(done: Done) -> list[str]:
    """Return the lines of a list without its header."""
    assert done.status == 0, done.err
    assert all(len(line) <= 80 for line in done.out.splitlines())
    return done.out.splitlines()[1:]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param([], 39, id="all"),
        pytest.param(["--run", "careless"], 18, id="run"),
        pytest.param(["--run", "careless", "--label", "missing_document"], 1, id="no document"),
        pytest.param(["--run", "uncited", "--run", "careful", "--topic", "12"], 7, id="topic"),
        pytest.param(["--doc", "9"], 1, id="as cited"),
        pytest.param(["--text", "FOG HORN with two"], 2, id="word in any case"),
        pytest.param(["--unjudged"], 0, id="unjudged"),
        pytest.param(["--limit", "3"], 3, id="limit"),
    ],
)
def test_judgments_that_are_wanted(folder: Path, options: list[str], count: int) -> None:
    assert len(rows(command("job", "judgments", folder, *options))) == count


def test_not_supported_is_not_a_missing_document(folder: Path) -> None:
    short = rows(command("job", "judgments", folder, "--label", "none"))
    whole = rows(command("job", "judgments", folder, "--label", "NO_SUPPORT"))
    assert short == whole != []
    assert all(" no_support " in line for line in short)


def test_sentences_count_from_one_for_people_and_from_zero_in_files(
    folder: Path, tmp_path: Path
) -> None:
    (line,) = rows(command("job", "judgments", folder, "--doc", "9"))
    target = tmp_path / "x.jsonl"
    command("job", "judgments", folder, "--doc", "9", "--output", target)
    record = json.loads(target.read_text())
    assert line.split()[2] == str(record["sentence_index"] + 1)
    assert (record["verdict"], record["exists"]) == ("missing_document", False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--label", "nnoe"], "unknown label 'nnoe'; there are: full_", id="label"),
        pytest.param(["--run", "carefull"], "did you mean 'careful'", id="run"),
        pytest.param(["--judge", "suport"], "unknown judge 'suport'", id="judge"),
        pytest.param(["--output", "x.xls"], "'.xls'", id="ending"),
    ],
)
def test_what_is_not_there_is_told_with_the_choices(
    folder: Path, options: list[str], message: str
) -> None:
    done = command("job", "judgments", folder, *options)
    assert (done.status, message in done.err) == (1, True), done.err


def test_unjudged_items_are_a_kind_of_their_own(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    assert len(rows(command("job", "judgments", path, "--unjudged", "--run", "b"))) == 4
    assert "10 judgments on 10 responses" in command("job", "judgments", path, "--unjudged").err


@pytest.mark.parametrize(("ending", "parted"), [("csv", ","), ("tsv", "\t")])
def test_tables_that_a_spreadsheet_does_not_calculate(
    tmp_path: Path, ending: str, parted: str
) -> None:
    record = {
        "metadata": {"team_id": "t", "run_id": "=1+1", "topic_id": "1"},
        "responses": [{"text": "Steam\tsings, it is said.", "citations": ["k"]}],
        "documents": {"k": {"text": "Steam sings."}},
    }
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(record))
    out = tmp_path / "out"
    command("--rag-responses", runs, "--judge", "citation", "--out-dir", out, "-q")
    target = tmp_path / f"x.{ending}"
    assert command("job", "judgments", out, "--output", target).status == 0
    with target.open(newline="") as file:
        (row,) = csv.DictReader(file, delimiter=parted)
    assert (row["run_id"], row["sentence_index"]) == ("'=1+1", "0")
    assert " ".join(row["text"].split()) == "Steam sings, it is said."


def test_show_answers_all_unsupported_citations_of_a_run(folder: Path) -> None:
    done = command("show", folder, "--run", "careless", "--label", "none")
    assert done.status == 0
    count = len(rows(command("job", "judgments", folder, "--run", "careless", "--label", "none")))
    assert done.out.count("no_support (citation)") == count > 5
    summary, by_topic, *shown = done.out.splitlines()
    assert summary == "citation: 14 of 18 no_support, 1 missing document, 3 full_support"
    assert by_topic == "  no_support, missing document by topic: 12 6 of 7, 13 5 of 6, 11 4 of 5"
    assert not any("missing document" in line or "careful on" in line for line in shown)


def test_show_of_a_run_shows_all_its_topics(folder: Path) -> None:
    done = command("show", folder, "--run", "uncited")
    assert [line for line in done.out.splitlines() if line.startswith("uncited on")] == [
        "uncited on 11",
        "uncited on 12",
        "uncited on 13",
    ]


def test_show_needs_to_know_what(folder: Path) -> None:
    done = command("show", folder)
    assert (done.status, "give --run, --topic" in done.err) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        "job judgments {job} --output {job}/x.judgments.jsonl",
        "labels next {job} --output {job}/x.judgments.jsonl",
        "job convert {job} {job}/x.judgments.jsonl --to csv",
        "gate {job} --min CITATION_SUPPORT=0 --junit {job}/x.judgments.jsonl",
    ],
    ids=["judgments", "label-next", "convert", "gate"],
)
def test_no_command_writes_over_the_judgments_of_a_job(folder: Path, words: str) -> None:
    kept = (folder / "x.judgments.jsonl").read_bytes()
    done = command(*words.format(job=folder).split())
    assert (done.status, done.err) == (
        1,
        f"error: {folder}/x.judgments.jsonl: has the judgments of a job, which are kept; give"
        " another file\n",
    )
    assert (folder / "x.judgments.jsonl").read_bytes() == kept


def test_topics_without_an_id_are_named_by_their_question(tmp_path: Path) -> None:
    questions = ("When did the new harbour tram open?", "Who may vote?")
    records = [
        {"question": question, "answer": "In 2021.", "contexts": ["It opened in 2021."]}
        for question in questions
    ] + [{"qid": "how-1", "question": "How?", "answer": "So.", "contexts": ["So."]}]
    runs = tmp_path / "r.jsonl"
    runs.write_text("\n".join(map(json.dumps, records)))
    out = tmp_path / "out"
    command("--rag-responses", runs, "--out-dir", out, "-q")
    shown = command("job", "judgments", out).out
    assert " who may vote " in shown and " how-1 " in shown
    assert "when d" in shown and id_of_question(questions[0]) not in shown
    assert id_of_question(questions[1]) in command("job", "judgments", out, "--topic", "x").err


@pytest.mark.parametrize(
    ("topic_ids", "names"),
    [
        (["who-may-vote-b7a3c912"], ["who may vote"]),
        (["who-may-vote-b7a3c912~s2"], ["who may vote~s2"]),
        (["who-may-vote-b7a3c912", "who-may-vote-a7a3c912"], ["who may vote", None]),
        (["161", "topic-20250101", "a-b-deadbeef", "b7a3c912"], [None] * 4),
    ],
    ids=["made", "of a sample", "alike", "given"],
)
def test_names_of_topics(topic_ids: list[str], names: list[str | None]) -> None:
    wanted = [name or own for name, own in zip(names, topic_ids, strict=True)]
    topics = TopicNames()
    assert [topics.of(topic_id) for topic_id in topic_ids] == wanted

"""Records in place of files: they are judged as the files are that they were read from."""

from __future__ import annotations

import gc
import json
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import pytest

import trecjudge
from tests.commandline import SAMPLES
from trecjudge import (
    Citation,
    Document,
    FindingWarning,
    InputError,
    Response,
    Sentence,
    Topic,
    TrecJudgeError,
)

SAME = ("leaderboard", "statistics", "qrels", "judgments")


def records(path: Path) -> list[dict[str, Any]]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.filterwarnings("ignore::trecjudge.api.inputs.FindingWarning")
@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
@pytest.mark.parametrize("judge", ["citation", "length"])
def test_records_are_judged_as_files(dataset: str, judge: str) -> None:
    folder = SAMPLES / dataset
    runs, topics = folder / "runs", folder / "topics.jsonl"
    documents = folder / "documents.jsonl"
    files = trecjudge.judge(runs, judge, topics=topics, documents=documents)
    dicts = trecjudge.judge(
        records(runs), judge, topics=records(topics), documents=iter(records(documents))
    )
    nouns = trecjudge.judge(
        trecjudge.read_runs(runs, documents=documents),
        judge,
        topics=trecjudge.read_topics(topics),
        documents=trecjudge.read_documents(documents),
    )
    for what in SAME:
        expected = files.files[what].read_bytes()
        assert dicts.files[what].read_bytes() == expected
        assert nouns.files[what].read_bytes() == expected


def response(*citations: Citation, **more: Any) -> Response:
    return Response("r", "1", (Sentence(0, "The Perch sails.", citations),), **more)


TEXT = "The Perch sails."


@pytest.mark.parametrize(
    ("given", "documents", "labels"),
    [
        pytest.param(
            response(Citation("d", "d"), documents={"d": Document("d", TEXT)}), (),
            ["full_support"], id="a document that it carries",
        ),
        pytest.param(
            response(Citation("d", "d")), {"d": TEXT}, ["full_support"], id="one beside it"
        ),
        pytest.param(
            response(Citation("d", "d")), [Document("d", TEXT)], ["full_support"], id="a record"
        ),
        pytest.param(
            response(Citation("7", "0", 0.5), references=("7",)), {"7": TEXT}, ["full_support"],
            id="an index with a score",
        ),
        pytest.param(
            response(Citation(None, "9"), references=("d",)), {"d": TEXT}, ["no_support"],
            id="an index that is nothing",
        ),
        pytest.param(
            response(Citation("d", "d"), Citation("e", "e"), documents={"d": Document("d", "")}),
            {"e": TEXT}, ["no_support", "full_support"], id="not there",
        ),
        pytest.param(
            response(Citation("d", "d"), documents={"d": Document("d", "", own=True)}), (),
            ["no_support"], id="carried without text",
        ),
        pytest.param(response(Citation("d", "d")), (), [None], id="no document anywhere"),
        pytest.param(response(), {"d": TEXT}, [], id="no citation"),
    ],
)  # fmt: skip
def test_a_response_made_by_hand(given: Response, documents: Any, labels: list[str | None]) -> None:
    result = trecjudge.judge([given], "citation", documents=documents)
    assert [judgment.label for judgment in result.judgments()] == labels


def test_two_runs_of_odd_names_stay_two() -> None:
    names = ("a/b", "a b", ".hidden", "x" * 300)
    given = [Response(name, "1", (Sentence(0, "Said."),)) for name in names]
    assert sorted(trecjudge.judge(given, "length").ranking) == sorted(names)


def test_a_problem_is_named_by_the_record() -> None:
    good = {"metadata": {"run_id": "r", "topic_id": "1"}, "responses": [{"text": "Said."}]}
    result = trecjudge.judge([good, {"odd": 1}], "length")
    first = next(f for f in result.findings if f.severity == "error")
    assert str(first).startswith("runs/runs.jsonl:1: is of no known format")
    assert not result.complete


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": [5]}, "record 1 is 5, not an object"),
        ({"runs": {"a": 1}}, "give paths, or a list of records"),
        ({"runs": ["a", {"b": 1}]}, "beside paths"),
        ({"topics": [{"topic_id": "1", "title": {1}}]}, "topics: record 1 is not JSON"),
        ({"topics": ["a", "b"]}, "2 files; give one"),
        ({"documents": [None]}, "documents: record 1 is None"),
    ],
)
def test_what_is_no_record_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        trecjudge.judge(**{"runs": [response()], "judges": "length"} | arguments)


def test_topics_by_id() -> None:
    result = trecjudge.judge([response()], "length", topics={"1": "ferries", "2": "trains"})
    found = {(score.topic_id, score.reason) for score in result.scores}
    assert found == {("1", ""), ("2", "no response")}
    topic = Topic("1", "t", "p", "b", "body", "u", 9)
    assert trecjudge.judge([response()], "length", topics=[topic]).complete


def test_a_reader_warns_of_what_bears_on_a_score() -> None:
    with pytest.warns(FindingWarning) as caught:
        list(trecjudge.read_runs(SAMPLES / "rag/runs"))
    assert any("sentence 3 cites 9, references has 5" in str(one.message) for one in caught)


BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "max_topics 0": ({"max_topics": 0}, "max_topics is 0: give a whole number from 1"),
    "max_topics text": ({"max_topics": "2"}, "max_topics is '2'"),
    "max_runs below": ({"max_runs": -1}, "max_runs is -1"),
    "one topic by its name": ({"only_topics": "12x"}, "unknown topic '12x'"),
    "one run by its name": ({"only_runs": "careles"}, "unknown run 'careles'"),
    "settings as flags": ({"settings": ["unit=words"]}, "settings: .*give a dict"),
    "a workflow as a list": ({"workflow": [1]}, "is not a path"),
    "a cache of None": ({"cache_from": [None]}, "None is not a path"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_an_argument_that_cannot_be_is_said(case: str) -> None:
    options, message = BAD_ARGUMENTS[case]
    folder = SAMPLES / "rag"
    with pytest.raises(TrecJudgeError, match=message):
        trecjudge.judge(folder / "runs", "length", topics=folder / "topics.jsonl", **options)


def test_nothing_is_as_good_as_an_empty_list_and_one_name_as_a_list_of_it() -> None:
    folder = SAMPLES / "rag"
    options: dict[str, Any] = {"topics": folder / "topics.jsonl", "documents": None, "also": None}
    result = trecjudge.judge(folder / "runs", None, only_runs="careful", only_topics=11, **options)
    assert {(score.run_id, score.topic_id) for score in result.scores} == {("careful", "11")}


def test_numbers_of_numpy_in_records() -> None:
    (first, *_) = records(SAMPLES / "rag" / "runs" / "careful.jsonl")
    first["note"] = numpy.int64(3)
    assert trecjudge.judge([first], "length").ranking == ("careful",)


def test_a_warning_names_the_line_of_the_caller() -> None:
    with pytest.warns(FindingWarning) as caught:
        list(trecjudge.read_runs(SAMPLES / "rag" / "runs"))
    ours = [warning for warning in caught if warning.category is FindingWarning]
    assert {warning.filename for warning in ours} == {__file__}


@pytest.mark.parametrize("wanted", [1, 9], ids=["some", "all"])
def test_a_reader_leaves_no_file_open(wanted: int) -> None:
    gc.freeze()  # what other tests left is not looked at
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read = trecjudge.read_runs(SAMPLES / "rag" / "runs", on_finding=lambda finding: None)
        assert len(list(islice(read, wanted))) == wanted
        del read
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize("name", ["runs", "topics", "documents"])
def test_a_frame_is_no_list_of_paths(name: str) -> None:
    class Frame(list[str]):  # who goes through one meets its columns
        columns = ("run_id",)

    options: dict[str, Any] = {"runs": SAMPLES / "rag" / "runs"} | {name: Frame(["run_id"])}
    with pytest.raises(InputError, match=f"{name}: a data frame: give its records"):
        trecjudge.judge(judges="length", **options)

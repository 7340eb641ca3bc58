"""Runs made: order, bounded look-ahead, failures, counts, files; and the filter of documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.baseline.generate.material import answer, found
from trecjudge.baseline.generate.formats import RunFacts, format_for
from trecjudge.baseline.generate.runs import (
    LOOK_AHEAD,
    RunCounts,
    answer_all,
    index_name,
    provenance_lines,
    write_run,
)
from trecjudge.baseline.index.filters import parse_filter
from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.records import Answer
from trecjudge.errors import InputError, ModelError
from trecjudge.records import Failure, Topic

FACTS = RunFacts("r", "lab", "made up", None, "docs.index", "2026-01-02T03:04:05+00:00")
SAID = answer(Topic("1", "t"), [("Trams run daily.", ["a", "b"]), ("So do ferries.", ["b"])])
EMPTY = replace(answer(Topic("2", "t"), []), abstained="nothing was found")
FAILED = Answer(Topic("3", "t"), (), (), failure=Failure("transport", "no reply"))


def test_answers_come_in_order_and_few_are_begun() -> None:
    begun: list[str] = []
    most = 0

    async def slow(topic: Topic) -> Answer:
        begun.append(topic.topic_id)
        # The later ones end first.
        await asyncio.sleep((40 - int(topic.topic_id)) / 20_000)
        return answer(topic, [])

    async def run() -> list[str]:
        nonlocal most
        order: list[str] = []
        async for one in answer_all((Topic(str(n)) for n in range(40)), slow, in_flight=2):
            order.append(one.topic.topic_id)
            most = max(most, len(begun) - len(order))
        return order

    assert asyncio.run(run()) == [str(n) for n in range(40)]
    assert 1 < most <= 2 * LOOK_AHEAD


def test_an_error_ends_all_that_is_under_way() -> None:
    ended: list[str] = []

    async def broken(topic: Topic) -> Answer:
        if topic.topic_id == "0":
            raise ModelError("wrong key")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(topic.topic_id)
        return answer(topic, [])

    async def run() -> None:
        async for _ in answer_all((Topic(str(n)) for n in range(3)), broken, in_flight=1):
            pass

    with pytest.raises(ModelError, match="wrong key"):
        asyncio.run(run())
    assert sorted(ended) in ([], ["1", "2"])


async def each(*listed: Answer) -> AsyncIterator[Answer]:
    for one in listed:
        yield one


def write(path: Path, *listed: Answer) -> RunCounts:
    return asyncio.run(write_run(each(*listed), path, format_for("ragtime25"), FACTS))


def test_a_failed_topic_has_no_record_and_an_abstention_an_empty_one(tmp_path: Path) -> None:
    made = write(tmp_path / "r.jsonl", SAID, EMPTY, FAILED)
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    assert ['"1"' in lines[0], '"responses":[]' in lines[1], len(lines)] == [True, True, 2]
    assert len((tmp_path / "r.provenance.jsonl").read_text().splitlines()) == 3
    counts = made.as_dict()
    assert (counts["answered"], counts["abstained"], counts["failed"]) == (1, 1, 1)
    assert (counts["sentences"], counts["cited"], counts["citations"], counts["words"]) == (
        2,
        2,
        3,
        6,
    )
    assert (counts["mean_confidence"], made.abstentions) == (0.5, {"2": "nothing was found"})


def test_nothing_is_written_where_all_failed_or_something_broke(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("old")
    with pytest.raises(ModelError, match="no reply"):
        write(tmp_path / "r.jsonl", FAILED)

    async def breaks() -> AsyncIterator[Answer]:
        yield SAID
        raise ModelError("wrong key")

    with pytest.raises(ModelError, match="wrong key"):
        path = tmp_path / "r.jsonl"
        asyncio.run(write_run(breaks(), path, format_for("ragtime25"), FACTS))
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]
    assert (tmp_path / "r.jsonl").read_text() == "old"


def test_a_line_of_provenance_for_each_citation() -> None:
    lines = list(provenance_lines(SAID, FACTS))
    assert [(x["sentence_index"], x["doc_id"], x["quote"]) for x in lines] == [
        (0, "a", "Trams run daily."),
        (0, "b", "Trams run daily."),
        (1, "b", "So do ferries."),
    ]
    first = lines[0]
    assert (first["document_version"], first["document_digest"]) == ("v1", "sha-a")
    assert (first["retriever"], first["index_version"]) == ("bm25", "index-1")
    assert (first["index"], first["time"]) == ("docs.index", FACTS.time)
    assert list(provenance_lines(EMPTY, FACTS)) == []


def test_the_confidence_counted_is_that_of_the_first_search() -> None:
    made = RunCounts()
    again = replace(found(), confidence=0.9)
    made.add(replace(SAID, retrieved=(found(), again)))
    assert made.mean_confidence == 0.5
    assert RunCounts().mean_confidence is None


def test_no_secret_is_in_the_name_of_an_index() -> None:
    cases = [
        ("out/docs.index", "out/docs.index"),
        (
            "postgresql://ann:secret@db.example:5432/docs?password=x",
            "postgresql://db.example:5432/docs",
        ),
        ("postgresql://ann:sec?ret@db.example/docs", "postgresql://"),
        ("postgresql://ann:se/cret@db.example/docs", "postgresql://db.example/docs"),
        ("postgresql:///docs?user=ann&password=x", "postgresql:///docs"),
    ]
    wrong = [(where, name) for where, name in cases if index_name(where) != name]
    assert not wrong


def test_filters() -> None:
    assert parse_filter([]) is None
    written = ["lang=en", "lang=de", "since=2024-01-01", "title=a=b"]
    wanted = Filter({"lang": ["en", "de"], "title": ["a=b"]}, since="2024-01-01")
    assert parse_filter(written) == wanted
    for wrong in ("lang", "=en", "lang="):
        with pytest.raises(InputError, match="FIELD=VALUE"):
            parse_filter([wrong])
    with pytest.raises(InputError, match="give it once"):
        parse_filter(["since=1", "since=2"])

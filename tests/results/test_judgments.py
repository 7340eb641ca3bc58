"""The judgments file: what is written is read back; a file that is cut is known."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes import judgment, response
from tests.provenance import line
from trecjudge.errors import InputError
from trecjudge.records import FULL, Claim, Evidence, Fact, Failure, Sign, Source
from trecjudge.results.judgments import (
    Header,
    JudgmentsReader,
    JudgmentsWriter,
    response_of,
    response_record,
)
from trecjudge.show.terminal import find_response

RESPONSE = response(("One.", ["d1"]), ("Two.", []))
JUDGMENTS = [
    judgment(FULL, judge="citation", doc_id="d1", grade=2, evidence=Evidence(0, 4, "One.")),
    judgment(judge="citation", doc_id="d2", failure=Failure("cut", "too long", 3)),
    judgment(
        "ATTRIBUTED",
        judge="citation",
        claim=Claim(0, "One.", 0, ("d1",), 0.5),
        match="EXACT",
        sources=(Source("d1", 0, 4, "One.", 0.9, "N", "u", "2024", "2"),),
    ),
    judgment("no_support", judge="citation", expected=0.0),
    judgment("USED", judge="citation", facts=(Fact("One.", 0, 4, True), Fact("Two.", 5, 9))),
]
HEADER = Header({"citation": {"partial": 0.5}}, {"sort_by": "X"}, ("m:f",), ("t1", "t2"), True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.judgments.jsonl"
    with path.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(HEADER)
        writer.response(RESPONSE, [("citation", judgment) for judgment in JUDGMENTS])
        writer.response(response(topic_id="t2"), [])
        writer.end()
    return path


def test_round_trip(path: Path) -> None:
    reader = JudgmentsReader(path)
    (first, judgments), (second, none) = reader
    assert reader.header == HEADER
    assert (first.sentences, judgments) == (RESPONSE.sentences, JUDGMENTS)
    assert (second.topic_id, none) == ("t2", [])


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (slice(0, 0), "is not a judgments file"),
        (slice(1, 9), "is not a judgments file"),
        (slice(0, 4), "is cut"),
        (slice(0, 1), "is cut"),
    ],
    ids=["empty", "no header", "no end", "header only"],
)
def test_a_file_that_is_not_whole(path: Path, keep: slice, message: str) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[keep]))
    with pytest.raises(InputError, match=message):
        list(JudgmentsReader(path))


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (lambda whole: whole, r"jsonl:10: begins a second judgments file"),
        (lambda whole: whole[1:], r"jsonl:10: a 'response' record follows the end"),
        (lambda whole: whole[-1:], r"jsonl:10: a 'end' record follows the end"),
        (lambda whole: ["{}\n"], r"jsonl:10: a None record follows the end"),
        (lambda whole: ["x\n"], r"jsonl:10: is not JSON"),
    ],
    ids=["a file", "a file without header", "an end", "an object", "a word"],
)
def test_nothing_follows_the_end(
    path: Path, added: Callable[[list[str]], list[str]], message: str
) -> None:
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole + added(whole)))
    with pytest.raises(InputError, match=message):
        list(JudgmentsReader(path))
    with pytest.raises(InputError, match=message):  # though the response comes before
        find_response(path, "r", "t1")


def test_a_file_behind_one_that_is_cut(path: Path) -> None:
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:8] + whole))
    with pytest.raises(InputError, match=r"jsonl:9: begins a second judgments file"):
        list(JudgmentsReader(path))


def test_a_response_that_comes_twice(path: Path) -> None:
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:8] + whole[1:7] + whole[8:]))
    with pytest.raises(InputError, match=r"jsonl:9: is a second response of"):
        list(JudgmentsReader(path))


def test_empty_lines_behind_the_end_are_nothing(path: Path) -> None:
    path.write_text(path.read_text() + "\n\n")
    assert len(list(JudgmentsReader(path))) == 2


def test_a_removed_judgment_is_noticed(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]))
    with pytest.raises(InputError, match=r"jsonl:8: counts 5 judgments, the file has 4"):
        list(JudgmentsReader(path))


def test_a_broken_line_is_placed(path: Path) -> None:
    path.write_text(path.read_text().replace('{"record":"judgment"', "{", 1))
    with pytest.raises(InputError, match=r"jsonl:3: is not JSON"):
        list(JudgmentsReader(path))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"grade":2', b'"grade":"2"'),
        (b'"grade":2', b'"grade":1.5'),
        (b'"label":"full_support"', b'"label":["x"]'),
        (b'"exists":null', b'"exists":5'),
        (b'"doc_id":"d1"', b'"doc_id":5'),
        (b'"kind":"cut"', b'"kind":1'),
        (b'"importance":0.5', b'"importance":"x"'),
        (b'"sources":[', b'"sources":[5,'),
        (b'"found":true', b'"found":"x"'),
        (b'"expected":0.0', b'"expected":1.5'),
        (b'"topic_id":"t2"', b'"topic_id":"t1"'),
        (b'"run_id":"r"', b'"run_id":5'),
        (b'"topics":["t1","t2"]', b'"topics":5'),
        (b'"citation":{"partial":0.5}', b'"citation":[1]'),
        (b'"record":"end"', b'"record":"odd"'),
    ],
    ids=range(15),
)
def test_a_file_that_was_edited_wrongly(path: Path, before: bytes, after: bytes) -> None:
    text = path.read_bytes()
    assert before in text
    path.write_bytes(text.replace(before, after))
    with pytest.raises(InputError, match=r"x\.judgments\.jsonl"):
        list(JudgmentsReader(path))


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_is_read_again_from_its_place(packed: bool, path: Path) -> None:
    text = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\n\n")
    path.write_bytes(gzip.compress(text) if packed else text)
    reader = JudgmentsReader(path)
    list(reader)
    assert reader.again("r", "t2", [])[1] == []
    again, judgments = reader.again("r", "t1", [3, 1])
    assert (again.sentences, judgments) == (RESPONSE.sentences, [JUDGMENTS[3], JUDGMENTS[1]])


@pytest.mark.parametrize("now", ["", "\n" * 5000, '{"record": "response"}\n' * 500])
def test_a_file_that_is_changed_meanwhile_is_refused(now: str, path: Path) -> None:
    reader = JudgmentsReader(path)
    list(reader)
    path.write_text(now)
    with pytest.raises(InputError, match=r"jsonl:2: was changed while it was read"):
        reader.again("r", "t1", [0])


def test_a_header_of_very_many_judges(path: Path) -> None:
    header, rest = path.read_text().split("\n", 1)
    judges = {f"j{number}": {} for number in range(1001)}
    path.write_text(f"{json.dumps(json.loads(header) | {'judges': judges})}\n{rest}")
    with pytest.raises(InputError, match="jsonl:1: has more than 1,000 judges"):
        JudgmentsReader(path)


PLAIN = replace(response(("A kettle whistles.", ["k"])), team_id="t")


def stored(**fields: Any) -> dict[str, Any]:
    """Return the record of a response as a file has it."""
    record: dict[str, Any] = orjson.loads(orjson.dumps(response_record(replace(PLAIN, **fields))))
    return record


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="neither"),
        pytest.param({"signs": {"copied": Sign((), 0)}}, id="no copies"),
        pytest.param(
            {"signs": {"copied": Sign((0,), 1)}, "provenance": (line(), line())}, id="both"
        ),
    ],
)
def test_what_is_written_is_read_again(fields: dict[str, Any]) -> None:
    assert response_of(stored(**fields)) == replace(PLAIN, **fields)


def test_what_is_not_known_is_not_written() -> None:
    assert not {"signs", "provenance"} & set(stored())


def test_copies_as_older_files_have_them_are_a_sign() -> None:
    read = response_of(stored() | {"copies": {"at": [0], "of": 1}})
    assert read.signs == {"copied": Sign((0,), 1)}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"signs": [1]}, "signs is wrong", id="signs"),
        pytest.param({"copies": {"at": ["x"], "of": 1}}, "signs is wrong", id="an index"),
        pytest.param({"provenance": [{}]}, "provenance is wrong", id="provenance"),
        pytest.param({"run_id": 7}, "run_id is 7", id="run_id"),
    ],
)
def test_a_record_that_is_none(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        response_of(stored() | fields)

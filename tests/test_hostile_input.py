"""Input that no well-meaning system writes: nothing raises or vanishes, and all can be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite
from typing import Any

import orjson
import pytest

from tests.reading import (
    PLAIN,
    SECOND,
    Read,
    Reading,
    Write,
    answer,
    citing,
    documents_of,
    responses,
)
from trecjudge.errors import TrecJudgeError
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.results.trec import LeaderboardRow, leaderboard_line

DIGITS = "9" * 5000
META = '{"team_id": "t", "run_id": "r", "topic_id": "1"}'
RECORDS = {
    "citations nested deep": citing("[" * 1000 + "]" * 1000),
    "objects nested deep": citing('{"x":' * 900 + "1" + "}" * 900),
    "run id nested deep": PLAIN.replace('"r"', "[" * 1000 + "]" * 1000),
    "topic id nested deep": PLAIN.replace('"1"', "[" * 1000 + "]" * 1000),
    "sentences nested deep": responses("[" * 1000 + "]" * 1000),
    "documents nested deep": responses("[]", more=', "documents": ' + "[" * 1000 + "]" * 1000),
    "citation of 5000 digits": citing(f"[{DIGITS}]"),
    "citation of 30 digits": citing("[123456789012345678901234567890]"),
    "citation of 5000 digits as text": citing(f'["{DIGITS}"]'),
    "topic id of 5000 digits": PLAIN.replace('"1"', DIGITS),
    "topic id of 30 digits": PLAIN.replace('"1"', DIGITS[:30]),
    "score of 400 digits": citing(f'{{"a": {DIGITS[:400]}}}'),
    "score beyond floats": citing('{"a": 1e999, "b": -1e999}'),
    "score beyond floats, two on a line": SECOND + citing('{"a": 1e999}'),
    "score NaN": citing('{"a": NaN}'),
    "surrogate in text": responses(r'[{"text": "S\ud800.", "citations": []}]'),
    "surrogate in a citation": responses(r'[{"text": "S.", "citations": ["d\udc00"]}]'),
    "surrogate in a reference": answer("[]").replace('"a"', r'"\ud800"'),
    "surrogate in ids": PLAIN.replace('"r"', r'"\ud800"').replace('"1"', r'"\ud800"'),
    "surrogate in a document": citing('["a"]', r', "documents": {"a": "\udfff"}'),
    "control characters": PLAIN.replace('"r"', r'"a\n\u0000../\u001b[31m"'),
    "null everywhere": '{"metadata": null, "responses": null, "answer": null, "references": null}',
    "null inside": f'{{"metadata": {META}, "responses": [null], "documents": [null]}}',
    "metadata as a list": PLAIN.replace(META, '["t", "r", "1"]'),
    "metadata as text": PLAIN.replace(META, '"t r 1"'),
    "metadata empty": PLAIN.replace(META, "{}"),
    "topic id as a fraction": PLAIN.replace('"1"', "1.0"),
    "topic id true": PLAIN.replace('"1"', "true"),
    "topic id empty": PLAIN.replace('"1"', '" "'),
    "responses as a number": responses("5"),
    "responses as an object": responses('{"text": "S.", "citations": ["d"]}'),
    "responses of anything": responses('[1, null, [], {}, "S.", true, {"text": {}}]'),
    "citations of anything": citing('[1.5, null, [], {}, "", true, -1, "-1", [["a"]]]'),
    "citations true": citing("true"),
    "citations as a dict of anything": citing('{"": 1, "a": [], "b": {}, "c": "x", "d": true}'),
    "references of anything": answer('[{"text": "S.", "citations": [0, 1, 2, 3, 4, 5]}]').replace(
        '["a", "b"]', '[1.5, null, [], {}, "", true]'
    ),
    "references as a number": citing("[0]").replace('["a", "b"]', "5"),
    "documents of anything": citing('["a"]', ', "documents": {"a": 5, "b": [], "": {}}'),
    "documents as text": citing('["a"]', ', "documents": "a"'),
    "no keys": "{}",
    "keys of other people": '{"__class__": "x", "responses ": []}',
    "sentence of 3 MB": responses(f'[{{"text": "{"x" * 3_000_000}", "citations": []}}]'),
    "a line of 1 MB of brackets": "{" * 1_000_000,
    "NUL bytes": "\0" * 100,
}


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS.keys())
def test_a_record_is_read_or_found(text: str, read: Read) -> None:
    found = read(text)
    errors = [finding for finding in found.findings if finding.severity == "error"]
    assert len(found.responses) + bool(errors) == (2 if text.startswith(SECOND) else 1)
    check_that_all_can_be_written(found)


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS.keys())
def test_a_record_in_the_place_of_others_raises_no_bug(text: str, write: Write) -> None:
    path = write(text)
    findings: list[Finding] = []
    for reader in (read_topics, lambda path, report: documents_of([path], path.parent, report)):
        try:
            reader(path, findings.append)
        except TrecJudgeError as error:
            assert str(path) in str(error)


def check_that_all_can_be_written(found: Reading) -> None:
    for finding in found.findings:
        orjson.dumps(asdict(finding))
        assert len(finding.message) < 1000
    for response in found.responses:
        orjson.dumps(asdict(response))
        leaderboard_line(LeaderboardRow(response.run_id, response.topic_id, "M", 1.0)).encode()
        for citation in (c for sentence in response.sentences for c in sentence.citations):
            assert citation.score is None or isfinite(citation.score)
            assert citation.doc_id != ""


def test_two_spellings_of_an_id_are_one(read: Read) -> None:
    spaced = PLAIN.replace('"1"', '" 1 "').replace('"r"', '" r\\t"')
    number = PLAIN.replace('"1"', "1")
    found = read(f"{PLAIN}\n{spaced}\n{number}")
    assert (found.answers, found.kinds) == ([("r", "1")], ["response_duplicate"] * 2)


def test_white_space_inside_ids_is_kept(read: Read) -> None:
    found = read(PLAIN.replace('"1"', '"1 a"').replace('"r"', '"r\\tb"'))
    assert (found.answers, found.kinds) == ([("r\tb", "1 a")], [])


def test_line_separators_inside_text_split_nothing(read: Read) -> None:
    assert read(PLAIN.replace("S.", "A\u2028B\x85C")).response.text == "A\u2028B\x85C"


def every_value() -> Iterator[Any]:
    yield from (None, True, False, 0, -1, 1.5, "", "a", [], {}, [[]], {"a": {}}, [None], "\t")


@pytest.mark.parametrize(
    "key", ["metadata", "references", "answer", "responses", "documents", "is_ragtime", "topic_id"]
)
def test_any_value_of_any_key_is_read_or_found(key: str, read: Read) -> None:
    for base in (PLAIN, citing('[0, "b"]'), '{"run_id": "r", "topic_id": "1", "answer": []}'):
        for value in every_value():
            found = read(orjson.dumps(orjson.loads(base) | {key: value}))
            assert len(found.responses) == 1 or found.findings[0].severity == "error", value
            check_that_all_can_be_written(found)


@pytest.mark.parametrize("key", ["text", "citations"])
def test_any_value_of_any_key_of_a_sentence_is_read(key: str, read: Read) -> None:
    for value in every_value():
        sentence = {"text": "S.", "citations": [0]} | {key: value}
        found = read(answer(orjson.dumps([sentence]).decode()))
        assert len(found.response.sentences) == 1
        check_that_all_can_be_written(found)

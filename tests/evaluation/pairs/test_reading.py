"""Bare pairs and their labels, read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.reading import (
    bare_pairs,
    label_scale,
    pair_of,
    parse_field_names,
    read_label,
    require_pairs,
)
from trecjudge.findings import Finding
from trecjudge.records import Place

Write = Callable[..., Path]
PLACE = Place("p.jsonl", 3)


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        pytest.param({"sentence": "S", "document": "D"}, ("S", "D"), id="sentence and document"),
        pytest.param({"claim": "S", "evidence": "D"}, ("S", "D"), id="claim and evidence"),
        pytest.param({"hypothesis": "S", "premise": "D"}, ("S", "D"), id="as entailment has it"),
        pytest.param({"response": "S", "context": "D"}, ("S", "D"), id="response and context"),
        pytest.param({"text": "S", "passage": "D"}, ("S", "D"), id="text beside a passage"),
        pytest.param({"claim": "S", "text": "D"}, ("S", "D"), id="text beside a claim"),
        pytest.param({"Claim": "S", "Document": "D"}, ("S", "D"), id="capitals"),
        pytest.param({"claim": "S", "evidence": ["D", "E"]}, ("S", "D\nE"), id="a list of texts"),
        pytest.param(
            {"claim": "S", "document": {"title": "T", "text": "D"}}, ("S", "T\nD"), id="an object"
        ),
        pytest.param({"claim": "S", "document": ""}, ("S", ""), id="an empty document"),
        pytest.param({"text": "S"}, None, id="only text"),
        pytest.param({"sentence": "S"}, None, id="no document"),
        pytest.param({"sentence": None, "document": "D"}, None, id="null"),
        pytest.param({"sentence": "S", "document": 7}, None, id="a number"),
    ],
)
def test_the_texts(record: dict[str, Any], texts: tuple[str, str] | None) -> None:
    pair = pair_of(record, PLACE)
    assert (pair and (pair.sentence, pair.document)) == texts


@pytest.mark.parametrize(
    ("more", "found"),
    [
        pytest.param({}, ("3", "", ()), id="nothing"),
        pytest.param({"id": 7, "topic": "t", "label": "x"}, ("7", "t", ("x",)), id="all"),
        pytest.param({"labels": ["x", "y"], "dataset": "d"}, ("3", "d", ("x", "y")), id="labels"),
        pytest.param({"group": "g", "dataset": "d"}, ("3", "g", ()), id="group before dataset"),
        pytest.param({"label": None}, ("3", "", ()), id="no label yet"),
        pytest.param({"label": 0}, ("3", "", (0,)), id="a label that is false"),
        pytest.param(
            {"label1": "x", "label2": "y", "gold_label": "x"}, ("3", "", ("x",)), id="agreed on"
        ),
    ],
)
def test_the_rest(more: dict[str, Any], found: tuple[Any, ...]) -> None:
    pair = pair_of({"sentence": "S", "document": "D"} | more, PLACE)
    assert pair is not None
    assert (pair.pair_id, pair.group, pair.labels) == found


def test_fields_by_other_names() -> None:
    names = parse_field_names(["sentence=text", "document=source_text", "group=domain"])
    record = {"text": "S", "source_text": "D", "domain": "law", "passage": "no"}
    pair = pair_of(record, PLACE, names)
    assert pair is not None
    assert (pair.sentence, pair.document, pair.group) == ("S", "D", "law")


@pytest.mark.parametrize(
    ("written", "message"),
    [("sentence", "give PART=NAME"), ("sentense=x", "did you mean 'sentence'"), ("id=", "'id'")],
)
def test_a_field_that_is_none(written: str, message: str) -> None:
    with pytest.raises(InputError, match=f"--keys {written}: .*{message}"):
        parse_field_names([written])


def test_what_is_no_pair_is_reported_and_passed_over(write: Write) -> None:
    path = write('{"sentence": "S"}\n{"sentence": "S", "document": "D"}\n[]\nno\n', "p.jsonl")
    findings: list[Finding] = []
    (pair,) = bare_pairs([path], findings.append)
    assert pair.place.line == 2
    assert [f.kind for f in findings][:1] == ["record_unknown_shape"]
    assert f"{path}:1: needs text of a sentence (sentence, claim, " in str(findings[0])
    assert "line_not_json" in {f.kind for f in findings}


def test_an_array_and_of_several_files_each_is_a_group(write: Write) -> None:
    record = {"claim": "S", "context": "D"}
    paths = [write(json.dumps([record, record], indent=1), f"{n}.json") for n in ("wice", "other")]
    groups = [pair.group for pair in bare_pairs(paths, list[Finding]().append)]
    assert groups == ["wice", "wice", "other", "other"]


def test_no_pairs() -> None:
    with pytest.raises(InputError, match=r"x\.jsonl: no pairs in it; each needs text of"):
        require_pairs(iter(()), "x.jsonl")


@pytest.mark.parametrize(
    ("labels", "weight"),
    [
        (("FULL", "full support", "Supported", "SUPPORTS", "entailment", "True", True, "yes"), 1.0),
        (("PARTIAL", "partially_supported", "partly supported", "Partially Entailed"), 0.5),
        (("NONE", "no", "not supported", "not_supported", "REFUTES", "neutral", False), 0.0),
        (("NOT ENOUGH INFO", "contradiction", "not entailment", "hallucinated"), 0.0),
        (("good", "", "3", 3, -1, None, ["full"], float("nan"), "1e999", {}), None),
    ],
    ids=["full", "partial", "none", "none, too", "no label"],
)
def test_words(labels: tuple[object, ...], weight: float | None) -> None:
    assert [(r := read_label(label)) and r.value for label in labels] == [weight] * len(labels)


@pytest.mark.parametrize(
    ("numbers", "weights"),
    [
        ((0, 1, "1", "0.0"), [0.0, 1.0, 1.0, 0.0]),
        ((0, 1, 2, "2"), [0.0, 0.5, 1.0, 1.0]),
        ((0, 0.5, 1), [0.0, 0.5, 1.0]),
        ((0.5, 2), [None, 1.0]),
    ],
    ids=["0 and 1", "grades", "weights", "both"],
)
def test_numbers_mean_what_all_of_them_say(
    numbers: tuple[object, ...], weights: list[float | None]
) -> None:
    found = [reading for number in numbers if (reading := read_label(number))]
    scale = label_scale({reading.value for reading in found})
    assert [reading.weight(scale) for reading in found] == weights

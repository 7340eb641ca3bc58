"""Weighted criteria: forms that are read, weights that are refused, and what is written again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.inputs.nuggets.test_bank_files import banks
from trecjudge.errors import InputError
from trecjudge.inputs.nuggets.bank_files import fields_lost, nuggets_record, record_of
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.records import Nugget, Topic

CRITERION = {"criterion": "Names the builder", "weight": 5, "axis": "Explicit"}
FAULT = {"criterion": "Claims that it is of wood", "weight": -3.5, "axis": "Implicit"}
RESEARCH = {"qid": "9", "domain": "x", "exploration": "Low", "rubrics": [CRITERION, FAULT]}
HEALTH = {
    "prompt_id": "9",
    "prompt": [{"role": "user", "content": "?"}],
    "rubrics": [
        {"criterion": "Names it", "points": 7, "tags": ["level:example", "axis:accuracy"]},
        {"criterion": "Rude", "points": -9, "tags": ["axis:tone"]},
    ],
}
REWARDS = {"qid": "9", "rubric": [{"title": "t", "description": "Essential: names", "weight": 5}]}
STRINGS = {"qid": "9", "rubrics": [{"criterion": "Names it", "weight": "3", "axis": "E"}]}
PLAIN = {"topic_id": "9", "criteria": [{"criterion": "Names it"}, {"criterion": "Is short"}]}
FORMS = [
    pytest.param(RESEARCH, [(5.0, "Explicit"), (-3.5, "Implicit")], id="researchrubrics"),
    pytest.param(HEALTH, [(7.0, "accuracy"), (-9.0, "tone")], id="healthbench"),
    pytest.param(REWARDS, [(5.0, "")], id="rubrics as rewards"),
    pytest.param(STRINGS, [(3.0, "E")], id="weights as text"),
    pytest.param(PLAIN, [(1.0, ""), (1.0, "")], id="no weights: each 1"),
]


@pytest.mark.parametrize(("record", "wanted"), FORMS)
def test_criteria_are_read_and_written_again(
    record: dict[str, Any], wanted: list[tuple[float, str]], tmp_path: Path
) -> None:
    found, reported = banks(tmp_path, json.dumps(record))
    assert [(n.weight, n.group) for n in found["9"].nuggets] == wanted
    assert not reported and record_of(found["9"], bank_format_named("criteria")) == record


@pytest.mark.parametrize(("record", "wanted"), FORMS)
def test_edited_criteria_keep_their_form(
    record: dict[str, Any], wanted: list[tuple[float, str]], tmp_path: Path
) -> None:
    bank = banks(tmp_path, json.dumps(record))[0]["9"]
    first, *rest = bank.nuggets
    changed = replace(bank, nuggets=(replace(first, weight=-2.0, group="New"), *rest))
    again = record_of(changed, bank_format_named("criteria"))
    assert again.keys() == record.keys()
    assert banks(tmp_path, json.dumps(again))[0]["9"].nuggets == changed.nuggets


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        ("0", "0"),
        ("true", "True"),
        ("NaN", "None"),
        ("null", "None"),
        ("101", "101"),
        ("-1e999", "-inf"),
        ('"high"', "'high'"),
        ('"nan"', "'nan'"),
        ("[3]", "[3]"),
    ],
)
def test_a_weight_that_is_none_is_named_with_its_line(
    weight: str, shown: str, tmp_path: Path
) -> None:
    first, second = '{"criterion": "a", "weight": 1}', f'{{"criterion": "b", "weight": {weight}}}'
    text = f'\n{{"qid": "9", "rubrics": [{first}, {second}]}}'
    found, reported = banks(tmp_path, text)
    (wrong,) = [f for f in reported if f.kind == "criterion_weight_unusable"]
    assert str(wrong).endswith(
        f":2: criterion 2, 'b', has weight {shown}: give a number from -100 to 100 that is not 0"
    )
    assert len(found["9"].nuggets) == 1 and wrong.severity == "error"


def test_a_criterion_without_a_weight_among_others_is_left_out(tmp_path: Path) -> None:
    found, (wrong,) = banks(
        tmp_path, json.dumps({"qid": "9", "rubrics": [{"criterion": "a"}, CRITERION]})
    )
    assert "has no weight, and others have one" in str(wrong)
    assert [n.text for n in found["9"].nuggets] == ["Names the builder"]


def test_a_rubric_of_another_tool_is_one_line(tmp_path: Path) -> None:
    rules = [{"rule": f"x{n}", "score": n} for n in range(40)]
    lines = [json.dumps({"qid": "1", "rubrics": rules}), json.dumps(RESEARCH)]
    _, reported = banks(tmp_path, "\n".join(lines))
    assert [f.kind for f in reported] == ["nugget_bank_unknown"]


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("criteria", []),
        ("autoargue", ["group", "weight"]),
        ("rag25_nuggets", ["importance", "weight"]),
        ("exam", ["weight"]),
    ],
)
def test_formats_without_weights_say_so(name: str, lost: list[str], tmp_path: Path) -> None:
    bank = banks(tmp_path, json.dumps(RESEARCH))[0]["9"]
    assert [field for field in lost if field != "importance"] == [
        field for field in fields_lost(bank, bank_format_named(name)) if field != "importance"
    ]


def test_a_judge_of_others_gets_no_criteria_as_nuggets() -> None:
    topic = Topic("9", "bridges", nuggets=(Nugget("1", "Is of wood", weight=-3.0),))
    with pytest.raises(InputError, match="topic '9' has a bank of weighted criteria"):
        nuggets_record(topic, "autoargue")

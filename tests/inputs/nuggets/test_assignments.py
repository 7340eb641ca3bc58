"""Labels of nuggets by other tools: AutoNuggetizer's assignments and DRAGUN's assessments."""

from __future__ import annotations

import json

import pytest

from tests.fakes import judgment
from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.labels import ItemKey, key_of, label_of, read_labels
from trecjudge.records import AskedNugget

ANSWERS = "topic_id,run_tag,answer_id,auto_assessment,auto_rationale\n"


def read(text: str, write: Write, name: str) -> tuple[dict[ItemKey, str], list[str]]:
    findings: list[Finding] = []
    labels = read_labels(write(text, name), findings.append)
    return labels, [f"{f.place.line}: {f.kind}" for f in findings]


def assignment(*nuggets: object, **more: object) -> str:
    return json.dumps({"qid": "t1", "run_id": "r", "nuggets": list(nuggets)} | more) + "\n"


TIN = {"text": "Lined  with TIN", "importance": "vital", "assignment": "support"}
KEY: ItemKey = ("t1", "r", None, None, "lined with tin")


@pytest.mark.parametrize(
    ("text", "labels", "findings"),
    [
        pytest.param(assignment(TIN), {KEY: "support"}, [], id="one"),
        pytest.param(
            assignment(TIN, TIN | {"assignment": "failed"}),
            {},
            ["None: people_unnamed", "1: labels_tied"],
            id="twice",
        ),
        pytest.param(
            assignment(TIN, TIN | {"text": "x", "assignment": None}, 7),
            {KEY: "support"},
            ["1: label_unusable", "1: label_unusable"],
            id="without a label",
        ),
        pytest.param(
            assignment(TIN, qid=1), {("1", *KEY[1:]): "support"}, [], id="an integer topic"
        ),
        pytest.param(
            assignment(TIN, run_id=None) + assignment(TIN),
            {KEY: "support"},
            ["1: label_unusable"],
            id="without a run",
        ),
        pytest.param(
            '{"topic_id": "t1", "run_id": "r", "nugget": "Lined with tin", "label": "support"}\n',
            {KEY: "support"},
            [],
            id="a record of a nugget",
        ),
    ],
)
def test_assignments(
    text: str, labels: dict[ItemKey, str], findings: list[str], write: Write
) -> None:
    assert read(text, write, "a.jsonl") == (labels, findings)


@pytest.mark.parametrize(
    ("text", "labels", "findings"),
    [
        pytest.param(
            ANSWERS + '901,r,na-1,supports,"so, ""yes"""\n',
            {("901", "r", None, None, "na-1"): "supports"},
            [],
            id="of a tool",
        ),
        pytest.param(
            "topic_id,run_tag,answer_id,annotation\r\n901,r,NA-1,none\r\n",
            {("901", "r", None, None, "na-1"): "none"},
            [],
            id="of people",
        ),
        pytest.param(
            ANSWERS + "901,r,na-1,,\n901,r,na-2,none,\n",
            {("901", "r", None, None, "na-2"): "none"},
            ["2: label_unusable"],
            id="an empty label",
        ),
        pytest.param(
            "topic_id,run_tag,run_question_rank,rubric_question_rank,annotation\n901,r,2,3.0,similar\n",
            {("901", "r", 1, None, "rank-3"): "similar"},
            [],
            id="of two questions",
        ),
        pytest.param(
            "topic_id,run_tag,run_question_rank,auto_compound_question_assessment\n901,r,2,compound\n",
            {("901", "r", 1, None): "compound"},
            [],
            id="of a compound",
        ),
    ],
)
def test_assessments(
    text: str, labels: dict[ItemKey, str], findings: list[str], write: Write
) -> None:
    for separator in ",;\t":
        assert read(text.replace(",", separator), write, "a.csv") == (labels, findings)


def test_a_table_without_a_column_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="no run_tag or run_id"):
        read("topic_id,answer_id,annotation\n901,na-1,none\n", write, "a.csv")


def test_labels_of_a_folder_are_read_together(write: Write) -> None:
    path = write(assignment(TIN), "labels/r.jsonl")
    write(assignment(TIN, run_id="s"), "labels/s.jsonl")
    assert {key[1] for key in read_labels(path.parent, lambda finding: None)} == {"r", "s"}


@pytest.mark.parametrize("name", ["n-7", "lined with tin"])
def test_a_nugget_is_found_by_its_id_or_its_text(name: str) -> None:
    judged = judgment("support", sentence_index=None, nugget=AskedNugget("N-7", "Lined with  tin"))
    labels: dict[ItemKey, str] = {("t1", "r", None, None, name): "failed"}
    assert label_of(labels, judged) == (("t1", "r", None, None, name), "failed")
    assert key_of(judged) == KEY

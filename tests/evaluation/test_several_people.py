"""Several people on the same items: alpha, pairs, each beside the judge and the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.evaluation.agreement import People, agree
from trecjudge.findings import unreported

# Rows of items, columns of people, - for no label.
LABELS = {"p": "01100", "q": "0110-", "r": "0011-"}
WORDS = {"0": "no_support", "1": "full_support"}


def records(said: dict[str, str], **keys: str) -> str:
    return "".join(
        json.dumps(
            {"topic_id": "t", "run_id": "r", "sentence_index": i, "doc_id": "d"}
            | {"label": WORDS[one]}
            | dict.fromkeys(keys, person)
        )
        + "\n"
        for person, row in said.items()
        for i, one in enumerate(row)
        if one != "-"
    )


def compared(write: Write, said: dict[str, str], judge: str, key: str = "annotator") -> People:
    truth = write(records(said, **({key: ""} if key else {})), "truth.jsonl")
    found = agree(truth, write(records({"j": judge}), "judged.jsonl"), unreported)
    assert found.people is not None
    return found.people


@pytest.mark.parametrize("key", ["annotator", "assessor_id", "rater", "WorkerId", "labeled_by"])
def test_people_among_themselves(key: str, write: Write) -> None:
    found = compared(write, LABELS, "01100", key)
    assert (found.items, found.several, found.tied) == (5, 4, 0)
    # By hand: of 12 labels 6 are 1; 2 of 4 items are alike; 1 - (11 * 4) / (2 * 6 * 6).
    assert found.alpha == pytest.approx(1 - 11 * 4 / 72, abs=1e-6)
    assert [(a, b, both.items, both.accuracy) for a, b, both in found.pairs] == [
        ("p", "q", 4, 1.0),
        ("p", "r", 4, 0.5),
        ("q", "r", 4, 0.5),
    ]


def test_the_judge_beside_each_person_and_the_rest(write: Write) -> None:
    found = compared(write, LABELS, "00110")
    persons = {one.name: one for one in found.persons}
    assert (persons["p"].with_judge.items, persons["p"].with_judge.accuracy) == (5, 0.6)
    assert persons["r"].with_judge.accuracy == 1.0
    # Without r the others say 0110; without p they are divided on the second and the fourth item.
    assert (persons["r"].with_rest.items, persons["r"].with_rest.accuracy) == (4, 0.5)
    assert (persons["r"].judge_with_rest.items, persons["r"].judge_with_rest.accuracy) == (4, 0.5)
    assert (persons["p"].with_rest.items, persons["p"].with_rest.accuracy) == (2, 1.0)


def test_people_without_names_are_in_alpha_only(write: Write) -> None:
    found = compared(write, LABELS, "01100", key="")
    assert (found.several, found.pairs, found.persons) == (4, [], [])
    assert found.alpha == pytest.approx(1 - 11 * 4 / 72, abs=1e-6)


def test_one_person_is_no_people(write: Write) -> None:
    truth = write(records({"p": "010"}, annotator=""), "truth.jsonl")
    assert agree(truth, truth, unreported).people is None


def test_a_column_of_second_labels_is_a_second_person(shared: Path) -> None:
    labels = shared / "data/rag25_support/labels.jsonl"
    found = agree(labels, labels, unreported)
    assert found.people is not None
    (pair,) = found.people.pairs
    assert (*pair[:2], pair[2].items) == ("label", "label_2", 511)
    assert (found.items, found.tied) == (4515, (20, 20))

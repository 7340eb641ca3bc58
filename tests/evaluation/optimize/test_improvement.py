"""Agreement before and after."""

from __future__ import annotations

import pytest

from tests.fakes import judgment
from trecjudge.evaluation.label_sets import LabelSet
from trecjudge.evaluation.optimize.improvement import (
    LabelledRow,
    labelled_rows,
    measure_improvement,
)
from trecjudge.evaluation.optimize.questions import GoldLabels, accuracy, feedback
from trecjudge.records import Failure


def rows(*said: str | None, people: str = "full_support") -> list[LabelledRow]:
    """Return an item on a topic of its own for each label."""
    return [LabelledRow(f"t{n}", "r", people, label, (n,)) for n, label in enumerate(said)]


def test_equal_sides_are_no_better() -> None:
    found = measure_improvement(
        rows("full_support", "no_support"), rows("full_support", "no_support")
    )
    assert (found.outcome, found.difference, found.p, found.changed) == ("no_better", 0.0, 1.0, 0)


def test_six_topics_can_show_it_and_five_cannot() -> None:
    wrong, good = ["no_support"] * 6, ["full_support"] * 6
    assert measure_improvement(rows(*wrong), rows(*good)).outcome == "better"
    five = measure_improvement(rows(*wrong[:5]), rows(*good[:5]))
    assert (five.outcome, five.p) == ("not_shown", 2 / 2**5)


def test_worse_is_no_better() -> None:
    found = measure_improvement(rows(*["full_support"] * 7), rows(*["no_support"] * 7))
    assert (found.outcome, found.difference, found.changed) == ("no_better", -1.0, 7)


def test_one_topic_has_no_test() -> None:
    found = measure_improvement(rows("no_support"), rows("full_support"))
    assert (found.p, found.outcome) == (None, "not_shown")


def test_what_is_unjudged_is_wrong_and_counted() -> None:
    found = measure_improvement(rows("full_support", "full_support"), rows("full_support", None))
    assert (found.unjudged_before, found.unjudged_after) == (0, 1)
    assert {f.name: f.after for f in found.figures}["accuracy"] == 0.5


def people(kind: str, *labels: tuple[tuple[str, str], tuple[object, ...], str]) -> GoldLabels:
    """Return labels by group and item."""
    side = LabelSet("labels", kind)
    for group, item, label in labels:
        side.put(group, [(item, label, None, None)])
    return GoldLabels.of(side)


def test_labels_are_found_by_item() -> None:
    said = people("labels", (("t1", "r"), (0, "d"), "full_support"))
    one = judgment("no_support", doc_id="d")
    assert (said.label(one), said.label_in_words(one), accuracy(said, [one])) == (
        "full_support",
        "no_support",
        0.0,
    )
    assert feedback(said, [one]) == "Wrong: people say full_support, the reply leads to no_support."
    assert accuracy(said, [judgment("full_support", doc_id="other")]) is None


def test_an_unjudged_item_is_not_right() -> None:
    said = people("labels", (("t1", "r"), (0, "d"), "full_support"))
    failed = judgment(None, doc_id="d", failure=Failure("parse", "no JSON"))
    assert accuracy(said, [failed]) == 0.0
    assert "could not be used" in feedback(said, [failed])


@pytest.mark.parametrize("run", ["", "r"])
def test_qrels_hold_for_all_runs_or_one(run: str) -> None:
    said = people("qrels", (("t1", run), ("d",), "2"))
    found = [judgment(label, doc_id="d", sentence_index=n) for n, label in enumerate(LABELS)]
    (row,) = labelled_rows(said, found)
    # Of the sentences that cite a document the best counts.
    assert (row.people, row.said) == ("2", "2")


LABELS = ("no_support", "full_support", "partial_support")

"""What votes decide: ties, failures, means; never by the order in which they came."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.fakes import judgment
from trecjudge.judging.voting import Rule, aggregate_votes, is_audited, is_unsure, sureness
from trecjudge.records import FULL, GRADES, NONE, NOTHING_TO_CHECK, PARTIAL, Failure, Judgment


def vote(label: str) -> Judgment:
    if label == "fails":
        return judgment(failure=Failure("transport", "no answer", 3))
    return judgment(label, grade=GRADES.get(label))


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ([FULL, FULL, NONE], FULL),
        ([FULL, NONE], NONE),
        ([FULL, PARTIAL], PARTIAL),
        ([FULL, PARTIAL, NONE], PARTIAL),
        ([FULL, FULL, NONE, NONE, PARTIAL], NONE),
        ([FULL, FULL, "fails"], FULL),
        ([FULL, NONE, "fails"], None),
        ([FULL, "fails"], None),
        (["fails", "fails", "fails"], None),
        ([NOTHING_TO_CHECK, FULL], NOTHING_TO_CHECK),
    ],
)
def test_the_majority_is_that_of_all_voters_in_any_order(
    labels: list[str], label: str | None
) -> None:
    for order in permutations(labels):
        ballots = {f"v{n}": vote(one) for n, one in enumerate(order)}
        found = aggregate_votes("majority", ballots, len(labels))
        assert found.label == label
        assert found.grade == (None if label is None else GRADES.get(label))
        assert [v.label or "fails" for v in found.votes] == list(order)


@pytest.mark.parametrize(
    ("labels", "label", "expected"),
    [
        ([FULL, NONE], PARTIAL, 0.5),
        ([FULL, PARTIAL], PARTIAL, 0.75),
        ([FULL, FULL, NONE], PARTIAL, 2 / 3),
        ([FULL, FULL, FULL, PARTIAL], FULL, 0.875),
        ([FULL, FULL, "fails"], FULL, 1.0),
        ([FULL, NONE, "fails"], None, None),
        ([FULL, FULL, NOTHING_TO_CHECK], FULL, 1.0),
    ],
)
def test_the_mean_is_rounded_with_a_half_down(
    labels: list[str], label: str | None, expected: float | None
) -> None:
    for order in permutations(labels):
        ballots = {f"v{n}": vote(one) for n, one in enumerate(order)}
        found = aggregate_votes("mean", ballots, len(labels))
        assert (found.label, found.expected) == (label, expected)


@pytest.mark.parametrize("rule", ["majority", "mean"])
def test_a_failure_says_what_each_one_said(rule: Rule) -> None:
    found = aggregate_votes(rule, {"a": vote(FULL), "b": vote("fails")}, 2)
    assert found.failure == Failure(
        "transport", "too few voters decide: a: full_support; b: transport: no answer", 3
    )
    assert (found.label, found.grade, found.expected) == (None, None, None)


def test_failures_of_different_causes_have_a_kind_of_their_own() -> None:
    other = judgment(failure=Failure("refused", "I cannot"))
    found = aggregate_votes("majority", {"a": vote("fails"), "b": other}, 2)
    assert found.failure is not None
    assert found.failure.kind == "voters"


def test_grades_without_labels_of_support_take_the_nearest_that_was_given() -> None:
    ballots = {n: judgment(n, grade=int(n)) for n in ("0", "3")}
    assert aggregate_votes("mean", ballots, 2).label == "0"
    assert aggregate_votes("mean", ballots | {"2": judgment("2", grade=2)}, 3).label == "2"


def test_an_unsure_vote_goes_on_to_the_next_voter() -> None:
    cases = [
        (vote(FULL), False),
        (vote(PARTIAL), True),
        (vote("fails"), True),
        (judgment(FULL, grade=2, expected=0.6), True),
        (judgment(FULL, grade=2, expected=0.9), False),
        (judgment(NONE, grade=0, expected=0.1), False),
        (judgment(FULL, grade=2, uncalibrated="fa"), True),
    ]
    wrong = [(found, value) for found, unsure in cases if (value := is_unsure(found)) != unsure]
    assert not wrong


@pytest.mark.parametrize(
    ("found", "sure"),
    [
        (judgment(FULL, grade=2, expected=0.9, p_full=0.85), 0.75),  # .85, .10, .05
        (judgment(FULL, grade=2, expected=0.5, p_full=0.45), 0.0),  # .45, .10, .45
        (judgment(PARTIAL, grade=1, expected=0.5, p_full=0.1), 0.7),  # .10, .80, .10
        (judgment(NONE, grade=0, expected=0.2), 0.6),  # no P(full): .20, 0, .80
        (judgment(FULL, grade=2, expected=0.9, p_full=0.85, uncalibrated="fa"), 0.0),
        (judgment(NONE, grade=0), 1.0),
        (vote("fails"), 0.0),
    ],
    ids=["sure", "one or the other", "partial", "weight", "no calibration", "a rule", "failed"],
)
def test_how_sure_words_are_is_the_distance_to_the_next_label(found: Judgment, sure: float) -> None:
    assert sureness(found) == pytest.approx(sure)
    assert is_unsure(found, sure + 0.01)
    assert not found.judged or not is_unsure(found, sure - 0.01)


def test_a_share_of_all_is_audited_the_same_ones_each_time() -> None:
    every = [judgment(FULL, sentence_index=n) for n in range(2000)]
    chosen = [is_audited(one, 0.05) for one in every]
    assert 70 <= sum(chosen) <= 130
    assert [is_audited(one, 0.05) for one in every] == chosen
    assert not any(is_audited(one, 0.0) for one in every)
    assert all(is_audited(one, 1.0) for one in every)

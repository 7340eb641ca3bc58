"""What is changed to see whether labels are stable, and how they change."""

from __future__ import annotations

import pytest

from tests.fakes import response
from trecjudge.evaluation.perturbation import (
    CHANGES,
    JudgedSample,
    Perturbation,
    correct_p_values,
    count_flips,
    measure_shifts,
    untestable,
)
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import Response

SPEC = LeaderboardSpec((MeasureSpec("M", lambda response, judgments: 0.0),))


def side(*values: float, labels: str = "") -> JudgedSample:
    """Return a side with a value for each topic, and labels of items in turn."""
    made = JudgedSample(SPEC)
    made.values["M"] = {("r", str(t)): value for t, value in enumerate(values)}
    made.labels = {("r", "0", n, None, None, "", "j"): label for n, label in enumerate(labels)}
    return made


def test_a_shift_is_the_mean_over_topics_with_the_exact_sign_flip_test() -> None:
    before, after = side(*[0.5] * 8), side(*[0.6, 0.7] * 4)
    (found,) = measure_shifts("padded", "length", before, after, before.values["M"])
    assert (found.topics, found.before, found.after, found.shift) == (8, 0.5, 0.65, 0.15)
    assert found.p == pytest.approx(2 / 256, abs=1e-6)
    low, high = found.interval
    assert low is not None
    assert high is not None
    assert 0.1 < low < 0.15 < high < 0.2


def test_responses_that_did_not_change_are_left_out() -> None:
    before, after = side(0.5, 0.5), side(1.0, 0.5)
    (found,) = measure_shifts("spelling", "style", before, after, {("r", "0")})
    assert (found.responses, found.shift) == (1, 0.5)
    assert measure_shifts("spelling", "style", before, after, ()) == []


def test_each_kind_of_bias_is_corrected_on_its_own() -> None:
    before, after = side(*[0.5] * 8), side(*[0.6] * 8)
    names = [("shuffled", "position"), ("padded", "length"), ("repeated", "length")]
    found = correct_p_values(
        [one for name in names for one in measure_shifts(*name, before, after, before.values["M"])]
    )
    assert [one.holm for one in found] == pytest.approx([2 / 256, 4 / 256, 4 / 256], abs=1e-5)
    assert all(one.is_bias for one in found)


def test_what_so_few_topics_cannot_show_is_known() -> None:
    before, after = side(*[0.5] * 5), side(*[0.9] * 5)
    found = correct_p_values(measure_shifts("padded", "length", before, after, before.values["M"]))
    assert not found[0].is_bias
    assert untestable(found) == ["length"]


def test_a_flip_is_an_item_that_has_not_one_label_each_time() -> None:
    found = count_flips("samples", [side(labels="abcd"), side(labels="abbd"), side(labels="bbb")])
    assert (found.items, found.flips, found.rate) == (3, 2, 0.6667)
    assert count_flips("none", [side(), side()]).rate is None


ANSWER = response(
    ("The colour is big.", ["a"]), ("It is so.", ["b", "a"]), ("A third.", []), documents={"a": "x"}
)


def cited(answer: Response, order: list[int]) -> dict[int, list[str | None]]:
    """Return the documents that each sentence cites, by its former index."""
    pairs = zip(answer.sentences, order, strict=True)
    return {old: [c.doc_id for c in sentence.citations] for sentence, old in pairs}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_keeps_every_citation_with_its_sentence(change: Perturbation) -> None:
    made, order = change.make(ANSWER, "")
    assert made != ANSWER
    assert cited(made, order) == cited(ANSWER, [0, 1, 2])
    assert [sentence.index for sentence in made.sentences] == [0, 1, 2]
    assert made.documents == ANSWER.documents
    assert change.make(ANSWER, "") == (made, order)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_an_empty_answer_stays_as_it_is(change: Perturbation) -> None:
    empty = response()
    assert change.make(empty, "")[0] == empty
    blank = response((" ", ["a"]))
    assert change.make(blank, "")[0] == blank


def test_two_sentences_always_change_their_order() -> None:
    shuffled = next(change for change in CHANGES if change.name == "shuffled")
    for number in range(20):
        answer = response(("A.", []), ("B.", []), run_id=f"r{number}")
        made, order = shuffled.make(answer, "")
        assert [sentence.text for sentence in made.sentences] == ["B.", "A."]
        assert order == [1, 0]

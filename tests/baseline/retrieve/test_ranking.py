"""The best window and the pairs of a question."""

from __future__ import annotations

import pytest

from trecjudge.baseline.retrieve.ranking import best_window, weigh_pairs, weigh_question

TERMS = {"dam": 2.0, "river": 1.0}


def test_two_sentences_in_a_row_count_together() -> None:
    together = best_window([["dam"], ["river"], ["zoo"]], TERMS)
    apart = best_window([["dam"], ["zoo"], ["river"]], TERMS)
    assert together > apart > 0


def test_a_shorter_window_scores_higher() -> None:
    assert best_window([["dam"]], TERMS) > best_window([["dam", *["x"] * 60]], TERMS)


@pytest.mark.parametrize("sentences", [[], [[]], [["zoo"]]], ids=["none", "empty", "others"])
def test_without_a_term_there_is_no_window(sentences: list[list[str]]) -> None:
    assert best_window(sentences, TERMS) == 0.0


def test_a_pair_counts_once_and_in_its_order() -> None:
    pairs = {("red", "dam"): 3.0}
    assert weigh_pairs([["red", "dam"], ["red", "dam"]], pairs) == 3.0
    assert weigh_pairs([["dam", "red"], ["red"], ["dam"]], pairs) == 0.0


def test_pairs_have_a_term_and_weigh_both_words() -> None:
    wording = weigh_question(
        "of the old dam", {"dam": 2.0}, lambda forms: dict.fromkeys(forms, 1.5)
    )
    assert wording.terms == {"dam": 3.0}
    assert wording.pairs == {("old", "dam"): 3.0}

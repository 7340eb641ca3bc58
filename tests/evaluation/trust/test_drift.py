"""What moved between two cards: the exact test of answers, paired tests of figures."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.trust.card import FixedAnswers, JudgeCard
from trecjudge.evaluation.trust.drift import Four, chance_of_change, compare_cards

RUNS = 20
ITEMS = 300


def card(
    answers: Mapping[str, tuple[str, str | None]],
    values: Mapping[str, Mapping[str, float]] | None = None,
    **about: object,
) -> JudgeCard:
    return JudgeCard(about, (), FixedAnswers((), answers, values or {}))


@pytest.mark.parametrize(
    ("answers", "p"),
    [
        ([], 1.0),
        ([("a", "a", "a", "a")] * 50, 1.0),
        ([("a", "a", "b", "b")], 1 / 3),
        ([("a", "a", "b", "b")] * 5, 3.0**-5),
        ([("a", "b", "a", "b")], 1.0),
        ([("a", "b", "a", "b"), ("a", "a", "b", "b")], 5 / 9),
        ([("a", "a", "a", "b")] * 9, 1.0),
    ],
    ids=["nothing", "all the same", "one", "five", "noise", "both", "one odd answer"],
)
def test_the_chance_of_a_change(answers: Sequence[Four], p: float) -> None:
    assert chance_of_change(answers) == pytest.approx(p)


def test_the_chance_is_exact_over_all_ways_to_pair_the_answers() -> None:
    answers: list[Four] = [("a", "b", "c", "c"), ("a", "a", "b", "b"), ("a", "b", "a", "c")]
    splits = [
        [(a != b) + (c != d), (a != c) + (b != d), (a != d) + (b != c)] for a, b, c, d in answers
    ]
    sums = [sum(chosen) for chosen in product(*splits)]
    observed = sum(split[0] for split in splits)
    share = sum(one <= observed for one in sums) / len(sums)
    assert chance_of_change(answers) == pytest.approx(share)


def asked(share: float, noise: float, seed: int) -> float:
    """Return the p for a judge that has changed on a share of the items, and varies by `noise`."""
    draw = random.Random(seed)

    def says(label: str) -> str:
        return draw.choice("abc") if draw.random() < noise else label

    fours = []
    for _ in range(ITEMS):
        old = draw.choice("abc")
        new = "abca"["abc".index(old) + 1] if draw.random() < share else old
        fours.append((says(old), says(old), says(new), says(new)))
    return chance_of_change(fours)


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.1])
def test_the_same_judge_is_seldom_taken_for_another(noise: float) -> None:
    assert sum(asked(0, noise, seed) < 0.025 for seed in range(20 * RUNS)) <= 0.025 * 20 * RUNS


@pytest.mark.parametrize(("noise", "least"), [(0.0, 20), (0.03, 18)])
def test_five_in_a_hundred_answers_are_noticed(noise: float, least: int) -> None:
    assert sum(asked(0.05, noise, seed) < 0.025 for seed in range(RUNS)) >= least


def test_a_figure_that_moved_is_told_from_one_that_did_not() -> None:
    answers = {str(n): ("a", None) for n in range(30)}
    ours = {str(n): 1.0 for n in range(30)}
    before = card(answers, {"right": ours, "other": ours})
    worse = ours | {str(n): 0.0 for n in range(9)}
    after = card(answers, {"right": worse, "other": ours | {"0": 0.0}})
    moved, same = compare_cards(before, after).figures
    assert (moved.name, moved.before, moved.after, moved.moved) == ("right", 1.0, 0.7, True)
    assert moved.p == pytest.approx(2 / 2**9)  # McNemar's exact test of 0 and 9
    assert (same.p, same.moved) == (1.0, False)
    assert compare_cards(before, after).moved


def test_words_say_the_same_each_time_so_any_other_answer_is_a_change() -> None:
    before = card({"x": ("a", None), "y": ("a", None), "gone": ("a", None)})
    after = card({"x": ("a", None), "y": ("b", None)})
    drift = compare_cards(before, after)
    assert (drift.answers.n, drift.answers.changed, drift.lost) == (2, 1, 1)
    assert (drift.answers.p, drift.moved) == (None, True)


def test_of_a_model_that_was_asked_once_nothing_is_said() -> None:
    model = {"model": {"model": "m"}}
    before, after = (card({"x": (label, None)}, **model) for label in "ab")
    assert compare_cards(before, after).answers.p == 1.0


def test_what_cards_say_of_the_judge_is_compared() -> None:
    same = {"x": ("a", None)}
    before = card(same, model={"model": "m", "temperature": 0}, served=["m-1"], judge="j")
    after = card(same, model={"model": "m", "temperature": 1}, served=["m-2"], judge="j")
    assert compare_cards(before, after).told == [
        ("model temperature", "0", "1"),
        ("served", "['m-1']", "['m-2']"),
    ]


def test_cards_without_a_shared_item_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="no item of the earlier card is judged here"):
        compare_cards(card({"x": ("a", None)}), card({"y": ("a", None)}))

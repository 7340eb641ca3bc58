"""What labels of people ask of a judge, and the programs that are improved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import response
from trecjudge.errors import InputError
from trecjudge.evaluation.optimize.questions import (
    Question,
    TrainDevSplit,
    find_program,
    split_topics,
)
from trecjudge.judging.judge import make_judge
from trecjudge.records import Item, Topic


def questions(topics: int, each: int = 2) -> list[Question]:
    """Return questions on topics 1, 2, ..."""
    answer = response(("A claim.", []))
    return [
        Question((Item(Topic(str(topic)), "r", "A claim.", number),), answer)
        for topic in range(1, topics + 1)
        for number in range(each)
    ]


def sizes(parts: TrainDevSplit) -> list[int]:
    """Return how many topics each part has."""
    return [len(topics) for topics in parts.topics().values()]


@pytest.mark.parametrize(
    ("topics", "hold_out", "found"),
    [
        (3, "topics", [1, 1, 1]),
        (10, "topics", [3, 2, 5]),
        (12, "topics", [3, 3, 6]),
        (40, "topics", [14, 14, 12]),
        (10, "0.2", [4, 4, 2]),
        (10, "3", [4, 3, 3]),
        (10, "3,", [5, 4, 1]),
        (10, "3, 7", [4, 4, 2]),
    ],
)
def test_topics_are_parted(topics: int, hold_out: str, found: list[int]) -> None:
    parts = split_topics(questions(topics), hold_out, 0, 1000)
    assert sizes(parts) == found
    every = [topic for part in parts.topics().values() for topic in part]
    assert sorted(every, key=int) == [str(n) for n in range(1, topics + 1)]


def test_named_topics_are_those_held_out() -> None:
    assert split_topics(questions(10), "3, 7", 5, 99).topics()["held_out"] == ["3", "7"]


def test_the_seed_decides() -> None:
    first, again, other = (
        split_topics(questions(20), "topics", seed, 99).topics() for seed in (1, 1, 2)
    )
    assert first == again != other


def test_so_many_are_learnt_from_and_all_are_measured() -> None:
    parts = split_topics(questions(12, each=50), "topics", 0, 20)
    found = [len(part) for part in (parts.training, parts.validation, parts.held_out)]
    assert found == [20, 20, 300]


@pytest.mark.parametrize(
    ("hold_out", "said"),
    [
        ("0", "give a share"),
        ("-1", "give a share"),
        ("nan", "give a share"),
        ("301", "leaves 0 of 5 topics .* write 301,"),
        ("4", "leaves 1 of 5"),
        ("x", "unknown topic 'x'"),
        ("1,2,3,4,5", "leaves 0 of 5"),
    ],
)
def test_what_cannot_be_held_out_is_refused(hold_out: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        split_topics(questions(5), hold_out, 0, 99)


DECIDING: dict[str, tuple[str, dict[str, Any], str]] = {
    "citation": ("citation", {}, "attest"),
    "citation in groups": ("citation", {"group": 5}, "attest_group"),
    "support": ("support", {}, "attest"),
    "argue": ("argue", {}, "attest"),
    "direct_prompt": ("direct_prompt", {}, "grade"),
    "nuggets": ("nuggets", {}, "assign_nuggets"),
    "grounding": ("grounding", {}, "attribute"),
    "attribution": ("attribution", {}, "attribute"),
    "faithfulness": ("faithfulness", {}, "verify"),
    "rubric": ("rubric", {}, "assess_answers"),
}


@pytest.mark.parametrize(("judge", "settings", "program"), DECIDING.values(), ids=DECIDING)
def test_the_program_that_decides(judge: str, settings: dict[str, Any], program: str) -> None:
    assert find_program(make_judge(judge, settings), "").name == program


def test_a_judge_without_a_prompt_has_none() -> None:
    with pytest.raises(InputError, match="asks no model"):
        find_program(make_judge("length", {}), "")

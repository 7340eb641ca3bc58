"""Several things are asked about in one request, and one by one where its reply does not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fakes import item, judgment
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.judge import ask_together, charge_first, judge_or_fail
from trecjudge.records import NOTHING_SPENT, Usage

PAID = Usage(spared=1)


@pytest.mark.parametrize(
    ("bad", "kind", "requests"),
    [
        pytest.param("", "parse", ["ab", "cd", "e"], id="windows"),
        pytest.param("d", "parse", ["ab", "cd", "e", "c", "d"], id="one by one"),
        pytest.param("d", "cut", ["ab", "cd", "e", "c", "d"], id="a reply that was cut"),
        pytest.param("d", "transport", ["ab", "cd", "e"], id="an outage is the same for all"),
    ],
)
def test_each_has_its_answer_or_why_there_is_none(bad: str, kind: str, requests: list[str]) -> None:
    made = []

    async def ask(part: Sequence[str]) -> tuple[Sequence[Any], Usage]:
        made.append("".join(part))
        if bad and bad in part:
            raise JudgmentFailed(kind, "no")
        return [letter.upper() for letter in part], PAID

    found = asyncio.run(ask_together("abcde", 2, ask))
    answers = {a: b for asked, given, _ in found for a, b in zip(asked, given, strict=True)}
    assert made == requests
    assert list(answers) == list("abcde")
    failed = [name for name, answer in answers.items() if isinstance(answer, JudgmentFailed)]
    assert failed == (["c", "d"] if kind == "transport" else list(bad))
    answered = [asked for asked, given, _ in found if not isinstance(given[0], JudgmentFailed)]
    assert [asked for asked, _, usage in found if usage == PAID] == answered


def test_the_first_judgment_of_a_request_has_its_cost() -> None:
    first, second = charge_first([judgment("a"), judgment("b")], PAID)
    assert (first.usage, second.usage) == (PAID, NOTHING_SPENT)
    assert charge_first([], PAID) == []


def test_a_judgment_that_fails_is_unjudged_and_keeps_what_it_is_about() -> None:
    async def fail() -> Any:
        raise JudgmentFailed("transport", "reset")

    found = asyncio.run(judge_or_fail(item(), fail(), sentence_index=3))
    assert (found.judged, found.sentence_index) == (False, 3)

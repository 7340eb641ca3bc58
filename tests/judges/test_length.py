"""The length judge."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes import response
from trecjudge.judges.length import LengthJudge
from trecjudge.models.model import NoModel
from trecjudge.records import Topic


@pytest.mark.parametrize(
    ("settings", "value", "label"),
    [
        ({}, 4.0, "fits"),
        ({"limit": 3}, 4.0, "too_long"),
        ({"unit": "characters", "limit": 20}, 20.0, "fits"),
    ],
)
def test_length(settings: dict[str, object], value: float, label: str) -> None:
    judge = LengthJudge(**settings)  # type: ignore[arg-type]
    (item,) = judge.pool(Topic("t"), response(("One two.", []), ("Three ﬁve.", [])))
    judgment = asyncio.run(judge.judge(item, NoModel()))
    assert (judgment.value, judgment.label) == (value, label)

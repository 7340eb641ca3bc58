"""The lines of `NAME.leaderboard.jsonl` read, and what is none."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.leaderboards.statistics import Statistic, read_statistics

RECORD = {
    "run_id": "r",
    "measure": "M",
    "mean": 0.5,
    "lowest": 0.25,
    "highest": 0.75,
    "judged": 3,
    "expected": 4,
    "lower_is_better": False,
    "rank": 1,
}


def fail(finding: Finding) -> None:
    pytest.fail(str(finding))


@pytest.mark.parametrize("by_topic", [None, {}, {"t1": 1, "t2": None, "t3": 0.0}])
def test_a_line(by_topic: dict[str, float | None] | None, write: Write) -> None:
    path = write(json.dumps(RECORD | {"by_topic": by_topic}), "x.leaderboard.jsonl")
    (found,) = read_statistics(path, fail)
    assert found == Statistic("r", "M", 0.5, 0.25, 0.75, 3, 4, False, by_topic)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mean": "high"}, "mean: Input should be a valid number"),
        ({"by_topic": [1]}, "by_topic: Input should be a valid dict"),
        ({"by_topic": {"t1": "x"}}, "by_topic.t1: Input should be a valid number"),
        ({"run_id": None}, "run_id: Input should be a valid string"),
    ],
)
def test_what_is_no_line_is_named(changed: dict[str, object], message: str, write: Write) -> None:
    path = write(json.dumps(RECORD | changed), "x.leaderboard.jsonl")
    with pytest.raises(InputError, match=f"x.leaderboard.jsonl:1: {message}"):
        list(read_statistics(path, fail))

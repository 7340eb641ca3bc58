"""The lines of `NAME.leaderboard.jsonl` read, and what is none."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write, fail
from trecjudge.errors import InputError
from trecjudge.results.statistics import Corrected, RunScore, read_statistics
from trecjudge.settings.limits import apply_limits

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


@pytest.mark.parametrize("by_topic", [None, {}, {"t1": 1, "t2": None, "t3": 0.0}])
def test_a_line(by_topic: dict[str, float | None] | None, write: Write) -> None:
    path = write(json.dumps(RECORD | {"by_topic": by_topic}), "x.leaderboard.jsonl")
    (found,) = read_statistics(path, fail)
    known = {"judged": 3, "expected": 4, "lowest": 0.25, "highest": 0.75}
    assert found == RunScore("r", "M", 0.5, by_topic=by_topic, **known)  # type: ignore[arg-type]


def test_an_interval_groups_and_what_labels_make_of_it(write: Write) -> None:
    human = {"labelled": 3, "mean": 0.5, "low": None, "high": 1.0625}
    beside = {"low": 0.125, "high": 0.875, "groups": ["a", "b"], "human": human}
    (found,) = read_statistics(write(json.dumps(RECORD | beside), "x.leaderboard.jsonl"), fail)
    assert (found.low, found.high, found.groups) == (0.125, 0.875, ["a", "b"])
    assert found.human == Corrected(**human)  # type: ignore[arg-type]
    assert found.human is not None and type(found.human.labelled) is int


def test_what_an_older_file_lacks_is_not_known(write: Write) -> None:
    (found,) = read_statistics(write(json.dumps(RECORD), "x.leaderboard.jsonl"), fail)
    assert (found.by_topic, found.aggregate) == (None, "")
    assert (found.low, found.high, found.groups, found.human) == (None, None, (), None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mean": "high"}, "mean: Input should be a valid number"),
        ({"by_topic": [1]}, "by_topic: Input should be a valid dict"),
        ({"by_topic": {"t1": "x"}}, "by_topic.t1: Input should be a valid number"),
        ({"low": "x"}, "low: Input should be a valid number"),
        ({"groups": "ab"}, "groups: "),
        ({"human": {"mean": "x"}}, "human.mean"),
        ({"run_id": None}, "run_id: Input should be a valid string"),
    ],
)
def test_what_is_no_line_is_named(changed: dict[str, object], message: str, write: Write) -> None:
    path = write(json.dumps(RECORD | changed), "x.leaderboard.jsonl")
    with pytest.raises(InputError, match=f"x.leaderboard.jsonl:1: {message}"):
        list(read_statistics(path, fail))


def test_topics_of_statistics_are_counted_against_the_limit(write: Write) -> None:
    path = write(json.dumps(RECORD | {"by_topic": {f"t{i}": 0.5 for i in range(4)}}))
    with apply_limits(["rows=4"]), pytest.raises(InputError, match="more than 4 rows"):
        list(read_statistics(path, fail))

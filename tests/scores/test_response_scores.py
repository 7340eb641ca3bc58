"""Measures of counts that are summed over topics: micro, as a ratio of sums."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes import judgment, response
from trecjudge.errors import PluginError
from trecjudge.findings import Finding
from trecjudge.measures import LeaderboardSpec, MeasureSpec, Sums, SumsSpec
from trecjudge.records import FULL, NONE, Failure, Judgment, Place, Response
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.response_scores import ResponseScores, Score, mean_of_samples
from trecjudge.scores.statistics import rank_by_measure, statistics_lines
from trecjudge.stats.scores import scores_of

FAILED = Failure("transport", "reset")


def counts(response: Response, judgments: Sequence[Judgment]) -> Sums:
    judged = [j for j in judgments if j.judged]
    return sum(j.label == FULL for j in judged), len(judged)


def ratio(sums: Sums) -> float | None:
    return sums[0] / sums[1] if sums[1] else None


def fill(judgment: Judgment, best: bool) -> Judgment:
    return replace(judgment, label=FULL if best else NONE, failure=None)


def micro(own: tuple[int, ...] = ()) -> MeasureSpec:
    sums = SumsSpec(counts, ratio, own)
    return MeasureSpec("M", lambda response, judgments: None, "of_sums", None, sums=sums)


def board(topics: dict[str, str], own: tuple[int, ...] = (), more: str = "") -> Leaderboard:
    """Return the leaderboard of run `r`, `+` full, `-` none, `?` unjudged; `more` is run `s`'s."""
    made = Leaderboard(LeaderboardSpec((micro(own),), fill=fill), ["t1", "t2", "t3"])
    for topic_id, marks in topics.items():
        made.add(response(run_id="r", topic_id=topic_id), judgments(marks))
    if more:
        made.add(response(run_id="s", topic_id="t3"), judgments(more))
    made.finish()
    return made


def judgments(marks: str) -> list[Judgment]:
    by_mark = {
        "+": judgment(FULL),
        "-": judgment(NONE),
        "?": judgment(None, failure=FAILED),
    }
    return [by_mark[mark] for mark in marks]


@pytest.mark.parametrize(
    ("topics", "wanted"),
    [
        pytest.param({"t1": "+", "t2": "---"}, (0.25, 0.25, 0.25), id="not the mean of 1 and 0"),
        pytest.param({"t1": "+", "t2": "?-"}, (0.5, 1 / 3, 2 / 3), id="one is open"),
        pytest.param({"t1": "??"}, (None, 0.0, 1.0), id="all is open"),
        pytest.param({"t1": "", "t2": ""}, (0.0, 0.0, 0.0), id="nothing to count"),
    ],
)
def test_counts_are_summed_before_they_are_divided(
    topics: dict[str, str], wanted: tuple[float | None, ...]
) -> None:
    mean = board(topics).mean("r", micro())
    assert (mean.mean, mean.lowest, mean.highest) == wanted


def test_a_missing_response_has_the_counts_that_are_the_topics_own() -> None:
    topics = {"t1": "++"}
    assert board(topics, own=(1,), more="+?").mean("r", micro()).mean == 0.5
    assert board(topics, more="+?").mean("r", micro()).mean == 1.0
    # Nothing judged of its own: what it lacks elsewhere is no value.
    assert board({"t1": "?"}, own=(1,), more="+").mean("r", micro()).mean is None


def test_there_is_an_all_row_and_no_other() -> None:
    rows = [(row.topic_id, row.measure, row.value) for row in board({"t1": "+?"}).rows()]
    assert rows == [(None, "M", 1.0), (None, "M.unjudged", 1.0)]


def test_what_is_no_number_is_refused() -> None:
    sums = SumsSpec(lambda response, judgments: (float("nan"), 1.0), ratio)
    measure = replace(micro(), sums=sums)
    made = Leaderboard(LeaderboardSpec((measure,)))
    with pytest.raises(PluginError, match="measure M on run 'r', topic 't1': it is nan"):
        made.add(response(), [])


@pytest.mark.parametrize(
    "measure", [replace(micro(), sums=None), replace(micro(), aggregate="sum")]
)
def test_of_sums_and_sums_go_together(measure: MeasureSpec) -> None:
    with pytest.raises(PluginError, match="go together"):
        LeaderboardSpec((measure,))


def test_it_has_an_interval_and_others_can_read_its_statistics() -> None:
    made = Leaderboard(LeaderboardSpec((micro(),), fill=fill))
    for number in range(12):
        marks = "+" * (number % 3) + "-" * (number % 4)
        made.add(response(topic_id=f"t{number:02}"), judgments(marks))
    made.finish()
    (line,) = statistics_lines(made, rank_by_measure(made, HumanLabels({}, {})))
    found = json.loads(line)
    assert found["mean"] == pytest.approx(12 / 30)
    assert (found["topics"], found["groups"], found["aggregate"]) == (12, [], "of_sums")
    assert found["low"] < 0.4 < found["high"]
    findings: list[Finding] = []
    rows = [(Place("b"), row) for row in made.rows()]
    assert scores_of("b", rows, findings.append).overall("M") == pytest.approx([0.4])
    assert findings == []


UNJUDGED = Failure("model_error", "no answer", 3)
SCORES = {
    "M": Score.plain(0.1),
    "NEGATIVE": Score.plain(-0.0),
    "UNDEFINED": Score.plain(None),
    "OPEN": Score(0.5, 0.25, 0.75, judged=False, unjudged=2, failure=UNJUDGED),
    "UNJUDGED": Score(None, None, None, judged=False, unjudged=1, failure=UNJUDGED),
    "SUMS": Score(None, None, None, judged=True, sums=((1.0, 2.0),) * 3),
}


def test_scores_come_back() -> None:
    held = ResponseScores.of(tuple(SCORES), SCORES)
    for found in (held, pickle.loads(pickle.dumps(held))):
        assert list(found.items()) == list(SCORES.items())
        assert str(found["NEGATIVE"].value) == "-0.0"
    assert "OTHER" not in held
    with pytest.raises(KeyError, match="OTHER"):
        held["OTHER"]


def test_plain_scores_take_little_room() -> None:
    measures = tuple("ABCDE")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        held = [
            ResponseScores.of(measures, {name: Score.plain(n / 7) for name in measures})
            for n in range(1000)
        ]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(held) == 1000
    assert (after - before) / 1000 < 170, "bytes a response; 850 as objects"


OPEN = Score(None, 0.0, 1.0, judged=False, unjudged=1, failure=UNJUDGED)


@pytest.mark.parametrize(
    ("scores", "default", "expected", "spread"),
    [
        pytest.param([1.0, 0.0, 0.0], 0.0, (1 / 3,) * 3, 3**-0.5, id="three values"),
        pytest.param([1.0, None], 0.0, (0.5,) * 3, 0.5**0.5, id="undefined counts the default"),
        pytest.param([1.0, None], None, (1.0,) * 3, None, id="undefined counts nothing"),
        pytest.param([None, None], 0.0, (None,) * 3, None, id="defined nowhere"),
        pytest.param([1.0, OPEN], 0.0, (1.0, 0.5, 1.0), None, id="unjudged counts in the bounds"),
    ],
)
def test_a_topic_has_the_mean_of_its_samples(
    scores: list[float | Score | None],
    default: float | None,
    expected: tuple[float | None, ...],
    spread: float | None,
) -> None:
    own = [score if isinstance(score, Score) else Score.plain(score) for score in scores]
    found, apart = mean_of_samples(own, default)
    ends = (found.value, found.lowest, found.highest)
    assert ends == tuple(None if v is None else pytest.approx(v) for v in expected)
    assert apart == (None if spread is None else pytest.approx(spread))
    assert (found.judged, found.unjudged) == (OPEN not in own, int(OPEN in own))


def test_counts_of_samples_are_averaged_too() -> None:
    counts = [((1.0, 2.0),) * 3, ((0.0, 4.0),) * 3]
    own = [Score(None, None, None, judged=True, sums=sums) for sums in counts]
    assert mean_of_samples(own, 0.0)[0].sums == ((0.5, 3.0),) * 3

"""Scores per topic, `all` rows, missing responses, unjudged items, qrels grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes import judgment, response
from trecjudge.errors import InputError, PluginError
from trecjudge.measures import LeaderboardSpec, MeasureSpec, OnMissingResponse
from trecjudge.records import FULL, NONE, Claim, Failure, Judgment, Response
from trecjudge.results.trec import QrelsRow
from trecjudge.scores.leaderboard import (
    Leaderboard,
    too_few_topics,
)
from trecjudge.scores.qrels import best_grades, pooled_qrels, response_qrels
from trecjudge.scores.summary import summarise

FAILED = Failure("transport", "reset")


def share(response: Response, judgments: Sequence[Judgment]) -> float | None:
    judged = [j for j in judgments if j.judged]
    return sum(j.label == FULL for j in judged) / len(judged) if judged else None


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    return replace(judgment, label=FULL if best else NONE, failure=None)


def board(
    topics: list[str] | None = None,
    on_missing: OnMissingResponse = "fix_aggregate",
    default: float | None = 0.0,
) -> Leaderboard:
    measure = MeasureSpec("SHARE", share, default=default)
    return Leaderboard(
        LeaderboardSpec((measure,), on_missing=on_missing, fill=best_or_worst), topics
    )


def rows(board: Leaderboard) -> list[str]:
    board.finish()
    return [f"{r.run_id} {r.topic_id or 'all'} {r.measure} {r.value:g}" for r in board.rows()]


def test_rows_are_sorted_and_all_comes_last() -> None:
    b = board(["t2", "t1"])
    b.add(response(run_id="b", topic_id="t1"), [judgment(FULL)])
    b.add(response(run_id="a", topic_id="t2"), [judgment(FULL)])
    b.add(response(run_id="a", topic_id="t1"), [judgment(NONE)])
    assert rows(b) == [
        "a t1 SHARE 0",
        "a t2 SHARE 1",
        "a all SHARE 0.5",
        "b t1 SHARE 1",
        "b all SHARE 0.5",
    ]


@pytest.mark.parametrize("apart", [False, True], ids=["in one part", "in two parts"])
def test_samples_are_one_topic_whatever_their_number(apart: bool) -> None:
    whole, other = board(["t1", "t2"]), board(["t1", "t2"])
    further = [response().as_sample(name) for name in ("a", "3")]
    for n, (one, label) in enumerate(zip([response(), *further], [FULL, NONE, FULL], strict=True)):
        (other if apart and n else whole).add(one, [judgment(label, uncalibrated="nl")])
    whole.take(other.scores, other.coverage)
    whole.add(response(topic_id="t2"), [judgment(NONE)])
    assert rows(whole) == ["r t1 SHARE 0.666667", "r t2 SHARE 0", "r all SHARE 0.333333"]
    found = whole.coverage["r"]
    assert (found.responses, found.sample_counts) == (2, {"topics": 1, "samples": 3})
    assert (found.languages, found.withheld) == ({"unknown": 4}, {"nl": 3})
    assert whole.spreads == {("r", "SHARE"): pytest.approx(3**-0.5)}


@pytest.mark.parametrize(
    ("on_missing", "expected"),
    [
        ("fix_aggregate", ["r t1 SHARE 1", "r all SHARE 0.5"]),
        ("default", ["r t1 SHARE 1", "r t2 SHARE 0", "r all SHARE 0.5"]),
        ("warn", ["r t1 SHARE 1", "r t2 SHARE 0", "r all SHARE 0.5"]),
    ],
)
def test_a_missing_response(on_missing: OnMissingResponse, expected: list[str]) -> None:
    b = board(["t1", "t2"], on_missing)
    b.add(response(), [judgment(FULL)])
    assert rows(b) == expected


def test_a_missing_response_can_be_an_error() -> None:
    b = board(["t1", "t2"], "error")
    b.add(response(), [judgment(FULL)])
    with pytest.raises(InputError, match="run 'r' has no response on t2"):
        b.finish()


def test_a_measure_without_default_leaves_the_mean() -> None:
    b = board(["t1", "t2"], default=None)
    b.add(response(), [judgment(FULL)])
    assert rows(b) == ["r t1 SHARE 1", "r all SHARE 1"]


def test_an_unjudged_response_is_never_a_zero() -> None:
    b = board(["t1", "t2"])
    b.add(response(), [judgment(FULL)])
    b.add(response(topic_id="t2"), [judgment(failure=FAILED)])
    assert rows(b) == [
        "r t1 SHARE 1",
        "r t2 SHARE.unjudged 1",
        "r all SHARE 1",
        "r all SHARE.unjudged 1",
    ]
    mean = b.mean("r", b.spec.measures[0])
    assert (mean.lowest, mean.mean, mean.highest) == (0.5, 1.0, 1.0)


def test_unjudged_items_give_bounds_and_are_counted() -> None:
    b = board()
    b.add(response(), [judgment(FULL), judgment(NONE), judgment(failure=FAILED)])
    b.finish()
    mean = b.mean("r", b.spec.measures[0])
    assert (mean.lowest, mean.mean, mean.highest) == (1 / 3, 1 / 2, 2 / 3)
    coverage = b.coverage["r"]
    assert (coverage.judged, coverage.expected, coverage.failures) == (2, 3, {"transport": 1})
    assert coverage.examples == {"transport": "run r, topic t1, sentence 1: reset"}


def test_ranking_puts_runs_without_a_value_last() -> None:
    b = board()
    b.add(response(run_id="unjudged"), [judgment(failure=FAILED)])
    b.add(response(run_id="poor"), [judgment(NONE)])
    b.add(response(run_id="good"), [judgment(FULL)])
    b.finish()
    assert b.ranking() == ["good", "poor", "unjudged"]


def test_ties_are_ranked_by_run_id() -> None:
    b = board()
    for run_id in ("b", "c", "a"):
        b.add(response(run_id=run_id), [judgment(FULL)])
    b.finish()
    assert b.ranking() == ["a", "b", "c"]


def test_the_mean_of_a_run_is_worked_out_once() -> None:
    b = board()
    b.add(response(), [judgment(FULL), judgment(failure=FAILED)])
    b.finish()
    (measure,) = b.spec.measures
    first = b.mean("r", measure)
    assert list(b.rows()) and b.ranking() == ["r"]
    assert b.mean("r", measure) is first


def test_unjudged_items_leave_a_score_and_a_mean_open() -> None:
    b = board()
    b.add(response(run_id="whole"), [judgment(FULL)])
    b.add(response(run_id="part"), [judgment(FULL), judgment(failure=FAILED)])
    b.finish()
    (measure,) = b.spec.measures
    scores = {run: topics["t1"]["SHARE"].is_open for run, topics in b.scores.items()}
    assert scores == {run: b.mean(run, measure).is_open for run in scores}
    assert scores == {"whole": False, "part": True}


GRADED = [
    judgment(doc_id="d2", grade=0),
    judgment(doc_id="d1", grade=1),
    judgment(doc_id="d2", grade=2),
    judgment(doc_id=None, grade=0, citation="9"),
    judgment(doc_id="d3", failure=FAILED),
]


def test_qrels_take_the_best_sentence_and_skip_what_is_unjudged() -> None:
    assert response_qrels(response(), GRADED) == [
        QrelsRow("t1", "r", "d1", 1),
        QrelsRow("t1", "r", "d2", 2),
    ]


def test_pooled_qrels_take_the_best_run() -> None:
    best = best_grades(GRADED)
    best = best_grades([judgment(run_id="s", doc_id="d1", grade=2)], best)
    assert [(r.iteration, r.doc_id, r.grade) for r in pooled_qrels(best)] == [
        ("0", "d1", 2),
        ("0", "d2", 2),
    ]


def test_where_nothing_was_judged_no_mean_is_given() -> None:
    b = board(["t1", "t2", "t3"])
    b.add(response(), [judgment(failure=FAILED)])
    b.add(response(topic_id="t2"), [judgment(failure=FAILED)])
    assert rows(b) == [
        "r t1 SHARE.unjudged 1",
        "r t2 SHARE.unjudged 1",
        "r all SHARE.unjudged 2",
    ]
    mean = b.mean("r", b.spec.measures[0])
    assert (mean.lowest, mean.highest) == (0.0, pytest.approx(2 / 3))


def test_a_measure_lacks_what_its_own_judge_could_not_judge() -> None:
    spec = LeaderboardSpec(
        (MeasureSpec("A", share, judge="a"), MeasureSpec("B", share, judge="b")), fill=best_or_worst
    )
    b = Leaderboard(spec, ["t1"])
    b.add(response(), [judgment(FULL, judge="a"), judgment(failure=FAILED, judge="b")])
    assert rows(b) == ["r t1 A 1", "r t1 B.unjudged 1", "r all A 1", "r all B.unjudged 1"]


def test_a_grade_below_zero_stays_one() -> None:
    spam = judgment(FULL, doc_id="d", grade=-2)
    assert best_grades([spam]) == {("t1", "d"): -2}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", [1], 10**400], ids=range(5))
def test_a_measure_that_gives_no_number_is_an_error(value: object) -> None:
    spec = LeaderboardSpec((MeasureSpec("ODD", lambda response, judgments: value),))  # type: ignore
    with pytest.raises(PluginError, match="measure ODD on run 'r', topic 't1'"):
        Leaderboard(spec).add(response(), [])


def test_the_lowest_value_can_be_the_best() -> None:
    measure = MeasureSpec("ERRORS", share, lower_is_better=True)
    b = Leaderboard(LeaderboardSpec((measure,)))
    b.add(response(run_id="many"), [judgment(FULL)])
    b.add(response(run_id="few"), [judgment(NONE)])
    b.finish()
    assert b.ranking() == ["few", "many"]


def test_bounds_are_ordered_where_less_is_better() -> None:
    def misses(response: Response, judgments: Sequence[Judgment]) -> float | None:
        found = share(response, judgments)
        return None if found is None else 1 - found

    measure = MeasureSpec("MISSES", misses, lower_is_better=True)
    b = Leaderboard(LeaderboardSpec((measure,), fill=best_or_worst), ["t1"])
    b.add(response(), [judgment(FULL), judgment(failure=FAILED)])
    b.finish()
    mean = b.mean("r", measure)
    assert (mean.mean, mean.lowest, mean.highest) == (0.0, 0.0, 0.5)


def test_what_is_not_defined_can_leave_the_mean_where_what_is_missing_does_not() -> None:
    measure = MeasureSpec("SHARE", share, default_if_undefined=False)
    b = Leaderboard(LeaderboardSpec((measure,), fill=best_or_worst), ["t1", "t2", "t3"])
    b.add(response(topic_id="t1"), [judgment(FULL)])
    b.add(response(topic_id="t2"), [])
    b.finish()
    assert b.mean("r", measure).mean == 0.5


def test_where_no_response_has_a_value_missing_ones_do_not_make_one() -> None:
    def of_claims(response: Response, judgments: Sequence[Judgment]) -> float | None:
        return share(response, [j for j in judgments if j.sentence_index is not None])

    measure = MeasureSpec("SHARE", of_claims)
    b = Leaderboard(LeaderboardSpec((measure,), fill=best_or_worst), ["t1", "t2"])
    b.add(response(), [judgment("ANSWERED", sentence_index=None), judgment(failure=FAILED)])
    b.finish()
    mean = b.mean("r", measure)
    assert (mean.mean, mean.lowest, mean.highest) == (None, 0.0, 0.5)


def of_labels(label: str, undefined: str = "") -> MeasureSpec:
    """Return a measure that has a value only where a judgment has a label."""

    def compute(response: Response, judgments: Sequence[Judgment]) -> float | None:
        own = [j for j in judgments if j.label == label]
        return float(len(own)) if own else None

    return MeasureSpec(
        label.upper(), compute, default_if_undefined=False, undefined=undefined, judge="j"
    )


def labelled(measures: tuple[MeasureSpec, ...], *labels: tuple[str, str, str]) -> Leaderboard:
    found = Leaderboard(LeaderboardSpec(measures), ["t1", "t2"])
    for run_id, topic_id, label in labels:
        own = replace(response(("A.", [])), run_id=run_id, topic_id=topic_id)
        found.add(own, [judgment(label, run_id=run_id, topic_id=topic_id, judge="j")])
    found.finish()
    return found


@pytest.mark.parametrize(
    ("undefined", "wanted"), [("none is vital", [None, None]), ("", [0.0, None])]
)
def test_a_missing_response_has_no_value_where_its_topic_has_none(
    undefined: str, wanted: list[float | None]
) -> None:
    """Run a answers both topics, b only one: it must not get a 0 where nobody has a value."""
    measure = of_labels("vital", undefined)
    own = labelled((measure,), ("b", "t1", "okay"), ("a", "t1", "okay"), ("a", "t2", "okay"))
    assert [own.mean(run, measure).mean for run in ("b", "a")] == wanted


@pytest.mark.parametrize(
    ("names", "ranked", "passed_over"),
    [
        pytest.param(("vital", "okay", "all"), "OKAY", "VITAL", id="the first that has a value"),
        pytest.param(("vital", "all", "okay"), "OKAY", "VITAL", id="not one without"),
        pytest.param(("okay", "vital"), "OKAY", "", id="it has a value"),
        pytest.param(("vital", "all"), "VITAL", "", id="none has a value"),
    ],
)
def test_runs_are_ranked_by_a_measure_that_has_a_value(
    names: tuple[str, ...], ranked: str, passed_over: str
) -> None:
    measures = tuple(of_labels(name, "none is there") for name in names)
    own = labelled(measures, ("a", "t1", "okay"), ("b", "t1", "okay"))
    assert own.spec.ranked_by == ranked
    assert (own.passed_over.name if own.passed_over else "") == passed_over


def test_it_is_said_why_no_run_has_a_value() -> None:
    measures = tuple(of_labels(name, "none is there") for name in ("vital", "all"))
    own = labelled(measures, ("a", "t1", "okay"), ("b", "t1", "okay"))
    assert summarise("x", "j", own, {}).remarks == ["VITAL has no value for any run: none is there"]


def test_bands_and_what_no_document_states_are_said_below_the_table() -> None:
    """Where unjudged items decide the band of a run it is open, and no claim counts for it."""
    rate = MeasureSpec("SHARE", share, bands={"good": 0.8, "fair": 0.5, "poor": 0.0})
    whole, other = (Leaderboard(LeaderboardSpec((rate,), fill=best_or_worst)) for _ in range(2))
    texts = "It has 18 chapters.", "It was built in 1874.", "It has 19 chapters."
    claims = [Claim(index, text, 0) for index, text in enumerate(texts)]
    labels = {"a": [FULL] * 3, "b": ["UNATTRIBUTED"] * 3, "c": [FULL, "UNATTRIBUTED", None]}
    for run_id, own in labels.items():
        (other if run_id == "c" else whole).add(
            response(("A.", []), run_id=run_id),
            [
                judgment(label, run_id=run_id, claim=claim, failure=None if label else FAILED)
                for claim, label in zip(claims, own, strict=True)
            ],
        )
    whole.take(other.scores, other.coverage)
    whole.finish()
    assert summarise("x", "j", whole, {}).remarks == [
        "SHARE: 1 good (a), 1 poor (b), 1 open (c); good from 0.8, fair from 0.5, else poor",
        "4 claims that no document states: 2 number, 2 date",
    ]


def test_a_measure_that_nobody_could_judge_is_not_passed_over() -> None:
    """What is not known is not undefined: an outage must not change what ranks."""
    counted = MeasureSpec("COUNT", lambda response, judgments: float(len(judgments)))
    spec = LeaderboardSpec((MeasureSpec("SHARE", share), counted), fill=best_or_worst)
    found = Leaderboard(spec)
    found.add(response(("A.", [])), [judgment(None, failure=FAILED)])
    found.finish()
    assert found.spec.ranked_by == "SHARE" and found.passed_over is None


TUKEY, HOLM = "Tukey's test", "a paired test with Holm's correction"


@pytest.mark.parametrize(
    ("runs", "topics", "test", "by"),
    [
        pytest.param(1, 1, "tukey", "", id="nothing to tell apart"),
        pytest.param(2, 5, "tukey", TUKEY, id="two runs need six topics"),
        pytest.param(2, 6, "tukey", "", id="of two runs six are enough"),
        pytest.param(3, 2, "tukey", TUKEY, id="three runs need three topics"),
        pytest.param(3, 3, "tukey", "", id="of three runs three are enough"),
        pytest.param(53, 2, "tukey", "", id="two topics are enough of 53 runs"),
        pytest.param(2, 5, "holm", HOLM, id="Holm: two runs need six topics"),
        pytest.param(53, 15, "holm", HOLM, id="Holm: 1378 pairs need sixteen"),
        pytest.param(53, 16, "holm", "", id="Holm: of 1378 pairs sixteen are enough"),
        pytest.param(53, 15, "", HOLM, id="statistics of before are by Holm"),
    ],
)
def test_too_few_topics(runs: int, topics: int, test: str, by: str) -> None:
    said = f"{topics} topics are too few for {by} to tell any of {runs} runs apart"
    assert too_few_topics(runs, topics, f"{test}: all") == (said if by else "")

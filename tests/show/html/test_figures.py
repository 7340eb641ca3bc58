"""Which charts a report has, and what others say of the same runs."""

from __future__ import annotations

import pytest

from tests.fakes import judgment, response
from tests.stats.texts import scores
from trecjudge.judging.judge import make_judge, measures_of
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import FULL, NONE
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.show.html.entries import standings
from trecjudge.show.html.figures import (
    Sides,
    agreement,
    means_of,
    means_of_truth,
    own_charts,
    ranks,
    renamed_measures,
    unjudged_of_truth,
)


def board(*runs: str, judge: str = "citation") -> Leaderboard:
    """Return runs on one topic of which only the first cites well."""
    found = Leaderboard(measures_of(make_judge(judge, {})))
    for run_id in runs:
        label = FULL if run_id == runs[0] else NONE
        judged = judgment(label, run_id=run_id, doc_id="d", exists=True)
        found.add(response(("S.", ["d"]), run_id=run_id), [judged])
    found.finish()
    return found


def test_ranks_need_two_runs_distributions_one() -> None:
    names = [measure.name for measure in board("a").spec.measures]
    assert [chart.measure for chart in own_charts(board("a"))] == names
    assert [chart.measure for chart in own_charts(board("a", "b"))] == ["", *names]


def test_ranks_follow_each_measure() -> None:
    found = board("b", "a")
    assert list(ranks(found)) == ["b", "a"]
    names = [measure.name for measure in found.spec.measures]
    assert {run: row[names.index("CITATION_SUPPORT")] for run, row in ranks(found).items()} == {
        "b": 1,
        "a": 2,
    }


def test_equal_values_share_a_rank() -> None:
    found = board("b", "c", "a")
    names = [measure.name for measure in found.spec.measures]
    at = names.index("CITATION_SUPPORT")
    assert {run: row[at] for run, row in ranks(found).items()} == {"b": 1, "a": 2, "c": 2}
    shown = standings(found, {}, {})["runs"]
    assert {run["id"]: run["place"] for run in shown} == {"b": 1, "a": 2, "c": 2}


@pytest.mark.parametrize(("lower", "first"), [(False, "long"), (True, "short")])
def test_the_lowest_may_be_the_best(lower: bool, first: str) -> None:
    size = MeasureSpec("SIZE", lambda r, j: len(r.sentences), lower_is_better=lower)
    found = Leaderboard(LeaderboardSpec((size,)))
    found.add(response(("S.", []), run_id="short"), [])
    found.add(response(("S.", []), ("T.", []), run_id="long"), [])
    found.finish()
    assert next(iter(ranks(found))) == first
    assert ranks(found)[first] == [1]


def test_a_run_without_a_value_has_no_rank() -> None:
    nothing = MeasureSpec("NOTHING", lambda r, j: None, default=None)
    found = Leaderboard(LeaderboardSpec((nothing,)))
    found.add(response(), [])
    found.finish()
    assert (ranks(found), means_of(found)) == ({"r": [None]}, {"NOTHING": {}})


def test_agreement_is_shown_where_both_have_the_measure_and_the_run() -> None:
    theirs = {"CITATION_SUPPORT": {"a": 0.5, "z": 1.0}, "NDCG": {"a": 1.0}, "AVG_CITATIONS": {}}
    (chart,) = agreement(board("a", "b"), Sides("ours", "theirs", theirs))
    assert chart.title == "CITATION_SUPPORT, compared with theirs"
    assert "(1 in all)" in chart.caption


def test_a_truth_is_read_from_its_all_rows() -> None:
    truth = scores("a all CITATION_SUPPORT 0.25\na t1 CITATION_SUPPORT 0.25\n")
    same = renamed_measures((), board("a"))
    assert means_of_truth(truth, board("a"), same) == {"CITATION_SUPPORT": {"a": 0.25}}
    other = {"SENTENCE_SUPPORT": "CITATION_SUPPORT"}
    assert means_of_truth(truth, board("a"), other) == {"SENTENCE_SUPPORT": {"a": 0.25}}


def test_what_is_unjudged_is_shown_for_both_sides() -> None:
    truth = scores("a all CITATION_SUPPORT 0.25\na all CITATION_SUPPORT.unjudged 3\n")
    same = renamed_measures((), board("a"))
    theirs = means_of_truth(truth, board("a"), same)
    gaps = unjudged_of_truth(truth, same)
    sides = Sides("ours", "theirs", theirs, gaps, renamed=same)
    (chart,) = agreement(board("a"), sides)
    assert (list(chart.heads[3:]), chart.rows[0][3:]) == (
        ["Unjudged in ours", "Unjudged in theirs"],
        ["", "3"],
    )
    assert "Of 1 run some items are unjudged" in chart.caption
    assert "unjudged in theirs: 3" in chart.svg

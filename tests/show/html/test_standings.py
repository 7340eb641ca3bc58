"""The leaderboard as the page takes it."""

from __future__ import annotations

from tests.fakes import judgment, response
from trecjudge.judging.judge import make_judge, measures_of
from trecjudge.records import FULL, NONE, Failure
from trecjudge.results.statistics import Corrected, RunScore
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.show.html.entries import standings


def board() -> Leaderboard:
    """Return two runs on two topics: one fails on `t1` and does not answer `t2`."""
    found = Leaderboard(measures_of(make_judge("citation", {})), ["t1", "t2"])
    for topic, label in (("t1", FULL), ("t2", NONE)):
        good = judgment(label, doc_id="d", exists=True, grade=0, topic_id=topic)
        found.add(response(("S.", ["d"]), topic_id=topic), [good])
    failed = judgment(run_id="z", doc_id="d", exists=True, failure=Failure("cut", ""))
    found.add(response(("S.", ["d"]), run_id="z"), [failed])
    found.finish()
    return found


def test_scores_tell_unjudged_undefined_and_no_response_apart() -> None:
    shown = standings(board(), {}, {"r": "team"})
    names = [measure["name"] for measure in shown["measures"]]
    support = shown["scores"][names.index("CITATION_SUPPORT")]
    assert [run["id"] for run in shown["runs"]] == ["r", "z"]
    assert support == [[1.0, 0.0], ["?", ""]]
    assert (shown["runs"][0]["team"], shown["ranked_by"]) == ("team", "CITATION_SUPPORT")


def test_a_run_has_its_coverage_and_bounds() -> None:
    first, second = standings(board(), {}, {})["runs"]
    assert (first["responses"], first["expected_responses"], first["judged"]) == (2, 2, 2)
    assert (second["responses"], second["judged"], second["expected"]) == (1, 0, 1)
    assert (first["place"], second["place"]) == (1, None)
    support = second["means"][1]
    assert (support["lowest"], support["highest"], support["value"]) == (0.0, 0.5, None)


def test_intervals_and_groups_where_they_are_known() -> None:
    human = Corrected(mean=0.5)
    known = RunScore("r", "CITATION_SUPPORT", 0.5, low=0.1, high=0.9, groups="ab", human=human)
    runs = standings(board(), {("r", "CITATION_SUPPORT"): known}, {})["runs"]
    mean, unknown = runs[0]["means"][1], runs[1]["means"][1]
    assert (mean["low"], mean["high"], mean["groups"]) == (0.1, 0.9, "ab")
    assert mean["human"] == human
    assert (unknown["low"], unknown["high"], unknown["groups"]) == (None, None, "")

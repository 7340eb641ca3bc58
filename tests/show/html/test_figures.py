"""The figures of a report, and agreement with people in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Open
from tests.show.html.test_writing import blocks_of
from tests.stats.texts import scores
from trecjudge.judging.judge import make_judge, measures_of
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import FULL, NONE
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.summary import stated_confidence
from trecjudge.show.html.entries import standings
from trecjudge.show.html.figures import (
    Sides,
    agreement,
    figure_text,
    means_of,
    means_of_truth,
    own_charts,
    ranks,
    renamed_measures,
    stated_charts,
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


def test_stated_confidence_has_a_chart_where_it_is_stated() -> None:
    made = board("a", "b")
    assert list(stated_charts(stated_confidence(made))) == []
    for run_id in ("a", "b"):
        made.coverage[run_id].confidence["t1"] = 0.75
    stated = stated_confidence(made)
    (chart,) = stated_charts(stated)
    assert chart.rows == [
        ["a", "0.7", "1", "0.750", "1.000"],
        ["b", "0.7", "1", "0.750", "0.000"],
    ]
    assert stated[0].measure in chart.caption and "best runs" not in chart.caption
    (many,) = stated_charts(stated * 9)
    assert "The 12 best runs are drawn; the table has all 18." in many.caption
    assert len(many.rows) == 18


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


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the sample data by words and by the labels of people, and compare the two."""
    folder = tmp_path_factory.mktemp("agreements")
    labels = SAMPLES / "rag" / "labels.jsonl"
    assert sample("rag", folder / "people", "-q", "--judgments-from", labels).status == 0
    assert sample("rag", folder / "words", "-q").status == 0
    truth = folder / "people" / "x.leaderboard.txt"
    flags = ("--compare", folder / "people", "--truth", truth)
    assert command("report", folder / "words", "-q", *flags).status == 0
    return folder


def compared(jobs: Path) -> dict[str, dict[str, list[dict[str, object]]]]:
    """Return what the page has of the comparison."""
    return blocks_of(jobs / "words" / "x.report.html")["head"][0]["compared"]  # type: ignore[return-value]


def test_the_order_of_runs_is_that_of_meta_evaluate(jobs: Path) -> None:
    measure = "CITATION_SUPPORT"
    flags = ("--truth-measure", measure, "--measure", measure, "--json")
    done = command("judges", "meta", jobs / "words", "--truth", jobs / "people", *flags)
    (pair,) = json.loads(done.out)["pairs"]
    found = {f["key"]: f for f in compared(jobs)["correlations"][measure]}
    assert list(found) == ["kendall", "tauap_b", "spearman"]
    for name, figure in found.items():
        theirs = pair["correlations"][name]
        assert figure["value"] == theirs["value"]
        given = {"topics": theirs["over_topics"], "runs": theirs["over_runs"]}
        known = {
            key: [drawn.get("low"), drawn.get("high")] if isinstance(drawn, dict) else list(drawn)
            for key, drawn in given.items()
        }
        for drawn, *bounds in figure["intervals"]:  # type: ignore[attr-defined]
            assert bounds == known[drawn]


def test_labels_agree_as_agree_has_it(jobs: Path) -> None:
    done = command(
        "labels", "agree", "--truth", jobs / "people", "--predicted", jobs / "words", "--json"
    )
    theirs = {figure["figure"]: figure for figure in json.loads(done.out)["figures"]}
    found = compared(jobs)["labels"]["figures"]
    assert [figure["key"] for figure in found][:2] == ["accuracy", "kappa"]
    for figure in found:
        assert figure["value"] == theirs[str(figure["key"])]["pooled"]


def test_figures_stand_in_the_scatter_and_above_the_runs(jobs: Path, open_page: Open) -> None:
    browser = open_page(jobs / "words" / "x.report.html", "#/agreement")
    assert browser.all(".figure")[0].text.startswith("Kendall's tau-b ")
    assert "Spearman's rho" in browser.all("#agreement figcaption")[0].text
    browser.go("#/compare")
    tiles = [tile.text.splitlines()[0] for tile in browser.all(".tile")]
    assert tiles[:2] == ["accuracy", "Cohen's kappa"]
    assert "Kendall's tau-b" in tiles


def test_two_runs_have_no_order_to_compare(tmp_path: Path) -> None:
    for name in ("a", "b"):
        sample("rag", tmp_path / name, "-q", "--max-runs", "2")
    assert command("report", tmp_path / "a", "-q", "--compare", tmp_path / "b").status == 0
    found = blocks_of(tmp_path / "a" / "x.report.html")["head"][0]["compared"]
    assert found["correlations"] == {}  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], "tau 0.500"),
        ([["topics", 0.25, 0.75]], "tau 0.500 (95 %: 0.250 to 0.750 over topics)"),
    ],
)
def test_a_figure_in_words(intervals: list[list[object]], expected: str) -> None:
    assert figure_text({"name": "tau", "value": 0.5, "intervals": intervals}) == expected

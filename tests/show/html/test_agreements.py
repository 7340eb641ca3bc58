"""Figures of agreement on a page are those of the commands that compute them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.show.html.browser import Browser
from tests.show.html.test_writing import blocks_of
from trecjudge.show.html.figures import figure_text

Open = Callable[..., Browser]


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
    done = command("meta-evaluate", jobs / "words", "--truth", jobs / "people", *flags)
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
    done = command("agree", "--truth", jobs / "people", "--predicted", jobs / "words", "--json")
    theirs = {figure["figure"]: figure for figure in json.loads(done.out)["figures"]}
    found = compared(jobs)["labels"]["figures"]
    assert [figure["key"] for figure in found][:2] == ["accuracy", "kappa"]
    for figure in found:
        assert figure["value"] == theirs[str(figure["key"])]["pooled"]


def test_figures_stand_in_the_scatter_and_above_the_runs(jobs: Path, open_page: Open) -> None:
    browser = open_page(jobs / "words" / "x.report.html", "#/charts")
    assert browser.all(".figure")[0].text.startswith("Kendall's tau-b ")
    assert "Spearman's rho" in browser.all("#charts figcaption")[0].text
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

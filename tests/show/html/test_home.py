"""The first view and the cards of runs: what happened, what failed, and where to look next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import Judged, output, report
from trecjudge.records import FULL, NONE, Failure, Judgment
from trecjudge.show.html.home import mix

TOPICS = "t1", "t2"


def judged(run_id: str, topic_id: str, *labels: str) -> Judged:
    """Return a response with a sentence for each label; `lost` has no document, `cut` no label."""
    texts = [(f"{run_id} says {i} <b>.", ["d"]) for i in range(len(labels))]
    found: list[Judgment] = []
    for i, label in enumerate(labels):
        one = judgment(label, sentence_index=i, doc_id="d", citation="d", exists=True)
        if label == "lost":
            one = replace(one, label=NONE, doc_id=None, citation="gone", exists=False)
        if label == "cut":
            one = replace(one, label=None, failure=Failure("cut", "too long", 1))
        found.append(one)
    return response(*texts, run_id=run_id, topic_id=topic_id), found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on three runs, of which each fails in another way."""
    every = [
        judged("good", "t1", FULL, FULL),
        judged("good", "t2", FULL, "cut"),
        judged("lost", "t1", FULL, "lost"),
        judged("lost", "t2", NONE, "lost"),
        judged("quiet", "t1", NONE),
    ]
    return report(output(tmp_path_factory.mktemp("home"), *every, topics=TOPICS)).path


def tiles(browser: Browser, where: str) -> dict[str, str]:
    """Return the values of tiles by their names."""
    found = [tile.text.splitlines() for tile in browser.all(f"{where} .tile")]
    return {lines[0]: " ".join(lines[1:]) for lines in found}


def test_it_says_what_happened(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    told = tiles(browser, "#home")
    assert (told["Items judged"], told["Responses"]) == ("8 of 9", "5 of 6")
    assert browser.texts("#home .first tbody th") == ["good", "lost", "quiet"]
    assert browser.texts("#home .halves > :last-child li") == [
        "✗ no_support 2 items, 22 %",
        "∅ missing document 2 items, 22 %",
        "? unjudged: cut 1 item, 11 %: the judge's failure, in no mean",
        "no response 1 of 6 responses, in 1 run",
    ]


def test_it_leads_to_what_to_look_at_next(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    worst, write, topics = browser.all("#home .thirds > div")
    assert [link.text for link in worst.find_elements("css selector", "a")] == [
        "lost on t1, sentence 2",
        "quiet on t1, sentence 1",
    ]
    assert "lost says 1 <b>." in worst.text
    assert write.text.splitlines() == [
        "Runs to write to",
        "lost: 2 of 4 citations lead nowhere",
        "quiet: no response on 1 topic",
    ]
    assert topics.text.splitlines() == [
        "Topics that decide",
        "t2: mean 0.500, spread 0.707",
        "t1: mean 0.500, spread 0.500",
    ]
    browser.find("#home .halves a[href*='unjudged']").click()
    browser.wait("document.querySelectorAll('.judgments tbody tr').length === 1")
    assert browser.texts(".judgments tbody tr")[0].startswith("? unjudged: cut good t2")


def test_nothing_failed_is_said(tmp_path: Path, open_page: Open) -> None:
    browser = open_page(report(output(tmp_path, judged("good", "t1", FULL))).path)
    assert browser.texts("#home .halves > :last-child li") == ["Nothing."]
    assert "What to look at next" not in browser.text("#home")


def test_it_is_a_screen_and_a_half(tmp_path: Path, open_page: Open) -> None:
    every = [judged(f"run {i:02}", t, FULL, NONE, "lost") for i in range(53) for t in TOPICS]
    browser = open_page(report(output(tmp_path, *every)).path)
    assert browser.run("return document.documentElement.scrollHeight") <= 1.5 * 950
    assert len(browser.all("#home .first tbody tr")) == 10


def test_the_card_of_a_run(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/run/lost")
    told = tiles(browser, "#screen")
    assert told["Place by CITATION_SUPPORT"] == "2 of 3"
    assert told["Citations that lead nowhere"] == "2 of 4"
    assert told["Mean"] == "0.250 median of all runs 0.250"
    labels = browser.texts("#screen .mixed li")
    assert labels == ["✓ full_support 1", "✗ no_support 1", "∅ missing document 2"]
    assert len(browser.all("#screen .mix rect")) == 3
    browser.find("#screen .thirds a").click()
    browser.wait("document.title.startsWith('lost on ')")


def test_agreement_stands_on_it(compared_page: Path, open_page: Open) -> None:
    browser = open_page(compared_page)
    assert "Labels of 39 items, with human/x: accuracy" in browser.text("#home")
    assert "Agreement" in browser.texts("nav[aria-label=Views] a")
    browser.go("#/compare")
    assert browser.texts(".within:not([hidden]) [aria-current]") == ["Judgment by judgment"]


def test_without_agreement_there_is_no_view_of_it(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    shown = browser.texts("nav[aria-label=Views] a")
    assert shown == ["Home", "Runs", "Topics", "Failures", "About"]


def test_judges_with_the_same_labels_share_a_bar(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q", "--report", "--judge", "citation,support")
    browser = open_page(tmp_path / "x.report.html", "#/run/uncited")
    assert browser.texts("#screen .mixed > small") == ["citation, support"]
    browser.go("#/run/careful")
    assert browser.texts("#screen .mixed > small") == ["citation", "support"]


def test_values_without_labels_have_no_bar(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q", "--report", "--judge", "length")
    browser = open_page(tmp_path / "x.report.html")
    assert "Labels" not in browser.text("#home")
    browser.go("#/run/careful")
    assert not browser.all(".mix")


def test_a_bar_of_labels_is_whole() -> None:
    parts = mix({("good", "a"): 1, ("bad", "b"): 2, ("bad", "c"): 1})
    assert parts == [("good", 0.0, 25.0), ("bad", 25.0, 75.0)]
    assert mix({}) == []

"""Which runs stand side by side, what measures count, and where a response was reached from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import output, report
from trecjudge.records import FULL, NONE

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Open = Callable[..., Browser]


@pytest.fixture(scope="module")
def differing_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report in which two of four runs share a sentence that is judged differently."""
    labels = {"a": FULL, "b": NONE, "c": FULL, "d": FULL}
    every = []
    for run, label in labels.items():
        first = "One sentence." if run in "ab" else f"Of {run} only."
        judged = [
            judgment(label, sentence_index=0, doc_id="d", citation="d", exists=True),
            judgment(FULL, sentence_index=1, doc_id="d", citation="d", exists=True),
        ]
        every.append((response((first, ["d"]), (f"More of {run}.", ["d"]), run_id=run), judged))
    return report(output(tmp_path_factory.mktemp("differing"), *every)).path


def columns(browser: Browser) -> list[str]:
    return sorted(title.text for title in browser.all(".column h2"))


def test_only_what_is_judged_differently_is_shown(differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, "#/topic/t1")
    assert columns(browser) == ["a", "b", "c", "d"]
    browser.find("#screen .tools [type=checkbox]").click()
    assert columns(browser) == ["a", "b"]
    assert [text.text.split(".")[0] for text in browser.all(".column .sentence")] == [
        "1 One sentence"
    ] * 2
    assert "differ=yes" in browser.run("return location.hash")


def test_runs_are_chosen_and_kept_in_the_address(differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, "#/topic/t1?side=a%0Ac")
    assert columns(browser) == ["a", "c"]
    assert browser.text("#screen .tools [role=status]") == "2 of 4 runs shown"
    browser.all(".picker button")[1].click()
    assert columns(browser) == []
    browser.all(".picker input")[0].click()
    assert len(columns(browser)) == 1
    browser.all(".picker button")[0].click()
    assert columns(browser) == ["a", "b", "c", "d"]
    assert "side=" not in browser.run("return location.hash")


@pytest.mark.parametrize("view", ["#/", "#/run/a", "#/response/a/t1", "#/topics", "#/heat"])
def test_a_measure_is_explained_by_key(view: str, differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, view)
    browser.all(".view:not([hidden]) .about")[0].send_keys(Keys.ENTER)
    assert "higher is better" in browser.text(".about-box:popover-open")
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.all(".about-box") == []


@pytest.mark.parametrize(
    ("views", "lit"),
    [
        (["#/heat"], "Heat map"),
        (["#/run/a"], "Leaderboard"),
        (["#/topics", "#/topic/t1"], "Topics"),
        (["#/heat", "#/response/b/t1"], "Heat map"),
        (["#/findings"], "Findings"),
    ],
)
def test_a_response_lights_where_it_was_reached_from(
    views: list[str], lit: str, differing_page: Path, open_page: Open
) -> None:
    browser = open_page(differing_page, "#/")
    for view in [*views, "#/response/a/t1"]:
        browser.go(view)
    assert browser.text("nav [aria-current]").startswith(lit)


def test_the_theme_can_be_chosen_on_a_phone(differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, "#/")
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.find("#theme").click()
        assert browser.run("return document.documentElement.dataset.theme") == "light"
    finally:
        wide = size | {"width": 1400, "height": 950}
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", wide)

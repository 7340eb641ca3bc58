"""An address holds the settings of a view: back, a reload and a link find it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.show.html.browser import Browser

Open = Callable[..., Browser]


def back(browser: Browser) -> None:
    """Open some response and go back to where it was."""
    was = browser.run("return document.title")
    browser.go("#/response/careless/12")
    browser.driver.back()
    browser.wait(f"document.title === {was!r}")


def reload(browser: Browser) -> None:
    """Load the page anew, at its address."""
    browser.driver.refresh()
    browser.wait("document.documentElement.dataset.ready === 'yes'")


@pytest.mark.parametrize("again", [back, reload])
def test_the_heat_map_is_found_again(
    again: Callable[[Browser], None], sample_page: Path, open_page: Open
) -> None:
    browser = open_page(sample_page, "#/heat/SENTENCE_SUPPORT")
    browser.find("#screen select").send_keys("AVG_CITATIONS")
    browser.all("#screen select")[1].send_keys("mean, highest")
    browser.find("#screen input").send_keys("Careless")
    again(browser)
    assert [cell.text for cell in browser.all(".heat tbody td")] == ["7", "6", "5"]
    assert browser.find("#screen input").get_attribute("value") == "Careless"
    assert browser.run("return document.querySelector('#screen select').selectedIndex") == 2


@pytest.mark.parametrize("again", [back, reload])
def test_the_leaderboard_is_found_again(
    again: Callable[[Browser], None], sample_page: Path, open_page: Open
) -> None:
    browser = open_page(sample_page)
    browser.find("#leaderboard-tools input").send_keys("care")
    browser.find("#board th[data-key=id] button").click()
    browser.find("#board th[data-key=id] button").click()
    again(browser)
    assert [link.text for link in browser.all("#board tbody th a")] == ["careless", "careful"]
    browser.go("#/topics")
    browser.go("#/")
    assert len(browser.all("#board tbody tr")) == 3


@pytest.mark.parametrize("view", ["#/topics", "#/findings", "#/compare"])
def test_filter_and_order_of_a_list_are_found_again(
    view: str, compared_page: Path, open_page: Open
) -> None:
    browser = open_page(compared_page, view)
    browser.find("#screen input").send_keys("12")
    sort = "#screen > :last-child .sort, #screen > :nth-last-child(1) .sort"
    browser.all(sort)[0].click()
    shown = browser.text("#screen")
    assert "sort=" in browser.run("return location.hash")
    back(browser)
    assert browser.text("#screen") == shown
    assert browser.find("#screen input").get_attribute("value") == "12"


def test_charts_keep_their_measure(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/charts?measure=SENTENCE_SUPPORT")
    assert browser.all("figure[data-measure=SENTENCE_SUPPORT] svg")
    assert browser.run("return document.querySelector('#charts select').value") == "4"


@pytest.mark.parametrize("name", ["constructor", "toString/x", "__proto__", "hasOwnProperty/1/2"])
def test_a_view_of_no_name_is_none(name: str, sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, f"#/{name}")
    assert browser.text("main h1") == "Leaderboard"
    assert "[object" not in browser.text("main")

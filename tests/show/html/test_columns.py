"""The columns of the leaderboard: which are shown at first, chosen, ordered, found again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import sample
from tests.show.html.browser import Browser

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Open = Callable[..., Browser]
FIRST = ["#", "Run", "CITATION_SUPPORT", "LENGTH", "Responses", "Judged", "Copied"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report on the sample data by two judges."""
    folder = tmp_path_factory.mktemp("columns")
    assert sample("rag", folder, "-q", "--report", "--judge", "citation,length").status == 0
    return folder / "x.report.html"


def heads(browser: Browser) -> list[str]:
    """Return the heads of the leaderboard that can be seen, in order."""
    return [cell.text.split()[0].removesuffix("?") for cell in browser.all("#board thead th")]


def test_of_several_judges_the_ranking_measures_come_first(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    assert heads(browser) == FIRST
    assert browser.text(".menu summary") == "Columns 5 of 10"


def test_of_one_judge_all_are_shown(sample_page: Path, open_page: Open) -> None:
    assert len(heads(open_page(sample_page))) == 10


def test_columns_are_chosen_and_moved_by_key_and_found_again(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    browser.find(".menu summary").send_keys(Keys.ENTER)
    browser.find("[data-column=FITS] input").send_keys(Keys.SPACE)
    assert browser.run("return document.activeElement.closest('li').dataset.column") == "FITS"
    for _ in range(3):
        browser.find("[data-column=FITS] .before").send_keys(Keys.ENTER)
    browser.find("[data-column=LENGTH] input").send_keys(Keys.SPACE)
    chosen = ["#", "Run", "CITATION_SUPPORT", "FITS", "Responses", "Judged", "Copied"]
    assert heads(browser) == chosen
    browser.find("[data-column=FITS] input").send_keys(Keys.ESCAPE)
    assert not browser.run("return document.querySelector('.menu').open")
    browser.go("#/topics")
    browser.driver.back()
    browser.wait("document.title.startsWith('Leaderboard')")
    assert heads(browser) == chosen
    values = browser.all("#board tbody tr:first-child td.measure .value")
    browser.find("#board th[data-key='6'] button").click()  # its cells moved with it
    assert len(values) == 2


def test_the_first_columns_are_gone_back_to(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/?columns=FITS%2Cnonsense%2C%25E0%25A4%25A")
    assert heads(browser) == ["#", "Run", "FITS"]
    browser.find(".menu summary").click()
    browser.all(".menu-panel > button")[1].click()
    assert heads(browser) == FIRST
    assert "columns" not in browser.run("return location.hash")
    browser.all(".menu-panel > button")[0].click()
    assert len(heads(browser)) == 2 + 10

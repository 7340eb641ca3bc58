"""The report without a mouse: lists that lead elsewhere, evidence and back, charts in numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import sample
from tests.fakes import response
from tests.show.html.browser import Browser
from tests.show.html.made import output, report

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Open = Callable[..., Browser]


def focused(browser: Browser) -> Any:
    """Return the element that has the focus."""
    return browser.driver.switch_to.active_element


def test_arrows_choose_and_enter_goes_on(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careful/11")
    browser.find(".stepper select").send_keys(Keys.ARROW_DOWN)
    assert browser.run("return location.hash") == "#/response/careful/11"
    assert focused(browser).tag_name == "select"
    focused(browser).send_keys(Keys.ENTER)
    browser.wait("document.title.startsWith('uncited on 11')")
    browser.wait("document.activeElement.tagName === 'SELECT'")
    focused(browser).send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    browser.wait("document.title.startsWith('careless on 11')")


def test_leaving_a_list_goes_on(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topic/11")
    browser.find(".stepper select").send_keys(Keys.ARROW_DOWN, Keys.TAB)
    browser.wait("document.title.startsWith('Topic 12')")
    browser.run("document.querySelector('.stepper select').focus()")
    focused(browser).send_keys(Keys.TAB)
    assert browser.run("return location.hash") == "#/topic/12"


def test_a_choice_of_the_pointer_goes_at_once(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topic/11")
    browser.run(
        "const list = document.querySelector('.stepper select'); list.value = 2;"
        "list.dispatchEvent(new Event('change'))"
    )
    browser.wait("document.title.startsWith('Topic 13')")


def test_enter_leads_to_the_evidence_and_escape_back(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    for number in ("1", "1", "3"):  # the second time its address is there already
        browser.find(f".response [data-judgment='{number}']").send_keys(Keys.ENTER)
        browser.wait("document.activeElement.className === 'evidence'")
        focused(browser).send_keys(Keys.ESCAPE)
        assert focused(browser).get_attribute("data-judgment") == number
    browser.go_to_judgment(2)
    assert browser.run("return document.activeElement.className") != "evidence"


def test_the_choice_of_a_judge_keeps_the_focus(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q", "--report", "--judge", "citation,support")
    browser = open_page(tmp_path / "x.report.html", "#/response/careless/12")
    lists = ".response .tools select"
    browser.find(lists).send_keys(Keys.ARROW_DOWN)
    assert browser.run(f"return document.querySelector('{lists}') === document.activeElement")
    assert focused(browser).get_attribute("value") == "1"


def test_more_rows_are_gone_to_by_key(tmp_path: Path, open_page: Open) -> None:
    every = [(response(("S.", []), topic_id=f"t{i:03}"), []) for i in range(230)]
    browser = open_page(report(output(tmp_path, *every)).path, "#/topics")
    browser.find(".more button").send_keys(Keys.ENTER)
    assert focused(browser).text == "t200"


def test_what_charts_show_stands_in_tables_too(compared_page: Path, open_page: Open) -> None:
    browser = open_page(compared_page, "#/charts")
    for summary in browser.all("figure summary"):
        summary.send_keys(Keys.ENTER)
    ranks = browser.text("figure[data-measure=''] table").splitlines()
    assert [row.split()[0] for row in ranks[-3:]] == ["careful", "uncited", "careless"]
    assert ranks[-1] == "careless 2 3 2 3 3"
    assert len(browser.all("figure table")) == len(browser.all("figure svg")) == 4

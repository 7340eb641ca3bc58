"""The report by single keys: sentences, problems, rows, filter, the list of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.show.html.browser import Browser

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Open = Callable[..., Browser]


def press(browser: Browser, *keys: str) -> None:
    """Press keys wherever the focus is."""
    browser.driver.switch_to.active_element.send_keys(*keys)


def test_sentences_are_gone_through(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    for key, place in (("j", 1), ("j", 2), ("j", 3), ("k", 2)):
        press(browser, key)
        browser.wait(
            f"document.querySelector('.evidence h2').textContent.startsWith('Sentence {place}')"
        )
    focused = browser.driver.switch_to.active_element
    assert focused.get_attribute("href").endswith(browser.run("return location.hash"))


def test_problems_lead_on_to_the_next_response(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/11")
    problems = []
    for _ in range(12):
        was = browser.run("return location.hash")
        press(browser, "n")
        browser.wait(f"location.hash !== '{was}'")
        problems.append(browser.run("return location.hash"))
        if problems[-1].startswith("#/response/careless/12"):
            break
    assert problems[-1] == "#/response/careless/12"
    browser.wait("document.title.startsWith('careless on 12')")
    press(browser, "p")
    browser.wait("document.title.startsWith('careless on 11')")


@pytest.mark.parametrize("view", ["#/topics", "#/judgments", "#/", "#/run/careless", "#/topic/12"])
def test_rows_are_gone_through(view: str, sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, view)
    browser.wait("[...document.querySelectorAll('.view:not([hidden]) :is(tbody tr, .column)')][2]")
    row = "return [...document.querySelectorAll('.view:not([hidden]) :is(tbody tr, .column)')]"
    row += ".findIndex((each) => each.contains(document.activeElement))"
    seen = []
    for key in "jjk":
        press(browser, key)
        seen.append(browser.run(row))
    assert seen == [0, 1, 0]


def test_a_key_goes_to_the_filter_and_types_there(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topics")
    press(browser, "/")
    press(browser, "jk?n")
    assert browser.find("#screen input").get_attribute("value") == "jk?n"
    assert not browser.run("return document.querySelector('dialog').open")
    press(browser, Keys.ESCAPE, Keys.ESCAPE)
    assert browser.run("return document.activeElement === document.body")


def test_the_list_of_shortcuts_opens_and_closes(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    press(browser, "?")
    assert "next sentence" in browser.text("dialog[open]")
    press(browser, "j")
    press(browser, Keys.ESCAPE)
    browser.wait("!document.querySelector('dialog').open")
    assert browser.run("return location.hash") == "#/response/careless/12"


@pytest.mark.parametrize("modifier", ["CONTROL", "ALT", "META"])
def test_a_key_with_a_modifier_is_the_browsers(
    modifier: str, sample_page: Path, open_page: Open
) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    held = {"CONTROL": "ctrlKey", "ALT": "altKey", "META": "metaKey"}[modifier]
    browser.run(
        f"document.body.dispatchEvent(new KeyboardEvent('keydown',"
        f" {{key: 'j', bubbles: true, {held}: true}}))"
    )
    assert browser.run("return location.hash") == "#/response/careless/12"

"""A leaderboard of real size: its heads stay in sight, its names whole, its columns on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import output, report
from trecjudge.records import FULL

Open = Callable[..., Browser]
NAME = "retrieval_with_many-steps_and_reranking"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on 60 runs of long names by six measures."""
    found = judgment(FULL, doc_id="d", citation="d", exists=True)
    every = [(response(("S.", ["d"]), run_id=f"{NAME}_{i:02}"), [found]) for i in range(60)]
    return report(output(tmp_path_factory.mktemp("large"), *every, judge="attribution")).path


@contextmanager
def on_paper(browser: Browser, width: int) -> Iterator[None]:
    """Look at the page as it is printed on paper of some pixels in width."""
    size = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
    do = browser.driver.execute_cdp_cmd
    do("Emulation.setEmulatedMedia", {"media": "print"})
    do("Emulation.setDeviceMetricsOverride", {"width": width} | size)
    try:
        yield
    finally:
        do("Emulation.setEmulatedMedia", {"media": ""})
        do("Emulation.setDeviceMetricsOverride", {"width": 1400} | size)


def test_heads_stay_in_sight(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    browser.run("document.querySelector('.board-scroll').scrollTop = 900")
    top = "Math.round(document.querySelector(arguments[0]).getBoundingClientRect().top)"
    box, head = (browser.run(f"return {top}", of) for of in (".board-scroll", "#board thead th"))
    assert 0 <= head - box <= 2
    assert browser.run(f"return {top}", "#board tbody tr") < box


def test_a_name_breaks_between_its_words(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    lines = browser.find("#board tbody bdi").text
    assert lines.replace("\n", "") == f"{NAME}_00"
    broken = browser.run(
        "const range = document.createRange(), seen = [];"
        "for (const node of document.querySelector('#board tbody bdi').childNodes) {"
        "  range.selectNodeContents(node);"
        "  seen.push([node.textContent, range.getClientRects().length]);"
        "} return seen.filter(([text, boxes]) => boxes > text.split('-').length)"
    )
    assert broken == []


@pytest.mark.parametrize("width", [700, 1000])
def test_all_columns_are_on_paper(width: int, page: Path, open_page: Open) -> None:
    browser = open_page(page)
    with on_paper(browser, width):
        assert browser.run("return document.documentElement.scrollWidth") <= width
        right = "document.querySelector('#board thead th:last-child').getBoundingClientRect().right"
        assert browser.run(f"return {right}") <= width
        style = "getComputedStyle(document.querySelector('.board-scroll'))"
        assert browser.run(f"return {style}.maxHeight") == "none"

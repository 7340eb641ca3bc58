"""What axe-core, the checker of the web's accessibility rules, says of every view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.show.html.browser import Browser

ROOT = Path(__file__).parents[3]
AXE = Path(os.environ.get("TRECJUDGE_AXE") or ROOT / "build/axe/node_modules/axe-core/axe.min.js")
VIEWS = (
    "#/heat",
    "#/topics",
    "#/topic/12",
    "#/judgments",
    "#/job",
    "#/run/careless",
    "#/response/careless/12/1",
    "#/charts",
    "#/findings",
    "#/compare",
    "#/",
)
ON_NUGGETS = ("#/nuggets/t1", "#/nuggets/t2", "#/response/high/t1/2", "#/response/low/t1/0")
CHECK = """
const [options, done] = arguments;
const places = (rule) => rule.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ');
axe.run(document, {resultTypes: ['violations'], ...options}).then((found) => done(
  found.violations.map((rule) => `${rule.impact}: ${rule.id}: ${places(rule)}`)));
"""


@pytest.fixture
def checked_page(compared_page: Path, browser: Browser) -> Browser:
    """Return the browser with a page that can check itself."""
    return checking(browser, compared_page)


def checking(browser: Browser, page: Path) -> Browser:
    """Open a page and teach it to check itself."""
    if not AXE.is_file():
        pytest.skip(f"needs {AXE}: npm install --prefix build/axe axe-core")
    browser.open(page)
    browser.run(AXE.read_text(encoding="utf-8"))
    return browser


def broken(browser: Browser, views: Sequence[str] = VIEWS, **options: Any) -> dict[str, list[str]]:
    """Return the rules that each view breaks, each with the first few places."""
    found = {}
    for view in views:
        browser.go(view)
        if rules := browser.driver.execute_async_script(CHECK, options):
            found[view] = rules
    return found


def test_no_view_breaks_a_rule(checked_page: Browser) -> None:
    assert broken(checked_page) == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_of_nuggets_breaks_a_rule(theme: str, nuggets_page: Path, browser: Browser) -> None:
    checking(browser, nuggets_page).run(f"document.documentElement.dataset.theme = '{theme}'")
    assert broken(browser, ON_NUGGETS) == {}


def test_text_can_be_read_in_the_dark(checked_page: Browser) -> None:
    checked_page.run("document.documentElement.dataset.theme = 'dark'")
    assert broken(checked_page, runOnly=["color-contrast"]) == {}

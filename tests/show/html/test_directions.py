"""The direction of a measure and unjudged items: shown wherever a measure or a mean stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import Judged, output, report
from trecjudge.records import Claim, Failure

Open = Callable[..., Browser]
RATE = "CONTRADICTION_RATE"


def judged(run_id: str, label: str | None, topic_id: str = "t1") -> Judged:
    """Return a response with one claim; without a label the claim is unjudged."""
    failure = None if label else Failure("cut", "")
    claim = judgment(label, claim=Claim(0, "C.", 0), failure=failure)
    return response(("C.", []), run_id=run_id, topic_id=topic_id), [claim]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on four runs: `d` is half judged, `u` not at all, `a` and `b` are tied."""
    runs = {
        "a": ("ATTRIBUTED", "ATTRIBUTED"), "b": ("ATTRIBUTED", "ATTRIBUTED"),
        "c": ("CONTRADICTED", "ATTRIBUTED"), "d": (None, "CONTRADICTED"), "u": (None, None),
    }  # fmt: skip
    every = [
        judged(run, label, topic)
        for run, labels in runs.items()
        for label, topic in zip(labels, ("t1", "t2"), strict=True)
    ]
    outputs = output(tmp_path_factory.mktemp("ways"), *every, judge="attribution")
    return report(outputs, compare=outputs).path


def column(browser: Browser, name: str = RATE) -> dict[str, str]:
    """Return the cell of each run on the leaderboard, in its order."""
    heads = [cell.text.split("\n")[0].split(" ")[0] for cell in browser.all("#board thead th")]
    at = heads.index(name)
    rows = [row.find_elements("css selector", "th, td") for row in browser.all("#board tbody tr")]
    return {cells[1].text: " ".join(cells[at].text.split()) for cells in rows}


def test_that_lower_is_better_stands_beside_every_name(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    for view in ("#/", "#/heat", "#/run/a", "#/response/a/t1", "#/charts", "#/compare"):
        browser.go("#/findings")
        browser.go(view)
        browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        text = browser.text("main").replace("\n", " ")
        assert text.count(RATE) == text.count("ower is better"), view
        assert RATE in text


def test_the_first_click_puts_the_best_on_top(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    (head,) = [cell for cell in browser.all("#board thead button") if RATE in cell.text]
    head.click()
    assert list(column(browser)) == ["a", "b", "c", "d", "u"]
    head.click()
    assert list(column(browser))[:2] == ["d", "c"]


def test_the_darker_the_better(page: Path, open_page: Open) -> None:
    browser = open_page(page, f"#/heat/{RATE}")
    best = browser.find("td[data-run=a][data-topic=t1]").get_attribute("class")
    worst = browser.find("td[data-run=c][data-topic=t1]").get_attribute("class")
    assert (best, worst) == ("q6", "q0")
    assert browser.text(".shades").startswith("1 0 (better to the right) · lowest 0.000, highest")


def test_unjudged_is_not_undefined(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    found = column(browser)
    assert (found["u"], found["d"]) == ("unjudged 0.000 to 1.000", "1.000 0.500 to 1.000")
    assert not browser.all("tr[data-run='4'] .length")
    assert column(browser, "#") == {"a": "1", "b": "1", "c": "3", "d": "?", "u": "?"}
    browser.go("#/run/u")
    (tile,) = [tile for tile in browser.all(".tile") if RATE in tile.text]
    assert tile.text.splitlines()[1:] == ["unjudged", "0.000 to 1.000 by what is unjudged"]


def test_only_some_topics_have_their_own_bounds_and_counts(page: Path, open_page: Open) -> None:
    browser = open_page(page)
    box = browser.all("#leaderboard-tools input")[1]
    box.send_keys("t1")
    found = column(browser)
    assert (found["d"], found["c"]) == ("unjudged 0.000 to 1.000", "1.000")
    assert browser.run("return document.querySelectorAll('tr[data-run=\"3\"] .at[display=none]')")
    assert column(browser, "Responses")["d"] == "1/1"
    assert column(browser, "Judged")["d"] == "–"
    assert column(browser, "#")["d"] == "?"
    box.clear()
    box.send_keys(" ")
    assert column(browser)["d"] == "1.000 0.500 to 1.000"
    assert column(browser, "Judged")["d"] == "1/2"


def test_a_comparison_leaves_open_what_is_unjudged(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/compare")
    assert "of 7 items that both judged" in browser.text("#screen .lead")
    assert "Unjudged, and in none of these: 3 in both" in browser.text("#screen .lead")
    rows = {row.text.split()[0]: row.text.split()[1:] for row in browser.all("tbody tr")}
    assert rows["u"][:2] == ["?", "?"]
    assert "unjudged" not in browser.text(".crossed")

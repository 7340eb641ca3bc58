"""The layout of the report in a browser, in both directions of writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from tests.show.html.argued import ANSWERED, JUDGED
from tests.show.html.browser import Browser, Open
from tests.show.html.made import Judged, output, report
from trecjudge.judging.judge import make_judge, measures_of
from trecjudge.records import FULL, Claim, Failure

NAME = "retrieval_with_many-steps_and_reranking"


@pytest.fixture(scope="module")
def page_of_long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on 60 runs of long names by six measures."""
    found = judgment(FULL, doc_id="d", citation="d", exists=True)
    every = [(response(("S.", ["d"]), run_id=f"{NAME}_{i:02}"), [found]) for i in range(60)]
    return report(output(tmp_path_factory.mktemp("large"), *every, judge="attribution")).path


JUDGES = "attribution", "citation", "faithfulness"
ALL = tuple(
    measure.name for judge in JUDGES for measure in measures_of(make_judge(judge, {})).measures
)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on 60 runs by three judges, compared with itself."""
    found = judgment(FULL, doc_id="d", citation="d", exists=True)
    every = [(response(("S.", ["d"]), run_id=f"run {i:02}"), [found]) for i in range(60)]
    outputs = output(tmp_path_factory.mktemp("wide"), *every, judge=JUDGES[0], also=JUDGES[1:])
    return report(outputs, compare=outputs).path


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


@pytest.mark.parametrize(
    ("columns", "fits"),
    [
        pytest.param("FITS,ATTRIBUTION_RATE", True, id="as wide as the page"),
        pytest.param("", False, id="wider than the page"),
    ],
)
def test_heads_stay_in_sight(columns: str, fits: bool, wide: Path, open_page: Open) -> None:
    browser = open_page(wide, f"#/runs?columns={columns or '%2C'.join(ALL)}")
    wanted = f"?.classList.contains('fits') === {str(fits).lower()}"
    browser.wait(f"document.querySelector('.board-scroll'){wanted}")  # known once it is drawn
    browser.run("document.documentElement.scrollTop = 600")
    browser.wait("Math.abs(document.querySelector('#board th').getBoundingClientRect().top) <= 2")
    top = "return document.querySelector('#board tbody tr').getBoundingClientRect().top"
    assert browser.run(top) < 0
    box = "document.querySelector('.board-scroll')"
    assert browser.run(f"return {box}.scrollHeight - {box}.clientHeight") <= 2


def test_twenty_five_runs_are_on_a_screen(wide: Path, open_page: Open) -> None:
    browser = open_page(wide, "#/runs")
    edges = (
        "[...document.querySelectorAll('#board tbody tr')].map((r) => r.getBoundingClientRect())"
    )
    assert browser.run(f"const all = {edges}; return all[24].bottom - all[0].top") <= 640


def test_marks_of_heads_stand_on_one_line(wide: Path, open_page: Open) -> None:
    browser = open_page(wide, f"#/runs?columns={'%2C'.join(ALL)}")
    marks = "[...document.querySelectorAll('#board thead .about')]"
    ends = browser.run(f"return {marks}.map((mark) => mark.getBoundingClientRect().bottom)")
    assert max(ends) - min(ends) <= 1


def test_bounds_stay_in_their_column(tmp_path: Path, open_page: Open) -> None:
    open_one = [judgment(FULL, doc_id="d", citation="d", exists=True)]
    open_one += [judgment(sentence_index=1, doc_id="d", failure=Failure("parse", "no label", 3))]
    browser = open_page(
        report(output(tmp_path, (response(("S.", ["d"])), open_one))).path, "#/runs"
    )
    assert browser.all("#board td.measure small")
    beyond = (
        "return [...document.querySelectorAll('#board td.measure small')].filter((small) =>"
        " small.getBoundingClientRect().right"
        " > small.closest('td').getBoundingClientRect().right + 1).length"
    )
    assert browser.run(beyond) == 0


def test_of_many_measures_the_first_few_are_shown(tmp_path: Path, open_page: Open) -> None:
    browser = open_page(report(output(tmp_path, (ANSWERED, JUDGED), judge="argue")).path, "#/runs")
    shown = [cell.text.split()[0] for cell in browser.all("#board thead .measure")]
    assert len(shown) == 6
    assert shown[0] == "F1"
    browser.go("#/run/r")
    assert len(browser.all(".tile:has(.about)")) == 6
    browser.find("#screen details summary").click()
    assert len(browser.all(".tile:has(.about)")) > 6


def test_heads_of_every_long_table_stay_in_sight(wide: Path, open_page: Open) -> None:
    browser = open_page(wide, "#/compare")
    browser.wait("document.querySelector('#screen .cards').closest('.fits')")
    browser.run("document.querySelector('#screen .cards tbody tr:nth-child(40)').scrollIntoView()")
    top = "document.querySelector('#screen .cards thead th').getBoundingClientRect().top"
    browser.wait(f"Math.abs({top}) <= 2")


PHONE_VIEWS = ["#/", "#/runs", "#/heat", "#/charts", "#/findings", "#/agreement", "#/compare"]
PHONE_CARDS = ["#/topics", "#/run/run%2000", "#/failures", "#/topic/t1"]


@pytest.mark.parametrize("view", PHONE_VIEWS + PHONE_CARDS)
def test_a_phone_scrolls_one_way(view: str, wide: Path, browser: Browser) -> None:
    size = {"height": 844, "deviceScaleFactor": 1, "mobile": False}
    do = browser.driver.execute_cdp_cmd
    do("Emulation.setDeviceMetricsOverride", {"width": 390} | size)
    try:
        browser.open(wide, view)
        assert browser.run("return document.documentElement.scrollWidth") <= 390
        trap = (
            "return [...document.querySelectorAll('.scroll')].filter((box) =>"
            " box.clientHeight && box.scrollHeight > box.clientHeight + 2).length"
        )
        assert browser.run(trap) == 0
        wider = (
            "return [...document.querySelectorAll('.scroll:has(.cards)')].filter((box) =>"
            " box.scrollWidth > box.clientWidth + 1).length"
        )
        assert browser.run(wider) == 0
        beside = (
            "return [...document.querySelectorAll('.charts:not([hidden]) .chart-box')].filter("
            "(box) => box.scrollWidth > box.clientWidth + 1).length"
        )
        assert browser.run(beside) == 0
    finally:
        do("Emulation.setDeviceMetricsOverride", {"width": 1400} | size | {"height": 950})


def test_a_name_breaks_between_its_words(page_of_long_names: Path, open_page: Open) -> None:
    browser = open_page(page_of_long_names, "#/runs")
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
def test_all_columns_are_on_paper(width: int, page_of_long_names: Path, open_page: Open) -> None:
    browser = open_page(page_of_long_names, "#/runs")
    with on_paper(browser, width):
        assert browser.run("return document.documentElement.scrollWidth") <= width
        right = "document.querySelector('#board thead th:last-child').getBoundingClientRect().right"
        assert browser.run(f"return {right}") <= width
        style = "getComputedStyle(document.querySelector('.board-scroll'))"
        assert browser.run(f"return {style}.maxHeight") == "none"


RATE = "CONTRADICTION_RATE"


def judged(run_id: str, label: str | None, topic_id: str = "t1") -> Judged:
    """Return a response with one claim; without a label the claim is unjudged."""
    failure = None if label else Failure("cut", "")
    claim = judgment(label, claim=Claim(0, "C.", 0), failure=failure)
    return response(("C.", []), run_id=run_id, topic_id=topic_id), [claim]


@pytest.fixture(scope="module")
def page_of_ties(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_that_lower_is_better_stands_beside_every_name(page_of_ties: Path, open_page: Open) -> None:
    browser = open_page(page_of_ties)
    for view in ("#/runs", "#/heat", "#/run/a", "#/response/a/t1", "#/charts", "#/compare"):
        browser.go("#/findings")
        browser.go(view)
        browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        text = browser.text("main").replace("\n", " ")
        assert text.count(RATE) == text.count("ower is better"), view
        assert RATE in text


def test_the_first_click_puts_the_best_on_top(page_of_ties: Path, open_page: Open) -> None:
    browser = open_page(page_of_ties, "#/runs")
    (head,) = [cell for cell in browser.all("#board thead button") if RATE in cell.text]
    head.click()
    assert list(column(browser)) == ["a", "b", "c", "d", "u"]
    head.click()
    assert list(column(browser))[:2] == ["d", "c"]


def test_the_darker_the_better(page_of_ties: Path, open_page: Open) -> None:
    browser = open_page(page_of_ties, f"#/heat/{RATE}")
    best = browser.find("td[data-run=a][data-topic=t1]").get_attribute("class")
    worst = browser.find("td[data-run=c][data-topic=t1]").get_attribute("class")
    assert (best, worst) == ("q6", "q0")
    assert browser.text(".shades").startswith("1 0 (better to the right) · lowest 0.000, highest")


def test_unjudged_is_not_undefined(page_of_ties: Path, open_page: Open) -> None:
    browser = open_page(page_of_ties, "#/runs")
    found = column(browser)
    assert (found["u"], found["d"]) == ("unjudged 0.000 to 1.000", "1.000 0.500 to 1.000")
    assert not browser.all("tr[data-run='4'] .length")
    assert column(browser, "#") == {"a": "1", "b": "1", "c": "3", "d": "?", "u": "?"}
    browser.go("#/run/u")
    (tile,) = [tile for tile in browser.all(".tile") if RATE in tile.text]
    assert tile.text.splitlines()[1:] == ["unjudged", "0.000 to 1.000 by what is unjudged"]


def test_only_some_topics_have_their_own_bounds_and_counts(
    page_of_ties: Path, open_page: Open
) -> None:
    browser = open_page(page_of_ties, "#/runs")
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


def test_a_comparison_leaves_open_what_is_unjudged(page_of_ties: Path, open_page: Open) -> None:
    browser = open_page(page_of_ties, "#/compare")
    assert "of 7 items that both judged" in browser.text("#screen .lead")
    assert "Unjudged, and in none of these: 3 in both" in browser.text("#screen .lead")
    rows = {row.text.split()[0]: row.text.split()[1:] for row in browser.all("tbody tr")}
    assert rows["u"][:2] == ["?", "?"]
    assert "unjudged" not in browser.text(".crossed")

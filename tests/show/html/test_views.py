"""Views in a browser: columns, addresses, keys; open to everyone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import output, report
from trecjudge.records import FULL, NONE

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys


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


@pytest.mark.parametrize("view", ["#/runs", "#/run/a", "#/response/a/t1", "#/topics", "#/heat"])
def test_a_measure_is_explained_by_key(view: str, differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, view)
    browser.all(".view:not([hidden]) .about")[0].send_keys(Keys.ENTER)
    assert "higher is better" in browser.text(".about-box:popover-open")
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.all(".about-box") == []


@pytest.mark.parametrize(
    ("views", "lit"),
    [
        (["#/heat"], "Runs"),
        (["#/run/a"], "Runs"),
        (["#/topics", "#/topic/t1"], "Topics"),
        (["#/heat", "#/response/b/t1"], "Runs"),
        (["#/findings"], "About"),
    ],
)
def test_a_response_lights_where_it_was_reached_from(
    views: list[str], lit: str, differing_page: Path, open_page: Open
) -> None:
    browser = open_page(differing_page, "#/")
    for view in [*views, "#/response/a/t1"]:
        browser.go(view)
    assert browser.text("nav [aria-current]").startswith(lit)


@pytest.fixture
def as_phone(open_page: Open) -> Iterator[Open]:
    """Open pages in the width of a phone."""
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    opened: list[Browser] = []

    def opening(page: Path, address: str) -> Browser:
        browser = open_page(page, address)
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        opened.append(browser)
        return browser

    yield opening
    wide = size | {"width": 1400, "height": 950}
    for browser in opened:
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", wide)


def test_the_theme_can_be_chosen_on_a_phone(differing_page: Path, as_phone: Open) -> None:
    browser = as_phone(differing_page, "#/")
    browser.find("#theme").click()
    assert browser.run("return document.documentElement.dataset.theme") == "light"


def test_a_response_begins_with_its_sentences_on_a_phone(sample_page: Path, as_phone: Open) -> None:
    browser = as_phone(sample_page, "#/response/careless/11")
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert browser.run(top, ".sentence") - browser.run(top, "#screen") <= 160
    assert browser.run(top, ".measured") > browser.run(top, ".sentence")


SIGNS = ["Copied", "Uncited"]
RANKING = ["CITATION_SUPPORT", "EXPECTED_CITATION_SUPPORT"]
FIRST = ["#", "Run", *RANKING, "LENGTH", "Responses", "Judged", *SIGNS]


@pytest.fixture(scope="module")
def page_of_columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report on the sample data by two judges."""
    folder = tmp_path_factory.mktemp("columns")
    assert sample("rag", folder, "-q", "--report", "--judge", "citation,length").status == 0
    return folder / "x.report.html"


def heads(browser: Browser) -> list[str]:
    """Return the heads of the leaderboard that can be seen, in order."""
    return [cell.text.split()[0].removesuffix("?") for cell in browser.all("#board thead th")]


def test_of_several_judges_the_ranking_measures_come_first(
    page_of_columns: Path, open_page: Open
) -> None:
    browser = open_page(page_of_columns, "#/runs")
    assert heads(browser) == FIRST
    assert browser.text(".menu summary") == "Columns 7 of 12"


def test_of_one_judge_all_are_shown_that_have_room(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/runs")
    assert len(heads(browser)) == 11
    assert browser.text(".menu summary") == "Columns 9 of 10"
    assert fits(browser)


def fits(browser: Browser) -> bool:
    """Return whether nothing of the leaderboard is cut."""
    box = "document.querySelector('.board-scroll').clientWidth"
    return bool(browser.run(f"return document.querySelector('#board').offsetWidth <= {box} + 1"))


def test_a_narrow_window_has_fewer_measures(page_of_columns: Path, open_page: Open) -> None:
    browser = open_page(page_of_columns, "#/runs")
    with narrow(browser, 1024):
        browser.wait("document.querySelector('.menu summary').textContent.startsWith('Columns')")
        browser.open(page_of_columns, "#/runs")
        assert fits(browser)
        assert "EXPECTED_CITATION_SUPPORT" in heads(browser)
        browser.open(page_of_columns, "#/response/careless/12")
        top = "document.querySelector('#screen h1').getBoundingClientRect().top"
        first = "document.querySelector('.sentence').getBoundingClientRect().top"
        assert browser.run(f"return {first} - {top}") <= 160
    browser.wait("matchMedia('(min-width: 1400px)').matches")
    browser.open(page_of_columns, "#/runs")
    assert heads(browser) == FIRST


@contextmanager
def narrow(browser: Browser, width: int) -> Iterator[None]:
    """Make the window narrower for a while."""
    size = {"height": 950, "deviceScaleFactor": 1, "mobile": False}
    do = browser.driver.execute_cdp_cmd
    do("Emulation.setDeviceMetricsOverride", size | {"width": width})
    try:
        yield
    finally:
        do("Emulation.setDeviceMetricsOverride", size | {"width": 1400})


@pytest.mark.parametrize(
    ("old", "new", "title"),
    [
        ("#/?sort=id", "#/runs?sort=id", "Runs"),
        ("#/leaderboard", "#/runs", "Runs"),
        ("#/job", "#/about", "About"),
        ("#/judgments", "#/failures?label=all", "Failures"),
        ("#/judgments?label=full_support&run=a", "#/failures?label=full_support&run=a", "Failures"),
    ],
)
def test_an_address_of_an_earlier_report_leads_on(
    old: str, new: str, title: str, differing_page: Path, open_page: Open
) -> None:
    browser = open_page(differing_page, old)
    assert browser.run("return location.hash") == new
    assert browser.text("main .view:not([hidden]) h1") == title


def test_failures_that_runs_differ_in(differing_page: Path, open_page: Open) -> None:
    browser = open_page(differing_page, "#/failures?label=all")
    rows = ".judgments tbody tr"
    browser.wait(f"document.querySelectorAll('{rows}').length === 8")
    assert browser.texts(rows)[0].startswith("✗ no_support b")
    browser.find("#screen .tools [type=checkbox]").click()
    browser.wait(f"document.querySelectorAll('{rows}').length === 2")
    assert browser.texts(".labels button") == [
        "failed 1", "all 2", "✗ no_support 1", "✓ full_support 1",
    ]  # fmt: skip


def test_a_list_is_one_stop_of_the_tab_key(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/runs")
    stops = "return [...document.querySelectorAll('#board tbody a')].map((a) => a.tabIndex)"
    assert browser.run(stops) == [0, -1, -1]
    browser.find("#board tbody a").send_keys(Keys.ARROW_DOWN)
    assert focused(browser).text == "uncited"
    assert browser.run(stops) == [-1, 0, -1]
    browser.find("#leaderboard-tools input").send_keys("careless")
    assert browser.run(stops)[2] == 0
    browser.go("#/response/careless/12")
    assert len(browser.all(".sentences a[tabindex='0']")) == 1
    browser.find(".sentences a").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    press(browser, Keys.ARROW_RIGHT)
    assert focused(browser).get_attribute("data-judgment") == "3"


def test_columns_are_chosen_and_moved_by_key_and_found_again(
    page_of_columns: Path, open_page: Open
) -> None:
    browser = open_page(page_of_columns, "#/runs")
    browser.find(".menu summary").send_keys(Keys.ENTER)
    browser.find("[data-column=FITS] input").send_keys(Keys.SPACE)
    assert browser.run("return document.activeElement.closest('li').dataset.column") == "FITS"
    for _ in range(4):
        browser.find("[data-column=FITS] .before").send_keys(Keys.ENTER)
    browser.find("[data-column=LENGTH] input").send_keys(Keys.SPACE)
    chosen = ["#", "Run", *RANKING, "FITS", "Responses", "Judged", *SIGNS]
    assert heads(browser) == chosen
    browser.find("[data-column=FITS] input").send_keys(Keys.ESCAPE)
    assert not browser.run("return document.querySelector('.menu').open")
    browser.go("#/topics")
    browser.driver.back()
    browser.wait("document.title.startsWith('Runs')")
    assert heads(browser) == chosen
    values = browser.all("#board tbody tr:first-child td.measure .value")
    browser.find("#board th[data-key='7'] button").click()  # its cells moved with it
    assert len(values) == 3


def test_the_first_columns_are_gone_back_to(page_of_columns: Path, open_page: Open) -> None:
    browser = open_page(page_of_columns, "#/runs?columns=FITS%2Cnonsense%2C%25E0%25A4%25A")
    assert heads(browser) == ["#", "Run", "FITS"]
    browser.find(".menu summary").click()
    browser.all(".menu-panel > button")[1].click()
    assert heads(browser) == FIRST
    assert "columns" not in browser.run("return location.hash")
    browser.all(".menu-panel > button")[0].click()
    assert len(heads(browser)) == 2 + 12


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
    browser = open_page(sample_page, "#/runs")
    browser.find("#leaderboard-tools input").send_keys("care")
    browser.find("#board th[data-key=id] button").click()
    browser.find("#board th[data-key=id] button").click()
    again(browser)
    assert [link.text for link in browser.all("#board tbody th a")] == ["careless", "careful"]
    browser.go("#/topics")
    browser.go("#/runs")
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
    assert browser.text("main h1") == "x"
    assert "[object" not in browser.text("main")


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
    lists = ".reading > .tools select"
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
    assert ranks[-1] == "careless 2 3 2 3 3 3"
    assert len(browser.all("figure table")) == len(browser.all("figure svg")) == 2


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


@pytest.mark.parametrize(
    "view", ["#/topics", "#/failures", "#/runs", "#/run/careless", "#/topic/12"]
)
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


ROOT = Path(__file__).parents[3]
AXE = Path(os.environ.get("TRECJUDGE_AXE") or ROOT / "build/axe/node_modules/axe-core/axe.min.js")
VIEWS = (
    "#/heat",
    "#/topics",
    "#/topic/12",
    "#/failures",
    "#/about",
    "#/run/careless",
    "#/response/careless/12/1",
    "#/charts",
    "#/agreement",
    "#/runs",
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

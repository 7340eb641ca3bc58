"""The nuggets of a topic by runs, and what a response says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import nuggets_output, on_nuggets, output, report
from tests.show.html.test_hostile import ATTACKS, harmless, seen
from tests.show.html.test_writing import blocks_of, everything
from trecjudge.records import FULL, AskedNugget, Failure
from trecjudge.results.judgments import Header, JudgmentsWriter

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys


SHOWN = """
const element = arguments[0].cloneNode(true);
for (const hidden of element.querySelectorAll(".hidden")) hidden.remove();
return element.innerText || element.textContent;
"""


def shown(browser: Browser, element: Any) -> str:
    """Return what can be seen of an element, with single spaces."""
    parts = element.find_elements("css selector", "th, td") or [element]
    return " ".join(" ".join(browser.run(SHOWN, part).split()) for part in parts)


def rows(browser: Browser, part: str = "tbody") -> list[str]:
    """Return the rows of the grid as they can be seen."""
    return [shown(browser, row) for row in browser.all(f".nuggets {part} tr")]


def test_which_run_states_what(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/nuggets/t1")
    assert [cell.text for cell in browser.all(".nuggets thead th a")] == [
        "high", "low", "worst", "silent",
    ]  # fmt: skip
    assert rows(browser) == [
        "It was lit in 1871.vital 1 0 0 1 1 ✓ ? ✗ –",
        "The tower is 34 m high.vital 0 1 0 2 0 ✗ ◐ ✗ –",
        "Its lamp burned oil.okay 0 1 1 1 0 ◐ ≠ ✗ –",
        "A keeper lived there.okay 0 0 0 3 0 ✗ ✗ ✗ –",
    ]
    assert rows(browser, "tfoot") == [
        "✓ stated 1     1 0 0 –",
        "◐ stated in part  2    1 1 0 –",
        "≠ contradicted   1   0 1 0 –",
        "✗ not stated    7  2 1 4 –",
        "? unjudged     1 0 1 0 –",
    ]


def test_an_address_keeps_order_and_filters(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/nuggets/t1")
    browser.all("#screen select")[1].send_keys("as in the bank")
    nuggets, runs = browser.all("#screen input")
    nuggets.send_keys("OKAY")
    runs.send_keys("lo")
    kept = ["A keeper lived there.okay 0 0 0 3 0 ✗", "Its lamp burned oil.okay 0 1 1 1 0 ≠"]
    assert rows(browser) == kept
    browser.driver.refresh()
    browser.wait("document.documentElement.dataset.ready === 'yes'")
    assert rows(browser) == kept
    browser.find("#screen input").send_keys("nonsense")
    assert browser.text("#screen .note") == "Nothing fits these filters."


def test_a_cell_leads_to_the_sentence_and_its_evidence(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/nuggets/t1")
    browser.find("td[data-run=high][data-judgment='2']").click()
    browser.wait("document.title.startsWith('high on t1')")
    assert browser.run("return location.hash") == "#/response/high/t1/2"
    assert [told.get_attribute("data-sentence") for told in browser.all(".told")] == ["1"]
    assert browser.text(".evidence h2") == "Nugget"
    assert browser.text(".evidence .verdict") == "✓ stated"
    assert browser.text(".evidence mark") == "in 1871."
    assert "why 3" in browser.text(".evidence")
    assert browser.text(".evidence .chips").split() == ["1", "cited"]
    browser.find(".evidence .chips button").click()
    assert browser.text(".document-place .docid") == "d"


def test_a_response_shows_what_it_states_and_lacks(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/response/low/t1")
    assert [shown(browser, part) for part in browser.all(".stated h3, .stated li")] == [
        "◐ stated in part 1", "≠ contradicted 1", "✗ not stated 1", "? unjudged 1",
        "Stated in part", "◐ The tower is 34 m high. vitalwhy 2 (lexical)",
        "Contradicted", "≠ Its lamp burned oil. okaywhy 4 (lexical)",
        "Not stated", "✗ A keeper lived there. okaywhy 1 (lexical)",
        "Unjudged", "? It was lit in 1871. vitalno label (lexical)",
    ]  # fmt: skip
    assert browser.all(".told") == []
    browser.go("#/response/high/t1")
    (line,) = browser.all("[data-sentence='1'] .claims li")
    assert shown(browser, line) == "✓ It was lit in 1871. vital"


def test_the_grid_is_gone_through_by_key(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/nuggets/t1")
    browser.find(".nuggets td[tabindex='0']").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    active = browser.driver.switch_to.active_element
    assert active.get_attribute("title") == "low: stated in part"
    active.send_keys(Keys.ENTER)
    browser.wait("document.title.startsWith('low on t1')")
    assert browser.run("return location.hash") == "#/response/low/t1/1"


def test_a_topic_that_was_not_judged_says_why(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/nuggets/t2")
    assert browser.text("#screen .note") == "No nugget was judged on this topic. no bank."
    browser.go("#/nuggets/nonsense")
    assert browser.text("#screen h1") == "No such topic"


def test_without_nuggets_there_is_no_such_view(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topic/12")
    assert browser.all("a[href^='#/nuggets']") == []


def test_a_nugget_stands_once_in_the_block_of_its_topic(nuggets_page: Path) -> None:
    blocks = blocks_of(nuggets_page)
    assert [each["nugget_id"] for each in blocks["nuggets-0"]] == ["1", "2", "3", "4"]
    assert "nuggets-1" not in blocks
    assert everything(nuggets_page).count("A keeper lived there.") == 1
    assert blocks["head"][0]["nuggets"] == ["nuggets"]


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_nugget_that_attacks_does_nothing(text: str, tmp_path: Path, open_page: Open) -> None:
    nugget = AskedNugget(text, text, text, text)
    judged = (response((f"{text} in all.", [])), on_nuggets("s", [nugget]))
    outputs = output(tmp_path, judged, judge="nuggets")
    browser = open_page(report(outputs, compare=outputs).path, "#/nuggets/t1")
    assert seen(text) in browser.text(".nuggets tbody th")
    harmless(browser)
    browser.go("#/response/r/t1/0")
    assert seen(text) in browser.text(".whole.stated")
    harmless(browser)


def test_a_judgment_that_flipped_leads_to_its_nugget(tmp_path: Path, open_page: Open) -> None:
    here = nuggets_output(tmp_path / "a", high="nnsp", low="ss?s")
    there = nuggets_output(tmp_path / "b", high="nsnp", low="ssss")
    browser = open_page(report(here, compare=there).path, "#/compare")
    table = browser.all("#screen table")[-1]
    assert [" ".join(row.text.split()) for row in table.find_elements("css selector", "tr")] == [
        "Text Nugget x b/x Run Topic Place",
        "the whole The tower is 34 m high. ✗ not stated ✓ stated high t1 Nugget",
        "the whole It was lit in 1871. ✓ stated ✗ not stated high t1 Nugget",
    ]
    link = table.find_elements("css selector", "tbody tr")[1].find_elements("css selector", "a")[-1]
    assert link.get_attribute("aria-label") == "Nugget of high on t1"
    link.click()
    browser.wait("document.querySelector('.evidence .differs')")
    assert "✗ not stated why 3" in browser.text(".evidence .differs")
    assert browser.text(".evidence .quoted") == "It was lit in 1871."


def test_answers_that_sentences_state_lead_to_their_nugget(tmp_path: Path, open_page: Open) -> None:
    nugget, answer = AskedNugget("1", "When?", "vital"), AskedNugget("1", "When?", "vital", "1871")
    judged = [
        judgment(FULL, sentence_index=0, doc_id="d", citation="d", exists=True),
        judgment("support", sentence_index=0, nugget=answer, reason="it is there"),
        judgment(sentence_index=1, nugget=answer, failure=Failure("cut", "too long")),
        judgment("support", sentence_index=None, nugget=nugget, reason="1 of 1 answers"),
    ]
    texts = (("In 1871.", ["d"]), ("Never.", []))
    page = report(output(tmp_path, (response(*texts), judged), judge="nuggets")).path
    browser = open_page(page, "#/nuggets/t1")
    assert rows(browser) == ["When?vital 1 ✓"]
    browser.find(".nuggets td.cell").click()
    browser.wait("document.querySelector('.told')")
    assert browser.run("return location.hash") == "#/response/r/t1/3"
    lines = [shown(browser, line) for line in browser.all(".sentence .claims li")]
    assert lines == ["✓ When? answer: 1871 vital", "? When? answer: 1871 vital"]
    assert browser.text(".evidence .chips") == "✓\n1\nfull_support"
    assert browser.text(".sentence .chips").split() == ["✓", "1", "full_support"]
    browser.go_to_judgment(1)
    assert browser.text(".evidence h2") == "Sentence 1"
    assert "it is there" in browser.text(".evidence")


def test_nuggets_may_lie_beside_the_page(tmp_path: Path, open_page: Open) -> None:
    written = report(nuggets_output(tmp_path, r="sspn"), most=0)
    assert len(list(written.path.with_suffix("").glob("nuggets-0.*.js"))) == 1
    browser = open_page(written.path, "#/nuggets/t1")
    assert len(rows(browser)) == 4


def test_runs_of_any_number_and_names_of_any_length_fit(tmp_path: Path, open_page: Open) -> None:
    long = AskedNugget("n" * 900, "word " * 900, "i" * 900)
    names = [f"run{i:02}" for i in range(60)] + ["r" * 900]
    judged = [(response(("S.", []), run_id=run), on_nuggets("n", [long])) for run in names]
    browser = open_page(report(output(tmp_path, *judged, judge="nuggets")).path, "#/nuggets/t1")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("return document.querySelector('.nuggets tbody th').offsetWidth") < 600
    assert browser.run("return document.querySelector('.nuggets tbody tr').offsetHeight") < 150


def test_the_nuggets_of_each_judge_are_apart(tmp_path: Path, open_page: Open) -> None:
    answer = response(("It was lit in 1871.", []))
    outputs = output(tmp_path, (answer, []), judge="nuggets")
    with outputs.judgments.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({"citation": {}, "nuggets": {}, "length": {}}))
        cited = judgment(FULL, doc_id="d", citation="d", exists=True)
        by_each = [("nuggets", one) for one in on_nuggets("nnpn")]
        by_each += [("length", one) for one in on_nuggets("nnnp")]
        writer.response(answer, [("citation", cited), *by_each])
        writer.end()
    browser = open_page(report(outputs).path, "#/nuggets/t1")
    assert [row[-1] for row in rows(browser)] == ["◐", "✗", "✗", "✗"]
    browser.all("#screen select")[1].send_keys("length")
    assert "judge=length" in browser.run("return location.hash")
    assert [row[-1] for row in rows(browser)] == ["✗", "✗", "◐", "✗"]
    browser.find(".nuggets td.part").click()
    browser.wait("document.title.startsWith('r on t1')")
    chosen = "return document.querySelector('.reading > .tools select').selectedOptions[0].text"
    assert browser.run(chosen) == "length"
    assert browser.text(".evidence .decision").splitlines()[-3] == "length"
    browser.go("#/")
    browser.go("#/response/r/t1")
    assert len(browser.all(".stated li a")) == 4

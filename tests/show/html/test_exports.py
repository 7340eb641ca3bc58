"""What a view lets one take along: tables as CSV and in the clipboard, charts as SVG files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import output, report
from trecjudge.records import FULL
from trecjudge.results.leaderboards.writing import csv_cells, csv_line

CATCH = """
URL.createObjectURL = (blob) => { window.caught = blob; return 'blob:nothing'; };
HTMLAnchorElement.prototype.click = function () { window.named = this.download; };
"""


def taken(browser: Browser, selector: str) -> tuple[str, str]:
    """Click a button that saves a file; return the file's name and text."""
    browser.run(CATCH)
    browser.run("arguments[0].click()", browser.all(selector)[0])
    text = browser.driver.execute_async_script("window.caught.text().then(arguments[0])")
    return browser.run("return window.named"), text


@pytest.mark.parametrize(
    ("view", "name", "first"),
    [
        ("#/runs", "x.leaderboard.csv", "place,run,team,CITATION_ACCURACY"),
        ("#/heat", "x.expected_citation_support-by-run-and-topic.csv", "run,11,12,13"),
        ("#/findings", "x.kinds-of-findings.csv", "Kind,Severity,Count,Effect on the scores"),
        ("#/compare", "x.labels.csv", "x \\ human/x,full_support,partial_support"),
    ],
)
def test_tables_are_saved(
    view: str, name: str, first: str, compared_page: Path, open_page: Open
) -> None:
    browser = open_page(compared_page, view)
    found, text = taken(browser, "main section:not([hidden]) .take")
    assert found == name
    assert text.startswith(first)
    assert len({len(csv_cells(line)) for line in text.splitlines()}) == 1


def test_a_table_is_saved_whole(tmp_path: Path, open_page: Open) -> None:
    every = [(response(("S.", []), topic_id=f"t{i:03}"), []) for i in range(230)]
    browser = open_page(report(output(tmp_path, *every)).path, "#/run/r")
    _, text = taken(browser, "#screen .take")
    assert len(text.splitlines()) == 231


@pytest.mark.parametrize(
    "run_id", ["=1+1", "-2+3", "@SUM(A1)", "+", "'=1", "-0.5", 'a,"b"', "a;b", "\uff1d1", "plain"]
)
def test_names_are_no_formulas(run_id: str, tmp_path: Path, open_page: Open) -> None:
    found = judgment(FULL, doc_id="d", citation="d", exists=True)
    made = output(tmp_path, (replace(response(("S.", ["d"])), run_id=run_id), [found]))
    _, text = taken(open_page(report(made).path, "#/heat"), "#screen .take")
    assert text.splitlines()[1] + "\n" == csv_line([run_id, "1"])


def test_a_table_is_copied(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/heat")
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => {"
        " window.copied = text; }}})"
    )
    browser.all("#screen .take")[1].click()
    browser.wait("document.querySelector('#screen .takes [role=status]').textContent === 'copied'")
    copied = browser.run("return window.copied").splitlines()
    assert copied[0].split("\t") == ["run", "11", "12", "13"]
    assert len(copied) == 4


def test_charts_are_files_with_their_colours(compared_page: Path, open_page: Open) -> None:
    browser = open_page(compared_page, "#/agreement")
    name, text = taken(browser, "figure[data-measure=EXPECTED_CITATION_SUPPORT] figcaption .take")
    assert name == "x.expected_citation_support-compared-with-x.svg"
    tree = ElementTree.fromstring(text)
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    (fill,) = {circle.get("fill") for circle in tree.iter("{http://www.w3.org/2000/svg}circle")}
    assert fill == "rgb(29, 79, 145)"
    assert "style=" not in text and "var(" not in text


def test_the_policy_allows_a_download(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/heat")
    browser.all("#screen .take")[0].click()
    assert "blob:" not in sample_page.read_text().split("</head>")[0].split("<style>")[0]

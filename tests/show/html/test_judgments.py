"""The list of all judgments: filters, addresses, files to take away, many of them."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import output, report
from trecjudge.records import FULL, NONE, Failure

pytest.importorskip("selenium")
STATUS = "#screen .tools [role=status]"


def listed(browser: Browser, count: str) -> list[str]:
    """Return the rows, each on one line, once so many of so many are shown."""
    browser.wait(f"document.querySelector('{STATUS}')?.textContent === '{count} judgments'")
    return browser.texts(".judgments tbody tr")


@pytest.fixture(scope="module")
def kinds_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report with every outcome: supported, not, no document, unjudged in two ways."""
    judged = [
        judgment(FULL, sentence_index=0, doc_id="d1", citation="d1", exists=True, reason="=1+1"),
        judgment(NONE, sentence_index=1, doc_id="d2", citation="0", exists=True),
        judgment(NONE, sentence_index=1, doc_id=None, citation="gone", exists=False),
        judgment(sentence_index=2, doc_id="d1", failure=Failure("parse", "no label", 3)),
        judgment(sentence_index=2, doc_id="d2", failure=Failure("cut", "too long", 1)),
    ]
    texts = (("Tin, lines it.", ["d1"]), ("It was lit.", ["d2"]), ("It fell.", ["d1"]))
    folder = tmp_path_factory.mktemp("kinds")
    every = [(response(*texts, run_id=run), judged) for run in ("=evil", "good")]
    return report(output(folder, *every)).path


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ("", "10 of 10"),
        ("label=unjudged", "4 of 10"),
        ("label=unjudged%3A%20parse", "2 of 10"),
        ("label=missing%20document", "2 of 10"),
        ("label=no_support", "2 of 10"),
        ("run=good", "5 of 10"),
        ("text=LIT", "4 of 10"),
        ("text=too%20long", "2 of 10"),
        ("run=good&label=unjudged&text=no%20label", "1 of 10"),
        ("topic=t1&run=nobody", "10 of 10"),
    ],
)
def test_a_filter_of_the_address(
    settings: str, count: str, kinds_page: Path, open_page: Open
) -> None:
    assert len(listed(open_page(kinds_page, f"#/judgments?{settings}"), count)) == int(count[:2])


def test_a_choice_is_kept_in_the_address(kinds_page: Path, open_page: Open) -> None:
    browser = open_page(kinds_page, "#/failures?label=all")
    listed(browser, "10 of 10")
    assert browser.texts(".labels button") == [
        "failed 8", "all 10", "✗ no_support 2", "∅ missing document 2",
        "? unjudged: parse 2", "? unjudged: cut 2", "? unjudged 4", "✓ full_support 2",
    ]  # fmt: skip
    browser.find("[data-label='unjudged: cut']").click()
    rows = listed(browser, "2 of 10")
    assert rows[0] == "? unjudged: cut =evil t1 Sentence 3 d2 It fell. too long"
    assert "label=unjudged%3A+cut" in browser.run("return location.hash")
    browser.find("#screen .tools input").send_keys("nowhere")
    assert listed(browser, "0 of 10") == []
    assert "text=nowhere" in browser.run("return location.hash")


def test_a_row_opens_its_response_at_that_sentence(kinds_page: Path, open_page: Open) -> None:
    browser = open_page(kinds_page, "#/judgments?run=good&label=missing%20document")
    listed(browser, "1 of 10")
    browser.find(".judgments td.said").click()
    browser.wait("document.querySelector('.evidence h2')?.textContent === 'Sentence 2, document 3'")
    assert browser.run("return location.hash") == "#/response/good/t1/2"
    assert browser.text("nav [aria-current]") == "Failures"


def test_a_position_is_shown_as_the_run_cites_it(kinds_page: Path, open_page: Open) -> None:
    browser = open_page(kinds_page, "#/response/good/t1/1")
    browser.wait("document.querySelector('.decision')")
    assert "cited as\n[0]" in browser.text(".decision")


def taken(browser: Browser, folder: Path, name: str) -> str:
    """Return the file that a button saves."""
    where = {"behavior": "allow", "downloadPath": str(folder)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    file = folder / f"x.judgments.{name.lower()}"
    next(b for b in browser.all("#screen .tools button") if b.text == name).click()
    for _ in range(200):
        if file.is_file() and (text := file.read_text(encoding="utf-8")):
            return text
        time.sleep(0.02)
    raise AssertionError("nothing was saved")


def test_of_several_judges_one_is_chosen(tmp_path: Path, open_page: Open) -> None:
    found = [judgment(FULL, doc_id="d", citation="d", exists=True)]
    outputs = output(tmp_path, (response(("S.", ["d"])), found), also=["support"])
    browser = open_page(report(outputs).path, "#/judgments?judge=support")
    assert listed(browser, "0 of 1") == []
    browser.find(".tools option[value=citation]").click()
    (row,) = listed(browser, "1 of 1")
    assert "citation" in row


def test_what_is_listed_is_saved_for_spreadsheets(
    kinds_page: Path, open_page: Open, tmp_path: Path
) -> None:
    browser = open_page(kinds_page, "#/judgments?run=%3Devil")
    listed(browser, "5 of 10")
    rows = list(csv.DictReader(taken(browser, tmp_path, "CSV").splitlines()))
    assert len(rows) == 5
    assert {row["run_id"] for row in rows} == {"'=evil"}
    assert rows[-1]["reason"] == "'=1+1"
    assert (rows[-1]["sentence"], rows[-1]["sentence_index"]) == ("Tin, lines it.", "0")
    assert [row["unjudged"] for row in rows] == ["", "", "parse", "cut", ""]


def test_what_is_listed_is_saved_for_programs(
    kinds_page: Path, open_page: Open, tmp_path: Path
) -> None:
    browser = open_page(kinds_page, "#/judgments?label=unjudged")
    listed(browser, "4 of 10")
    found: list[dict[str, Any]] = list(
        map(json.loads, taken(browser, tmp_path, "JSONL").splitlines())
    )
    assert [one["run_id"] for one in found] == ["=evil", "=evil", "good", "good"]
    assert found[0]["failure"] == {"kind": "parse", "message": "no label", "tries": 3}
    assert "label" not in found[0]


def test_many_judgments_are_drawn_as_they_are_asked_for(tmp_path: Path, open_page: Open) -> None:
    texts = [(f"Sentence {i} says so.", ["d"]) for i in range(100)]
    judged = [judgment(FULL, sentence_index=i, doc_id="d", citation="d") for i in range(100)]
    every = [(response(*texts, run_id=f"r{i}", topic_id=f"t{i % 5}"), judged) for i in range(60)]
    browser = open_page(report(output(tmp_path, *every)).path, "#/judgments")
    assert len(listed(browser, "6000 of 6000")) == 200
    browser.find(".more button").click()
    assert len(browser.all(".judgments tbody tr")) == 1200


def test_of_many_judgments_those_on_one_topic_are_read_first(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trecjudge.show.html.writing.MANY", 5)
    judged = [judgment(FULL, sentence_index=0, doc_id="d", citation="d")]
    text = ("It says so.", ["d"])
    every = [(response(text, run_id=f"r{i}", topic_id=f"t{i % 3}"), judged) for i in range(6)]
    page = report(output(tmp_path, *every)).path
    browser = open_page(page, "#/judgments")
    assert len(listed(browser, "2 of 2")) == 2
    choose = """const list = document.querySelectorAll("#screen .tools select")[1];
        list.selectedIndex = arguments[0]; list.dispatchEvent(new Event("change"));"""
    browser.run(choose, 3)
    assert [row.split()[3] for row in listed(browser, "2 of 2")] == ["t2", "t2"]
    browser.run(choose, 0)
    assert len(listed(browser, "6 of 6")) == 6
    address = browser.run("return location.hash")
    assert address == "#/failures?label=all&every=yes"
    assert len(listed(open_page(page, address), "6 of 6")) == 6
    monkeypatch.setattr("trecjudge.show.html.writing.MANY", 6)
    assert (
        len(listed(open_page(report(output(tmp_path, *every)).path, "#/judgments"), "6 of 6")) == 6
    )

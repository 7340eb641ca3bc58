"""Marks on the verdicts of a report in a real browser: made, held and taken along."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser, browsing, missing
from tests.show.html.made import nuggets_output, output, report
from tests.show.html.test_exports import taken
from tests.show.html.test_hostile import ATTACKS, harmless
from tests.show.html.test_views import CHECK, Keys, checking, focused, press, reload
from trecjudge.records import FULL, NONE, PARTIAL, Claim, Failure

MARKS = "[data-judgment][data-mark]"
COUNT = "document.getElementById('marks')?.textContent"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the support judge on sample data, with its report."""
    folder = tmp_path_factory.mktemp("job")
    assert sample("rag", folder, "-q", "--report", "--judge", "support").status == 0
    return folder


@pytest.fixture(autouse=True)
def forgetful(browser: Browser) -> Iterator[None]:
    """Let the browser forget what it holds for the files of other tests."""
    yield
    browser.run("localStorage.clear()")


def say(browser: Browser, what: str) -> None:
    browser.find(f".evidence [data-say='{what}']").click()


def pressed(browser: Browser) -> list[str]:
    return browser.texts(".evidence [aria-pressed=true]")


def exported(browser: Browser, target: Path, kind: str = "Labels (JSONL)") -> list[dict[str, Any]]:
    """Export the marks into a file, by somebody who gives a name; return its lines."""
    browser.find("#marks").click()
    browser.find("#marks-box input").clear()
    browser.find("#marks-box input").send_keys("zoë")
    buttons = browser.all("#marks-box button")
    at = [one.text for one in buttons].index(kind)
    name, text = taken(browser, f"#marks-box button:nth-of-type({at + 1})")
    assert name.startswith("x.labels-zoë.")
    browser.find("#marks-box").send_keys(Keys.ESCAPE)
    target.write_text(text, encoding="utf-8")
    return list(map(json.loads, text.splitlines())) if kind != "CSV" else []


def test_marks_are_held_taken_along_and_read_back(
    job: Path, tmp_path: Path, browser: Browser
) -> None:
    page = job / "x.report.html"
    lines = map(json.loads, (job / "x.judgments.jsonl").open())
    on = [one for one in lines if one["record"] == "judgment"][:9]
    assert {one["run_id"] for one in on} == {"careful"}
    place = f"#/response/careful/{on[0]['topic_id']}"
    browser.open(page, f"{place}/0")
    assert browser.all("#marks") == browser.all(MARKS) == []
    say(browser, "right")
    assert pressed(browser) == ["Right"] and browser.run(f"return {COUNT}") == "1 mark: export"
    browser.go_to_judgment(1)
    say(browser, "wrong")
    other = next(x for x in (PARTIAL, FULL) if x != on[1]["label"])
    assert browser.run("return document.activeElement.dataset.say").startswith("label ")
    say(browser, f"label {other}")
    browser.go_to_judgment(2)
    say(browser, "comment")
    browser.find(".evidence textarea").send_keys("=not sure\n1")
    clicked = [(on[0]["label"], None), (other, None), (None, "=not sure\n1")]
    for again in ("reload", "made again"):
        if again == "made again":
            assert command("report", job, "-q").status == 0
        reload(browser)
        assert browser.run(f"return {COUNT}") == "3 marks: export"
        rows = exported(browser, tmp_path / "marks.jsonl")
        assert [(row.get("label"), row.get("comment")) for row in rows] == clicked
        fields = ("topic_id", "run_id", "sentence_index", "doc_id")
        assert [[row[x] for x in fields] for row in rows] == [
            [y[x] for x in fields] for y in on[:3]
        ]
        assert {row["labeller"] for row in rows} == {"zoë"}
    assert browser.find(".evidence textarea").get_attribute("value") == "=not sure\n1"
    links = [browser.find(f"[data-judgment='{n}']") for n in range(4)]
    marks = [link.get_attribute("data-mark") for link in links]
    assert marks == ["right", "wrong", "comment", None]
    exported(browser, tmp_path / "marks.csv", "CSV")
    for file in (tmp_path / "marks.jsonl", tmp_path / "marks.csv"):
        done = command("labels", "agree", "--labels", file, job, "--json")
        found = json.loads(done.out)
        assert (done.status, done.err, found["items"], found["findings"]) == (0, "", 2, [])
        done = command("job", "rescore", job, "--labels", file)
        assert (done.status, "2 given, 2 of them" in done.out) == (0, True)
        assert "label_unusable" not in done.err
    say(browser, "comment")
    browser.go_to_judgment(1)
    say(browser, "wrong")
    assert pressed(browser) == [] and browser.run(f"return {COUNT}") == "2 marks: export"


def test_where_a_person_disagrees_is_listed(job: Path, browser: Browser) -> None:
    browser.open(job / "x.report.html", "#/response/careful/11/0")
    listed = "document.querySelectorAll('.judgments tbody tr').length"
    browser.go("#/failures")
    browser.wait(listed)
    assert "Where you disagree" not in browser.text("#screen .tools")
    browser.go("#/response/careful/11/0")
    press(browser, "r", "n")
    browser.wait("!location.hash.endsWith('/0')")
    press(browser, "w")
    focused(browser).send_keys(Keys.ENTER)
    wanted = focused(browser).text
    browser.find("#marks").click()
    browser.find("#marks-box a").click()
    browser.wait(f"{listed} === 1")
    assert browser.all(".judgments .marked")[0].text == f"you: {wanted}"
    browser.all("#screen .tools [type=checkbox]")[1].click()
    browser.wait(f"{listed} > 1")
    assert "you agree" in browser.texts(".judgments .marked")


def test_all_is_done_by_key_and_is_one_stop(job: Path, browser: Browser) -> None:
    browser.open(job / "x.report.html", "#/response/careless/12/1")
    press(browser, "c")
    assert browser.run("return document.activeElement.tagName") == "TEXTAREA"
    focused(browser).send_keys("r w c", Keys.ESCAPE)
    assert pressed(browser) == ["Comment"]
    browser.find("[data-judgment='1']").send_keys(Keys.ENTER)
    press(browser, "w", Keys.ARROW_RIGHT, Keys.ENTER)
    assert len(pressed(browser)) == 3 and pressed(browser)[0] == "Wrong"
    assert len(browser.all(".marks-row button[tabindex='0']")) == 1
    press(browser, "r")
    assert pressed(browser) == ["Right", "Comment"]


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_hostile_comment_stays_a_text(
    text: str, job: Path, tmp_path: Path, browser: Browser
) -> None:
    browser.open(job / "x.report.html", "#/response/careful/11/0")
    say(browser, "comment")
    box = browser.find(".evidence textarea")
    browser.run(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
        box, text,
    )  # fmt: skip
    reload(browser)
    (row,) = exported(browser, tmp_path / "m.jsonl")
    assert row["comment"] == text and row["skipped"] == "only a comment"
    for view in ("#/failures?label=all", "#/response/careful/11/0"):
        browser.open(job / "x.report.html", view)
        harmless(browser)


def test_what_no_label_can_be_on_is_marked_all_the_same(tmp_path: Path, browser: Browser) -> None:
    claim = Claim(0, "It is tin.", 0, ("It is tin.",))
    judged = [
        judgment(FULL, sentence_index=0, doc_id="d", citation="d", exists=True),
        judgment(NONE, sentence_index=0, doc_id=None, citation="gone", exists=False),
        judgment(sentence_index=0, doc_id="e", citation="e", failure=Failure("parse", "?", 3)),
        judgment(FULL, sentence_index=0, claim=claim),
    ]
    page = report(output(tmp_path, (response(("It is tin.", ["d"])), judged))).path
    browser.open(page, "#/response/r/t1/1")
    say(browser, "wrong")
    browser.go_to_judgment(2)
    assert browser.texts(".marks-row button") == [
        "full_support", "partial_support", "no_support", "Comment",
    ]  # fmt: skip
    say(browser, "label partial_support")
    browser.go_to_judgment(3)
    say(browser, "right")
    rows = exported(browser, tmp_path / "m.jsonl")
    said = [(row.get("label"), row.get("mark"), row.get("skipped")) for row in rows]
    assert said == [
        (None, "wrong", "wrong, without a label"),
        ("partial_support", None, None),
        (None, "right", "right, without a label"),
    ]
    assert (rows[0]["citation"], rows[2]["claim"]) == ("gone", "It is tin.")
    browser.find("#marks").click()
    assert "1 right, 1 wrong, 1 unjudged, labelled." in browser.text("#marks-box")


def test_nuggets_have_their_own_labels(tmp_path: Path, browser: Browser) -> None:
    outputs = nuggets_output(tmp_path, a="snpc")
    browser.open(report(outputs).path, "#/response/a/t1/0")
    say(browser, "wrong")
    assert browser.texts(".marks-row [data-say^=label]") == ["stated in part", "not stated"]
    say(browser, "label not_support")
    (row,) = exported(browser, tmp_path / "m.jsonl")
    assert (row["nugget"], row["label"], row["judged"]) == (
        "A keeper lived there.", "not_support", "support",
    )  # fmt: skip
    done = command("labels", "agree", "--labels", tmp_path / "m.jsonl", tmp_path, "--json")
    assert json.loads(done.out)["items"] == 1 and done.err == ""


def test_nothing_of_marks_is_on_paper(job: Path, browser: Browser) -> None:
    browser.open(job / "x.report.html", "#/response/careful/11/0")
    say(browser, "right")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.all(".marks, #marks, .marked") == []
        after = "return getComputedStyle(arguments[0], '::after').content"
        assert browser.run(after, browser.find(MARKS)) == "none"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("dark", [False, True])
def test_anyone_can_mark_on_a_phone(job: Path, dark: bool) -> None:
    if reason := missing():
        pytest.skip(reason)
    with browsing(390, 844, dark) as phone:
        checking(phone, job / "x.report.html")
        phone.go("#/response/careful/11/0")
        say(phone, "wrong")
        say(phone, "comment")
        assert phone.run("return document.documentElement.scrollWidth") <= 390
        assert phone.driver.execute_async_script(CHECK, {}) == []
        phone.find("#marks").click()
        assert phone.driver.execute_async_script(CHECK, {}) == []
        assert phone.complaints() == []

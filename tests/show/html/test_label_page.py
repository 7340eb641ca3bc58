"""The page to label on in a real browser: keys, reload, downloads, hostile texts, size, access."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser, browsing, missing
from tests.show.html.made import Judged, output
from tests.show.html.test_exports import taken
from tests.show.html.test_hostile import ATTACKS, harmless, hostile, record
from tests.show.html.test_labelling import KEY, items_of, label
from tests.show.html.test_views import CHECK, checking
from trecjudge.records import FULL

KEYS = {"full_support": "1", "partial_support": "2", "no_support": "3"}


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the support judge on sample data."""
    folder = tmp_path_factory.mktemp("job")
    sample("rag", folder, "-q", "--judge", "support")
    return folder


def press(browser: Browser, *keys: str) -> None:
    """Press keys, each once the page shows what the one before led to."""
    for key in keys:
        before = browser.run("return document.documentElement.dataset.item")
        browser.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
                    "{key: arguments[0], bubbles: true}))", key)  # fmt: skip
        if (key in "123" or key.startswith("Arrow")) and not browser.all("#verdict"):
            browser.wait(f"document.documentElement.dataset.item !== '{before}'")


def current(browser: Browser) -> int:
    return int(browser.run("return document.documentElement.dataset.item"))


def downloaded(browser: Browser, target: Path, kind: str = "jsonl") -> str:
    """Download the labels into a file; return its text."""
    _, text = taken(browser, f"#{kind}")
    target.write_text(text, encoding="utf-8")
    return text


def test_two_people_label_and_one_goes_on_after_a_break(
    job: Path, tmp_path: Path, browser: Browser
) -> None:
    command("labels", "next", job, "--page", tmp_path / "l.html", "--top", "30", "--assign", "2",
            "--overlap", "0.5", "-q")  # fmt: skip
    rows = list(map(json.loads, (SAMPLES / "rag" / "labels.jsonl").open()))
    truth = {tuple(row[part] for part in KEY): row["label"] for row in rows}
    labels = tmp_path / "labels"
    labels.mkdir()
    for number, name in enumerate(("anna", "ben"), 1):
        page = tmp_path / f"l-{number}.html"
        browser.open(page)
        items, clicked = items_of(page), {}
        box = browser.find("#labeller")
        assert box.get_attribute("value") == f"person {number}"
        box.clear(), box.send_keys(name, "\ue00c")
        while (at := current(browser)) < len(items):
            if name == "ben" and at == 9:
                browser.open(page)  # the browser was closed
                assert current(browser) == 9
            key = items[at]["key"]
            said = truth[tuple(key.get(part) for part in KEY)]
            said = "no_support" if name == "ben" and at % 4 == 0 else said
            clicked[json.dumps(key)] = said
            press(browser, KEYS[said])
        assert f"{len(items)} of {len(items)} items done" in browser.text("#progress")
        rows = list(map(json.loads, downloaded(browser, labels / f"{name}.jsonl").splitlines()))
        got = {json.dumps({k: row[k] for k in KEY}): row["label"] for row in rows}
        assert got == clicked and {row["labeller"] for row in rows} == {name}
        assert {row["sampled"] for row in rows} == {"random", "ranking"}
        assert all(row["seconds"] >= 0 for row in rows)
        csv = downloaded(browser, tmp_path / f"{name}.csv", "csv")
        assert len(csv.splitlines()) == 1 + len(rows)
    done = command("labels", "agree", "--labels", labels, job)
    assert "people: 15 items labelled by two or more" in done.out and done.status == 0
    assert "Krippendorff's alpha" in done.out
    for reader in (("job", "rescore"), ("labels", "next")):
        done = command(*reader, job, "--labels", labels)
        assert (done.status, "label_unusable" in done.err) == (0, False)
    agreed = [
        json.loads(command("labels", "agree", "--labels", file, job, "--json").out)
        for file in (labels / "ben.jsonl", tmp_path / "ben.csv")
    ]
    assert agreed[0]["confusion"] == agreed[1]["confusion"]
    rag, target = SAMPLES / "rag", tmp_path / "c.json"
    done = command("judges", "calibrate", "--labels", labels, "--rag-responses", rag / "runs",
                   "--documents", rag / "documents.jsonl", "--output", target)  # fmt: skip
    assert "labels of pairs that words can compare; at least 50 are needed" in done.err


def test_everything_is_done_by_keys(job: Path, tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "l.html"
    label(job, page, "--top", "5", "--show-verdict")
    browser.open(page)
    active = "return document.activeElement.id"
    lines = [json.loads(line) for line in (job / "x.judgments.jsonl").open()]
    quotes = [" ".join(one["evidence"]["quote"].split()) for one in lines if one.get("evidence")]
    assert browser.texts("#document mark")[0] in quotes
    press(browser, "/")
    search = browser.find("#document input")
    search.send_keys("the", "\ue007")
    assert browser.texts("#document [role=status]")[0].startswith("2 of ")
    search.send_keys("\ue00c")
    assert browser.run(active) == "question"
    press(browser, "e")
    assert browser.text("#evidence blockquote").lower() == "the"
    press(browser, "c")
    browser.find("#comment").send_keys("=not sure\n1", "\ue00c")
    press(browser, "2")
    assert current(browser) == 0 and "The judge: " in browser.text("#verdict")
    press(browser, "ArrowRight")
    browser.wait("!document.getElementById('verdict')")
    press(browser, "s")
    assert browser.run(active) == "reason"
    browser.find("#reason").send_keys("other language", "\ue007")
    browser.wait("document.documentElement.dataset.item === '2'")
    press(browser, "ArrowLeft")
    assert browser.find("#reason").get_attribute("value") == "other language"
    browser.find("#jsonl").click()
    assert "Give your name first" in browser.text("#told")
    browser.find("#labeller").send_keys("zoë", "\ue00c")
    name, text = taken(browser, "#jsonl")
    first, second = map(json.loads, text.splitlines())
    assert name == "x.labels-zoë.jsonl"
    assert (first["label"], first["comment"]) == ("partial_support", "=not sure\n1")
    assert (second["skipped"], "label" in second) == ("other language", False)
    downloaded(browser, tmp_path / "l.csv", "csv")
    done = command("job", "rescore", job, "--labels", tmp_path / "l.csv")
    assert (done.status, "1 given, 1 of them" in done.out) == (0, True)


def made_job(folder: Path, judged: list[Judged], records: list[dict[str, Any]]) -> Path:
    """Write a job of the citation judge, and the run that it has judged; return its folder."""
    outputs = output(folder, *judged)
    (folder / "run.jsonl").write_text("\n".join(map(json.dumps, records)))
    outputs.config.write_text(f"inputs: {{runs: [{folder / 'run.jsonl'}]}}\n")
    return folder


def test_hostile_texts_stay_texts(tmp_path: Path, browser: Browser) -> None:
    texts = [*ATTACKS.values(), "long"]
    records: list[dict[str, Any]] = list(map(record, texts))
    long = "<script>window.pwned = 1</script>\u202esafe\u202c نص " * 25_000
    records[-1]["documents"]["long"]["text"] = long
    page, rules = tmp_path / "l.html", tmp_path / "rules.md"
    rules.write_text("# <img src=x onerror=window.pwned=1>\n\n- </script><script>window.pwned=1")
    job = made_job(tmp_path, [(one, own[:1]) for one, own in map(hostile, texts)], records)
    items = label(job, page, "--random", "--guideline", rules)
    assert len(items) == len(texts)
    browser.open(page)
    for _ in items:
        steers = "return /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)"
        assert not browser.run(steers)
        harmless(browser)
        press(browser, "ArrowRight")
    assert "<img src=x onerror=window.pwned=1>" in browser.text("#guideline")


def test_a_page_of_two_thousand_items_opens_at_once(tmp_path: Path, browser: Browser) -> None:
    cited = [(f"Sentence {n}.", [f"d{n}"]) for n in range(40)]
    documents = {f"d{n}": "It was lit in 1871. " * 200 for n in range(40)}
    judged: list[Judged] = []
    for run in range(50):
        own = [judgment(FULL, sentence_index=n, doc_id=f"d{n}", exists=True) for n in range(40)]
        judged.append((response(*cited, run_id=f"r{run}", topic_id=f"t{run % 10}"), own))
    said = [{"text": text, "citations": ids} for text, ids in cited]
    records = [
        {"metadata": {"team_id": "t", "run_id": one.run_id, "topic_id": one.topic_id},
         "responses": said, "documents": documents}
        for one, _ in judged
    ]  # fmt: skip
    page = tmp_path / "l.html"
    job = made_job(tmp_path, judged, records)
    assert len(label(job, page, "--random", "--top", "2000")) == 2000
    assert page.stat().st_size < 1_000_000
    opened = []
    for _ in range(3):
        started = time.perf_counter()
        browser.open(page)
        opened.append(time.perf_counter() - started)
    assert min(opened) < 2
    press(browser, *"123")
    assert "3 of 2000 items done" in browser.text("#progress")


def test_who_decides_sees_what_was_said_and_not_by_whom(
    job: Path, tmp_path: Path, browser: Browser
) -> None:
    rows = list(map(json.loads, (SAMPLES / "rag" / "labels.jsonl").open()))[:2]
    folder = tmp_path / "people"
    folder.mkdir()
    for who, said in (("anna", "full_support"), ("ben", "no_support")):
        text = "\n".join(json.dumps(row | {"label": said}) for row in rows)
        (folder / f"{who}.jsonl").write_text(text)
    page = tmp_path / "d.html"
    label(job, page, "--disagreements", "--labels", folder, "-q")
    browser.open(page)
    shown = browser.text("body")
    assert "People differ: 1 × full_support, 1 × no_support." in shown
    assert "anna" not in shown and "ben" not in shown.replace("bend", "")
    browser.find("#labeller").send_keys("dora", "\ue00c")
    press(browser, "2", "3")
    for kind in ("jsonl", "csv"):
        downloaded(browser, folder / f"dora.{kind}", kind)
        done = command("labels", "next", job, "--disagreements", "--labels", folder)
        assert (done.status, "people differ on no item" in done.err) == (1, True)
        (folder / f"dora.{kind}").rename(tmp_path / f"dora.{kind}")
    row = json.loads((tmp_path / "dora.jsonl").read_text().splitlines()[0])
    assert row["adjudicated"] is True and [one["annotator"] for one in row["labels"]] == [
        "anna",
        "ben",
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_anyone_can_use_it_on_a_phone(job: Path, tmp_path: Path, dark: bool) -> None:
    if reason := missing():
        pytest.skip(reason)
    label(job, tmp_path / "l.html", "--top", "5")
    with browsing(390, 844, dark) as phone:
        checking(phone, tmp_path / "l.html")
        wide = "return document.documentElement.scrollWidth"
        for _ in range(5):
            assert phone.run(wide) <= 390
            assert phone.driver.execute_async_script(CHECK, {}) == []
            buttons = phone.all(".choices button")
            assert all(one.rect["height"] >= 44 and one.rect["y"] < 844 for one in buttons)
            buttons[0].click()
        phone.wait("document.documentElement.dataset.item === '5'")
        assert phone.driver.execute_async_script(CHECK, {}) == []
        assert phone.complaints() == []

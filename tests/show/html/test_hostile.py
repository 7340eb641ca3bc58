"""Text that attacks whoever looks at it: shown as it stands, and nothing of it happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import orjson
import pytest

from tests.commandline import command
from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import Judged, output, report
from tests.show.html.test_blocks import unpacked
from trecjudge.records import NONE, Claim, Evidence, Failure, Source
from trecjudge.show.html.blocks import Block

ATTACKS = {
    "script": "<script>window.pwned = 1</script>",
    "end of the block": "</script><script>window.pwned = 1</script><!--",
    "attribute": "\" autofocus onfocus='window.pwned = 1' x=\"",
    "image": "<img src=x onerror=window.pwned=1>",
    "style": "</style><link rel=stylesheet href=//example.org/x>",
    "template": "{{ 7 * 7 }} {% raw %} ${window.pwned = 1} {{config}}",
    "address": "javascript:window.pwned=1",
    "path": "../../a/b#/c?d=%2e%2e%00",
    "prototype": "__proto__",
    "direction": "safe\u202etxt.exe\u202c \u2066left\u2069",
    "unseen": "pay\u200bpal \u061cright\u2060",
    "entity": "&lt;b&gt; &#x202e; &quot;",
}
VIEWS = (
    *("#/heat", "#/topics", "#/charts", "#/findings", "#/agreement", "#/compare"),
    *("#/failures", "#/about", "#/", "#/runs"),
)


@pytest.fixture(scope="module", params=[1, 0], ids=["one file", "beside"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report in which each text stands wherever text can come from outside."""
    folder = tmp_path_factory.mktemp("hostile")
    log = [event for text in ATTACKS.values() for event in events(text)]
    judged = [hostile(text) for text in ATTACKS.values()]
    outputs = output(folder, *judged, judge="length", log=log)
    lines = [orjson.dumps(record(text)) + b"\n" for text in ATTACKS.values()]
    (folder / "run.jsonl").write_bytes(b"".join(lines))
    outputs.config.write_text(f"inputs: {{runs: [{folder / 'run.jsonl'}]}}\nmodel: {{model: 'm'}}")
    return report(outputs, compare=outputs, most=request.param).path


def hostile(text: str) -> Judged:
    """Return a response and judgments that are made of a text."""
    passage = f"Title {text}\nText {text} end."
    evidence = Evidence(0, len(passage), passage)
    source = Source(text, 0, 9, text, 0.5, text, text, text, text)
    run = response((text, [text]), run_id=f"r {text}", topic_id=f"t {text}")
    return run, [
        judgment(NONE, doc_id=text, citation=text, exists=True, reason=text, evidence=evidence),
        judgment(text, claim=Claim(0, text, 0, (text,)), match=text, sources=(source,)),
        judgment(doc_id=text, citation=text, failure=Failure(text, text)),
    ]


def events(text: str) -> Iterator[dict[str, object]]:
    """Yield a model call and a finding that are made of a text."""
    call = {"event": "MODEL_CALL", "run_id": f"r {text}", "topic_id": f"t {text}", "program": text}
    call |= {"messages": [{"role": text, "content": text}], "reply": text, "error": text}
    yield call | {"sentence_index": 0, "citation_id": text, "tokens": 1, "tries": 1}
    place = {"place": text, "run_id": text, "topic_id": text, "sentence": 0}
    yield {"event": "FINDING", "kind": text, "severity": "note", "message": text} | place


def record(text: str) -> dict[str, object]:
    """Return the response as a run of RAGTIME has it, with its document."""
    return {
        "metadata": {"team_id": text, "run_id": f"r {text}", "topic_id": f"t {text}"},
        "responses": [{"text": text, "citations": [text]}],
        "documents": {text: {"title": f"Title {text}", "text": f"Text {text} end.", "url": text}},
    }


def seen(text: str) -> str:
    """Return a text as the page shows it: what steers its direction escaped."""
    return "".join(f"\\x{ord(c):x}" if c in STEERS else c for c in text)


STEERS = "\u202e\u202c\u2066\u2069\u200b\u061c\u2060"


STATUS = "document.querySelector('#screen .tools [role=status]')"


def harmless(browser: Browser) -> None:
    """Check that nothing of an attack has come to life."""
    assert browser.run("return window.pwned") is None
    odd = "script[src], img, iframe, object, link, [onfocus], [onerror], a[href^='javascript']"
    assert browser.run("return document.querySelectorAll(arguments[0]).length", odd) == 0


def test_lists_show_attacks_as_they_stand(page: Path, browser: Browser) -> None:
    browser.open(page)
    for view in VIEWS:
        browser.go(view)
        browser.wait(f"!{STATUS}?.textContent.startsWith('Reading')")  # all its blocks have come
        harmless(browser)
    shown = [link.text for link in browser.all("#board tbody th a")]
    assert sorted(shown) == sorted(f"r {seen(text)}" for text in ATTACKS.values())


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_is_shown_and_does_nothing(text: str, page: Path, browser: Browser) -> None:
    place = f"{quote(f'r {text}', safe='')}/{quote(f't {text}', safe='')}"
    browser.open(page, f"#/response/{place}")
    browser.wait("document.querySelector('.evidence mark')")
    assert browser.text(".sentence .prose") == seen(text)
    assert browser.text(".document mark") == seen(f"Title {text}")
    browser.find(".prompt summary").click()
    browser.wait("document.querySelector('.call pre')")
    for chip in browser.all(".response [data-judgment]")[1:]:
        chip.click()
        browser.wait("document.querySelector('.evidence .verdict')")
    harmless(browser)
    browser.go(f"#/topic/{quote(f't {text}', safe='')}")
    assert browser.text(".column .prose") == seen(text)
    harmless(browser)


@pytest.mark.parametrize("text", ["\u202e" * 65_000, "a\u202e" * 65_000], ids=["run", "mixed"])
def test_a_flood_of_steering_characters_floods_nothing(
    text: str, tmp_path: Path, browser: Browser
) -> None:
    judged = [
        (response((sentence, []), run_id=run), []) for run, sentence in (("a", text), ("b", "B."))
    ]
    browser.open(report(output(tmp_path, *judged)).path, "#/topic/t1")
    assert [column.text for column in browser.all(".column h2")] == ["a", "b"]
    browser.go("#/response/a/t1")
    shown = browser.run("return document.querySelector('.sentence .prose').textContent")
    assert shown in ("\\x202e" * 12 + "… (65000 of them)", "a\\x202e" * 65_000)


def test_a_response_that_cannot_be_shown_hides_no_other(tmp_path: Path, browser: Browser) -> None:
    judged = [(response(("S.", []), run_id=run), []) for run in ("a", "b")]
    path = report(output(tmp_path, *judged)).path
    (packed,) = re.findall(r'id="topic-0">([^<]*)<', path.read_text())
    first, second = unpacked(packed.encode())
    broken = Block()
    broken.add(first | {"tones": None})
    broken.add(second)
    path.write_text(path.read_text().replace(packed, b"".join(broken.pack()).decode()))
    browser.open(path, "#/topic/t1")
    shown, whole = browser.all(".column")
    assert "a\nThis response cannot be shown: " in shown.text
    assert "S." in whole.text


def test_nothing_from_outside_may_be_loaded(sample_page: Path, browser: Browser) -> None:
    browser.open(sample_page)
    script = (
        "const image = new Image(); image.src = 'https://example.org/x.png';"
        "const frame = document.createElement('iframe'); frame.src = 'https://example.org/';"
        "document.body.append(frame); fetch('https://example.org/').catch(() => {});"
    )
    browser.run(script)
    browser.wait("true")
    refused = browser.complaints()
    assert len([line for line in refused if "Content Security Policy" in line]) >= 3
    assert [line for line in refused if "Content Security Policy" not in line] == []
    assert browser.asked() == []


def test_text_cannot_become_markup(sample_page: Path, browser: Browser) -> None:
    browser.open(sample_page)
    script = (
        "try { document.body.innerHTML = '<b>x</b>'; return 'made' }"
        "catch (error) { return error.name }"
    )
    assert browser.run(script) == "TypeError"
    assert all("TrustedHTML" in line for line in browser.complaints())


def test_a_name_of_any_length_fits(tmp_path: Path, browser: Browser) -> None:
    name = "n" * 5_000
    found = judgment(NONE, doc_id=name, citation=name, exists=True)
    judged = (response(("S.", [name]), run_id=name, topic_id=name), [found])
    log = [event | {"kind": "k", "message": "M"} for event in events(name)]
    outputs = output(tmp_path, judged, log=log)
    page = report(outputs, compare=outputs).path
    for view in (f"#/run/{name}", f"#/topic/{name}", f"#/response/{name}/{name}", *VIEWS):
        browser.open(page, view)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), view
        assert name not in browser.text("main")
    assert browser.find("#board tbody bdi").get_attribute("title") == name
    assert browser.run("return document.querySelector('#board tbody th').offsetWidth") < 400


@pytest.mark.parametrize("name", ["../evil", "a/b", "<b>", "-x", ""])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name.replace('/', '_')}.judgments.jsonl").write_text("{}")
    done = command("report", tmp_path, "--name", name or " ")
    assert done.status == 1
    assert list(tmp_path.glob("**/*.html")) == []

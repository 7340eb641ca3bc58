"""The report in a real browser: sorting, filtering, cells, evidence, findings, charts, keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser, Open
from tests.show.html.made import Judged, output, report
from trecjudge.records import FULL, NONE, Evidence, Failure
from trecjudge.results.config import RecordedInputs


def runs(browser: Browser) -> list[str]:
    """Return the runs of the leaderboard that can be seen, in order."""
    return [element.text for element in browser.all("#board tbody th a")]


def test_the_leaderboard_is_there_and_sorts(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/runs")
    assert runs(browser) == ["careful", "uncited", "careless"]
    head = browser.find("#board th[data-key='0'] button")
    head.click()
    assert runs(browser) == ["careful", "careless", "uncited"]
    head.click()
    assert runs(browser) == ["uncited", "careless", "careful"]
    assert head.find_element("xpath", "ancestor::th").get_attribute("aria-sort") == "ascending"


def test_runs_are_filtered(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/runs")
    browser.find("#leaderboard-tools input").send_keys("care")
    assert runs(browser) == ["careful", "careless"]
    assert browser.text("#leaderboard-tools [role=status]") == "2 of 3 runs"


def test_means_of_only_some_topics(sample_page: Path, open_page: Open) -> None:
    def support() -> dict[str, str]:
        rows = browser.all("#board tbody tr")
        values = [row.find_elements("css selector", ".value")[1].text for row in rows]
        return dict(zip(runs(browser), values, strict=True))

    browser = open_page(sample_page, "#/runs")
    whole = support()
    box = browser.all("#leaderboard-tools input")[1]
    box.send_keys("lighthouse")
    assert support() == {"uncited": "1.000", "careful": "0.833", "careless": "0.143"}
    status = "means over 1 of 3 topics, without intervals"
    assert browser.text("#leaderboard-tools [role=status]") == status
    box.clear()
    box.send_keys(" ")
    assert support() == whole


def test_a_cell_of_the_heat_map_opens_the_response(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/heat")
    browser.find("td[data-run=careless][data-topic='12']").click()
    browser.wait("document.title.startsWith('careless on 12')")
    assert browser.run("return location.hash") == "#/response/careless/12"


def test_the_heat_map_shows_a_measure_and_filters(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/heat")
    assert [cell.text for cell in browser.all(".heat td[data-run=careless]")] == [
        ".20",
        ".15",
        ".16",
    ]
    browser.find("#screen select").send_keys("AVG_CITATIONS")
    assert [cell.text for cell in browser.all(".heat td[data-run=careless]")] == ["5", "7", "6"]
    browser.all("#screen select")[1].send_keys("mean, highest")
    assert [cell.text for cell in browser.all(".heat thead th")] == ["12", "13", "11"]
    topics = browser.all("#screen input")[1]
    topics.send_keys("lighthouse")
    assert [cell.text for cell in browser.all(".heat thead th")] == ["12"]
    topics.send_keys("nonsense")
    assert browser.text(".note") == "Nothing fits these filters."


def test_a_citation_shows_the_evidence_in_its_document(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    chips = browser.all(".response .chip")
    assert [" ".join(chip.text.split()) for chip in chips[:4]] == [
        "✗ 1 no_support", "✓ 2 full_support", "✗ 3 no_support", "∅ 4 missing document",
    ]  # fmt: skip
    chips[1].click()
    browser.wait("document.querySelector('.evidence h2').textContent.startsWith('Sentence 2')")
    assert browser.text(".document mark") == (
        "The oil lamp at Skarrow Point gave way to a paraffin burner in 1891. Electricity reached"
        " the headland in 1938, and an electric bulb of 1,000 watts replaced the burner"
    )
    assert "97 % of the sentence's weight" in browser.text(".evidence")
    assert chips[1].get_attribute("aria-current") == "true"
    chips[3].click()
    browser.wait("document.querySelector('.evidence .note')")
    assert (
        browser.text(".evidence .note") == "There is no such document: the citation leads nowhere."
    )


def test_problems_are_gone_through_one_by_one(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12")
    seen = []
    for _ in range(7):
        browser.find(".reading > .tools button").click()
        address = browser.run("return location.hash")
        browser.wait(f"document.querySelector(`.chip[href='{address}'][aria-current]`)")
        seen.append(browser.text("[role=status].hidden"))
    assert seen == [
        "Sentence 3: no_support",
        "Sentence 3: missing document",
        "Sentence 4: no_support",
        "Sentence 5: no_support",
        "Sentence 5: no_support",
        "Sentence 1: no_support",
        "Sentence 3: no_support",
    ]


def test_a_file_that_was_cut_still_shows_its_leaderboard(
    sample_page: Path, tmp_path: Path, browser: Browser
) -> None:
    text = sample_page.read_text()
    cut = tmp_path / "cut.html"
    start = text.index('id="head">') + len('id="head">')
    cut.write_text(text[:start] + text[start + 200 :])
    browser.driver.get(cut.as_uri())
    browser.wait("document.documentElement.dataset.ready === 'without detail'")
    assert browser.text("#home .note").startswith("The detail cannot be read: ")
    assert len(runs(browser)) == 3


def test_a_file_that_was_cut_before_its_scripts_shows_its_charts(
    sample_page: Path, tmp_path: Path, browser: Browser
) -> None:
    text = sample_page.read_text()
    cut = tmp_path / "cut.html"
    for end, shown in ((len(text), 0), (text.index('<script type="text/plain"'), 1)):
        cut.write_text(text[:end])
        browser.driver.get(cut.as_uri())
        browser.wait("document.readyState === 'complete'")
        if not shown:
            browser.wait("document.documentElement.dataset.ready === 'yes'")
        assert bool(browser.all("#charts figure svg")) == bool(browser.all("#about")) == bool(shown)
        assert len(browser.all("#home .first tbody tr")) == 3


def test_an_address_leads_to_a_judgment(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/careless/12/5")
    browser.wait("document.querySelector('.evidence h2')")
    assert browser.text(".evidence h2") == "Sentence 5, document 5"
    box = browser.run(
        "return document.querySelector('[aria-current=true].chip').getBoundingClientRect().top"
    )
    assert 0 < box < 950


def test_all_runs_on_a_topic_stand_side_by_side(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topic/12")
    heads = browser.all(".column h2")
    assert [head.text for head in heads] == ["careful", "uncited", "careless"]
    assert len({head.location["y"] for head in heads}) == 1
    browser.find("#screen .tools input").send_keys("uncited")
    assert [head.text for head in browser.all(".column h2")] == ["uncited"]


def test_topics_and_a_run(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/topics")
    assert [cell.text for cell in browser.all("tbody th")] == ["13", "11", "12"]
    browser.go("#/run/careless")
    assert browser.text("#screen h1 bdi") == "careless"
    assert [cell.text for cell in browser.all("#screen tbody tr:first-child td.number")] == [
        "1.000", "0.200", "5.000", "0.000", "0.200", "0.201", "0.201",
    ]  # fmt: skip


def test_findings_lead_to_their_place(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/findings/citation_out_of_range")
    assert "careless.jsonl:2" in browser.text("#screen")
    assert "cites 9, references has 5" in browser.text("#screen")
    (link,) = browser.all("td a[href='#/response/careless/12']")
    link.click()
    browser.wait("document.title.startsWith('careless on 12')")


def test_equal_findings_are_one_row_that_opens(tmp_path: Path, open_page: Open) -> None:
    note = {"event": "FINDING", "kind": "field_missing", "severity": "note",
            "message": "has no metadata.prompt", "run_id": "r", "topic_id": "t1"}  # fmt: skip
    lost = note | {"kind": "document_missing", "severity": "warning", "message": "cites 'd'"}
    log = [
        *(note | {"place": f"r.jsonl:{i}"} for i in range(1, 406)),
        lost | {"place": "r.jsonl:9"},
    ]
    found = judgment(FULL, doc_id="d", citation="d", exists=True)
    made = output(tmp_path, (response(("S.", ["d"])), [found]), log=log)
    browser = open_page(report(made).path, "#/findings")
    assert browser.text("nav .count") == "1"
    warned, noted = browser.all("#screen table")[1].find_elements("css selector", "tbody tr")
    assert warned.text.startswith("cites 'd'")
    assert "405 places" in noted.text
    noted.find_element("css selector", "summary").click()
    browser.wait("document.querySelectorAll('.places li').length === 405")
    assert browser.text(".places li") == "r.jsonl:1: r on t1"


def test_letters_of_groups_are_explained_with_their_test(
    sample_page: Path, open_page: Open
) -> None:
    browser = open_page(sample_page, "#/runs")
    browser.find("#runs .reads summary").click()
    test = "randomised Tukey HSD over topics, p < 0.05, all 216 permutations"
    assert f"share a letter in a column cannot be told apart ({test})" in browser.text(
        "#runs details"
    )
    assert {cell.text for cell in browser.all("#board .groups")} == {"a"}


def test_too_few_topics_are_said_and_no_letters_shown(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q", "--report", "--set", "leaderboard.test=holm")
    browser = open_page(tmp_path / "x.report.html", "#/runs")
    why = "3 topics are too few for a paired test with Holm's correction to tell any of 3 runs"
    assert why in browser.text("#runs .lead")
    assert not [cell for cell in browser.all("#board .groups") if cell.text]
    assert "share a letter" not in browser.text("#runs .lead")


def test_flips_are_filtered_by_label_and_run(compared_page: Path, open_page: Open) -> None:
    browser = open_page(compared_page, "#/compare")
    rows = "#screen > :last-child tbody tr"
    every = [row.text for row in browser.all(rows)]
    lists = browser.all("#screen .tools select")[-3:]
    label = [option.text for option in lists[0].find_elements("css selector", "option")][1]
    lists[0].send_keys(label)
    kept = [row.text for row in browser.all(rows)]
    assert kept
    assert set(kept) <= set(every)
    assert f"from={label.split(' ')[0]}" in browser.run("return location.hash")
    run = [option.text for option in lists[2].find_elements("css selector", "option")][-1]
    lists[2].send_keys(run)
    assert all(run in row.text for row in browser.all(rows))


def test_claims_stand_under_their_sentence(tmp_path: Path, open_page: Open) -> None:
    workflow = tmp_path / "w.yml"
    workflow.write_text("judge: attribution\ngate: {reject_unless: ATTRIBUTION_RATE >= 0.5}\n")
    sample("rag", tmp_path, "-q", "--report", "--workflow", workflow)
    browser = open_page(tmp_path / "x.report.html", "#/response/careless/12")
    assert (
        browser.text("#screen > .note") == "REJECTED by the gate: ATTRIBUTION_RATE >= 0.5: broken"
    )
    (claim,) = browser.all("[data-sentence='0'] .claim")
    assert claim.text.startswith("✓ Masons from the village of Orvick finished the lighthouse")
    claim.click()
    browser.wait("document.querySelector('.evidence mark')")
    assert "Masons from the village of Orvick cut the stone by hand" in browser.text("mark")
    assert "Building the tower at Skarrow Point" in browser.text(".sources")
    browser.all(".whole .chip")[0].click()
    browser.wait("document.querySelector('.facts')")
    assert len(browser.all(".facts li")) == len(browser.all(".document mark")) > 1
    browser.go("#/findings")
    assert "Marked by the gate" in browser.text("#screen")


def test_detail_beside_the_file_is_read_from_there(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path / "made", "-q")
    command("report", tmp_path / "made", "-q", "--max-size", "0")
    (tmp_path / "made").rename(tmp_path / "moved here")
    page = tmp_path / "moved here" / "x.report.html"
    browser = open_page(page, "#/response/careless/12/1")
    browser.wait("document.querySelector('.document mark')")
    assert browser.text(".document mark").startswith("The oil lamp at Skarrow Point")
    assert "beside it" in browser.text("footer")
    (script,) = page.with_suffix("").glob("topic-1.*.js")
    script.rename(tmp_path / "lost.js")
    browser.open(page, "#/response/careless/12/1")
    assert browser.text("#screen .note") == (
        f"x.report/{script.name} cannot be loaded: keep the folder x.report beside this file; if"
        " the report was written again since this page was opened, reload it"
    )
    assert "ERR_FILE_NOT_FOUND" in browser.complaints()[0]
    (tmp_path / "lost.js").rename(script)
    browser.go("#/topic/12")  # what could not be read is read again
    assert len(browser.all(".column")) == 3


@pytest.mark.parametrize("size", [0, -40], ids=["empty", "cut"])
def test_detail_that_is_damaged_is_told(size: int, tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q")
    command("report", tmp_path, "-q", "--max-size", "0")
    (script,) = (tmp_path / "x.report").glob("topic-1.*.js")
    script.write_bytes(script.read_bytes()[:size])
    browser = open_page(tmp_path / "x.report.html", "#/topic/12")
    told = f"x.report/{script.name} is damaged: copy it again"
    assert browser.text("#screen .note") == told
    assert len(browser.complaints()) == (size != 0)


def test_views_that_want_one_block_at_once_all_get_it(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q")
    command("report", tmp_path, "-q", "--max-size", "0")
    browser = open_page(tmp_path / "x.report.html", "#/judgments")
    browser.run("location.hash = '#/topic/11'")
    browser.wait("document.querySelectorAll('.column').length === 3")


def test_offsets_count_characters_whatever_their_size(tmp_path: Path, open_page: Open) -> None:
    text = "🚋🚋 Before. The tram opened in 2021. 🚋 After."
    start = text.index("The tram")
    evidence = Evidence(start, start + 25, text[start : start + 25])
    moved = Evidence(0, 6, text[start : start + 8])  # of a text that was changed since
    gone = Evidence(0, 6, "Nowhere")
    judged = [
        judgment(FULL, doc_id="d", citation="d", exists=True, evidence=each)
        for each in (evidence, moved, gone)
    ]
    run = {
        "metadata": {"team_id": "x", "run_id": "r", "topic_id": "t1"},
        "responses": [{"text": "The tram opened in 2021.", "citations": ["d"]}],
        "documents": {"d": {"text": text}},
    }
    outputs = output(tmp_path, (response(("The tram opened in 2021.", ["d"])), judged))
    (tmp_path / "run.jsonl").write_text(json.dumps(run))
    page = report(outputs, inputs=RecordedInputs(runs=(tmp_path / "run.jsonl",))).path
    browser = open_page(page, "#/response/r/t1/0")
    assert browser.text(".document mark") == "The tram opened in 2021."
    browser.go_to_judgment(1)
    assert browser.text(".document mark") == "The tram"
    browser.go_to_judgment(2)
    assert browser.text(".evidence .note").startswith("The passage is not in this text")


def test_without_document_text_the_page_says_so(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q", "--report", "--no-document-text")
    browser = open_page(tmp_path / "x.report.html", "#/response/careless/12/1")
    assert browser.text(".evidence .note") == ("The text of this document is not in this report.")
    assert "97 % of the sentence's weight" in browser.text(".evidence")
    browser.go("#/")
    assert browser.text("#home .note") == "text of documents is left out, as requested"


def test_what_is_unjudged_opens_the_mean(tmp_path: Path, open_page: Open) -> None:
    good = judgment(FULL, doc_id="d", citation="d", exists=True)
    failure = Failure("cut", "the reply was cut", 3)
    failed = judgment(doc_id="e", citation="e", exists=True, failure=failure)
    outputs = output(tmp_path, (response(("S.", ["d", "e"])), [good, failed]))
    browser = open_page(report(outputs).path, "#/runs")
    cell = browser.all("#board td.measure")[1]
    assert " ".join(cell.text.split()) == "1.000 0.500 to 1.000"
    assert [cell.text for cell in browser.all("#board td.judged")] == ["1/2"]
    browser.go("#/response/r/t1")
    browser.go_to_judgment(1)
    assert browser.text(".verdict") == "? unjudged"
    assert browser.find("[data-sentence='0']").get_attribute("class") == "sentence good"
    assert browser.text("[data-sentence='0'] .gutter").split()[:3] == ["1", "✓", "?"]
    assert "cut: the reply was cut (3 tries)" in browser.text(".evidence")


def test_intervals_groups_and_labels_of_people(tmp_path: Path, open_page: Open) -> None:
    good = judgment(FULL, doc_id="d", citation="d", exists=True)
    outputs = output(tmp_path, (response(("S.", ["d"])), [good]))
    human = {"labelled": 9, "mean": 0.9, "low": 0.8, "high": 0.95}
    known = {"low": 0.7, "high": 1.0, "groups": ["a", "b"], "human": human}
    line = {
        "run_id": "r", "measure": "CITATION_SUPPORT", "mean": 1.0, "lowest": 1.0, "highest": 1.0,
        "judged": 1, "expected": 1, "lower_is_better": False,
    } | known  # fmt: skip
    outputs.statistics.write_text(json.dumps(line))
    browser = open_page(report(outputs).path, "#/runs")
    cell = browser.all("#board td.measure")[1]
    assert " ".join(cell.text.split()) == "1.000 ab by labels 0.900, 0.800 to 0.950"
    assert len(browser.all("#board .interval")) == 1
    assert "cannot be told apart" in browser.run(
        "return document.querySelector('#runs details').textContent"
    )
    browser.go("#/run/r")
    assert "0.700 to 1.000" in browser.text("#screen")


def test_the_prompt_as_it_was_sent(tmp_path: Path, open_page: Open) -> None:
    good = judgment(FULL, doc_id="d", citation="d", exists=True, attester="llm")
    call = {
        "event": "MODEL_CALL", "run_id": "r", "topic_id": "t1", "sentence_index": 0,
        "citation_id": "d", "program": "attest", "reply": "full_support", "cached": True,
        "messages": [{"role": "system", "content": "Decide."}], "tokens": 12, "try": 0,
    }  # fmt: skip
    outputs = output(tmp_path, (response(("S.", ["d"])), [good]), log=[call])
    outputs.config.write_text("model: {model: small-model}")
    browser = open_page(report(outputs).path, "#/response/r/t1")
    assert "decided by\nllm, small-model" in browser.text(".decision")
    browser.find(".prompt summary").click()
    assert browser.text(".call > p") == "attest · from the cache · 12 tokens"
    assert [pre.text for pre in browser.all(".call pre")] == ["Decide.", "full_support"]


def test_two_outputs_are_compared(compared_page: Path, open_page: Open) -> None:
    browser = open_page(compared_page, "#/compare")
    assert "of 39 items that both judged" in browser.text("#screen .lead")
    assert browser.all(".crossed .diagonal")
    links = browser.all("#screen tbody a.opens")
    assert f"{len(links)} flipped" in browser.text("#screen .lead")
    links[0].click()
    browser.wait("document.querySelector('.evidence .differs')")
    assert "⚠ Flipped" in browser.text(".evidence .differs")
    browser.go("#/agreement")
    assert len(browser.all("figure[data-measure=EXPECTED_CITATION_SUPPORT] .point")) == 6


def test_a_pair_judged_differently_is_marked(tmp_path: Path, open_page: Open) -> None:
    def judged(run_id: str, label: str) -> Judged:
        found = judgment(label, doc_id="d", citation="d", exists=True)
        return response(("The  same sentence.", ["d"]), run_id=run_id), [found]

    failed = judgment(doc_id="d", citation="d", failure=Failure("cut", ""))
    unjudged = response(("The same sentence.", ["d"]), run_id="z"), [failed]
    pairs = (judged("a", FULL), judged("b", NONE), judged("c", FULL), unjudged)
    outputs = output(tmp_path, *pairs)
    browser = open_page(report(outputs).path, "#/topic/t1")
    assert "1 pair of a sentence and a document is judged differently" in browser.text(".differs")
    assert len(browser.all(".column .flag")) == 4
    browser.go("#/response/b/t1")
    browser.wait("document.querySelector('.evidence .differs')")
    assert browser.text(".evidence .differs").splitlines() == [
        "⚠ Judged differently elsewhere", "✓ full_support a", "✓ full_support c", "? unjudged z",
    ]  # fmt: skip


def test_charts_of_the_measure_that_is_chosen(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/charts")
    shown = [figure.text.splitlines()[0] for figure in browser.all("figure figcaption")]
    assert [title.split(" ")[0] for title in shown] == ["Ranks", "EXPECTED_CITATION_SUPPORT"]
    browser.find("#charts select").send_keys("SENTENCE_SUPPORT")
    assert browser.all("figure[data-measure=SENTENCE_SUPPORT] svg")
    assert not browser.all("figure[data-measure=EXPECTED_CITATION_SUPPORT]")


def test_what_is_not_there_is_said(sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page, "#/response/nobody/12")
    assert browser.text("#screen h1") == "No such run"
    browser.go("#/topic/99")
    assert browser.text("#screen h1") == "No such topic"
    browser.go("#/compare")
    assert "--against OTHER adds another" in browser.text("#screen")
    browser.go("#/%E0%A4%A")  # no text that can be decoded
    assert browser.text("#home h1") == "x"


def test_it_works_only_by_keyboard(sample_page: Path, open_page: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = open_page(sample_page, "#/heat")
    cell = browser.find(".heat tbody td[tabindex='0']")
    cell.send_keys(Keys.ARROW_DOWN)
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    focused = browser.driver.switch_to.active_element
    assert (focused.get_attribute("data-run"), focused.get_attribute("data-topic")) == (
        "uncited",
        "12",
    )
    focused.send_keys(Keys.ENTER)
    browser.wait("document.title.startsWith('uncited on 12')")
    assert browser.run("return document.activeElement.id") == "main"


def test_the_link_past_the_head(sample_page: Path, open_page: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = open_page(sample_page, "#/topics")
    browser.find("body").send_keys(Keys.TAB)
    skip = browser.driver.switch_to.active_element
    assert skip.text == "Skip to the content"
    skip.send_keys(Keys.ENTER)
    assert browser.run("return [document.activeElement.id, location.hash]") == ["main", "#/topics"]


@pytest.mark.parametrize(("clicks", "scheme"), [(1, "light"), (2, "dark"), (3, "light dark")])
def test_the_theme_is_chosen(clicks: int, scheme: str, sample_page: Path, open_page: Open) -> None:
    browser = open_page(sample_page)
    for _ in range(clicks):
        browser.find("#theme").click()
    assert browser.run("return getComputedStyle(document.documentElement).colorScheme") == scheme


def test_a_narrow_window_has_the_evidence_below_its_sentence(
    sample_page: Path, open_page: Open
) -> None:
    browser = open_page(sample_page)
    size = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 420} | size)
    try:
        browser.go("#/response/careless/12")
        browser.all(".response .chip")[1].click()
        browser.wait("document.querySelector('[data-sentence=\"1\"] .evidence mark')")
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= 420
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 1400} | size)

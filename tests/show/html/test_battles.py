"""Battles in the report: the matrix, the battles of two runs, two answers side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Open
from tests.show.html.made import Judged, output, report
from tests.show.html.test_labelling import label
from tests.show.html.test_writing import blocks_of
from trecjudge.judging.battles import battles_of
from trecjudge.records import Judgment, Opponent
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.html.figures import win_matrix
from trecjudge.show.html.writing import ReportOptions, write_sheets

REASON = "It names <b>both</b> bridges."


def against(run_id: str, label: str, first: bool | None = None, again: bool = False) -> Judgment:
    met = Opponent(run_id, first, again, words=3)
    return judgment(label, sentence_index=None, reason=REASON, opponent=met)


def answers() -> list[Judged]:
    """Return two runs that met in both orders; run c met nobody."""
    ours = response(("Both say this.", []), ("Only a says this.", []), run_id="a")
    theirs = response(("Both say this.", []), ("Only <i>b</i>.", []), run_id="b")
    won = [against("b", "win", first=True), against("b", "tie", first=False, again=True)]
    lost = [against("a", "loss", first=False), against("a", "tie", first=True, again=True)]
    return [(ours, won), (theirs, lost), (response(("No.", []), run_id="c"), [])]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("battles")
    return report(output(folder, *answers(), judge="battle")).path


def test_the_matrix_has_shares_and_counts_in_the_order_of_the_runs() -> None:
    every = [(r, [replace(j, run_id=r.run_id) for j in own]) for r, own in answers()]
    records = [found for own in every if (found := battles_of(*own))]
    assert win_matrix(records, ["b", "c", "a"]) == {
        "shares": [[None, None, 0.25], [None, None, None], [0.75, None, None]],
        "counts": [[0, 0, 1], [0, 0, 0], [1, 0, 0]],
    }


def test_a_cell_leads_to_the_battles_and_to_both_answers(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/runs")
    browser.go("#/battles")
    assert browser.text("nav [aria-current]") == "Runs"
    cells = {one.text: one for one in browser.all(".heat tbody td a")}
    assert sorted(cells) == [".25", ".75"]
    cells[".75"].click()
    browser.wait('document.querySelector("#screen h1").textContent === "a against b"')
    lines = [one.text for one in browser.all(".battles li")]
    assert "win" in lines[0] and "a was shown first" in lines[0]
    assert "tie" in lines[1] and "b was shown first" in lines[1]
    assert REASON in lines[0]
    browser.all("#screen h2 a")[0].click()
    browser.wait('document.querySelectorAll(".columns .column").length === 2')
    assert [one.text for one in browser.all(".sentence.same")] == ["Both say this."] * 2
    assert "Only <i>b</i>." in browser.text(".columns")


def test_a_response_names_whom_it_met(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/response/a/t1")
    assert "against b: win" in browser.text(".whole").replace("\n", " ")
    assert "win 1" in browser.text("#screen .legend").replace("\n", " ")
    assert browser.text(".evidence a").startswith("Both answers")


def test_a_page_without_battles_has_no_view_of_them(tmp_path: Path, open_page: Open) -> None:
    browser = open_page(report(output(tmp_path, (response(("x", [])), []))).path, "#/battles")
    assert "There are none." in browser.text("#screen")
    assert not [one for one in browser.all("nav a") if one.text == "Battles"]


def test_the_sheet_of_a_team_names_no_other_run(tmp_path: Path) -> None:
    outputs = output(tmp_path, *answers(), judge="battle")
    written = write_sheets(ReportOptions(outputs, sheets=tmp_path / "sheets", runs=["a"]))
    values = json.loads(written[0].path.with_suffix(".json").read_text())
    assert '"b"' not in json.dumps(values)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the battle judge on sample data, which judges by words."""
    folder = tmp_path_factory.mktemp("job")
    assert sample("rag", folder, "-q", "--judge", "battle").status == 0
    return folder


def test_people_decide_battles_blind_and_their_labels_come_back(job: Path, tmp_path: Path) -> None:
    page, given = tmp_path / "l.html", tmp_path / "given.jsonl"
    items = label(job, page, "--top", "6")
    (only,) = blocks_of(page)["head"][0]["sets"]
    assert only["question"] == "Which answer is better?"
    assert [one["word"] for one in only["labels"]] == ["A is better", "tie", "B is better"]
    judged = JudgmentsReader(job / "x.judgments.jsonl")
    said = {
        (j.run_id, j.topic_id, j.opponent.run_id): j.label
        for _, own in judged
        for j in own
        if j.opponent
    }
    keys = [one["key"] for one in items]
    assert {key["run_id"] < key["against"] for key in keys} == {True, False}
    rows = [
        key | {"label": said[key["run_id"], key["topic_id"], key["against"]], "labeller": "anna"}
        for key in keys
    ]
    given.write_text("\n".join(map(json.dumps, rows)))
    done = command("labels", "agree", job / "x", "--labels", given, "--json")
    found = json.loads(done.out)
    assert (found["items"], found["figures"][0]["pooled"]) == (6, 1.0)


def test_the_page_shows_both_answers_and_no_name(
    job: Path, tmp_path: Path, open_page: Open
) -> None:
    items = label(job, tmp_path / "l.html", "--top", "6", "--show-verdict")
    assert {one["verdict"][0] for one in items} <= {"A is better", "tie", "B is better"}
    browser = open_page(tmp_path / "l.html")
    assert [one.text for one in browser.all(".sides h2")] == ["Answer A", "Answer B"]
    names = {one["key"][name] for one in items for name in ("run_id", "against")}
    assert not any(name in browser.text("#item") for name in names)


def test_a_workbook_has_no_room_for_two_answers(job: Path, tmp_path: Path) -> None:
    done = command("labels", "next", job, "--page", tmp_path / "l.xlsx", "--top", "3")
    assert done.status == 1
    assert "give a page, .html" in done.err

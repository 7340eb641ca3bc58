"""Workbooks to label in: what is in them, and labels that come back from either way of marking."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.show.html.made import nuggets_output
from tests.show.html.test_hostile import ATTACKS, hostile, record
from tests.show.html.test_label_page import made_job
from tests.show.html.test_labelling import KEY
from trecjudge.findings import Finding
from trecjudge.inputs.labels import read_labels

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the support judge on sample data."""
    folder = tmp_path_factory.mktemp("job")
    sample("rag", folder, "-q", "--judge", "support")
    return folder


def written(job: Path, target: Path, *flags: str | Path) -> list[dict[str, Any]]:
    """Write a workbook; return its rows."""
    done = command("labels", "next", job, "--page", target, *flags)
    assert (done.status, done.err) == (0, "")
    return rows_of(target)


def rows_of(path: Path) -> list[dict[str, Any]]:
    head, *rows = openpyxl.load_workbook(path)["Items"].iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def mark(path: Path, marks: list[dict[str, Any]]) -> None:
    """Put marks into the rows of a workbook, by column."""
    book = openpyxl.load_workbook(path)
    sheet = book["Items"]
    columns = {cell.value: cell.column for cell in sheet[1]}
    for number, own in enumerate(marks, 2):
        for name, value in own.items():
            sheet.cell(number, columns[name]).value = value
    book.save(path)


@pytest.mark.parametrize("way", ["a list", "crosses"])
def test_labels_come_back_whichever_way_they_are_marked(
    way: str, job: Path, tmp_path: Path
) -> None:
    lines = map(json.loads, (SAMPLES / "rag" / "labels.jsonl").open())
    truth = {tuple(row[part] for part in KEY): row["label"] for row in lines}
    path = tmp_path / "l.xlsx"
    rows = written(job, path, "--top", "20")
    said = [truth[tuple(row[part] for part in KEY)] for row in rows]
    assert len(rows) == 20 and {row["sampled"] for row in rows} == {"random", "ranking"}
    assert all(row["sentence"] in row["context"] and row["passage"] for row in rows)
    marks = [{"label": one} if way == "a list" else {one: "X "} for one in said]
    mark(path, [*({**own, "comment": "=1+1"} for own in marks[:15])])  # the others are open
    found: list[Finding] = []
    labels = read_labels(path, found.append)
    assert found == [] and dict(labels) == {
        tuple(row[part] for part in KEY): one for row, one in zip(rows[:15], said, strict=False)
    }
    done = command("labels", "agree", "--labels", path, job, "--json")
    assert (done.status, json.loads(done.out)["items"]) == (0, 15)
    done = command("job", "rescore", job, "--labels", path)
    assert (done.status, "15 given, 15 of them" in done.out) == (0, True)
    left = written(job, tmp_path / "m.xlsx", "--top", "40", "--labels", path)
    assert not {tuple(row[part] for part in KEY) for row in left} & {*labels}


def test_a_row_with_two_marks_is_told(job: Path, tmp_path: Path) -> None:
    path = tmp_path / "l.xlsx"
    written(job, path, "--top", "4")
    mark(path, [
        {"full_support": "x", "no_support": "x"}, {"label": "no_support", "full_support": "x"},
        {"label": "no_support", "no_support": "✓"}, {"label": "full_support"},
    ])  # fmt: skip
    found: list[Finding] = []
    assert len(read_labels(path, found.append)) == 2
    assert [(one.kind, str(one.place), one.message) for one in found] == [
        ("label_contradicted", f"{path}:2",
         "sheet 'Items', row 2 is marked 'full_support' and 'no_support': give it one label"),
        ("label_contradicted", f"{path}:3",
         "sheet 'Items', row 3 is marked 'full_support' and 'no_support': give it one label"),
    ]  # fmt: skip


def test_texts_are_no_formulas_and_the_verdict_is_hidden(tmp_path: Path) -> None:
    texts = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", *ATTACKS.values(), "x"]
    texts = [text for text in texts if not set(text) & {*"\u202e\u200b", "\t"}]
    job = made_job(
        tmp_path, [(one, own[:1]) for one, own in map(hostile, texts)], list(map(record, texts))
    )
    path = tmp_path / "l.xlsx"
    rows = written(job, path, "--by", "random")
    assert {row["sentence"] for row in rows} == {*texts} and "verdict" not in rows[0]
    with zipfile.ZipFile(path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet and b"quotePrefix" in book.read("xl/styles.xml")
    mark(path, [{"label": "full_support"}] * len(rows))
    assert len(read_labels(path, pytest.fail)) == len(texts)
    written(job, path, "show-verdict", "--by", "random")
    sheet = openpyxl.load_workbook(path)["Items"]
    column = next(cell.column_letter for cell in sheet[1] if cell.value == "verdict")
    assert sheet.column_dimensions[column].hidden


def test_an_id_that_a_cell_would_change_is_refused(tmp_path: Path) -> None:
    (one, own), text = hostile("a\u202eb"), "a\u202eb"
    job = made_job(tmp_path, [(one, own[:1])], [record(text)])
    done = command("labels", "next", job, "--page", tmp_path / "l.xlsx")
    assert "a workbook cannot hold" in done.err and not (tmp_path / "l.xlsx").exists()


def test_nuggets_and_a_guideline(tmp_path: Path) -> None:
    outputs = nuggets_output(tmp_path, a="snpc")
    outputs.config.write_text("{}")
    rules = tmp_path / "rules.md"
    rules.write_text("# How\n\n- =Look twice.")
    rows = written(tmp_path, tmp_path / "l.xlsx", f"guideline={rules}", "--by", "random")
    assert {row["look_for"] for row in rows} >= {"The tower is 34 m high."}
    mark(tmp_path / "l.xlsx", [{"support": "x"}] * len(rows))
    assert {*read_labels(tmp_path / "l.xlsx", pytest.fail).values()} == {"support"}
    book = openpyxl.load_workbook(tmp_path / "l.xlsx")
    assert [row[0].value for row in book["Guideline"]] == ["How", "=Look twice."]


def test_people_have_a_workbook_each(job: Path, tmp_path: Path) -> None:
    done = command("labels", "next", job, "--page", tmp_path / "l.xlsx", "--assign", "2", "-q")
    assert done.status == 0
    people = [rows_of(tmp_path / f"l-{n}.xlsx") for n in (1, 2)]
    assert [{row["labeller"] for row in own} for own in people] == [{"person 1"}, {"person 2"}]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"topic_id", "is no workbook"), (b"PK\x03\x04 cut", "is no workbook"), (b"", "no workbook")],
)
def test_what_is_no_workbook_is_told(content: bytes, told: str, job: Path, tmp_path: Path) -> None:
    (tmp_path / "l.xlsx").write_bytes(content)
    done = command("labels", "agree", "--labels", tmp_path / "l.xlsx", job)
    assert done.status == 1 and told in done.err and "Traceback" not in done.err


def test_a_workbook_that_swells_is_not_unpacked(job: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "l.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", b"0" * (300 << 20))
    done = command("labels", "agree", "--labels", tmp_path / "l.xlsx", job)
    assert done.status == 1 and "(unpacked)" in done.err


def test_a_far_cell_costs_nothing(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Topic ID", "run_id", "Full support", "No support"])
    book.active.append([161, "r", "x", None])
    book.active["XFD9000"].value = "far"
    book.save(tmp_path / "l.xlsx")
    assert dict(read_labels(tmp_path / "l.xlsx", pytest.fail)) == {
        ("161", "r", None, None): "full_support"
    }


def test_the_package_is_named_where_it_is_missing(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "old.xlsx").write_bytes(b"PK")
    for flags in (("--page", tmp_path / "l.xlsx"), ("--labels", tmp_path / "old.xlsx")):
        done = command("labels", "next", job, *flags)
        assert done.status == 1 and "pip install 'trecjudge[xlsx]'" in done.err
    assert not (tmp_path / "l.xlsx").exists()


def test_votes_have_no_place_in_a_workbook(job: Path, tmp_path: Path) -> None:
    labels = SAMPLES / "rag" / "labels.jsonl"
    done = command(
        "labels", "next", job, "--by", "disagreements", "--labels", labels, "--page", "l.xlsx"
    )
    assert done.status == 1 and "--by disagreements: a workbook has no place for votes" in done.err

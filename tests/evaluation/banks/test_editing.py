"""Banks as tables: a round trip changes nothing, and what cannot be read loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.evaluation.banks.editing import (
    COLUMNS,
    BankEdit,
    edit_banks,
    safe,
    unsafe,
    write_table,
)
from trecjudge.findings import Finding
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import banks_in, fields_lost, record_of, write_in_place
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.records import GoldAnswer, Nugget

BANK = {
    "query_id": "901",
    "title_query": "lights",
    "mine": [1],
    "nugget_bank": {
        "When?": {
            "question": "When?",
            "question_id": "q1",
            "importance": "vital",
            "colour": "red",
            "answers": {
                "1871": {
                    "answer": "1871",
                    "sure": True,
                    "references": [{"doc_id": "L1", "offsets": {"start_offset": 3}}],
                },
                "in 1871": {"answer": "in 1871", "references": [{"doc_id": "L2"}]},
            },
        }
    },
    "claim_bank": {
        "It is red.": {"claim": "It is red.", "claim_id": "c1", "references": [{"doc_id": "L1"}]}
    },
}
HEAD = "\t".join(COLUMNS) + "\n"


def read(path: Path) -> list[Bank]:
    return list(banks_in([path], lambda finding: None))


@pytest.fixture
def banks(write: Write) -> list[Bank]:
    return read(write(json.dumps(BANK), "bank.json"))


def after(banks: list[Bank], rows: str, write: Write) -> tuple[BankEdit, list[str]]:
    """Return the banks as a table of these rows says, and the findings by line."""
    findings: list[Finding] = []
    done = edit_banks(banks, write(HEAD + rows, "t.tsv"), findings.append)
    return done, [f"{f.place.line}: {f.kind}" for f in findings]


def row(*cells: str, **more: str) -> str:
    """Return a row of (nugget_id, kind, text, answer) of topic 901, with other cells by name."""
    known = dict(zip(("nugget_id", "kind", "text", "answer"), cells, strict=False))
    found = {"keep": "y", "topic_id": "901"} | known | more
    return "\t".join(found.get(name, "") for name in COLUMNS) + "\n"


@pytest.mark.parametrize("name", ["t.tsv", "t.jsonl"])
def test_a_table_gives_the_same_bank(name: str, banks: list[Bank], tmp_path: Path) -> None:
    assert write_table(banks, tmp_path / name) == 3
    findings: list[Finding] = []
    done = edit_banks(banks, tmp_path / name, findings.append)
    assert (done.banks, done.same, findings) == (banks, 2, [])
    assert write_in_place(done.banks, banks) == []


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        pytest.param("=1+1", "'=1+1", id="a formula"),
        pytest.param("-5 degrees", "'-5 degrees", id="a minus"),
        pytest.param("'=1", "''=1", id="an apostrophe of its own"),
        pytest.param("'tis", "'tis", id="a word"),
        pytest.param("two\nlines", "two\\nlines", id="two lines"),
        pytest.param("C:\\new", "C:\\\\new", id="a backslash"),
        pytest.param("a\\b", "a\\b", id="a backslash that means nothing"),
    ],
)
def test_cells_are_safe_for_spreadsheets(text: str, cell: str) -> None:
    assert (safe(text), unsafe(cell)) == (cell, text)


@given(st.text(alphabet="'=+-@\\ntr\n\t\r ab\"") | st.text())
def test_any_text_comes_back(text: str) -> None:
    assert unsafe(safe(text)) == text
    assert "\n" not in safe(text) and "\t" not in safe(text)


def test_rows_that_are_not_kept_go(banks: list[Bank], write: Write) -> None:
    rows = row("q1", "question", "When?", "1871", importance="vital", documents="L1")
    rows += row("q1", "question", "When?", "in 1871", keep="n")
    done, findings = after(banks, rows + row("c1", "statement", "It is red.", keep="no"), write)
    (nugget,) = done.banks[0].nuggets
    assert nugget.answers == (GoldAnswer("1871", ("L1",)),)
    assert (done.changed, done.dropped, findings) == (1, 1, [])


def test_a_row_without_an_id_is_a_new_nugget(banks: list[Bank], write: Write) -> None:
    rows = row("c1", "statement", "It is red.", documents="L1")
    done, _ = after(banks, rows + row("", "", "It is high.", documents="L3 | L4"), write)
    assert [n.text for n in done.banks[0].nuggets] == ["It is red.", "It is high."]
    assert done.banks[0].nuggets[1].documents == ("L3", "L4")
    assert (done.same, done.added, done.dropped) == (1, 1, 1)


def test_unknown_keys_are_kept(banks: list[Bank], write: Write) -> None:
    rows = row("q1", "question", "When was it lit?", "1871", documents="L1", importance="okay")
    done, _ = after(banks, rows + row("c1", "statement", "It is red.", documents="L1"), write)
    record = record_of(done.banks[0], bank_format_named("autoargue"))
    question = record["nugget_bank"]["When was it lit?"]
    assert (record["mine"], question["colour"], question["importance"]) == ([1], "red", "okay")
    answer = question["answers"]["1871"]
    assert answer["sure"] is True
    assert answer["references"] == [{"doc_id": "L1", "offsets": {"start_offset": 3}}]


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        pytest.param(row("c1", "statement", "It is red.", keep="maybe"), "2", id="keep"),
        pytest.param(row("c1", "statement", "It is red.", importance="high"), "2", id="importance"),
        pytest.param(row("c1", "statement", "It is red.", aggregator="SUM"), "2", id="aggregator"),
        pytest.param(row("c1", "statement", " "), "2", id="no text"),
        pytest.param(row("c1", "claim", "It is red."), "2", id="kind"),
        pytest.param("y\t901\tc1" + "\t" * 20 + "x\n", "2", id="too many cells"),
    ],
)
def test_what_cannot_be_read_is_found_and_stays(
    bad: str, line: str, banks: list[Bank], write: Write
) -> None:
    rows = row("q1", "question", "When?", "1871", documents="L1", importance="vital")
    done, findings = after(banks, bad + rows, write)
    assert findings == [f"{line}: table_row_unusable"]
    assert "It is red." in [nugget.text for nugget in done.banks[0].nuggets]


def test_a_row_of_another_topic_is_found(banks: list[Bank], write: Write) -> None:
    done, findings = after(banks, row("c1", "statement", "x", topic_id="7"), write)
    assert (done.banks, findings) == (banks, ["2: table_row_unusable"])


def test_rows_of_a_nugget_that_differ_are_found(banks: list[Bank], write: Write) -> None:
    rows = row("q1", "question", "When?", "1871") + row("q1", "question", "Where?", "here")
    done, findings = after(banks, rows, write)
    assert done.banks[0].nuggets[0].text == "When?"
    assert findings == ["3: table_rows_differ"]


def test_a_table_without_its_columns_is_refused(banks: list[Bank], write: Write) -> None:
    with pytest.raises(InputError, match="no nugget_id"):
        edit_banks(banks, write("topic_id\ttext\n", "t.tsv"), lambda finding: None)


def test_banks_are_changed_in_their_own_files(write: Write) -> None:
    path = write(json.dumps(BANK) + "\n" + json.dumps(BANK | {"query_id": "902"}) + "\n", "b.jsonl")
    banks = read(path)
    rows = row("c1", "statement", "It is blue.", documents="L1")
    done, _ = after(banks, rows, write)
    assert write_in_place(done.banks, banks) == [path]
    again = read(path)
    assert [n.text for n in again[0].nuggets] == ["It is blue."]
    assert again[1] == banks[1]


@pytest.mark.parametrize(
    ("name", "lost"),
    [("autoargue", []), ("nuggetizer", ["documents", "source"]), ("rag25_nuggets", ["documents"])],
)
def test_what_a_format_does_not_keep_is_known(name: str, lost: list[str]) -> None:
    nugget = Nugget("1", "It is red.", importance="vital", documents=("L1",), source="a, b")
    assert fields_lost(Bank("901", (nugget,)), bank_format_named(name)) == lost


CRITERIA = {
    "qid": "901",
    "rubrics": [
        {"criterion": "Names the keeper", "weight": 5, "axis": "Explicit"},
        {"criterion": "Says that it was of wood", "weight": -2.5, "axis": "Implicit"},
    ],
}


@pytest.mark.parametrize("name", ["t.tsv", "t.jsonl"])
def test_weights_and_axes_are_in_the_table(name: str, tmp_path: Path, write: Write) -> None:
    (bank,) = banks_in([write(json.dumps(CRITERIA), "b.json")], lambda finding: None)
    write_table([bank], tmp_path / name)
    assert edit_banks([bank], tmp_path / name, lambda finding: None).banks == [bank]
    changed = (tmp_path / name).read_text().replace("-2.5", "-4")
    (tmp_path / name).write_text(changed.replace('"-4"', "-4"))
    (found,) = edit_banks([bank], tmp_path / name, lambda finding: None).banks
    assert [n.weight for n in found.nuggets] == [5.0, -4.0]
    assert record_of(found, bank_format_named("criteria"))["rubrics"][1]["weight"] == -4


def test_a_row_whose_weight_is_none_keeps_the_bank_as_it_is(tmp_path: Path, write: Write) -> None:
    (bank,) = banks_in([write(json.dumps(CRITERIA), "b.json")], lambda finding: None)
    write_table([bank], tmp_path / "t.tsv")
    (tmp_path / "t.tsv").write_text((tmp_path / "t.tsv").read_text().replace("-2.5", "much"))
    reported: list[Finding] = []
    assert edit_banks([bank], tmp_path / "t.tsv", reported.append).banks == [bank]
    assert "weight is 'much', give a number from -100 to 100" in reported[0].message

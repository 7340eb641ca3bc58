"""Banks written again: nothing that the format can hold is lost, and no two topics share a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.inputs.nuggets.test_reading import (
    DRAGUN,
    EXAM,
    NEUCLIR,
    NUGGETIZER,
    RAG25,
    RAGTIME,
    V3,
    banks,
)
from trecjudge.inputs.nuggets.bank_files import read_banks, record_of, write_banks
from trecjudge.inputs.nuggets.bank_formats import bank_format_named, bank_format_of, bank_formats

EVERY = [V3, RAGTIME, NEUCLIR, NUGGETIZER, RAG25, DRAGUN, EXAM]
NAMES = [format_.NAME for format_ in bank_formats()]


@pytest.mark.parametrize("text", EVERY)
def test_a_bank_comes_back_byte_for_byte(text: str, tmp_path: Path) -> None:
    odd = text[:-1] + ', "kept": {"by": ["nobody", 1.50]}}'
    found, _ = banks(tmp_path, odd)
    target = tmp_path / "again.jsonl"
    write_banks(found.values(), target, bank_format_named(found["9"].format))
    assert json.loads(target.read_text()) == json.loads(odd)
    assert target.read_text() == odd.replace("1.50", "1.5") + "\n"


@pytest.mark.parametrize("text", EVERY)
def test_an_edited_bank_keeps_unknown_keys(text: str, tmp_path: Path) -> None:
    found, _ = banks(tmp_path, text[:-1] + ', "kept": 1}')
    bank = found["9"]
    edited = replace(bank, nuggets=(replace(bank.nuggets[0], text="Of copper?"),))
    record = record_of(edited, bank_format_named(bank.format))
    assert record["kept"] == 1
    assert "Of copper?" in json.dumps(record) and "Of what?" not in json.dumps(
        list(record.values())
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [V3, NUGGETIZER, DRAGUN], ids=["v3", "nuggetizer", "dragun"])
def test_every_format_is_written_as_every_other(text: str, name: str, tmp_path: Path) -> None:
    found, _ = banks(tmp_path, text)
    record = record_of(found["9"], bank_format_named(name))
    format_ = bank_format_of(record)
    assert format_ is not None and name == format_.NAME


@pytest.mark.parametrize("name", ["ragtime26", "neuclir24", "dragun_rubric"])
def test_questions_survive_a_journey(name: str, tmp_path: Path) -> None:
    found, _ = banks(tmp_path, V3.replace('"AND"', '"OR"'))
    write_banks(found.values(), tmp_path / "there.jsonl", bank_format_named(name))
    (nugget,) = read_banks([tmp_path / "there.jsonl"], lambda finding: None)["9"].nuggets
    (before,) = found["9"].nuggets
    assert (nugget.text, nugget.together) == (before.text, before.together)
    assert [(a.text, a.documents) for a in nugget.answers] == [("tin", ("K1",))]


@pytest.mark.parametrize("name", ["autoargue", "dragun_rubric"])
def test_two_topics_never_share_a_file(name: str, tmp_path: Path) -> None:
    found, _ = banks(tmp_path, "\n".join(V3.replace('"9"', f'"{t}"') for t in ("a/b", "a_b", "..")))
    files = write_banks(found.values(), tmp_path / "out", bank_format_named(name))
    assert len({file.name for file in files}) == 3
    assert all(file.parent == tmp_path / "out" for file in files)
    assert read_banks([tmp_path / "out"], lambda finding: None).keys() == {"a/b", "a_b", ".."}

"""Banks of nuggets: known by their records, what is odd in them, and written again."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import read_banks, record_of, report_unmatched, write_banks
from trecjudge.inputs.nuggets.bank_formats import bank_format_named, bank_format_of, bank_formats
from trecjudge.records import GoldAnswer

V3 = (
    '{"query_id": "9", "title_query": "Kettles", "format_version": "v3", "nugget_bank": {"Of'
    ' what?": {"question": "Of what?", "answers": {"tin": {"answer": "tin", "references":'
    ' [{"doc_id": "K1"}]}},'
    ' "question_id": "ab", "aggregator_type": "AND", "importance": "vital"}}}'
)
RAGTIME = (
    '{"metadata": {"topic_id": "9", "run_id": "bank"}, "nugget_bank": [{"question": "Of what?",'
    ' "aggregator_type": "AND", "importance": "vital", "answers": [{"answer": "tin",'
    ' "references": ["K1"]}]}]}'
)
NEUCLIR = (
    '{"query_id": "9", "items": [{"question_id": "9_0", "question_text": "Of what?", "info":'
    ' {"importance": "vital", "aggregator_type": "AND"}, "gold_answers": [{"answer": "tin",'
    ' "citations": ["K1"]}]}]}'
)
NUGGETIZER = (
    '{"query": "Kettles", "qid": "9", "nuggets": [{"text": "Of tin", "importance": "vital"}]}'
)
RAG25 = (
    '{"qid": "9", "nuggets": [{"text": "Of tin", "mapped_sub_narrative": "\\"Metal\\"",'
    ' "importance": "okay", "source": "post-edit"}]}'
)
DRAGUN = (
    '{"topic_id": 9, "rubrics": [{"question_id": "9-Q-1", "question_text": "Of what?",'
    ' "importance": "B: Good to Know", "short_answers": [{"answer_id": "na-1", "answer": "tin",'
    ' "references": ["K1"]}]}]}'
)
EXAM = (
    '{"query_id": "9", "facet_id": "f", "facet_text": "Metal", "items": [{"question_id": "9/f/1",'
    ' "question_text": "Of what?"}, {"nugget_id": "9/f/2", "nugget_text": "Of tin"}]}'
)


def banks(folder: Path, text: str, name: str = "b.jsonl") -> tuple[dict[str, Bank], list[Finding]]:
    """Return the banks of a file with this text, and what was reported."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    found: list[Finding] = []
    return read_banks([path], found.append), found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (V3, "autoargue"),
        (RAGTIME, "ragtime26"),
        (NEUCLIR, "neuclir24"),
        (NUGGETIZER, "nuggetizer"),
        (RAG25, "rag25_nuggets"),
        (DRAGUN, "dragun_rubric"),
        (EXAM, "exam"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_a_format_is_known_by_its_record(text: str, name: str, tmp_path: Path) -> None:
    found, _ = banks(tmp_path, text)
    assert [(bank.format, bank.topic_id) for bank in found.values()] == [(name, "9")]


@pytest.mark.parametrize("text", [V3, RAGTIME, NEUCLIR], ids=["v3", "ragtime26", "neuclir24"])
def test_three_formats_hold_the_same_question(text: str, tmp_path: Path) -> None:
    (nugget,) = banks(tmp_path, text)[0]["9"].nuggets
    assert (nugget.text, nugget.is_question, nugget.together) == ("Of what?", True, True)
    assert (nugget.importance, nugget.answers) == ("vital", (GoldAnswer("tin", ("K1",)),))


def test_a_statement_is_its_own_answer(tmp_path: Path) -> None:
    (nugget,) = banks(tmp_path, RAG25)[0]["9"].nuggets
    assert nugget.gold_answers == (GoldAnswer("Of tin"),)
    assert (nugget.group, nugget.source, nugget.importance) == ('"Metal"', "post-edit", "okay")


def test_a_rubric_keeps_its_degree_and_its_answer_ids(tmp_path: Path) -> None:
    (nugget,) = banks(tmp_path, DRAGUN)[0]["9"].nuggets
    assert (nugget.nugget_id, nugget.importance) == ("9-Q-1", "B")
    assert nugget.answers == (GoldAnswer("tin", ("K1",), "na-1"),)


def test_facets_of_one_topic_are_one_bank(tmp_path: Path) -> None:
    other = EXAM.replace("Metal", "Use").replace("/f/", "/g/")
    found, reported = banks(tmp_path, f"{EXAM}\n{other}\n", "b.jsonl.gz")
    assert [nugget.group for nugget in found["9"].nuggets] == ["Metal", "Metal", "Use", "Use"]
    assert [nugget.nugget_id for nugget in found["9"].nuggets][2:] == ["9/g/1", "9/g/2"]
    assert {f.kind for f in reported} == {"nugget_unanswerable", "nugget_importance_missing"}


def test_one_question_in_several_items_has_the_answers_of_all(tmp_path: Path) -> None:
    item = '{"question_text": "Of what?", "gold_answers": [{"answer": "%s", "citations": ["%s"]}]}'
    items = ", ".join([item % ("tin", "K1"), item % ("copper", "K2"), item % ("tin", "K3")])
    found, reported = banks(tmp_path, f'{{"query_id": "9", "items": [{items}]}}')
    (nugget,) = found["9"].nuggets
    assert nugget.answers == (GoldAnswer("tin", ("K1", "K3")), GoldAnswer("copper", ("K2",)))
    assert [f.kind for f in reported] == ["nugget_repeated", "nugget_importance_missing"]


QUESTION = '{"metadata": {"topic_id": "9"}, "nugget_bank": [{"question": "Of what?", %s}]}'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (QUESTION % '"answers": []', "nugget_unanswerable"),
        (QUESTION % '"answers": [{"answer": "tin"}]', "nugget_answer_undocumented"),
        (
            QUESTION
            % '"aggregator_type": "AND", "answers": [{"answer": "x", "references": ["d"]}]',
            "nugget_single_and",
        ),
        (
            QUESTION
            % '"aggregator_type": "NOT", "answers": [{"answer": "x", "references": ["d"]}]',
            "nugget_aggregator_unknown",
        ),
        (
            QUESTION % '"importance": "high", "answers": [{"answer": "x", "references": ["d"]}]',
            "nugget_importance_unknown",
        ),
        (QUESTION % '"answers": [7]', "nugget_unusable"),
        (QUESTION % '"answers": "tin"', "nugget_unusable"),
        (QUESTION.replace("Of what?", " ") % '"answers": []', "nugget_unusable"),
        (QUESTION.replace('"9"', "9") % '"answers": []', "nugget_id_number"),
        (
            QUESTION % '"answers": [{"answer": "x", "references": [{}, "d"]}]',
            "nugget_reference_unusable",
        ),
        ('{"metadata": {}, "nugget_bank": [{"question": "Q?"}]}\n' + V3, "nugget_bank_topicless"),
        ('{"title": "Kettles"}\n' + V3, "nugget_bank_unknown"),
        (V3 + "\n" + V3, "nugget_bank_repeated"),
        (NUGGETIZER.replace("vital", "failed"), "nugget_importance_unknown"),
        ('{"qid": "9", "nuggets": [{"text": "A"}, {"text": "a "}]}', "nugget_repeated"),
        ('{"qid": "9", "nuggets": []}', "nugget_bank_empty"),
    ],
    ids=lambda value: value if value.startswith("nugget_") else "",
)
def test_what_is_odd_is_reported_with_its_place(text: str, kind: str, tmp_path: Path) -> None:
    _, reported = banks(tmp_path, text)
    (finding,) = [f for f in reported if f.kind == kind]
    assert str(finding).startswith(f"{tmp_path / 'b.jsonl'}:")


def test_no_bank_at_all_names_the_formats(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no bank of nuggets in it.*nugget_bank.*rubrics"):
        banks(tmp_path, '{"title": "Kettles"}')


def test_topics_and_banks_without_each_other_are_reported(tmp_path: Path) -> None:
    found, _ = banks(tmp_path, V3)
    reported: list[Finding] = []
    report_unmatched(found, ["7", "8"], ["8"], reported.append)
    kinds = [(f.kind, f.topic_id) for f in reported]
    assert kinds == [("nugget_topic_unknown", "9"), ("nugget_bank_missing", "8")]


BANKS = {
    "none": ([("1", ""), ("2", "")], "2 of 2 banks have no importance: topic 1, 2"),
    "one": ([("1", "okay"), ("2", "")], "1 of 2 banks have no importance: topic 2"),
    "the only one": ([("1", "")], "the bank has no importance: topic 1"),
    "one that has it": ([("1", "okay")], ""),
}


@pytest.mark.parametrize(("records", "wanted"), BANKS.values(), ids=BANKS)
def test_banks_without_importance_are_said_once(
    records: list[tuple[str, str]], wanted: str, tmp_path: Path
) -> None:
    line = '{"qid": "%s", "nuggets": [{"text": "Of tin", "importance": "%s"}]}'
    _, reported = banks(tmp_path, "\n".join(line % one for one in records))
    assert [f.message for f in reported] == ([wanted] if wanted else [])


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

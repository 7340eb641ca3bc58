"""`nuggets create` and `nuggets edit` from the command line, with a model on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, Done, command
from tests.endpoint import Answer, serving, text_of
from tests.reading import records_in
from trecjudge.inputs.nuggets.bank_files import banks_in

RAG = SAMPLES / "rag"
GIVEN = ("--rag-topics", RAG / "topics.jsonl", "--rag-responses", RAG / "runs")
DOCUMENTS = ("--documents", RAG / "documents.jsonl")


def create(folder: Path, *flags: str | Path, name: str = "bank.jsonl") -> Done:
    return command("nuggets", "create", folder / name, *GIVEN, *DOCUMENTS, *flags)


@pytest.mark.parametrize("flag", ["--from-documents", "--from-runs"])
def test_a_bank_without_a_model_judges_runs(flag: str, tmp_path: Path) -> None:
    assert create(tmp_path, flag).status == 0
    trail = records_in(tmp_path / "bank.trail.jsonl")
    assert all((line["passages"] or line["said"]) and line["by"] == "words" for line in trail)
    given = (*GIVEN, "--nuggets", tmp_path / "bank.jsonl", "--out-dir", tmp_path / "out")
    assert command("--judge", "nuggets", *given, "-q").status == 0
    judged = records_in(tmp_path / "out" / "default.judgments.jsonl")
    ids = {record["nugget"]["nugget_id"] for record in judged if record.get("nugget")}
    assert ids == {line["nugget_id"] for line in trail}


@pytest.mark.parametrize("to", ["autoargue", "ragtime26", "nuggetizer", "dragun_rubric", "exam"])
def test_a_bank_is_written_in_any_format(to: str, tmp_path: Path) -> None:
    done = create(tmp_path, "--from-documents", "--to", to, name="banks")
    assert done.status == 0
    assert ("no documents" in done.err) == (to in ("nuggetizer", "exam"))
    banks = list(banks_in([tmp_path / "banks"], lambda finding: None))
    assert {bank.format for bank in banks} == {to}
    assert sum(len(bank.nuggets) for bank in banks) == len(
        records_in(tmp_path / "banks.trail.jsonl")
    )


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        create(tmp_path, "--from-documents", "--from-runs", name=name)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "--from documents"),
        (("--from-topic",), "needs a model: add --use-env-llm"),
        (("--from-runs", "--to", "argue"), "there are: "),
        (("--from-runs", "--plan"), "only with --use-env-llm"),
        (("--from-runs", "--topic", "nine"), "unknown topic 'nine'"),
    ],
)
def test_what_cannot_be_asked_for(flags: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = create(tmp_path, *flags)
    assert (done.status, list(tmp_path.iterdir())) == (1, [])
    assert message in done.err


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """Return what each of the programs is answered."""
    name = body["response_format"]["json_schema"]["name"]
    text = text_of(body)
    if name == "find_nuggets":
        return {"updated": [{"text": f"Fact {len(text)}", "documents": [1]}]}
    if name == "find_stated":
        return {"stated": [{"text": "The tower is of granite", "sentence": 1}]}
    if name == "propose_questions":
        return {"questions": [{"question": "When was it built?", "answer": "1862"}]}
    listed = json.loads(re.findall(r"\[\[ ## nuggets ## \]\]\n(\[.*?\])\n\n", text, re.DOTALL)[-1])
    count = len(listed)
    numbers = range(1, count + 1)
    if name == "weigh_nuggets":
        return {"labels": [{"number": n, "label": "vital"} for n in numbers]}
    return {"matches": [{"number": n, "same_as": n} for n in numbers]}


class Asked:
    """A model on loopback that answers all programs but the `broken` one."""

    def __init__(self, broken: str = "-") -> None:
        self.broken = broken
        self.names: list[str] = []

    def __call__(self, body: dict[str, Any], number: int) -> Answer:
        name = body["response_format"]["json_schema"]["name"]
        self.names.append(name)
        return Answer("I cannot." if name == self.broken else json.dumps(reply(body)))

    def create(self, folder: Path, *flags: str, times: int = 1) -> Done:
        """Make a bank with this model, some times in a row; return the last end."""
        with serving(self) as endpoint, pytest.MonkeyPatch.context() as patch:
            for name, value in endpoint.environment().items():
                patch.setenv(name, value)
            for _ in range(times):
                done = create(folder, *flags, "--use-env-llm", "--cache-dir", folder / "cache")
        return done


@pytest.mark.parametrize(
    ("flag", "program"),
    [
        ("--from-documents", "find_nuggets"),
        ("--from-runs", "find_stated"),
        ("--from-topic", "propose_questions"),
    ],
)
def test_a_bank_with_a_model(flag: str, program: str, tmp_path: Path) -> None:
    once, twice = Asked(), Asked()
    done = once.create(tmp_path / "once", flag)
    assert done.status == 0, done.err
    assert {program, "weigh_nuggets"} <= set(once.names)
    trail = records_in(tmp_path / "once" / "bank.trail.jsonl")
    assert trail and {line["importance"] for line in trail} == {"vital"}
    assert twice.create(tmp_path / "twice", flag, times=2).status == 0
    assert len(twice.names) == len(once.names)  # the rest was in the cache


def test_what_a_model_cannot_say_is_said_and_the_rest_written(tmp_path: Path) -> None:
    done = Asked(broken="weigh_nuggets").create(tmp_path, "--from-documents")
    assert done.status == 3
    assert "the importance of 1 nuggets" in done.err
    assert {line["importance"] for line in records_in(tmp_path / "bank.trail.jsonl")} == {""}


def test_a_plan_asks_nothing(tmp_path: Path) -> None:
    model = Asked()
    done = model.create(tmp_path, "--from-documents", "--from-topic", "--plan")
    topics = len(records_in(RAG / "topics.jsonl"))
    assert (done.status, model.names) == (0, [])
    assert f"{2 * topics} calls to make" in done.out
    assert not (tmp_path / "bank.jsonl").exists()


def test_a_bank_is_edited_as_a_table(tmp_path: Path) -> None:
    create(tmp_path, "--from-documents")
    bank, table = tmp_path / "bank.jsonl", tmp_path / "bank.tsv"
    before = bank.read_bytes()
    assert command("nuggets", "edit", bank, "--to-table", table).status == 0
    assert command("nuggets", "edit", bank, "--from-table", table).status == 0
    assert bank.read_bytes() == before
    head, first, *rest = table.read_text().splitlines(keepends=True)
    table.write_text("".join([head, "n" + first[1:], *rest]))
    done = command("nuggets", "edit", bank, "--from-table", table, "--output", tmp_path / "new")
    assert (done.status, bank.read_bytes()) == (0, before)
    assert "dropped: 1" in done.err
    assert len(list((tmp_path / "new").iterdir())) == len(records_in(bank))


def test_a_row_that_cannot_be_read_ends_with_3(tmp_path: Path) -> None:
    create(tmp_path, "--from-documents")
    bank, table = tmp_path / "bank.jsonl", tmp_path / "bank.tsv"
    command("nuggets", "edit", bank, "--to-table", table)
    table.write_text(table.read_text().replace("\nn", "\nn").replace("\ny\t", "\nperhaps\t", 1))
    done = command("nuggets", "edit", bank, "--from-table", table)
    assert done.status == 3
    assert f"{table}:2: keep is 'perhaps'" in done.err

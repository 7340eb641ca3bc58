"""The `check` command where banks of nuggets are looked over, with runs and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check.samples import GOOD, Write, lines
from tests.commandline import command

BANK = '{"qid": "t1", "query": "q", "nuggets": [{"text": "Lined with tin", "importance": %s}]}\n'
WHOLE = BANK % '"vital"'
NOTED = BANK.replace("]}", ', {"text": "lined  with tin", "importance": "okay"}]}') % '"vital"'
TOTALS = "checked: banks of 1 topic, 1 nugget"


@pytest.mark.parametrize(
    ("bank", "status", "found"),
    [
        pytest.param(WHOLE, 0, "", id="nothing is wrong"),
        pytest.param(NOTED, 0, "twice: both count", id="a note"),
        pytest.param(
            BANK % '"huge"', 1, "has an importance other than", id="an unknown importance"
        ),
        pytest.param(WHOLE + '{"qid": "t2"}', 1, "of no known format", id="a record of no format"),
    ],
)
def test_banks_without_runs(bank: str, status: int, found: str, write: Write) -> None:
    done = command("check", "--nuggets", write(bank, "b.jsonl"))
    assert (done.status, found in done.out) == (status, True)
    assert not [line for line in done.out.splitlines() if line.startswith(("run ", "checked: 0"))]


def test_banks_with_runs_leave_the_verdict_to_the_runs(write: Write) -> None:
    run = write(lines(GOOD["rag25"]), "r.jsonl")
    done = command("check", run, "--nuggets", write(BANK % '"huge"', "b.jsonl"))
    assert done.status == 0
    assert {"checked: 1 run, 1 record: 0 refused, 1 accepted", TOTALS} <= {*done.out.splitlines()}


def test_banks_without_runs_as_json(write: Write) -> None:
    done = command("check", "--nuggets", write(WHOLE, "b.jsonl"), "--json")
    assert (done.status, json.loads(done.out)["beside"]) == (0, [])


def test_without_runs_there_is_nothing_to_fix(write: Write, tmp_path: Path) -> None:
    done = command("check", "--nuggets", write(WHOLE, "b.jsonl"), "--fix", tmp_path / "fixed")
    assert "--fix repairs runs" in done.err


def test_nothing_to_check() -> None:
    assert "give run files, or banks by --nuggets" in command("check").err


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        pytest.param("myrun", "data: {}\n", 1, id="a file without an ending"),
        pytest.param("README.md", "Our runs.\n", 0, id="one that is no run by its name"),
        pytest.param("topics", '{"request_id": "1", "title": "t"}\n', 0, id="topics"),
    ],
)
def test_a_named_file_that_is_no_run_does_not_pass(
    name: str, text: str, status: int, write: Write
) -> None:
    run = write(lines(GOOD["rag25"]), "r.jsonl")
    done = command("check", run, write(text, name))
    assert done.status == status
    assert ("refused (file_not_a_run): " in done.out) == bool(status)

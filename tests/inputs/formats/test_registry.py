"""Telling which format a record is of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT
from trecjudge.errors import InputError
from trecjudge.inputs.formats.draft import with_said_beside
from trecjudge.inputs.formats.registry import (
    DATASETS,
    all_formats,
    check_dataset,
    format_of,
)


@pytest.mark.parametrize(
    ("record", "name", "why"),
    [
        pytest.param('{"answer": []}', "rag24", "it has `answer` and no `metadata`", id="rag24"),
        pytest.param(
            '{"answer": [], "metadata": {}}', "rag25", "it has `answer` and `metadata`", id="rag25"
        ),
        pytest.param(
            '{"answer": [], "metadata": null}',
            "rag25",
            "it has `answer` and `metadata`",
            id="rag25 with null metadata",
        ),
        pytest.param(
            '{"answer": [], "narrative_id": "14"}',
            "rag25",
            "it has `answer` and `narrative_id`",
            id="rag25 without metadata",
        ),
        pytest.param(
            '{"answer": [], "topic_id": "2024-1", "narrative_id": "14"}',
            "rag24",
            "it has `answer` and no `metadata`",
            id="rag24 names its topic by topic_id",
        ),
        pytest.param('{"responses": []}', "ragtime", "it has `responses`", id="ragtime"),
        pytest.param(
            '{"responses": [], "metadata": {"use_starter_kit": 0}}',
            "dragun",
            "its metadata has `use_starter_kit`",
            id="dragun",
        ),
        pytest.param(
            '{"responses": [], "answer": []}',
            "autojudge",
            "it has both `responses` and `answer`",
            id="autojudge, both",
        ),
        pytest.param(
            '{"responses": [], "is_ragtime": true}',
            "autojudge",
            "it has `is_ragtime`",
            id="autojudge, mark",
        ),
        pytest.param(
            '{"responses": null, "answer": [], "metadata": {}}',
            "rag25",
            "it has `answer` and `metadata`",
            id="rag25 beside null responses",
        ),
    ],
)
def test_format_of(record: str, name: str, why: str) -> None:
    claimed = format_of(json.loads(record))
    assert claimed is not None
    assert (claimed[0].NAME, claimed[1]) == (name, why)


@pytest.mark.parametrize("record", ["{}", '{"metadata": {}}'])
def test_a_record_of_no_format(record: str) -> None:
    assert format_of(json.loads(record)) is None


@pytest.mark.parametrize("dataset", [*DATASETS, "auto"])
def test_a_dataset_rules_out_no_other_format(dataset: str) -> None:
    claimed = format_of({"responses": [], "metadata": {"use_starter_kit": 1}}, dataset)
    assert claimed is not None
    found = claimed[0].NAME
    assert found == ("ragtime" if dataset == "ragtime" else "dragun")


def test_every_format_says_what_it_reads() -> None:
    named = [
        "autojudge",
        "qa",
        "biogen25",
        "dragun",
        "ikat25",
        "neuclir24",
        "rag24",
        "rag25",
        "ragtime",
    ]
    assert [f.NAME for f in all_formats()] == named
    assert {f.DATASET for f in all_formats()} == {*DATASETS, "any"}
    assert all(f.SUMMARY and "\n" not in f.SUMMARY for f in all_formats())


def test_check_dataset() -> None:
    assert [check_dataset(name) for name in ("auto", *DATASETS)] == ["auto", *DATASETS]
    with pytest.raises(InputError, match="did you mean 'ragtime'"):
        check_dataset("ragtme")


PMIDS = '[{"text": "S.", "citations": [%s]}]'


@pytest.mark.parametrize(
    ("record", "name"),
    [
        pytest.param('{"sentences": [], "request_id": "3"}', "neuclir24", id="sentences"),
        pytest.param('{"turn_id": "1_2", "responses": []}', "ikat25", id="turn"),
        pytest.param('{"responses": %s}' % (PMIDS % '"22802756"'), "biogen25", id="PubMed ids"),
        pytest.param('{"responses": %s}' % (PMIDS % "22802756"), "biogen25", id="as integers"),
        pytest.param('{"responses": %s}' % (PMIDS % "0"), "ragtime", id="an index"),
        pytest.param(
            '{"responses": %s}' % (PMIDS.replace("citations", "citation") % "22802756"),
            "biogen25",
            id="citation for citations",
        ),
        pytest.param(
            '{"references": [], "responses": %s}' % (PMIDS % "22802756"),
            "biogen25",
            id="empty references",
        ),
        pytest.param(
            '{"metadata": {"topic_id": 181}, "responses": []}', "biogen25", id="uncited, by topic"
        ),
        pytest.param(
            '{"metadata": {"topic_id": "1001"}, "responses": []}', "ragtime", id="uncited"
        ),
    ],
)
def test_tracks_beside_the_three(record: str, name: str) -> None:
    found = format_of(json.loads(record))
    assert found is not None
    assert name == found[0].NAME


FLAT = """
from trecjudge.inputs.formats.draft import Draft
NAME, DATASET, SUMMARY, RANK = "flat", "any", "flat records", 50
def claims(record):
    return "it has `lines`" if "lines" in record else None
def draft(record):
    return Draft(record.get("system"), None, (("id", record.get("id")),), record["lines"])
"""


def installed(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program where a package is installed that gives a format."""
    about = folder / "flat-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: flat\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[trecjudge.formats]\nflat = flat_format\n")
    (folder / "flat_format.py").write_text(code)
    (folder / "run.jsonl").write_text('{"system": "s", "id": "1", "lines": ["It whistles."]}\n')
    given = [sys.executable, str(ROOT / "run_judge.py"), *words]
    here = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(given, cwd=folder, env=here, capture_output=True, text=True, check=False)


def test_an_installed_package_gives_a_format(tmp_path: Path) -> None:
    words = ("--judge", "length", "--rag-responses", "run.jsonl")
    done = installed(tmp_path, FLAT, *words)
    assert (done.returncode, "read as flat: it has `lines`" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: No module named"),
        ("NAME = 'flat'", "has no DATASET, SUMMARY, claims, draft"),
    ],
    ids=["broken", "no format"],
)
def test_a_format_of_others_that_cannot_be_used_is_said(
    code: str, message: str, tmp_path: Path
) -> None:
    done = installed(tmp_path, code, "formats")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: the format 'flat' at flat_format {message}")


@pytest.mark.parametrize(
    ("said", "abstained"),
    [
        ('"abstained": true', True),
        ('"metadata": {"declined": false}', False),
        ('"refused": "no"', None),
        ('"n": 1', None),
    ],
)
def test_a_record_says_whether_its_system_declined(said: str, abstained: bool | None) -> None:
    record = json.loads(f'{{"responses": [], "run_id": "r", {said}}}')
    claimed = format_of(record)
    assert claimed is not None
    assert with_said_beside(claimed[0].draft(record), record).abstained is abstained

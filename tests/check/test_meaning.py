"""`check` and the job agree on what a citation is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.check.samples import GOOD, OTHER, SEGMENT, Write, citing, lines
from tests.commandline import command, judge
from tests.reading import reading
from trecjudge.check.checking import check
from trecjudge.check.repair import fix
from trecjudge.check.ruling import Meanings
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.inputs.formats.registry import format_of
from trecjudge.records import Document

STORE = HeldDocuments({"1": Document("1", "D.")})
IS_TEXT = {"citation_index_as_text"}


@pytest.mark.parametrize(
    ("changes", "store", "kind", "cited", "broken"),
    [
        pytest.param({}, None, "index", OTHER, IS_TEXT, id="an index as text"),
        pytest.param({"references": [SEGMENT, "1"]}, None, "id", "1", set(), id="a reference"),
        pytest.param({"references": [SEGMENT, 1]}, None, "id", "1", set(), id="an integer"),
        pytest.param(
            {"documents": {"1": "D."}}, None, "id", "1", set(), id="a document of the run"
        ),
        pytest.param({}, STORE, "id", "1", set(), id="a document beside the runs"),
    ],
)
def test_a_number_as_text(
    changes: dict[str, Any],
    store: HeldDocuments | None,
    kind: str,
    cited: str,
    broken: set[str],
    write: Write,
) -> None:
    path = write(lines(citing("rag25", ["1"], **changes)))
    found = reading(path, store=store)
    record = json.loads(path.read_text())
    meanings = Meanings(record, "rag25", found.response.documents)
    assert (found.cited, meanings.kind("1")) == ([cited], kind)
    (run,) = check([path], store=store).runs
    broken_rules = {tally.rule for tally in run.violations}
    assert broken_rules & (IS_TEXT | {"citation_kind", "citations_mixed"}) == broken
    assert ("citation_unreferenced" in broken_rules) is (
        kind == "id" and "references" not in changes
    )


@pytest.mark.parametrize(
    ("track", "value", "kind"),
    [
        ("rag25", 1, "index"),
        ("rag25", 9, "index"),
        ("rag25", "9", "index"),
        ("rag25", -1, "index"),
        ("rag25", SEGMENT, "id"),
        ("rag25", "a", "id"),
        ("rag25", True, "neither"),
        ("rag25", 1.0, "neither"),
        ("biogen25", 22802756, "id"),
        ("biogen25", "22802756", "id"),
        ("ragtime26", "1", "id"),
    ],
)
def test_what_is_cited(track: str, value: object, kind: str) -> None:
    claimed = format_of(GOOD[track])
    assert claimed and Meanings(GOOD[track], claimed[0].NAME).kind(value) == kind


def test_an_id_written_as_an_integer_is_refused_for_that(write: Write) -> None:
    path = write(lines(citing("rag26", [0, 77], references=["shard_0_1", "77"])))
    assert reading(path).cited == ["shard_0_1", "77"]
    (run,) = check([path]).runs
    (tally,) = [tally for tally in run.violations if tally.rule == "citation_kind"]
    assert next(iter(tally.places)).message == "cites 77: an id written as an integer"


def test_repairs_take_it_as_the_reader_does(write: Write, tmp_path: Path) -> None:
    path = write(lines(citing("rag25", ["1"]), citing("rag25", ["1"], documents={"1": "D."})))
    fix([path], tmp_path / "fixed")
    records = map(json.loads, (tmp_path / "fixed" / "run.jsonl").read_text().splitlines())
    assert [record["answer"][0]["citations"] for record in records] == [[1]]
    fix([path], tmp_path / "kept", store=STORE)
    text = (tmp_path / "kept" / "run.jsonl").read_text()
    assert json.loads(text)["answer"][0]["citations"] == ["1"]


def test_what_documents_could_change_is_said(write: Write) -> None:
    path = write(lines(citing("rag25", ["1"])))
    assert "without --documents, a number as text is an index" in command("check", path).out


def test_a_name_that_is_made_is_said(write: Write) -> None:
    one = lines(GOOD["rag25"])
    done = command("check", write(one, "a"), write(one.replace('"t"', '"u"'), "b"))
    assert "b:1: run_id 'r' is also used by team 't'; named 'u/r'" in done.out.replace("\n", "")


def test_every_finding_of_the_log_has_its_run_and_topic(write: Write, tmp_path: Path) -> None:
    runs = write(lines(citing("rag25", [0, 9], ["gone"], documents={SEGMENT: "D."})), "r.jsonl")
    judge(runs, tmp_path / "o", "--judge", "citation")
    events = map(json.loads, (tmp_path / "o" / "x.log").read_text().splitlines())
    found = [e for e in events if e["event"] == "FINDING"]
    assert {"citation_out_of_range", "document_missing"} <= {e["kind"] for e in found}
    assert {(e["run_id"], e["topic_id"]) for e in found} == {("r", "1")}

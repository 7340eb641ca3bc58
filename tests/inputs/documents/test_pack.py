"""The lines of a pack, also where they lie among other documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from trecjudge.findings import Finding
from trecjudge.inputs.documents.pack import (
    Lack,
    digest_of,
    document_line,
    lack_line,
    lack_of,
    packed_document,
)
from trecjudge.inputs.documents.store import documents_in
from trecjudge.records import Document

DOCUMENT = Document("d#1", "A tram.\n“Two” 電車", "Trams", "https://e.org/d", "2021", "v2")
RECORD = orjson.loads(document_line(DOCUMENT, "a.jsonl@7"))


def test_a_document_comes_back_as_it_was() -> None:
    assert packed_document(RECORD) == DOCUMENT
    assert (RECORD["sha256"], RECORD["source"]) == (digest_of(DOCUMENT), "a.jsonl@7")


@pytest.mark.parametrize("why", ["not there", "not looked for", "not known"])
def test_why_there_is_no_document(why: Lack) -> None:
    assert lack_of(orjson.loads(lack_line("d", why))) == why


def test_a_line_may_have_more_fields() -> None:
    assert packed_document(RECORD | {"score": 1}) == DOCUMENT
    assert lack_of({"docid": "d", "found": "not there", "note": "seen"}) == "not there"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"docid": "d", "text": "t"}, id="another document"),
        pytest.param(RECORD | {"text": None}, id="a text that is none"),
        pytest.param(RECORD | {"sha256": "abc"}, id="a digest that is none"),
        pytest.param({"docid": "d", "found": "not there", "text": "t"}, id="a text"),
        pytest.param(RECORD | {"docid": ""}, id="no id"),
        pytest.param({"docid": "d", "found": "yes"}, id="found"),
        pytest.param({"docid": "d", "found": ["not there"]}, id="a list"),
        pytest.param({"docid": 7, "found": "not there"}, id="a number"),
        pytest.param([], id="no object"),
    ],
)
def test_what_is_no_line_of_a_pack(record: object) -> None:
    assert packed_document(record) is None
    assert lack_of(record) is None


def test_among_other_files_what_is_not_settled_counts_as_lost(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    lines = [document_line(DOCUMENT, "x"), lack_line("a", "not there")]
    lines += [lack_line("b", "not looked for"), lack_line("c", "not known")]
    write(b"".join(lines), "all/pack.jsonl")
    write('{"docid": "e", "text": "t"}', "all/other.jsonl")
    findings: list[Finding] = []
    found = documents_in([tmp_path / "all"], findings.append)
    assert [document.doc_id for document in found] == ["e", "d#1"]
    assert [(f.kind, f.value, f.place.line) for f in findings] == [
        ("documents_unusable", "b", 3),
        ("documents_unusable", "c", 4),
    ]


def test_the_digest_covers_title_and_text() -> None:
    digests = {digest_of(Document("d", *parts)) for parts in (("t",), ("t", "T"), ("u", "T"))}
    assert len(digests) == 3


def test_what_an_index_cannot_know_is_said_where_a_pack_is_read_as_documents(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(document_line(DOCUMENT, "x") + lack_line("b", "not looked for"), "p.jsonl")
    findings: list[Finding] = []
    assert list(documents_in([tmp_path / "p.jsonl"], findings.append)) == [DOCUMENT]
    message = "'b' could not be looked for; only the pack says so, an index of it does not"
    assert [str(finding) for finding in findings] == [f"{tmp_path}/p.jsonl:2: {message}"]

"""The lines of a pack, packs among other files, and what packs say of what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from trecjudge.findings import Finding, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.pack import (
    Lack,
    are_packs,
    digest_of,
    document_line,
    lack_line,
    lack_of,
    open_packs,
    packed_document,
)
from trecjudge.inputs.documents.store import documents_in
from trecjudge.records import Document

DOCUMENT = Document("d#1", "A tram.\n“Two” 電車", "Trams", "https://e.org/d", "2021", "v2")
RECORD = orjson.loads(document_line(DOCUMENT, "a.jsonl@7"))


def test_a_document_comes_back_as_it_was() -> None:
    assert packed_document(RECORD) == DOCUMENT
    assert (RECORD["sha256"], RECORD["source"]) == (digest_of(DOCUMENT.text), "a.jsonl@7")


@pytest.mark.parametrize("why", ["not there", "not looked for", "not known"])
def test_why_there_is_no_document(why: Lack) -> None:
    assert lack_of(orjson.loads(lack_line("d", why))) == why


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"docid": "d", "text": "t"}, id="another document"),
        pytest.param(RECORD | {"text": None}, id="a text that is none"),
        pytest.param(RECORD | {"sha256": "abc"}, id="a digest that is none"),
        pytest.param(RECORD | {"score": 1}, id="a field more"),
        pytest.param(RECORD | {"docid": ""}, id="no id"),
        pytest.param({"docid": "d", "found": "yes"}, id="found"),
        pytest.param({"docid": "d", "found": ["not there"]}, id="a list"),
        pytest.param({"docid": 7, "found": "not there"}, id="a number"),
        pytest.param([], id="no object"),
    ],
)
def test_what_is_no_line_of_a_pack(record: object, write: Callable[..., Path]) -> None:
    assert packed_document(record) is None
    assert lack_of(record) is None
    assert not are_packs([write(orjson.dumps(record))])


def test_packs_are_known_by_their_first_lines(write: Callable[..., Path]) -> None:
    whole = write(document_line(DOCUMENT, "x"), "a.jsonl")
    lacks = write(lack_line("d", "not there"), "b.jsonl")
    other = write('{"docid": "e", "text": "t"}', "c.jsonl")
    assert are_packs([whole, lacks])
    assert not are_packs([whole, other])
    assert not are_packs([])


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


A, B = Document("a", "About a.", "A"), Document("b", "About b.", "B")
LINES = [
    document_line(A, "a.jsonl@0"),
    document_line(B, "https://e.org/b"),
    lack_line("gone", "not there"),
    lack_line("later", "not looked for"),
]
Write = Callable[..., Path]


def opened(
    wanted: str, *files: Path, findings: Callable[[Finding], None] = unreported
) -> KeptDocuments:
    return open_packs(files[0].parent, files, Wanted.of_ids(wanted.split()), findings)


def test_what_is_known_of_each_id(write: Write) -> None:
    kept = opened("a gone later other", write(b"".join(LINES)))
    assert kept.get("a") == A
    assert kept.get("b") is None, "nobody wants it"
    assert kept.get("gone") is None
    for doc_id in ("later", "other"):
        found = kept.get(doc_id)
        assert found is not None and not found.complete and not found.has_text
    states = [kept.state_of(doc_id) for doc_id in ("a", "gone", "later", "other")]
    assert states == ["found", "not there", "not looked for", "not looked for"]
    assert (kept.source_of("a"), kept.lost) == ("a.jsonl@0", 0)
    assert set(kept.some_ids(3)) == {"a", "b"}


def test_what_a_pack_says_nothing_of_is_reported_once(write: Write) -> None:
    findings: list[Finding] = []
    path = write(b"".join(LINES))
    opened("a x gone later y", path, findings=findings.append)
    message = "says nothing of 2 cited documents, such as 'x': it was packed for other runs"
    assert [str(finding) for finding in findings] == [f"{path.parent}: {message}"]


def test_what_only_may_be_an_id_is_no_document(write: Write) -> None:
    wanted = Wanted({"a": None}, {}, {"a": None, "3": None})
    kept = open_packs(Path("p"), [write(b"".join(LINES))], wanted, unreported)
    assert kept.get("3") is None


def test_what_is_not_known_counts_as_lost(write: Write) -> None:
    findings: list[Finding] = []
    path = write(LINES[0] + lack_line("b", "not known"))
    kept = opened("a b", path, findings=findings.append)
    assert (kept.get("b"), kept.lost) == (None, 1)
    assert [str(finding) for finding in findings] == [
        f"{path}:2: 'b' was not found in a collection of which a part could not be read"
    ]
    assert opened("a", path).lost == 0, "nobody wants what may be lost"


def test_an_edited_text_is_reported_and_read(write: Write) -> None:
    findings: list[Finding] = []
    edited = orjson.dumps(orjson.loads(LINES[1]) | {"text": "Edited."})
    path = write(LINES[0] + edited)
    kept = opened("a b", path, findings=findings.append)
    assert (found := kept.get("b")) is not None and found.text == "Edited."
    message = "the text of 'b' was edited: its SHA-256 is another"
    assert [str(finding) for finding in findings] == [f"{path}:2: {message}"]


def test_several_packs_say_together_what_they_know(write: Write) -> None:
    findings: list[Finding] = []
    other = Document("a", "Another a.")
    first = write(LINES[0] + lack_line("b", "not looked for") + LINES[2], "p/1.jsonl")
    second = document_line(other, "x") + LINES[1] + lack_line("gone", "not looked for")
    kept = opened("a b gone", first, write(second, "p/2.jsonl"), findings=findings.append)
    assert (kept.get("a"), kept.get("b")) == (A, B)
    assert (found := kept.get("gone")) is not None and not found.complete
    assert [(f.kind, f.place.line) for f in findings] == [("document_duplicate", 1)]


def test_lines_that_are_added_are_read_and_broken_ones_are_lost(write: Write) -> None:
    findings: list[Finding] = []
    lines = b'{"docid": "c", "text": "Added."}\n{"docid": \n{"title": "no id"}\n'
    kept = opened("a c", write(LINES[0] + lines), findings=findings.append)
    assert (found := kept.get("c")) is not None and found.text == "Added."
    assert [finding.kind for finding in findings] == ["line_not_json", "documents_unusable"]
    assert kept.lost == 2


def test_nothing_is_written_beside_it(write: Write) -> None:
    path = write(b"".join(LINES), "alone/pack.jsonl")
    opened("a b gone", path)
    assert list(path.parent.iterdir()) == [path]


def test_a_document_of_one_pack_is_there_whatever_another_says(write: Write) -> None:
    kept = opened(
        "a", write(LINES[0], "p/1.jsonl"), write(lack_line("a", "not there"), "p/2.jsonl")
    )
    assert (kept.get("a"), kept.state_of("a")) == (A, "found")

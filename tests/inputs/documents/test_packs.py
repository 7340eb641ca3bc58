"""Packs: their lines, and what is read of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from trecjudge.findings import Finding, ignore
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.index_file import (
    Lack,
    digest_of,
    document_line,
    lack_line,
    lack_of,
    packed_document,
)
from trecjudge.inputs.documents.store import (
    IN_FRONT,
    DocumentStores,
    HeldDocuments,
    documents_in,
    open_packs,
    packs_among,
)
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


A, B = Document("a", "About a.", "A"), Document("b", "About b.", "B")
LINES = [
    document_line(A, "a.jsonl@0"),
    document_line(B, "https://e.org/b"),
    lack_line("gone", "not there"),
    lack_line("later", "not looked for"),
]
Write = Callable[..., Path]


def opened(
    wanted: str, *files: Path, findings: Callable[[Finding], None] = ignore
) -> KeptDocuments:
    packs = packs_among(files, 1 << 20)
    return open_packs(
        files[0].parent, files, packs, WantedDocuments.of_ids(wanted.split()), findings
    )


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


def test_each_kind_of_what_is_not_settled_is_reported_once(write: Write) -> None:
    findings: list[Finding] = []
    path = write(b"".join(LINES) + lack_line("p", "not known") + lack_line("q", "not known"))
    opened("a x gone later y p q", path, findings=findings.append)
    assert [str(finding) for finding in findings] == [
        f"{path.parent}: {message}"
        for message in (
            "lacks 2 cited documents, such as 'p': a part of the collection could not be read",
            "lacks 1 cited document, such as 'later': nobody could look there when it was packed",
            "says nothing of 2 cited documents, such as 'x': it was packed for other runs",
        )
    ]


def test_what_only_may_be_an_id_is_no_document(write: Write) -> None:
    wanted = WantedDocuments({"a": None}, {}, {"a": None, "3": None})
    pack = write(b"".join(LINES))
    kept = open_packs(Path("p"), [pack], [pack], wanted, ignore)
    assert kept.get("3") is None


def test_what_is_not_known_counts_as_lost(write: Write) -> None:
    path = write(LINES[0] + lack_line("b", "not known") + lack_line("c", "not known"))
    kept = opened("a b c", path)
    assert (kept.get("b"), kept.lost) == (None, 2)
    assert opened("a", path).lost == 0, "nobody wants what may be lost"


@pytest.mark.parametrize("part", ["text", "title"])
def test_what_was_edited_is_reported_and_read(part: str, write: Write) -> None:
    findings: list[Finding] = []
    edited = orjson.dumps(orjson.loads(LINES[1]) | {part: "Edited."})
    path = write(LINES[0] + edited)
    kept = opened("a b", path, findings=findings.append)
    assert (found := kept.get("b")) is not None and getattr(found, part) == "Edited."
    message = "the title or text of 'b' was edited: its SHA-256 is another"
    assert [str(finding) for finding in findings] == [f"{path}:2: {message}"]


def test_several_packs_say_together_what_they_know(write: Write) -> None:
    findings: list[Finding] = []
    other = Document("a", "Another a.")
    first = write(LINES[0] + lack_line("b", "not looked for") + LINES[2], "p/1.jsonl")
    second = document_line(other, "x") + LINES[1] + lack_line("gone", "not looked for")
    kept = opened("a b gone", first, write(second, "p/2.jsonl"), findings=findings.append)
    assert (kept.get("a"), kept.get("b")) == (A, B)
    assert (found := kept.get("gone")) is not None and not found.complete
    kinds = [(f.kind, f.place.line) for f in findings]
    assert kinds == [("document_duplicate", 1), ("documents_not_packed", None)]


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


def test_a_line_of_a_pack_among_the_first_ones_makes_a_pack(write: Write) -> None:
    other = write('{"docid": "e", "text": "t"}\n' * 9, "o.jsonl")
    added = write('{"docid": "e", "text": "t"}\n' + LINES[2].decode(), "a.jsonl")
    files = [other, added, write(LINES[0], "p.jsonl"), write("docid\ttext\n", "t.tsv")]
    assert packs_among(files, 500) == {added, files[2]}
    assert not packs_among(files, 50), "a large collection stays one"
    assert not packs_among([other], 500)
    assert not packs_among([], 500)
    late = write(b'{"docid": "e", "text": "t"}\n' * IN_FRONT + LINES[0])
    assert not packs_among([late], 1 << 20)


def test_what_lies_beside_a_pack_is_read_and_settles_nothing_for_it(write: Write) -> None:
    files = [write(b"".join(LINES), "f/p.jsonl"), write("docid\ttext\ne\tBeside.\n", "f/t.tsv")]
    findings: list[Finding] = []
    kept = opened("a e other later", *files, findings=findings.append)
    assert (found := kept.get("e")) is not None and found.text == "Beside."
    assert kept.get("a") == A
    assert kept.unsaid == {"other"}
    assert [kept.state_of(i) for i in ("other", "later")] == ["not looked for"] * 2
    assert {finding.kind for finding in findings} == {"documents_not_packed"}


def test_nobody_asks_a_pack_for_what_is_not_judged(write: Write) -> None:
    wanted = WantedDocuments({"a": None}, {"a": None}, {"a": None}, {"else": None})
    findings: list[Finding] = []
    pack = write(LINES[0])
    kept = open_packs(Path("p"), [pack], [pack], wanted, findings.append)
    assert (kept.state_of("else"), findings) == ("not looked for", [])
    assert kept.get("else") is not None


def test_of_several_stores_one_that_knows_settles_what_a_pack_does_not_say(write: Write) -> None:
    pack, whole = opened("other later gone", write(b"".join(LINES))), HeldDocuments({"a": A})
    for stores in ([pack, whole], [whole, pack]):
        both = DocumentStores(stores)
        assert both.get("other") is None
        assert (found := both.get("later")) is not None and not found.complete, "looked nowhere"
        assert both.look_up("a") == (A, stores.index(whole))
    assert DocumentStores([pack, pack]).look_up("other") == (Document("other", complete=False), 0)
    assert DocumentStores([pack, pack]).get("gone") is None

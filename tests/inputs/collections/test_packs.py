"""What packs have of the documents that are wanted, and what they say of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson

from trecjudge.findings import Finding, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.packs import open_packs
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.pack import document_line, lack_line
from trecjudge.records import Document

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

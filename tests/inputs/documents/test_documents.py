"""Documents as JSON has them: their ids, texts and what is guessed."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.baseline.index.indexed import refreshed
from tests.reading import Write, documents_of, fail
from trecjudge.baseline.index.index import make_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.documents.record import document_of, guess_text
from trecjudge.records import Document

pytestmark = pytest.mark.usefixtures("forked_readers")


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        pytest.param('{"docid": "d", "text": "T."}', Document("d", "T."), id="docid, text"),
        pytest.param('{"doc_id": "d", "body": "T."}', Document("d", "T."), id="doc_id, body"),
        pytest.param('{"id": 7, "contents": "T."}', Document("7", "T."), id="integer id"),
        pytest.param('{"_id": "d", "passage": "T."}', Document("d", "T."), id="_id, passage"),
        pytest.param(
            '{"docid": "d#0", "title": "N", "segment": "T."}',
            Document("d#0", "T.", "N"),
            id="MS MARCO segment",
        ),
        pytest.param(
            '{"id": "d", "text": "T.", "uri": "http://x", "date": 2024, "version": "3"}',
            Document("d", "T.", url="http://x", date="2024", version="3"),
            id="address, date and version",
        ),
        pytest.param('{"id": "d", "text": null}', Document("d"), id="null text is no text"),
        pytest.param('{"id": "d", "text": ""}', Document("d"), id="empty text is no text"),
        pytest.param('{"id": "d", "text": 5}', Document("d"), id="a number is no text"),
        pytest.param('{"id": "d", "text": null, "body": "T."}', Document("d", "T."), id="body"),
        pytest.param('{"id": "", "pid": "d"}', Document("d"), id="empty id beside a good one"),
        pytest.param('{"docno": "d", "text": "T."}', Document("d", "T."), id="docno"),
        pytest.param('{"DOCNO": "d", "TEXT": "T."}', Document("d", "T."), id="in capitals"),
        pytest.param(
            '{"ClueWeb22-ID": "d", "URL": "u", "Clean-Text": "T."}',
            Document("d", "T.", url="u"),
            id="ClueWeb22",
        ),
        pytest.param(
            '{"pmid": 12345, "title": "N", "abstract": "T."}',
            Document("12345", "T.", "N"),
            id="PubMed",
        ),
        pytest.param('{"document_id": "d", "raw": "T."}', Document("d", "T."), id="raw"),
        pytest.param(
            '{"docid": "d", "raw": "{\\"id\\": 1, \\"contents\\": \\"T.\\"}"}',
            Document("d", "T."),
            id="raw JSON",
        ),
        pytest.param('{"docid": "d", "raw": "<p>T.</p>"}', Document("d", "T."), id="raw markup"),
        pytest.param(
            '{"id": "d", "abstract": "T.", "fullText": "T. More."}',
            Document("d", "T. More."),
            id="abstract and full text",
        ),
        pytest.param(
            '{"id": "d", "abstract": "T. More.", "fullText": "T."}',
            Document("d", "T. More."),
            id="full text that is cut",
        ),
        pytest.param(
            '{"id": "d", "abstract": "A long one.", "text": "T."}', Document("d", "T."), id="text"
        ),
        pytest.param('{"id": "d", "contents": ["T.", "U."]}', Document("d", "T.\nU."), id="list"),
        pytest.param(
            '{"id": "d", "contents": [{"content": "T."}, {"kind": "image"}]}',
            Document("d", "T."),
            id="list of paragraphs",
        ),
        pytest.param(
            '{"pid": "p1", "docid": "d", "passage": "T."}', Document("p1", "T."), id="passage's id"
        ),
        pytest.param('{"chunk_id": 3, "docid": "d"}', Document("d"), id="number of a passage"),
        pytest.param('{"docid": 5, "docno": "d"}', Document("d"), id="docno before docid"),
        pytest.param(
            '{"docid": "d", "score": 1, "doc": {"segment": "T.", "title": "N", "url": "u"}}',
            Document("d", "T.", "N", "u"),
            id="candidate",
        ),
        pytest.param(
            '{"page_content": "T.", "metadata": {"id": "d", "title": "N"}}',
            Document("d", "T.", "N"),
            id="LangChain",
        ),
        pytest.param('{"url": "u", "text": "T."}', Document("u", "T.", url="u"), id="address"),
        pytest.param('{"text": "T."}', None, id="no id"),
        pytest.param('{"id": true}', None, id="true as id"),
        pytest.param('"T."', None, id="text without id"),
        pytest.param("null", None, id="null"),
        pytest.param('["d", "T."]', None, id="list"),
    ],
)
def test_document_of(record: str, wanted: Document | None) -> None:
    assert document_of(json.loads(record)) == wanted


def test_the_title_stands_before_the_text() -> None:
    assert Document("d", "T.", "N").full_text == "N\nT."
    assert Document("d", "T.").full_text == "T."


BOTH_STORES = pytest.mark.parametrize("held_bytes", [1 << 20, 0], ids=["held", "indexed"])


@BOTH_STORES
def test_files_and_folders_fill_one_store(held_bytes: int, write: Write, tmp_path: Path) -> None:
    first = b'{"id": "a", "title": "N", "text": "A.", "url": "u", "date": "2024"}'
    write(gzip.compress(first), "more/x/a.jsonl.gz")
    write('[{"id": "b", "text": "B."}]', "more/b.json")
    single = write('{"id": "c", "text": "C."}', "c.jsonl")
    store = documents_of([single, tmp_path / "more"], tmp_path / "cache", fail, held_bytes)
    assert store.get("a") == Document("a", "A.", "N", "u", "2024")
    assert [store.get(i) for i in "bcd"] == [Document("b", "B."), Document("c", "C."), None]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        pytest.param(b'{"id": "a", "text": "Other."}', "document_duplicate", id="twice"),
        pytest.param(b'{"text": "T."}', "documents_unusable", id="no id"),
        pytest.param(b'{"id": ', "line_not_json", id="cut"),
        pytest.param(b'{"id": "\xff"}', "bad_utf8", id="bad bytes"),
        pytest.param(b"null", "record_not_an_object", id="null"),
    ],
)
def test_a_bad_record_is_found_and_the_others_are_read(
    bad: bytes, kind: str, write: Write, tmp_path: Path
) -> None:
    findings: list[Finding] = []
    path = write(b'{"id": "a", "text": "A."}\n' + bad + b'\n{"id": "c", "text": "C."}')
    store = documents_of([path], tmp_path, findings.append)
    assert [store.get("a"), store.get("c")] == [Document("a", "A."), Document("c", "C.")]
    assert [(f.kind, f.place.line) for f in findings] == [(kind, 2)]


@BOTH_STORES
@pytest.mark.parametrize("text", ["\n", "[]", "Notes.\n", '{"text": "T."}', b"\x1f\x8b\x08"])
def test_a_file_without_documents_is_an_input_error(
    text: str | bytes, held_bytes: int, write: Write, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"run\.jsonl: (no documents found; give|cannot be read)"):
        documents_of([write(text)], tmp_path / "cache", lambda finding: None, held_bytes)
    assert list(tmp_path.glob("cache/*")) == []


def test_a_path_without_documents_beside_a_good_one_is_an_input_error(
    write: Write, tmp_path: Path
) -> None:
    good, empty = write('{"id": "a", "text": "A."}', "good"), write("", "empty")
    with pytest.raises(InputError, match="empty: no documents found"):
        documents_of([good, empty], tmp_path, lambda finding: None)


def test_an_index_is_made_once_until_a_file_changes(write: Write, tmp_path: Path) -> None:
    path, cache = write('{"id": "a", "text": "A."}\n{"id": "a", "text": "B."}'), tmp_path / "cache"
    assert documents_of([path], cache, fail, 0).get("a") == Document("a", "A.")
    (index,) = cache.iterdir()
    made = index.stat().st_mtime_ns
    documents_of([path], cache, fail, 0)
    assert index.stat().st_mtime_ns == made
    path.write_text('{"id": "a", "text": "Changed."}')
    assert documents_of([path], cache, fail, 0).get("a") == Document("a", "Changed.")


def test_a_data_set_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="irds:nowhere"):
        documents_of([Path("irds:nowhere")], tmp_path, fail)


def indexed(path: Path, *documents: Document) -> None:
    """Index documents for retrieval."""
    with closing(make_index(str(path))) as index:
        refreshed(index, map(IndexSource, documents))


def test_an_index_for_retrieval_has_whole_documents(tmp_path: Path) -> None:
    there = Document("d", "One. Two. " * 300, "A title", "http://x/", "2024-05-03", "7")
    path = tmp_path / "docs.index"
    indexed(path, there, Document("e", "Other."))
    store = documents_of([path], tmp_path / "cache", fail)
    assert (store.get("d"), store.get("f"), store.some_ids(5)) == (there, None, ["d", "e"])
    assert not (tmp_path / "cache").exists()


def test_a_database_of_another_program_is_no_index(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other")) as database:
        database.execute("CREATE TABLE documents (id)")
    with pytest.raises(InputError, match="no documents found"):
        documents_of([tmp_path / "other"], tmp_path, lambda finding: None)


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "docs.index"
    indexed(path, Document("d", "One."))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 9")
    with pytest.raises(InputError, match="is of version 9, and this program reads 1"):
        documents_of([path], tmp_path, fail)


def test_packed_files_of_much_text_are_indexed_though_they_are_small(tmp_path: Path) -> None:
    path, findings = tmp_path / "d.jsonl.gz", list[Finding]()
    records = [json.dumps({"id": f"d{i}", "text": "word " * 1000}) for i in range(50)]
    path.write_bytes(gzip.compress("\n".join(['{"id": ', *records, '{"text": "T."}']).encode()))
    store = documents_of(
        [path], tmp_path / "cache", findings.append, held_bytes=50_000, ids=["d0", "d49", "x"]
    )
    assert isinstance(store.stores[0], KeptDocuments)
    assert store.get("d49") == Document("d49", "word " * 1000)
    assert [(f.kind, f.place.line) for f in findings] == [
        ("line_not_json", 1),
        ("documents_unusable", 52),
    ]
    again = documents_of(
        [path], tmp_path / "cache", lambda finding: None, held_bytes=50_000, ids=["d0", "d49", "x"]
    )
    assert (again.lost, again.get("d0")) == (store.lost, store.get("d0"))


LONG = "Steam makes the kettle whistle."
CASES = {
    "one field": (f'{{"id": "d", "utterance": "{LONG}"}}', "utterance", True),
    "inside objects": (f'{{"a": {{"b": {{"c": "{LONG}"}}}}}}', "a.b.c", True),
    "a known name inside": (f'{{"a": {{"text": "{LONG}", "b": "{LONG}"}}}}', "a.text", True),
    "a short one of a known name": ('{"k": {"text": "Trams."}, "p": "q"}', "k.text", True),
    "a list": (f'{{"spans": [{{"t": "{LONG}"}}, {{"t": "B."}}]}}', "spans.t", True),
    "no spaces": ('{"p": "水壶的壶嘴里有蒸汽所以会响。"}', "p", True),
    "one is much longer": (f'{{"a": "{LONG}", "b": "{LONG * 4}"}}', "b", True),
    "two": (f'{{"a": "{LONG}", "b": "{LONG} Loudly."}}', "", True),
    "short": ('{"id": "d", "p": "Trams ran."}', "", True),
    "no text": (f'{{"title": "{LONG}", "authors": "{LONG}", "lang": "en", "n": 1}}', "", False),
}


@pytest.mark.parametrize(("record", "field", "is_open"), CASES.values(), ids=CASES)
def test_guess_text(record: str, field: str, is_open: bool) -> None:
    found = guess_text(json.loads(record))
    assert (found.field, bool(found.text), found.open) == (field, bool(field), is_open)

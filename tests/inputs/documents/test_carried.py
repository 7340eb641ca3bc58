"""Documents that runs carry: by id, in a list, or as mere texts."""

from __future__ import annotations

import pytest

from tests.reading import Read, Write, answer, citing, responses
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.records import Document

BY_INDEX = "citation_by_position"
HOLLOW = "own_document_empty"
BY_PLACE, UNSURE = "documents_by_position", "documents_position_unsure"
DUPLICATE, UNUSABLE = "document_duplicate", "documents_unusable"


DOCUMENTS = {
    "texts": ('["A.", "B."]', {"a": "A.", "b": "B."}, [BY_PLACE]),
    "objects without id": (
        '[{"text": "A."}, {"page_content": "B.", "metadata": {}}]',
        {"a": "A.", "b": "B."},
        [BY_PLACE],
    ),
    "sources that are cited": (
        '[{"page_content": "B.", "metadata": {"source": "b"}},'
        ' {"page_content": "A.", "metadata": {"source": "a"}}]',
        {"a": "A.", "b": "B."},
        [],
    ),
    "one source": (
        '[{"page_content": "A.", "metadata": {"source": "x.pdf"}},'
        ' {"page_content": "B.", "metadata": {"source": "x.pdf"}}]',
        {"a": "A.", "b": "B."},
        [BY_PLACE],
    ),
    "fewer texts than references": ('["A."]', {"a": "A."}, [UNSURE]),
    "more texts": ('["A.", "B.", "C."]', {"a": "A.", "b": "B.", "2": "C."}, [UNSURE]),
    "a number keeps its place": ('[5, "B."]', {"b": "B."}, [UNUSABLE, BY_PLACE]),
    "places": ('{"0": "A.", "1": "B."}', {"a": "A.", "b": "B."}, [BY_PLACE]),
    "keys that nobody cites": ('{"x": {"id": "a", "text": "A."}}', {"a": "A."}, []),
    "one document": ('{"id": "a", "text": "A."}', {"a": "A."}, []),
    "several ids": ('[{"id": 1, "pmid": 2, "docno": "a", "text": "A."}]', {"a": "A."}, []),
    "the id that is cited": ('[{"docno": "x", "id": "a", "text": "A."}]', {"a": "A."}, []),
    "candidates": ('[{"docid": "a", "doc": {"segment": "A."}}]', {"a": "A."}, []),
    "twice": (
        '[{"docno": "a", "text": "A."}, {"docno": "a", "text": "A."}]',
        {"a": "A."},
        [DUPLICATE],
    ),
    "chunks": (
        '[{"docno": "a", "text": "A."}, {"docno": "a", "text": "More of a."}]',
        {"a": "A.\n\nMore of a."},
        ["document_chunks"],
    ),
    "texts of an unknown name": (
        '[{"docno": "a", "words": "These are its words."}, {"docno": "b", "words": "So are."}]',
        {"a": "These are its words.", "b": ""},
        ["text_field_guessed", "document_not_read"],
    ),
    "a list of sentences": ('{"a": ["A.", "B."]}', {"a": "A.\nB."}, []),
    "empty": ('{"a": {"text": "", "p": "Two words", "q": "And three."}}', {"a": ""}, [HOLLOW]),
}


@pytest.mark.parametrize(("documents", "wanted", "kinds"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_that_references_name(
    documents: str, wanted: dict[str, str], kinds: list[str], read: Read
) -> None:
    found = read(citing("[0]", f', "documents": {documents}'))
    if "a" not in wanted:
        kinds = [*kinds, "document_missing"]
    assert {d.doc_id: d.text for d in found.response.documents.values()} == wanted
    assert (found.kinds, found.response.documents_given) == (kinds, True)


INDICES = {
    "texts": ("[1, 0]", '["A.", "B."]', ["1", "0"], [BY_PLACE]),
    "indices as text": ('["1"]', '["A.", "B."]', ["1"], [BY_PLACE]),
    "ids": ("[1]", '[{"id": "x", "text": "A."}, {"id": "y", "text": "B."}]', ["y"], [BY_INDEX]),
    "an id first": ("[7]", '[{"id": 8}, {"id": 7, "text": "B."}]', ["7"], [HOLLOW]),
    "out of range": ("[2]", '["A.", "B."]', [None], [BY_PLACE, "citation_out_of_range"]),
}


@pytest.mark.parametrize(
    ("citations", "documents", "cited", "kinds"), INDICES.values(), ids=INDICES
)
def test_without_references_an_index_means_the_documents(
    citations: str, documents: str, cited: list[str], kinds: list[str], read: Read
) -> None:
    more = f', "documents": {documents}'
    found = read(responses(f'[{{"text": "S.", "citations": {citations}}}]', more=more))
    assert (found.cited, found.kinds) == (cited, kinds)


def test_texts_without_any_id_may_be_what_an_id_means(read: Read) -> None:
    cites = '[{"text": "S.", "citations": ["x"]}]'
    found = read(responses(cites, more=', "documents": ["A.", "B."]'))
    assert (found.response.has("x"), found.kinds) == (None, [UNSURE, "document_unknown"])
    assert [d.text for d in found.response.documents.values()] == ["A.", "B."]


@pytest.mark.parametrize(
    "documents",
    [
        *("5", "true", "[1, 2]", "[[]]", "[{}]", '[{"score": 1}]', '["a", "b"]', '"A. B."'),
        '{"a": 5}',
    ],
)
def test_documents_that_cannot_be_read_are_not_given(documents: str, read: Read) -> None:
    found = read(citing("[0, 1]", f', "documents": {documents}'))
    assert (found.response.documents_given, found.response.has("a")) == (False, None)
    assert {UNUSABLE, "documents_not_given"} == set(found.kinds)


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param('[{"id": "a", "text": "A."}, 5]', id="one among good ones"),
        pytest.param('{"a": "A.", "b": 5}', id="one by its id"),
        pytest.param('["A.", ""]', id="an empty one among texts"),
        pytest.param('[{"id": "a", "text": "A."}, {"text": "U."}, {"x": "y"}]', id="without id"),
        pytest.param("[]", id="none"),
        pytest.param("{}", id="none by id"),
    ],
)
def test_no_run_hides_what_it_cites_by_what_it_garbles(documents: str, read: Read) -> None:
    cites = '[{"text": "S.", "citations": ["a", "zzz"]}]'
    found = read(answer(cites, more=f', "documents": {documents}'))
    assert found.response.has("zzz") is False


def test_beside_documents_of_the_organiser_nothing_is_unknown(read: Read) -> None:
    store = HeldDocuments({"a": Document("a", "A.")})
    found = read(citing('["a", "zzz"]', ', "documents": [1, 2]'), store=store)
    assert [found.response.has(doc_id) for doc_id in ("a", "zzz")] == [True, False]


def test_what_the_organiser_lost_may_be_what_is_cited(read: Read) -> None:
    store = HeldDocuments({"a": Document("a", "A.")}, lost=1)
    found = read(citing('["a", "zzz"]', ""), store=store)
    assert [found.response.has(doc_id) for doc_id in ("a", "zzz", None)] == [True, None, False]
    assert found.kinds == ["document_unknown"]


def test_citations_and_references_name_ids_as_documents_do(read: Read, write: Write) -> None:
    record = answer('[{"text": "S.", "citations": [{"docno": "a"}, {"PMID": "b"}, 0]}]')
    found = read(record.replace('["a", "b"]', '[{"docno": "a", "score": 1}, {"pmid": "b"}]'))
    assert (found.cited, found.response.references) == (["a", "b"], ("a", "b"))

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


@pytest.mark.parametrize(
    ("documents", "wanted", "kinds"),
    [
        pytest.param('["A.", "B."]', {"a": "A.", "b": "B."}, [BY_PLACE], id="texts"),
        pytest.param(
            '[{"text": "A."}, {"page_content": "B.", "metadata": {}}]',
            {"a": "A.", "b": "B."},
            [BY_PLACE],
            id="objects without id",
        ),
        pytest.param(
            '[{"page_content": "B.", "metadata": {"source": "b"}},'
            ' {"page_content": "A.", "metadata": {"source": "a"}}]',
            {"a": "A.", "b": "B."},
            [],
            id="sources that are cited",
        ),
        pytest.param(
            '[{"page_content": "A.", "metadata": {"source": "x.pdf"}},'
            ' {"page_content": "B.", "metadata": {"source": "x.pdf"}}]',
            {"a": "A.", "b": "B."},
            [BY_PLACE],
            id="one source",
        ),
        pytest.param('["A."]', {"a": "A."}, [UNSURE], id="fewer texts than references"),
        pytest.param(
            '["A.", "B.", "C."]', {"a": "A.", "b": "B.", "2": "C."}, [UNSURE], id="more texts"
        ),
        pytest.param('[5, "B."]', {"b": "B."}, [UNUSABLE, BY_PLACE], id="a number keeps its place"),
        pytest.param('{"0": "A.", "1": "B."}', {"a": "A.", "b": "B."}, [BY_PLACE], id="places"),
        pytest.param(
            '{"x": {"id": "a", "text": "A."}}', {"a": "A."}, [], id="keys that nobody cites"
        ),
        pytest.param('{"id": "a", "text": "A."}', {"a": "A."}, [], id="one document"),
        pytest.param(
            '[{"id": 1, "pmid": 2, "docno": "a", "text": "A."}]', {"a": "A."}, [], id="several ids"
        ),
        pytest.param(
            '[{"docno": "x", "id": "a", "text": "A."}]', {"a": "A."}, [], id="the id that is cited"
        ),
        pytest.param(
            '[{"docid": "a", "doc": {"segment": "A."}}]', {"a": "A."}, [], id="candidates"
        ),
        pytest.param(
            '[{"docno": "a", "text": "A."}, {"docno": "a", "text": "A."}]',
            {"a": "A."},
            [DUPLICATE],
            id="twice",
        ),
        pytest.param(
            '[{"docno": "a", "text": "A."}, {"docno": "a", "text": "More of a."}]',
            {"a": "A.\n\nMore of a."},
            ["document_chunks"],
            id="chunks",
        ),
        pytest.param(
            '[{"docno": "a", "words": "These are its words."}, {"docno": "b", "words": "So are."}]',
            {"a": "These are its words.", "b": ""},
            ["text_field_guessed", "document_not_read"],
            id="texts of an unknown name",
        ),
        pytest.param('{"a": ["A.", "B."]}', {"a": "A.\nB."}, [], id="a list of sentences"),
        pytest.param(
            '{"a": {"text": "", "p": "Two words", "q": "And three."}}',
            {"a": ""},
            [HOLLOW],
            id="empty",
        ),
    ],
)
def test_documents_that_references_name(
    documents: str, wanted: dict[str, str], kinds: list[str], read: Read
) -> None:
    found = read(citing("[0]", f', "documents": {documents}'))
    if "a" not in wanted:
        kinds = [*kinds, "document_missing"]
    assert {d.doc_id: d.text for d in found.response.documents.values()} == wanted
    assert (found.kinds, found.response.documents_given) == (kinds, True)


@pytest.mark.parametrize(
    ("citations", "documents", "cited", "kinds"),
    [
        pytest.param("[1, 0]", '["A.", "B."]', ["1", "0"], [BY_PLACE], id="texts"),
        pytest.param('["1"]', '["A.", "B."]', ["1"], [BY_PLACE], id="indices as text"),
        pytest.param(
            "[1]",
            '[{"id": "x", "text": "A."}, {"id": "y", "text": "B."}]',
            ["y"],
            [BY_INDEX],
            id="ids",
        ),
        pytest.param(
            "[7]", '[{"id": 8}, {"id": 7, "text": "B."}]', ["7"], [HOLLOW], id="an id first"
        ),
        pytest.param(
            "[2]", '["A.", "B."]', [None], [BY_PLACE, "citation_out_of_range"], id="out of range"
        ),
    ],
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

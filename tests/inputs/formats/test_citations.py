"""Citations as written, resolved into documents."""

from __future__ import annotations

import pytest

from tests.reading import Read, citing, responses
from trecjudge.records import Citation


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param("[0, 1]", ["a", "b"], id="indexes"),
        pytest.param('["b", "a"]', ["b", "a"], id="ids"),
        pytest.param('[0, "b"]', ["a", "b"], id="index and id"),
        pytest.param('{"b": 2, "a": 1}', ["b", "a"], id="dict"),
        pytest.param('[{"docid": "a"}, {"doc_id": "b"}]', ["a", "b"], id="objects"),
        pytest.param('{"id": "a", "score": 1}', ["a"], id="one object"),
        pytest.param('"a"', ["a"], id="one id"),
        pytest.param("1", ["b"], id="one index"),
        pytest.param('[" a\\n"]', ["a"], id="white space round an id"),
        pytest.param('[{"id": 1, "score": 0.5}]', ["b"], id="object with an index"),
        pytest.param("[]", [], id="empty list"),
        pytest.param("{}", [], id="empty dict"),
        pytest.param("null", [], id="null"),
    ],
)
def test_every_shape_of_citations(citations: str, wanted: list[str], read: Read) -> None:
    found = read(citing(citations))
    assert (found.cited, found.kinds) == (wanted, [])


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        pytest.param("5", "citation_out_of_range", id="past the end"),
        pytest.param("2", "citation_out_of_range", id="just past the end"),
        pytest.param("-1", "citation_out_of_range", id="negative"),
        pytest.param("true", "citation_unusable", id="true"),
        pytest.param("1.0", "citation_unusable", id="fraction"),
        pytest.param("null", "citation_unusable", id="null"),
        pytest.param('""', "citation_unusable", id="empty text"),
        pytest.param('["b"]', "citation_unusable", id="list inside"),
        pytest.param('{"score": 1}', "citation_unusable", id="object without id"),
        pytest.param('{"b": 1}', "citation_unusable", id="dict inside a list"),
        pytest.param('{"id": null}', "citation_unusable", id="object with null id"),
    ],
)
def test_a_citation_of_nothing_counts_and_does_not_exist(entry: str, kind: str, read: Read) -> None:
    found = read(citing(f"[0, {entry}]"))
    assert (found.cited, found.kinds) == (["a", None], [kind])
    assert (found.findings[0].sentence, found.findings[0].place.line) == (0, 1)
    assert "document_missing" not in found.kinds


@pytest.mark.parametrize("value", ["true", "false", "1.5"])
def test_citations_of_no_known_shape_are_one_citation_of_nothing(value: str, read: Read) -> None:
    found = read(citing(value))
    assert (found.cited, found.kinds) == ([None], ["citations_unusable"])


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param('["a", "a"]', ["a"], id="id twice"),
        pytest.param("[0, 0]", ["a"], id="index twice"),
        pytest.param('[0, "a"]', ["a"], id="index and its id"),
        pytest.param('["a", " a "]', ["a"], id="spaced"),
        pytest.param('[{"id": "a", "score": 1}, "a"]', ["a"], id="object and id"),
    ],
)
def test_a_document_cited_twice_counts_once(citations: str, wanted: list[str], read: Read) -> None:
    found = read(citing(citations))
    assert (found.cited, found.kinds) == (wanted, ["citation_duplicate"])


def test_two_citations_of_nothing_are_two(read: Read) -> None:
    found = read(citing('[7, 8, 7, null, ""]'))
    assert [citation.value for citation in found.citations] == ["7", "8", "None", ""]
    assert found.cited == [None] * 4


def test_a_document_cited_in_two_sentences_counts_twice(read: Read) -> None:
    sentences = '[{"text": "S.", "citations": ["a"]}, {"text": "T.", "citations": ["a"]}]'
    found = read(responses(sentences, more=', "documents": {"a": "A."}'))
    assert (found.cited, found.kinds) == (["a", "a"], [])


@pytest.mark.parametrize(
    ("entry", "documents", "wanted", "kinds"),
    [
        pytest.param('"0"', '{"a": "A."}', "a", ["citation_index_as_text"], id="index as text"),
        pytest.param('"00"', '{"a": "A."}', "a", ["citation_index_as_text"], id="leading zero"),
        pytest.param('"0"', '{"0": "Z."}', "0", [], id="a document has it as id"),
        pytest.param('"7"', '{"7": "Z."}', "7", [], id="id past the end"),
        pytest.param("7", '{"7": "Z."}', "7", [], id="integer id past the end"),
        pytest.param(
            '"7"',
            "{}",
            None,
            ["citation_index_as_text", "citation_out_of_range"],
            id="neither index nor id",
        ),
        pytest.param('"-1"', "{}", "-1", ["document_missing"], id="minus is no digit"),
        pytest.param('"²"', "{}", "²", ["document_missing"], id="superscript is no digit"),
        pytest.param('"٣"', "{}", "٣", ["document_missing"], id="digit of another script"),
    ],
)
def test_digits_are_an_id_if_there_is_such_a_document_else_an_index(
    entry: str, documents: str, wanted: str | None, kinds: list[str], read: Read
) -> None:
    found = read(citing(f"[{entry}]", f', "documents": {documents}'))
    assert (found.cited, found.kinds) == ([wanted], kinds)


def test_digits_are_an_id_if_a_reference_has_it(read: Read) -> None:
    text = citing('["0", "31"]', "").replace('["a", "b"]', '["31", "0"]')
    assert (read(text).cited, read(text).kinds) == (["0", "31"], ["documents_not_given"])


def test_digits_are_an_id_where_there_are_no_references(read: Read) -> None:
    found = read(responses('[{"text": "S.", "citations": ["31415"]}]'))
    assert (found.cited, found.kinds) == (["31415"], ["documents_not_given"])


@pytest.mark.parametrize(
    "citations", [f'["{"9" * 5000}"]', f"[{'9' * 5000}]"], ids=["as text", "as a number"]
)
def test_an_index_of_5000_digits_does_not_exist(citations: str, read: Read) -> None:
    found = read(citing(citations))
    if found.responses:
        assert found.cited == [None]
    assert {"citation_out_of_range", "record_too_large"} & set(found.kinds)


@pytest.mark.parametrize(
    ("score", "wanted", "kinds"),
    [
        ("0.5", 0.5, []),
        ("2", 2.0, []),
        ("-1e3", -1000.0, []),
        ("null", None, []),
        ("true", None, ["citation_score_unusable"]),
        ('"0.5"', None, ["citation_score_unusable"]),
        ("[1]", None, ["citation_score_unusable"]),
        ("1e999", None, ["citation_score_unusable"]),
        ("1" + "0" * 400, None, ["citation_score_unusable"]),
    ],
    ids=lambda value: str(value)[:9],
)
def test_scores(score: str, wanted: float | None, kinds: list[str], read: Read) -> None:
    found = read(citing(f'{{"a": {score}}}'))
    assert (found.citations, found.kinds) == ([Citation("a", "a", wanted)], kinds)


REFERENCES = {
    "dict of scores": ('{"a": 0.9, "b": 0.1}', "b", []),
    "null keeps its place": ('[null, "b"]', "b", ["reference_unusable"]),
    "an unusable one is cited": ('["a", null]', None, ["reference_unusable"]),
    "integer ids": ('["a", 31]', "31", ["document_missing"]),
    "null references": ("null", None, ["references_unusable", "citation_out_of_range"]),
    "references as text": ('"a"', None, ["references_unusable", "citation_out_of_range"]),
    "empty references": ("[]", None, ["citation_out_of_range"]),
}


@pytest.mark.parametrize(("references", "wanted", "kinds"), REFERENCES.values(), ids=REFERENCES)
def test_references(references: str, wanted: str | None, kinds: list[str], read: Read) -> None:
    found = read(citing("[1]").replace('["a", "b"]', references))
    assert (found.cited, found.kinds) == ([wanted], kinds)


def test_the_finding_names_what_is_there(read: Read) -> None:
    found = read(citing("[9]"))
    assert str(found.findings[0]).endswith("run.jsonl:1: sentence 1 cites 9, references has 2")
    assert found.findings[0].value == "9"
    found = read(responses('[{"text": "S.", "citations": [0]}]', more=', "documents": {}'))
    assert str(found.findings[0]).endswith("cites 0, references is missing")


@pytest.mark.parametrize(
    ("entry", "wanted", "kinds"),
    [
        pytest.param('"citation": ["a"]', ["a"], ["citations_misnamed"], id="a list"),
        pytest.param('"citation": 1', ["b"], ["citations_misnamed"], id="one index"),
        pytest.param('"citation": "a"', ["a"], ["citations_misnamed"], id="one id"),
        pytest.param('"citation": {"b": 0.5}', ["b"], ["citations_misnamed"], id="a dict"),
        pytest.param(
            '"citations": null, "citation": [0]', ["a"], ["citations_misnamed"], id="null"
        ),
        pytest.param('"citations": ["b"], "citation": ["a"]', ["b"], [], id="beside citations"),
        pytest.param('"citations": [], "citation": ["a"]', [], [], id="beside empty citations"),
        pytest.param('"citation": null', [], [], id="null citation"),
    ],
)
def test_citation_for_citations(
    entry: str, wanted: list[str], kinds: list[str], read: Read
) -> None:
    found = read(citing("[]").replace('"citations": []', entry))
    assert (found.cited, found.kinds) == (wanted, kinds)


@pytest.mark.parametrize(
    ("documents", "wanted", "kind"),
    [
        pytest.param('[{"id": "a", "text": "A."}]', "a", "citation_by_position", id="a list"),
        pytest.param('{"a": "A."}', None, "citation_out_of_range", id="a dict has no order"),
        pytest.param(
            '[{"id": "a", "text": "A."}, {"id": "a", "text": "B."}]',
            "a",
            "citation_by_position",
            id="an id twice",
        ),
    ],
)
def test_without_references_an_index_counts_listed_documents(
    documents: str, wanted: str | None, kind: str, read: Read
) -> None:
    more = f', "documents": {documents}'
    found = read(responses('[{"text": "S.", "citations": [0]}]', more=more))
    assert (found.cited, kind in found.kinds) == ([wanted], True)


def test_neuclir_has_indices_too(read: Read) -> None:
    found = read(
        '{"request_id": "3", "run_id": "r", "references": ["x", "y"],'
        ' "sentences": [{"text": "S.", "citations": [1]}]}'
    )
    assert (found.cited, found.kinds) == (["y"], ["documents_not_given"])

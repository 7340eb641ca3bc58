"""Citations that a text marks itself."""

from __future__ import annotations

import json

import pytest

from tests.reading import Read, Reading, answer

Cited = list[tuple[str, list[str | None]]]
TOLD = ("response_not_a_list", "documents_not_given", "markers_read")


def with_references(*references: str, more: str = "") -> str:
    return answer("%s", more=more).replace('["a", "b"]', json.dumps(references))


THREE = with_references("k-1", "k-2", "k-3")


def cited(found: Reading) -> Cited:
    """Return the text of every sentence and the documents that it cites."""
    sentences = found.response.sentences
    return [(s.text, [citation.doc_id for citation in s.citations]) for s in sentences]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("A is [1]. B is [2, 3].", [["k-1"], ["k-2", "k-3"]], id="before the stop"),
        pytest.param("A is.[1] B is.[2][3]", [["k-1"], ["k-2", "k-3"]], id="after the stop"),
        pytest.param("A is. [1] B is. [2] [3]", [["k-1"], ["k-2", "k-3"]], id="spaced"),
        pytest.param("A is [1-3]. B is.", [["k-1", "k-2", "k-3"], []], id="range"),
        pytest.param("A is [2–3]. B is [1;2].", [["k-2", "k-3"], ["k-1", "k-2"]], id="dash, ;"),
        pytest.param("A is【1】. B is.【2†source】", [["k-1"], ["k-2"]], id="lenticular"),
        pytest.param("A is [[1]]. B is [^2].", [["k-1"], ["k-2"]], id="double, footnote"),
        pytest.param("A is [k-1]. B is [k-2, k-3].", [["k-1"], ["k-2", "k-3"]], id="ids"),
        pytest.param("A is (Source: k-1). B is.", [["k-1"], []], id="source"),
        pytest.param(
            "A is. (Sources: k-1; [2]) B is (source: 3).", [["k-1", "k-2"], ["k-3"]], id="sources"
        ),
        pytest.param("A is [Doc 1]. B is [Source: 2].", [["k-1"], ["k-2"]], id="labels"),
        pytest.param("A is [doc_1 and 2]. B is.", [["k-1", "k-2"], []], id="and"),
        pytest.param("A is [1](https://e.org/a). B is.", [["k-1"], []], id="link"),
        pytest.param("A is [1] [1]. B is.", [["k-1"], []], id="twice counts once"),
        pytest.param("[1] A is. B is.", [["k-1"], []], id="before everything"),
        pytest.param("A is. B is.\\n\\n[1][3]", [[], ["k-1", "k-3"]], id="after everything"),
        pytest.param("A is.[1]B is.", [["k-1"], []], id="no space after it"),
    ],
)
def test_every_marker_is_a_citation_of_the_sentence_before_it(
    text: str, wanted: list[list[str]], read: Read
) -> None:
    found = read(THREE % f'"{text}"')
    assert cited(found) == list(zip(["A is.", "B is."], wanted, strict=True))
    assert found.kinds.count("markers_read") == 1
    assert set(found.kinds) <= set(TOLD)


@pytest.mark.parametrize(
    ("text", "wanted", "how"),
    [
        ("A is [1]. B is [3].", [["k-1"], ["k-3"]], "counted from 1"),
        ("A is [0]. B is [2].", [["k-1"], ["k-3"]], "counted from 0"),
        ("A is [1]. B is [0].", [["k-2"], ["k-1"]], "counted from 0"),
        ("A is [k-1]. B is.", [["k-1"], []], "read by id"),
    ],
)
def test_it_is_reported_how_numbers_are_read(
    text: str, wanted: list[list[str]], how: str, read: Read
) -> None:
    found = read(THREE % f'"{text}"')
    assert [documents for _, documents in cited(found)] == wanted
    assert how in str(next(f for f in found.findings if f.kind == "markers_read"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("He said so [sic] of it.", id="a word"),
        pytest.param("It opened in [2019].", id="a year"),
        pytest.param("It ran [1990-1995] and (twice).", id="years, no document"),
        pytest.param("Water is [H2O].", id="letters and digits"),
        pytest.param("It is [-1] or [1.5].", id="other numbers"),
        pytest.param("It lies in the interval [0, 1].", id="an interval"),
        pytest.param("Use a[1][1] and x[0] = 3.", id="indices"),
        pytest.param("Use `[1]` there.", id="code"),
        pytest.param("It has 5 W/cm² or 10³ km².", id="units and powers"),
        pytest.param("It is 13.4(3) by <sup>129</sup>-I.", id="an uncertainty, an isotope"),
        pytest.param("It is (source unknown) (page 12) (from 1931).", id="parentheses"),
        pytest.param("It is so [citation needed].", id="what editors write"),
    ],
)
@pytest.mark.parametrize("beside", ["", " It is [1]."], ids=["by itself", "beside a marker"])
def test_other_brackets_stay_text(text: str, beside: str, read: Read) -> None:
    found = read(THREE % f'"{text}{beside}"')
    assert cited(found)[0] == (text, [])
    assert set(found.kinds) <= set(TOLD)
    assert ("markers_read" in found.kinds) == bool(beside)


@pytest.mark.parametrize(
    "mark",
    [
        "(Source: himself)",
        "[1, see below]",
        "[Blue Book]",
        "[w8]",
        "(Smith et al., 2020)",
        "\\\\cite{smith}",
        "[@smith]",
        "<cite>smith</cite>",
    ],
)
@pytest.mark.parametrize("beside", ["", " It is [1]."], ids=["by itself", "beside a marker"])
def test_what_looks_like_a_mark_and_is_not_understood_is_unread(
    mark: str, beside: str, read: Read
) -> None:
    found = read(THREE % f'"So it is {mark}.{beside}"')
    first = found.response.sentences[0]
    assert first.text == "So it is."
    assert [(c.doc_id, bool(c.unread)) for c in first.citations] == [(None, True)]
    assert [f.sentence for f in found.findings if f.kind == "citation_not_read"] == [0]


def test_a_number_out_of_range_beside_others_does_not_exist(read: Read) -> None:
    found = read(THREE % '"A is [1, 7]. B is [9]."')
    assert cited(found) == [("A is.", ["k-1", None]), ("B is.", [None])]
    findings = [str(f) for f in found.findings if f.kind == "citation_out_of_range"]
    assert [text.partition(": ")[2] for text in findings] == [
        "sentence 1 marks [7], references has 3",
        "sentence 2 marks [9], references has 3",
    ]


def test_an_id_of_their_form_that_is_not_there_is_missing(read: Read) -> None:
    text = with_references("k-1", more=', "documents": {"k-1": "K."}') % '"A is [k-1]. B is [k-9]."'
    found = read(text)
    assert cited(found) == [("A is.", ["k-1"]), ("B is.", ["k-9"])]
    assert [f.sentence for f in found.findings if f.kind == "document_missing"] == [1]


@pytest.mark.parametrize(
    ("text", "references"),
    [
        pytest.param("It is [7].", ["k-1"], id="out of range, and no other"),
        pytest.param("It is [1].", [], id="an empty list"),
    ],
)
def test_a_number_of_no_document_is_a_citation_that_does_not_exist(
    text: str, references: list[str], read: Read
) -> None:
    found = read(with_references(*references) % f'"{text}"')
    assert cited(found) == [("It is.", [None])]
    assert "citation_out_of_range" in found.kinds


@pytest.mark.parametrize(
    ("documents", "wanted"),
    [
        pytest.param('[{"id": "a", "text": "A."}, {"id": "b", "text": "B."}]', "b", id="a list"),
        pytest.param('{"1": "A.", "2": "B."}', "2", id="ids of digits"),
        pytest.param('{"a": "A.", "b": "B."}', None, id="a dict has no order"),
    ],
)
def test_documents_are_counted_where_there_are_no_references(
    documents: str, wanted: str | None, read: Read
) -> None:
    text = answer('"It is [2]."', more=f', "documents": {documents}')
    found = read(text.replace('"references": ["a", "b"], ', ""))
    assert found.cited == [wanted]
    assert ("citation_not_read" in found.kinds) == (wanted is None)


def test_numbers_that_are_ids_are_ids(read: Read) -> None:
    found = read(with_references("22802756", "34765068") % '"A is [34765068]. B is [22802756]."')
    assert found.cited == ["34765068", "22802756"]


def test_a_source_may_be_named_by_its_title_or_address(read: Read) -> None:
    documents = (
        ', "documents": {"k-1": {"title": "On Kettles", "url": "https://e.org/k", "text": "K."}}'
    )
    text = '"A is (Source: on kettles). B is [https://e.org/k]."'
    assert cited(read(with_references("k-1", more=documents) % text)) == [
        ("A is.", ["k-1"]),
        ("B is.", ["k-1"]),
    ]


LISTS = {
    "objects": (
        '[{"text": "A is [1]."}, {"text": "B is."}]',
        {0: ("A is.", ["k-1"]), 1: ("B is.", [])},
    ),
    "cut after the stop": (
        '["A is.", "[1] B is. [2]"]',
        {0: ("A is.", ["k-1"]), 1: ("B is.", ["k-2"])},
    ),
    "all begin with theirs": (
        '["[1] A is.", "[2] B is."]',
        {0: ("A is.", ["k-1"]), 1: ("B is.", ["k-2"])},
    ),
    "nothing but a marker": (
        '["A is.", "[1]", "B is."]',
        {0: ("A is.", ["k-1"]), 2: ("B is.", [])},
    ),
}


@pytest.mark.parametrize(("sentences", "wanted"), LISTS.values(), ids=LISTS)
def test_a_list_without_citations_may_mark_them_too(
    sentences: str, wanted: dict[int, tuple[str, list[str]]], read: Read
) -> None:
    found = read(THREE % sentences)
    indices = [sentence.index for sentence in found.response.sentences]
    assert dict(zip(indices, cited(found), strict=True)) == wanted
    assert "markers_read" in found.kinds


def test_where_one_sentence_lists_citations_marks_are_only_cut(read: Read) -> None:
    found = read(THREE % '[{"text": "A is [1]."}, {"text": "B is.", "citations": [0]}]')
    assert cited(found) == [("A is.", []), ("B is.", ["k-1"])]
    assert [sentence.written for sentence in found.response.sentences] == ["A is [1].", ""]


def test_what_is_left_is_text_without_gaps(read: Read) -> None:
    found = read(THREE % '"Steam [1], hot[2]and fast [3] , makes it \\"sing.\\"[1]"')
    assert cited(found)[0][0] == 'Steam, hot and fast , makes it "sing."'

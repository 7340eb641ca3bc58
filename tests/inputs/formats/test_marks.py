"""Citations in the dress that answers give them, of documents with ids, titles and addresses."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.reading import Read, Reading

KETTLES = {"id": "k7", "title": "Copper Kettles", "url": "https://e.org/copper", "text": "K."}
LOOMS = {"id": "w2", "title": "Hand Looms of Skye", "url": "https://e.org/looms/a", "text": "L."}
CONTEXTS = [KETTLES, LOOMS]
FACTS = ("It boils.", "It weaves.")


def record(answer: str, contexts: Any = None, **more: Any) -> str:
    """Return a pipeline's record of an answer to a question."""
    given = CONTEXTS if contexts is None else contexts
    whole = {"question": "What is known?", "answer": answer, "contexts": given, **more}
    return json.dumps(whole, ensure_ascii=False)


def cited(found: Reading) -> list[tuple[str, list[str | None]]]:
    """Return the text of every sentence and the documents that it cites."""
    return [(s.text, [c.doc_id for c in s.citations]) for s in found.response.sentences]


@pytest.mark.parametrize(
    "mark",
    [
        *(
            " [2]",
            " ［2］",
            "【2†source】",
            "【4:2†a】"[:0] or " 〔2〕",
            " {2}",
            " [٢]",
            " [２]",
            "²",
        ),
        *("<sup>2</sup>", "<sup>[2]</sup>", "^2^", "^[2]", " \\[2\\]", " [[2]]", " [^2]", " [②]"),
        *(" [2, p. 12]", " [2, pp. 3-4]", " [2; § 4]", " [2: 14]"[:0] or " [2, S. 7]", " [#2]"),
        *(
            " [Doc 2]",
            " (Doc 2)",
            " (Source: Doc 2)",
            " (see Doc 2)",
            " [Context 2]",
            " (Passage 2)",
        ),
        *(
            " [cite: 2]",
            " [Source 2]",
            " [Quelle: 2]",
            " [来源 2]",
            " （来源：2）",
            " (ref. 2)",
        ),
        *(" [@w2]", " \\cite{w2}", " \\citep[p. 2]{w2}", " <cite>w2</cite>", ' <ref name="w2"/>'),
        *(" (w2)", " [w2]", " [source: w2]", " (docid: w2)", " [doc_id: w2]", " {{cite: w2}}"),
        *(" https://e.org/looms/a", " (https://e.org/looms/a)", " <https://e.org/looms/a>"),
        *(
            " ([Skye](https://e.org/looms/a))",
            " [2](https://e.org/looms/a)",
            " [e.org](https://www.e.org/looms/a/)",
        ),
        *(
            " [Hand Looms of Skye](https://e.org/looms/a)",
            " [Source: Hand Looms of Skye]",
            " [hand-looms-of-skye.pdf]",
        ),
        *(
            " (Source: Hand Looms of Skye, 2025-03-15)",
            " [Hand Looms of Skye, p. 3]",
            " [Source: Hand Looms]",
        ),
    ],
)
@pytest.mark.parametrize("place", ["{}.", ".{}"], ids=["before the stop", "behind it"])
def test_a_mark_names_its_document_and_is_no_content(mark: str, place: str, read: Read) -> None:
    if mark.startswith(" [Hand") and "](" in mark:  # behind a stop it may begin a sentence
        place = "{}."
    end = place.format(mark)
    found = read(record(f"The loom weaves wool{end} It is old."))
    assert cited(found) == [("The loom weaves wool.", ["w2"]), ("It is old.", [])]
    assert found.response.sentences[0].written == f"The loom weaves wool{end}".strip()
    assert found.kinds == ["markers_read"]


@pytest.mark.parametrize(
    "context",
    [
        {"metadata": {"source": "docs/ferry.pdf"}},
        {"file_path": "C:\\docs\\ferry.pdf"},
        {"name": "ferry.pdf"},
        {"id": "f-1", "document_name": "docs/ferry.pdf"},
    ],
)
@pytest.mark.parametrize("mark", ["[ferry.pdf]", "(ferry.pdf, page 3)", "[ferry.pdf, p. 3]"])
def test_a_file_is_named_and_its_chunks_are_one_document(
    context: dict[str, object], mark: str, read: Read
) -> None:
    others = [{"text": "L.", "source": "docs/looms.pdf"}, {"text": "N.", "source": "docs/ferry.md"}]
    found = read(record(f"A is {mark}.", [{"text": "K.", **context}, *others]))
    (doc_id,) = found.cited
    assert doc_id and found.response.documents[doc_id].text == "K."
    again = {"text": "M.", **context} | ({"id": "f-2"} if "id" in context else {})
    found = read(record(f"A is {mark}.", [{"text": "K.", **context}, again, *others]))
    assert found.response.documents[str(found.cited[0])].text == "K.\n\nM."


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        pytest.param("[1] A is. [2] B is.", [["k7"], ["w2"]], id="numbers before"),
        pytest.param("(w2) A is. (k7) B is.", [["w2"], ["k7"]], id="ids before"),
        pytest.param("A is [1; 2]. B is [1]-[2].", [["k7", "w2"], ["k7", "w2"]], id="several"),
        pytest.param("A is (1). B is (2).", [["k7"], ["w2"]], id="numbers in parentheses"),
        pytest.param("A is (Doc 1, Doc 2). B is.", [["k7", "w2"], []], id="labels"),
        pytest.param('<cite id="w2">A is.</cite> B is.', [["w2"], []], id="a tag around it"),
        pytest.param("<co: 0,1>A is.</co: 0,1> B is.", [["k7", "w2"], []], id="spans, from 0"),
    ],
)
def test_marks_belong_to_their_sentences(answer: str, wanted: list[list[str]], read: Read) -> None:
    found = read(record(answer))
    assert cited(found) == list(zip(["A is.", "B is."], wanted, strict=True))


def test_the_words_of_a_link_in_a_sentence_stay(read: Read) -> None:
    found = read(record("The [old loom](https://e.org/looms/a) weaves wool."))
    assert cited(found) == [("The old loom weaves wool.", ["w2"])]


@pytest.mark.parametrize(
    ("mark", "doc_id"),
    [
        (" [9]", None),
        (" [w9]", "w9"),
        (" (https://e.org/made/up)", "https://e.org/made/up"),
        (" [Source: Blue Book]", "Blue Book"),
    ],
)
def test_what_names_no_document_is_a_citation_of_none(
    mark: str, doc_id: str | None, read: Read
) -> None:
    found = read(record(f"A is [1]. B is{mark}."))
    assert cited(found) == [("A is.", ["k7"]), ("B is.", [doc_id])]
    assert not any(c.unread for s in found.response.sentences for c in s.citations)


@pytest.mark.parametrize(
    "mark", ["(https://e.org/a)", "[Source: Blue Book]", "[Blue](http://e.org)"]
)
def test_a_name_is_unread_where_documents_have_none_to_compare(mark: str, read: Read) -> None:
    found = read(record(f"A is [1]. B is {mark}.", ["K.", "L."]))
    assert [bool(c.unread) for s in found.response.sentences for c in s.citations] == [False, True]
    assert "citation_not_read" in found.kinds


def test_marks_without_contexts_are_unread(read: Read) -> None:
    text = '{"question": "What?", "answer": "A is [1]. B is [2]."}'
    (first, second) = read(text).response.sentences
    assert first.citations[0].unread == second.citations[0].unread != ""


def test_what_a_document_says_in_brackets_is_content(read: Read) -> None:
    kettle = {"id": "k7", "text": "Water boils (Smith et al., 2020) at 100 degrees [Box A]."}
    found = read(record("It boils (Smith et al., 2020) at 100 [Box A].", [kettle]))
    assert cited(found) == [("It boils (Smith et al., 2020) at 100 [Box A].", [])]


@pytest.mark.parametrize("empty", ['"citations": []', '"citations": {}', '"citations": null', ""])
def test_marks_count_where_no_list_has_a_citation(empty: str, read: Read) -> None:
    sentence = f'{{"text": "A is (Doc 1)."{", " if empty else ""}{empty}}}'
    metadata = '"metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"}'
    given = '"references": ["a"], "documents": {"a": "A."}'
    found = read(f'{{{metadata}, "responses": [{sentence}], {given}}}')
    assert cited(found) == [("A is.", ["a"])]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        pytest.param("A [0]. B [1].", "C [1].", ["k7", "w2", "w2"], id="a 0 decides for all"),
        pytest.param("A [1].", "C [2].", ["k7", "w2"], id="the last one is as many as there are"),
        pytest.param("A [1].", "C `x[0]`, x[0] = [0, 1) in [0, 1].", ["k7"], id="code is no 0"),
        pytest.param("A [0].", "C [2].", [None, None], id="two ways: nobody knows"),
    ],
)
def test_one_run_counts_one_way(
    first: str, second: str, wanted: list[str | None], read: Read
) -> None:
    lines = [record(first, topic_id="1"), record(second, topic_id="2")]
    responses = read("\n".join(lines)).responses
    cites = [c for r in responses for s in r.sentences for c in s.citations]
    assert [c.doc_id for c in cites] == wanted
    assert all(bool(c.unread) == (c.doc_id is None) for c in cites)


def test_another_run_may_count_otherwise(read: Read) -> None:
    lines = [record("A [0]. B [1].", run_id="x"), record("A [1]. B [2].", run_id="y")]
    responses = read("\n".join(lines)).responses
    assert [[c.doc_id for s in r.sentences for c in s.citations] for r in responses] == [
        ["k7", "w2"],
        ["k7", "w2"],
    ]


@pytest.mark.parametrize(
    ("answer", "contexts", "wanted"),
    [
        (
            "Y [Handbook]",
            [{"title": "Handbook", "text": "X"}, {"title": "Handbook", "text": "Y"}],
            "X\n\nY",
        ),
        (
            "Y (https://e.org/h)",
            [{"url": "e.org/h", "text": "X"}, {"url": "e.org/h", "text": "Y"}],
            "X\n\nY",
        ),
        ("X [3]", ["[3] X", "[1] Y"], "[3] X"),
        ("X [1]", "[2] Y\n\n[1] X", "[1] X"),
        ("X [2]", [{"id": "2", "text": "X"}, {"id": "1", "text": "Y"}], "X"),
        ("X (PMID: 227)", [{"id": "227", "text": "X"}], "X"),
        ("X [Source: guide.md (page 4)]", [{"id": "guide.md", "title": "Guide", "text": "X"}], "X"),
        ("[cite_start]X [cite: 1]", ["X"], "X"),
        ("X\n**Source:** [1]", ["X"], "X"),
        (
            "X [fares][f]\n\n[f]: https://e.org/d",
            [{"id": "d", "url": "https://e.org/d", "text": "X"}],
            "X",
        ),
    ],
)
def test_a_mark_finds_what_it_names_however_contexts_are_given(
    answer: str, contexts: Any, wanted: str, read: Read
) -> None:
    found = read(record(answer, contexts))
    (citation,) = found.response.sentences[0].citations
    assert found.response.documents[citation.doc_id or ""].text.strip() == wanted


@pytest.mark.parametrize(
    ("mark", "other"),
    [
        ("[alpha]", "[delta]"),
        ("(guide.md)", "(secret.md)"),
        ("【冬季时刻表】", "【秋季时刻表】"),
        ("[guide.md]", "[guide.md][api.md]"),
    ],
)
def test_no_name_beside_names_is_free(mark: str, other: str, read: Read) -> None:
    contexts = [{"id": mark[1:-1], "text": "A."}, {"id": "beta", "text": "B."}]
    found = read(record(f"A is so {mark}. B is so {other}.", contexts))
    last = found.response.sentences[-1].citations
    assert any(c.unread or c.doc_id not in found.response.documents for c in last)


@pytest.mark.parametrize(
    "text",
    [
        "Ca²⁺ ions move at 10⁻² m.",
        "The [2]rotaxane is new.",
        "See it at index [0] of it.",
        "It is ![Map](https://e.org/m.png) here.",
        "Press [Enter].",
        "It shows it [Figure 2].",
        "It won (Mar 2024).",
        "First (1) heat it.",
    ],
)
def test_what_cites_nothing_stays(text: str, read: Read) -> None:
    found = read(record(f"{text} A is [1]."))
    assert cited(found)[0] == (text, [])


@pytest.mark.parametrize(
    "mark", [" (1)", " [web:1]", " [S1]", "[^1^]", " [स्रोत 1]", " (based on Document 1)"]
)
def test_where_citations_are_listed_marks_are_no_content(mark: str, read: Read) -> None:
    sentence = json.dumps({"text": f"Dogs travel free{mark}.", "citations": ["d"]})
    metadata = '{"team_id": "t", "run_id": "r", "topic_id": "1"}'
    found = read(
        f'{{"metadata": {metadata}, "responses": [{sentence}], "documents": {{"d": "D."}}}}'
    )
    assert cited(found) == [("Dogs travel free.", ["d"])]


def test_an_inventory_says_what_became_of_the_marks(read: Read) -> None:
    found = read(record("A [1]. B [9]. C (see Doc 2). D [Blue Book]."))
    text = str(next(f for f in found.findings if f.kind == "marks_counted"))
    assert (
        "3 as [text] (1 resolved, 1 of no document, 1 not read); 1 as (text) (1 resolved)" in text
    )
    assert text.endswith("numbers count from 1")


@pytest.mark.parametrize(
    "part",
    ["[", "(", "`", "```\n", "$", "<cite", "[1]", "A [1]. ", "[1] A. ", "a[1]", "[x](", "^", "{"],
)
def test_reading_takes_time_in_proportion_to_the_text(part: str, read: Read) -> None:
    times = []
    for size in (10_000, 40_000):
        text = record("A. " + part * (size // len(part)))
        begin = time.process_time()
        assert read(text).responses
        times.append(time.process_time() - begin)
    assert times[1] < 12 * times[0] + 0.125


@pytest.mark.parametrize("between", [" ", ", "])
def test_words_of_a_tag_behind_a_mark_keep_their_space(between: str, read: Read) -> None:
    found = read(record(f'The pier is long [1]{between}<cite id="w2">and it is old.</cite>'))
    text = found.response.sentences[0].text
    assert text == f"The pier is long{between}and it is old."


def test_where_a_zero_may_be_an_interval_nobody_knows(read: Read) -> None:
    lines = [record("A [1].", topic_id="1"), record("All lie scaled [0, 1].", topic_id="2")]
    responses = read("\n".join(lines)).responses
    assert all(c.unread for r in responses for s in r.sentences for c in s.citations)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (("Doc 1", "Doc 2"), [["k7"], ["w2"]]),
        (("1", "2"), [["k7"], ["w2"]]),
        (("Copper Kettles", "Hand Looms of Skye, p. 3"), [["k7"], ["w2"]]),
        (("k7", "https://e.org/looms/a"), [["k7"], ["w2"]]),
        (("[1]", "(Doc 2)"), [["k7"], ["w2"]]),
        (("Copper Kettles", "Blue Book"), [["k7"], [None]]),
    ],
)
def test_a_column_of_sources_cites(
    cells: tuple[str, str], wanted: list[list[str | None]], read: Read
) -> None:
    rows = "\n".join(f"| {s} | {cell} |" for s, cell in zip(FACTS, cells, strict=True))
    found = read(record(f"| Fact | Source |\n|---|:--|\n{rows}"))
    assert cited(found) == list(zip(FACTS, wanted, strict=True))


def test_a_column_that_names_no_document_is_said(read: Read) -> None:
    found = read(record("| Source | Share |\n|---|---|\n| Solar | 5 % |\n\nSo it is [1]."))
    assert cited(found)[0] == ("Source: Solar; Share: 5 %.", [])

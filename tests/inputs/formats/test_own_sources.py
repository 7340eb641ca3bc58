"""The list of sources that an answer has itself."""

from __future__ import annotations

import json

import pytest

from tests.inputs.formats.test_marks import cited, record
from tests.reading import Read

ANSWER = "Copper boils water [2]. Skye weaves [1]."
WANTED = [("Copper boils water.", ["k7"]), ("Skye weaves.", ["w2"])]


@pytest.mark.parametrize(
    "listed",
    [
        "## References\n[1] https://e.org/looms/a - Looms\n[2] https://e.org/copper",
        "Sources:\n1. Hand Looms of Skye\n2. Copper Kettles",
        "**Quellen**\n- [1] w2\n- [2] k7",
        "参考文献\n[1] Hand Looms of Skye. https://e.org/looms/a\n[2] Copper Kettles",
        "---\n\n### Sources\n\n[1]: https://e.org/looms/a\n\n[2]: https://e.org/copper",
        "[1] https://e.org/looms/a\n[2] https://e.org/copper",
        "[^1]: https://e.org/looms/a\n[^2]: Copper Kettles",
        "References\n* [1] [Looms](https://e.org/looms/a)\n* [2] [Kettles](https://e.org/copper)",
        "# Works cited\n¹ https://e.org/looms/a\n² https://e.org/copper",
        "Kilder:\n1. Hand Looms of Skye\n2. Copper Kettles",
        "Where it is from\n1. Hand Looms of Skye\n2. Copper Kettles",
        "Sources: [1] Hand Looms of Skye, [2] Copper Kettles",
        "## Sources\n| # | Source |\n|---|---|\n| 1 | Hand Looms of Skye |\n| 2 | Copper Kettles |",
        "<h3>Sources</h3>\n<ol>\n<li>Hand Looms of Skye</li>\n<li>Copper Kettles</li>\n</ol>",
        "References\n[1] A. Smith,\n    Hand Looms of Skye, 2019.\n[2] See Copper Kettles, p. 3.",
        "Sources:\n[S1] Document 2\n[S2] Document 1",
    ],
)
def test_it_says_what_its_numbers_mean_and_is_no_sentence(listed: str, read: Read) -> None:
    found = read(record(f"{ANSWER}\n\n{listed}"))
    assert cited(found) == WANTED
    assert "own_sources_read" in found.kinds


def test_text_behind_it_is_judged(read: Read) -> None:
    text = f"{ANSWER}\n\n## Sources\n[1] w2\n[2] k7\n\nBoth are old."
    assert cited(read(record(text)))[-1] == ("Both are old.", [])


@pytest.mark.parametrize(
    "line", ["Sources: Doc 1, Doc 2", "References: [1], [2]", "**Source:** k7"]
)
def test_a_last_line_of_sources_is_no_sentence(line: str, read: Read) -> None:
    found = read(record(f"Copper boils water [1].\n\n{line}"))
    assert cited(found) == [("Copper boils water.", ["k7"])]


def test_a_page_of_its_list_that_is_no_document_is_not_there(read: Read) -> None:
    found = read(record("It is old [1].\n\nReferences:\n[1] https://other.org/x"))
    assert cited(found) == [("It is old.", ["https://other.org/x"])]


def test_without_names_to_compare_its_numbers_count_the_documents(read: Read) -> None:
    found = read(
        record("It is [2].\n\nReferences:\n[1] https://o.org/x\n[2] https://o.org/y", ["K.", "L."])
    )
    assert [c.value for c in found.response.sentences[0].citations] == ["2"]
    assert found.response.sentences[0].citations[0].doc_id == found.response.references[1]


@pytest.mark.parametrize(
    "text",
    [
        "The sources are:\nIt was built in 1931 by a mayor whose name is lost.",
        "Sources say so.\nReferences to it are rare.",
        "It has two steps.\n1. Heat the water.\n2. Pour it.",
    ],
)
def test_other_lines_stay_sentences(text: str, read: Read) -> None:
    found = read(record(text))
    assert "own_sources_read" not in found.kinds
    assert "".join(s.text for s in found.response.sentences).endswith(text[-6:])


def test_claims_under_the_heading_are_judged(read: Read) -> None:
    claim = "- The king of Skye has nine crowns and a ship of gold."
    found = read(record(f"{ANSWER}\n\n## Sources\n{claim}"))
    assert "crowns" in found.response.sentences[-1].text


def test_so_does_a_list_of_sentences(read: Read) -> None:
    texts = ["Skye weaves [1].", "## References", "[1] https://e.org/looms/a"]
    responses = json.dumps([{"text": text} for text in texts])
    documents = '{"w2": {"url": "https://e.org/looms/a", "text": "L."}}'
    metadata = '{"team_id": "t", "run_id": "r", "topic_id": "1"}'
    found = read(f'{{"metadata": {metadata}, "responses": {responses}, "documents": {documents}}}')
    assert cited(found) == [("Skye weaves.", ["w2"])]


def test_so_does_a_list_of_the_record(read: Read) -> None:
    listed = ["[1] https://e.org/looms/a", "[2] https://e.org/copper"]
    assert cited(read(record(ANSWER, attribution=listed))) == WANTED


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ("https://e.org/other", "https://e.org/other"),
        ("https://e.org/looms/a_(b)", "w3"),
        ("Hand Looms", "2"),
    ],
)
def test_its_numbers_count_before_ids_that_are_numbers(entry: str, wanted: str, read: Read) -> None:
    contexts = [
        {"id": "1", "title": "Copper", "url": "https://e.org/copper", "text": "K."},
        {"id": "2", "title": "Hand Looms", "url": "https://e.org/looms", "text": "L."},
        {"id": "w3", "title": "Pier", "url": "https://e.org/looms/a_(b)", "text": "P."},
    ]
    found = read(record(f"Skye weaves [1].\n\nReferences\n[1] {entry}", contexts))
    assert cited(found) == [("Skye weaves.", [wanted])]


def test_it_is_cut_from_the_end_of_a_last_sentence(read: Read) -> None:
    last = {"text": "It is old.\n\nReferences\n[1] https://e.org/x", "citations": ["d"]}
    metadata = '{"team_id": "t", "run_id": "r", "topic_id": "1"}'
    found = read(f'{{"metadata": {metadata}, "responses": [{json.dumps(last)}]}}')
    assert cited(found) == [("It is old.", ["d"])]


@pytest.mark.parametrize("line", ["| References |", "References", "References\n---"])
def test_thousands_of_headings_take_linear_time(line: str, read: Read) -> None:
    found = read(record(f"{ANSWER}\n" + f"{line}\n" * 4_000))
    assert [text for text, _ in cited(found)][:2] == [text for text, _ in WANTED]

"""Chunks: quotes of their document that end with sentences and sections, in any script."""

from __future__ import annotations

import pytest

from trecjudge.baseline.chunking import ChunkSettings, chunk_spans
from trecjudge.errors import InputError
from trecjudge.records import Document


def chunks(document: Document, size: int = 50, overlap: int = 0) -> list[str]:
    spans = chunk_spans(document, ChunkSettings(size, overlap))
    return [document.full_text[start:end] for start, end in spans]


def numbered(count: int) -> list[str]:
    return [f"Sentence {n} has ten words and it ends just here." for n in range(count)]


def test_chunks_end_with_sentences_and_share_the_last_one() -> None:
    parts = numbered(12)
    found = chunks(Document("d", " ".join(parts)), 50, 10)
    assert found == [" ".join(parts[n : n + 5]) for n in (0, 4)] + [" ".join(parts[8:])]


def test_without_overlap_nothing_is_lost_or_twice() -> None:
    parts = numbered(23)
    assert " ".join(chunks(Document("d", " ".join(parts)))) == " ".join(parts)


def test_a_short_rest_joins_the_chunk_before() -> None:
    parts = numbered(6)
    assert chunks(Document("d", " ".join(parts))) == [" ".join(parts)]


def test_a_section_begins_a_chunk_where_the_one_before_is_half_full() -> None:
    first, second = " ".join(numbered(3)), " ".join(numbered(4))
    text = f"{first}\n\nThe second part\n\n{second}"
    assert chunks(Document("d", text), 60, 10) == [first, f"The second part\n\n{second}"]


def test_short_sections_share_a_chunk() -> None:
    text = "# One\nIt is short.\n\n# Two\nSo is this."
    assert chunks(Document("d", text)) == [text]


def test_the_title_is_in_no_chunk() -> None:
    document = Document("d", "It has text.", "The title")
    assert chunks(document) == ["It has text."]
    assert chunks(Document("d", "", "The title")) == ["The title"]


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n\n"])
def test_no_text_gives_no_chunk(text: str) -> None:
    assert chunks(Document("d", text)) == []


@pytest.mark.parametrize(
    "text",
    ["word " * 500 + ".", "漢字" * 400, "x" * 9000, "ไทย" * 300, "a\n\n" * 400, "e\u0301" * 9000],
    ids=["no stop", "han", "one word", "thai", "lines", "marks"],
)
def test_what_is_longer_than_a_chunk_is_cut(text: str) -> None:
    found = chunks(Document("d", text))
    assert len(found) > 1
    assert max(map(len, found)) <= 63 * 41
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_sentence_longer_than_the_overlap_is_not_repeated() -> None:
    parts = numbered(10)
    assert " ".join(chunks(Document("d", " ".join(parts)), 50, 5)) == " ".join(parts)


@pytest.mark.parametrize(("size", "overlap"), [(9, 0), (50, 26), (50, -1)])
def test_sizes_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match="give"):
        ChunkSettings(size, overlap)

"""Evidence search: passages of documents that are likely to hold a claim."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes import response
from tests.judging.claims.test_judge import library
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.search import Library
from trecjudge.records import Claim, Document

FILLER = "Grain is stored in barns. Barns are built of oak. Oaks grow for centuries. "
CLAIM = "Steam makes a kettle whistle."


def test_the_best_passage_of_each_document_the_most_alike_first() -> None:
    found = library(f"{FILLER}A kettle is loud.", f"{FILLER}{CLAIM}", FILLER).best(CLAIM)
    assert [passage.document.doc_id for passage in found] == ["d1", "d0"]
    assert found[0].overlap == pytest.approx(1.0)
    assert found[0].text == "Steam makes a kettle whistle"


def test_passages_do_not_overlap_and_reach_the_end() -> None:
    text = f"{CLAIM} {FILLER * 3}{CLAIM}"
    found = library(text).passages(CLAIM)
    assert [p.likely for p in found] == [True, True]
    assert sorted(p.start for p in found)[0] == 0
    assert max(p.end for p in found) >= len(text) - 1
    spans = sorted((p.start, p.end) for p in found)
    assert spans[0][1] <= spans[1][0]


def test_a_passage_may_write_a_number_otherwise() -> None:
    (found,) = library("It sold one thousand kettles.").best("It sold 1,000 kettles.")
    assert found.overlap == pytest.approx(1.0)


def test_a_document_in_another_script_is_not_compared_but_shown_whole() -> None:
    both = library("Москва велика. " * 3, f"{FILLER}{CLAIM}")
    assert [passage.document.doc_id for passage in both.best(CLAIM)] == ["d1"]
    assert {passage.document.doc_id for passage in both.passages(CLAIM)} == {"d0", "d1"}
    with pytest.raises(JudgmentFailed, match="1 documents are in another script"):
        both.require_read(CLAIM)


def test_a_document_without_letters_can_be_compared_with_any() -> None:
    both = library("1860 1861")
    both.require_read(CLAIM)
    assert [d.doc_id for d in both.readable(CLAIM)] == ["d0"]


def test_documents_of_a_response() -> None:
    answer = response((CLAIM, ["a"]), documents={"a": "Text.", "empty": " "})
    found = Library.of(answer)
    assert ([d.doc_id for d in found.documents], found.unread) == (["a"], ["empty"])
    with pytest.raises(JudgmentFailed, match="no text of document empty; supply it"):
        found.require_read(CLAIM)
    with pytest.raises(JudgmentFailed, match="--documents"):
        Library.of(replace(answer, documents_given=False))


def test_a_source_has_what_is_known_of_its_document() -> None:
    document = Document("d", CLAIM, "Kettles", "http://k", "2024", "2")
    source = Library([document]).best(CLAIM)[0].source
    assert (source.title, source.url, source.date, source.version) == (
        "Kettles",
        "http://k",
        "2024",
        "2",
    )
    assert document.full_text[source.start : source.end] == source.excerpt


@pytest.mark.parametrize(
    ("cited", "open_"),
    [
        pytest.param((), False, id="nothing"),
        pytest.param(("d1",), False, id="what can be read"),
        pytest.param(("d1", "d0"), True, id="what cannot"),
    ],
)
def test_what_cannot_be_compared_leaves_open_only_claims_that_cite_it(
    cited: tuple[str, ...], open_: bool
) -> None:
    both = library("Москва велика.", FILLER).of_claim(Claim(0, CLAIM, 0, cited))
    if open_:
        with pytest.raises(JudgmentFailed, match="1 documents are in another script"):
            both.require_read(CLAIM)
    else:
        both.require_read(CLAIM)


@pytest.mark.parametrize(("cited", "open_"), [(("d",), True), ((), True), (("e",), False)])
def test_a_document_known_in_part_leaves_open_what_cites_it_or_nothing(
    cited: tuple[str, ...], open_: bool
) -> None:
    cut = Document("d", "Kettles are ...", complete=False)
    both = Library([cut, Document("e", FILLER)], in_part=[cut]).of_claim(Claim(0, CLAIM, 0, cited))
    assert (both.gap is not None and both.gap.kind == "excerpt_cut") == open_


def test_an_uncited_document_in_another_script_is_looked_into_last() -> None:
    both = library("Москва велика. " * 3, f"{FILLER}Steam is hot. A kettle is round.")
    claim = Claim(0, CLAIM, 0, ("d1",))
    found = both.of_claim(claim).passages(CLAIM)
    likely = [passage.document.doc_id for passage in found if passage.likely]
    assert likely == ["d1", "d0"]
    cited = both.of_claim(Claim(0, CLAIM, 0, ("d0",))).passages(CLAIM)
    assert {p.document.doc_id: p.likeness for p in cited}["d0"] == 0.5


def test_what_the_run_carries_without_text_is_not_missing() -> None:
    found = Library.of(response((CLAIM, ["z"]), carried={"a": "Text.", "z": "", "y": " "}))
    assert ([d.doc_id for d in found.documents], found.unread) == (["a"], [])
    found.require_read(CLAIM)
    told = found.of_claim(Claim(0, CLAIM, 0, ("z",))).what_was_read("nothing")
    assert told == "nothing; carried without text: z"

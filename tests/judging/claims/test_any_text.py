"""Claims, contradictions and quotes hold up to any text."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.judging.claims.library import library
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.by_words import LexicalDetector, contradiction
from trecjudge.judging.claims.judge import facts_of
from trecjudge.judging.claims.statements import abstains, statements
from trecjudge.records import Document
from trecjudge.text.quotes import find_quote_span

PIECES = [
    *("it", "The firm", "was", "has", "3", "1.5 million", "%", "$", "in 1998", "BCE", "not", "and"),
    *(", ", "; ", ". ", "? ", "…", "[1]", "[", "]", '"', "“", "(", ")", "#", "**", "- ", "\n\n"),
    *("它有12章", "。", "ему", "لا", "\u200b", "\x00", "é", "I cannot answer", "the given context"),
    *(" ", "about", "over", "March", "5", "which", "because", "cups", "Roe v. Wade", ":", "\ud7ff"),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join) | st.text(max_size=60)


@given(TEXT)
def test_claims_are_not_empty_and_on_one_line(text: str) -> None:
    for claim in statements(text):
        assert claim.strip() == claim != ""
        assert "\n" not in claim
    abstains(text)


@given(TEXT, TEXT)
def test_every_pair_has_a_verdict_with_sources_that_stand_where_they_say(
    claim: str, text: str
) -> None:
    contradiction(claim, text)
    try:
        found = asyncio.run(LexicalDetector().verdict(claim, library(text)))
    except JudgmentFailed:
        return
    for source in found.sources:
        assert text[source.start : source.end] == source.excerpt


@given(TEXT, TEXT)
def test_a_quote_of_a_text_is_found_in_it(before: str, quote: str) -> None:
    text = f"{before}{quote}{before}"
    span = find_quote_span(text, quote)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)


@given(TEXT, st.sampled_from(["", "A title"]))
def test_facts_stand_where_they_say(text: str, title: str) -> None:
    document = Document("d", text, title)
    for fact in facts_of(document):
        assert document.full_text[fact.start : fact.end].split()

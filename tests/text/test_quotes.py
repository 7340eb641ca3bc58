"""Quotes are found in their document, but for how they are written."""

from __future__ import annotations

import pytest

from trecjudge.text.quotes import find_quote_span

TEXT = "Ada’s “engine”\n  was  ﬁnished in 1843 – late. Nobody\u00adknew it. Café 東京。"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        pytest.param("in 1843", "in 1843", id="exact"),
        pytest.param('"in 1843"', "in 1843", id="quotation marks around it"),
        pytest.param("IN 1843", "in 1843", id="case"),
        pytest.param("engine” was finished", "engine”\n  was  ﬁnished", id="space and ligature"),
        pytest.param('Ada\'s "engine" was', "Ada’s “engine”\n  was", id="kinds of marks"),
        pytest.param("1843 - late", "1843 – late", id="dash"),
        pytest.param("Nobodyknew", "Nobody\u00adknew", id="soft hyphen"),
        pytest.param("Cafe\u0301", "Café", id="accent written apart"),
        pytest.param("東京", "東京", id="Japanese"),
        pytest.param("was … late", "was  ﬁnished in 1843 – late", id="left out"),
        pytest.param(
            r"Ada\u2019s \"engine\"\n  was", "Ada’s “engine”\n  was", id="escapes of JSON"
        ),
        pytest.param(r"C:\new", None, id="a backslash of its own"),
        pytest.param("late [...] was", None, id="parts in another order"),
        pytest.param("in 1844", None, id="another number"),
        pytest.param("", None, id="empty"),
        pytest.param("“…”", None, id="nothing but marks"),
    ],
)
def test_find(quote: str, found: str | None) -> None:
    span = find_quote_span(TEXT, quote)
    assert (TEXT[slice(*span)] if span else None) == found


def test_parts_far_from_each_other_are_no_quote() -> None:
    assert find_quote_span("One. " + "x" * 3000 + " Two.", "One. ... Two.") is None

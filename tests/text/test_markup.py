"""Text without its markup."""

from __future__ import annotations

import pytest

from trecjudge.text.layout import without_markup


def test_without_markup() -> None:
    expected = {
        "plain  text": "plain text",
        "<p>One.</p><p>Two.</p>": "One.\nTwo.",
        "H<sub>2</sub>O and <b>bold</b>": "H2O and bold",
        "<td>a</td><td>b</td>": "a b",
        "AT&amp;T &#233; &lt;b&gt;": "AT&T é <b>",
        "a < b and c > d": "a < b and c > d",
        "<![CDATA[a <b> &amp; c]]>": "a <b> &amp; c",
        "x<!-- not <b> seen -->y<script>z()</script>": "x y",
        "&own; stays": "&own; stays",
    }
    assert {marked_up: without_markup(marked_up) for marked_up in expected} == expected


@pytest.mark.parametrize(
    "text",
    ["<" * 100_000, "<a " * 50_000, "<!--" * 50_000, "<script>" * 20_000, "<![CDATA[" * 20_000],
)
def test_markup_that_is_never_closed_takes_no_time(text: str) -> None:
    assert len(without_markup(text)) <= len(text)

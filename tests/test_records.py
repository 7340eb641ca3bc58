"""The nouns of the field: what is a document with text."""

from __future__ import annotations

import pytest

from tests.fakes import item, response
from trecjudge.records import Document, Sentence
from trecjudge.text.visible import is_blank


@pytest.mark.parametrize(
    ("text", "has_text"),
    [
        pytest.param("A.", True, id="text"),
        pytest.param(".", True, id="a stop"),
        pytest.param("中", True, id="Chinese"),
        pytest.param("\u200bA\u200b", True, id="between what is not seen"),
        pytest.param("", False, id="empty"),
        pytest.param(" \n\t\u00a0\u3000\u2028", False, id="white space"),
        pytest.param("\u200b\u200c\u200d\u2060\ufeff", False, id="no width"),
        pytest.param("\u00ad\u034f\u3164\u115f\uffa0\u2800", False, id="soft hyphen, fillers"),
        pytest.param("\ufe0f\U000e0100\U000e0041", False, id="variation selectors, tags"),
        pytest.param("\x00\x7f\u202e\u2066", False, id="control"),
    ],
)
def test_text_is_what_can_be_seen(text: str, has_text: bool) -> None:
    given, own = Document("d", text, "A title"), Document("d", text, "A title", own=True)
    assert (given.has_text, own.has_text) == (has_text, has_text)
    assert (given.hollow, own.hollow) == (False, not has_text)
    assert is_blank(text) is not has_text
    assert Sentence(0, text).has_text is has_text
    assert item(text).has_text is has_text
    assert response((text, [])).has_text is has_text
    assert response(("", []), (text, [])).has_text is has_text


def test_a_response_without_sentences_has_no_text() -> None:
    assert not response().has_text

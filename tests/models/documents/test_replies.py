"""Replies of any shape: a document with the id that was asked for, or a reason against it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trecjudge.findings import unreported
from trecjudge.models.documents.fetcher import NotTaken, document_in

KEYS = ("docid", "id", "doc", "text", "contents", "raw", "error", "status", "_source", "candidates")
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["x", "y", "", "{}"]),
              st.text(max_size=20), st.sampled_from(['{"text": "A."}', "{", '{"docid": "y"}'])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.sampled_from(["", "doc.text", "doc", "text"]))
def test_any_json_is_a_document_or_not_taken(value: Any, path: str) -> None:
    try:
        found = document_in(orjson.dumps(value), "x", path, unreported_field)
    except NotTaken as reply:
        assert str(reply)
    else:
        assert (found.doc_id, found.complete) == ("x", True)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_not_taken(payload: bytes) -> None:
    try:
        assert document_in(payload, "x", "", unreported_field).doc_id == "x"
    except NotTaken as reply:
        assert str(reply)


def unreported_field(name: str) -> None:
    unreported(name)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"docid": "y", "text": "A."}, "is of another document: 'y'"),
        ({"doc": {"id": 7, "text": "A."}}, "is of another document: '7'"),
        ({"error": {"message": "down"}}, "is an error: {'message': 'down'}"),
        ({"took": 3, "version": "2"}, "has no text under a known name: keys ['took', 'version']"),
        (7, "holds no document: 7"),
        ({"a": [[]] * 100_001}, "has more than 100,000 entries (--limit entries)"),
    ],
    ids=["another", "another inside", "an error", "no text", "a number", "too many"],
)
def test_why_a_reply_is_not_taken(value: Any, reason: str) -> None:
    with pytest.raises(NotTaken) as caught:
        document_in(orjson.dumps(value), "x", "", unreported_field)
    assert str(caught.value) == reason


def test_secrets_are_hidden_before_anything_is_quoted() -> None:
    secret = "k" * 70 + "-0123456789"
    with pytest.raises(NotTaken) as caught:
        document_in(
            orjson.dumps({"docid": f"at {secret}"}), "x", "", unreported_field,
            lambda text: text.replace(secret, "***"),
        )  # fmt: skip
    assert str(caught.value) == "is of another document: 'at ***'"

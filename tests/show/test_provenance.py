"""Where sentences are from, in lines."""

from __future__ import annotations

import pytest

from tests.provenance import line
from trecjudge.baseline.freshness import CitationBasis, State
from trecjudge.show.retrieval import basis_lines, provenance_text, version_text


@pytest.mark.parametrize(
    ("version", "digest", "text"),
    [
        pytest.param("v1", "0123456789", "v1/01234567", id="both"),
        pytest.param("v1", "", "v1", id="no digest"),
        pytest.param("", "0123456789", "01234567", id="no version"),
        pytest.param("", "", "-", id="neither"),
    ],
)
def test_a_version(version: str, digest: str, text: str) -> None:
    assert version_text(version, digest) == text


@pytest.mark.parametrize(
    ("state", "quoted", "end"),
    [
        pytest.param("current", True, "v1  current", id="current"),
        pytest.param("current", False, "v1  current, quote not in it", id="never quoted"),
        pytest.param("changed", True, "v1 -> v2  changed, quote still there", id="changed"),
        pytest.param("changed", False, "v1 -> v2  changed, quote gone", id="rewritten"),
        pytest.param("gone", None, "v1  gone", id="gone"),
        pytest.param("unknown", None, "v1  unknown", id="unknown"),
    ],
)
def test_a_line_of_the_audit(state: State, quoted: bool | None, end: str) -> None:
    _, found = basis_lines([CitationBasis(line(), state, quoted, "", "v2")])
    assert found == f"r  1  1  k  {end}"


def test_what_is_not_known_is_left_out() -> None:
    bare = line(retriever="", rank=0, time="", document_version="")
    assert provenance_text(bare) == ("from k; version -; [8-37] “Steam makes a kettle whistle.”")


def test_hostile_text_steers_no_terminal() -> None:
    hostile = line(doc_id="k\x1b[2J", quote="a\u202eb", retriever="\x07")
    shown = provenance_text(hostile)
    assert "\\x1b[2J" in shown
    assert "\\x07" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)

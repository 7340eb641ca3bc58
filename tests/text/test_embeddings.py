"""Embeddings of a model that ships inside a package."""

from __future__ import annotations

import pytest

from trecjudge.text.embeddings import embedder

pytest.importorskip("wordllama", reason="the extra `semantic` is not installed")


def test_rows_are_of_length_one_and_nearer_for_what_is_alike() -> None:
    found = embedder()
    assert found is not None
    vectors = found.vectors(["A cat sat down.", "The feline was sitting.", "", "Bond markets."])
    cat, feline, empty, bonds = vectors
    assert vectors.shape == (4, 256)
    assert cat @ cat == pytest.approx(1.0, abs=1e-5)
    assert cat @ feline > 0.3 > cat @ bonds
    assert not empty.any()


def test_no_text_gives_no_row() -> None:
    found = embedder()
    assert found is not None
    assert found.vectors([]).shape == (0, 256)

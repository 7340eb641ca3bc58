"""Static word embeddings of the package `wordllama`, whose model ships inside it: an extra."""

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

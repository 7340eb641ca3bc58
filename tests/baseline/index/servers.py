"""A real PostgreSQL with the extension pgvector, from a wheel; and what is indexed in it."""

from __future__ import annotations

import hashlib
import importlib
import random
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.baseline.index.indexed import source
from trecjudge.baseline.index.records import IndexSource, VectorModel

WORDS = [f"{a}{b}{c}a" for a in "bdgklmnprst" for b in "aeio" for c in "lmnr"]
"""176 invented words, which no stemmer shortens."""


@contextmanager
def server() -> Iterator[str]:
    """Run a PostgreSQL; yield its address. Skips where it cannot be run."""
    package = pytest.importorskip("pgserver")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="trecjudge-pg"))
    # As root, it runs as another user.
    folder.chmod(0o755)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            running = package.get_server(folder / "data", cleanup_mode="delete")
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"no PostgreSQL can be run here: {error}")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def asked(url: str, query: str, *values: Any) -> list[Any]:
    """Return the rows of a query, or [] for a statement that has none."""
    with importlib.import_module("psycopg").connect(url, autocommit=True) as connection:
        cursor = connection.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []


@cache
def of_word(word: str, dimensions: int) -> Any:
    """Return the vector of a word."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)


class Hashed:
    """Embeds by the words of a text: each has a vector of its own."""

    def __init__(self, name: str = "hashed", dimensions: int = 16) -> None:
        self.model = VectorModel(name, dimensions, f"digest of {name}")
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        rows = [self.of(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.model.dimensions)

    def of(self, text: str) -> Any:
        """Return the vector of a text, zeros for one without words."""
        total = np.zeros(self.model.dimensions)
        for word in text.split():
            total += of_word(word, self.model.dimensions)
        length = np.linalg.norm(total)
        return total / length if length else total


def invented(count: int, seed: int = 1) -> list[IndexSource]:
    """Return so many documents of invented words, with a date and two fields."""
    rng = random.Random(seed)
    return [
        source(
            f"d{number}",
            " ".join(rng.choices(WORDS, k=rng.randint(3, 60))) + ".",
            rng.choice(["", rng.choice(WORDS).title()]),
            date=rng.choice(["", "2023", "2024-05", "2024-06-01"]),
            kind=rng.choice(["news", "web"]),
            percent=str(number % 100),
        )
        for number in range(count)
    ]

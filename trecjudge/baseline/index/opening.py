"""Opens an index by what the user names: a file, or an address of PostgreSQL."""

from __future__ import annotations

import importlib
from pathlib import Path

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.sqlite import make_sqlite, open_sqlite
from trecjudge.baseline.index.state import State
from trecjudge.errors import InputError

ADDRESSES = ("postgresql://", "postgres://")
POSTGRES = "trecjudge.baseline.index.postgres"


def is_address(where: str) -> bool:
    """Return whether an index is named by an address of PostgreSQL, not by a path."""
    return where.startswith(ADDRESSES)


def open_index(where: str) -> Index:
    """Return an index that is there, to be searched or refreshed.

    Raises InputError if none is, or one that was never filled: nothing would be found in it.
    """
    if is_address(where):
        index = Index(importlib.import_module(POSTGRES).open_postgres(where))
    else:
        index = Index(open_sqlite(Path(where)))
    try:
        if not index.facts.documents:
            again = "what was to fill it did not end; run `index` again"
            raise InputError(f"{where}: holds no document: {again}")
    except BaseException:
        index.close()
        raise
    return index


def make_index(where: str, chunking: ChunkSettings | None = None) -> Index:
    """Return an index to be refreshed: the one that is there, else a new and empty one.

    Raises InputError if the one that is there has chunks of other sizes than asked for.
    """
    state = State(chunking or ChunkSettings())
    if is_address(where):
        index = Index(importlib.import_module(POSTGRES).make_postgres(where, state))
    else:
        index = Index(make_sqlite(Path(where), state))
    held = ChunkSettings(**index.facts.chunking)
    if chunking is not None and held != chunking:
        index.close()
        message = f"has chunks of {held.size} words with an overlap of {held.overlap}"
        raise InputError(
            f"{where}: {message};"
            f" give the same, or another file for {chunking.size} and {chunking.overlap}"
        )
    return index

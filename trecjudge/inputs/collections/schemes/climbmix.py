"""ClimbMix: an id is the number of a Parquet file, and a row of it."""

from __future__ import annotations

import re

from trecjudge.inputs.collections.schemes import Address, place_of

NAME = "ClimbMix"
TRACKS = ("RAG 2026",)
HOW = (
    "--documents FOLDER, with shard_NNNNN.parquet,"
    " or --documents 'https://HOST/v1/climbmix-400b/doc/{docid}'"
)
FILES = re.compile(r"shard_[0-9]{5}")
claims = re.compile(r"(shard_[0-9]{5})_([0-9]{1,200})").fullmatch
"""Whether an id is of this collection."""


def address(doc_id: str) -> Address | None:
    """Return where the document lies, None for the id of another collection."""
    found = claims(doc_id)
    return Address(found[1], place_of(found[2]), row=True) if found else None

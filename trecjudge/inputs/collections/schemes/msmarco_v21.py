"""MS MARCO V2.1 documents: an id is the number of a file, and a byte of it."""

from __future__ import annotations

import re

from trecjudge.inputs.collections.schemes import Address, place_of

NAME = "MS MARCO V2.1 documents"
TRACKS = ("RAG 2024", "RAG 2025", "DRAGUN 2025")
HOW = "--documents FOLDER, with msmarco_v2.1_doc_NN.json.gz"
FILES = re.compile(r"msmarco_v2\.1_doc_[0-5][0-9]")
claims = re.compile(r"(msmarco_v2\.1_doc_[0-5][0-9])_([0-9]{1,200})").fullmatch
"""Whether an id is of this collection."""


def address(doc_id: str) -> Address | None:
    """Return where the document lies, None for the id of another collection."""
    found = claims(doc_id)
    return Address(found[1], place_of(found[2])) if found else None

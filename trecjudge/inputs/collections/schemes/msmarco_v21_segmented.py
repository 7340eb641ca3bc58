"""MS MARCO V2.1, segmented: after the document's id, the segment's number and its byte."""

from __future__ import annotations

import re

from trecjudge.inputs.collections.schemes import Address, place_of

NAME = "MS MARCO V2.1 segmented"
TRACKS = ("RAG 2024", "RAG 2025", "DRAGUN 2025")
HOW = (
    "--documents FOLDER, with msmarco_v2.1_doc_segmented_NN.json.gz,"
    " or --documents 'https://HOST/v1/msmarco-v2.1-doc-segmented/doc/{docid}'"
)
FILES = re.compile(r"msmarco_v2\.1_doc_segmented_[0-5][0-9]")
claims = re.compile(
    r"msmarco_v2\.1_doc_([0-5][0-9])_[0-9]{1,200}#[0-9]{1,200}_([0-9]{1,200})"
).fullmatch
"""Whether an id is of this collection."""


def address(doc_id: str) -> Address | None:
    """Return where the segment lies, None for the id of another collection."""
    found = claims(doc_id)
    return Address(f"msmarco_v2.1_doc_segmented_{found[1]}", place_of(found[2])) if found else None

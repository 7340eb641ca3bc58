"""PubMed: an id is a PMID, a number of up to eight digits."""

from __future__ import annotations

import re

NAME = "PubMed"
TRACKS = ("BioGen",)
HOW = "--documents FOLDER, with PubMed's pubmedNNnNNNN.xml.gz, or JSONL of pmid and text"
RANK = 200
_ID = re.compile(r"[1-9][0-9]{3,7}")  # shorter numbers are rather positions in a list


def claims(doc_id: str) -> bool:
    """Return whether an id is of this collection."""
    return _ID.fullmatch(doc_id) is not None

"""PubMed: an id is a PMID, a number of up to eight digits."""

from __future__ import annotations

import re

NAME = "PubMed"
TRACKS = ("BioGen",)
HOW = "--documents FOLDER, with PubMed's pubmedNNnNNNN.xml.gz, or JSONL of pmid and text"
RANK = 200
# shorter numbers are rather positions in a list
claims = re.compile(r"[1-9][0-9]{3,7}").fullmatch
"""Whether an id is of this collection."""

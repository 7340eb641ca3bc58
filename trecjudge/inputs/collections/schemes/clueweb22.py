"""ClueWeb22: an id names the language, the folder, the file and the record, and maybe a passage."""

from __future__ import annotations

import re

NAME = "ClueWeb22-B"
TRACKS = ("iKAT",)
HOW = "--documents FOLDER, with JSONL of ClueWeb22-ID and Clean-Text"
claims = re.compile(r"clueweb22-[a-z]{2,5}[0-9]{4}-[0-9]{2}-[0-9]{5}(:[0-9]+)?").fullmatch
"""Whether an id is of this collection."""

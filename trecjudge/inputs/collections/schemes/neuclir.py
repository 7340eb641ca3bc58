"""NeuCLIR1: an id is a uuid."""

from __future__ import annotations

import re

NAME = "NeuCLIR1"
TRACKS = ("NeuCLIR",)
HOW = "--documents FOLDER, with the JSONL files of its three languages, plain or packed"
claims = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
"""Whether an id is of this collection."""

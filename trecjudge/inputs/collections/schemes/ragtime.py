"""RAGTIME1: an id is a uuid and a number."""

from __future__ import annotations

import re

NAME = "RAGTIME1"
TRACKS = ("RAGTIME",)
HOW = "--documents FOLDER, with the JSONL files of its four languages, plain or packed"
claims = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_[0-9]+").fullmatch
"""Whether an id is of this collection."""

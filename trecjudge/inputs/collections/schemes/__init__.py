"""Known collections, one file each: what their ids look like, and what an id says.

A module here is one if it has `claims`. It offers:

- `NAME`: what the collection is called, `TRACKS`: the tracks whose runs cite it.
- `claims(doc_id)`: whether an id is of this collection.
- `HOW`: what to give with `--documents`, for a message, in one sentence.
- optionally `address(doc_id)`: an `Address`, where an id says where its document lies.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where a document lies: in which file, and where in it.

    `file` is the name of the file without endings such as `.json.gz`; `place` is the byte of the
    unpacked file at which the record begins, or with `row` the number of the row, from 0.
    """

    file: str
    place: int
    row: bool = False

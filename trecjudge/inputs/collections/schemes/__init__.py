"""Known collections, one file each: what their ids look like, and what an id says.

A module here is one if it has `claims`. It offers:

- `NAME`: what the collection is called, `TRACKS`: the tracks whose runs cite it.
- `claims(doc_id)`: what is true for the ids of this collection, such as the match of a pattern.
- `HOW`: what to give with `--documents`, for a message; it follows a colon.
- optionally `address(doc_id)`: an `Address`, where an id says where its document lies, and with it
  `FILES`: a pattern that the names of the collection's files fit, without endings.

Schemes are asked in order of `RANK` (100 where a module has none), then of their names.
"""

from __future__ import annotations

from dataclasses import dataclass

FAR = 1 << 62
"""A place beyond the end of any file, for ids that name one that is too large."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a document lies: in which file, and where in it.

    `file` is the name of the file without endings such as `.json.gz`; `place` is the byte of the
    unpacked file at which the record begins, or with `row` the number of the row, from 0.
    """

    file: str
    place: int
    row: bool = False


def place_of(digits: str) -> int:
    """Return the place that an id has in decimal digits; FAR for a larger one."""
    return min(int(digits), FAR) if len(digits) < 20 else FAR

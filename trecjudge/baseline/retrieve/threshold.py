"""The calibrated threshold of an index, in a file: from which confidence on an answer is tried."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

import orjson

from trecjudge.errors import InputError, why
from trecjudge.files import chosen, read_text
from trecjudge.findings import shown

MOST_WRITTEN = 100_000
"""Characters of a file: it has a few numbers and names."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least `confidence` of a question to answer, calibrated on one index.

    `by` names what gave the confidence, `index` the index, `index_version` what that held. It was
    calibrated with so many answerable `questions`, and `others` that the documents do not answer.
    """

    least: float
    by: str
    index: str
    index_version: str
    questions: int
    others: int = 0

    def check(self, confidence_by: str, index: str = "") -> None:
        """Raise InputError if it is of another confidence or, if an index is named, of another."""
        if self.by != confidence_by:
            given = f"it is of {self.by!r}, and here the confidence is {confidence_by!r}"
        elif index and self.index != index:
            given = f"it is of the index {self.index!r}, not of {index!r}"
        else:
            return
        raise InputError(f"the threshold does not hold here: {given}; calibrate it again")


def threshold_path(index: str) -> Path:
    """Return where the threshold of an index in a file lies: beside it."""
    return Path(f"{index}.threshold.json")


def write_threshold(path: Path, threshold: Threshold) -> None:
    """Write a threshold, whole or not at all. Raises OutputError."""
    with chosen(path) as file:
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        file.write(orjson.dumps(asdict(threshold), option=options))


def read_threshold(path: Path) -> Threshold:
    """Return the threshold of a file. Raises InputError for a file that has none."""
    try:
        record = orjson.loads(read_text(path, MOST_WRITTEN))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; `search INDEX --calibrate` writes it") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: is no JSON: {error}") from error
    names = [field.name for field in fields(Threshold)]
    if not isinstance(record, dict) or set(record) != set(names):
        message = f"has not the fields {', '.join(names)}"
        raise InputError(f"{path}: {message}; calibrate it again")
    least = record["least"]
    if isinstance(least, bool) or not isinstance(least, int | float):
        raise InputError(f"{path}: least is {shown(least)}, not a number")
    return Threshold(**record)

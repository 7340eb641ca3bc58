"""The calibrated threshold of an index, in a file: from which confidence on an answer is tried."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import orjson

from trecjudge.baseline.index.records import Hits, VectorModel
from trecjudge.errors import InputError, why
from trecjudge.files import open_target, read_text
from trecjudge.findings import brief

NEAREST = 20
"""Chunks whose mean cosine is the confidence."""
BY_WORDS = "top BM25 over idf"


def by_vectors(model: VectorModel) -> str:
    """Return the name of the confidence that a model's vectors give."""
    return f"mean cosine of {NEAREST}, {model.name} {model.digest[:12]}"


def cosine_confidence(near: Hits) -> float:
    """Return the mean cosine of the nearest chunks, -1 to 1; 0 where there is none."""
    return sum(score for _, score in near) / len(near) if near else 0.0


def word_confidence(words: Hits, terms: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return the top BM25 score over the idf of all terms, 0 to 1 or so: a weak sign."""
    mass = sum(weight * idf.get(term, 0.0) for term, weight in terms.items())
    return words[0][1] / mass if words and mass > 0 else 0.0


def threshold_for(answerable: Sequence[float], others: Sequence[float] = ()) -> float:
    """Return the least confidence of a question to answer, from confidences of known ones.

    With only answerable ones that is their lowest. With others that the documents do not answer it
    is where answerable ones kept and others refused, as shares, are together the most; of several
    such the lowest. Raises ValueError without an answerable one.
    """
    if not answerable:
        raise ValueError("no answerable question")
    if not others:
        return min(answerable)
    known, wrong = sorted(answerable), sorted(others)

    def gain(least: float) -> float:
        kept = 1 - bisect_left(known, least) / len(known)
        return kept + bisect_left(wrong, least) / len(wrong)

    return max(known, key=lambda least: (round(gain(least), 9), -least))


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
    with open_target(path) as file:
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
        raise InputError(f"{path}: least is {brief(least)}, not a number")
    return Threshold(**record)

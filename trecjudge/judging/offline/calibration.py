"""Weights of the features, fitted on human labels and read from a file.

Two logistic regressions on the features give P(a person calls it supported, fully or in part) and
P(a person calls it fully supported). Features are cut to the range that the labels had: beyond it
nothing is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from trecjudge.errors import InputError, why
from trecjudge.judging.offline.features import Features
from trecjudge.judging.offline.wording import SHIPPED as SHIPPED_FREQUENCIES
from trecjudge.settings.json_files import read_json_file
from trecjudge.text.frequencies import Frequencies, frequency_lines, parse_frequencies

# JSON, not YAML: the import of a YAML reader takes longer than that of all the rest here.
_FILE = Path(__file__).with_name("calibration.json")
FORMAT = "trecjudge calibration 1"
MOST_BYTES = 16 << 20
_DIGITS = 4
_FARTHEST = 700.0
"""Log odds beyond which a probability is 0 or 1 to a computer."""


class Weight(NamedTuple):
    """One feature: the range that counts, and what a unit of it adds to either log odds."""

    low: float
    high: float
    supported: float
    full: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A weight for each field of `Features`, in their order, and the two intercepts.

    `frequencies` weigh the words, `how` is where the numbers are from. A calibration equals only
    itself: it is a key of caches.
    """

    weights: tuple[Weight, ...]
    supported: float
    full: float
    frequencies: Frequencies
    how: tuple[str, ...] = ()

    def probabilities(self, features: Sequence[float]) -> tuple[float, float]:
        """Return P(supported at least in part) and P(fully supported), which is no higher."""
        supported, full = self.supported, self.full
        for value, (low, high, for_supported, for_full) in zip(features, self.weights, strict=True):
            kept = low if value < low else min(value, high)
            supported += for_supported * kept
            full += for_full * kept
        at_least = _logistic(supported)
        return at_least, min(at_least, _logistic(full))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-_FARTHEST, min(_FARTHEST, log_odds))))


WANTED = "give the file that `calibrate --out FILE` wrote"


def read_calibration(path: Path = _FILE) -> Calibration:
    """Read a calibration. Raises ValueError, with what is wrong, if it is not one; OSError."""
    try:
        content = read_json_file(path, MOST_BYTES)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"is no calibration; {WANTED}") from error
    except ValueError as error:
        raise ValueError(f"is no calibration: {error}; {WANTED}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"is no calibration, its 'format' is not {FORMAT!r}; {WANTED}")
    try:
        return _calibration(content)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"is a broken calibration: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """Return the calibration of the package."""
    return read_calibration()


def _calibration(content: Mapping[str, Any]) -> Calibration:
    rows, intercept = content["features"], content["intercept"]
    if set(rows) != set(Features._fields):
        differing = ", ".join(sorted(set(rows) ^ set(Features._fields)))
        raise ValueError(f"is a calibration of other features: {differing}")
    own = content.get("frequencies")
    found = Calibration(
        tuple(
            Weight(**{k: _number(v) for k, v in rows[name].items()}) for name in Features._fields
        ),
        *(_number(intercept["supported"]), _number(intercept["full"])),
        frequencies=SHIPPED_FREQUENCIES if own is None else _frequencies(own),
        how=tuple(map(str, content["how"])),
    )
    numbers = (found.supported, found.full, *(n for weight in found.weights for n in weight))
    if not all(map(math.isfinite, numbers)):
        raise ValueError("is a broken calibration: a number in it is not finite")
    for name, weight in zip(Features._fields, found.weights, strict=True):
        if weight.low > weight.high:
            raise ValueError(f"is a broken calibration: {name} has low above high")
    return found


def _number(value: object) -> float:
    """Return a number as one; text and truth values are not numbers. Raises TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _frequencies(table: object) -> Frequencies:
    """Return the frequencies of a calibration. Raises ValueError or TypeError."""
    if not isinstance(table, list):
        raise TypeError("frequencies are not a list of lines")
    try:
        return parse_frequencies(table)
    except ValueError as error:
        raise ValueError(f"is a broken calibration: frequencies: {error}") from error


def format_calibration(calibration: Calibration) -> str:
    """Return the text that `read_calibration` reads."""
    named = zip(Features._fields, calibration.weights, strict=True)
    content: dict[str, Any] = {
        "format": FORMAT,
        "how": list(calibration.how),
        "intercept": {
            "supported": round(calibration.supported, _DIGITS),
            "full": round(calibration.full, _DIGITS),
        },
        "features": {
            name: {key: round(number, _DIGITS) for key, number in weight._asdict().items()}
            for name, weight in named
        },
    }
    if calibration.frequencies is not SHIPPED_FREQUENCIES:
        content["frequencies"] = frequency_lines(calibration.frequencies)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@lru_cache(maxsize=8)
def calibration_at(path: str) -> Calibration:
    """Return the calibration of a file, the package's own for "". Raises InputError."""
    if not path:
        return shipped_calibration()
    try:
        return read_calibration(Path(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}; {WANTED}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error

"""The fitted numbers of the lexical test, read from `calibration.yml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

_FILE = Path(__file__).with_name("calibration.yml")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cuts on the score (0 to 1) and what lowers it: see the comments of `calibration.yml`."""

    partial_from: float
    full_from: float
    document_share: float
    missing_names: float
    contradicted_below_full: float


def read_calibration(path: Path = _FILE) -> Calibration:
    """Read the calibration. Raises TypeError if a number is missing or unknown."""
    numbers: dict[str, float] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Calibration(**numbers)

"""The fitted numbers of the lexical test, read from `calibration.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

# JSON, not YAML: the import of a YAML reader takes longer than that of all the rest here.
_FILE = Path(__file__).with_name("calibration.json")


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes a score (0 to 1) and cuts it in three labels.

    `partial_from`, `full_from`: scores from which on a sentence is partially, fully supported.
    `document_share`: weight of the coverage by the whole document, the rest being that by the
    best passage. `missing_names`: what is taken per share of the sentence's weight that is names
    which the document lacks. `contradicted_below_full`: with a missing number or a negation on
    one side only the score stays this far below `full_from`. How they were fitted is told by
    "how" in the file.
    """

    partial_from: float
    full_from: float
    document_share: float
    missing_names: float
    contradicted_below_full: float


def read_calibration(path: Path = _FILE) -> Calibration:
    """Read the calibration. Raises KeyError if it has no "how", TypeError if a number is wrong."""
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["how"]
    return Calibration(**content)

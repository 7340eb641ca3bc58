"""Records read where they lie: at a byte of a file, or in a row of Parquet."""

from __future__ import annotations

from collections.abc import Iterator

from trecjudge.findings import OnFinding
from trecjudge.inputs.collections.units import FoundDocument, Unit


def documents_at(unit: Unit, report: OnFinding) -> Iterator[FoundDocument]:
    """Yield the documents at the places of a unit; what is not there is left out."""
    raise NotImplementedError

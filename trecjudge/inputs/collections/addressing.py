"""Documents by address."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.findings import OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments


def by_address(
    files: Sequence[Path], kept: KeptDocuments, wanted: Sequence[str], report: OnFinding, name: str
) -> list[str]:
    """Return the ids that have no address."""
    return list(wanted)

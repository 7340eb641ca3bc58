"""Documents fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trecjudge.findings import OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.models.documents.service import Service


@dataclass(frozen=True, slots=True)
class Use:
    """How a service may be used."""

    offline: bool = False
    refresh: bool = False
    plan: bool = False
    notify: Callable[[str], None] = lambda message: None


def fetch(
    service: Service, kept: KeptDocuments, wanted: Wanted, use: Use, report: OnFinding
) -> None:
    """Fetch nothing."""

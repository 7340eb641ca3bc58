"""The slow way to what is wanted of a collection: every record is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trecjudge.findings import Finding
from trecjudge.inputs.documents.collection import documents_of
from trecjudge.records import Document


def slowly(files: Sequence[Path], wanted: Iterable[str]) -> tuple[dict[str, Document], list[str]]:
    """Return the wanted documents by id, and the kinds of all findings."""
    findings: list[Finding] = []
    found: dict[str, Document] = {}
    ids = set(wanted)
    for _, _, document, _ in documents_of(sorted(files, key=str), findings.append):
        if document.doc_id in ids:
            found.setdefault(document.doc_id, document)
    return found, [finding.kind for finding in findings]

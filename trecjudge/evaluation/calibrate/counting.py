"""A calibration with word frequencies of own documents, made without labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.evaluation.calibrate.reading import read_responses
from trecjudge.files import chosen
from trecjudge.findings import Finding, FindingLog
from trecjudge.judging.offline.calibration import format_calibration, shipped_calibration
from trecjudge.records import Response, Topic
from trecjudge.text.frequencies import ENOUGH, blended, count_frequencies


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of distinct own documents with text, and of the words of the table they make."""

    path: Path
    documents: int
    words: int
    findings: Sequence[Finding]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self) | {"path": str(self.path), "findings": list(map(str, self.findings))}


def count_command(
    runs: Sequence[Path], documents: Sequence[Path], dataset: str, out: Path
) -> Counted:
    """Write the shipped weights with the word frequencies of the runs' own documents.

    Raises InputError for inputs that cannot be used, or too few documents.
    """
    findings: list[Finding] = []
    responses = read_responses(runs, documents, dataset, FindingLog([findings.append]))
    passages, counts = count_frequencies(_texts(responses))
    if passages < ENOUGH:
        raise InputError(
            f"{', '.join(map(str, runs))}: {passages} documents with text; at least {ENOUGH} are"
            " needed to count words (--documents supplies text that the runs lack)"
        )
    shipped = shipped_calibration()
    frequencies = blended(shipped.frequencies, passages, counts)
    how = (f"Word frequencies of {passages} own documents; the weights are:", *shipped.how)
    with chosen(out) as file:
        own = replace(shipped, frequencies=frequencies, how=how)
        file.write(format_calibration(own).encode())
    return Counted(out, passages, len(frequencies.counts), findings)


def _texts(responses: Iterable[tuple[Topic, Response]]) -> Iterator[str]:
    """Yield the text of every document once."""
    seen: set[str] = set()  # runs cite the same documents: each counts once
    for _, response in responses:
        for doc_id, document in response.documents.items():
            if doc_id not in seen and document.has_text:
                seen.add(doc_id)
                yield document.full_text

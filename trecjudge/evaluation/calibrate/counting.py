"""A calibration with word frequencies of own documents, made without labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.files import default_folder, open_target
from trecjudge.findings import Finding, FindingLog, OnFinding, ignore
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.judging.offline.calibration import format_calibration, shipped_calibration
from trecjudge.models.documents.opening import open_documents
from trecjudge.records import Response, Topic
from trecjudge.text.frequencies import ENOUGH, blend_frequencies, count_frequencies


def read_responses(
    runs: Sequence[Path], documents: Sequence[Path], dataset: str, report: OnFinding
) -> Iterator[tuple[Topic, Response]]:
    """Return the responses of run files on all their topics. Raises InputError."""
    check_dataset(dataset)
    files = find_runs(runs, report)

    def read(store: DocumentStore | None, report: OnFinding = ignore) -> RunReader:
        return RunReader(files, report, store=store, dataset=dataset)

    if not documents:
        return iter(read(None, report))
    store = open_documents(documents, default_folder(), report, lambda: WantedDocuments.of(read))
    return iter(read(store, report))


@dataclass(frozen=True, slots=True)
class WordCountReport:
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
) -> WordCountReport:
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
    frequencies = blend_frequencies(shipped.frequencies, passages, counts)
    how = (f"Word frequencies of {passages} own documents; the weights are:", *shipped.how)
    with open_target(out) as file:
        own = replace(shipped, frequencies=frequencies, how=how)
        file.write(format_calibration(own).encode())
    return WordCountReport(out, passages, len(frequencies.counts), findings)


def _texts(responses: Iterable[tuple[Topic, Response]]) -> Iterator[str]:
    seen: set[str] = set()  # runs cite the same documents: each counts once
    for _, response in responses:
        for doc_id, document in response.documents.items():
            if doc_id not in seen and document.has_text:
                seen.add(doc_id)
                yield document.full_text

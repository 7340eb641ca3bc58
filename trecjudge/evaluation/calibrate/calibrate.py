"""Fit a calibration file to a file of labels, and evaluate it on unseen topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.evaluation.calibrate.fitting import (
    fit,
    groups_of,
    held_out,
    is_copy,
    measure,
    measure_apart,
    predict,
)
from trecjudge.evaluation.calibrate.pairs import LabelledPair, pairs_of_runs, read_pairs
from trecjudge.evaluation.calibrate.quality import (
    Bin,
    figures,
    reliability,
    why_no_interval,
)
from trecjudge.files import default_folder, open_target
from trecjudge.findings import Finding, FindingLog, OnFinding, ignore
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.labels.vocabulary import Words
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.judging.offline.support import format_calibration, shipped_calibration
from trecjudge.judging.offline.wording import read_wording
from trecjudge.models.documents.opening import open_documents
from trecjudge.records import Response, Topic
from trecjudge.stats.agreement import BoundedFigure
from trecjudge.text.frequencies import ENOUGH, blend_frequencies, count_frequencies
from trecjudge.text.tokens import comparable, scripts


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


FEWEST_LABELS = 50
"""Labels that a fit needs at least."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A calibration and its figures.

    `labels` were used, `copies` of them in no fit; `passed_over` share no script or have no words.
    `shipped` are the figures of the package's calibration on these labels, `fitted` those of fits
    that did not see the topic (the document, where there are fewer than three topics), and
    `no_interval` is why they have no intervals, if they have none.
    """

    path: Path
    labels: int
    copies: int
    passed_over: int
    groups: int
    held_out: str
    shipped: Sequence[BoundedFigure]
    fitted: Sequence[BoundedFigure]
    no_interval: str | None
    reliability: Sequence[Bin]
    findings: Sequence[Finding]

    @property
    def exit_status(self) -> int:
        """0 if all was used, 3 if something could not be read."""
        return 3 if any(finding.severity == "error" for finding in self.findings) else 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; what does not exist is null."""
        return {
            "path": str(self.path),
            "labels": self.labels,
            "copies": self.copies,
            "passed_over": self.passed_over,
            "held_out": self.held_out,
            "groups": self.groups,
            "shipped": [figure.as_dict() for figure in self.shipped],
            "fitted": [figure.as_dict() for figure in self.fitted],
            "no_interval": self.no_interval,
            "reliability": [
                {"pairs": b.pairs, "predicted": b.predicted, "observed": b.observed}
                for b in self.reliability
            ],
            "findings": list(map(str, self.findings)),
        }


def calibrate_command(
    labels: Path,
    runs: Sequence[Path],
    documents: Sequence[Path],
    dataset: str,
    out: Path,
    words: Words | None = None,
) -> CalibrationReport:
    """Fit to the labels, write the calibration to `out`, and judge it on what it did not see.

    Raises InputError for inputs that cannot be used; OSError for a file that cannot be written.
    """
    findings: list[Finding] = []
    log = FindingLog([findings.append])
    if runs:
        responses = read_responses(runs, documents, dataset, log)
        read = pairs_of_runs(labels, responses, log, words)
    else:
        read = read_pairs(labels, log, words)
    pairs = [pair for pair in read if _comparable(pair)]
    if len(pairs) < FEWEST_LABELS:
        raise InputError(
            f"{labels}: {len(pairs)} labels of pairs that words can compare; at least"
            f" {FEWEST_LABELS} are needed, and more are of more use"
        )
    weights = [pair.weight for pair in pairs]
    groups = groups_of(pairs)
    if len(set(groups)) < 2:
        raise InputError(f"{labels}: all labels are on one document: none can be held out")
    shipped = shipped_calibration()
    found, frequencies = measure_apart(
        pairs, groups, partial(blend_frequencies, shipped.frequencies)
    )
    how = (
        f"Fitted by `calibrate` to {len(pairs)} labels of {labels.name}, around the weights that"
        " the package ships.",
    )
    try:
        fitted = fit([pair.features for pair in found], weights, frequencies, shipped, how)
        unseen = held_out(found, weights, groups, fitted, shipped)
    except ValueError as error:
        raise InputError(f"{labels}: {error}") from error
    with open_target(out) as file:
        file.write(format_calibration(fitted).encode())
    # By the shipped frequencies too: the figures of what a user has without calibrating.
    by_shipped = measure(pairs, [shipped.frequencies] * len(pairs))
    kind = "topics" if groups[0] == pairs[0].topic_id else "groups of documents"
    return CalibrationReport(
        path=out,
        labels=len(pairs),
        copies=sum(is_copy(pair.features) for pair in found),
        passed_over=len(read) - len(pairs),
        groups=len(set(groups)),
        held_out=kind,
        shipped=figures(predict(by_shipped, weights, groups, shipped)),
        fitted=figures(unseen),
        no_interval=why_no_interval(unseen, kind),
        reliability=reliability(unseen),
        findings=findings,
    )


def _comparable(pair: LabelledPair) -> bool:
    same_script = comparable(scripts(pair.sentence), scripts(pair.text))
    return same_script and bool(read_wording(pair.sentence).terms)

"""Labelled pairs: sentences, the texts cited for them, and labels of people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.reading import (
    WEIGHTS,
    BarePair,
    label_scale,
    pair_of,
    read_labels_of,
)
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.vocabulary import SUPPORT, Words, support_label
from trecjudge.inputs.sources.values import objects
from trecjudge.judging.attest import Attesting
from trecjudge.records import Item, Place, Response, Topic
from trecjudge.text.visible import is_blank

ReadResponses = Callable[[OnFinding], Iterable[tuple[Topic, Response]]]
"""Reads the responses of runs, and reports what is wrong with them. Raises InputError."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One label: 0 (no support), 0.5 (partial) or 1 (full) as `weight`, and what it is on."""

    topic_id: str
    sentence: str
    text: str
    weight: float


def read_pairs(path: Path, report: OnFinding, words: Words | None = None) -> list[LabelledPair]:
    """Return the labelled pairs of a file, as `pairs` reads it.

    Every label makes a pair, or a finding: where people differ, the weight to be expected is the
    mean of theirs. `words` are what labels are to be called. Raises InputError if there is none.
    """
    read = [
        (p, one) for p in _labelled_pairs(path, report) for one in read_labels_of(p, report, words)
    ]
    scale = label_scale({reading.value for _, reading in read if reading.is_number})
    pairs = [
        LabelledPair(pair.group, pair.sentence, pair.document, weight)
        for pair, reading in read
        if (weight := reading.weight(scale)) is not None
    ]
    if not pairs:
        raise InputError(
            f"{path}: no labelled pairs in it; give JSONL of topic_id, sentence, passage, label,"
            " or labels of runs (topic_id, run_id, sentence_index, doc_id, label) with"
            " --rag-responses"
        )
    return pairs


def _labelled_pairs(path: Path, report: OnFinding) -> Iterator[BarePair]:
    """Yield the pairs of a file that have texts and a label; others are reported."""
    for number, record in objects(path, report):
        place = Place(str(path), number)
        pair = pair_of(record, place)
        if pair is None or not pair.labels:
            message = "needs sentence, passage and label; labels of runs need --rag-responses"
            report(Finding("label_unusable", place, message, brief(record)))
        elif is_blank(pair.sentence) or is_blank(pair.document):
            message = "a sentence or a passage without text"
            found = Finding("label_unusable", place, message, brief(record), topic_id=pair.group)
            report(found)
        else:
            yield pair


def pairs_of_runs(
    path: Path, read: ReadResponses, report: OnFinding, words: Words | None = None
) -> list[LabelledPair]:
    """Return the pairs that labels of runs make, in the order of the runs, which `read` reads.

    `path` is a file as for `--judgments-from`. A label that makes no pair is reported: of another
    kind, or of no citation whose document has text. Raises InputError if none makes one.
    """
    labels = read_labels(path, report, words)
    labels.rename(SUPPORT, report)
    pool = Attesting().pool  # the items that labels of runs are on, as the citation judge has them
    unused = dict(labels)
    pairs = []
    for item in (item for topic, response in read(report) for item in pool(topic, response)):
        weight = _weight_of(labels.get(_key(item)))
        document = item.document
        if weight is not None and document and document.has_text and item.has_text:
            pair = LabelledPair(item.topic.topic_id, item.text, document.full_text, weight)
            pairs.append(pair)
            unused.pop(_key(item), None)
    if unused:
        message = (
            f"{len(unused)} of {len(labels)} labels, such as that of {next(iter(unused))}, are not"
            " full, partial or none, or of no citation of these runs whose document has text"
        )
        if not pairs:
            raise InputError(f"{path}: {message} (--documents)")
        report(Finding("label_unusable", Place(str(path)), message))
    return pairs


def _key(item: Item) -> tuple[str, str, int | None, str | None]:
    doc_id = item.citation.doc_id if item.citation else None
    return item.topic.topic_id, item.run_id, item.sentence_index, doc_id


def _weight_of(label: object) -> float | None:
    if not isinstance(label, str):
        return None
    known = support_label(label)
    return None if known is None else WEIGHTS[known]

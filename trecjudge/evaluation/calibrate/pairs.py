"""Labelled pairs: sentences, the texts cited for them, and labels of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.labels import read_labels, support_label
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.judging.attest.citations import Attesting
from trecjudge.records import FULL, NONE, PARTIAL, Item, Place, Response, Topic
from trecjudge.text.visible import is_blank

WEIGHTS = {NONE: 0.0, PARTIAL: 0.5, FULL: 1.0}
"""Weights of labels (TREC RAG track)."""

_TEXTS = ("passage", "document", "text")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One label: 0 (no support), 0.5 (partial) or 1 (full) as `weight`, and what it is on."""

    topic_id: str
    sentence: str
    text: str
    weight: float


def read_pairs(path: Path, report: OnFinding) -> list[LabelledPair]:
    """Return the pairs of a JSONL file of sentence, passage and label (or a list of labels).

    The passage may also be called `document` or `text`; `topic_id` is the topic of a pair.
    Every label makes a pair, or a finding. Raises InputError if there is none.
    """
    pairs = [
        pair
        for number, record in objects(path, report)
        for pair in _pairs_of(record, Place(str(path), number), report)
    ]
    if not pairs:
        raise InputError(
            f"{path}: no labelled pairs in it; give JSONL of topic_id, sentence, passage, label,"
            " or labels of runs (topic_id, run_id, sentence_index, doc_id, label) with"
            " --rag-responses"
        )
    return pairs


def _pairs_of(record: Mapping[str, Any], place: Place, report: OnFinding) -> Iterator[LabelledPair]:
    sentence = record.get("sentence")
    text = next((record[key] for key in _TEXTS if isinstance(record.get(key), str)), None)
    given = record.get("labels", record.get("label"))
    labels = given if isinstance(given, list) else [given]
    if not isinstance(sentence, str) or text is None:
        message = "needs sentence, passage and label; labels of runs need --rag-responses"
        report(Finding("label_unusable", place, message, shown(record)))
        return
    topic_id = as_id(record.get("topic_id")) or ""
    for label in labels:
        weight = _weight_of(label)
        if weight is None:
            message = f"label {shown(label)} is none of full, partial, none"
            report(Finding("label_unusable", place, message, shown(label), topic_id=topic_id))
        elif is_blank(sentence) or is_blank(text):
            message = "a sentence or a passage without text"
            report(Finding("label_unusable", place, message, shown(record), topic_id=topic_id))
        else:
            yield LabelledPair(topic_id, sentence, text, weight)


def pairs_of_runs(
    path: Path, responses: Iterable[tuple[Topic, Response]], report: OnFinding
) -> list[LabelledPair]:
    """Return the pairs that labels of runs make, in the order of the runs.

    `path` is a file as for `--judgments-from`. A label that makes no pair is reported: of another
    kind, or of no citation whose document has text. Raises InputError if none makes one.
    """
    labels = read_labels(path, report)
    pool = Attesting().pool  # the items that labels of runs are on, as the citation judge has them
    unused = dict(labels)
    pairs = []
    for item in (item for topic, response in responses for item in pool(topic, response)):
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

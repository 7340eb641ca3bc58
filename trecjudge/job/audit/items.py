"""The labelled items of an audit as responses: bare pairs, or those of the job's own runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.reading import bare_pairs, by_texts, pair_as_response, pair_of
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.labels import LabelledItem, read_labels
from trecjudge.inputs.labels.vocabulary import Words
from trecjudge.inputs.sources.values import objects
from trecjudge.records import Place, Response, Sentence, Topic

RUN = "audit"
"""The run_id of bare pairs, and the topic of those without one."""
AllResponses = Iterable[tuple[Topic, Response]]


@dataclass(frozen=True, slots=True)
class AuditItems:
    """Responses with nothing but labelled parts, and the file of the labels on them.

    `labels` are lines to write where the file itself names no items, as that of bare pairs.
    """

    responses: Sequence[tuple[Topic, Response]]
    labels: Sequence[bytes] = ()


def are_pairs(path: Path) -> bool:
    """Return whether a file's first record is a sentence with a document."""
    for _, record in objects(path, unreported):
        return pair_of(record, Place(str(path))) is not None
    return False


def of_pairs(path: Path, report: OnFinding) -> AuditItems:
    """Return bare pairs as responses; one without a label is passed over. Raises InputError."""
    labelled = (pair for pair in bare_pairs([path], report) if pair.labels)
    responses: list[tuple[Topic, Response]] = []
    labels: list[bytes] = []
    for place, records in enumerate(by_texts(labelled)):
        # Numbered: two pairs of a topic are two responses, and those need two runs.
        numbered = replace(records[0], pair_id=str(place))
        topic, response = pair_as_response(numbered, f"{RUN}-{place}", RUN)
        responses.append((topic, response))
        labels.append(_label(response, [label for one in records for label in one.labels]))
    if not responses:
        raise InputError(f"{path}: no labelled pair in it; each needs a label")
    return AuditItems(responses, labels)


def _label(response: Response, said: Sequence[object]) -> bytes:
    (doc_id,) = response.documents
    record = {
        "topic_id": response.topic_id,
        "run_id": response.run_id,
        "sentence_index": 0,
        "doc_id": doc_id,
        "labels": said,
    }
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def of_runs(path: Path, responses: AllResponses, words: Words | None = None) -> AuditItems:
    """Return the labelled parts of responses. Raises InputError where none is labelled."""
    # What they are called is reported where they are compared; here it is what they are on.
    labels = read_labels(path, unreported, words)
    groups = set(labels.rows)
    found = []
    for topic, response in responses:
        if (response.topic_id, response.run_id) in groups:
            items = labels.of((response.topic_id, response.run_id))
            found.append((topic, _labelled_part(response, items)))
    if not found:
        example = next(iter(groups))
        raise InputError(
            f"{path}: no label is on a response of these runs: there topic {example[0]!r},"
            f" run {example[1]!r}"
        )
    return AuditItems(found)


def _labelled_part(response: Response, items: Iterable[LabelledItem]) -> Response:
    """Return the response with only its labelled sentences, and of those the labelled citations.

    It stays whole where a label is on no sentence of it.
    """
    wanted: dict[int, set[str | None]] = {}
    for index, doc_id, *_ in items:
        if index is None:
            return response
        wanted.setdefault(index, set()).add(doc_id)
    return replace(response, sentences=tuple(_narrowed(response.sentences, wanted)))


def _narrowed(
    sentences: Sequence[Sentence], wanted: dict[int, set[str | None]]
) -> Iterator[Sentence]:
    for sentence in sentences:
        if (cited := wanted.get(sentence.index)) is None:
            continue
        kept = tuple(c for c in sentence.citations if None in cited or c.doc_id in cited)
        yield replace(sentence, citations=kept)

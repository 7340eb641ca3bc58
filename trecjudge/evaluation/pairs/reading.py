"""Bare pairs as people write them: a sentence, a document, and labels in many vocabularies."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels import most_given
from trecjudge.inputs.labels.entries import other_columns, person_of
from trecjudge.inputs.labels.vocabulary import Words, fold_label, number_of, support_label
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import (
    FULL,
    NONE,
    PARTIAL,
    Citation,
    Document,
    Place,
    Response,
    Sentence,
    Topic,
)

# Bare pairs as people write them: a sentence, a document and, where there is one, a label.
AGREED = "gold_label"
"""What people agreed on: it stands for the labels of all of them."""
EITHER = "text"
"""A name of the document beside a sentence, and of the sentence beside a document."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "sentence": ("sentence", "claim", "hypothesis", "statement", "response", EITHER),
    "document": ("document", "passage", "context", "evidence", "premise", EITHER),
    "label": ("labels", "label", AGREED),
    "group": ("group", "topic_id", "topic", "dataset"),
    "id": ("id", "pair_id", "uid"),
}
"""What the parts of a pair are called; the first name that a record has counts."""


@dataclass(frozen=True, slots=True)
class BarePair:
    """A sentence and a document; `labels` are those of people, as written, `group` may be empty.

    Where a record has no id, its line is one.
    """

    place: Place
    pair_id: str
    group: str
    sentence: str
    document: str
    labels: tuple[object, ...]
    by_person: bool = False
    """Whether the record names the person who gave the label: others may be on the same texts."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from other pairs: of people's records, the texts."""
        return self.group, "" if self.by_person else self.pair_id, self.sentence, self.document


def by_texts(pairs: Iterable[BarePair]) -> list[list[BarePair]]:
    """Return the records of each pair of texts: one, or one of each person."""
    found: dict[tuple[str, str, str, str], list[BarePair]] = {}
    for pair in pairs:
        found.setdefault(pair.key, []).append(pair)
    return list(found.values())


def parse_field_names(written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the names, with those that `PART=NAME` says. Raises InputError."""
    names = dict(NAMES)
    for text in written:
        part, is_given, name = text.partition("=")
        if part not in NAMES or not name:
            wrong = unknown("part", part, NAMES) if is_given else "give PART=NAME"
            raise InputError(f"--keys {text}: {wrong}")
        names[part] = (name.casefold(),)
    return names


def bare_pairs(
    paths: Sequence[Path], report: OnFinding, names: Mapping[str, Sequence[str]] = NAMES
) -> Iterator[BarePair]:
    """Yield the pairs of files; a record that has none is reported and passed over.

    Of several files each is a group where its records name none. Raises InputError for a file that
    cannot be read.
    """
    for path in paths:
        group = path.name.partition(".")[0] if len(paths) > 1 else ""
        for number, record in objects(path, report):
            place = Place(str(path), number)
            pair = pair_of(record, place, names, group)
            if pair is None:
                report(
                    Finding("record_unknown_shape", place, describe_needed(names), brief(record))
                )
            else:
                yield pair


def describe_needed(names: Mapping[str, Sequence[str]] = NAMES) -> str:
    """Return what a record must have, as a message."""
    sentence, document = (", ".join(names[part]) for part in ("sentence", "document"))
    return f"needs text of a sentence ({sentence}) and of a document ({document})"


def pair_of(
    record: Mapping[str, Any],
    place: Place,
    names: Mapping[str, Sequence[str]] = NAMES,
    group: str = "",
) -> BarePair | None:
    """Return the pair of a record, None if it lacks the sentence or the document."""
    folded = {str(name).casefold(): value for name, value in record.items()}
    # What is the text of something else is found first: `text` may be either.
    own = _first_name(folded, names["sentence"], but=EITHER)
    other = _first_name(folded, names["document"], but=EITHER)
    sentence = own or (_first_name(folded, names["sentence"]) if other else None)
    document = other or (_first_name(folded, names["document"]) if own else None)
    if sentence is None or document is None or sentence == document:
        return None
    said, source = _text(folded[sentence]), _text(folded[document])
    if said is None or source is None:
        return None
    column = next((n for n in names["label"] if folded.get(n) is not None), "")
    label = folded.get(column)
    labels = list(label) if isinstance(label, list) else [] if label is None else [label]
    others = () if column == AGREED else other_columns(folded)
    labels += [value for n in others if (value := folded[n]) is not None]
    owner, known = (next(_ids(folded, names[part]), None) for part in ("group", "id"))
    own_id = known or str(place.line)
    by_person = person_of(folded) is not None
    return BarePair(place, own_id, owner or group, said, source, tuple(labels), by_person)


def _first_name(record: Mapping[str, Any], names: Sequence[str], but: str = "") -> str | None:
    # A name given by --keys is the only one, and may be `text`.
    wanted = (n for n in names if n != but or len(names) == 1)
    return next((name for name in wanted if name in record), None)


def _ids(record: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    return (found for name in names if (found := as_id(record.get(name))) is not None)


def _text(value: object) -> str | None:
    """Return text, that of an object with `text`, or that of a list of them, line by line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        parts = [value.get("title"), value.get(EITHER)]
        return None if parts[1] is None else _text([part for part in parts if part])
    if isinstance(value, list):
        texts = [_text(entry) for entry in value]
        return None if None in texts else "\n".join(text for text in texts if text)
    return None


def require_pairs(pairs: Iterator[BarePair], where: str) -> Iterator[BarePair]:
    """Return the pairs. Raises InputError if there is none."""
    first = next(pairs, None)
    if first is None:
        raise InputError(f"{where}: no pairs in it; each {describe_needed()}")
    return chain([first], pairs)


def pair_as_response(pair: BarePair, run_id: str, topic_id: str = "") -> tuple[Topic, Response]:
    """Return a pair as a response of one sentence, which cites the document, with a topic.

    The topic is the pair's group; without one it is `topic_id`, or called as the run is.
    """
    topic_id, doc_id = pair.group or topic_id or run_id, pair.pair_id
    sentence = Sentence(0, pair.sentence, (Citation(doc_id, doc_id),))
    documents = {doc_id: Document(doc_id, pair.document)}
    return Topic(topic_id), Response(run_id, topic_id, (sentence,), documents=documents)


# Labels of support in the words and numbers of many data sets.
WEIGHTS = {NONE: 0.0, PARTIAL: 0.5, FULL: 1.0}
"""Weights of labels (TREC RAG track)."""
CHOICES = "full, partial, none; supported, entailment, neutral, …; true, false; 0 to 1; 0 to 2"


class LabelReading(NamedTuple):
    """What a label says: a weight, or a number, which only all labels of a file can explain."""

    value: float
    is_number: bool = False

    def weight(self, scale: float) -> float | None:
        """Return the weight, where numbers go up to `scale`; None for a number in between."""
        value = self.value / scale if self.is_number else self.value
        return value if value in WEIGHTS.values() else None


def read_label(label: object) -> LabelReading | None:
    """Return what a label says, None for any other: words, truth values, 0 to 1, or 0 to 2."""
    if isinstance(label, bool):
        return LabelReading(float(label))
    if isinstance(label, int | float):
        return LabelReading(float(label), True) if label in (0, 0.5, 1, 2) else None
    if not isinstance(label, str):
        return None
    if (known := support_label(label)) is not None:
        return LabelReading(WEIGHTS[known])
    number = number_of(unicodedata.normalize("NFKC", label).strip())
    return None if number is None else read_label(number)


def read_labels_of(
    pair: BarePair, report: OnFinding, words: Words | None = None
) -> Iterator[LabelReading]:
    """Yield what each label of a pair says; one that cannot be read is reported.

    `words` are what labels are to be called.
    """
    asked = {fold_label(word): name for word, name in (words or {}).items()}
    for label in pair.labels:
        if (reading := read_label(asked.get(fold_label(str(label)), label))) is not None:
            yield reading
            continue
        message = f"label {brief(label)} is none of {CHOICES}"
        found = Finding("label_unusable", pair.place, message, brief(label), topic_id=pair.group)
        report(found)


def label_scale(numbers: Collection[float]) -> float:
    """Return the number that means full support: 2 where a label is 2, else 1."""
    return 2.0 if 2.0 in numbers else 1.0


def majority_weights(
    pairs: Iterable[BarePair], report: OnFinding, words: Words | None = None
) -> list[tuple[BarePair, float]]:
    """Return each pair of texts once, with the weight of the label that most people give it.

    A pair may have several labels, or a record for each person. One on which people are divided is
    reported and left out, as is a label that cannot be read.
    """
    read = [
        (records[0], [one for record in records for one in read_labels_of(record, report, words)])
        for records in by_texts(pairs)
    ]
    numbers = {one.value for _, own in read for one in own if one.is_number}
    found = []
    for pair, own in read:
        weights = [one.weight(label_scale(numbers)) for one in own]
        most = most_given(Counter(weight for weight in weights if weight is not None))
        if len(most) == 1:
            found.append((pair, most[0]))
        elif most:
            message = f"people are divided on {brief(pair.sentence)}"
            report(Finding("labels_tied", pair.place, message, "", None, "", pair.group))
    return found

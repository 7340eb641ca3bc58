"""The verdicts of an earlier run on the same pairs: read from its file, found pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.pairs.reading import (
    WEIGHTS,
    LabelReading,
    pair_of,
    read_label,
)
from trecjudge.evaluation.pairs.verdicts import PairVerdict, digest_texts
from trecjudge.findings import OnFinding, brief
from trecjudge.inputs.sources.values import as_id, as_text, objects
from trecjudge.records import NOTHING_TO_CHECK, Place

NEEDED = ("id", "group", "label", "p_full", "p_supported", "failure", "human")
"""Members of a verdict that a comparison needs; all releases write them."""


class VerdictLine(NamedTuple):
    """What a comparison needs of a verdict; `label` is None where it is unjudged.

    `full` and `supported` order pairs, and are probabilities where they are `calibrated`. `has_id`
    is whether the id is more than the line. `digest` is of the texts; "" in a file of a
    release that wrote none. `labels` are those of people, as written.
    """

    pair_id: str
    group: str
    has_id: bool
    digest: str
    label: str | None
    full: float | None
    supported: float | None
    labels: tuple[object, ...]
    calibrated: bool = True

    @classmethod
    def of(cls, verdict: PairVerdict) -> VerdictLine:
        """Return what the line of a verdict says."""
        pair = verdict.pair
        return cls(
            pair.pair_id,
            pair.group,
            has_id=pair.pair_id != str(pair.place.line),
            digest=digest_texts(pair),
            label=verdict.label,
            full=verdict.full,
            supported=verdict.supported,
            labels=pair.labels,
            calibrated=not verdict.uncalibrated,
        )

    def readings(self) -> list[LabelReading]:
        """Return what its labels say, in steady order; those that cannot be read are left out."""
        return sorted(one for one in map(read_label, self.labels) if one is not None)


def read_verdicts(path: Path, report: OnFinding) -> Iterator[VerdictLine]:
    """Yield the verdicts of a file. Raises InputError for a record that is none."""
    for number, record in objects(path, report):
        yield _parse_verdict(record, Place(str(path), number))


def _parse_verdict(record: Mapping[str, Any], place: Place) -> VerdictLine:
    if lacking := [name for name in NEEDED if name not in record]:
        raise InputError(f"{place}: {_describe_other(record, lacking, place)}")
    label, human = record["label"], record["human"]
    if label is not None and label not in (known := (*WEIGHTS, NOTHING_TO_CHECK)):
        raise InputError(f"{place}: {unknown('label', label, known)}")
    own_id = as_id(record["id"]) or ""
    labels = human if isinstance(human, list) else [] if human is None else [human]
    scores = record.get("scores")
    chances = scores if isinstance(scores, dict) else record
    return VerdictLine(
        own_id,
        as_text(record["group"]),
        has_id=own_id != str(record.get("line")),
        digest=as_text(record.get("digest")),
        label=label,
        full=_parse_chance(chances, "p_full", place),
        supported=_parse_chance(chances, "p_supported", place),
        labels=tuple(labels),
        calibrated=chances is record,
    )


def _parse_chance(record: Mapping[str, Any], name: str, place: Place) -> float | None:
    chance = record.get(name)
    if chance is None:
        return None
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        raise InputError(f"{place}: {name} {brief(chance)} is no number from 0 to 1, nor null")
    return float(chance)


def _describe_other(record: Mapping[str, Any], lacking: list[str], place: Place) -> str:
    """Return what a record that is no verdict is, and what to give instead."""
    if pair_of(record, place) is not None:
        what = (
            "a pair to judge, not a verdict: first judge the file with `judges pairs FILE --output"
        )
        return f"{what} OTHER`, and give OTHER"
    what = f"no verdict of `judges pairs`: it lacks {', '.join(lacking)}"
    return f"{what}; --against wants the file that `judges pairs --output` wrote"


class Found(NamedTuple):
    """The earlier verdict on a pair; `same_texts` is False where only its id is the pair's."""

    verdict: VerdictLine
    same_texts: bool = True


class EarlierVerdicts:
    """The verdicts of a file, each given once, to the pair that it is on.

    A pair is known by its texts; among equal ones by group and labels first. A file of a release
    that wrote no digests of the texts is known by group and id, which may be the line.
    """

    def __init__(self, path: Path, lines: Iterable[VerdictLine]) -> None:
        """Take all lines. Raises InputError if there is none."""
        self.path = path
        self._lines = list(lines)
        if not self._lines:
            raise InputError(f"{path}: no verdicts in it; give what `judges pairs --output` wrote")
        self._is_given = bytearray(len(self._lines))
        self._places: dict[tuple[str, ...], list[int]] = {}
        for place in reversed(range(len(self._lines))):  # the first one is taken from the end
            line = self._lines[place]
            keys = [_by_id(line)]
            if line.digest:
                keys += [_by_labels(line), _by_texts(line)]
            for key in keys:
                self._places.setdefault(key, []).append(place)

    @property
    def first(self) -> VerdictLine:
        """The first verdict of the file."""
        return self._lines[0]

    @property
    def left(self) -> int:
        """How many have been given to no pair."""
        return self._is_given.count(0)

    @property
    def are_by_line(self) -> bool:
        """Whether nothing but the line tells which pair some verdict is on."""
        return any(not line.digest and not line.has_id for line in self._lines)

    def find(self, own: VerdictLine) -> Found | None:
        """Return the verdict on the pair of `own`, None where the file has none."""
        place = self._take(_by_labels(own))
        if place is None:
            place = self._take(_by_texts(own))
        if place is not None:
            return Found(self._lines[place])
        place = self._peek(_by_id(own))
        if place is None:
            return None
        line = self._lines[place]
        if line.digest and not (own.has_id and line.has_id):
            return None  # the same line of another file
        self._is_given[place] = True
        return Found(line, same_texts=not line.digest)

    def _peek(self, key: tuple[str, ...]) -> int | None:
        places = self._places.get(key, [])
        while places and self._is_given[places[-1]]:
            places.pop()
        return places[-1] if places else None

    def _take(self, key: tuple[str, ...]) -> int | None:
        place = self._peek(key)
        if place is not None:
            self._is_given[place] = True
        return place


def _by_id(line: VerdictLine) -> tuple[str, ...]:
    return "id", line.group, line.pair_id


def _by_labels(line: VerdictLine) -> tuple[str, ...]:
    return "labels", line.digest, line.group, repr(line.labels)


def _by_texts(line: VerdictLine) -> tuple[str, ...]:
    return "texts", line.digest


def read_earlier(path: Path, report: OnFinding) -> EarlierVerdicts:
    """Return the verdicts of an earlier run. Raises InputError for a file of another kind."""
    return EarlierVerdicts(path, read_verdicts(path, report))

"""Labels by people or another tool: how they are read, and what a judge needs to take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, ignore, plural
from trecjudge.inputs.labels.entries import (
    OF_ALL,
    DecidesSome,
    Entry,
    ItemKey,
    LabelledItem,
    Spent,
    TakesLabels,
    TakesNuggetLabels,
    entries_of,
    is_other_side,
    key_of,
    label_of,
    labels_of,
    owners_of,
    takes_labels,
)
from trecjudge.inputs.labels.label_files import KINDS
from trecjudge.inputs.labels.vocabulary import (
    GRADED,
    SUPPORT,
    Naming,
    Words,
    name_labels,
    support_label,
    target_of,
)
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.sources.values import Room
from trecjudge.records import Place

__all__ = [
    "DECIDED",
    "UNNAMED",
    "DecidesSome",
    "ItemKey",
    "LabelledItem",
    "Labels",
    "TakesLabels",
    "TakesNuggetLabels",
    "Vote",
    "is_other_side",
    "key_of",
    "label_of",
    "labels_of",
    "majority",
    "most_given",
    "read_labels",
    "support_label",
    "takes_labels",
    "votes_at",
]

OF_NUGGET = 3
"""The parts of a labelled item that is a nugget."""
MOST_UNLOOKED = 255
"""Labels that are taken between two looks at the memory that all take."""
OF_A_RESPONSE, OF_A_ROW, OF_A_NAME = 500, 400, 1000
"""Bytes that the labels of a response take, a row of the largest one, a person or a label."""
MOST_SORTED = 50_000
"""Findings that are held to be put in order."""
MOST_UNPACKED = 64
"""Responses whose labels are held unpacked: a runner has some under way at a time."""

T = TypeVar("T")

Vote = tuple[str, int, int, int]
"""A label, its line, the number of its file, and that of the person.

UNNAMED is a person who is not known, DECIDED all of them, who have agreed on a label.
"""
UNNAMED = -1
DECIDED = -2


@dataclass(slots=True, eq=False)
class Labels(Mapping[ItemKey, str]):
    """The labels of a file or folder by item, held packed: what most people say of an item counts.

    An item on which as many say something else has no label. They are looked up as judgments come:
    only the labels of a few responses are held unpacked.
    """

    rows: PackedRows = field(default_factory=PackedRows)
    """(item, label, line, file, person) by (topic_id, run_id), in the order of the files."""
    files: list[str] = field(default_factory=list)
    people: dict[str, int] = field(default_factory=dict)
    """The persons who are named, and their numbers."""
    names: list[str] = field(default_factory=list)
    """The persons by their numbers, once it is said what labels are called."""
    seconds: dict[str, dict[ItemKey, float]] = field(default_factory=dict)
    """How long each person looked at items, labelled or skipped, where the files say so."""
    counts: Counter[str] = field(default_factory=Counter)
    """How often each label was given, and to nuggets: those may read like others."""
    nugget_counts: Counter[str] = field(default_factory=Counter)
    words: Words = field(default_factory=dict)
    """What labels are to be called whatever they are, as the user says."""
    first_breaks_ties: bool = False
    """Whether the first label counts where people are divided: else the item has none."""
    naming: Naming | None = None
    nugget_naming: Naming | None = None
    size: int = 0
    """Items that have a label."""
    tied: int = 0
    """Items that have none because people are divided."""
    several: int = 0
    """Items that two or more people labelled."""
    unnamed: bool = False
    """Whether people are not named who say different things."""
    _owners: list[int] = field(default_factory=list)
    """Whose the labels of each file are that name nobody: UNNAMED, or a person's own file."""
    _unpacked: dict[Group, dict[LabelledItem, Vote]] = field(default_factory=dict)
    _told: set[int] = field(default_factory=set)
    """The hashes of findings that were reported."""
    _alike: int = 0
    """Items that have one label several times, by no named person: copies, or several people."""

    def of(self, group: Group) -> dict[LabelledItem, Vote]:
        """Return the labels on a response, (topic_id, run_id), each as one vote for it."""
        found = self._unpacked.get(group)
        if found is None:
            found, more = self._votes(group)
            for item, votes in more.items():
                if (decided := majority(votes, self.first_breaks_ties)) is None:
                    del found[item]
                else:
                    found[item] = decided
            if len(self._unpacked) >= MOST_UNPACKED:
                self._unpacked.pop(next(iter(self._unpacked)))
            self._unpacked[group] = found
        return found

    def votes(self, group: Group) -> dict[LabelledItem, list[Vote]]:
        """Return all that people say of the items of a response."""
        found, more = self._votes(group)
        return {item: more.get(item) or [vote] for item, vote in found.items()}

    def _votes(
        self, group: Group
    ) -> tuple[dict[LabelledItem, Vote], dict[LabelledItem, list[Vote]]]:
        """Return the first vote on each item, and all of those that have several."""
        first: dict[LabelledItem, Vote] = {}
        more: dict[LabelledItem, list[Vote]] = {}
        names = self.naming.names if self.naming else None
        of_nuggets = self.nugget_naming.names if self.nugget_naming else None
        for item, label, line, file, person in self.rows.rows(group):
            known = names if len(item) < OF_NUGGET else of_nuggets
            name = label if known is None else known[label]
            if name is None:
                continue
            if person == UNNAMED:
                person = self._owners[file]
            if item in first:
                more.setdefault(item, [first[item]]).append((name, line, file, person))
            else:
                first[item] = name, line, file, person
        return first, more

    def __getitem__(self, key: ItemKey) -> str:
        return self.of(key[:2])[key[2:]][0]

    def __iter__(self) -> Iterator[ItemKey]:
        for topic_id, run_id in self.rows:
            yield from ((topic_id, run_id, *item) for item in self.of((topic_id, run_id)))

    def __len__(self) -> int:
        return self.size

    def add(
        self, file: Path, entries: Iterable[Entry], owner: str = "", report: OnFinding = ignore
    ) -> None:
        """Add the labels of a file, each with its line.

        `owner` gave those that name nobody, unless a record has several of them.
        """
        number, add = len(self.files), self.rows.add
        counts: tuple[dict[str, int], dict[str, int]] = {}, {}
        before: ItemKey | None = None
        for line, key, label, person in entries:
            item = key[2:]
            own = counts[len(item) >= OF_NUGGET]
            own[label] = own.get(label, 0) + 1
            who = UNNAMED
            if person == OF_ALL:
                who = DECIDED
            elif person is not None:
                who = self.people.setdefault(person, len(self.people))
            elif owner:
                owner, before = "" if key is before else owner, key
            add(key[:2], (item, label, line, number, who))
            if not self.rows.size & MOST_UNLOOKED:
                taken = OF_A_RESPONSE * self.rows.groups + OF_A_ROW * self.rows.largest
                taken += OF_A_NAME * (len(self.people) + len(counts[0]) + len(counts[1]))
                if not Room(report).takes(Place(str(file), line), taken):
                    break
        self.counts.update(counts[0])
        self.nugget_counts.update(counts[1])
        self.files.append(str(file))
        of_file = self.people.setdefault(owner, len(self.people)) if owner else UNNAMED
        self._owners.append(of_file)

    def rename(self, target: Sequence[str], report: OnFinding) -> None:
        """Call labels as a judge does whose labels are `target`, unless they are called so already.

        Raises InputError where most of them cannot be understood.
        """
        if target and self.naming is not None and self.naming.target != target:
            named = name_labels(self.counts, target, self.words)
            if not named.understands(self.counts):
                raise InputError(f"{self.files[0]}: {not_understood(self.counts, named)}")
            self.call(named, self.nugget_naming, report)

    def call(self, others: Naming, nuggets: Naming | None, report: OnFinding) -> None:
        """Call labels as the namings say, and report what is left out: unknown labels, and ties."""
        self.naming, self.nugget_naming = others, nuggets
        self.names = list(self.people)
        self._unpacked.clear()
        self.size = self.tied = self.several = self._alike = 0
        found: list[tuple[int, int, Finding]] = []
        if said := "; ".join(
            named.in_words for named in (others, nuggets) if named and named.in_words
        ):
            found.append((0, 0, Finding("labels_called", Place(self.files[0]), said)))
        self.unnamed = False
        unknown = None in others.names.values() or (nuggets and None in nuggets.names.values())
        for group in self.rows:
            if unknown:
                found += self._unknown(group)
            first, more = self._votes(group)
            self.size += len(first)
            for item, votes in more.items():
                found += self._check_votes((*group, *item), votes)
            if len(found) > MOST_SORTED:
                self._tell(found, report)
        if self.unnamed:
            self.several += self._alike
            message = "several people label one item, and are not named: each label counts as one's"
            found.append((0, 0, Finding("people_unnamed", Place(self.files[0]), message)))
        self._tell(found, report)

    def _tell(self, found: list[tuple[int, int, Finding]], report: OnFinding) -> None:
        """Report findings by file and line, each once; none is left."""
        for _, _, finding in sorted(found, key=lambda one: one[:2]):
            if hash(finding) not in self._told:
                report(finding)
                self._told.add(hash(finding))
        found.clear()

    def _unknown(self, group: Group) -> Iterator[tuple[int, int, Finding]]:
        for item, label, line, file, _ in self.rows.rows(group):
            named = self.naming if len(item) < OF_NUGGET else self.nugget_naming
            if named and named.names[label] is None:
                message = f"{label!r} is no {named.wanted}; --map says what it means"
                yield file, line, Finding("label_unusable", self.place(line, file), message, label)

    def _check_votes(
        self, item: tuple[Any, ...], votes: Sequence[Vote]
    ) -> Iterator[tuple[int, int, Finding]]:
        """Yield the findings of an item that several votes are on, and count it."""
        labels = {label for label, *_ in votes}
        people = {person for *_, person in votes} - {DECIDED}
        if len(people) == len(labels) == 1:
            self._alike += UNNAMED in people
            return
        self.several += len(people) > 1 or UNNAMED in people
        if len(labels) == 1:
            return
        self.unnamed = self.unnamed or UNNAMED in people
        topic_id, run_id = item[:2]
        for person in sorted(people - {UNNAMED}):
            given = [vote for vote in votes if vote[3] == person]
            if len(own := sorted({label for label, *_ in given})) > 1:
                _, line, file, _ = given[-1]
                said = f"{item} {' and '.join(map(repr, own))}"
                message = f"{self.names[person]} labels {said}: neither counts"
                place = self.place(line, file)
                found = Finding("label_contradicted", place, message, "", None, run_id, topic_id)
                yield file, line, found
        if (counting := majority(votes, self.first_breaks_ties)) is not None:
            if majority(votes) is None:
                other = next(vote for vote in votes if vote[0] != counting[0])
                pair = [(vote[0], self.place(*vote[1:3])) for vote in (other, counting)]
                yield other[2], other[1], label_duplicate(item, pair[0], pair[1])
        else:
            self.size -= 1
            self.tied += 1
            said = "; ".join(
                f"{label!r} ({plural(n, 'vote')})" for label, n in sorted(_tally(votes).items())
            )
            _, line, file, _ = votes[-1]
            place = self.place(line, file)
            message = f"people are divided on {item}: {said or 'no vote counts'}"
            found = Finding("labels_tied", place, message, "", None, run_id, topic_id)
            yield file, line, found

    def renamings(self) -> dict[str, str]:
        """Return what labels are called now that were called otherwise."""
        namings = (self.naming, self.nugget_naming)
        return {label: name for one in namings if one for label, name in one.renamings.items()}

    def place(self, line: int, file: int) -> Place:
        """Return where a label stands."""
        return Place(self.files[file], line)

    def person(self, vote: Vote) -> str:
        """Return who gave a vote; of a person who is not named where it stands."""
        _, line, file, person = vote
        return self.names[person] if person >= 0 else str(self.place(line, file))


def majority(votes: Sequence[Vote], first_breaks_ties: bool = False) -> Vote | None:
    """Return the first vote for the label that most people give; None where they are divided.

    With `first_breaks_ties` it is then that for the first of these labels. A person who gives an
    item two labels has no vote on it; one who is not named has one each time. A label that they
    agreed on in the end stands for them all.
    """
    votes = [vote for vote in votes if vote[3] == DECIDED] or votes
    labels = most_given(_tally(votes))
    if len(labels) == 1 or (labels and first_breaks_ties):
        return next(vote for vote in votes if vote[0] in labels)
    return None


def most_given(tally: Mapping[T, int]) -> list[T]:
    """Return the labels that are given most often: one, or those that people are divided on."""
    most = max(tally.values(), default=0)
    return [label for label, count in tally.items() if count == most]


def _tally(votes: Iterable[Vote]) -> Counter[str]:
    named: dict[int, set[str]] = {}
    tally: Counter[str] = Counter()
    for label, _, _, person in votes:
        if person == UNNAMED:
            tally[label] += 1
        else:
            named.setdefault(person, set()).add(label)
    tally.update(label for own in named.values() if len(own) == 1 for label in own)
    return tally


def not_understood(counts: Iterable[str], named: Naming) -> str:
    """Return in words that labels are in no words that are known, and how to map them."""
    unknown = next(label for label in sorted(counts) if named.names[label] is None)
    target = ("0", "1", "2") if named.target == GRADED else named.target
    return (
        f"its labels are {', '.join(sorted(counts))}; those to compare with {', '.join(target)}:"
        f" say what each means: --map {quote(unknown)}=LABEL"
    )


def read_labels(
    path: Path, report: OnFinding, words: Words | None = None, first_breaks_ties: bool = False
) -> Labels:
    """Return the labels of a file, or of all files of a folder; the majority of people counts.

    It is JSONL, CSV or TSV of topic_id, run_id, sentence_index, doc_id, label, or nugget in place
    of a document; AutoNuggetizer's assignments; Auto-ARGUE's judgments; or DRAGUN's assessments.
    `words` are what labels are to be called; `first_breaks_ties` as for Labels. Raises InputError
    if there is no label.
    """
    labels = votes_at(path, report, words)
    labels.first_breaks_ties = first_breaks_ties
    target = SUPPORT if target_of(labels.counts) == SUPPORT else ()
    nuggets = name_labels(labels.nugget_counts, (), labels.words)
    labels.call(name_labels(labels.counts, target, labels.words), nuggets, report)
    return labels


def votes_at(path: Path, report: OnFinding, words: Words | None = None) -> Labels:
    """Return the same before anything is made of them: `call` says what the labels are called."""
    labels = Labels(words=words or {})
    files = files_below(path)
    for file, owner in zip(files, owners_of(files), strict=True):
        spent: Spent = {}
        labels.add(file, entries_of(file, report, spent), owner, report)
        for person, seconds in spent.items():
            labels.seconds.setdefault(person or owner or str(file), {}).update(seconds)
    labels.rows.pack()
    if not labels.rows.size:
        raise InputError(f"{path}: no labels in it; give {KINDS}")
    return labels


def label_duplicate(
    item: tuple[Any, ...], second: tuple[str, Place], first: tuple[str, Place]
) -> Finding:
    """Return the finding of an item that has two different labels, of which the first counts."""
    (label, place), (before, where) = second, first
    message = f"labels {item} {label!r}, {where} labels it {before!r}: the first counts"
    topic_id, run_id = item[:2]
    return Finding("label_duplicate", place, message, label, None, run_id, topic_id)

"""Verdicts that two judgments of the same items do not share, with the evidence of both."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol, overload

from trecjudge.inputs.packed import PackedRows
from trecjudge.records import Judgment, Response

ItemKey = tuple[int | None, str | None, str | None, str, str]
"""(sentence_index, doc_id, citation, claim or nugget, judge): what is judged of a response."""
UNJUDGED = "unjudged"


class JudgedResponses(Protocol):
    """Judged responses, one of each run on a topic, that can be read again one by one."""

    def __iter__(self) -> Iterator[tuple[Response, Sequence[Judgment]]]: ...

    def again(
        self, run_id: str, topic_id: str, places: Sequence[int]
    ) -> tuple[Response, list[Judgment]]:
        """Return a response that was read, with the judgments at these places of its own."""


@dataclass(frozen=True, slots=True)
class Flip:
    """An item with two verdicts, and the judgments behind them."""

    sentence: str
    before: Judgment
    after: Judgment


@dataclass(slots=True)
class Flips(Sequence[Flip]):
    """Flips of which only the places are held: the judgments are read again where one is looked at.

    In the order of the second side.
    """

    before: JudgedResponses
    after: JudgedResponses
    _responses: list[tuple[str, str]] = field(default_factory=list)
    _places: tuple[array[int], array[int], array[int]] = field(
        default_factory=lambda: (array("q"), array("q"), array("q"))
    )
    """Of each flip: the response, and the places of its judgments before and after."""

    def add(self, response: Response, places: Sequence[tuple[int, int]]) -> None:
        """Add the flips of a response: (place before, place after) of each."""
        if places:
            self._responses.append((response.run_id, response.topic_id))
        for pair in places:
            for column, place in zip(self._places, (len(self._responses) - 1, *pair), strict=True):
                column.append(place)

    def __len__(self) -> int:
        return len(self._places[0])

    @overload
    def __getitem__(self, index: int) -> Flip: ...
    @overload
    def __getitem__(self, index: slice) -> list[Flip]: ...
    def __getitem__(self, index: int | slice) -> Flip | list[Flip]:
        wanted = range(len(self))[index]
        if isinstance(wanted, range):
            return list(self._read(wanted))
        return next(self._read([wanted]))

    def __iter__(self) -> Iterator[Flip]:
        return self._read(range(len(self)))

    def _read(self, wanted: Sequence[int]) -> Iterator[Flip]:
        owners, *sides = self._places
        for owner, same in groupby(wanted, lambda i: owners[i]):
            rows = list(same)
            run_id, topic_id = self._responses[owner]
            _, old = self.before.again(run_id, topic_id, [sides[0][i] for i in rows])
            response, new = self.after.again(run_id, topic_id, [sides[1][i] for i in rows])
            sentences = {sentence.index: sentence.text for sentence in response.sentences}
            for before, after in zip(old, new, strict=True):
                yield Flip(_text(after, sentences), before, after)


@dataclass(slots=True)
class VerdictChanges:
    """Verdicts of two sets of judgments: `counts` by both verdicts, `flips` where they differ.

    `only_before` and `only_after` count the items of one side, which are in no other figure.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    flips: Sequence[Flip] = ()
    only_before: int = 0
    only_after: int = 0

    @property
    def shared(self) -> int:
        """Items of both sides."""
        return sum(self.counts.values())


def verdict_changes(before: JudgedResponses, after: JudgedResponses) -> VerdictChanges:
    """Return how the judgments of the same items differ, in the order of the second side.

    Judges of different names are compared where each side has only one.
    """
    first, names = _packed_verdicts(before)
    # Two judges on the same items, such as `citation` and `support`, are compared by item.
    name = next(iter(names)) if len(names) == 1 else ""
    flips, shared_items = Flips(before, after), 0
    found = VerdictChanges(flips=flips)
    for response, judgments in after:
        rows = first.rows((response.run_id, response.topic_id))
        old = {key: (label, place) for key, label, place in rows}
        flipped = []
        for place, judgment in enumerate(judgments):
            if not _has_verdict(judgment):
                continue
            label, there = old.get(item_key(judgment, name), (None, 0))
            if label is None:
                found.only_after += 1
                continue
            shared_items += 1
            found.counts[label, verdict(judgment)] += 1
            if label != verdict(judgment):
                flipped.append((there, place))
        flips.add(response, flipped)
    found.only_before = first.size - shared_items
    return found


def _packed_verdicts(side: JudgedResponses) -> tuple[PackedRows, set[str]]:
    """Return (key, verdict, place) of each item by response, and the judges that decided."""
    packed, names = PackedRows(), set()
    for response, judgments in side:
        own: dict[ItemKey, tuple[str, int]] = {}
        for place, judgment in enumerate(judgments):
            if _has_verdict(judgment):
                own[item_key(judgment)] = verdict(judgment), place
                names.add(judgment.judge)
        group = response.run_id, response.topic_id
        packed.put(group, ((key, *verdict_at) for key, verdict_at in own.items()))
    return packed, names


def verdict(judgment: Judgment) -> str:
    """Return the label of a judgment, `unjudged` where it failed."""
    return judgment.label if judgment.judged and judgment.label is not None else UNJUDGED


def _has_verdict(judgment: Judgment) -> bool:
    """Return whether a judgment gives a label, or should have: one that measures gives none."""
    return judgment.label is not None or not judgment.judged


def _text(judgment: Judgment, sentences: dict[int, str]) -> str:
    if judgment.about:
        return judgment.about
    return sentences.get(-1 if judgment.sentence_index is None else judgment.sentence_index, "")


def item_key(judgment: Judgment, judge: str = "") -> ItemKey:
    """Return what tells an item of a response from the others; `judge` stands for its own."""
    return (
        judgment.sentence_index,
        judgment.doc_id,
        judgment.citation,
        judgment.identity,
        judge or judgment.judge,
    )

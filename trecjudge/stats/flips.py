"""Verdicts that two judgments of the same items do not share, with the evidence of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trecjudge.records import Judgment, Response

Judged = Iterable[tuple[Response, Sequence[Judgment]]]
JudgmentKey = tuple[str, str, int | None, str | None, str | None, str, str]
UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Flip:
    """An item with two verdicts, and the judgments behind them."""

    sentence: str
    before: Judgment
    after: Judgment


@dataclass(slots=True)
class VerdictChanges:
    """Verdicts of two sets of judgments: `counts` by both verdicts, `flips` where they differ.

    `only_before` and `only_after` count the items of one side, which are in no other figure.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    flips: list[Flip] = field(default_factory=list)
    only_before: int = 0
    only_after: int = 0

    @property
    def shared(self) -> int:
        """Items of both sides."""
        return sum(self.counts.values())


def verdict_changes(before: Judged, after: Judged) -> VerdictChanges:
    """Return how the judgments of the same items differ, in the order of the second side.

    Judges of different names are compared where each side has only one.
    """
    first = {_key(j): j for _, judgments in before for j in judgments if _decided(j)}
    # Two judges on the same items, such as `citation` and `support`, are compared by item.
    names = {judgment.judge for judgment in first.values()}
    found, shared_items = VerdictChanges(), 0
    for response, judgments in after:
        sentences = {sentence.index: sentence.text for sentence in response.sentences}
        for judgment in filter(_decided, judgments):
            name = next(iter(names)) if len(names) == 1 else judgment.judge
            old = first.get(_key(judgment, name))
            if old is None:
                found.only_after += 1
                continue
            shared_items += 1
            found.counts[verdict(old), verdict(judgment)] += 1
            if verdict(old) != verdict(judgment):
                text = _text(judgment, sentences)
                found.flips.append(Flip(text, old, judgment))
    found.only_before = len(first) - shared_items
    return found


def verdict(judgment: Judgment) -> str:
    """Return the label of a judgment, `unjudged` where it failed."""
    return judgment.label if judgment.judged and judgment.label is not None else UNJUDGED


def _decided(judgment: Judgment) -> bool:
    """Return whether a judgment gives a label, or should have: one that measures gives none."""
    return judgment.label is not None or not judgment.judged


def _text(judgment: Judgment, sentences: dict[int, str]) -> str:
    if judgment.about:
        return judgment.about
    return sentences.get(-1 if judgment.sentence_index is None else judgment.sentence_index, "")


def _key(judgment: Judgment, judge: str = "") -> JudgmentKey:
    return (
        judgment.run_id,
        judgment.topic_id,
        judgment.sentence_index,
        judgment.doc_id,
        judgment.citation,
        judgment.about,
        judge or judgment.judge,
    )

"""From votes to one judgment: majority, mean grade, and whether a vote is unsure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from trecjudge.records import GRADES, PARTIAL, Failure, Judgment, Vote

Rule = Literal["majority", "mean", "cascade"]
"""How votes make a label."""
Ballots = Mapping[str, Judgment]
"""The judgments of voters on one thing, by voter, in the order of the workflow."""
Named = Callable[[int], str | None]
"""(grade) -> its label, None where that is not known"""
DIFFERENT = "voters"
"""Failure kind of an item on which too few voters decided, for different causes."""
CLEAR = 0.25
"""How near to 0 or 1 the expected weight of a clear vote is."""
_WEIGHTS = max(GRADES.values())


def aggregate_votes(
    rule: Rule, ballots: Ballots, voters: int, named: Named = lambda grade: None
) -> Judgment:
    """Return the judgment that votes make, with the votes in it.

    `voters` is how many there are in all. Where no more than half of them decided, it is unjudged.
    With `cascade`, the last vote decides. `named` gives the label of a grade that no voter gave.
    """
    judged = [found for found in ballots.values() if found.judged]
    votes = tuple(vote_of(voter, found) for voter, found in ballots.items())
    last = list(ballots.values())[-1]
    if rule == "cascade":
        return replace(last, votes=votes) if last.judged else _undecided_judgment(ballots, votes)
    if 2 * len(judged) <= voters or (len(judged) < voters and not _most(judged, voters)):
        return _undecided_judgment(ballots, votes)
    graded = [found for found in judged if found.grade is not None]
    # What has no grade, such as "nothing to check", is no part of a mean.
    if rule == "mean" and 2 * len(graded) > len(judged):
        return replace(_mean(graded, named), votes=votes)
    return replace(_majority(judged), votes=votes)


def vote_of(voter: str, found: Judgment) -> Vote:
    """Return a judgment as the vote of a voter."""
    failure = f"{found.failure.kind}: {found.failure.message}" if found.failure else ""
    return Vote(voter, found.label, found.grade, failure)


def is_unsure(found: Judgment) -> bool:
    """Return whether a vote is to be checked by a better voter.

    It is where there is no label, where the label is partial support, and where the expected
    weight lies in the middle.
    """
    if found.expected is not None and CLEAR < found.expected < 1 - CLEAR:
        return True
    return not found.judged or found.label == PARTIAL


def agree(found: Sequence[Judgment]) -> bool:
    """Return whether all decided, and all alike."""
    return all(one.judged for one in found) and len({one.label for one in found}) == 1


def _most(judged: Sequence[Judgment], voters: int) -> bool:
    """Return whether more than half of all voters gave one label."""
    return 2 * max(Counter(found.label for found in judged).values()) > voters


def _majority(judged: Sequence[Judgment]) -> Judgment:
    """Return the first judgment with the most frequent label.

    Of labels that are equally frequent, it is the middle one by grade, the lower of two.
    """
    counts = Counter(found.label for found in judged)
    most = max(counts.values())
    firsts: dict[str | None, Judgment] = {}
    for found in judged:
        firsts.setdefault(found.label, found)
    tied = [found for label, found in firsts.items() if counts[label] == most]
    tied.sort(key=lambda one: (-1 if one.grade is None else one.grade, one.label or ""))
    return tied[(len(tied) - 1) // 2]


def _mean(graded: Sequence[Judgment], named: Named) -> Judgment:
    """Return the judgment of the rounded mean grade, a half rounded down.

    Labels of support have the mean as their expected weight. A grade that has no name is the
    nearest one that was given, the lower of two.
    """
    mean = sum(one.grade or 0 for one in graded) / len(graded)
    grade = math.ceil(mean - 0.5)
    support = all(one.label in GRADES for one in graded)
    nearest = min(graded, key=lambda one: (abs((one.grade or 0) - grade), one.grade or 0))
    expected = mean / _WEIGHTS if support else None
    label = support_of(grade) if support else named(grade)
    if nearest.grade == grade or label is None:
        return replace(nearest, expected=expected)
    # A label that nobody gave has nobody's reason.
    made = replace(nearest, label=label, grade=grade, expected=expected)
    return replace(made, reason="", evidence=None)


def support_of(grade: int) -> str | None:
    """Return the label of support that has a grade."""
    return next((label for label, own in GRADES.items() if own == grade), None)


def _undecided_judgment(ballots: Ballots, votes: tuple[Vote, ...]) -> Judgment:
    """Return an unjudged judgment with what each voter said."""
    failures = [found.failure for found in ballots.values() if found.failure]
    kinds = {failure.kind for failure in failures}
    kind = kinds.pop() if len(kinds) == 1 else DIFFERENT
    said = "; ".join(f"{vote.voter}: {vote.label or vote.failure}" for vote in votes)
    tries = sum(failure.tries for failure in failures)
    first = next(iter(ballots.values()))
    kept = replace(first, label=None, grade=None, value=None, reason="", evidence=None, votes=votes)
    failure = Failure(kind, f"too few voters decide: {said}", tries)
    return replace(kept, expected=None, sources=(), facts=(), match="", failure=failure)

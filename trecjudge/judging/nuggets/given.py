"""The nuggets of a topic, as a judge that must have them takes them."""

from __future__ import annotations

from trecjudge.errors import NOT_GIVEN, JudgmentFailed
from trecjudge.records import Nugget, Topic


def nuggets_given(topic: Topic, what: str = "bank of nuggets") -> tuple[Nugget, ...]:
    """Return the nuggets of a topic, which have no weights.

    Raises JudgmentFailed where it has no bank, or one of weighted criteria: these are no facts, and
    to state one may be a fault.
    """
    if topic.nuggets is None:
        raise JudgmentFailed(NOT_GIVEN, f"no {what} for this topic; give --nuggets")
    if any(nugget.weight is not None for nugget in topic.nuggets):
        message = "its bank has weighted criteria, which only judge rubric takes"
        raise JudgmentFailed(NOT_GIVEN, message)
    return topic.nuggets

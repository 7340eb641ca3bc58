"""The gate of a workflow: which responses are rejected, which want review, and what to look at."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import brief
from trecjudge.judging.panel import Panel, column_names, column_of
from trecjudge.measures import LeaderboardSpec
from trecjudge.records import ABSTAINED, Judgment, Response
from trecjudge.scores.response_scores import Score

Status = Literal["REJECTED", "REVIEW"]
KEYS: Mapping[str, Status] = {"reject_unless": "REJECTED", "review_unless": "REVIEW"}
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
RULE_PATTERN = r"^\s*(\S+?)\s*(>=|<=|==|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$"
_RULE = re.compile(RULE_PATTERN)


@dataclass(frozen=True, slots=True)
class ReviewRule:
    """A bound on a measure: a response that does not keep it gets the status."""

    measure: str
    comparison: str
    bound: float
    status: Status

    def __str__(self) -> str:
        return f"{self.measure} {self.comparison} {self.bound:g}"

    def outcome(self, score: Score) -> Literal["met", "broken", "open"]:
        """Return whether a score meets the rule.

        Open where that depends on unjudged items, or the measure is not defined for the response.
        """
        if score.value is None and score.judged:
            return "open"
        bounds = (score.value,) if score.judged else (score.value, score.lowest, score.highest)
        meets = {COMPARE[self.comparison](b, self.bound) for b in bounds if b is not None}
        # Both ends on one side: no unjudged item can change the outcome.
        if not score.judged and (None in bounds or len(meets) > 1):
            return "open"
        return "met" if meets <= {True} else "broken"


def read_gate(given: Mapping[str, Any], where: str = "gate") -> list[ReviewRule]:
    """Return the rules of a workflow's `gate:`. Raises WorkflowError for what is not a rule."""
    rules = []
    for key, value in given.items():
        if key not in KEYS:
            raise WorkflowError(f"{where}: {unknown('key', key, KEYS)}")
        for text in value if isinstance(value, list) else [value]:
            found = _RULE.fullmatch(text) if isinstance(text, str) else None
            if found is None:
                form = "MEASURE >= NUMBER (or <=, >, <, ==)"
                raise WorkflowError(f"{where}: {key} is {brief(text)}, must be {form}")
            rules.append(ReviewRule(found[1], found[2], float(found[3]), KEYS[key]))
    return rules


def check_gate(rules: Sequence[ReviewRule], measures: Collection[str]) -> None:
    """Raise WorkflowError for a rule on a measure that is not there."""
    for rule in rules:
        if rule.measure not in measures:
            raise WorkflowError(f"gate: {unknown('measure', rule.measure, measures)}")


def review(
    rules: Sequence[ReviewRule],
    spec: LeaderboardSpec,
    response: Response,
    judgments: Sequence[Judgment],
    scores: Mapping[str, Score],
) -> dict[str, Any] | None:
    """Return what is written of a response that is marked; None of one that passes.

    A broken rule gives its status; what is left open wants review, but for a response that declines
    to answer.
    """
    if all(judgment.judged for judgment in judgments) and _abstains(judgments):
        return None
    outcomes = [(rule, rule.outcome(scores[rule.measure])) for rule in rules]
    failed = [(rule, outcome) for rule, outcome in outcomes if outcome != "met"]
    if not failed:
        return None
    rejected = any(rule.status == "REJECTED" and how == "broken" for rule, how in failed)
    return {
        "run_id": response.run_id,
        "topic_id": response.topic_id,
        "status": "REJECTED" if rejected else "REVIEW",
        "rules": [_rule_record(rule, scores[rule.measure], how) for rule, how in failed],
        "look_at": list(_look_at(spec, response, judgments)),
    }


def _abstains(judgments: Sequence[Judgment]) -> bool:
    return any(judgment.label == ABSTAINED for judgment in judgments)


def _rule_record(rule: ReviewRule, score: Score, outcome: str) -> dict[str, Any]:
    bounds = {"value": score.value, "lowest": score.lowest, "highest": score.highest}
    return {"rule": str(rule), "outcome": outcome} | bounds


def _look_at(
    spec: LeaderboardSpec, response: Response, judgments: Sequence[Judgment]
) -> Iterator[dict[str, Any]]:
    """Yield the judgments on sentences, claims and nuggets that are not the best they could be."""
    texts: dict[int | None, str] = {s.index: s.text for s in response.sentences}
    for judgment in judgments:
        best = spec.fill(judgment, True).label if spec.fill else None
        of_part = judgment.sentence_index is not None or judgment.nugget is not None
        if not of_part or (judgment.judged and judgment.label == best):
            continue
        nugget = {"nugget": judgment.nugget} if judgment.nugget else {}
        yield nugget | {
            "judge": judgment.judge,
            "sentence_index": judgment.sentence_index,
            "sentence": texts.get(judgment.sentence_index, ""),
            "claim": judgment.claim.text if judgment.claim else None,
            "citation": judgment.citation,
            "label": judgment.label,
            "reason": judgment.reason,
            "failure": judgment.failure,
            "evidence": judgment.evidence,
            "sources": judgment.sources,
        }


def panel_rules(panel: Panel, rules: Iterable[ReviewRule]) -> list[ReviewRule]:
    """Return the rules of a gate on the columns that a panel has."""
    names = column_names(panel)
    return [replace(rule, measure=column_of(rule.measure, names)) for rule in rules]

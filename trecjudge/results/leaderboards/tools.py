"""The scores in the results of evaluation tools, as records with a measure a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.parts import layers, parts_of
from trecjudge.inputs.pipelines.reading import lists_in, records_of
from trecjudge.inputs.pipelines.services import values_of

Record = dict[str, Any]
OF_TOOLS = frozenset(
    (
        *("testresults", "testcases", "results", "samples", "metricsdata", "vars", "scores"),
        *("info", "assessments"),
    )
)
"""Keys of which the result of a tool has one: other objects are not looked into."""
METRICS = ("metricsdata", "assessments")
"""Lists of scores: DeepEval, MLflow."""
NAMES, VALUES = ("name", "assessmentname"), ("score", "value", "feedback")
WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "pass": 1.0, "fail": 0.0}
"""Verdicts in words: correct, incorrect, partly and no answer of inspect_ai; those of MLflow."""


def scored_records(record: Record) -> list[Record]:
    """Return a record for each result with scores that an object of a tool holds; else none.

    It has `topic_id`, `run_id` where the result names one, and scores by the names of measures; a
    score of None is one that the tool could not give.
    """
    if OF_TOOLS.isdisjoint(map(plain, record)):
        return []
    entries = next(lists_in(record), [record])
    return [row for entry in entries if isinstance(entry, dict) for row in _rows(entry)]


def _rows(entry: Record) -> Iterator[Record]:
    scores = dict(_scores(entry))
    found = next(records_of(entry), None) if scores else None
    parts = parts_of(found) if found else None
    if parts is not None:
        yield {"topic_id": parts.topic_id, "run_id": parts.run_id, **scores}


def _scores(entry: Record) -> Iterator[tuple[str, float | None]]:
    """Yield (measure, value) of the scores of one result."""
    for place in (entry, *layers(entry, ("info",))):
        for given in values_of(place, METRICS):
            for metric in given if isinstance(given, list) else ():
                if isinstance(metric, dict) and (name := next(values_of(metric, NAMES), None)):
                    yield str(name), _number(next(values_of(metric, VALUES), None))
    if isinstance(entry.get("vars"), Mapping):  # promptfoo
        given = entry.get("namedScores")
        named = given if isinstance(given, dict) else {}
        yield from ((name, _number(entry[name])) for name in ("score", "success") if name in entry)
        yield from ((str(k), _number(v)) for k, v in named.items())
    scores = entry.get("scores")  # inspect_ai
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        several = value.items() if isinstance(value, dict) else [("", value)]
        yield from ((f"{name}.{key}" if key else str(name), _number(v)) for key, v in several)


def _number(value: Any) -> float | None:
    """Return a score as a number, also one of a verdict in words; None where it is none."""
    if isinstance(value, Mapping):
        return _number(value.get("value"))
    if isinstance(value, str):
        return WORDS.get(value)
    return float(value) if isinstance(value, int | float) else None

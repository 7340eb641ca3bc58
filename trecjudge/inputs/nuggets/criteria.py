"""Weighted criteria, of ResearchRubrics, HealthBench and others: what an answer should do, or not.

Sharma et al., ResearchRubrics (arXiv 2511.07685); Arora et al., HealthBench (arXiv 2505.08775).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from trecjudge.findings import brief
from trecjudge.inputs.nuggets.bank import Bank, BankRecord, Raw, as_statements, update_record
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import Nugget

TOPIC_KEYS = ("qid", "prompt_id", "sample_id", "topic_id")
TITLE_KEY = "prompt"
LISTS = ("rubrics", "criteria", "rubric")
TEXTS = ("criterion", "description")
WEIGHTS = ("weight", "points")
AXES = ("axis", "category")
TAG = "axis:"
"""What an axis begins with among `tags`."""
MOST: Final = 100
"""The largest weight: published ones go to 5, points to 10."""


def claims_criteria(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    listed = record.get(_key(record, LISTS))
    parts = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
    if any("criterion" in p or ("description" in p and _key(p, WEIGHTS) in p) for p in parts):
        return "it has criteria"
    return None


def read_criteria(entry: BankRecord) -> Iterator[Nugget | None]:
    """Yield the criteria; one whose weight cannot be used is reported and left out.

    Where no criterion of the topic has a weight, each has 1.
    """
    name = _key(entry.raw, LISTS)
    listed = list(entry.objects(entry.raw[name], name))
    plain = not any(_key(raw, WEIGHTS) in raw for raw in listed)
    for number, raw in enumerate(listed, 1):
        text = as_text(raw.get(_key(raw, TEXTS)))
        weight = 1.0 if plain else _weight(entry, raw, f"criterion {number}, {brief(text)},")
        if weight is not None:
            yield entry.nugget(raw, text, raw.get("id"), group=_axis(raw), weight=weight)


def weight_of(value: object) -> float | str:
    """Return a weight, of a number or its text; for what is none, what to give."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number and abs(number) <= MOST:  # which NaN is not
        return number
    return f"give a number from -{MOST} to {MOST} that is not 0"


def _weight(entry: BankRecord, raw: Raw, named: str) -> float | None:
    key = _key(raw, WEIGHTS)
    found = weight_of(raw.get(key))
    if isinstance(found, float):
        return found
    has = f"has {key} {brief(raw[key])}" if key in raw else "has no weight, and others have one"
    entry.complain("criterion_weight_unusable", f"{named} {has}: {found}")
    return None


def _axis(raw: Raw) -> str:
    """Return the axis of a criterion: its own key, or the tag that names it."""
    tags, key = raw.get("tags"), _key(raw, AXES)
    if key in raw or not isinstance(tags, list):
        return as_text(raw.get(key)).strip()
    return next((tag.removeprefix(TAG) for tag in map(as_text, tags) if tag.startswith(TAG)), "")


def _key(raw: Raw, keys: tuple[str, ...]) -> str:
    """Return the first of the keys that a record has, else the first."""
    return next((key for key in keys if key in raw), keys[0])


def write_criteria(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format; a question becomes statements."""
    raw = bank.raw
    named = any(key in raw for key in TOPIC_KEYS)
    topic = {} if named else {"qid": bank.topic_id, TITLE_KEY: bank.title}
    listed = [_criterion(bank, n, text) for n, text in as_statements(bank)]
    return topic | update_record(raw, **{_key(raw, LISTS): listed})


def _criterion(bank: Bank, nugget: Nugget, text: str) -> dict[str, Any]:
    raw = bank.raw_nugget(nugget)
    fields: dict[str, Any] = {_key(raw, TEXTS): text, "importance": nugget.importance or None}
    key, weight = _key(raw, WEIGHTS), nugget.weight
    if weight is not None and weight_of(raw.get(key)) != weight:
        fields[key] = int(weight) if weight.is_integer() else weight
    if nugget.group != _axis(raw):
        fields[_key(raw, AXES)] = nugget.group  # it counts before the tags
    return update_record(raw, **fields)

"""What a judge gives: items of the response, judgments on the item, all of it writable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from trecjudge.findings import brief
from trecjudge.measures import HUGE
from trecjudge.records import Item, Judgment, Response, Topic

WIDEST = 1 << 63
"""Whole numbers from here on do not fit in 64 bits, and so in no file."""


def check_item(item: Item, topic: Topic, response: Response) -> None:
    """Raise TypeError or ValueError if a pool gave what is no item of this response."""
    if not isinstance(item, Item):
        raise TypeError(f"pool gave {brief(item)}, not an Item")
    place = (item.run_id, item.topic.topic_id)
    if place != (response.run_id, topic.topic_id):
        raise ValueError(f"pool gave an item on {place[0]!r}, {place[1]!r}, not on this response")
    if not isinstance(item.text, str):
        raise TypeError(f"pool gave an item whose text is {brief(item.text)}")
    _check_index(item.sentence_index)


def _check_index(index: object) -> None:
    if index is not None and type(index) is not int:
        raise TypeError(f"sentence_index is {brief(index)}, not a whole number or None")


def check_judgments(item: Item, judgments: list[Judgment]) -> None:
    """Raise TypeError or ValueError if a judge did not return judgments on the item."""
    if not judgments:
        raise ValueError("the judge returned no judgment")
    # Before anything is written: what one judge returns must not break the file of the others.
    for found in judgments:
        if not isinstance(found, Judgment):
            raise TypeError(f"the judge returned {brief(found)}, not a Judgment")
        if (found.run_id, found.topic_id) != (item.run_id, item.topic.topic_id):
            raise ValueError(f"the judgment is on {found.run_id!r}, {found.topic_id!r}")
        _check_numbers(found)
        _check_index(found.sentence_index)
        for text in _texts(found):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{brief(text)} is not text")
            if text is not None and not text.isascii():
                text.encode()  # half a character cannot be written


def _texts(found: Judgment) -> Iterator[Any]:
    """Yield all of a judgment that must be text or None."""
    yield from (found.label, found.reason, found.attester, found.match)
    yield from (found.doc_id, found.citation)
    if found.claim is not None:
        yield found.claim.text
    for fact in found.facts:
        yield fact.text
    for source in found.sources:
        yield source.excerpt


def _check_numbers(found: Judgment) -> None:
    grade, value = found.grade, found.value
    # `type`, not isinstance: True is an int, and no grade.
    if grade is not None and (type(grade) is not int or abs(grade) >= WIDEST):
        raise ValueError(f"grade is {brief(grade)}, not a whole number")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and math.isfinite(value) and abs(value) < HUGE):
        raise ValueError(f"value is {brief(value)}, not a number")
    expected = found.expected
    if expected is not None and not (isinstance(expected, int | float) and 0 <= expected <= 1):
        raise ValueError(f"expected is {brief(expected)}, not a weight of 0 to 1")

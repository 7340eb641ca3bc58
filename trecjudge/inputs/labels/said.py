"""Who said what: the labels that one record has, each with the person who gave it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

Said = tuple[str, str | None]
"""A label, and who gave it; None for a person who is not named, OF_ALL for what all agreed on."""
OF_ALL = ""

_WHO = r"(?:annotator|assessor|rater|coder|worker|labell?er|user)"
_PERSON = re.compile(
    rf"{_WHO}(?:ids?|names?|emails?|s)?|(?:labell?ed|annotated|assessed|rated|completed)by|username"
)
_NUMBERED = re.compile(r"(?:label|rating|annotation|assessment)\d+|(?:gold|human)label\d+")
_OF_PERSON = re.compile(rf"{_WHO}\d+(?:label)?")
_OF_ALL = re.compile(
    r"gold|adjudication|(?:gold|final|adjudicated|consensus|agreed|majority)(?:label|rating|vote)"
)
_LISTS = ("labels", "annotations", "ratings", "votes", "annotatorlabels", "humanlabels")
_NO_PERSON = re.compile(
    r"ids?|names?|text|type|kind|source|time|timestamp|date|reason|explanation|comment|notes?|counts?"
    r"|confidence|score|prob|probability|evidence|set|version|raw|index|language|status|model|judge"
    r"|predicted|old|previous|key"
)
"""What may follow `label_` and is no person, such as `label_confidence`."""


def said_in(record: Mapping[str, Any]) -> list[Said]:
    """Return the labels of a record: of one person, or of several in columns or a list.

    `label`, with the person in `annotator`, `assessor_id`, `rater`, …; `label_2`, `label_3`;
    without `label`, `label_anna` or `annotator_1`; `labels` as a list, or an object by person.
    Beside those of several people, `gold_label` or `adjudicated` is what all of them agreed on.
    """
    person, columns, lists = _parts(tuple(record))
    if person is None and not lists and len(columns) == 1:  # as most files have it
        label = label_text(record[columns[0][0]])
        if label is not None:
            return [(label, columns[0][1])]
    who = label_text(record[person]) if person else None
    found: list[Said] = []
    for column, name in columns:
        if isinstance(value := record[column], list | Mapping):
            found += _labels_in_list(value, None)
        elif (label := label_text(value)) is not None and (name, label) != (OF_ALL, "-"):
            found.append((label, who if name is None else name))
    for column in lists:
        found += _labels_in_list(record[column], record[person] if person else None)
    return found


def person_of(record: Mapping[str, Any]) -> str | None:
    """Return who gave the labels of a record, None where it does not say."""
    person, _, _ = _parts(tuple(record))
    return label_text(record[person]) if person else None


def other_columns(names: Iterable[str]) -> list[str]:
    """Return the columns of a record that have labels of further people: `label_2`, `label_3`."""
    _, columns, _ = _parts(tuple(names))
    return [name for name, person in columns if person == name and _fold_name(name) != "label"]


def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]", "", str(name)).casefold()


@lru_cache(maxsize=256)
def _parts(names: tuple[str, ...]) -> tuple[str | None, list[tuple[str, str | None]], list[str]]:
    """Return the field of the person, the columns of labels with their persons, and the lists."""
    folded = {name: _fold_name(name) for name in names}
    own = [name for name in names if folded[name] == "label"][:1]
    more = [name for name in names if _NUMBERED.fullmatch(folded[name])]
    if not own:
        more += [n for n in names if _OF_PERSON.fullmatch(folded[n]) or _is_named(n)]
    person = next((name for name in names if _PERSON.fullmatch(folded[name])), None)
    # A column that has others beside it is a person's own, whoever that is.
    columns = [(name, name if more and person is None else None) for name in own]
    columns += [(name, name) for name in names if name in more]
    lists = [name for name in names if folded[name] in _LISTS]
    agreed = [name for name in names if _OF_ALL.fullmatch(folded[name])][:1]
    several = more or lists or (own and person)
    if agreed and (several or not own):
        columns.append((agreed[0], OF_ALL if several else None))
    return person, columns, lists


def _is_named(name: str) -> bool:
    start, _, rest = name.casefold().partition("_")
    return start == "label" and rest.isidentifier() and not _NO_PERSON.fullmatch(rest)


def _labels_in_list(value: object, people: object) -> Iterator[Said]:
    """Yield the labels of a list or an object; `people` may name as many persons."""
    if isinstance(value, Mapping):
        entries: list[tuple[object, object]] = list(value.items())
    elif isinstance(value, list):
        named = isinstance(people, list) and len(people) == len(value)
        names = people if named and isinstance(people, list) else [None] * len(value)
        entries = list(zip(names, value, strict=True))
    else:
        entries = []
    for person, entry in entries:
        who = None if person is None else label_text(person)
        if isinstance(entry, Mapping):
            yield from ((label, name or who) for label, name in said_in(entry))
        elif (label := label_text(entry)) is not None:
            yield label, who


def label_text(value: object) -> str | None:
    """Return a label as text: a word, a truth value, a number (1.0 is `1`); None for others."""
    if isinstance(value, str):
        text = value.strip()
        if text[1:2] == "," and text[2:].isdecimal():
            text = text.replace(",", ".")  # as spreadsheets of many languages write 0.5
        if text[-2:] == ".0" and text[:-2].isdecimal():
            return text[:-2]  # pandas writes whole numbers of a column with gaps as 1.0
        return text or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return (str(int(value)) if value.is_integer() else repr(value)) if isfinite(value) else None
    return str(value) if isinstance(value, int) else None

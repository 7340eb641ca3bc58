"""The bank formats of this folder, and which one a record is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from trecjudge.errors import InputError, unknown
from trecjudge.inputs import nuggets
from trecjudge.inputs.nuggets.bank import Bank, Raw
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.records import Nugget
from trecjudge.settings.plugins import formats_in


class BankFormat(Protocol):
    """What a format module offers; see the package's docstring.

    It may also have `TITLE_KEY`, and `holder(record)`: the part that has the topic's id.
    """

    NAME: str
    SUMMARY: str
    FILE_NAME: str
    TOPIC_KEYS: tuple[str, ...]

    def claims(self, record: Raw) -> str | None:
        """Return why this record is of this format, or None if it is not."""

    def nuggets(self, entry: Entry) -> Iterator[Nugget | None]:
        """Yield the record's nuggets, None for one that cannot be used."""

    def record(self, bank: Bank) -> dict[str, Any]:
        """Return a bank as a record of this format."""


@cache
def bank_formats() -> tuple[BankFormat, ...]:
    """Return every format of this folder in the order in which they are asked."""
    return tuple(formats_in(nuggets))


def bank_format_named(name: str) -> BankFormat:
    """Return the format of this name. Raises InputError with the choices."""
    for format_ in bank_formats():
        if name == format_.NAME:
            return format_
    raise InputError(unknown("bank format", name, (f.NAME for f in bank_formats())))


def bank_format_of(record: Mapping[str, Any]) -> BankFormat | None:
    """Return the format of a record, None if it is no bank."""
    return next((f for f in bank_formats() if f.claims(record)), None)

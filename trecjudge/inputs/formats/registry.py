"""The formats of this folder, and which one a record is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from trecjudge.errors import InputError, PluginError, unknown
from trecjudge.inputs import formats
from trecjudge.inputs.formats.draft import Draft
from trecjudge.inputs.formats.tracks import FORMATS
from trecjudge.settings.plugins import formats_in, in_order

GROUP = "trecjudge.formats"
"""The group of entry points by which an installed package gives its formats."""
NEEDED = ("NAME", "DATASET", "SUMMARY", "claims", "draft")
DATASETS = ("rag", "ragtime", "dragun")


class Format(Protocol):
    """What a format module offers; see the package's docstring."""

    NAME: str
    DATASET: str
    SUMMARY: str

    def claims(self, record: Mapping[str, Any]) -> str | None:
        """Return why this record is of this format, or None if it is not."""

    def draft(self, record: Mapping[str, Any]) -> Draft:
        """Return the record's parts."""


@cache
def all_formats() -> tuple[Format, ...]:
    """Return every format, of this folder and of installed packages, in the order of asking.

    Raises PluginError if a format of another package cannot be used.
    """
    found = (module_at(point, "format", NEEDED) for point in entry_points(group=GROUP))
    return tuple(in_order([*FORMATS, *formats_in(formats), *found]))


def module_at(point: EntryPoint, what: str, needed: Sequence[str]) -> Any:
    """Return the module at an entry point, which is to offer some names. Raises PluginError."""
    where = f"the {what} {point.name!r} at {point.value}"
    try:
        found = point.load()
    except Exception as error:  # the code of others
        raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
    lacking = [name for name in needed if not hasattr(found, name)]
    if lacking:
        raise PluginError(f"{where} has no {', '.join(lacking)}")
    return found


def format_named(name: str) -> Format:
    """Return the format of this name."""
    return next(format_ for format_ in all_formats() if name == format_.NAME)


def check_dataset(dataset: str) -> str:
    """Return `dataset`, if it is a known one. Raises InputError with the choices."""
    if dataset not in ("auto", *DATASETS):
        raise InputError(unknown("dataset", dataset, ("auto", *DATASETS)))
    return dataset


def format_of(record: Mapping[str, Any], dataset: str = "auto") -> tuple[Format, str] | None:
    """Return (format, why) of a record: one of `dataset` if any claims it, else any; or None."""
    for format_ in _ask_order(dataset):
        if why := format_.claims(record):
            return format_, why
    return None


@cache
def _ask_order(dataset: str) -> tuple[Format, ...]:
    """Return the formats as they are asked: stable, those of the dataset before others."""
    ours = ("any", dataset)
    first = [f for f in all_formats() if dataset == "auto" or f.DATASET in ours]
    return (*first, *(f for f in all_formats() if f not in first))

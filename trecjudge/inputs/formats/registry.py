"""The formats of this folder, and which one a record is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, cast

from trecjudge.errors import InputError, PluginError, unknown
from trecjudge.inputs import formats
from trecjudge.inputs.formats.draft import Draft, metadata_of
from trecjudge.settings.plugins import formats_in, in_order

GROUP = "trecjudge.formats"
"""The group of entry points by which an installed package gives its formats."""
ABSTENTIONS = ("abstained", "is_abstention", "abstention", "declined", "refused", "no_answer")
"""Keys by which a system says whether it declined to answer, of the record or its metadata."""
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


def draft_of(format_: Format, record: Mapping[str, Any]) -> Draft:
    """Return the parts of a record, with what it says of whether the system declined to answer."""
    draft = format_.draft(record)
    said = (p[key] for p in (record, metadata_of(record)) for key in ABSTENTIONS if key in p)
    found = next((value for value in said if isinstance(value, bool)), draft.abstained)
    return draft if found is draft.abstained else replace(draft, abstained=found)


@cache
def all_formats() -> tuple[Format, ...]:
    """Return every format, of this folder and of installed packages, in the order of asking.

    Raises PluginError if a format of another package cannot be used.
    """
    return tuple(in_order([*formats_in(formats), *map(_installed, entry_points(group=GROUP))]))


def _installed(point: EntryPoint) -> Format:
    """Return the format at an entry point. Raises PluginError."""
    where = f"the format {point.name!r} at {point.value}"
    try:
        found = point.load()
    except Exception as error:  # the code of others
        raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
    lacking = [name for name in NEEDED if not hasattr(found, name)]
    if lacking:
        raise PluginError(f"{where} has no {', '.join(lacking)}")
    return cast(Format, found)


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
    ours = [f for f in all_formats() if dataset == "auto" or f.DATASET in (dataset, "any")]
    others = [f for f in all_formats() if f not in ours]
    claimed = ((f, f.claims(record)) for f in [*ours, *others])
    return next(((f, why) for f, why in claimed if why), None)

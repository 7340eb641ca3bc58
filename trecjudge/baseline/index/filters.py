"""The fields by which a search can be narrowed, dates among them, and what a filter asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from trecjudge.baseline.index.records import Filter
from trecjudge.errors import InputError
from trecjudge.findings import brief
from trecjudge.records import Document

SHAPES = "2024-05-03, 2024-05, 2024, 20240503, 2024-05-03T12:30:00Z or 3 May 2024"
_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?")
_WRITTEN = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%B %Y")
_SECONDS = re.compile(r"\d{10}(?:\d{3})?(?:\.\d+)?")


def sortable(written: str) -> str:
    """Return a date as 2024, 2024-05, 2024-05-03 or 2024-05-03T12:30:00 (UTC); "" for no date.

    Also read are YYYYMMDD, RFC 2822, months in English, and seconds or milliseconds since 1970.
    """
    text = " ".join(written.split())
    if match := _ISO.fullmatch(text):
        return _of_parts(*match.groups())
    if match := _DIGITS.fullmatch(text):
        return _of_digits(*match.groups())
    if _SECONDS.fullmatch(text):
        whole = text.partition(".")[0]
        return _of_seconds(int(whole[:10]))
    return (_of_moment(text) or _of_words(text)) if text else ""


def first_day(written: str) -> str:
    """Return a date in full: of a year or a month its first day; "" for no date."""
    date = sortable(written)
    return date + {4: "-01-01", 7: "-01"}.get(len(date), "")


def _of_parts(year: str, month: str | None, day: str | None) -> str:
    try:
        datetime(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return ""
    return "-".join([year, *(part.zfill(2) for part in (month, day) if part)])


def _of_digits(year: str, month: str, day: str, *clock: str | None) -> str:
    date = _of_parts(year, month, day)
    return f"{date}T{':'.join(map(str, clock))}" if date and all(clock) else date


def _of_seconds(seconds: int) -> str:
    return _of(datetime.fromtimestamp(seconds, UTC))


def _of_moment(text: str) -> str:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _of(read(text))
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return ""


def _of_words(text: str) -> str:
    plain = text.replace(".", "").replace("Sept ", "Sep ")
    for shape in _WRITTEN:
        try:
            found = datetime.strptime(plain, shape)
        except ValueError:
            continue
        return found.strftime("%Y-%m" if shape == "%B %Y" else "%Y-%m-%d").zfill(7)
    return ""


def _of(moment: datetime) -> str:
    try:
        in_utc = moment.astimezone(UTC) if moment.tzinfo else moment
    except OverflowError:
        return ""
    return in_utc.strftime("%Y-%m-%dT%H:%M:%S").zfill(19)


DATE, DOC_ID = "date", "doc_id"
OWN = (DOC_ID, "url", DATE, "version")
"""Fields that each document may have; a further field of such a name is not searched by."""
AFTER = "\uffff"
"""Sorts after all that a date goes on with."""
Bounds = tuple[str, str]
"""The first and the last value, each included."""


def fields_of(document: Document, metadata: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of what a document can be found by, but its id; dates sort as text."""
    own = {"url": document.url, DATE: first_day(document.date), "version": document.version}
    for name, value in own.items():
        if value:
            yield name, value
    for name, value in metadata.items():
        if name not in OWN:
            yield name, value


@dataclass(frozen=True, slots=True)
class Condition:
    """One field must lie within one of some bounds."""

    name: str
    bounds: Sequence[Bounds]


def conditions_of(only: Filter) -> list[Condition]:
    """Return what all must hold. Raises InputError for a date that is none."""
    found = [
        Condition(name, [_day(v, name) if name == DATE else (v, v) for v in values])
        for name, values in only.fields.items()
    ]
    if only.since or only.until:
        first = _date(only.since, "since") if only.since else ""
        last = _date(only.until, "until") + AFTER if only.until else AFTER
        found.append(Condition(DATE, [(first, last)]))
    return found


def _day(written: str, name: str) -> Bounds:
    date = _date(written, name)
    return date, date + AFTER


def _date(written: str, name: str) -> str:
    date = sortable(written)
    if not date:
        raise InputError(f"{name} {written!r} is no date; write it as {SHAPES}")
    return date


def parse_filter(written: Iterable[str]) -> Filter | None:
    """Return the filter of `FIELD=VALUE` texts, None for none.

    Values of one field are alternatives. `since` and `until` bound the date. Raises InputError.
    """
    fields: dict[str, list[str]] = {}
    for text in written:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"--only {brief(text)}: must be FIELD=VALUE, such as date=2024-05-03")
        fields.setdefault(name.strip(), []).append(value.strip())
    if not fields:
        return None
    bounds = {name: fields.pop(name, [""]) for name in ("since", "until")}
    for name, values in bounds.items():
        if len(values) > 1:
            raise InputError(f"--only {name}: give it once")
    return Filter(fields, bounds["since"][0], bounds["until"][0])

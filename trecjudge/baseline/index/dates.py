"""Dates in the usual shapes, in one form that sorts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

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

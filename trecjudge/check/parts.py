"""The parts of a record as written, for rules and repairs alike."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.check.rules import LengthRule, Track
from trecjudge.findings import Finding
from trecjudge.inputs.formats.draft import ABSENT
from trecjudge.inputs.formats.registry import format_named
from trecjudge.inputs.formats.response import ResponseReader
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place, Topic
from trecjudge.text.reasoning import text_of

METADATA = "metadata."
"""How the paths of fields in a record's metadata begin."""
NUMBER = re.compile(
    r"true|false|\d+\.0|(['\"])\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|nan|inf(inity)?)\s*\1", re.IGNORECASE
)
"""Shown values that the organisers' checker makes numbers of."""


@dataclass(slots=True)
class LayoutCheck:
    """Whether a run file is JSONL: tracks' checkers read an object in each line, nothing else."""

    line: int | None = None
    """The line of the record before."""
    is_told: bool = False

    def fault_at(self, line: int | None, beginning: str) -> str:
        """Return what a record shows of a file that is not JSONL; nothing if that was told.

        `beginning` is what the file's beginning shows.
        """
        fault = beginning or ("has several records in one line" if self.line == line else "")
        self.line = line
        if not fault or self.is_told:
            return ""
        self.is_told = True
        return f"{fault}; a run has one JSON object in each line"


def is_flat(record: Mapping[str, Any]) -> bool:
    """Return whether a record has no `metadata`, so that its fields stand beside it if anywhere."""
    return not isinstance(record.get("metadata"), dict)


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """Return the value of a dotted path, ABSENT where there is none; of a flat record as well."""
    value: Any = record
    if is_flat(record):
        path = path.removeprefix(METADATA)
    for key in path.split("."):
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def is_blank(value: Any) -> bool:
    """Return whether a field holds nothing: it is absent, null or white space."""
    return value is ABSENT or value is None or (isinstance(value, str) and not value.strip())


def sentences_of(record: Mapping[str, Any], track: Track) -> list[Any]:
    """Return the entries of the sentence list; none where it is not a list."""
    value = record.get(track.sentences)
    return value if isinstance(value, list) else []


def cited_by(entry: Any) -> list[Any]:
    """Return what an entry of the sentence list cites: the items of a list, the keys of a dict."""
    citations = entry.get("citations") if isinstance(entry, dict) else None
    return list(citations) if isinstance(citations, list | dict) else []


def references_of(record: Mapping[str, Any]) -> list[Any]:
    """Return the references: the items of a list, the keys of a dict."""
    references = record.get("references")
    return list(references) if isinstance(references, list | dict) else []


def cited_positions(references: Sequence[Any], cited: Iterable[Any]) -> set[int]:
    """Return the positions of the references that are cited, by index or by id.

    An index counts even where the track takes only ids: it breaks a rule there, and points at a
    reference all the same.
    """
    values = list(cited)
    indices = {value for value in values if is_index(value)}
    ids = {value for value in values if isinstance(value, str)}
    return {i for i, entry in enumerate(references) if i in indices or as_id(entry) in ids}


def is_index(value: Any) -> bool:
    """Return whether a citation is an integer; Python's True does not count as one."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_index(value: int | str) -> int:
    """Return an index that may be written as text; no list needs more than 18 digits."""
    if isinstance(value, int):
        return value
    # Python refuses to convert digits by the thousand; such an index is out of range anyway.
    return int(value) if len(value.strip()) < 19 else sys.maxsize


def as_integer(value: Any) -> int:
    """Return a citation as the integer that it can be read as, -1 where it cannot."""
    if isinstance(value, str):
        return int(float(value)) if re.fullmatch(r"\s*\+?[0-9]{1,9}(\.0*)?\s*", value) else -1
    return int(value) if isinstance(value, int | float) and value == value // 1 else -1


def length(entries: Iterable[Any], rule: LengthRule) -> int:
    """Return the length of sentences in the track's unit, counted as the track does."""
    texts = [text_of(entry) for entry in entries]
    counted = [" ".join(texts)] if rule.joined else texts
    # The track's checker normalises before it counts, so the same text has the same length.
    if rule.nfkc:
        counted = [unicodedata.normalize("NFKC", text) for text in counted]
    if rule.unit == "characters":
        return sum(map(len, counted))
    return sum(len(text.split()) for text in counted)


def longest(rule: LengthRule, topic: Topic | None) -> int | None:
    """Return the most that a response on this topic may have, None where that is not known."""
    if rule.maximum != "limit":
        return rule.maximum
    return topic.limit if topic else None


def found_without_topic(
    record: Mapping[str, Any], format_name: str, place: Place
) -> Iterator[Finding]:
    """Yield what the reader would find in a record that names no topic, if it named one."""
    found: list[Finding] = []
    draft = replace(format_named(format_name).draft(record), topic_ids=(("topic_id", "-"),))
    ResponseReader(draft, place, found.append).read()
    for finding in found:
        # Which documents there are is not known here.
        if not finding.kind.startswith("document"):
            yield replace(finding, topic_id="")

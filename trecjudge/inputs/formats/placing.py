"""Where markers stand in a text, its parts with the markers that belong to each, and the cut."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from trecjudge.inputs.formats.citation_words import AND, SEE, SOURCE
from trecjudge.inputs.formats.marks import Mark
from trecjudge.inputs.formats.pointers import Pointer
from trecjudge.text.layout import Part, parts

_BETWEEN = re.compile(rf"\s*(?:[,;،、&]|{AND})?\s*", re.IGNORECASE)
"""What stands between two marks and is a part of them."""
_EMPTY = re.compile(
    rf"\s*(?:\((?:{SEE})?\s*\)|\*\*\s*\*\*|__\s*__|(?<!\*)\*\s?\*(?!\*)|<sup>[\s,]*</sup>|\{{\.\w+\}}|"
    rf"\\textsuperscript\{{?\s*\}}?|\[(?:{SOURCE})[:：]?\s*\]?(?=[.\s]|$)|~(?=[.\s]|$))",
    re.IGNORECASE,
)
"""What is left around a mark that was cut: brackets, emphasis, tags without content."""
_PLAIN: Final = "[1]"
"""A mark that the sentence splitter knows."""
_STOPS = frozenset(".!?…。！？｡।॥؟۔։።\"'”’»)]")


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark that cites something, with what it points to."""

    mark: Mark
    pointers: tuple[Pointer, ...]

    @property
    def numbers(self) -> list[int]:
        """The numbers that it has."""
        return [p.number for p in self.pointers if p.number is not None]


@dataclass(frozen=True, slots=True)
class Placed:
    """A text with every marker as `[1]`: where markers are there, and where in the text itself."""

    text: str
    spans: Sequence[tuple[int, int]]
    """Of each marker, where its `[1]` begins, and where what stands for it ends."""
    markers: Sequence[Marker]

    @classmethod
    def of(cls, text: str, markers: Sequence[Marker]) -> Placed:
        """Return a text with its markers replaced."""
        parts, spans, done, length = [], list[tuple[int, int]](), 0, 0
        for marker in markers:
            mark = marker.mark
            before = text[done : mark.start] + _kept(text, mark)
            # With a space, so that a sentence may begin right after a marker.
            after = " " if text[mark.end : mark.end + 1].isalnum() else ""
            start = length + len(before)
            length = start + len(_PLAIN) + len(after)
            spans.append((start, length))
            parts += [before, _PLAIN, after]
            done = mark.end
        return cls("".join([*parts, text[done:]]), spans, markers)

    def parts(self, leading: bool) -> list[tuple[int, int, Part]]:
        """Return (start, end, part) of each part, in the text itself, with its markers."""
        found = list(parts(self.text))
        bounds = [[part.start, part.end] for part in found]
        for before, after in pairwise(bounds):
            at = self._trailing(*before) if leading else self._leading(*after)
            if at != (before[1] if leading else after[0]):
                before[1] = after[0] = at
        return [
            (self._in_text(start), self._in_text(end), part)
            for (start, end), part in zip(bounds, found, strict=True)
            if self.text[start:end].strip()
        ]

    def _leading(self, start: int, end: int) -> int:
        """Return the end of the markers before the first word of a part."""
        for at in range(bisect_left(self.spans, (start, 0)), len(self.spans)):
            begin, close = self.spans[at]
            if begin >= end or self.text[start:begin].strip():
                break
            start = close
        return start

    def _trailing(self, start: int, end: int) -> int:
        """Return the beginning of the markers behind the last word of a part and its stop."""
        at = bisect_left(self.spans, (end, 0))
        while at > 0 and self.spans[at - 1][0] >= start:
            begin, close = self.spans[at - 1]
            said = self.text[start:begin].rstrip()[-1:]
            if self.text[close:end].strip() or (said and said not in _STOPS):
                break
            at, end = at - 1, begin
        return end

    def _in_text(self, position: int) -> int:
        """Return the position in the text itself."""
        at = bisect_left(self.spans, (position, 0)) - 1
        if at < 0:
            return position
        mark, (start, close) = self.markers[at].mark, self.spans[at]
        if position >= close:
            return mark.end + position - close
        return mark.end if position > start else mark.start


def cut(text: str, start: int, end: int, markers: Sequence[Marker]) -> str:
    """Return a part of a text without its markers and the space before each."""
    parts, done = list[str](), start
    for marker in markers:
        mark = marker.mark
        before, words = text[done : mark.start], _kept(text, mark)
        if parts and not words and _BETWEEN.fullmatch(before):
            before = ""  # "[1], [3] and [4]"
        done = mark.end
        parts.append(before + words if words else before.rstrip())
        if not words and text[done : done + 1].isalnum() and (parts[-1] or len(parts) > 1):
            parts.append(" ")
    rest = "".join([*parts, text[done:end]])
    rest = (_EMPTY.sub("", rest) if markers else rest).strip()
    # Of "[1]. So it is." the stop goes with the mark.
    begins = bool(markers) and not parts[0]
    return rest.lstrip(" \n.,;:") if begins else rest


def _kept(text: str, mark: Mark) -> str:
    """Return the words of a mark that are part of the sentence, such as those of a link."""
    return text[slice(*mark.kept)] if mark.kept else ""

"""Citations marked in a text: found, resolved, cut out, assigned to sentences, counted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Final, NamedTuple

from trecjudge.inputs.formats.marks import (
    AND,
    MAY_MARK,
    NUMBER_IN_PARENTHESES,
    PARENTHESES,
    SEE,
    SOURCE,
    SUPERSCRIPT,
    TAG,
    Mark,
    marks_in,
    source_columns,
)
from trecjudge.inputs.formats.own_sources import (
    NO_SOURCES,
    OwnSources,
    address_in,
    document_of_entry,
    number_of_entry,
)
from trecjudge.inputs.formats.pointers import (
    MAY_NAME,
    NOT_UNDERSTOOD,
    YEARS,
    Pointer,
    Targets,
    may_be_another,
    named_marks,
    pointers_of,
)
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
class CitationMark:
    """A mark that cites something, with what it points to."""

    mark: Mark
    pointers: tuple[Pointer, ...]

    @property
    def numbers(self) -> list[int]:
        """The numbers that it has."""
        return [p.number for p in self.pointers if p.number is not None]


@dataclass(frozen=True, slots=True)
class PlacedMarks:
    """A text with every marker as `[1]`: where markers are there, and where in the text itself."""

    text: str
    spans: Sequence[tuple[int, int]]
    """Of each marker, where its `[1]` begins, and where what stands for it ends."""
    markers: Sequence[CitationMark]

    @classmethod
    def of(cls, text: str, markers: Sequence[CitationMark]) -> PlacedMarks:
        """Return a text with its markers replaced."""
        parts, spans, done, length = [], list[tuple[int, int]](), 0, 0
        for marker in markers:
            mark = marker.mark
            before = text[done : mark.start] + _kept_words(text, mark)
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


def cut_marks(text: str, start: int, end: int, markers: Sequence[CitationMark]) -> str:
    """Return a part of a text without its markers and the space before each."""
    parts, done = list[str](), start
    for marker in markers:
        mark = marker.mark
        before, words = text[done : mark.start], _kept_words(text, mark)
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


def _kept_words(text: str, mark: Mark) -> str:
    """Return the words of a mark that are part of the sentence, such as those of a link."""
    return text[slice(*mark.kept)] if mark.kept else ""


NOTHING_COUNTED: Final = "nothing says what this number counts"
FROM_ONE: Final = "its run counts from 1"
TWO_WAYS: Final = "its run may count from 0 or from 1"
_ONLY_LABEL = re.compile(rf"[\W_]*(?:{SOURCE})?[\W_]*", re.IGNORECASE)
Numbering = Callable[[], int | None]
"""Returns the number of the first document, as the whole run counts; None if that is not known."""


@dataclass(slots=True)
class MarkedSentence:
    """A text without its marks, how it was written, and what the marks point to.

    `start` is where it begins in the text that it is a sentence of.
    """

    text: str
    written: str
    pointers: list[Pointer]
    start: int = 0


@dataclass(frozen=True, slots=True)
class MarkedTexts:
    """The markers of a response, text by text."""

    texts: Sequence[str]
    found: Sequence[Sequence[CitationMark]]
    base: int | None = None
    """The number of the first document, None where no numbers count."""

    @property
    def pointers(self) -> list[Pointer]:
        """Everything that is pointed to, in order."""
        return [p for markers in self.found for marker in markers for p in marker.pointers]

    def sentences(self) -> list[MarkedSentence]:
        """Return the sentences of the texts.

        A marker belongs to the sentence before it or, where the answer begins with one, behind it.
        """
        leading, sentences, early = self._leads(), list[MarkedSentence](), list[Pointer]()
        for text, markers in zip(self.texts, self.found, strict=True):
            placed, starts = PlacedMarks.of(text, markers), [m.mark.start for m in markers]
            for start, end, part in placed.parts(leading):
                inside = markers[bisect_left(starts, start) : bisect_left(starts, end)]
                start = end - len(text[start:end].lstrip())
                pointers = [p for marker in inside for p in marker.pointers]
                body = part.judged_text(cut_marks(text, start, end, inside))
                if body and not (pointers and _ONLY_LABEL.fullmatch(body)):
                    written = text[start:end].rstrip()
                    sentences.append(MarkedSentence(body, written, [*early, *pointers], start))
                    early = []
                else:  # nothing but marks
                    (sentences[-1].pointers if sentences else early).extend(pointers)
        return sentences or [MarkedSentence("", text, early) for text in self.texts[:1] if early]

    def segments(self) -> dict[int, MarkedSentence]:
        """Return each text by its position; a text of only markers belongs to the one before it.

        So does a marker at the beginning of a text, unless the first text begins with one too.
        """
        segments: dict[int, MarkedSentence] = {}
        leading = self._leads()
        for index, (text, markers) in enumerate(zip(self.texts, self.found, strict=True)):
            body, last = without_marks(text, markers), next(reversed(segments.values()), None)
            early = 0 if leading and body else _early(text, markers)
            if last is not None:
                last.pointers += [p for marker in markers[:early] for p in marker.pointers]
            own = [p for marker in markers[early if last else 0 :] for p in marker.pointers]
            if body or last is None:
                segments[index] = MarkedSentence(body, text, own)
            else:
                last.pointers += own
        return segments

    def _leads(self) -> bool:
        """Return whether marks stand before their sentences: the answer begins with one.

        Not where one stands at its end too.
        """
        filled = [(t, m) for t, m in zip(self.texts, self.found, strict=True) if t.strip()]
        if not filled or not _early(*filled[0]):
            return False
        text, markers = filled[-1]
        return not markers or bool(text[markers[-1].mark.end :].strip(" .\n*_|"))


def read_markers(
    texts: Sequence[str], targets: Targets, numbering: Numbering, own: OwnSources = NO_SOURCES
) -> MarkedTexts:
    """Return the markers of a response's texts.

    Numbers are those of the answer's `own` sources or, without these, of the documents, counted as
    its run counts. They are ids where all are listed as such, or where all ids are numbers and one
    of them is marked.
    """
    found = find_marks(texts, targets)
    numbers = {number for marker in chain.from_iterable(found) for number in marker.numbers}
    if not numbers:
        return MarkedTexts(texts, found)
    by_id = all(map(str.isdecimal, targets.listed)) and any(
        str(n) in targets.listed for n in numbers
    )
    by_id = by_id or all(str(number) in targets.listed for number in numbers)
    if by_id and not own.sources:
        return MarkedTexts(texts, _resolve(found, _Numbers(targets, None)))
    base = None if own.sources else numbering()
    counted = _Numbers(targets, base, own)
    return MarkedTexts(texts, _resolve(found, counted), base if targets.ids else None)


def find_marks(texts: Sequence[str], targets: Targets) -> list[list[CitationMark]]:
    """Return what may be markers, numbers not yet resolved.

    A year is none, unless there are so many documents. `(1)` is one where the answer has numbers in
    no other dress, and a raised number where there are so many documents. An index (`items[0]`) is
    none beside marks that stand apart from their words.
    """
    found = [list(_pointing(text, marks_in(text), targets)) for text in texts]
    found = [_with_columns(text, m, targets) for text, m in zip(texts, found, strict=True)]
    named = {m.mark.shape for m in chain.from_iterable(found) if any(p.doc_id for p in m.pointers)}
    found = [[m for m in markers if m.pointers or m.mark.shape in named] for markers in found]
    found = [[m if m.pointers else _unread(m) for m in markers] for markers in found]
    numbered = [m for m in chain.from_iterable(found) if m.numbers]
    bracketed = any(m.mark.shape != NUMBER_IN_PARENTHESES for m in numbered)
    apart = any(not m.mark.glued for m in numbered if m.mark.shape != NUMBER_IN_PARENTHESES)
    most = len(targets.ids) or len(targets.listed)
    in_parentheses = [m for m in numbered if m.mark.shape == NUMBER_IN_PARENTHESES]
    # "(1) Heat it. (2) Pour it." counts steps.
    in_range = all(n <= most for m in in_parentheses for n in m.numbers) and not any(
        text.lstrip().startswith(("(1)", "（1）")) for text in texts
    )

    def counts(marker: CitationMark) -> bool:
        mark, numbers = marker.mark, marker.numbers
        if mark.shape == NUMBER_IN_PARENTHESES:
            return not bracketed and in_range
        if not numbers:
            return True
        if mark.shape == SUPERSCRIPT:
            return not most or min(numbers) <= most
        index = mark.glued and apart and (0 in numbers or mark.goes_on)
        return not index and not all(n in YEARS and n > most for n in numbers)

    return [list(filter(counts, markers)) for markers in found]


def _pointing(text: str, marks: Iterable[Mark], targets: Targets) -> Iterator[CitationMark]:
    """Yield the marks that point to something; those in other parentheses too."""
    for mark in named_marks(marks, targets):
        if pointers := pointers_of(mark, targets):
            yield CitationMark(mark, pointers)
        elif mark.shape == PARENTHESES and MAY_MARK.search(mark.content):
            inside = marks_in(text, mark.start + 1, mark.end - 1)
            yield from _pointing(text, inside, targets)
        elif may_be_another(mark) and not targets.says(text[mark.start : mark.end]):
            yield CitationMark(mark, ())


def _with_columns(text: str, markers: list[CitationMark], targets: Targets) -> list[CitationMark]:
    """Return the markers of a text, with the cells of its columns of sources.

    A column is one if a cell of it has a document: then all others name sources too.
    """
    added: list[CitationMark] = []
    for column in source_columns(text):
        cells = [CitationMark(mark, pointers_of(mark, targets)) for mark in column]
        pointers = [pointer for cell in cells for pointer in cell.pointers]
        numbers = range(len(targets.ids) + 1)
        if any(p.doc_id or (p.number is not None and p.number in numbers) for p in pointers):
            added += [cell if cell.pointers else _unread(cell) for cell in cells]
    if not added:
        return markers
    starts = [marker.mark.start for marker in markers]

    def is_free(cell: CitationMark) -> bool:
        before = bisect_left(starts, cell.mark.end) - 1
        return before < 0 or markers[before].mark.end <= cell.mark.start

    return sorted([*markers, *filter(is_free, added)], key=lambda marker: marker.mark.start)


def _unread(marker: CitationMark) -> CitationMark:
    """Return ordinary brackets as a mark that is not understood, beside marks of their shape."""
    return CitationMark(marker.mark, (Pointer(marker.mark.content, unread=NOT_UNDERSTOOD),))


class CountingEvidence(NamedTuple):
    """What shows how a run counts: from 0 for sure, from 0 perhaps, from 1."""

    zero: bool = False
    perhaps_zero: bool = False
    one: bool = False

    def __or__(self, other: CountingEvidence) -> CountingEvidence:
        return CountingEvidence(*(mine or theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def base(self) -> int | None:
        """The number of the first document; None where it cannot be decided."""
        if self.zero:
            return None if self.one else 0
        return None if self.perhaps_zero and not self.one else 1


def evidence_of(found: Sequence[Sequence[CitationMark]], documents: int) -> CountingEvidence:
    """Return what the marks of an answer to which there are so many documents show.

    A 0 is the first document, but `[0, 1]` may be an interval. Where the first is 1, the last is as
    many as there are.
    """
    markers = [m for m in chain.from_iterable(found) if m.numbers]
    with_zero = [m for m in markers if 0 in m.numbers]
    zero = any(len(m.numbers) != 2 or m.mark.shape == TAG for m in with_zero)
    last = documents > 0 and any(documents in m.numbers for m in markers)
    # Within one answer a 0 decides: then a last one that is too many does not exist.
    return CountingEvidence(zero, bool(with_zero), last and not zero)


def without_marks(text: str, markers: Sequence[CitationMark]) -> str:
    """Return the text without its markers and the space before each."""
    return cut_marks(text, 0, len(text), markers) if markers else text


def only_sure(markers: Sequence[CitationMark], targets: Targets) -> list[CitationMark]:
    """Return the markers that surely are some, for a text whose citations are listed elsewhere."""
    return [
        m
        for m in markers
        if all(p.unread != MAY_NAME for p in m.pointers)
        and (m.mark.shape != SUPERSCRIPT or targets.ids)
    ]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What numbers point to: entries of the answer's own list, positions, or ids."""

    targets: Targets
    base: int | None
    own: OwnSources = NO_SOURCES

    def pointer(self, pointer: Pointer) -> Pointer:
        """Return a pointer with its number resolved."""
        number = pointer.number
        if number is None:
            return pointer
        if self.own.sources:
            return self._by_own_source(pointer, number)
        if labels := self.targets.labels():
            return replace(pointer, doc_id=labels.get(number))
        ids = self.targets.ids
        if self.base == 1 and number == 0 and ids:  # of an interval, perhaps
            return replace(pointer, unread=FROM_ONE)
        if self.base is not None and ids:
            return replace(pointer, doc_id=self._at(number - self.base) or self._listed_id(number))
        if listed := self._listed_id(number):
            return replace(pointer, doc_id=listed)
        if ids:  # the base is not known
            return replace(pointer, unread=TWO_WAYS if number <= len(ids) else "")
        return replace(pointer, unread="" if self.targets.counted() else NOTHING_COUNTED)

    def _by_own_source(self, pointer: Pointer, number: int) -> Pointer:
        if number not in self.own.sources:
            return pointer
        source = self.own.sources[number]
        if found := document_of_entry(source, self.targets):
            return replace(pointer, doc_id=found)
        if counted := number_of_entry(source):  # "[1] Document 1"
            return replace(pointer, doc_id=self._at(counted - 1))
        titles, address = self.targets.titles(), address_in(source)
        if (titles.addressed and address) or titles.titled or not self.targets.ids:
            # By its own words it is another page than any of the documents.
            return Pointer(address or source.strip())
        return replace(pointer, doc_id=self._at(number - min(self.own.sources)))

    def _at(self, position: int) -> str | None:
        return self.targets.ids[position] if 0 <= position < len(self.targets.ids) else None

    def _listed_id(self, number: int) -> str | None:
        doc_id = str(number)
        targets = self.targets
        there = doc_id in targets.listed or (not targets.ids and targets.is_document(doc_id))
        return doc_id if there else None


def _resolve(
    found: Sequence[Sequence[CitationMark]], numbers: _Numbers
) -> list[list[CitationMark]]:
    return [
        [replace(m, pointers=tuple(map(numbers.pointer, m.pointers))) for m in markers]
        for markers in found
    ]


def _early(text: str, markers: Sequence[CitationMark]) -> int:
    """Return how many markers stand before the first word of a text."""
    done = count = 0
    for marker in markers:
        if text[done : marker.mark.start].strip(" \n*_#>-") or marker.mark.kept:
            break
        done, count = marker.mark.end, count + 1
    return count


RESOLVED, UNKNOWN, UNREAD, CUT = "resolved", "of no document", "not read", "cut"
FATES = (RESOLVED, UNKNOWN, UNREAD, CUT)
"""What became of a mark; `cut` where the record lists its citations elsewhere."""


@dataclass(slots=True)
class MarkInventory:
    """Counts the marks of one run by shape, and by what became of them."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    bases: set[int] = field(default_factory=set)

    def add(self, markers: MarkedTexts) -> None:
        """Count the marks of a response."""
        for marker in (m for found in markers.found for m in found):
            fates = [RESOLVED if p.doc_id else UNKNOWN for p in marker.pointers if not p.unread]
            fates += [UNREAD for p in marker.pointers if p.unread]
            self._count(marker, max(fates, key=FATES.index))
        if markers.base is not None and markers.pointers:
            self.bases.add(markers.base)

    def add_cut(self, markers: Iterable[CitationMark]) -> None:
        """Count marks that were only cut from a text."""
        for marker in markers:
            self._count(marker, CUT)

    def _count(self, marker: CitationMark, fate: str) -> None:
        self.counts.setdefault(marker.mark.shape, Counter())[fate] += 1

    def add_all(self, other: MarkInventory) -> None:
        """Add the marks of another run."""
        for shape, counts in other.counts.items():
            self.counts.setdefault(shape, Counter()).update(counts)
        self.bases |= other.bases

    def __str__(self) -> str:
        shapes = sorted(self.counts.items(), key=lambda pair: (-pair[1].total(), pair[0]))
        each = []
        for shape, counts in shapes:
            fates = ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate])
            each.append(f"{counts.total()} as {shape} ({fates})")
        bases = " and ".join(map(str, sorted(self.bases)))
        how = f"; numbers count from {bases}" if bases else ""
        return "; ".join(each) + how

"""Citations marked in the text itself: found, resolved, cut out, assigned to sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from trecjudge.inputs.formats.pointers import YEARS, Pointer, Targets, bracketed, pointers_in
from trecjudge.text.layout import Part, parts


@dataclass(slots=True)
class Marked:
    """A text without its markers, and what they point to."""

    text: str
    pointers: list[Pointer]


@dataclass(frozen=True, slots=True)
class _Marker:
    start: int
    end: int
    pointers: tuple[Pointer, ...]


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers of a response, text by text."""

    texts: Sequence[str]
    found: Sequence[Sequence[_Marker]]
    base: int | None = None
    """The number of the first document, None where no numbers count."""
    unread: str = ""
    """A number in brackets that is no marker and no year: it stays in the text, and is reported."""

    @property
    def pointers(self) -> list[Pointer]:
        """Everything that is pointed to, in order."""
        return [p for markers in self.found for marker in markers for p in marker.pointers]

    def sentences(self) -> list[Marked]:
        """Return the sentences of the texts: a marker belongs to the sentence before it."""
        sentences: list[Marked] = []
        for text, markers in zip(self.texts, self.found, strict=True):
            bare, spans = _with_plain_marks(text, markers)
            for part in parts(bare):
                start, end = part.start, part.end
                inside = [(s, e, m) for s, e, m in spans if start <= s < end]
                within = [(s - start, e - start, m) for s, e, m in inside]
                _add(sentences, bare[start:end], within, part)
        return sentences

    def segments(self) -> dict[int, Marked]:
        """Return each text by its position; a text of only markers belongs to the one before it.

        So does a marker at the beginning of a text, unless the first text begins with one too.
        """
        segments: dict[int, Marked] = {}
        leading = _leads(self.texts[0], self.found[0]) if self.texts else False
        for index, (text, markers) in enumerate(zip(self.texts, self.found, strict=True)):
            before = [] if leading and _cut(text, _spans(markers)) else list(segments.values())
            count = len(before)
            _add(before, text, [(m.start, m.end, m) for m in markers])
            if len(before) > count:
                segments[index] = before[-1]
        return segments


def read_markers(texts: Sequence[str], targets: Targets) -> Markers:
    """Return the markers of a response's texts.

    Brackets are a marker if they hold only numbers or ids, and a document is there for one of them.
    If there is none, they are a marker if another one of the same kind in the response is. Years
    beyond the documents stay text. Numbers count from 1, or from 0 if a 0 occurs.
    """
    candidates = [list(_candidates(text, targets)) for text in texts]
    written = [p for marker in chain.from_iterable(candidates) for p in marker.pointers]
    numbers = {pointer.number for pointer in written if pointer.number is not None}
    are_ids = all(str(number) in targets.listed for number in numbers)
    # A 0 anywhere shows that all numbers count from 0: nobody cites a document before the first.
    base = None if are_ids else min(numbers | {1})
    resolve = _by_number(base, targets)
    resolved = [[_resolved(marker, resolve) for marker in markers] for markers in candidates]
    there = {
        p.number is None for m in chain.from_iterable(resolved) for p in m.pointers if p.doc_id
    }
    found = [[m for m in markers if _is_marker(m, there)] for markers in resolved]
    read = {p.number for markers in found for marker in markers for p in marker.pointers}
    unread = next((str(n) for n in sorted(numbers - read) if n < min(YEARS)), "")
    return Markers(texts, found, base if read - {None} else None, unread)


def _candidates(text: str, targets: Targets) -> Iterator[_Marker]:
    """Yield what may be markers of a text, numbers not yet resolved."""
    for start, end, content in bracketed(text):
        pointers = tuple(pointers_in(content, targets))
        if pointers:
            yield _Marker(start, end, pointers)


def _by_number(base: int | None, targets: Targets) -> Callable[[int], str | None]:
    """Return a function that finds the document of a number: by position, or by id with no base."""

    def resolve(number: int) -> str | None:
        doc_id = str(number)
        if base is not None and 0 <= number - base < len(targets.ids):
            return targets.ids[number - base]
        there = doc_id in targets.listed or (not targets.ids and targets.is_document(doc_id))
        return doc_id if there else None

    return resolve


def _resolved(marker: _Marker, resolve: Callable[[int], str | None]) -> _Marker:
    pointers = tuple(
        p if p.number is None else Pointer(p.written, p.number, resolve(p.number))
        for p in marker.pointers
    )
    return _Marker(marker.start, marker.end, pointers)


def _is_marker(marker: _Marker, there: set[bool]) -> bool:
    """Return whether brackets are a marker; `there` holds True if ids resolve, False if numbers."""
    if any(pointer.doc_id for pointer in marker.pointers):
        return True
    kinds = {pointer.number is None for pointer in marker.pointers}
    years = all(pointer.number in YEARS for pointer in marker.pointers)
    return kinds <= there and not years


def _with_plain_marks(
    text: str, markers: Sequence[_Marker]
) -> tuple[str, list[tuple[int, int, _Marker]]]:
    """Return the text with every marker as `[1]`, which the sentence splitter knows, and where."""
    parts, spans, done, length = [], [], 0, 0
    for marker in markers:
        before = text[done : marker.start]
        spans.append((length + len(before), length + len(before) + 3, marker))
        # With a space, so that a sentence may begin right after a marker.
        after = " " if text[marker.end : marker.end + 1].isalnum() else ""
        parts += [before, "[1]", after]
        length += len(before) + 3 + len(after)
        done = marker.end
    return "".join([*parts, text[done:]]), spans


def _add(
    sentences: list[Marked],
    text: str,
    spans: list[tuple[int, int, _Marker]],
    part: Part | None = None,
) -> None:
    """Add a sentence without its markers; markers before its first word go to the one before."""
    body = _cut(text, [(start, end) for start, end, _ in spans])
    body = part.judged(body) if part else body
    before = sentences[-1].pointers if sentences else None
    own: list[Pointer] = []
    done = 0
    for start, end, marker in spans:
        if before is None or text[done:start].strip():
            before = own
        before.extend(marker.pointers)
        done = end
    if body or not sentences:
        sentences.append(Marked(body, own))


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text without these spans and the space before each."""
    kept, done = "", 0
    for start, end in spans:
        kept += text[done:start]
        kept, done = kept.rstrip(), end
        if kept and text[end : end + 1].isalnum():
            kept += " "
    return (kept + text[done:]).strip() if done else text


def _spans(markers: Iterable[_Marker]) -> list[tuple[int, int]]:
    return [(marker.start, marker.end) for marker in markers]


def _leads(text: str, markers: Sequence[_Marker]) -> bool:
    return bool(markers) and not text[: markers[0].start].strip()

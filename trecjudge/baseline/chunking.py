"""Documents cut into chunks: by section and sentence, each a quote of its document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trecjudge.errors import InputError
from trecjudge.records import Document
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.tokens import is_spaceless

LEAST_SIZE = 10
"""Words: a smaller chunk says nothing."""
HEADING_WORDS = 12
"""A longer line is no heading."""
_PIECE = re.compile(r"\S{1,40}\s*")
_LINE = re.compile(r"[^\n]+")
_MARKED = re.compile(r"#{1,6}\s|={2,}[^=]+={2,}\s*$")
_UNDERLINE = re.compile(r"\n(?:={3,}|-{3,})[ \t]*(?:\n|$)")
_CLOSED = re.compile(r"[.!?…:;,。！？｡।۔]\W*$")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How long chunks are, and how much of one is in the next too, in words.

    In a script without spaces two characters count as a word.
    """

    size: int = 220
    overlap: int = 30

    def __post_init__(self) -> None:
        if self.size < LEAST_SIZE:
            raise InputError(
                f"chunks of {self.size} words are too short; give {LEAST_SIZE} or more"
            )
        if not 0 <= self.overlap <= self.size // 2:
            raise InputError(
                f"an overlap of {self.overlap} words does not suit chunks of {self.size};"
                f" give 0 to {self.size // 2}"
            )


@dataclass(frozen=True, slots=True)
class _SentencePiece:
    """A sentence, or a piece of a long one; `opens` is whether a section begins with it."""

    start: int
    end: int
    words: int
    opens: bool = False


def chunk_spans(document: Document, chunking: ChunkSettings) -> Iterator[Span]:
    """Yield the `(start, end)` of each chunk: offsets into `full_text`, in order, without margins.

    A chunk ends with a sentence, and where a section begins if it is half full by then. It begins
    with the last sentences of the one before, up to the overlap, unless a section begins. Only a
    sentence longer than a chunk is cut. What is left at the end joins the chunk before it if it is
    less than a quarter of one. The title is in no chunk, unless there is no text.
    """
    begin = len(document.title) + 1 if document.title and document.has_text else 0
    # Held back by one: a short rest at the end joins the chunk before it.
    ready: Span | None = None
    held: list[_SentencePiece] = []
    words = repeated = 0
    for part in _parts(document.full_text, begin, chunking.size):
        is_full = words + part.words > chunking.size or (part.opens and words * 2 >= chunking.size)
        if held and is_full:
            if ready:
                yield ready
            ready = held[0].start, held[-1].end
            held = [] if part.opens else _overlap(held, part, chunking)
            words = repeated = sum(kept.words for kept in held)
        held.append(part)
        words += part.words
    if ready and held and (words - repeated) * 4 < chunking.size:
        yield ready[0], held[-1].end
        return
    if ready:
        yield ready
    if held:
        yield held[0].start, held[-1].end


def _overlap(
    held: Sequence[_SentencePiece], following: _SentencePiece, chunking: ChunkSettings
) -> list[_SentencePiece]:
    """Return the last parts of a chunk that the next one, which `following` joins, repeats."""
    room = min(chunking.overlap, chunking.size - following.words)
    count = 0
    # At least one part is not repeated: each chunk has something new and something left behind.
    for part in reversed(held[1:]):
        if part.words > room or part.opens:
            break
        room -= part.words
        count += 1
    return list(held[len(held) - count :])


def _parts(text: str, begin: int, size: int) -> Iterator[_SentencePiece]:
    """Yield the sentences of a text from `begin` on, none longer than `size` words."""
    for section_start, section_end in _sections(text, begin):
        opens = True
        for start, end in sentence_spans(text[section_start:section_end]):
            for piece in _cut(text, section_start + start, section_start + end, size):
                yield replace(piece, opens=True) if opens else piece
                opens = False


def _sections(text: str, begin: int) -> Iterator[Span]:
    """Yield the spans of a text's sections; each but the first begins with a heading."""
    start = begin
    for line in _LINE.finditer(text, begin):
        if line.start() > start and _is_heading(text, line):
            yield start, line.start()
            start = line.start()
    yield start, len(text)


def _is_heading(text: str, line: re.Match[str]) -> bool:
    """Return whether a line is marked as a heading, or stands by itself as one does."""
    written = line[0].strip()
    if not written or len(written) > 40 * HEADING_WORDS or _CLOSED.search(written):
        return False
    if len(written.split()) > HEADING_WORDS or written.startswith(("- ", "* ", "• ")):
        return False
    if _MARKED.match(written) or _UNDERLINE.match(text, line.end()):
        return True
    before = text[max(0, line.start() - 2) : line.start()]
    return before == "\n\n" == text[line.end() : line.end() + 2]


def _cut(text: str, start: int, end: int, size: int) -> Iterator[_SentencePiece]:
    """Yield a sentence as it is, or in pieces where it is longer than a chunk."""
    sentence = text[start:end]
    weight = 0.5 if is_spaceless(sentence) else 0.0
    count = len(sentence.split())
    if not weight and count <= size and len(sentence) <= 40 * count:
        yield _SentencePiece(start, end, count)
        return
    first, words, last = start, 0.0, start
    for piece in _PIECE.finditer(text, start, end):
        more = max(1.0, weight * len(piece[0]))
        if words and words + more > size:
            yield _SentencePiece(first, last, int(words))
            first, words = piece.start(), 0.0
        words += more
        last = piece.start() + len(piece[0].rstrip())
    yield _SentencePiece(first, last, max(1, int(words)))

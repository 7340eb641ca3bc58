"""Where an index keeps documents, chunks, fields, posting lists and vectors: one SQL for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from trecjudge.baseline.chunking import Span
from trecjudge.baseline.index.filters import DOC_ID, Condition
from trecjudge.baseline.index.records import DIGEST, Hits, IndexSource, Numbers, SegmentRow, State
from trecjudge.baseline.records import Chunk
from trecjudge.inputs.documents.index_file import DamagedIndex
from trecjudge.records import Document


class DocumentDigests(NamedTuple):
    """`text` is the sha256 of title and text; `record` that of all that is kept of a document."""

    text: str
    record: str


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document that an index holds: its number, its digest, and its chunks' numbers.

    Raises DamagedIndex for values that cannot be.
    """

    number: int
    record: str
    first_chunk: int
    chunks: int

    def __post_init__(self) -> None:
        numbers = (self.number, self.first_chunk, self.chunks)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise DamagedIndex("a document or its chunks have no number")
        if not isinstance(self.record, str) or not DIGEST.fullmatch(self.record):
            raise DamagedIndex(f"document {self.number} has no digest")

    @property
    def numbers(self) -> range:
        """The numbers of its chunks."""
        return range(self.first_chunk, self.first_chunk + self.chunks)


@dataclass(frozen=True, slots=True)
class AllowedChunks:
    """What a filter lets through: documents by number, and their chunks."""

    documents: list[int]
    chunks: Numbers


class Store(ABC):
    """A database that has the tables of an index.

    Queries are written once, with `?` for a value; what SQLite and PostgreSQL say differently is
    in a method of its own. All but `reading` and `writing` work in the transaction under way.
    """

    where: str
    """The file, or the address without its secrets: for messages."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Within it the index stays as it is. Raises InputError for one that is damaged."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Store]:
        """Yield a connection that writes, whole at the end or not at all.

        No other refresh is under way meanwhile; whoever reads sees what was there before.
        """

    @abstractmethod
    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterable[Any]:
        """Yield the rows that a query gives."""

    @abstractmethod
    def rows_among(
        self, query: str, values: Collection[Any], before: Sequence[Any] = ()
    ) -> Iterator[Any]:
        """Yield the rows of a query in which `{among}` stands for `is one of these values`.

        `before` are values of the marks before it.
        """

    @abstractmethod
    def write(self, query: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement that has no rows."""

    @abstractmethod
    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows into a table."""

    @abstractmethod
    def storable(self, text: str) -> str:
        """Return a text as the database can keep it."""

    @abstractmethod
    def state(self) -> State:
        """Return the state of the index. Raises InputError for one that cannot be read."""

    @abstractmethod
    def add(
        self,
        source: IndexSource,
        digests: DocumentDigests,
        place: IndexedDocument,
        spans: Sequence[Span],
    ) -> None:
        """Write a document, and its chunks, under the numbers of `place`."""

    @abstractmethod
    def drop(self, known: IndexedDocument) -> None:
        """Remove a document, its chunks and their vectors."""

    @abstractmethod
    def without_vectors(self, most: int) -> Sequence[tuple[int, str]]:
        """Return (number, title and text) of chunks that have no vector yet."""

    @abstractmethod
    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        """Write the vectors of chunks: float32, a row each."""

    def finish(self, state: State) -> None:
        """Write the state that a refresh led to, and what else is left."""
        self.write("UPDATE state SET state = ?", (state.as_json(),))

    @abstractmethod
    def nearest(self, vector: Any, most: int, allowed: AllowedChunks | None, state: State) -> Hits:
        """Return the chunks nearest to a vector of length 1 by cosine."""

    def check_vectors(self, state: State) -> None:
        """Raise DamagedIndex where the vectors are not such as the state says."""
        return

    @abstractmethod
    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number, in this order. Raises KeyError for one that is gone."""

    @abstractmethod
    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""

    @abstractmethod
    def numbers_within(self, condition: Condition) -> set[Any]:
        """Return the numbers of the documents whose field lies within the bounds."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def segments(self) -> list[SegmentRow]:
        """Return all segments, in order of their numbers. Raises DamagedIndex."""
        terms = "EXISTS (SELECT 1 FROM postings WHERE segment = number)"
        query = f"SELECT number, chunks, lengths, gone, {terms} FROM segments ORDER BY number"
        found = []
        for *row, has_terms in ascending(self.rows(query)):
            found.append(SegmentRow(*row))
            if not has_terms and isinstance(row[2], bytes) and any(row[2]):
                raise DamagedIndex(f"segment {row[0]} has no terms")
        return found

    def postings(
        self, segments: Sequence[int], terms: Collection[str]
    ) -> Iterator[tuple[int, str, bytes]]:
        """Yield (segment, term, posting list) wherever a segment has one of these terms."""
        storable = list(map(self.storable, terms))
        for segment in segments:
            query = "SELECT term, list FROM postings WHERE segment = ? AND term {among}"
            for term, data in self.rows_among(query, storable, (segment,)):
                yield segment, term, data

    def postings_of(self, segment: int) -> Iterator[tuple[str, bytes]]:
        """Yield every posting list of a segment."""
        query = "SELECT term, list FROM postings WHERE segment = ? ORDER BY term"
        yield from ascending(self.rows(query, (segment,)), str)

    def write_segment(self, row: SegmentRow, postings: Iterable[tuple[str, bytes]]) -> None:
        """Write a new segment."""
        self.insert("segments", [(row.segment, row.chunks, row.lengths, row.gone)])
        lists = ((row.segment, self.storable(term), data) for term, data in postings)
        self.insert("postings", lists)

    def write_gone(self, segment: int, gone: bytes) -> None:
        """Replace the places of the chunks that were removed from a segment."""
        self.write("UPDATE segments SET gone = ? WHERE number = ?", (gone, segment))

    def drop_segment(self, segment: int) -> None:
        """Remove a segment and its posting lists."""
        self.write("DELETE FROM segments WHERE number = ?", (segment,))
        self.write("DELETE FROM postings WHERE segment = ?", (segment,))

    def find_documents(self, doc_ids: Sequence[str]) -> Mapping[str, IndexedDocument]:
        """Return the indexed documents among `doc_ids`, by id."""
        asked = {self.storable(doc_id): doc_id for doc_id in doc_ids}
        query = "SELECT id, number, record, first_chunk, chunks FROM documents WHERE id {among}"
        return {
            asked[row[0]]: IndexedDocument(*row[1:]) for row in self.rows_among(query, list(asked))
        }

    def all_documents(self) -> Iterator[IndexedDocument]:
        """Yield all indexed documents."""
        query = "SELECT number, record, first_chunk, chunks FROM documents ORDER BY number"
        for row in ascending(self.rows(query)):
            yield IndexedDocument(*row)

    def field_names(self) -> set[str]:
        """Return the names of the fields that documents have."""
        return {row[0] for row in self.rows("SELECT DISTINCT name FROM fields")}

    def matching(self, condition: Condition) -> set[int]:
        """Return the numbers of the documents that fulfil a condition. Raises DamagedIndex."""
        if condition.name == DOC_ID:
            ids = [self.storable(value) for value, _ in condition.bounds]
            query = "SELECT number FROM documents WHERE id {among}"
            found = {row[0] for row in self.rows_among(query, ids)}
        else:
            found = self.numbers_within(condition)
        if not all(type(number) is int for number in found):
            raise DamagedIndex("a field is of a document that is not there")
        return found


def ascending(rows: Iterable[Any], kind: type = int) -> Iterator[Any]:
    """Yield rows by their first value, of this type, each above the one before.

    Raises DamagedIndex: pages that lead round in a circle give the same rows for ever.
    """
    last: Any = None
    for row in rows:
        if type(row[0]) is not kind or (last is not None and row[0] <= last):
            raise DamagedIndex(f"rows are out of order at {str(row[0])[:40]!r}")
        yield row
        last = row[0]


def check_span(whole: str, start: Any, end: Any) -> None:
    """Raise DamagedIndex for a chunk that is not within its document."""
    if not (type(start) is type(end) is int and 0 <= start < end <= len(whole)):
        raise DamagedIndex("a chunk is not within its document")


def embedded_text(title: str, text: str, start: int, end: int) -> str:
    """Return what is embedded of a chunk: the title of its document, and its text."""
    whole = Document("", text, title).full_text
    check_span(whole, start, end)
    return whole if start == 0 else "\n".join(filter(None, (title, whole[start:end])))

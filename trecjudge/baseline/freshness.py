"""What the sentences of runs rest on, and whether the documents are still the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from trecjudge.baseline.index.index import open_index
from trecjudge.baseline.records import Chunk
from trecjudge.files import default_folder
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.index_file import digests_of
from trecjudge.inputs.provenance import quote_span
from trecjudge.models.documents.opening import OnWanted, open_documents
from trecjudge.records import Document, ProvenanceLine

CURRENT: Final = "current"
CHANGED: Final = "changed"
GONE: Final = "gone"
UNKNOWN: Final = "unknown"
State = Literal["current", "changed", "gone", "unknown"]
MOST_HELD = 4096
"""Documents that are held while lines that rest on them are read."""


LEAST_DIGEST = 8
"""Characters of a digest that name a version."""
LookUp = Callable[[str], Chunk | None]
"""Returns a document as it is now, None where it is gone. Raises LookupError where none knows."""


@dataclass(frozen=True, slots=True)
class CitationBasis:
    """A line of provenance, and what became of its document.

    `state` is UNKNOWN where there is nothing to compare with. `quoted` is whether the quote is in
    the document as it is now, at the same place or another; None without a document.
    """

    line: ProvenanceLine
    state: State
    quoted: bool | None = None
    digest_now: str = ""
    version_now: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether the document is another one than the answer was made from."""
        return self.state in (CHANGED, GONE)

    def as_dict(self) -> dict[str, Any]:
        """Return the line with its state, as JSON values."""
        line = {name: getattr(self.line, name) for name in self.line.__slots__}
        now = {"version_now": self.version_now, "digest_now": self.digest_now}
        return line | {"state": self.state, "quoted": self.quoted} | now


@dataclass(slots=True)
class FreshnessAudit:
    """Tells the state of each line, and counts; `documents` and `versions` limit the lines."""

    look_up: LookUp | None = None
    documents: Collection[str] = ()
    versions: Collection[str] = ()
    states: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    quoted: int = 0
    """Lines whose document changed, and still has the quote."""

    def bases(self, lines: Iterable[ProvenanceLine]) -> Iterator[CitationBasis]:
        """Yield the wanted lines with their states, in order."""
        look_up = lru_cache(MOST_HELD)(self.look_up) if self.look_up else None
        for line in lines:
            if not self._is_wanted(line):
                continue
            basis = compare_with_now(line, look_up)
            self.states[basis.state] += 1
            self.runs.add(line.run_id)
            self.quoted += basis.state == CHANGED and bool(basis.quoted)
            yield basis

    @property
    def stale(self) -> int:
        """Lines whose document changed or is gone."""
        return self.states[CHANGED] + self.states[GONE]

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        names = (CURRENT, CHANGED, GONE, UNKNOWN)
        counts = {name: self.states[name] for name in names}
        return {"runs": len(self.runs), **counts, "changed_but_quoted": self.quoted}

    def _is_wanted(self, line: ProvenanceLine) -> bool:
        if self.documents and line.doc_id not in self.documents:
            return False
        return not self.versions or any(_has_version(line, asked) for asked in self.versions)


def _has_version(line: ProvenanceLine, asked: str) -> bool:
    """Return whether a document was of a version: its own, `version/digest`, or only its digest.

    Of a digest the beginning is enough, as it is shown.
    """
    version, _, digest = asked.rpartition("/")
    by_digest = len(digest) >= LEAST_DIGEST and line.document_digest.startswith(digest)
    return line.document_version == asked or (by_digest and version in ("", line.document_version))


@contextmanager
def documents_now(
    index: str, documents: Sequence[Path], report: OnFinding, wanted: OnWanted
) -> Iterator[LookUp | None]:
    """Yield what looks documents up: in the index that is named, else in files of documents.

    `wanted` returns those that will be looked up. None where neither is given.
    """
    if index:
        with closing(open_index(index)) as opened:
            yield opened.document
    elif documents:
        store = open_documents(documents, default_folder(), report, wanted)
        yield lambda doc_id: _as_chunk(store.get(doc_id))
    else:
        yield None


def _as_chunk(found: Document | None) -> Chunk | None:
    if found is None:
        return None
    if not (found.complete or found.has_text):
        raise LookupError(found.doc_id)
    text = found.full_text
    return Chunk(replace(found, text=""), 0, len(text), text, digests_of(found, {})[0])


def compare_with_now(line: ProvenanceLine, look_up: LookUp | None) -> CitationBasis:
    """Return what became of the document that a line names.

    Without a digest in the line its version is compared; without either, the quote.
    """
    try:
        now = look_up(line.doc_id) if look_up else None
    except LookupError:
        look_up = None
    if look_up is None:
        return CitationBasis(line, UNKNOWN)
    if now is None:
        return CitationBasis(line, GONE)
    quoted, version = quote_span(now.text, line) is not None, now.document.version
    if line.document_digest:
        same = line.document_digest == now.digest
    else:
        same = line.document_version == version if line.document_version else quoted
    return CitationBasis(line, CURRENT if same else CHANGED, quoted, now.digest, version)

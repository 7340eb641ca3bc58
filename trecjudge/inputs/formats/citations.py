"""Citations as written, resolved into documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trecjudge.findings import brief
from trecjudge.inputs.documents.names import id_keys
from trecjudge.inputs.formats.draft import ABSENT
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Citation

MOST = sys.float_info.max
KEY, OTHER_KEY = "citations", "citation"
"""The key of a sentence's citations, and the one that some files use."""
AGAINST = "contradicted_citations"
"""The key of what a sentence cites as contradicting it."""
Complain = Callable[[str, str, object], None]
"""(kind of finding, message, value): reports a problem of the sentence at hand."""


@dataclass(frozen=True, slots=True)
class _Unusable:
    """Citations of no known shape, which count as one citation, reported already."""

    value: Any


@dataclass(frozen=True, slots=True)
class References:
    """A response's reference list: `ids` keeps every position, None where the entry is unusable."""

    ids: tuple[str | None, ...]
    given: bool
    known: frozenset[str]

    @classmethod
    def read(cls, value: Any, complain: Complain) -> References:
        """Read a list of ids (text or integers) or a dict whose keys are ids."""
        entries = list(value) if isinstance(value, (list, dict)) else []
        if value is not ABSENT and not isinstance(value, (list, dict)):
            complain("references_unusable", f"references is {brief(value)}, not a list", value)
        ids = tuple(map(_reference, entries))
        for position, entry in enumerate(entries) if None in ids else ():
            if ids[position] is None:
                message = f"reference {position} is {brief(entry)}, not an id"
                complain("reference_unusable", message, entry)
        return cls(ids, value is not ABSENT, frozenset(i for i in ids if i))


def _reference(entry: Any) -> str | None:
    """Return the id of an entry of the reference list: the entry itself, or one that it names."""
    if isinstance(entry, dict):
        return next((found for key in id_keys(entry) if (found := as_id(entry[key]))), None)
    return as_id(entry)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Turns what a sentence cites into citations, and reports those of an unusual shape.

    `is_document` returns whether the response (or a file given beside it) has a document.
    """

    references: References
    is_document: Callable[[str], bool]
    integers_are_ids: bool = False
    positions: Sequence[str | None] = ()
    """The documents that an index counts where there are no references."""

    def resolve(self, value: Any, complain: Complain) -> tuple[Citation, ...]:
        """Return the citations of one sentence, each document once, in the order written."""
        return self.plain(value) or self._resolve(value, complain)

    def plain(self, value: Any) -> tuple[Citation, ...]:
        """Return the citations, if all are indices or listed ids and none comes twice; else none.

        Most lists are such, and this is several times faster than `resolve`.
        """
        if isinstance(value, dict):
            return self._plain_scores(value)
        if not isinstance(value, list):
            return ()
        ids, known, found = self.references.ids, self.references.known, {}
        for entry in value:
            doc_id = None
            if type(entry) is int and not self.integers_are_ids:  # a bool is no index
                doc_id = ids[entry] if 0 <= entry < len(ids) else None
            elif isinstance(entry, str) and entry in known:
                doc_id = entry
            if doc_id is None or doc_id in found:
                return ()
            found[doc_id] = Citation(doc_id, str(entry))
        return tuple(found.values())

    def _plain_scores(self, value: Mapping[str, Any]) -> tuple[Citation, ...]:
        known = self.references.known
        if all(type(s) is float and abs(s) <= MOST and i in known for i, s in value.items()):
            return tuple([Citation(doc_id, doc_id, score) for doc_id, score in value.items()])
        return ()

    def _resolve(self, value: Any, complain: Complain) -> tuple[Citation, ...]:
        found: dict[tuple[str | None, str], Citation] = {}
        for entry, score in _entries(value, complain):
            citation = self._citation(entry, _score(score, complain), complain)
            # By document where there is one: `[0, "d0"]` cites one document twice.
            key = (citation.doc_id, "" if citation.doc_id else citation.value)
            if key in found:
                complain("citation_duplicate", f"cites {brief(entry)} twice", entry)
            found.setdefault(key, citation)
        return tuple(found.values())

    def _citation(self, entry: Any, score: float | None, complain: Complain) -> Citation:
        if isinstance(entry, _Unusable):
            return Citation(None, brief(entry.value))
        if isinstance(entry, str):
            doc_id = self._by_text(entry, complain)
        elif isinstance(entry, int) and not isinstance(entry, bool):
            ids = self.integers_are_ids
            doc_id = str(entry) if ids else self._by_index(entry, complain)
        else:
            doc_id = None
            message = f"cites {brief(entry)}, which is neither an id nor an index"
            complain("citation_unusable", message, entry)
        return Citation(doc_id, entry if isinstance(entry, str) else brief(entry), score)

    def _is_known(self, doc_id: str) -> bool:
        return doc_id in self.references.known or self.is_document(doc_id)

    def _by_text(self, entry: str, complain: Complain) -> str | None:
        doc_id = entry.strip()
        if not doc_id:
            complain("citation_unusable", "cites an empty id", entry)
            return None
        # A number may be an id too: what the response lists under it counts before any index.
        if self._is_known(doc_id) or not (doc_id.isascii() and doc_id.isdigit()):
            return doc_id
        if self.integers_are_ids or not self.references.ids:
            return doc_id
        message = f"cites {brief(entry)}: an index written as text"
        complain("citation_index_as_text", message, entry)
        # Python refuses to read integers of thousands of digits; no list is as long as this.
        return self._by_index(int(doc_id) if len(doc_id) < 19 else sys.maxsize, complain)

    def _by_index(self, index: int, complain: Complain) -> str | None:
        ids = self.references.ids
        if 0 <= index < len(ids):
            return ids[index]
        if self._is_known(str(index)):
            return str(index)
        if 0 <= index < len(self.positions):
            message = f"cites {index}, references is missing: counted in its documents"
            complain("citation_by_position", message, index)
            return self.positions[index]
        have = f"references has {len(ids)}" if self.references.given else "references is missing"
        complain("citation_out_of_range", f"cites {index}, {have}", index)
        return None


def lists_citations(entry: Any) -> bool:
    """Return whether an entry of a sentence list lists a citation, even an unusable one."""
    value = written_citations(entry)
    return value is not ABSENT and value != [] and value != {}


def written_citations(entry: Any, complain: Complain | None = None) -> Any:
    """Return the citations of an entry of a sentence list as written, ABSENT without any."""
    if not isinstance(entry, dict):
        return ABSENT
    value = entry.get(KEY)
    if value is None and entry.get(OTHER_KEY) is not None:
        if complain is not None:
            complain("citations_misnamed", f"has `{OTHER_KEY}` for `{KEY}`", entry[OTHER_KEY])
        return entry[OTHER_KEY]
    return ABSENT if value is None else value


def written_text(entry: Any) -> Any:
    """Return the text of an entry of a sentence list as written, which may be no text."""
    return entry.get("text") if isinstance(entry, dict) else entry


def ids_written(sentences: Any) -> frozenset[str]:
    """Return the ids that the entries of a sentence list cite as text."""
    entries = sentences if isinstance(sentences, list) else []
    cited = map(written_citations, entries)
    written = (entry for value in cited for entry, _ in _entries(value, ignore_problem))
    return frozenset(entry.strip() for entry in written if isinstance(entry, str))


def ignore_problem(kind: str, message: str, value: object, sentence: int | None = None) -> None:
    """Ignore a problem: it is reported where the response is read."""


def _entries(value: Any, complain: Complain) -> Iterator[tuple[Any, Any]]:
    """Yield (id or index, score or None) of a citation list, dict or single value."""
    if value is None or value is ABSENT:
        return
    if isinstance(value, dict) and not _is_object(value):
        yield from value.items()
    elif isinstance(value, list):
        yield from _flat(value)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield value, None
    elif isinstance(value, dict):
        yield from _flat([value])
    else:
        message = f"has citations {brief(value)}, neither a list nor a dict"
        complain("citations_unusable", message, value)
        yield _Unusable(value), None


def _flat(entries: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for entry in entries:
        if isinstance(entry, dict):
            written = next((v for key in id_keys(entry) if (v := entry[key]) is not None), None)
            yield (entry, None) if written is None else (written, entry.get("score"))
        else:
            yield entry, None


def _is_object(value: Mapping[str, Any]) -> bool:
    """Return whether an object is one citation, not a dict of ids: it names its id by a key."""
    texts = any(isinstance(entry, str) for entry in value.values())
    return texts and any(isinstance(value[key], str) for key in id_keys(value))


def _score(value: Any, complain: Complain) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST:
        return float(value)
    complain("citation_score_unusable", f"gives a score {brief(value)}", value)
    return None

"""Repair one record as the track's own checker would, and report every change."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from trecjudge.check.parts import (
    cited_by,
    cited_positions,
    is_blank,
    is_index,
    length,
    longest,
    references_of,
    sentences_of,
    value_at,
)
from trecjudge.check.rules import Track
from trecjudge.findings import shown
from trecjudge.inputs.formats.draft import metadata_of
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Topic

OnChange = Callable[[str, object, object], None]
"""(what, before, after): called for every change."""
CitationKey = tuple[str, Any]


def mend(
    record: dict[str, Any],
    track: Track,
    topic: Topic | None,
    on_change: OnChange,
    documents: Collection[str] = (),
) -> dict[str, Any]:
    """Return the record with everything repaired that can be, keys in their order.

    Sentences go from the end until the length fits. Of references over the maximum only those go
    that nothing cites, from the end, so that no citation is lost: a list may stay too long. An id
    that is cited and not listed is added to the references if it has their form. `documents` are
    the ids of those that the reader found.
    """
    fresh = _copied(record, track)
    mending = _Mending(fresh, track, topic, on_change)
    # The order counts: citations are compared once they are indices into unique references, and
    # references are trimmed once it is settled which sentences, and so which citations, remain.
    mending.indices(documents)
    mending.references()
    mending.cite_one_way()
    for index, entry in enumerate(sentences_of(fresh, track)):
        mending.citations(index, entry)
    mending.shorten()
    mending.list_cited()
    mending.cite_one_way()  # what was not listed before
    mending.trim_references()
    mending.topic_text()
    mending.response_length()
    return fresh


def _copied(record: dict[str, Any], track: Track) -> dict[str, Any]:
    """Return the record with everything copied that may be changed."""
    fresh = dict(record)
    if isinstance(record.get("metadata"), dict):
        fresh["metadata"] = dict(metadata_of(record))
    if isinstance(record.get(track.sentences), list):
        entries = sentences_of(record, track)
        # Copied as deep as it is changed: the original record is still needed for messages.
        fresh[track.sentences] = [dict(e) if isinstance(e, dict) else e for e in entries]
    return fresh


@dataclass(frozen=True, slots=True)
class _Mending:
    """Changes `record`, step by step."""

    record: dict[str, Any]
    track: Track
    topic: Topic | None
    on_change: OnChange

    def indices(self, documents: Collection[str]) -> None:
        """Turn indices written as text into indices, as the reader takes them."""
        if "index" not in self.track.citations.kinds or self.track.references is None:
            return
        known = {as_id(entry) for entry in references_of(self.record)} | set(documents)
        for index, entry in enumerate(sentences_of(self.record, self.track)):
            before = entry.get("citations") if isinstance(entry, dict) else None
            if not isinstance(before, list):
                continue
            after = [int(c) if _is_written_index(c) and c not in known else c for c in before]
            if after != before:
                entry["citations"] = after
                self.on_change(f"citations of sentence {index + 1} as integers", before, after)

    def references(self) -> None:
        """Remove white space around references, and repeated ones.

        Citations of a repeated one then point at the first of them.
        """
        listed, rule = self.record.get("references"), self.track.references
        if not isinstance(listed, list) or not self._forbids("reference_duplicate"):
            return
        bare = [as_id(entry) or entry if isinstance(entry, str) else entry for entry in listed]
        if bare != listed and rule is not None and (rule.only_cited or rule.pattern):
            self.record["references"] = bare
            self.on_change("references without white space", listed, bare)
        # An entry that is no id gets a key of its own, so that it equals no other.
        first: dict[Any, int] = {}
        target = [first.setdefault(as_id(e) or (i,), i) for i, e in enumerate(listed)]
        self._keep({i for i, t in enumerate(target) if i == t}, target, "duplicate reference")

    def _forbids(self, kind: str) -> bool:
        return self.track.verdicts.get(kind) is not None

    def _keep(self, kept: set[int], target: list[int], what: str) -> None:
        """Keep references at these positions; a citation of `i` becomes one of `target[i]`."""
        references = self.record["references"]
        if len(kept) == len(references):
            return
        for position, entry in enumerate(references_of(self.record)):
            if position not in kept:
                self.on_change(what, entry, None)
        if isinstance(references, dict):
            items = enumerate(references.items())
            self.record["references"] = dict(item for i, item in items if i in kept)
        else:
            self.record["references"] = [e for i, e in enumerate(references) if i in kept]
        moved = {old: new for new, old in enumerate(sorted(kept))}
        # What is not kept and has no target is cited nowhere.
        self._reindex([moved.get(t, t) for t in target])

    def _reindex(self, new: list[int]) -> None:
        """Point citations by index at the new positions; one out of range stays as it is."""
        for index, entry in enumerate(sentences_of(self.record, self.track)):
            before = entry.get("citations") if isinstance(entry, dict) else None
            if not isinstance(before, list):
                continue
            after = [new[c] if is_index(c) and 0 <= c < len(new) else c for c in before]
            if after != before:
                entry["citations"] = after
                self.on_change(f"citations of sentence {index + 1} re-indexed", before, after)

    def citations(self, index: int, entry: Any) -> None:
        """Drop citations out of range, repeated ones, and those over the maximum."""
        cited = entry.get("citations") if isinstance(entry, dict) else None
        if not isinstance(cited, list | dict):
            return
        after: list[Any] | dict[str, Any]
        if isinstance(cited, dict):
            after = self._strongest(cited)
        else:
            after = self._first_of_each(cited)
            if self._forbids("too_many_citations"):
                after = after[: self.track.citations.maximum]
        if len(after) != len(cited):
            entry["citations"] = after
            self.on_change(f"citations of sentence {index + 1}", cited, after)

    def _first_of_each(self, cited: list[Any]) -> list[Any]:
        """Return each citation once, in order, without indices out of range."""
        count = len(references_of(self.record))
        ranged = self._forbids("citation_out_of_range") and "index" in self.track.citations.kinds
        once = self._forbids("citation_duplicate")
        found: dict[CitationKey, Any] = {}
        for position, value in enumerate(cited):
            if ranged and is_index(value) and not 0 <= value < count:
                continue
            found.setdefault(_key(value, position) if once else ("", position), value)
        return list(found.values())

    def _strongest(self, cited: dict[str, Any]) -> dict[str, Any]:
        """Return the citations with the highest scores, in the order written."""
        most = self.track.citations.maximum
        if most is None or len(cited) <= most or not self._forbids("too_many_citations"):
            return cited
        # Sorted is stable: of equal scores the first one written stays.
        kept = set(sorted(cited, key=lambda doc_id: -_strength(cited[doc_id]))[:most])
        return {doc_id: score for doc_id, score in cited.items() if doc_id in kept}

    def shorten(self) -> None:
        """Pop sentences from the end until the length fits."""
        rule, entries = self.track.length, sentences_of(self.record, self.track)
        most = longest(rule, self.topic) if rule else None
        if rule is None or most is None:
            return
        # Bisection: the length grows with each sentence, and counting it again for each is slow.
        prefixes = range(len(entries) + 1)
        kept = bisect_right(prefixes, most, key=lambda end: length(entries[:end], rule)) - 1
        for entry in reversed(entries[kept:]):
            self.on_change(f"last sentence, over {most} {rule.unit}", entry, None)
        del entries[kept:]

    def list_cited(self) -> None:
        """Add cited ids to the references where they are missing."""
        references, rule = self.record.get("references"), self.track.references
        if rule is None or not isinstance(references, list):
            return
        if not self._forbids("citation_unreferenced"):
            return
        known = {entry for entry in references if isinstance(entry, str)}
        added: dict[str, None] = {}
        for entry in sentences_of(self.record, self.track):
            for value in cited_by(entry):
                if isinstance(value, str) and value not in known and self._has_form(value):
                    added[value] = None
        if added:
            self.record["references"] = [*references, *added]
            self.on_change("references", None, list(added))

    def _has_form(self, doc_id: str) -> bool:
        """Return whether an id has the form of a reference, or else of a citation."""
        rule = self.track.references
        pattern = (rule.pattern if rule else "") or self.track.citations.pattern
        return bool(doc_id.strip()) and (not pattern or bool(re.fullmatch(pattern, doc_id)))

    def cite_one_way(self) -> None:
        """Turn ids into indices where a response cites by both, and may cite by one.

        Where the guideline prefers indices, ids always become indices.
        """
        rule, entries = self.track.citations, sentences_of(self.record, self.track)
        values = [value for entry in entries for value in cited_by(entry)]
        one_kind = rule.one_kind == "response" and any(map(is_index, values))
        if not one_kind and rule.preferred != "index":
            return
        listed = references_of(self.record)
        positions = {entry: place for place, entry in enumerate(listed) if isinstance(entry, str)}
        for index, entry in enumerate(entries):
            before = cited_by(entry)
            after = [positions.get(c, c) if isinstance(c, str) else c for c in before]
            if after != before:
                entry["citations"] = after
                self.on_change(f"citations of sentence {index + 1} as integers", before, after)

    def trim_references(self) -> None:
        """Remove references that nothing cites: over the maximum, or all where none may be."""
        rule = self.track.references
        listed = references_of(self.record)
        if rule is None or not listed:
            return
        over = 0
        if rule.only_cited and self.track.verdicts.get("reference_uncited") == "refused":
            over = len(listed)
        elif rule.maximum is not None and self._forbids("too_many_references"):
            over = max(0, len(listed) - rule.maximum)
        cited = cited_positions(self.record, self.track) if over else set()
        spare = [i for i in range(len(listed) - 1, -1, -1) if i not in cited][:over]
        if spare:
            kept = set(range(len(listed))) - set(spare)
            self._keep(kept, list(range(len(listed))), "uncited reference")

    def topic_text(self) -> None:
        """Fill in the topic's text where there is none; text that differs stays as it is."""
        path = self.track.topic_text
        if not path or not self._forbids("topic_text_missing"):
            return
        if (
            not self.topic
            or not self.topic.title.strip()
            or not is_blank(value_at(self.record, path))
        ):
            return
        self._set(path, self.topic.title)

    def response_length(self) -> None:
        """Write the length as the track counts it."""
        path, rule = self.track.response_length, self.track.length
        if path and rule is not None:
            self._set(path, length(sentences_of(self.record, self.track), rule))

    def _set(self, path: str, value: Any) -> None:
        outer, _, key = path.rpartition(".")
        owner = self.record.get(outer) if outer else self.record
        before = owner.get(key) if isinstance(owner, dict) else None
        if isinstance(owner, dict) and (type(before), before) != (type(value), value):
            self.on_change(path, before, value)
            owner[key] = value


def _is_written_index(value: Any) -> bool:
    """Return whether a citation is an index as text; no list needs more than 18 digits."""
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19


def _key(value: Any, position: int) -> CitationKey:
    """Return what makes two citations the same; one of no known kind is like no other."""
    if is_index(value):
        return "index", value
    return ("id", value) if isinstance(value, str) else ("neither", position)


def _strength(score: Any) -> float:
    """Return a score for sorting; one that is no number is the weakest."""
    usable = isinstance(score, int | float) and not isinstance(score, bool)
    return score if usable else float("-inf")


def change_text(value: object) -> str:
    """Return a value as text for a list of changes; None gives an empty text."""
    return "" if value is None else shown(value, 200)

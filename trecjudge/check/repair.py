"""Repaired copies of run files, and a list of every change."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from trecjudge.check.outcome import (
    LayoutCheck,
    PackedList,
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
from trecjudge.check.rules import LOST, Track, track_named, track_of
from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import resolve_links, whole
from trecjudge.findings import Finding, brief, ignore
from trecjudge.inputs.documents.shelf import JudgedTexts
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.draft import metadata_of
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.formats.response import ResponseReader
from trecjudge.inputs.run_records import layout_of, not_a_run
from trecjudge.inputs.sources.containers import ENDINGS, Opened
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import Place, Response, Topic
from trecjudge.results.outputs import SAFE_NAME, replace_unsafe

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
    fresh = _copy(record, track)
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


def _copy(record: dict[str, Any], track: Track) -> dict[str, Any]:
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
        self._recite(
            " as integers", lambda c: int(c) if _is_index_text(c) and c not in known else c
        )

    def _recite(self, what: str, meant: Callable[[Any], Any], dicts: bool = False) -> None:
        """Replace each citation by what is meant; those of a dict only where it is so said."""
        for index, entry in enumerate(sentences_of(self.record, self.track)):
            cited = entry.get("citations") if isinstance(entry, dict) else None
            if not isinstance(cited, list) and not (dicts and isinstance(cited, dict)):
                continue
            before = list(cited)
            after = list(map(meant, before))
            if after != before:
                entry["citations"] = after
                self.on_change(f"citations of sentence {index + 1}{what}", before, after)

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
        new = [moved.get(t, t) for t in target]

        def reindex(cited: Any) -> Any:  # one out of range stays as it is
            return new[cited] if is_index(cited) and 0 <= cited < len(new) else cited

        self._recite(" re-indexed", reindex)

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
        self._recite(
            " as integers", lambda c: positions.get(c, c) if isinstance(c, str) else c, True
        )

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
        entries = sentences_of(self.record, self.track) if over else []
        cited = cited_positions(listed, (value for entry in entries for value in cited_by(entry)))
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


def _is_index_text(value: Any) -> bool:
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
    return "" if value is None else brief(value, 200)


OF_SENTENCE = re.compile(r" of sentence \d+")


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One difference of a repaired copy: what changed, the value before and after."""

    place: Place
    what: str
    before: str
    after: str

    @property
    def kind(self) -> str:
        """What changed, wherever it stands."""
        return OF_SENTENCE.sub("", self.what)

    def __str__(self) -> str:
        return f"{self.place}: {self.what}: {self.before or 'nothing'} -> {self.after or 'removed'}"


def fix(
    files: Sequence[Path],
    out_dir: Path,
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
) -> PackedList[RecordChange]:
    """Write a repaired copy of every run file below `out_dir` as JSONL; return what was changed.

    A copy has the file's name without the endings of containers. Second records of a topic and what
    is not JSON are left out. Raises InputError on an unknown track, OutputError if a file cannot be
    written or would take the place of one of `files`.
    """
    if track:
        track_named(track)
    changes = PackedList[RecordChange]()
    runs = [path for path in files if _is_run(path, changes)]
    _make(out_dir)
    for path, target in copies(runs, out_dir).items():
        copying = _Copying(path, topics or {}, track, dataset, changes, store)
        with whole(target) as file:
            copying.write(file)
    return changes


def _is_run(path: Path, changes: PackedList[RecordChange]) -> bool:
    finding = not_a_run(path)
    if finding is not None:
        why = finding.message.removesuffix("; passed over")
        changes.append(RecordChange(finding.place, "file left out", why, ""))
    return finding is None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {why(error)}; give another folder") from error


def copies(files: Iterable[Path], out_dir: Path) -> dict[Path, Path]:
    """Return the path of each file's copy; of files with one name the later ones get a number.

    Raises OutputError if a copy would take the place of one of the files.
    """
    files = list(files)
    originals = {resolve_links(path) for path in files}
    taken: set[str] = set()
    targets: dict[Path, Path] = {}
    for path in files:
        name = next(name for name in _names(path.name) if name.lower() not in taken)
        taken.add(name.lower())  # some file systems treat a and A as the same name
        targets[path] = out_dir / name
        # Resolved: a link or `..` may lead back to the originals.
        if resolve_links(targets[path]) in originals:
            message = f"{targets[path]} is one of the files to mend; give another folder"
            raise OutputError(message)
        # An earlier copy may have been edited by hand since.
        if targets[path].exists():
            raise OutputError(f"{targets[path]} is there already; give a new folder")
    return targets


def _names(name: str) -> Iterator[str]:
    """Yield names for the copy of a file called `name`: `a.jsonl`, `a-2.jsonl`, and so on."""
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    if not SAFE_NAME.fullmatch(name):
        name = "run" + replace_unsafe(name)
    stem, dot, ending = (
        name.rpartition(".") if name.endswith((".json", ".jsonl")) else (name, "", "")
    )
    yield name
    number = 2
    while True:
        yield f"{stem}-{number}{dot}{ending}"
        number += 1


@dataclass(slots=True)
class _Copying:
    """Copies one file, record by record."""

    path: Path
    topics: Mapping[str, Topic]
    track_name: str
    dataset: str
    changes: PackedList[RecordChange]
    store: DocumentStore | None = None
    track: Track | None = None
    answered: set[tuple[str, str, str]] = field(default_factory=set)
    layout: LayoutCheck = field(default_factory=LayoutCheck)

    def write(self, file: BinaryIO) -> None:
        """Write the records that remain."""
        try:
            opened = Opened(self.path)
            beginning = layout_of(opened)
            for number, record in objects(opened, self._lose):
                place = Place(str(self.path), number)
                if fault := self.layout.fault_at(number, beginning):
                    self._change(place, "layout", fault, "JSONL")
                mended = self._mend_record(place, record)
                if mended is not None:
                    file.write(mended + b"\n")
        except InputError as error:  # keep what could be read of a truncated archive
            self._change(Place(str(self.path)), "rest of the file left out", str(error))

    def _change(self, place: Place, what: str, before: str, after: str = "") -> None:
        self.changes.append(RecordChange(place, what, before, after))

    def _lose(self, finding: Finding) -> None:
        """Note a line that is left out because it is no record."""
        if finding.kind in LOST:
            self._change(finding.place, "line left out", f"{finding.kind} {finding.value}")

    def _mend_record(self, place: Place, record: dict[str, Any]) -> bytes | None:
        """Return the line of a record, None if it is left out."""
        claimed = format_of(record, self.dataset)
        if claimed is None:
            self._change(place, "line left out", f"record_unknown_shape {sorted(record)}")
            return None
        format_ = claimed[0]
        if self.track is None:
            named = track_named(self.track_name) if self.track_name else None
            self.track = named or track_of(format_.NAME, record, self.dataset)
        shelf = JudgedTexts(self.store)
        # Read as the job reads it, since only then is it known which response this is.
        response = ResponseReader(format_.draft(record), place, ignore, shelf).read()
        if response is not None and self._is_second(response):
            topic = f"second response on topic {response.topic_id!r}"
            self._change(place, "second response left out", topic)
            return None
        if format_.NAME in self.track.formats:
            topic_ = self.topics.get(response.topic_id) if response else None
            record = mend(
                record,
                self.track,
                topic_,
                lambda what, before, after: self._change(
                    place, what, change_text(before), change_text(after)
                ),
                response.documents if response else (),
            )
        try:
            # Not orjson: it refuses integers of more than 64 bits, which a record may hold.
            return json.dumps(record, ensure_ascii=False).encode()
        except (RecursionError, ValueError) as error:  # nested too deep; too many digits
            self._change(place, "line left out", f"cannot be written: {error}")
            return None

    def _is_second(self, response: Response) -> bool:
        key = (response.team_id, response.run_id, response.topic_id)
        second = key in self.answered
        self.answered.add(key)
        return second

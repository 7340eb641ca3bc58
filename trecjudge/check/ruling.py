"""The rules for a single record; each is a few lines that complain where it is broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal

from trecjudge.check.outcome import (
    METADATA,
    NUMBER,
    as_index,
    as_integer,
    cited_by,
    cited_positions,
    is_blank,
    is_flat,
    is_index,
    length,
    longest,
    references_of,
    sentences_of,
    value_at,
)
from trecjudge.check.rules import CitationRule, FieldRule, ReferenceRule, Track
from trecjudge.findings import brief
from trecjudge.inputs.formats.citations import References, Resolver, ignore_problem
from trecjudge.inputs.formats.draft import ABSENT, metadata_of
from trecjudge.inputs.formats.registry import format_named
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Topic
from trecjudge.text.reasoning import text_of

Kind = Literal["index", "id", "neither"]
Complain = Callable[..., None]
"""(rule, message, value, sentence=None, verdict=None, aspect=""): called for every broken rule.

The aspect is the part of a rule for which the organisers' checker has a verdict of its own.
"""
JSON_TYPES = {"text": str, "integer": int, "list": list, "object": dict}
SHAPES = {"list": list, "dict": dict}
AROUND = 20
"""Characters that a message shows on either side of a difference."""
OF_A_TOPIC = frozenset({"topic_id", "narrative_id"})


@dataclass(slots=True)
class Meanings:
    """Tells whether a citation of a record is an index or an id, by the resolver of judging.

    `documents` are the ids of those that the reader found.
    """

    record: Mapping[str, Any]
    format_name: str
    documents: Collection[str] = ()
    _resolver: Resolver | None = field(default=None, init=False)

    def kind(self, value: Any) -> Kind:
        """Return whether a citation is read as an index or as an id; `true` is neither."""
        if isinstance(value, str):
            return "index" if self._is_written_index(value) else "id"
        if not is_index(value):
            return "neither"
        # Most citations are plain indices; resolving each would be slow.
        resolver = self._read()
        if 0 <= value < len(resolver.references.ids) and not resolver.integers_are_ids:
            return "index"
        found = resolver.resolve([value], ignore_problem)
        return "id" if found and found[0].doc_id == str(value) else "index"

    def integers_are_ids(self) -> bool:
        """Return whether an integer is an id in this format."""
        return self._read().integers_are_ids

    def _is_written_index(self, value: str) -> bool:
        text = value.strip()
        if not (text.isascii() and text.isdigit()):
            return False
        kinds: list[str] = []
        self._read().resolve([value], lambda kind, *_: kinds.append(kind))
        return "citation_index_as_text" in kinds

    def _read(self) -> Resolver:
        # Built on demand: many records break no rule that asks for it.
        if self._resolver is None:
            draft = format_named(self.format_name).draft(self.record)
            references = References.read(draft.references, ignore_problem)
            found = self.documents
            self._resolver = Resolver(references, lambda d: d in found, draft.integers_are_ids)
        return self._resolver


@dataclass(frozen=True)
class RecordRules:
    """Complains about every broken rule of a record, without a look at other records.

    `topic` is the one that it answers, None where that is not known. `begun` holds what the first
    citation of the file is, and gets it where that is not known yet.
    """

    record: Mapping[str, Any]
    track: Track
    topic: Topic | None
    run_id: str
    topic_id: str | None
    complain: Complain
    meanings: Meanings
    begun: list[str]

    @cached_property
    def references(self) -> list[Any]:
        """The references as written."""
        return references_of(self.record)

    @cached_property
    def reference_ids(self) -> frozenset[str]:
        """The ids among the references."""
        return frozenset(filter(None, map(as_id, self.references)))

    @cached_property
    def entries(self) -> list[Any]:
        """The entries of the sentence list."""
        return sentences_of(self.record, self.track)

    @cached_property
    def citations(self) -> list[list[tuple[Any, Kind]]]:
        """What each entry cites, with its kind."""
        kind = self.meanings.kind
        lists = self.track.citations.lists
        return [[(v, kind(v)) for v in cited_by(entry, lists)] for entry in self.entries]

    @cached_property
    def coerced_indices(self) -> frozenset[int]:
        """The indices that the organisers' checker makes of citations that are none.

        It does so where one of the response is a number, and each can be read as an integer. There
        is none if it refuses one of them.
        """
        values = [value for cited in self.citations for value, _ in cited]
        mixed = not all(isinstance(v, str) for v in values) and not all(map(is_index, values))
        read = {as_integer(value) for value in values} if mixed else set()
        return frozenset(read) if read <= set(range(len(self.references))) else frozenset()

    @property
    def read_as(self) -> str:
        """The aspect of citations: whether the organisers' checker makes indices of them."""
        return "coerced" if self.coerced_indices else ""

    @property
    def is_submission(self) -> bool:
        """Whether a track asked for this form; other tools write what they like."""
        return self.track.dataset != "any"

    def check(self) -> None:
        """Complain about all that is wrong."""
        self._check_fields()
        self._check_ids()
        self._check_topic_text()
        self._check_length()
        self._check_references()
        aspect = "" if any(text_of(entry).strip() for entry in self.entries) else "everywhere"
        for index, entry in enumerate(self.entries):
            if isinstance(entry, str) and self.is_submission:
                message = f"is {brief(entry)}, not an object with its text and citations"
                self.complain("sentence_unusable", message, entry, index)
            elif not text_of(entry).strip():
                self.complain("sentence_empty", "has no text", entry, index, aspect=aspect)
            for key in self.track.citations.lists:
                self._check_citations(index, entry, key)
        self._check_one_way()

    def _check_fields(self) -> None:
        for path, rule in self.track.fields.items():
            value = value_at(self.record, path)
            if not (self._is_gone(path) and is_blank(value)):
                self._check_field(path, rule, value)
        for path, rule in self.track.reserved.items():
            if path not in self.track.fields and path != self.track.topic_text:
                self._check_reserved(path, rule, value_at(self.record, path))
        if self.track.closed_metadata:
            allowed = {path.removeprefix(METADATA) for path in self.track.fields}
            if extra := sorted(set(metadata_of(self.record)) - allowed):
                message = f"has more keys in metadata: {', '.join(extra)}"
                self.complain("field_extra", message, extra)
        written = self.record.get(self.track.sentences, ABSENT)
        # The reader reports a text that it makes sentences of.
        is_text = isinstance(written, str) and not is_blank(written)
        if self.is_submission and not (written is ABSENT or isinstance(written, list) or is_text):
            message = f"{self.track.sentences} is {brief(written)}, not a list of sentences"
            self.complain("response_not_a_list", message, written)

    def _is_gone(self, path: str) -> bool:
        """Return whether a field is missing with all its metadata, which is reported once."""
        return path.startswith(METADATA) and is_flat(self.record)

    def _check_field(self, path: str, rule: FieldRule, value: Any) -> None:
        # White space is no value of a field that has few; null is read as a field left out.
        if is_blank(value) and not (rule.values and value is not ABSENT and value is not None):
            # Another field of the topic's id will do for a checker that reads all tracks.
            there = not path.endswith("_id") or OF_A_TOPIC.intersection(metadata_of(self.record))
            aspect, missing = path if there else "", rule.missing
            self.complain("field_missing", f"has no {path}", value, verdict=missing, aspect=aspect)
        elif not _is_of(value, rule.types):
            kind = "number" if NUMBER.fullmatch(brief(value)) else "type"
            self._bad_value(path, value, " or ".join(rule.types), f"{path} {kind}")
        elif rule.values and value not in rule.values:
            self._bad_value(path, value, " or ".join(map(repr, rule.values)), path)

    def _bad_value(self, path: str, value: Any, wanted: str, aspect: str) -> None:
        message, aspect = f"{path} is {brief(value)}, not {wanted}", aspect * (not is_blank(value))
        self.complain("field_value", message, value, aspect=aspect)

    def _check_reserved(self, path: str, rule: FieldRule, value: Any) -> None:
        if value is ABSENT or value is None or value in rule.values:
            return
        if "integer" in rule.types and NUMBER.fullmatch(brief(value)):
            return
        if rule.values or not _is_of(value, rule.types):
            meant = " or ".join(map(repr, rule.values) if rule.values else rule.types)
            message = f"{path} is {brief(value)}; the organisers' checker takes only {meant} there"
            self.complain("field_reserved", message, value)

    def _check_ids(self) -> None:
        pattern, maximum = self.track.topic_id.pattern, self.track.run_id.maximum
        if self.topic_id is not None and pattern and not re.fullmatch(pattern, self.topic_id):
            message = f"answers topic {brief(self.topic_id)}, an id not of the form {pattern}"
            self.complain("topic_id_malformed", message, self.topic_id)
        for path in self.track.fields:
            value = value_at(self.record, path) if path.endswith("_id") else None
            if isinstance(value, str) and value != self.topic_id == value.strip():
                message = f"answers topic {brief(value)}: white space around the id"
                self.complain("topic_id_malformed", message, value, aspect="spaced")
        if maximum is not None and len(self.run_id) > maximum:
            message = f"run_id has {len(self.run_id)} characters, at most {maximum} are allowed"
            self.complain("run_id_too_long", message, self.run_id)

    def _check_topic_text(self) -> None:
        path = self.track.topic_text
        value = value_at(self.record, path) if path else None
        if not path or (is_blank(value) and self._is_gone(path)):
            return
        if is_blank(value):
            self.complain("topic_text_missing", f"has no {path}", value)
        elif not isinstance(value, str):
            self.complain("field_value", f"{path} is {brief(value)}, not text", value)
        elif self.topic is not None and self.topic.title and value != self.topic.title:
            message = (
                f"{path} is not the topic's text: {_first_difference(value, self.topic.title)}"
            )
            self.complain("topic_text_differs", message, value)

    def _check_length(self) -> None:
        rule = self.track.length
        if rule is None:
            return
        written = self.record.get(self.track.sentences)
        # An answer that is one text is of the wrong form, and may be too long all the same.
        entries = [written] if isinstance(written, str) else self.entries
        count, most = length(entries, rule), longest(rule, self.topic)
        if most is not None and count > most:
            message = f"has {count} {rule.unit}, at most {most} are allowed"
            aspect = "normalised" if length(entries, replace(rule, nfkc=False)) <= most else ""
            self.complain("too_long", message, count, aspect=aspect)
        given = value_at(self.record, self.track.response_length or "-")
        if is_index(given) and given != count:
            message = f"{self.track.response_length} is {given}, the answer has {count} {rule.unit}"
            self.complain("response_length_differs", message, given)

    def _check_references(self) -> None:
        rule, count = self.track.references, len(self.references)
        if rule is None:
            return
        value = self.record.get("references", ABSENT)
        if value is ABSENT or value is None:
            self.complain("references_missing", "has no references", value)
            return
        if not isinstance(value, SHAPES[rule.shape]):
            message = f"references is {brief(value)}, not a {rule.shape}"
            self.complain("references_unusable", message, value)
        if rule.maximum is not None and count > rule.maximum:
            message = f"has {count} references, at most {rule.maximum} are allowed"
            self.complain("too_many_references", message, count)
        # Looked up only where the track asks for it: it walks over all citations.
        asked = rule.only_cited and any(map(text_of, self.entries))
        meant = (_meaning(value, kind) for cited in self.citations for value, kind in cited)
        positions = cited_positions(self.references, meant) if asked else None
        seen: set[str] = set()
        for position, entry in enumerate(self.references):
            name, here = as_id(entry), f"reference {position} {brief(entry)}"
            self._check_reference(here, entry, rule)
            if name is not None and name in seen:
                self.complain("reference_duplicate", f"{here} was there before", entry)
            if positions is not None and position not in positions:
                aspect = "coerced" if position in self.coerced_indices else ""
                self.complain("reference_uncited", f"{here} is cited nowhere", entry, aspect=aspect)
            seen.add(name or "")

    def _check_reference(self, here: str, entry: Any, rule: ReferenceRule) -> None:
        if as_id(entry) is None:
            message, aspect = f"{here} is not an id", "blank" if isinstance(entry, str) else ""
            self.complain("reference_malformed", message, entry, verdict="refused", aspect=aspect)
        elif not isinstance(entry, str) and not rule.integers:
            self.complain("reference_malformed", f"{here} is not text", entry, verdict="refused")
        elif rule.only_cited and not rule.pattern and as_id(entry) != str(entry):
            self.complain("reference_malformed", f"{here} has white space around the id", entry)
        elif rule.pattern and not (isinstance(entry, str) and re.fullmatch(rule.pattern, entry)):
            message, aspect = f"{here} is not of the form {rule.pattern}", _aspect(rule, entry)
            self.complain("reference_malformed", message, entry, aspect=aspect)

    def _check_citations(self, index: int, entry: Any, key: str) -> None:
        rule = self.track.citations
        cited = self.citations[index]
        if len(rule.lists) > 1:
            cited = [(value, self.meanings.kind(value)) for value in cited_by(entry, (key,))]
        written = entry.get(key) if isinstance(entry, dict) else None
        if written is not None and not isinstance(written, tuple(SHAPES[s] for s in rule.shapes)):
            message = f"has {key} {brief(written)}, not a {' or '.join(rule.shapes)}"
            self.complain("citations_unusable", message, written, index)
        elif written is None and rule.required and isinstance(entry, dict):
            message = f"has no {key}: a sentence that cites nothing has an empty list"
            self.complain("citations_unusable", message, written, index, aspect="missing")
        if isinstance(written, dict) and None in written.values():
            self.complain("citation_score_unusable", "gives a score null", written, index)
        if rule.maximum is not None and len(cited) > rule.maximum:
            message = f"has {len(cited)} {key}, at most {rule.maximum} are allowed"
            self.complain("too_many_citations", message, len(cited), index)
        seen: set[str | int] = set()
        for value, kind in cited:
            self._check_citation(index, value, kind)
            if kind == "neither":
                continue  # it equals no other citation
            meant = _meaning(value, kind)
            if meant in seen:
                self.complain("citation_duplicate", f"cites {brief(value)} twice", value, index)
            elif key == rule.lists[0] and value in cited_by(entry, (rule.given,)):
                message = f"{key} has {brief(value)}, which is among {rule.given}"
                self.complain("citation_given", message, value, index)
            seen.add(meant)

    def _check_one_way(self) -> None:
        """Complain where a response or a file cites in two ways: a checker may read neither."""
        scope = self.track.citations.one_kind
        if not scope:
            return
        first = self.begun if scope == "file" else []
        each = [self._ways(*pair) for pair in zip(self.entries, self.citations, strict=True)]
        aspect = "across" if len(set().union(*each)) == 1 else self.read_as
        for index, ways in enumerate(each):
            if ways and not first:
                first.append(ways[0])
            other = next((way for way in ways if way != first[0]), "")
            if other:  # once a sentence is enough
                message = f"cites by {other}, the {scope} began by {first[0]}"
                self.complain("citations_mixed", message, other, index, aspect=aspect)

    def _ways(self, entry: Any, cited: Sequence[tuple[Any, Kind]]) -> list[str]:
        if len(self.track.citations.shapes) > 1:
            written = entry.get("citations") if isinstance(entry, dict) else None
            shapes = {dict: "scores", list: "lists"}
            return [name for shape, name in shapes.items() if isinstance(written, shape)]
        return [kind for _, kind in cited if kind != "neither"]

    def _check_citation(self, index: int, value: Any, kind: Kind) -> None:
        rule, count = self.track.citations, len(self.references)

        def complain(broken: str, message: str, aspect: str = "") -> None:
            self.complain(broken, f"cites {brief(value)}{message}", value, index, aspect=aspect)

        if kind not in rule.kinds:
            complain("citation_kind", f", not an {' or '.join(rule.kinds)}", self.read_as)
        elif kind == "id" and is_index(value) and not self.meanings.integers_are_ids():
            complain("citation_kind", ": an id written as an integer")
        elif kind == "index" and isinstance(value, str):
            complain("citation_index_as_text", ": an index written as text", self.read_as)
        if kind == "id" and rule.preferred == "index":
            complain("citation_by_id", ", an id; an index is right by every guideline")
        if kind in rule.kinds and kind == "index" and not 0 <= as_index(value) < count:
            complain("citation_out_of_range", f", references has {count}")
        elif kind == "id" and rule.in_references and value not in self.reference_ids:
            complain("citation_unreferenced", ", which is not among the references", self.read_as)
        if rule.pattern and kind in rule.kinds and not re.fullmatch(rule.pattern, _as_text(value)):
            complain(
                "citation_malformed", f", not of the form {rule.pattern}", _aspect(rule, value)
            )


def _meaning(value: Any, kind: Kind) -> Any:
    """Return a citation as the reader takes it: an index written as text as an index."""
    return as_index(value) if kind == "index" else value


def _first_difference(written: str, wanted: str) -> str:
    """Return where two texts, which are not the same, first differ, with what is around there."""
    pairs = enumerate(zip_longest(written, wanted))
    at = next(place for place, (one, other) in pairs if one != other)
    here, there = (brief(text[max(0, at - AROUND) : at + AROUND]) for text in (written, wanted))
    return f"at character {at + 1} it has {here}, the topic {there}"


def _is_of(value: Any, types: Sequence[str]) -> bool:
    """Return whether a value is of a JSON type; `true` is an int in Python, and none in JSON."""
    return not isinstance(value, bool) and isinstance(value, tuple(JSON_TYPES[t] for t in types))


def _aspect(rule: CitationRule | ReferenceRule, value: Any) -> str:
    """Return the aspect of an id that has more behind its pattern: some compare the beginning."""
    return "longer" if isinstance(value, str) and re.match(rule.pattern, value) else ""


def _as_text(value: str | int) -> str:
    """Return an id as text; Python refuses to write integers of thousands of digits."""
    return value if isinstance(value, str) else brief(value)

"""The rules of the tracks, loaded from `rules.yml` and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from trecjudge.errors import InputError, unknown
from trecjudge.findings import KINDS
from trecjudge.inputs.formats.draft import Draft, metadata_of
from trecjudge.inputs.formats.registry import all_formats, format_named
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place
from trecjudge.settings.strict_yaml import YamlFault, read_yaml

LOST = frozenset(
    {
        "bad_utf8",
        "file_not_a_run",
        "file_unreadable",
        "file_without_responses",
        "line_not_json",
        "record_not_an_object",
        "record_too_large",
        "record_unknown_shape",
    }
)
"""Findings on lines and files that gave no record."""
OF_A_RECORD = frozenset(
    {
        "answer_differs",
        "citation_score_unusable",
        "citations_misnamed",
        "document_differs",
        "document_empty",
        "document_missing",
        "document_varies",
        "documents_beside",
        "documents_withheld",
        "markers_read",
        "citation_not_read",
        "own_document_empty",
        "response_empty",
        "response_not_a_list",
        "sentence_unusable",
        "topic_id_conflict",
        "topic_id_missing",
    }
)
"""Findings of the reader that rules are about; all other violations the checker finds itself."""


RuleVerdict = Literal["refused", "warned"]
"""What breaking a rule does to a run: an error of the track's validator, or a warning."""
OrganisersVerdict = Literal["refused", "warned", "accepted"]
"""What the organisers' checker does to a run where a rule is broken."""
ORGANISERS = "autojudge-base 1.0.0"
"""The organisers' checker that `organisers` of the tracks is about."""
UNSEEN = re.compile(r"(own_)?documents?_|markers_read|citation_not_read")
"""Rules that it has nothing of."""
CitationKind = Literal["index", "id"]
SentenceList = Literal["answer", "responses", "sentences", "factchecking_article"]
RULES = Path(__file__).with_name("rules.yml")
STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A field of the record: its JSON types, the values allowed, and whether it may be missing."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    types: tuple[Literal["text", "integer", "list", "object"], ...]
    values: tuple[str | int, ...] = ()
    constant: bool = False
    """Whether it is the same on every line of a file."""
    missing: RuleVerdict = "refused"


@dataclass(frozen=True, slots=True)
class IdRule:
    """The form of an id: a pattern for all of it, the most characters."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    pattern: str = ""
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class LengthRule:
    """How long a response may be: `maximum` in `unit`, or the topic's own `limit`.

    Sentences are counted one by one and summed, or `joined` by spaces and counted whole.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    unit: Literal["words", "characters"]
    maximum: int | Literal["limit"]
    nfkc: bool
    joined: bool = False


@dataclass(frozen=True, slots=True)
class CitationRule:
    """What a sentence may cite: kinds of values, their container, their form and number."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kinds: tuple[CitationKind, ...]
    shapes: tuple[Literal["list", "dict"], ...] = ("list",)
    one_kind: Literal["", "response", "file"] = ""
    """Whether all citations of a response or a file are of one kind, and of one shape."""
    preferred: Literal["", "index"] = ""
    """The kind that every version of the guideline takes, where versions differ."""
    required: bool = False
    """Whether a sentence that cites nothing has an empty list."""
    maximum: int | None = None
    pattern: str = ""
    in_references: bool = False
    """Whether an id that is cited must be among the references."""
    lists: tuple[str, ...] = ("citations",)
    """The keys of what a sentence cites; each list keeps the rules."""
    given: str = ""
    """The key of what the task gives as cited: the first of the lists may have none of it."""


@dataclass(frozen=True, slots=True)
class ReferenceRule:
    """What `references` may hold: text, and integers if so said."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    shape: Literal["list", "dict"] = "list"
    maximum: int | None = None
    pattern: str = ""
    only_cited: bool = False
    integers: bool = False


@dataclass(frozen=True, slots=True)
class TrackMarks:
    """How a track is recognised: patterns of the topic id or the first reference, metadata keys."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    topic_id: str = ""
    reference: str = ""
    metadata: tuple[str, ...] = ()
    sure: bool = False
    """Whether a record with a mark is of this track, also in the format of another one."""

    def fit(self, record: Mapping[str, Any], draft: Draft) -> bool:
        """Return whether any of the marks is on this record."""
        topics = [as_id(value) or "" for _, value in draft.topic_ids[:1]]
        listed = draft.references if isinstance(draft.references, list) else []
        references = [as_id(entry) or "" for entry in listed[:1]]
        return (
            any(re.fullmatch(self.topic_id, value) for value in topics if self.topic_id)
            or any(re.fullmatch(self.reference, value) for value in references if self.reference)
            or any(key in metadata_of(record) for key in self.metadata)
        )


@dataclass(frozen=True, slots=True)
class Track:
    """The rules of one track. Fields are named by dotted paths: `metadata.run_id`."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    dataset: Literal["rag", "ragtime", "dragun", "any"]
    formats: tuple[str, ...]
    sentences: SentenceList
    citations: CitationRule
    verdicts: dict[str, RuleVerdict | None]
    marked_by: TrackMarks | None = None
    topic_id: IdRule = IdRule()
    run_id: IdRule = IdRule()
    fields: dict[str, FieldRule] = field(default_factory=dict)
    closed_metadata: bool = False
    """Whether metadata may hold no other keys than those of `fields`."""
    reserved: dict[str, FieldRule] = field(default_factory=dict)
    """Fields that the organisers' checker reads of every record, and how."""
    organisers: dict[str, OrganisersVerdict] | None = None
    """What the organisers' checker does where it differs, by `rule` or `rule aspect`.

    None where it does not know the track.
    """
    topic_text: str = ""
    """The field that repeats the topic's text."""
    length: LengthRule | None = None
    response_length: str = ""
    """The field that gives the length."""
    references: ReferenceRule | None = None
    name: str = ""

    def of_organisers(self, rule: str, aspect: str, ours: RuleVerdict) -> OrganisersVerdict | None:
        """Return what the organisers' checker does where a rule is broken, None if not known."""
        if self.organisers is None:
            return None
        # It looks no document up, and reads no marks.
        default = "accepted" if UNSEEN.match(rule) else ours
        return self.organisers.get(f"{rule} {aspect}") or self.organisers.get(rule, default)


def load_rules(path: Path = RULES) -> dict[str, Track]:
    """Return the tracks by name. Raises InputError on an unknown key, kind of finding or format."""
    loaded = _load(path)
    reader = TypeAdapter(Track)  # making one takes far longer than reading with it
    shared = loaded["every_track"]
    try:
        tracks = {
            name: reader.validate_python(
                {**entry, "name": name, "verdicts": {**shared, **entry.get("verdicts", {})}}
            )
            for name, entry in loaded["tracks"].items()
        }
    except ValidationError as error:
        # The first error is enough: the file is ours, and the others often follow from it.
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {where}: {first['msg']}") from None
    known = {format_.NAME for format_ in all_formats()}
    for track in tracks.values():
        _check(path, "kind of finding", track.verdicts, KINDS)
        rules = [key.partition(" ")[0] for key in track.organisers or ()]
        _check(path, "kind of finding", rules, KINDS)
        _check(path, "format", track.formats, known)
    return tracks


@cache
def _load(path: Path) -> dict[str, Any]:
    """Return what the file holds."""
    try:
        loaded: dict[str, Any] = read_yaml(path.read_text(encoding="utf-8")).value
    except YamlFault as error:
        raise InputError(f"{Place(str(path), error.line)}: {error}") from error
    return loaded


def _check(path: Path, what: str, names: Any, known: Any) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{path}: {unknown(what, name, known)}")


@cache
def all_tracks() -> Mapping[str, Track]:
    """Return the tracks of this package by name."""
    return load_rules()


def every_track() -> Mapping[str, RuleVerdict]:
    """Return the verdicts that hold where no track is known."""
    verdicts: Mapping[str, RuleVerdict] = _load(RULES)["every_track"]
    return verdicts


def track_named(name: str) -> Track:
    """Return a track. Raises InputError with the choices."""
    if name not in all_tracks():
        raise InputError(unknown("track", name, all_tracks()))
    return all_tracks()[name]


def track_of(format_name: str, record: Mapping[str, Any], dataset: str = "auto") -> Track:
    """Return the track that a record of this format was written for.

    Of the tracks with the format, one whose marks the record bears comes before one that has no
    marks, and among these one of `dataset` comes first. A sure mark comes before the format.
    """
    tracks = all_tracks().values()
    fitting = [track for track in tracks if format_name in track.formats]
    if not fitting:  # a format that no track uses: what holds for every track holds for it
        return replace(all_tracks()["autojudge"], name=format_name, formats=(format_name,))
    # Stable: within a dataset the order of the file decides.
    fitting.sort(key=lambda track: track.dataset not in (dataset, "any"))
    draft = format_named(format_name).draft(record)
    sure = [track for track in tracks if track.marked_by and track.marked_by.sure]
    candidates = [*sure, *fitting]
    marked = (t for t in candidates if t.marked_by and t.marked_by.fit(record, draft))
    plain = (track for track in fitting if track.marked_by is None)
    return next(marked, None) or next(plain, fitting[0])

"""The judgments file: every judgment with its evidence, and all else that scoring needs.

One JSON object a line, its kind in `record`: a `header`, then each `response` followed by its
`judgment`s, then `end` with the counts, which shows that the file was not cut, and with the SHA-256
of all lines before it, which shows whether it was edited.
"""

from __future__ import annotations

import hashlib
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from trecjudge.errors import InputError
from trecjudge.findings import Finding, brief, tell
from trecjudge.inputs.sources.containers import Opened, seekable
from trecjudge.records import (
    LEFT_OUT,
    AskedNugget,
    Citation,
    Claim,
    Evidence,
    Fact,
    Failure,
    Judgment,
    Opponent,
    Place,
    ProvenanceLine,
    Response,
    Sentence,
    Sign,
    Source,
    Vote,
)
from trecjudge.results.packed import DigestingFile
from trecjudge.settings.fields import adapter_of
from trecjudge.settings.limits import limits

REFERENCES = "references"
"""Stands for the references where these are what was retrieved."""
NAMES = "run_id", "topic_id", "team_id"
_OPTIONAL: dict[str, tuple[Any, Any]] = {
    "signs": ({}, dict[str, Sign]),
    "provenance": ((), tuple[ProvenanceLine, ...]),
    "background": ("", str),
    "sample": ("", str),
    "retrieved": (None, tuple[str, ...] | None),
    "abstained": (None, bool | None),
    "said": ({}, dict[str, Any]),
}
"""Fields that are written only where they are known: what stands for unknown, and their types."""


def response_record(response: Response) -> dict[str, Any]:
    """Return a response as stored. What few responses have is written only where it is known."""
    given = response.references
    record = {
        "record": "response",
        "run_id": response.run_id,
        "topic_id": response.topic_id,
        "team_id": response.team_id,
        "sentences": [_sentence_record(sentence) for sentence in response.sentences],
        "references": given,
        "documents_given": response.documents_given,
    }
    for name, (unknown, _) in _OPTIONAL.items():
        value = getattr(response, name)
        if value != unknown:
            # Most are the references, which may be a hundred ids.
            record[name] = REFERENCES if name == "retrieved" and value == given else value
    return record


def _sentence_record(sentence: Sentence) -> dict[str, Any]:
    cited = _citation_records(sentence.citations)
    record = {"index": sentence.index, "text": sentence.text, "citations": cited}
    if sentence.contradicting:
        record["contradicting"] = _citation_records(sentence.contradicting)
    return record | ({"written": sentence.written} if sentence.written else {})


def _citation_records(citations: Iterable[Citation]) -> list[dict[str, Any]]:
    return [
        {"doc_id": c.doc_id, "value": c.value, "score": c.score}
        | ({"unread": c.unread} if c.unread else {})
        for c in citations
    ]


def response_of(record: dict[str, Any]) -> Response:
    """Return the response of a record. Raises KeyError, TypeError or ValueError if it is none."""
    for name in NAMES:
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is {brief(record[name])}")
    if record.get("retrieved") == REFERENCES:
        record = record | {"retrieved": record["references"]}
    if "copies" in record:  # of the signs older files have this one
        record = record | {"signs": {"copied": record["copies"]}}
    # Each once: many responses have the name of a run or topic, and who scores them keeps it.
    run_id, topic_id, team_id = (sys.intern(record[name]) for name in NAMES)
    sentences = tuple(
        Sentence(
            s["index"],
            s["text"],
            tuple(Citation(**c) for c in s["citations"]),
            s.get("written", ""),
            tuple(Citation(**c) for c in s.get("contradicting", ())),
        )
        for s in record["sentences"]
    )
    return Response(
        run_id=run_id,
        topic_id=topic_id,
        team_id=team_id,
        sentences=sentences,
        references=tuple(record["references"]),
        documents_given=record["documents_given"],
        **{name: _read_optional(record, name) for name in _OPTIONAL if name in record},
    )


def _read_optional(record: dict[str, Any], name: str) -> Any:
    try:
        return adapter_of(_OPTIONAL[name][1]).validate_python(record[name])
    except ValidationError as error:
        raise ValueError(f"{name} is wrong: {error.errors()[0]['msg']}") from error


QrelsForm = Literal["grades", "binary"]
"""How grades are written in qrels: as they are, or as 1.0 from grade 2 on and 0.0 below."""
FORMAT = 2
MOST_LINES = 1 << 40
MOST_JUDGES = 1000
OPTIONAL_FIELDS = (
    *("claim", "match", "sources", "facts", "expected", "p_full", "uncalibrated", "nugget"),
    *("votes", "confidence", "question", "missing", "opponent", "contradicts"),
)
"""Fields that are written only if set: most judges set none of them."""


@dataclass(frozen=True, slots=True)
class Header:
    """What scoring must know beyond the judgments.

    `judges` are the settings of each judge by name.
    `topics` are the ids that every run is expected to answer; None stands for those that any run
    answers. `gate` is the workflow's. `measures` are references to the user's own measures
    (`package.module:name`). `by_expected`: where words alone decided, expected weights rank. Files
    of releases before that rule do not have it, and keep their order.
    """

    judges: Mapping[str, Mapping[str, Any]]
    leaderboard: Mapping[str, Any] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    topics: tuple[str, ...] | None = None
    qrels_pool: bool = False
    qrels_as: QrelsForm = "grades"
    gate: Mapping[str, Any] = field(default_factory=dict)
    by_expected: bool = False


def judgment_record(judge: str, judgment: Judgment) -> dict[str, Any]:
    """Return a judgment as stored: without what varies between two runs of the same input.

    Fields that only some judges set are written only if set.
    """
    given = {name: getattr(judgment, name) for name in OPTIONAL_FIELDS}
    given["contradicts"] = judgment.contradicts or None
    return {
        "record": "judgment",
        "run_id": judgment.run_id,
        "topic_id": judgment.topic_id,
        "sentence_index": judgment.sentence_index,
        "doc_id": judgment.doc_id,
        "citation": judgment.citation,
        "exists": judgment.exists,
        "label": judgment.label,
        "grade": judgment.grade,
        "value": judgment.value,
        "reason": judgment.reason,
        "evidence": judgment.evidence,
        "attester": judgment.attester,
        "judge": judge,
        "failure": failure_record(judgment.failure),
    } | {name: found for name, found in given.items() if found not in (None, "", ())}


def failure_record(failure: Failure | None) -> dict[str, Any] | None:
    """Return why an item is unjudged as a judgments file has it; None where it is judged."""
    if failure is None:
        return None
    return {"kind": failure.kind, "message": failure.message, "tries": failure.tries}


@dataclass(slots=True)
class JudgmentsWriter:
    """Writes the records of one job to an open file as they arrive."""

    file: BinaryIO
    responses: int = 0
    judgments: int = 0
    _file: DigestingFile = field(init=False)

    def __post_init__(self) -> None:
        self._file = DigestingFile(self.file)

    def header(self, header: Header) -> None:
        """Write the first line."""
        fields = {name: getattr(header, name) for name in Header.__slots__}
        self._line({"record": "header", "format": FORMAT} | fields)

    def response(self, response: Response, judgments: Sequence[tuple[str, Judgment]]) -> None:
        """Write a response and its judgments, each with the name of its judge."""
        self._line(response_record(response))
        for judge, judgment in judgments:
            self._line(judgment_record(judge, judgment))
        self.responses += 1
        self.judgments += len(judgments)

    def lines(self, lines: Iterable[bytes]) -> None:
        """Write lines of another judgments file, given without their ends."""
        for line in lines:
            self._file.write(b"%b\n" % line)

    def end(self) -> str:
        """Write the last line; return the digest of those before it, which is in it."""
        sha256 = self._file.sha256
        self.file.write(end_line(self.responses, self.judgments, sha256) + b"\n")
        return sha256

    def _line(self, record: dict[str, Any]) -> None:
        self._file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def end_line(responses: int, judgments: int, sha256: str) -> bytes:
    """Return the last line of a file with so many records and such a digest, without its end."""
    record = {"record": "end", "responses": responses, "judgments": judgments}
    return orjson.dumps(record | ({"sha256": sha256} if sha256 else {}))  # old files have none


@dataclass(slots=True, weakref_slot=True)
class JudgmentsReader:
    """Reads a judgments file: the header at once, then the responses; `again` repeats one of them.

    Raises InputError with file and line where it is no judgments file, is cut, or was changed so
    that its counts no longer agree.
    """

    path: Path
    header: Header = field(init=False)
    _records: _Records = field(init=False)
    _left: Iterator[tuple[int, dict[str, Any]]] = field(init=False)
    _places: dict[str, dict[str, int]] = field(default_factory=dict)
    """run_id -> topic_id -> where a response begins, and its line, in one number."""
    _seekable: BinaryIO | None = None

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise InputError(f"{self.path}: no such judgments file")
        self._records = _Records(self.path)
        self._left = iter(self._records)
        number, first = next(self._left, (1, {}))
        if first.get("record") != "header" or first.get("format") != FORMAT:
            raise self._error(number, f"is not a judgments file of format {FORMAT}")
        # Older files lack newer fields: their defaults hold.
        given = {name: first[name] for name in Header.__slots__ if first.get(name) is not None}
        try:
            self.header = adapter_of(Header).validate_python(given)
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            raise self._error(number, f"{place}: {wrong['msg']}") from None
        if max(len(self.header.judges), len(self.header.measures)) > MOST_JUDGES:
            raise self._error(number, f"has more than {MOST_JUDGES:,} judges, or measures")

    @property
    def edited(self) -> bool:
        """Whether the file was found to be edited since it was written; known at its end."""
        return self._records.edited

    @property
    def sha256(self) -> str:
        """The digest of the file as it is, in hexadecimal digits; known at its end."""
        return self._records.sha256

    def __iter__(self) -> Iterator[tuple[Response, list[Judgment]]]:
        response: Response | None = None
        judgments: list[Judgment] = []
        counts = {"responses": 0, "judgments": 0}
        for number, record in self._left:
            kind = record.get("record")
            try:
                if kind == "judgment":
                    if response is None:
                        raise self._error(number, "is a judgment before any response")
                    judgments.append(_judgment(record, response))
                    counts["judgments"] += 1
                    continue
                if response is not None:
                    yield response, judgments
                response, judgments = None, []
                if kind == "response":
                    response = response_of(record)
                    self._keep_place(response, number)
                    counts["responses"] += 1
            except (KeyError, TypeError) as error:
                raise self._error(number, f"is a {kind} record without {error}") from error
            except ValueError as error:
                raise self._error(number, f"is a {kind} record where {error}") from error
            if kind == "end":
                self._check(number, record, counts)
                # Of two files put together, only the first would otherwise be scored.
                return self.check_rest()
            if kind != "response":
                raise self._error(number, f"is a record of unknown kind {brief(kind)}")
        raise InputError(f"{self.path}: is cut: its last record is missing; judge the runs again")

    def _keep_place(self, response: Response, number: int) -> None:
        """Note where a response is. Raises InputError for a second one of its run and topic."""
        run_id, topic_id = response.run_id, response.topic_id
        own = self._places.setdefault(run_id, {})
        if topic_id in own:
            raise self._error(number, f"is a second response of {(run_id, topic_id)}")
        own[topic_id] = self._records.begins * MOST_LINES + number

    def again(
        self, run_id: str, topic_id: str, places: Sequence[int]
    ) -> tuple[Response, list[Judgment]]:
        """Return a response that was read before, with its judgments at `places`, from 0.

        Raises InputError where the file was changed meanwhile.
        """
        begins, number = divmod(self._places[run_id][topic_id], MOST_LINES)
        try:
            if self._seekable is None:
                self._seekable = seekable(self.path)
                weakref.finalize(self, self._seekable.close)
            self._seekable.seek(begins)
            texts = filter(bytes.strip, self._seekable)  # blank lines are none
            response = response_of(orjson.loads(next(texts)))
            if (response.run_id, response.topic_id) != (run_id, topic_id):
                raise LookupError(response.run_id)
            wanted = set(places)
            rows = enumerate(islice(texts, max(places, default=-1) + 1))
            own = {p: _judgment(orjson.loads(text), response) for p, text in rows if p in wanted}
            return response, [own[place] for place in places]
        except (OSError, LookupError, TypeError, ValueError, StopIteration) as error:
            raise self._error(number, "was changed while it was read") from error

    def check_rest(self) -> None:
        """Read on to the end of the file, past all judgments.

        Raises InputError where anything follows the end, such as another judgments file.
        """
        for _ in self._left:
            pass

    def _check(self, number: int, end: dict[str, Any], counts: dict[str, int]) -> None:
        # Lines that are lost or doubled would otherwise go unnoticed into a mean.
        for what, count in counts.items():
            if end.get(what) != count:
                raise self._error(number, f"counts {end.get(what)} {what}, the file has {count}")

    def _error(self, number: int, message: str) -> InputError:
        return _wrong(self.path, number, message)


def _wrong(path: Path, number: int, message: str) -> InputError:
    return InputError(f"{Place(str(path), number)}: {message}")


@dataclass(slots=True)
class _Records:
    """The records of a judgments file by their lines, from its beginning.

    It knows nothing of its reader: what is read in part is closed as soon as that is let go.
    """

    path: Path
    begins: int = 0
    """Where the record read last begins, in bytes of the unpacked file."""
    edited: bool = False
    sha256: str = ""

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        kind, file, ends, most = None, Opened(self.path), 0, limits()
        found = hashlib.sha256()
        for number, line in file.lines():
            self.begins, ends = ends, file.read_bytes
            if excess := most.excess_of_text(line):
                raise _wrong(self.path, number, excess)
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:  # nested too deep too
                raise _wrong(self.path, number, f"is not JSON: {error}") from error
            if not isinstance(record, dict):
                raise _wrong(self.path, number, "is not an object")
            before, kind = kind, record.get("record")
            if before is not None and kind == "header":
                message = "begins a second judgments file: give each as a file of its own"
                raise _wrong(self.path, number, message)
            if before == "end":
                raise _wrong(self.path, number, f"a {brief(kind)} record follows the end")
            if kind != "end":
                found.update(b"%b\n" % line)
            else:
                self.sha256 = found.hexdigest()
                if record.get("sha256", self.sha256) != self.sha256:  # old files: none
                    edited = "the file was edited since it was judged: its SHA-256 is another"
                    tell(Finding("judgments_edited", Place(str(self.path), number), edited))
                    self.edited = True
            yield number, record


_CHANCE: TypeAdapter[Any] = TypeAdapter(Annotated[float, Field(ge=0, le=1)])
_OPTIONAL_TYPES: Mapping[str, TypeAdapter[Any]] = {
    "claim": TypeAdapter(Claim),
    "match": TypeAdapter(str),
    "sources": TypeAdapter(tuple[Source, ...]),
    "facts": TypeAdapter(tuple[Fact, ...]),
    "expected": _CHANCE,
    "p_full": _CHANCE,
    "confidence": _CHANCE,
    "uncalibrated": TypeAdapter(str),
    "nugget": TypeAdapter(AskedNugget),
    "votes": TypeAdapter(tuple[Vote, ...]),
    "question": TypeAdapter(str),
    "missing": TypeAdapter(tuple[str, ...]),
    "opponent": TypeAdapter(Opponent),
    "contradicts": TypeAdapter(bool),
}
NUMBER, WHOLE, TEXT, TRUTH = (int, float, type(None)), (int, type(None)), (str, type(None)), bool
TYPES: Mapping[str, tuple[type, ...]] = {
    "sentence_index": WHOLE,
    "doc_id": TEXT,
    "citation": TEXT,
    "exists": (TRUTH, type(None)),
    "label": TEXT,
    "grade": WHOLE,
    "value": NUMBER,
    "reason": (str,),
    "attester": (str,),
}
_TYPED = itemgetter(*TYPES)


def _judgment(record: dict[str, Any], response: Response) -> Judgment:
    """Return a judgment on the response. Raises KeyError, TypeError or ValueError if it is none."""
    if not _are_right(tuple(map(type, _TYPED(record)))):
        for name, types in TYPES.items():
            if type(record[name]) not in types:
                raise ValueError(f"{name} is {brief(record[name])}")
    for name, own in (("run_id", response.run_id), ("topic_id", response.topic_id)):
        if record[name] != own:
            raise ValueError(f"{name} is {brief(record[name])}, not the response's")
    if record["failure"] is not None and not isinstance(record["failure"]["kind"], str):
        raise ValueError(f"failure is {brief(record['failure'])}")
    fields = record | _optional_fields(record)
    evidence, failure = fields.pop("evidence"), fields.pop("failure")
    del fields["record"]
    return Judgment(
        evidence=Evidence(**evidence) if evidence else None,
        failure=Failure(**failure) if failure else None,
        **fields,
    )


@cache  # millions of records have the same few types
def _are_right(kinds: tuple[type, ...]) -> bool:
    # By exact type: in Python True is an int, and would pass for a grade of 1.
    return all(kind in types for kind, types in zip(kinds, TYPES.values(), strict=True))


def _optional_fields(record: dict[str, Any]) -> dict[str, Any]:
    given = {name: record[name] for name in OPTIONAL_FIELDS if name in record}
    try:
        return {name: _OPTIONAL_TYPES[name].validate_python(value) for name, value in given.items()}
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, wrong['loc']))} is wrong: {wrong['msg']}") from error


# Judgments without the text of documents, for files that must not hold any.
def without_text(judgment: Judgment) -> Judgment:
    """Return a judgment without the text of documents; the positions of passages are kept.

    Reasons of a model and messages on unreadable replies may quote a document: they are left out.
    """
    evidence, failure = judgment.evidence, judgment.failure
    if failure is not None and failure.kind == "parse" and failure.tries:
        failure = replace(failure, message=LEFT_OUT)
    return replace(
        judgment,
        reason=LEFT_OUT if judgment.attester == "llm" and judgment.reason else judgment.reason,
        evidence=replace(evidence, quote="") if evidence else None,
        failure=failure,
        sources=tuple(replace(source, excerpt="", title="") for source in judgment.sources),
        facts=tuple(replace(fact, text="") for fact in judgment.facts),
        votes=tuple(replace(v, failure=v.failure.partition(":")[0]) for v in judgment.votes),
    )


def without_quotes(response: Response) -> Response:
    """Return a response whose provenance has no text of documents; its positions are kept."""
    if not response.provenance:
        return response
    lines = (replace(line, quote="") for line in response.provenance)
    return replace(response, provenance=tuple(lines))

"""Traces: the spans of one joined to a record, whatever tool wrote them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from itertools import chain
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import ABSENT
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.pipelines.parts import (
    CONTEXTS,
    TOPICS,
    layers,
    lift_parts,
    parse_json_text,
    parts_of,
    unflatten,
)
from trecjudge.inputs.pipelines.services import PlainFields, values_of

RECORD_ATTRIBUTES = "record_attributes"
"""Where TruLens has the attributes of an event."""
MARKS = frozenset(
    (
        *("span_id", "spanId", "parent_id", "parent_span_id", "parentSpanId", "parent_run_id"),
        *("parentObservationId", "parent_observation_id", "context.span_id", "run_type"),
        RECORD_ATTRIBUTES,
    )
)
"""Keys that only a span has, or a trace that is written as one."""
OF_RECORDS = frozenset(("question", "query", "answer", "response", "contexts"))
"""Keys that no span has: a record with one may name the span that it is of."""
SPAN_INPUTS = OF_RECORDS | {"input", "output"}
"""Keys of a trace that says itself what it was asked and what it said."""
OBSERVATIONS = "observations"
SPAN_LISTS = (
    *("spans", OBSERVATIONS, "childruns", "resourcespans", "scopespans", "batches", "events"),
    "traces",
)
"""Where a trace, or a span, has its spans; MLflow has them in `data`."""
DATA = ("data",)
IDS = ("spanid", "contextspanid", "id")
TRACES = ("traceid", "contexttraceid")
PARENTS = ("parentid", "parentspanid", "parentrunid", "parentobservationid")
STARTS = ("starttime", "starttimeunixnano", "starttimens", "startedat", "starttimestamp")
OF_QUESTIONS = (*TOPICS, "referenceexampleid")
"""Ids of a question in what a trace says of itself; the last is LangSmith's."""
KINDS = (
    *("openinference.span.kind", "mlflow.spanType", "ai.observability.span_type"),
    *("span_kind", "span_type", "run_type", "type", "traceloop.span.kind", "gen_ai.operation.name"),
)
NAMES = ("name", "traceloop.entity.name")
SEARCH = re.compile(
    r"(?:\w{0,40}retriever|retriev(?:e|al)(?:_?(?:docs|documents|contexts?|chunks))?)(?:\.t\w{3})?"
)
"""Names of spans that are a search, where their kind does not say so."""
ASKED = (
    *("inputs", "input.value", "mlflow.spanInputs", "ai.observability.record_root.input"),
    *("traceloop.entity.input", "llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt"),
    *("input", "request", "question", "query"),
)
SAID = (
    *("outputs", "output.value", "mlflow.spanOutputs", "ai.observability.record_root.output"),
    *("traceloop.entity.output", "llm.output_messages", "gen_ai.output.messages"),
    *("gen_ai.completion", "gen_ai.tool.call.result", "output", "response", "answer"),
)
"""Paths to what a span was given and gave: LangSmith, Phoenix, MLflow, TruLens, OpenTelemetry."""
FETCHED = (
    *("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents"),
    "ai.observability.retrieval.retrieved_contexts",
)
"""Paths to what a span retrieved, the best first."""
FAILED = ("error", "status_code_error", "2")
UNUSED = {
    "models": re.compile(r"model", re.IGNORECASE),
    "tokens": re.compile(r"token|usage", re.IGNORECASE),
    "costs": re.compile(r"cost", re.IGNORECASE),
    "times": re.compile(r"start_?time|started|latency|duration", re.IGNORECASE),
    "scores": re.compile(r"feedback|assessment|^scores?$|(?<![a-z])eval", re.IGNORECASE),
}
"""What a trace may say besides, by the names of keys; it is not used."""
OPEN_CHARACTERS = 16 << 20
"""Characters of spans that wait to be packed."""
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Step:
    """What is kept of a span: `said` is what it gave, in a list that is empty if nobody knows.

    `fetched` is what it retrieved, None where it is no search; `rank` is 0 for what was ranked
    again, 1 for other searches, 2 for tools. `about` is what the span says of its trace.
    """

    line: int
    span_id: str
    parent: str
    start: str
    asked: Any
    said: list[Any]
    fetched: list[Any] | None
    rank: int
    failed: bool
    about: Record


@dataclass(slots=True)
class Traces:
    """Spans by trace, packed: the spans of one may lie anywhere in a file.

    `unused` are kinds of what they say that no record has.
    """

    unused: set[str] = field(default_factory=set)
    _held: PackedRows = field(default_factory=PackedRows)
    _waiting: int = 0
    _unsearched: set[Group] = field(default_factory=set)
    _searched: set[Group] = field(default_factory=set)

    def add(self, line: int, record: Record, trace: str = "") -> None:
        """Add a span, or a trace with all spans that it holds."""
        inner = _spans(record)
        whole = inner or OBSERVATIONS in record
        trace = trace or _text(record, TRACES) or (_text(record, IDS) if whole else "")
        if not MARKS.isdisjoint(record) or not SPAN_INPUTS.isdisjoint(record):
            trace = trace or next((_text(span, TRACES) for span in inner), "")
            self._hold((trace,), _step(line, self._attributes(record), record))
        for span in inner:
            self.add(line, span, trace)

    def _attributes(self, record: Record) -> Record:
        fields = _attributes(record)
        for name in UNUSED.keys() - self.unused:
            if any(map(UNUSED[name].search, (*record, *fields))):
                self.unused.add(name)
        return unflatten(fields)

    def _hold(self, group: Group, step: _Step) -> None:
        text = json.dumps(astuple(step), default=str)  # Parquet has values that JSON has not
        self._held.add(group, text)
        (self._unsearched if step.fetched is None else self._searched).add(group)
        self._waiting += len(text)
        if self._waiting > OPEN_CHARACTERS:
            self._held.pack()
            self._waiting = 0

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (line, record) of each trace; it has no answer where no span gave one.

        Evaluations of MLflow trace answers again, without their searches: such a trace has the
        contexts of one in the same words.
        """
        again = bool(self._unsearched - self._searched)
        known = {_words(self._joined(g)[1]): g for g in self._searched} if again else {}
        for group in self._held:
            line, record = self._joined(group)
            other = known.get(_words(record)) if again and "contexts" not in record else None
            found = self._joined(other)[1].get("contexts") if other else None
            yield line, record if found is None else {"contexts": found, **record}

    def _joined(self, group: Group) -> tuple[int, Record]:
        steps = [_Step(*json.loads(text)) for text in self._held.rows(group)]
        return _join_steps(steps, *group)


def _words(record: Record) -> int:
    return hash(repr((record.get("inputs"), record.get("outputs"))))


def is_span(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a span of a trace, or a trace with its spans."""
    ours = not MARKS.isdisjoint(record) and OF_RECORDS.isdisjoint(record)
    listed = isinstance(record.get(OBSERVATIONS), list) and "id" in record
    return bool(ours and _text(record, TRACES)) or listed or bool(_spans(record))


def name_spans(names: Iterable[str]) -> bool:
    """Return whether columns of these names hold spans."""
    given = list(names)
    traced = RECORD_ATTRIBUTES in given or any(plain(name) in TRACES for name in given)
    return traced and not MARKS.isdisjoint(given) and OF_RECORDS.isdisjoint(given)


def _spans(record: Mapping[str, Any]) -> list[Record]:
    """Return the spans in the lists of a record; MLflow has its list in an object."""
    inside = layers(record, DATA)
    lists = map(parse_json_text, chain(*(values_of(r, SPAN_LISTS) for r in (record, *inside))))
    found = [v for list_ in lists if isinstance(list_, list) for v in list_ if isinstance(v, dict)]
    ours = found and (not MARKS.isdisjoint(found[0]) or _spans(found[0]))
    return found if ours else []


def _text(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return an id of a span, which may stand in its object `context`, `trace` or `record`."""
    inner = (parse_json_text(record.get(name)) for name in ("context", "trace", "record"))
    places = (record, *(place for place in inner if isinstance(place, dict)))
    found = (v for name in names for place in places for v in values_of(place, (name,)))
    return next((str(value) for value in found if isinstance(value, str | int)), "")


def _attributes(record: Mapping[str, Any]) -> Record:
    """Return a span's own fields and its attributes, by their paths."""
    found = _events(parse_json_text(record.get("events")))
    found |= {key.removeprefix("attributes."): value for key, value in record.items()}
    for name in ("attributes", RECORD_ATTRIBUTES):
        found |= _pairs(parse_json_text(found.pop(name, None)))
    return found


def _pairs(attributes: Any) -> Record:
    """Return attributes as an object; OpenTelemetry's own JSON lists them with their types."""
    if not isinstance(attributes, list):
        return attributes if isinstance(attributes, dict) else {}
    pairs = [(a.get("key"), a.get("value")) for a in attributes if isinstance(a, dict)]
    return {str(key): _untype(value) for key, value in pairs}


def _untype(value: Any) -> Any:
    """Return a value of OpenTelemetry's JSON without its type."""
    inner = next(iter(value.values()), None) if isinstance(value, dict) else value
    listed = inner.get("values") if isinstance(inner, dict) else None
    if not isinstance(listed, list):
        return inner
    return _pairs(listed) if "kvlistValue" in value else [_untype(entry) for entry in listed]


def _events(events: Any) -> Record:
    """Return what the events of a span say as attributes: its messages, what a database found."""
    found: Record = {}
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict):
            continue
        name, said = str(event.get("name")), _pairs(parse_json_text(event.get("attributes")))
        if name.startswith("db.") and name.endswith("result"):
            document = {key.rpartition(".")[2]: value for key, value in said.items()}
            found.setdefault("retrieval.documents", []).append(document)
        elif name == "gen_ai.choice":
            found.setdefault("gen_ai.completion", said.get("message", said))
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            found.setdefault("gen_ai.prompt", []).append({"role": name.split(".")[1], **said})
        else:
            found |= {key: value for key, value in said.items() if key.startswith("gen_ai.")}
    return found


def _at(fields: Record, paths: tuple[str, ...]) -> list[Any]:
    """Return the first value at one of these paths that is not null; else null, or nothing."""
    found: list[Any] = []
    for path in paths:
        inner: Any = fields
        for step in path.split("."):
            inner = inner.get(step, ABSENT) if isinstance(inner, dict) else ABSENT
        if inner is not None and inner is not ABSENT:
            return [parse_json_text(inner)]
        found = found if inner is ABSENT else [None]
    return found


def _step(line: int, fields: Record, record: Record) -> _Step:
    said = _at(fields, SAID)
    start = str(next(values_of(record, STARTS), ""))
    kinds = {str(value).casefold() for path in KINDS for value in _at(fields, (path,))}
    names = [str(value).casefold() for path in NAMES for value in _at(fields, (path,))]
    tool = not kinds.isdisjoint(("tool", "execute_tool")) and bool(said)
    search = any("retriev" in k or "rerank" in k for k in kinds) or any(
        map(SEARCH.fullmatch, names)
    )
    found = next(iter(_at(fields, FETCHED)), None)
    if found is None and (search or tool):
        found = next(iter(said), None)
    status = parse_json_text(record.get("status"))
    states = [*(status.values() if isinstance(status, dict) else ()), record.get("level")]
    states += [record.get("status_code"), record.get("status"), "error" * bool(record.get("error"))]
    return _Step(
        line,
        _text(record, IDS),
        _text(record, PARENTS),
        start.zfill(20) if start.isdecimal() else start,
        next(iter(_at(fields, ASKED)), None),
        said,
        None if found is None else _documents(found),
        0 if any("rerank" in kind for kind in kinds) else 2 if tool and not search else 1,
        any(str(state).casefold() in FAILED for state in states),
        _about(fields),
    )


def _about(fields: Record) -> Record:
    """Return what a span says of its trace: the id of its question, contexts beside the answer."""
    places = layers(fields, ("metadata",))
    places += [
        inner for extra in layers(fields, ("extra",)) for inner in layers(extra, ("metadata",))
    ]
    found = PlainFields(fields).first_id(OF_QUESTIONS)
    inner = (PlainFields(place).first_id(OF_QUESTIONS) for place in places)
    topic = found or next(filter(None, inner), "")
    contexts = next((v for place in places for v in values_of(place, CONTEXTS)), None)
    return ({"question_id": topic} if topic else {}) | ({"contexts": contexts} if contexts else {})


def _documents(found: Any) -> list[Any]:
    """Return the documents that a span gave; what is no list of them is one, for its reader."""
    if isinstance(found, dict):
        lists = [*values_of(found, CONTEXTS), *found.values()]
        found = next((value for value in lists if isinstance(value, list)), [found])
    entries = found if isinstance(found, list) else [found]
    return [unflatten(entry) if isinstance(entry, dict) else entry for entry in entries]


def _join_steps(steps: list[_Step], trace: str) -> tuple[int, Record]:
    """Return (line, record) of a trace: what its root was asked and said, what was retrieved.

    What was ranked again comes first; what tools gave counts where nothing was searched.
    """
    ids = {step.span_id for step in steps}
    in_order = sorted(steps, key=lambda step: step.start)
    others = [step for step in in_order if step.fetched is None] or steps
    roots = [step for step in others if not step.parent or step.parent not in ids] or others
    root = next((step for step in roots if step.said), roots[0])
    asked = [step.asked for step in (root, *in_order) if step.asked is not None]
    # A root without any output of its own: the last step that has one gave the answer.
    said = root.said or next((step.said for step in reversed(others) if step.said), [])
    said = said or ([""] if root.failed else [])  # it failed: there was no answer
    record: Record = {"inputs": asked[0] if asked else None}
    record = lift_parts(record | ({"outputs": said[0]} if said else {}))
    searches = sorted((s for s in in_order if s.fetched is not None), key=lambda step: step.rank)
    ranks = {step.rank for step in searches}
    found = [e for s in searches if s.rank < 2 or ranks == {2} for e in s.fetched or ()]
    if found or (searches and "contexts" not in record):
        record["contexts"] = found
    record = {**root.about, **record}
    parts = parts_of(record)
    if parts is not None and not parts.topic_id:
        record["question_id"] = trace
    return root.line, record

"""Traces of pipelines, as tools keep them: a record of the spans that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.inputs.formats.draft import ABSENT
from trecjudge.inputs.pipelines.layers import layers, lift_parts, parse_json_text, unflatten
from trecjudge.inputs.pipelines.parts import CONTEXTS
from trecjudge.inputs.pipelines.services import values_of

MARKS = frozenset(
    (
        *("span_id", "spanId", "parent_id", "parent_span_id", "parentSpanId", "parent_run_id"),
        *("parentObservationId", "parent_observation_id", "context.span_id", "run_type"),
    )
)
"""Keys that only a span has, or a trace that is written as one."""
OF_RECORDS = frozenset(("question", "query", "answer", "response", "contexts"))
"""Keys that no span has: a record with one may name the span that it is of."""
GIVEN = OF_RECORDS | {"input", "output"}
"""Keys of a trace that says itself what it was asked and what it said."""
LISTS = ("spans", "observations", "childruns", "resourcespans", "scopespans", "batches")
"""Where a trace, or a span, has its spans; MLflow has them in `data`."""
DATA = ("data",)
IDS = ("spanid", "contextspanid", "id")
TRACES = ("traceid", "contexttraceid")
PARENTS = ("parentid", "parentspanid", "parentrunid", "parentobservationid")
STARTS = ("starttime", "starttimeunixnano", "starttimens")
KINDS = (
    *("openinference.span.kind", "mlflow.spanType", "ai.observability.span_type"),
    *("span_kind", "span_type", "run_type", "type", "traceloop.span.kind", "gen_ai.operation.name"),
)
SEARCH = re.compile(r"\w{0,40}retriever|retriev(?:e|al)(?:_?(?:docs|documents|contexts?|chunks))?")
"""Names of spans that are a search, where their kind does not say so."""
ASKED = (
    *("inputs", "input.value", "mlflow.spanInputs", "ai.observability.record_root.input"),
    *("traceloop.entity.input", "llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt"),
    *("input", "request", "question", "query"),
)
SAID = (
    *("outputs", "output.value", "mlflow.spanOutputs", "ai.observability.record_root.output"),
    *("traceloop.entity.output", "llm.output_messages", "gen_ai.output.messages"),
    *("gen_ai.completion", "output", "response", "answer"),
)
"""Paths to what a span was given and gave: LangSmith, Phoenix, MLflow, TruLens, OpenTelemetry."""
FETCHED = (
    *("reranker.output_documents", "retrieval.documents"),
    "ai.observability.retrieval.retrieved_contexts",
)
"""Paths to what a span retrieved, the best first."""
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Step:
    """What is kept of a span: `said` is what it gave, in a tuple that is empty if nobody knows.

    `fetched` is what it retrieved, None where it is no search.
    """

    line: int
    span_id: str
    parent: str
    start: str
    asked: Any
    said: tuple[Any, ...]
    fetched: list[Any] | None


@dataclass(slots=True)
class Traces:
    """Spans by trace: the spans of one may lie anywhere in a file."""

    found: dict[str, list[_Step]] = field(default_factory=dict)

    def add(self, line: int, record: Record, trace: str = "") -> None:
        """Add a span, or a trace with all spans that it holds."""
        inner = _spans(record)
        trace = _text(record, TRACES) or trace or (_text(record, IDS) if inner else "")
        if not MARKS.isdisjoint(record) or not GIVEN.isdisjoint(record):
            self.found.setdefault(trace, []).append(_step(line, record))
        for span in inner:
            self.add(line, span, trace)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (line, record) of each trace; it has no answer where no span gave one.

        Evaluations of MLflow trace answers again, without their searches: such a trace has the
        contexts of one in the same words.
        """
        joined = [_join_steps(steps) for steps in self.found.values()]
        known = {_words(record): record["contexts"] for _, record in joined if "contexts" in record}
        for line, record in joined:
            again = known.get(_words(record))
            yield line, record if again is None else {"contexts": again, **record}


def _words(record: Record) -> str:
    return repr((record.get("inputs"), record.get("outputs")))


def is_span(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a span of a trace, or a trace with its spans."""
    ours = not MARKS.isdisjoint(record) and OF_RECORDS.isdisjoint(record)
    return bool(ours and _text(record, TRACES)) or bool(_spans(record))


def _spans(record: Mapping[str, Any]) -> list[Record]:
    """Return the spans in the lists of a record; MLflow has its list in an object."""
    lists = [
        *values_of(record, LISTS),
        *(v for r in layers(record, DATA) for v in values_of(r, LISTS)),
    ]
    found = [v for list_ in lists if isinstance(list_, list) for v in list_ if isinstance(v, dict)]
    ours = found and (not MARKS.isdisjoint(found[0]) or _spans(found[0]))
    return found if ours else []


def _text(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return an id of a span, which may stand in its object `context` or `trace`."""
    inner = (record.get("context"), record.get("trace"))
    places = (record, *(place for place in inner if isinstance(place, dict)))
    found = (v for name in names for place in places for v in values_of(place, (name,)))
    return next((str(value) for value in found if isinstance(value, str | int)), "")


def _attributes(record: Mapping[str, Any]) -> Record:
    """Return a span's own fields and its attributes, as objects."""
    found = {key.removeprefix("attributes."): value for key, value in record.items()}
    for inner in (found.pop("attributes", None), found.pop("record_attributes", None)):
        if isinstance(inner, list):  # OpenTelemetry's own JSON
            pairs = [(a.get("key"), a.get("value")) for a in inner if isinstance(a, dict)]
            found |= {str(key): _untype(value) for key, value in pairs}
        found |= inner if isinstance(inner, dict) else {}
    return unflatten(found)


def _untype(value: Any) -> Any:
    """Return a value of OpenTelemetry's JSON without its type."""
    inner = next(iter(value.values()), None) if isinstance(value, dict) else value
    listed = inner.get("values") if isinstance(inner, dict) else None
    return [_untype(entry) for entry in listed] if isinstance(listed, list) else inner


def _at(fields: Record, paths: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the first value at one of these paths that is not null; else null, or nothing."""
    found: tuple[Any, ...] = ()
    for path in paths:
        inner: Any = fields
        for step in path.split("."):
            inner = inner.get(step, ABSENT) if isinstance(inner, dict) else ABSENT
        if inner is not None and inner is not ABSENT:
            return (parse_json_text(inner),)
        found = found if inner is ABSENT else (None,)
    return found


def _step(line: int, record: Record) -> _Step:
    fields = _attributes(record)
    said = _at(fields, SAID)
    return _Step(
        line,
        _text(record, IDS),
        _text(record, PARENTS),
        str(next(values_of(record, STARTS), "")),
        next(iter(_at(fields, ASKED)), None),
        said,
        _fetched_by(fields, said),
    )


def _fetched_by(fields: Record, said: tuple[Any, ...]) -> list[Any] | None:
    """Return the documents that a span retrieved, None where it is no search."""
    found = next(iter(_at(fields, FETCHED)), None)
    kinds = [str(value).casefold() for path in KINDS for value in _at(fields, (path,))]
    named = SEARCH.fullmatch(str(fields.get("name")).casefold())
    if found is None and not (named or any("retriev" in k or "rerank" in k for k in kinds)):
        return None
    found = next(iter(said), None) if found is None else found
    if isinstance(found, dict):
        lists = [*values_of(found, CONTEXTS), *found.values()]
        found = next((value for value in lists if isinstance(value, list)), None)
    if isinstance(found, str):
        return [found]
    if not isinstance(found, list):
        return None
    return [unflatten(entry) if isinstance(entry, dict) else entry for entry in found]


def _join_steps(steps: list[_Step]) -> tuple[int, Record]:
    """Return (line, record) of a trace: what its root was asked and said, what was retrieved."""
    ids = {step.span_id for step in steps}
    in_order = sorted(steps, key=lambda step: step.start)
    others = [step for step in in_order if step.fetched is None] or steps
    roots = [step for step in others if not step.parent or step.parent not in ids] or others
    root = next((step for step in roots if step.said), roots[0])
    asked = [step.asked for step in (root, *in_order) if step.asked is not None]
    # A root without any output of its own: the last step that has one gave the answer.
    said = root.said or next((step.said for step in reversed(others) if step.said), ())
    record: Record = {"inputs": asked[0] if asked else None}
    record = lift_parts(record | ({"outputs": said[0]} if said else {}))
    found = [entry for step in in_order for entry in step.fetched or ()]
    if found or (any(step.fetched is not None for step in steps) and "contexts" not in record):
        record["contexts"] = found
    return root.line, record

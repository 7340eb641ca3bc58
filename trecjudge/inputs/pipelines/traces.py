"""Traces of pipelines, as tools keep them: a record of the spans that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.layers import flat, parsed, unflattened, values_of
from trecjudge.inputs.pipelines.parts import CONTEXTS
from trecjudge.text.visible import is_blank

MARKS = frozenset(
    (
        *("span_id", "spanId", "parent_id", "parent_span_id", "parentSpanId", "parent_run_id"),
        *("parentObservationId", "parent_observation_id", "context.span_id", "run_type"),
    )
)
"""Keys that only a span has, or a trace that is written as one."""
LISTS = ("spans", "observations", "childruns", "resourcespans", "scopespans", "batches")
"""Where a trace, or a span, has its spans."""
IDS = ("spanid", "contextspanid", "id")
TRACES = ("traceid", "contexttraceid")
PARENTS = ("parentid", "parentspanid", "parentrunid", "parentobservationid")
STARTS = ("starttime", "starttimeunixnano", "starttimens")
KINDS = (
    *("openinference.span.kind", "mlflow.spanType", "ai.observability.span_type"),
    *("span_kind", "run_type", "type", "traceloop.span.kind", "gen_ai.operation.name"),
)
ASKED = (
    *("inputs", "input.value", "mlflow.spanInputs", "ai.observability.record_root.input"),
    *("traceloop.entity.input", "llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt"),
    "input",
)
SAID = (
    *("outputs", "output.value", "mlflow.spanOutputs", "ai.observability.record_root.output"),
    *("traceloop.entity.output", "llm.output_messages", "gen_ai.output.messages"),
    *("gen_ai.completion", "output"),
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
    """What is kept of a span. `said` is None, and `ended` true, where it gave nothing."""

    line: int
    span_id: str
    parent: str
    start: str
    asked: Any
    said: Any
    ended: bool
    fetched: list[Any] | None


@dataclass(slots=True)
class Traces:
    """Spans by trace: the spans of one may lie anywhere in a file."""

    found: dict[str, list[_Step]] = field(default_factory=dict)

    def add(self, line: int, record: Record, trace: str = "") -> None:
        """Add a span, or a trace with all that it holds."""
        trace = _text(record, TRACES) or trace or (_text(record, ("id",)) if _lists(record) else "")
        if not MARKS.isdisjoint(record) or "output" in record:
            self.found.setdefault(trace, []).append(_step(line, record))
        for inner in _lists(record):
            for span in filter(_is_object, inner):
                self.add(line, span, trace)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (line, record) of each trace; it has no answer where no span gave one."""
        for steps in self.found.values():
            yield _joined(steps)


def is_span(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a span of a trace, or a trace with its spans."""
    if not MARKS.isdisjoint(record) or isinstance(record.get("context"), dict):
        return bool(_text(record, TRACES))
    return bool(_lists(record))


def _lists(record: Mapping[str, Any]) -> list[list[Any]]:
    """Return the lists of spans of a record; MLflow has one in an object."""
    data = record.get("data")
    places = (record, data) if isinstance(data, dict) else (record,)
    found = (value for place in places for value in values_of(place, LISTS))
    return [v for v in found if isinstance(v, list) and v and _holds_spans(v[0])]


def _holds_spans(entry: Any) -> bool:
    return isinstance(entry, dict) and (not MARKS.isdisjoint(entry) or bool(_lists(entry)))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _text(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return an id of a span, which may stand in its object `context` or `trace`."""
    places = (record, record.get("context"), record.get("trace"))
    found = (v for p in places if isinstance(p, dict) for v in values_of(p, names))
    return next((str(value) for value in found if isinstance(value, str | int)), "")


def _attributes(record: Mapping[str, Any]) -> Record:
    """Return a span's own fields and its attributes, as objects."""
    found: Record = {}
    for key, value in record.items():
        name = key.removeprefix("attributes.")
        if plain(key) in ("attributes", "recordattributes") and isinstance(value, dict):
            found |= value
        elif key == "attributes" and isinstance(value, list):  # OpenTelemetry's own JSON
            found |= {str(a.get("key")): _plain(a.get("value")) for a in value if _is_object(a)}
        else:
            found.setdefault(name, value)
    return unflattened(found)


def _plain(value: Any) -> Any:
    """Return a value of OpenTelemetry's JSON without its type."""
    inner = next(iter(value.values()), None) if isinstance(value, dict) else value
    if isinstance(inner, dict) and isinstance(inner.get("values"), list):
        return [_plain(entry) for entry in inner["values"]]
    return inner


def _at(fields: Any, path: str) -> Any:
    for step in path.split("."):
        fields = fields.get(step) if isinstance(fields, dict) else None
    return parsed(fields)


def _step(line: int, record: Record) -> _Step:
    fields = _attributes(record)
    said = _first(fields, SAID)
    return _Step(
        line,
        _text(record, IDS),
        _text(record, PARENTS),
        str(next(values_of(record, STARTS), "")),
        _first(fields, ASKED),
        said,
        any(_has(fields, path) for path in SAID),
        _fetched(fields, said),
    )


def _first(fields: Record, paths: tuple[str, ...]) -> Any:
    return next((value for path in paths if (value := _at(fields, path)) is not None), None)


def _has(fields: Record, path: str) -> bool:
    parent, _, name = path.rpartition(".")
    inner = _at(fields, parent) if parent else fields
    return isinstance(inner, dict) and name in inner


def _fetched(fields: Record, said: Any) -> list[Any] | None:
    """Return the documents that a span retrieved, None where it is no search."""
    found = _first(fields, FETCHED)
    kinds = [str(_at(fields, path)).casefold() for path in KINDS]
    if found is None and not any("retriev" in kind or "rerank" in kind for kind in kinds):
        return None
    found = said if found is None else found
    if isinstance(found, dict):
        lists = [*values_of(found, CONTEXTS), *found.values()]
        found = next((value for value in lists if isinstance(value, list)), None)
    if isinstance(found, str):
        return [] if is_blank(found) else [found]
    if not isinstance(found, list):
        return None
    return [unflattened(entry) if isinstance(entry, dict) else entry for entry in found]


def _joined(steps: list[_Step]) -> tuple[int, Record]:
    """Return (line, record) of a trace: what its root was asked and said, what was retrieved."""
    ids = {step.span_id for step in steps}
    others = [step for step in steps if step.fetched is None]
    roots = [step for step in others if not step.parent or step.parent not in ids] or others
    root = next((step for step in roots if step.said is not None), roots[0] if roots else steps[0])
    in_order = sorted(steps, key=lambda step: step.start)
    asked = [step.asked for step in (root, *in_order) if step.asked is not None]
    # A root that says nothing of its own output: the last step that says some gave the answer.
    said = [step.said for step in (*others, root) if step.said is not None or step is root]
    record: Record = {"inputs": asked[0] if asked else None}
    if root.ended or len(said) > 1:
        record["outputs"] = said[-1] if root.ended else said[-2]
    found = [entry for step in in_order for entry in step.fetched or ()]
    record = flat(record)
    if any(step.fetched is not None for step in steps):
        record.setdefault("contexts", found)
    return root.line, record

"""A record of a tool made plain: unwrapped, unflattened, its question and contexts brought up."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from trecjudge.inputs.pipelines.parts import ANSWERS, CITED, CONTEXTS, QUESTIONS
from trecjudge.inputs.pipelines.services import text_of, values_of
from trecjudge.settings.limits import limits
from trecjudge.text.visible import is_blank

GIVEN = ("inputs", "input", "vars", "inputrecord", "request", "doc", "instance", "example")
"""Objects of what a system was given: LangSmith, Phoenix, promptfoo, Bedrock, Vertex, lm-eval."""
REPLIED = ("outputs", "output", "response", "result", "prediction")
CHOSEN = ("choices", "candidates")
"""Objects of what it gave back; and lists of them, as APIs of models have it."""
BESIDE = ("metadata", "store", "reference")
RETRIEVED = tuple(name for name in CONTEXTS if name not in CITED)
"""Objects in which contexts may lie: inspect_ai, Dify, RAGFlow; and their names."""
WRAPPERS = ("kwargs", "init_parameters")
"""What objects of LangChain and Haystack are made with, where they are written as JSON."""
MOST_STEPS = 12
"""How deep a key may lead, and how many digits a place in a list may have."""
Record = dict[str, Any]


def unwrap(value: Any) -> Any:
    """Return a value without the objects that LangChain and Haystack write around theirs."""
    if isinstance(value, list):
        return [unwrap(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    inner = {key: unwrap(entry) for key, entry in value.items()}
    for key in WRAPPERS:
        if isinstance(inner.get(key), dict) and isinstance(inner.get("type"), str):
            name = str(inner["id"][-1:]) if isinstance(inner.get("id"), list) else ""
            return {"type": name.strip("[]'").partition("Message")[0].casefold(), **inner[key]}
    data = inner.get("data")
    if isinstance(data, dict) and inner.keys() == {"type", "data"}:
        return {"type": inner["type"], **data}
    return inner


def unflatten(record: Mapping[str, Any]) -> Record:
    """Return a record with objects and lists for its keys such as `inputs.query`, `docs.0.id`."""
    whole: Record = {}
    for key, value in record.items():
        *steps, last = key.split(".", MOST_STEPS)
        at: Any = whole
        for step in steps:
            at = at.setdefault(step, {}) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at.setdefault(last, value)
    return {key: _as_lists(value) for key, value in whole.items()}


def _as_lists(value: Any) -> Any:
    """Return an object with places in a list for its keys as that list, at any depth."""
    if not isinstance(value, dict):
        return value
    inner = {key: _as_lists(entry) for key, entry in value.items()}
    if inner and all(key.isdecimal() and len(key) <= MOST_STEPS for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def parse_json_text(value: Any) -> Any:
    """Return what a text of JSON says, as traces hold their values; all else as it is."""
    json = isinstance(value, str) and value[:1] in ("{", "[", '"')
    if json and not limits().excess_of_text(value):
        with suppress(orjson.JSONDecodeError):
            found = orjson.loads(value)
            return value if limits().excess(found) else found
    return value


def layers(record: Mapping[str, Any], names: tuple[str, ...], listed: bool = False) -> list[Record]:
    """Return the objects of a record under these names; `listed`: of a list the first entry."""
    found = [parse_json_text(value) for value in values_of(record, names)]
    if listed:
        found = [value[0] for value in found if isinstance(value, list) and value]
    return [value for value in found if isinstance(value, dict)]


def lift_parts(record: Record) -> Record:
    """Return a record with its question, answer and contexts at the top, where they lay deeper."""
    columns = any(key.startswith(("inputs.", "outputs.")) for key in record)
    record = unflatten(record) if columns else record
    given, replied = layers(record, GIVEN), layers(record, REPLIED)
    chosen = layers(record, CHOSEN, listed=True)
    replied += [v for v in chosen if not v.keys().isdisjoint(("message", "content"))]
    replied = replied or _components(record)
    if not (given or replied or layers(record, BESIDE)):
        return record
    found: Record = {}
    if not any(isinstance(value, str) for value in values_of(record, QUESTIONS)):
        asked = (text_of(value) for layer in replied for value in values_of(layer, QUESTIONS))
        found["question"] = next(filter(None, (*map(_question, given), *asked)), None)
        if isinstance(record.get("doc"), dict):  # it is what was asked, not what was retrieved
            record = {key: value for key, value in record.items() if key != "doc"}
    if all(value is None for value in values_of(record, CONTEXTS)):
        places: list[tuple[Record, tuple[str, ...]]]
        places = [(layer, CONTEXTS) for layer in (*replied, *given)]
        places += [(layer, RETRIEVED) for layer in layers(record, BESIDE)]
        found["contexts"] = _contexts(places)
    if not any(text_of(value) for value in values_of(record, ANSWERS)):
        # Only Azure has answers among what was given: elsewhere those are the right ones.
        own = (value for layer in given if columns for value in values_of(layer, ANSWERS))
        said = (*replied, *own)
        found["answer"] = next((value for value in said if text_of(value)), None)
    return {**record, **{key: value for key, value in found.items() if value is not None}}


def _components(record: Record) -> list[Record]:
    """Return what the components of a pipeline of Haystack gave, or its one answer."""
    inner = [value for value in record.values() if isinstance(value, dict)]
    parts = [v for v in inner if not v.keys().isdisjoint(("replies", "documents"))]
    answers = [
        v for part in (record, *inner) for v in (part, *layers(part, ("answers",), listed=True))
    ]
    return [v for v in answers if {"data", "query", "documents"} <= v.keys()] or parts


def _question(layer: Record) -> str:
    only = [value for value in layer.values() if isinstance(value, str)]
    asked = (*values_of(layer, QUESTIONS), *(only if len(only) == 1 else ()))
    texts = (_question(v) if isinstance(v, dict) else text_of(v) for v in asked)
    return next((text for text in texts if not is_blank(text)), text_of(layer))


def _contexts(places: list[tuple[Record, tuple[str, ...]]]) -> Any:
    """Return the contexts of the first object that has some, or that has an object that does."""
    for value in (value for place in places for value in values_of(*place)):
        inner = values_of(value, CONTEXTS) if isinstance(value, dict) else iter(())
        if isinstance(value, str | list | dict):
            return next(inner, value)
    return None

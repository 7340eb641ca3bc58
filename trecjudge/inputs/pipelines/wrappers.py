"""Records inside a file's one object: promptfoo's results, LlamaIndex's predictions, test runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.conversations import text_of
from trecjudge.inputs.pipelines.fields import named, record_keys
from trecjudge.inputs.pipelines.parts import ANSWERS, CONTEXTS, QUESTIONS, parts_of
from trecjudge.inputs.sources.values import as_id

LISTS = frozenset(
    ("results", "predictions", "samples", "testcases", "data", "rows", "records", "examples")
)
"""What an object calls the list of its records."""
Record = dict[str, Any]


def records_in(record: Record) -> Iterator[Record]:
    """Yield the pipeline's records inside an object, or the object itself where it has none.

    They are under the names that formats know.
    """
    inside = next((found for found in map(_listed, _lists(record)) if found), None)
    if inside is None or parts_of(named(record)) is not None:
        yield named(record)
    else:
        yield from inside


def _lists(record: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the lists of objects of a record; promptfoo has one in an object of the same name.

    Where `--keys` says what records look like, a list may have any name.
    """
    for key, value in record.items():
        if record_keys() or plain(key) in LISTS:
            if isinstance(value, Mapping):
                yield from _lists(value)
            elif isinstance(value, list) and value:
                yield value


def _listed(entries: list[Any]) -> list[Record]:
    """Return the records that a list holds, empty where its first entry is none."""
    records = [
        _of_promptfoo(entry) or _of_a_prediction(named(entry), number)
        for number, entry in enumerate(entries, 1)
        if isinstance(entry, dict)
    ]
    return records if records and parts_of(records[0]) is not None else []


def _of_a_prediction(entry: Record, number: int) -> Record:
    """Return a record; without a question its topic is its number, as LlamaIndex joins them."""
    parts = parts_of(entry)
    nameless = parts is not None and not parts.topic_id
    return {**entry, "question_id": str(number)} if nameless else entry


def _of_promptfoo(entry: Record) -> Record | None:
    """Return the record of one of promptfoo's results: what was put into the prompt, the output."""
    given, answered = entry.get("vars"), entry.get("response")
    if not isinstance(given, Mapping) or not isinstance(answered, Mapping | str):
        return None
    output = answered.get("output") if isinstance(answered, Mapping) else answered
    keys = {plain(key): key for key in given}
    contexts = next((given[keys[name]] for name in CONTEXTS if name in keys), None)
    asked = [keys[name] for name in QUESTIONS if name in keys]
    asked += [key for key in given if plain(key) not in (*CONTEXTS, *ANSWERS)]
    return {
        "question": text_of(given[asked[0]]) if asked else "",
        "answer": output,
        "contexts": contexts,
        "run_id": _provider(entry.get("provider")),
    }


def _provider(provider: Any) -> str | None:
    if isinstance(provider, Mapping):
        return as_id(provider.get("label")) or as_id(provider.get("id"))
    return as_id(provider)

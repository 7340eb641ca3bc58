"""The records of a run file, whatever holds them: lines, one object around them, a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.conversations import is_message, responses_in
from trecjudge.inputs.pipelines.exports import exported_objects, is_export
from trecjudge.inputs.pipelines.fields import (
    Row,
    holds_records,
    noting_keys,
    parts_among,
    record_keys,
    under_known_names,
)
from trecjudge.inputs.pipelines.parts import (
    ANSWERS,
    BESIDE,
    CONTEXTS,
    GIVEN,
    QUESTIONS,
    REPLIED,
    TOPICS,
    is_list_of_sentences,
    layers,
    lift_parts,
    parts_of,
    unwrap,
)
from trecjudge.inputs.pipelines.services import PlainFields, text_of, values_of
from trecjudge.inputs.pipelines.spans import Traces, is_span, name_spans
from trecjudge.inputs.pipelines.tables import is_table, passages_joined, table_records
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import as_id, first_objects, objects
from trecjudge.records import Place
from trecjudge.settings.limits import limits

Record = dict[str, Any]
Complain = Callable[[str], None]
"""Called with what is wrong about an object."""


def split_columns(record: Record, complain: Complain) -> list[Record]:
    """Return the records of an object that holds columns, or records by id; or the object itself.

    Columns are lists, objects by the numbers of rows, or rows whose cells `columns` names. Other
    values belong to every record. Where columns differ in length, that is complained of.
    """
    only_objects = bool(record) and all(isinstance(v, dict) for v in record.values())
    if only_objects and all(map(_is_record, record, record.values())):
        return [_with_id(name, inner) for name, inner in record.items()]
    columns = _columns(record)
    if not columns:
        return [record]
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        complain(f"holds columns of unequal lengths: {listed}")
        return []
    shared = {k: v for k, v in record.items() if not isinstance(v, list | dict)}
    rows = zip(*columns.values(), strict=True)
    return [shared | dict(zip(columns, row, strict=True)) for row in rows]


def _is_record(name: str, value: Record) -> bool:
    return plain(name) not in (*GIVEN, *REPLIED) and holds_records(value)


def _with_id(name: str, record: Record) -> Record:
    """Return a record with the id under which an object has it; numbers are only of rows."""
    has_id = name.isdecimal() or not set(TOPICS).isdisjoint(map(plain, record))
    return record if has_id else {"topic_id": name, **record}


def _columns(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of an object by name, none where it is one record."""
    names, rows = record.get("columns"), record.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(type(r) is list for r in rows):
        # A row that is short makes a column short, which is then found.
        return {str(n): [row[at] for row in rows if at < len(row)] for at, n in enumerate(names)}
    stacks = {name: value for name, value in record.items() if isinstance(value, list | dict)}
    if len(stacks) < 2 or len(set(map(type, stacks.values()))) > 1:
        return {}
    columns = {
        name: value if isinstance(value, list) else list(value.values())
        for name, value in stacks.items()
        if isinstance(value, list) or all(map(str.isdecimal, value))
    }
    parts = parts_among(columns)
    # One record may have several answers and contexts: only lists of contexts are a column then.
    asked = {"question": str} if "question" in parts else {"contexts": list}
    cells: dict[str, type] = {"answer": str, **asked}
    fit = all(
        part in parts
        and columns[parts[part]]
        and all(cell is None or isinstance(cell, kind) for cell in columns[parts[part]])
        for part, kind in cells.items()
    )
    return columns if fit or name_spans(columns) else {}


LISTS = frozenset(
    (
        *("results", "predictions", "samples", "testcases", "data", "rows", "records", "examples"),
        *("testresults", "conversationaltestcases", "traces", "runs", "evalcases"),
    )
)
"""What an object calls the list of its records."""
TURNS = "conversationTurns"
"""Where Bedrock's evaluations have the turns of a conversation."""
OF_A_TRACK = ("responses", "references", "is_ragtime")
"""Keys of the tracks' records, which are passed on as they are."""
SEVERAL = (
    *("choices", "candidates", "predictions", "outputs", "output", "response", "filteredresps"),
    *("resps", "replies", "completions", "generations", "answers"),
)
"""Lists of the answers of one system to one question: each is a sample."""
ONLY_SEVERAL = ("completions", "generations", "choices", "answers")
"""Those that are read as lists alone, where a record has no other answer."""
SAYS = frozenset(("message", "text", "content", "generated_text", "data"))
"""Keys of an answer in such a list."""
CHOICE = frozenset(("text", "index", "finish_reason", "stop_reason", "logprobs", "token_ids"))
"""The keys of a model's choice that has no message; a choice of a question has others."""


def records_in(record: Record) -> Iterator[Record]:
    """Yield the pipeline's records inside an object, or the object itself where it has none.

    They are under the names that formats know. A conversation is a record for each answer. A span
    is yielded as it is, since the others of its trace may lie elsewhere.
    """
    of_a_track = is_list_of_sentences(record.get("answer")) or any(
        record.get(key) is not None for key in OF_A_TRACK
    )
    if of_a_track:
        yield under_known_names(record)
        return
    whole = unwrap(record)
    if is_span(whole):
        yield whole
        return
    inside = next((found for found in map(_records_listed, lists_in(whole)) if found), None)
    if inside is None or parts_of(_of_a_tool(whole)) is not None:
        yield from (r for one in _samples(whole) for r in responses_in(_of_a_tool(one)))
    else:
        yield from inside


def _samples(record: Record) -> list[Record]:
    """Return a record for each answer of one that has several, with its number as `sample`.

    Such a list may lie in an object of what the system gave back.
    """
    fields = PlainFields(record)
    for key, inner in fields.items(REPLIED):
        found = _samples(inner) if isinstance(inner, dict) else [inner]
        if found[0] is not inner:
            beside = [{k: one[k] for k in ("sample",) if k in one} for one in found]
            return [{**record, key: one, **more} for one, more in zip(found, beside, strict=True)]
    for key, value in fields.items(SEVERAL):
        name = plain(key)
        answers = _answers(value, name)
        alone = name in ONLY_SEVERAL and fields.keys.keys().isdisjoint((*ANSWERS, "ctxs"))
        several = len(answers) > 1
        if answers and (alone or (several and name != "answers")):
            rest = {k: v for k, v in record.items() if k != key}
            return [
                {**rest, "answer": answer, **({"sample": str(number)} if several else {})}
                for number, answer in enumerate(answers, 1)
            ]
    return [record]


def _answers(value: Any, name: str) -> list[Any]:
    """Return the answers of a list under this name, empty where it holds something else."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    listed = value if isinstance(value, list) else []
    return listed if all(_is_answer(entry, name) for entry in listed) else []


def _is_answer(entry: Any, name: str) -> bool:
    if not isinstance(entry, dict):
        return isinstance(entry, str) and name != "choices"
    if name == "choices":
        return "message" in entry or ("text" in entry and entry.keys() <= CHOICE)
    # Messages of a conversation, and parts of one answer, are no samples.
    typed = name == "outputs" and not entry.keys().isdisjoint(("role", "type"))
    return name not in ("output", "response") and not typed and not SAYS.isdisjoint(entry)


def lists_in(record: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the lists of objects of a record; promptfoo has one in an object of the same name.

    Where `--keys` says what records look like, a list may have any name.
    """
    for key, value in record.items():
        if record_keys() or plain(key) in LISTS:
            if isinstance(value, Mapping):
                yield from lists_in(value)
            elif isinstance(value, list) and value:
                yield value


def _records_listed(entries: list[Any]) -> list[Record]:
    """Return the records or the spans that a list holds, empty where its first entry is none."""
    objects = [entry for entry in entries if isinstance(entry, dict)]
    if objects and is_span(objects[0]):
        return objects
    records = [
        found
        for number, entry in enumerate(objects, 1)
        for sample in _samples(entry)
        for found in responses_in(_of_a_prediction(_of_a_tool(sample), number))
    ]
    return records if records and parts_of(records[0]) is not None else []


def _of_a_tool(entry: Record) -> Record:
    """Return a record with its parts where all records have them, or where `--keys` says."""
    entry = under_known_names(entry)
    return _of_promptfoo(entry) or _of_bedrock(entry) or lift_parts(entry)


def _of_bedrock(entry: Record) -> Record | None:
    """Return the conversation of an evaluation of Bedrock, as messages."""
    turns = entry.get(TURNS)
    if not isinstance(turns, list):
        return None
    messages: list[Record] = []
    for turn in (turn for turn in turns if isinstance(turn, dict)):
        inner = turn.get("inputRecord")
        whole = {**turn, **(inner if isinstance(inner, dict) else {})}
        output = whole.get("output")
        messages.append({"role": "user", "content": text_of(whole.get("prompt"))})
        if isinstance(output, dict):
            found = output.get("retrievedPassages")
            messages.append({**output, "role": "assistant", "retrievedPassages": found})
    return {"messages": messages}


def _of_a_prediction(entry: Record, number: int) -> Record:
    """Return a record; without a question its topic is its number, as LlamaIndex joins them."""
    parts = parts_of(entry)
    nameless = parts is not None and not parts.topic_id
    return {**entry, "question_id": str(number)} if nameless else entry


def _of_promptfoo(entry: Record) -> Record | None:
    """Return the record of one of promptfoo's results: what was put into the prompt, the output.

    Contexts are among the variables, in the output, or in what the provider says beside it. A
    provider that failed gave no answer.
    """
    given, answered = entry.get("vars"), entry.get("response")
    if answered is None and entry.get("error") and "provider" in entry:
        answered = ""
    if not isinstance(given, Mapping) or not isinstance(answered, Mapping | str):
        return None
    said = answered if isinstance(answered, dict) else {"output": answered}
    others = [v for k, v in given.items() if plain(k) not in (*CONTEXTS, *ANSWERS)]
    asked = [*values_of(given, QUESTIONS), *others]
    places = (given, *layers(said, ("output", *BESIDE)))
    return {
        "question": text_of(asked[0]) if asked else "",
        "answer": said.get("output"),
        "contexts": next((v for place in places for v in values_of(place, CONTEXTS)), None),
        "run_id": _provider(entry.get("provider")),
    }


def _provider(provider: Any) -> str | None:
    if isinstance(provider, Mapping):
        return as_id(provider.get("label")) or as_id(provider.get("id"))
    return as_id(provider)


ROWS_LOOKED_AT = 20
"""First rows of a table, one of which has a passage where each row has one."""


def run_records(file: Path | Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, record) of a run file, under the names that formats know.

    What is no record is reported and passed over, and a key of `--keys` that no record has. Raises
    InputError if the file cannot be read.
    """
    opened, met = Opened.of(file), set[str]()
    rows = _rows(opened, report)
    yield from noting_keys(rows, met) if record_keys() else rows
    for part in record_keys().keys() - met:
        message = f"no record has {record_keys()[part]!r}, which `--keys` names for the {part}"
        report(Finding("key_not_there", Place(str(opened.path)), message, record_keys()[part]))


def _rows(opened: Opened, report: OnFinding) -> Iterator[Row]:
    def tell(message: str) -> None:
        report(Finding("trace_unused", Place(str(opened.path)), message))

    if not is_export(opened.path) and is_table(opened):
        rows = ((line, under_known_names(record)) for line, record in table_records(opened, report))
        return passages_joined(_records(rows, tell=tell), ROWS_LOOKED_AT)
    return passages_joined(_records(_objects(opened, report), tell=tell), 1)


def first_records(file: Path | Opened, count: int) -> list[dict[str, Any]]:
    """Return the first few records of a run file, as far as they can be read."""
    opened = Opened.of(file)
    try:
        return _first(opened, count)
    finally:
        if opened is not file:
            opened.close()


def _first(opened: Opened, count: int) -> list[dict[str, Any]]:
    if is_export(opened.path):
        with suppress(InputError):
            return [r for _, r in islice(_records(_objects(opened, ignore), begun=True), count)]
        return []
    if is_table(opened):
        with suppress(InputError):  # reported where the file is read
            rows = islice(table_records(Opened(opened.path), ignore, count), count)
            # The answer may stand in a later row of the same response.
            return [{"answer": "", **under_known_names(record)} for _, record in rows]
        return []
    records = first_objects(opened, count)
    whole = (inner for record in records for inner in split_columns(record, ignore))
    return [record for _, record in islice(_records(enumerate(whole), begun=True), count)]


def records_of(record: Record) -> Iterator[Record]:
    """Yield the records inside an object under the names that formats know, its traces too."""
    return (found for _, found in _records([(0, record)]))


def _objects(opened: Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, object); one that holds records by column as those records."""
    read = exported_objects(opened.path, report) if is_export(opened.path) else None
    for line, record in read or objects(opened, report):
        place = Place(str(opened.path), line)
        complaints: list[str] = []
        whole_records = split_columns(record, complaints.append)
        for message in complaints:
            report(Finding("record_unknown_shape", place, message))
        for whole in whole_records:
            yield line, whole


def _with_conversations(found: Iterable[Row]) -> Iterator[Row]:
    """Yield (line, object); messages that follow one another are one object, a conversation."""
    held: list[Row] = []
    for line, record in found:
        if is_message(record) and len(held) < limits().entries:
            held.append((line, record))
            continue
        yield from _conversation(held)
        held = []
        yield line, record
    yield from _conversation(held)


def _conversation(held: list[Row]) -> Iterator[Row]:
    if held:
        yield held[0][0], {"messages": [message for _, message in held]}


def _records(
    found: Iterable[Row], begun: bool = False, tell: Callable[[str], None] | None = None
) -> Iterator[Row]:
    """Yield (line, record) of what objects hold, and after them those of the traces.

    `begun`: not all is read, so that a trace without an answer may get one. `tell` is told what
    the traces say besides.
    """
    traces = Traces()
    for line, record in _with_conversations(found):
        for inner in records_in(record):
            if inner is not record and is_span(inner):  # those of tracks are passed on
                traces.add(line, inner)
            else:
                yield line, inner
    for line, trace in traces.records():
        if begun:
            trace.setdefault("outputs", None)
        yield from ((line, record) for record in responses_in(trace))
    if tell is not None and traces.unused:
        tell(f"has traces that also say {', '.join(sorted(traces.unused))}")

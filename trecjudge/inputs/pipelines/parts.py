"""The parts of a pipeline's record, under the names that the tools of the field give them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import orjson

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import ABSENT, SAMPLE_KEY_OF, CitingSpan, Draft
from trecjudge.inputs.pipelines.contexts import read_contexts
from trecjudge.inputs.pipelines.services import (
    TEXTS,
    PlainFields,
    ServiceAnswer,
    holds_unread,
    read_answer,
    text_of,
    values_of,
)
from trecjudge.settings.limits import limits
from trecjudge.text.visible import is_blank

QUESTIONS = (
    *("question", "userinput", "query", "userquery", "input", "prompt", "instruction", "inputs"),
    *("request", "message"),
)
"""RAGAS, DeepEval, LangChain, LlamaIndex, TruLens, BERGEN; the first that holds text counts."""
ANSWERS = (
    *("answer", "response", "actualoutput", "output", "result", "generatedanswer", "predictions"),
    *("prediction", "generatedtext", "generation", "completion", "reply", "replies", "outputs"),
    *("filteredresps", "resps"),
)
CONTEXTS = (
    *("contexts", "retrievedcontexts", "retrievalcontext", "context", "sourcedocuments"),
    *("sourcenodes", "retrieveddocuments", "retrievedpassages", "documents", "docs", "passages"),
    *("chunks", "sources", "searchresults", "retrievalresults", "doc", "ctxs", "retrievedcontext"),
    *("retrievedreferences", "paragraphs", "retrieveddocs", "retrievedchunks", "relevantchunks"),
    *("contextdocs", "knowledge", "ctx", "retrieved", "retrieval", "retrieverresources"),
)
CITED = ("sources", "doc")
"""Contexts that are what an answer names, in no order of a search."""
BEFORE = "turns_before"
"""Under this name a record of a conversation has what was said before, once it is taken apart."""
TOPICS = ("topicid", "questionid", "queryid", "qid", "taskid", "exampleid", "testcaseid")
SAMPLES = tuple(SAMPLE_KEY_OF)
"""Which of several answers of one system to one question a record is; the last may name both."""
LONGEST_SAMPLE = 40
RUNS = ("runid", "systemid", "system")
OF_A_TRACK = ("responses", "references", "narrativeid", "requestid", "isragtime", "turnid")
"""Keys of the tracks' formats: a record that has one is no pipeline's."""
METADATA_OF_A_TRACK = ("topicid", "narrativeid", "requestid", "runid", "teamid")
WORDS_OF_AN_ID = 5
"""How many words of a question its id begins with."""
MADE_ID = re.compile(
    rf"(?P<words>(?:[a-z0-9]+-){{1,{WORDS_OF_AN_ID}}})(?P<digest>[0-9a-f]{{8}})(?P<sample>~.+)?"
)
"""An id of a question with words, and the sample that a response to it is."""


@dataclass(frozen=True, slots=True)
class RecordParts:
    """What a pipeline's record holds. `contexts` is as written, None where there are none.

    `spans` are the citations that are given beside the answer, None where its marks are to be read.
    `ranked`: the contexts are in the order in which they were retrieved.

    `why` names the keys that it was known by. `id_made`: the id of its topic is made from its
    question; `run_id` is empty where the record has none.
    """

    question: str
    answer: str
    contexts: Any
    topic_id: str
    id_made: bool
    run_id: str
    why: str
    spans: tuple[CitingSpan, ...] | None = None
    ranked: bool = False
    background: str = ""


def parts_of(record: Mapping[str, Any]) -> RecordParts | None:
    """Return the parts of a pipeline's record, None of any other.

    A record is a pipeline's if it has a question and an answer, or an answer and contexts, and
    none of the keys that only records of the tracks have. With a question and texts as contexts
    it is one though it has references, or ids in its metadata.
    """
    fields = PlainFields(record)
    if _is_of_a_track(fields):
        return None
    asked, question = _first_text(fields, QUESTIONS)
    name = _contexts_name(fields)
    key = fields.keys.get(name, "")
    answered, said = _first_answer(fields, fields.get(name))
    if not answered or not (asked or key or said.contexts):
        return None
    inner = _metadata(fields)
    topic_id = fields.first_id(TOPICS) or inner.first_id(METADATA_OF_A_TRACK[:3])
    topic_id = topic_id or ("" if asked else fields.first_id(("id",)))
    named = dict.fromkeys(filter(None, (asked, answered, key)))
    return RecordParts(
        question,
        said.text,
        said.contexts,
        topic_id or id_of_question(question),
        not topic_id,
        fields.first_id(RUNS) or inner.first_id(RUNS[:1]),
        " and ".join(f"`{name}`" for name in named),
        said.spans,
        said.contexts is not None and bool(key) and name not in CITED,
        text_of(record.get(BEFORE)),
    )


def with_contexts(draft: Draft, record: Mapping[str, Any]) -> Draft:
    """Return the draft of a track's record; without documents its contexts are these.

    They are in the order that numbers count, unless there are references.
    """
    fields = PlainFields(record)
    given = draft.documents is not ABSENT and draft.documents is not None
    if given or not _holds_texts(fields):
        return draft
    contexts = fields.get(_contexts_name(fields))
    # With references a list is read as any list of documents.
    listed = isinstance(contexts, list) and isinstance(draft.references, list) and draft.references
    return replace(draft, documents=contexts if listed else read_contexts(contexts))


def sample_of(record: Mapping[str, Any]) -> str:
    """Return which of several answers to one question a record says that it is, empty if none."""
    fields = PlainFields(record)
    # Without another id, that of a sample may be the question's.
    unsure = fields.keys.keys().isdisjoint(TOPICS)
    found = fields.first_id(n for n in SAMPLES if n != "sampleid" or not unsure)
    return found if len(found) <= LONGEST_SAMPLE else ""


def _metadata(fields: PlainFields) -> PlainFields:
    inner = fields.get("metadata")
    return PlainFields(inner if isinstance(inner, Mapping) else {})


def _is_of_a_track(fields: PlainFields) -> bool:
    asked = not fields.keys.keys().isdisjoint(QUESTIONS)
    theirs = [name for name in OF_A_TRACK if fields.get(name) is not None]
    if theirs and not (asked and theirs == ["references"]):
        return True
    names = METADATA_OF_A_TRACK[:3] if asked else METADATA_OF_A_TRACK
    theirs += _metadata(fields).keys.keys() & set(names)
    if is_list_of_sentences(fields.record.get("answer")):
        return bool(theirs) or not asked or "topicid" in fields.keys
    return bool(theirs) and not (asked and _holds_texts(fields))


def _holds_texts(fields: PlainFields) -> bool:
    """Return whether a record has texts as contexts; the tracks call them `documents` too."""
    name = _contexts_name(fields)
    there = name not in ("", "documents")
    return there and any(d.has_text for d in read_contexts(fields.get(name)).documents)


def _contexts_name(fields: PlainFields) -> str:
    """Return the name of a record's contexts, of several the first that is not null."""
    there = [name for name in CONTEXTS if name in fields.keys]
    return next((n for n in there if fields.get(n) is not None), next(iter(there), ""))


def is_list_of_sentences(answer: Any) -> bool:
    """Return whether an answer is a list as the tracks have it; services type their parts."""
    first = answer[0] if isinstance(answer, list) and answer else None
    return isinstance(answer, list) and not (isinstance(first, Mapping) and "type" in first)


def _first_answer(fields: PlainFields, contexts: Any) -> tuple[str, ServiceAnswer]:
    """Return (key, answer) of the first answer with text, else of one that is empty."""
    empty = ""
    for key, value in fields.items(ANSWERS):
        said = read_answer(value, fields.record, contexts)
        if not is_blank(said.text):
            return key, said
        if value is None or isinstance(value, str) or _is_empty(value):
            empty = empty or key
    return empty, ServiceAnswer("", contexts=contexts)


def _is_empty(answer: Any) -> bool:
    """Return whether an answer without text is of a known kind, and has none that was not read."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    named = isinstance(first, dict) and any(plain(k) in (*TEXTS, "role", "type") for k in first)
    return named and not holds_unread(answer)


def _first_text(fields: PlainFields, names: tuple[str, ...]) -> tuple[str, str]:
    """Return (key, text) of the first of these parts that holds text, else of one that is empty."""
    empty = ""
    for key, value in fields.items(names):
        text = text_of(value)
        if not is_blank(text):
            return key, text
        if value is None or isinstance(value, str):
            empty = empty or key
    return empty, ""


def id_of_question(question: str, asked: str = "") -> str:
    """Return an id made from a question: its first words, and a digest of all of it.

    One question has one id, in every file, whatever its white space and case. `asked` is a
    digest of all questions of a conversation up to the one that is meant.
    """
    if is_blank(question):
        return ""
    even = " ".join(question.split()).casefold()
    digest = hashlib.sha256((asked or even).encode()).hexdigest()[:8]
    words = re.findall(r"[a-z0-9]+", even)[:WORDS_OF_AN_ID]
    return "-".join([*words, digest])


def words_of_id(topic_id: str) -> str:
    """Return the words of an id that `id_of_question` made; no text for any other id.

    A digest without a letter or without a digit, one of 40, could be a date or a word: it is taken
    for the user's own.
    """
    found = MADE_ID.fullmatch(topic_id)
    if found is None or found["digest"].isdigit() or found["digest"].isalpha():
        return ""
    return found["words"].replace("-", " ").strip() + (found["sample"] or "")


# A record of a tool made plain: unwrapped, unflattened, its question and contexts brought up.

GIVEN = ("inputs", "input", "vars", "inputrecord", "request", "doc", "instance", "example")
"""Objects of what a system was given: LangSmith, Phoenix, promptfoo, Bedrock, Vertex, lm-eval."""
REPLIED = ("outputs", "output", "response", "result", "prediction", "values", "state")
CHOSEN = ("choices", "candidates")
"""Objects of what it gave back, LangGraph's state too; and lists, as APIs of models have it."""
BESIDE = ("metadata", "store", "reference")
RETRIEVED = tuple(name for name in CONTEXTS if name not in CITED)
"""Objects in which contexts may lie: inspect_ai, Dify, RAGFlow; and their names."""
WRAPPERS = ("kwargs", "init_parameters")
"""What objects of LangChain and Haystack are made with, where they are written as JSON."""
COLUMNS = ("inputs.", "outputs.", "inputs/", "outputs/")
"""How the columns of evaluations begin: LangSmith and Azure, MLflow."""
DUMPED = ('{"lc":', '[{"lc":')
"""How a text begins that LangChain's `dumps` wrote."""
MOST_STEPS = 12
"""How deep a key may lead, and how many digits a place in a list may have."""
Record = dict[str, Any]


def unwrap(value: Any) -> Any:
    """Return a value without the objects that LangChain and Haystack write around theirs."""
    if isinstance(value, list):
        return [unwrap(entry) for entry in value]
    if not isinstance(value, dict):
        dumped = isinstance(value, str) and value.startswith(DUMPED)
        return unwrap(found) if dumped and (found := parse_json_text(value)) != value else value
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
        key = key.replace("/", ".") if key.startswith(COLUMNS) else key
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
    columns = any(key.startswith(COLUMNS) for key in record)
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
    given = layer.get("args")  # of a function, by place
    values = (*layer.values(), *(given if isinstance(given, list) else ()))
    only = [value for value in values if isinstance(value, str)]
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

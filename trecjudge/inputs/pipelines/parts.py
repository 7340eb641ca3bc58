"""The parts of a pipeline's record, under the names that the tools of the field give them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import ABSENT, Draft, Span
from trecjudge.inputs.pipelines.contexts import read_contexts
from trecjudge.inputs.pipelines.services import Said, said_in, text_of
from trecjudge.inputs.sources.values import as_id
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
SAMPLES = (
    *("sample", "sampleindex", "queryrun", "runnumber", "epoch", "repeat", "repetition"),
    *("trial", "attempt", "rollout", "sampleid"),
)
"""Which of several answers of one system to one question a record is; the last may name both."""
LONGEST_SAMPLE = 40
RUNS = ("runid", "systemid", "system")
OF_A_TRACK = ("responses", "references", "narrativeid", "requestid", "isragtime", "turnid")
"""Keys of the tracks' formats: a record that has one is no pipeline's."""
METADATA_OF_A_TRACK = ("topicid", "narrativeid", "requestid", "runid", "teamid")
WORDS_OF_AN_ID = 5
"""How many words of a question its id begins with."""


@dataclass(frozen=True, slots=True)
class Parts:
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
    spans: tuple[Span, ...] | None = None
    ranked: bool = False
    background: str = ""


def parts_of(record: Mapping[str, Any]) -> Parts | None:
    """Return the parts of a pipeline's record, None of any other.

    A record is a pipeline's if it has a question and an answer, or an answer and contexts, and
    none of the keys that only records of the tracks have. With a question and texts as contexts
    it is one though it has references, or ids in its metadata.
    """
    keys = {plain(key): key for key in reversed(list(record))}
    if _is_of_a_track(record, keys):
        return None
    asked, question = _first(record, keys, QUESTIONS)
    name = _contexts_of(record, keys)
    key = keys.get(name, "")
    answered, said = _said(record, keys, record[key] if key else None)
    if not answered or not (asked or key or said.contexts):
        return None
    inner = record[keys["metadata"]] if "metadata" in keys else None
    inner = inner if isinstance(inner, Mapping) else {}
    within = {plain(key): key for key in inner}
    topic_id = _id(record, keys, TOPICS) or _id(inner, within, METADATA_OF_A_TRACK[:3])
    topic_id = topic_id or ("" if asked else _id(record, keys, ("id",)))
    named = dict.fromkeys(filter(None, (asked, answered, key)))
    return Parts(
        question,
        said.text,
        said.contexts,
        topic_id or id_of_question(question),
        not topic_id,
        _id(record, keys, RUNS) or _id(inner, within, RUNS[:1]),
        " and ".join(f"`{name}`" for name in named),
        said.spans,
        said.contexts is not None and bool(key) and name not in CITED,
        text_of(record.get(BEFORE)),
    )


def with_contexts(draft: Draft, record: Mapping[str, Any]) -> Draft:
    """Return the draft of a track's record; without documents its contexts are these.

    They are in the order that numbers count, unless there are references.
    """
    keys = {plain(key): key for key in reversed(list(record))}
    given = draft.documents is not ABSENT and draft.documents is not None
    if given or not _holds_texts(record, keys):
        return draft
    contexts = record[keys[_contexts_of(record, keys)]]
    # With references a list is read as any list of documents.
    listed = isinstance(contexts, list) and isinstance(draft.references, list) and draft.references
    return replace(draft, documents=contexts if listed else read_contexts(contexts))


def sample_of(record: Mapping[str, Any]) -> str:
    """Return which of several answers to one question a record says that it is, empty if none."""
    keys = {plain(key): key for key in reversed(list(record))}
    # Without another id, that of a sample may be the question's.
    unsure = keys.keys().isdisjoint(TOPICS)
    found = _id(record, keys, tuple(n for n in SAMPLES if n != "sampleid" or not unsure))
    return found if len(found) <= LONGEST_SAMPLE else ""


def _is_of_a_track(record: Mapping[str, Any], keys: Mapping[str, str]) -> bool:
    asked = not keys.keys().isdisjoint(QUESTIONS)
    theirs = [n for n in OF_A_TRACK if n in keys and record[keys[n]] is not None]
    if theirs and not (asked and theirs == ["references"]):
        return True
    inner = record[keys["metadata"]] if "metadata" in keys else None
    names = set(map(plain, inner)) if isinstance(inner, Mapping) else set()
    theirs += names.intersection(METADATA_OF_A_TRACK[:3] if asked else METADATA_OF_A_TRACK)
    if is_list_of_sentences(record.get("answer")):
        return bool(theirs) or not asked or "topicid" in keys
    return bool(theirs) and not (asked and _holds_texts(record, keys))


def _holds_texts(record: Mapping[str, Any], keys: Mapping[str, str]) -> bool:
    """Return whether a record has texts as contexts; the tracks call them `documents` too."""
    name = _contexts_of(record, keys)
    there = name not in ("", "documents")
    return there and any(d.has_text for d in read_contexts(record[keys[name]]).documents)


def _contexts_of(record: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    """Return the name of a record's contexts, of several the first that is not null."""
    there = [name for name in CONTEXTS if name in keys]
    return next((n for n in there if record[keys[n]] is not None), next(iter(there), ""))


def is_list_of_sentences(answer: Any) -> bool:
    """Return whether an answer is a list as the tracks have it; services type their parts."""
    first = answer[0] if isinstance(answer, list) and answer else None
    return isinstance(answer, list) and not (isinstance(first, Mapping) and "type" in first)


def _said(record: Mapping[str, Any], keys: Mapping[str, str], contexts: Any) -> tuple[str, Said]:
    """Return (key, answer) of the first answer with text, else of one that is empty."""
    empty = ""
    for key in (keys[name] for name in ANSWERS if name in keys):
        said = said_in(record[key], record, contexts)
        if not is_blank(said.text):
            return key, said
        if _is_empty_answer(record[key]):
            empty = empty or key
    return empty, Said("", contexts=contexts)


def _is_empty_answer(value: Any) -> bool:
    """Return whether an answer without text is one: null, or an empty text, message or block."""
    first = value[0] if isinstance(value, list) and value else value
    known = isinstance(first, dict) and not first.keys().isdisjoint(("role", "type"))
    return value is None or isinstance(value, str) or known


def _first(
    record: Mapping[str, Any], keys: Mapping[str, str], names: tuple[str, ...]
) -> tuple[str, str]:
    """Return (key, text) of the first of these parts that holds text, else of one that is empty.

    Both are empty where there is neither.
    """
    empty = ""
    for key in (keys[name] for name in names if name in keys):
        text = text_of(record[key])
        if not is_blank(text):
            return key, text
        if record[key] is None or isinstance(record[key], str):
            empty = empty or key
    return empty, ""


def _id(record: Mapping[str, Any], keys: Mapping[str, str], names: tuple[str, ...]) -> str:
    found: Iterator[str | None] = (as_id(record[keys[name]]) for name in names if name in keys)
    return next(filter(None, found), "")


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

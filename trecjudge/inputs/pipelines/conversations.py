"""Questions and answers in a list of messages: OpenAI's form, RAGAS's turns, MTRAG's speakers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.parts import (
    ANSWERS as ANSWER_NAMES,
)
from trecjudge.inputs.pipelines.parts import (
    BEFORE,
    CONTEXTS,
    QUESTIONS,
    REPLIED,
    TOPICS,
    id_of_question,
    unwrap,
)
from trecjudge.inputs.pipelines.services import holds_unread, text_of, values_of
from trecjudge.inputs.sources.values import as_id
from trecjudge.text.visible import is_blank

LISTS = (
    *("messages", "userinput", "input", "conversation", "turns", "prompt", "contents", "inputs"),
    *("outputs", "output", "request", "conversations", "values", "state"),
)
"""Where a record keeps its messages, or the object that has them."""
ROLES = ("role", "speaker", "type", "author", "from")
ASKS = frozenset({"user", "human"})
ANSWERS = frozenset({"assistant", "ai", "model", "agent", "bot", "gpt"})
SETS = frozenset({"system", "developer"})
RETRIEVES = frozenset(
    (
        *("tool", "function", "toolresult", "context", "filesearchcall", "functioncalloutput"),
        *("customtoolcalloutput", "mcpcall", "observation"),
    )
)
FETCHED = (
    *("artifact", "retrievalcontext", "retrievedcontexts", "contexts", "retrievedpassages"),
    *("results", "context"),
)
"""Where a message keeps what was retrieved for it: LangChain's tools, DeepEval's turns, Azure."""
RESULTS = ("toolresult", "functionresponse")
"""Types and keys of the parts of a message that are results: Anthropic; Bedrock and Gemini."""
DOCUMENTS = ("document", "searchresult")
"""Types of the parts of a message that are documents: Anthropic, Cohere."""

MOST_BEFORE = 40
"""Questions and answers before a question that are kept as what was said before."""


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """A question in a list of messages, the answer to it, and what was said before.

    `answer` is the message as written, None where there is none; `contexts` is what tools returned
    before the answer, None without any; `asked` is a digest of all questions up to this one.
    """

    question: str
    answer: Mapping[str, Any] | None
    contexts: list[Any] | None
    background: str
    first: str
    asked: str


def is_message(record: Mapping[str, Any]) -> bool:
    """Return whether a record is one message of a conversation that a whole file or list holds."""
    names = record.keys()
    if names.isdisjoint((*ROLES, "lc")) or names.isdisjoint(("content", "parts", "data", "kwargs")):
        return False
    inner = unwrap(record)
    said = not inner.keys().isdisjoint(("content", "parts"))
    return said and _role(inner) in (ASKS | ANSWERS | RETRIEVES | SETS)


def messages_at(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the first list of messages of a record, empty where it has none."""
    for value in (value for key, value in record.items() if plain(key) in LISTS):
        if isinstance(value, Mapping) and (inner := messages_at(value)):
            return inner
        if isinstance(value, list):
            found = [_inner(entry) for entry in value if isinstance(entry, Mapping)]
            if any(_role(message) in ASKS | ANSWERS for message in found):
                return found
    return []


def turns_in(messages: Sequence[Mapping[str, Any]]) -> list[ChatTurn]:
    """Return the turns of a conversation: its questions, each with the last answer to it."""
    turns: list[ChatTurn] = []
    said: list[str] = []
    asked = hashlib.sha256()
    fetched: list[Any] | None = None
    at = [place for place, message in enumerate(messages) if _role(message) in ASKS]
    for begin, end in pairwise([*at, len(messages)]):
        question, after = text_of(messages[begin]), messages[begin + 1 : end]
        found = [entry for message in messages[begin:end] for entry in _fetched_in(message)]
        # A later answer without a search of its own rests on what was found before it.
        fetched = found if found or any(_role(m) in RETRIEVES for m in after) else fetched
        replies = [m for m in after if _role(m) in ANSWERS and not m.get("tool_calls")]
        replies = [m for m in after if _role(m) in ANSWERS and not is_blank(text_of(m))] or replies
        answer, background = (replies[-1] if replies else None), "\n".join(said[-MOST_BEFORE:])
        asked.update(" ".join((*question.split(), "\n")).casefold().encode())
        first = turns[0].question if turns else question
        turns.append(ChatTurn(question, answer, fetched, background, first, asked.hexdigest()))
        said.append(f"user: {question}")
        said += [f"assistant: {text_of(answer)}"] if answer else []
    return turns


def _inner(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message that stands in an object by itself, as OpenInference has it."""
    inner = message.get("message")
    return inner if isinstance(inner, Mapping) and "role" not in message else message


def _role(message: Mapping[str, Any]) -> str:
    # The tools of Anthropic, Bedrock and Gemini answer as the user.
    if any(_result_of(part) is not None for part in _parts(message)[:1]):
        return "toolresult"
    return next((plain(message[key]) for key in ROLES if isinstance(message.get(key), str)), "")


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = message.get("content", message.get("parts", message.get("output")))
    return [p for p in parts if isinstance(p, Mapping)] if isinstance(parts, list) else []


def _result_of(part: Mapping[str, Any]) -> Any:
    """Return the result of a tool that a part of a message is, None of any other part."""
    if plain(part.get("type")).endswith(RESULTS):
        return part.get("content", "")
    inner = next((part[key] for key in part if plain(key) in RESULTS), None)
    return inner.get("content", inner.get("response")) if isinstance(inner, Mapping) else None


def _fetched_in(message: Mapping[str, Any]) -> list[Any]:
    """Return what a message says was retrieved: results of tools, documents, contexts beside."""
    for key, value in message.items():
        inner = value.values() if isinstance(value, Mapping) else [value]
        found = next((entries for entries in inner if isinstance(entries, list)), None)
        if plain(key) in FETCHED and (found or isinstance(value, str)):
            return found or _results(value)
    parts, found = _parts(message), []
    for part in parts:
        result = _result_of(part)
        found += _document(part) if result is None else _results(result)
    if found or _role(message) not in RETRIEVES:
        return found
    content = parts or text_of(message) or message.get("content")
    return _results(content) if content or not holds_unread(message) else [_without_role(message)]


def _without_role(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if plain(key) not in ROLES}


def _results(value: Any) -> list[Any]:
    """Return what a tool gave back: documents, the entries of its JSON if it is a list, or text."""
    if isinstance(value, list):
        return [entry for part in value for entry in _results(part)]
    if isinstance(value, Mapping):
        if len(value) == 1:
            return _results(next(iter(value.values())))
        return _document(value) or (_results(text_of(value)) if "type" in value else [value])
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(orjson.JSONDecodeError):
            found = orjson.loads(value)
            inner = list(found.values()) if isinstance(found, dict) else []
            only = inner[0] if len(inner) == 1 and isinstance(inner[0], list) else found
            return only if isinstance(only, list) else [only]
    return [value] if isinstance(value, str) and not is_blank(value) else []


def _document(part: Mapping[str, Any]) -> list[Any]:
    """Return the document that a part of a message is; one in a file has a text nobody knows."""
    if plain(part.get("type")) not in DOCUMENTS:
        return []
    source = part.get("source", part.get("document"))
    if not isinstance(source, Mapping):
        return [part]
    about = {key: v for of in (part, source) for key, v in of.items() if key in ("id", "title")}
    data = source.get("data", source.get("content"))
    if source.get("type", "text") not in ("text", "content") or data is None:
        return [{**about, "truncated": True}]
    found = next(iter(_results(data if isinstance(data, str) else text_of(data))), "")
    return [{**about, **(found if isinstance(found, Mapping) else {"text": found})}]


Record = dict[str, Any]


def responses_in(record: Record) -> Iterator[Record]:
    """Yield a record for each answer of a conversation, or the record where it is none.

    The first has the topic id of the record, the second `id#2`. What a system was given is no
    answer of it, if there is one beside: then only the last is.
    """
    asked = messages_at({key: v for key, v in record.items() if plain(key) not in REPLIED})
    said = messages_at({key: v for key, v in record.items() if plain(key) in REPLIED})
    turns = turns_in(said) or turns_in([*asked, *said])
    if not turns or (background := _history(record, turns)):
        yield record | ({BEFORE: background} if turns else {})
        return
    answered = [turn for turn in turns if turn.answer is not None]
    if said or turns[-1].answer is None:
        yield _response(record, turns[-1], len(turns), only_last=True)
        return
    for number, turn in enumerate(answered, 1):
        yield _response(record, turn, number, only_last=False)


def _history(record: Record, turns: list[ChatTurn]) -> str:
    """Return what was said before, where a record has its question and answer beside it."""
    asked = any(isinstance(value, str) for value in values_of(record, QUESTIONS))
    said = next((v for v in values_of(record, ANSWER_NAMES) if isinstance(v, str)), None)
    if not asked or said is None or any(text_of(turn.answer) == said for turn in turns):
        return ""
    last = turns[-1]
    return f"{last.background}\nuser: {last.question}\nassistant: {text_of(last.answer)}".strip()


def _response(record: Record, turn: ChatTurn, number: int, only_last: bool) -> Record:
    """Return the record of one turn of a conversation."""
    found: Record = {BEFORE: turn.background}
    # A prompt with instructions around the question is not the question.
    if number > 1 or not any(isinstance(v, str) for v in values_of(record, QUESTIONS)):
        found["question"] = turn.question
    if turn.answer is not None:
        found["answer"] = turn.answer
    if turn.contexts is not None and all(v is None for v in values_of(record, CONTEXTS)):
        found["contexts"] = turn.contexts
    topic_id = next(filter(None, map(as_id, values_of(record, TOPICS))), None)
    if number > 1 and not (topic_id and only_last):
        base = topic_id or id_of_question(turn.first, turn.asked)
        found["topic_id"] = f"{base}#{number}"
    return {**record, **found}

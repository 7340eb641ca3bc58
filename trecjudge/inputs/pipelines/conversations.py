"""Questions and answers in a list of messages: OpenAI's form, RAGAS's turns, MTRAG's speakers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.services import text_of as text_of
from trecjudge.text.visible import is_blank

LISTS = (
    *("messages", "userinput", "input", "conversation", "turns", "prompt", "contents", "inputs"),
    *("outputs", "output", "request"),
)
"""Where a record keeps its messages, or the object that has them."""
ROLES = ("role", "speaker", "type", "author")
ASKS = frozenset({"user", "human"})
ANSWERS = frozenset({"assistant", "ai", "model", "agent", "bot"})
RETRIEVES = frozenset({"tool", "function", "toolresult", "context", "filesearchcall"})
FETCHED = (
    *("artifact", "retrievalcontext", "retrievedcontexts", "contexts", "retrievedpassages"),
    "results",
)
"""Where a message keeps what was retrieved for it: LangChain's tools, DeepEval's turns."""

MOST_BEFORE = 40
"""Questions and answers before a question that are kept as what was said before."""


@dataclass(frozen=True, slots=True)
class Turn:
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


def turns_in(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Return the turns of a conversation: its questions, each with the last answer to it."""
    turns: list[Turn] = []
    said: list[str] = []
    asked = hashlib.sha256()
    fetched: list[Any] | None = None
    at = [place for place, message in enumerate(messages) if _role(message) in ASKS]
    for begin, end in pairwise([*at, len(messages)]):
        question, after = text_of(messages[begin]), messages[begin + 1 : end]
        found = [entry for message in after for entry in _fetched(message)]
        # A later answer without a search of its own rests on what was found before it.
        fetched = found if found or any(_role(m) in RETRIEVES for m in after) else fetched
        replies = [m for m in after if _role(m) in ANSWERS and not m.get("tool_calls")]
        replies = [m for m in after if _role(m) in ANSWERS and not is_blank(text_of(m))] or replies
        answer, background = (replies[-1] if replies else None), "\n".join(said[-MOST_BEFORE:])
        asked.update(" ".join((*question.split(), "\n")).casefold().encode())
        first = turns[0].question if turns else question
        turns.append(Turn(question, answer, fetched, background, first, asked.hexdigest()))
        said.append(f"user: {question}")
        said += [f"assistant: {text_of(answer)}"] if answer else []
    return turns


def _inner(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message that stands in an object by itself, as OpenInference has it."""
    inner = message.get("message")
    return inner if isinstance(inner, Mapping) and "role" not in message else message


def _role(message: Mapping[str, Any]) -> str:
    parts = message.get("content")
    first = parts[0] if isinstance(parts, list) and parts else None
    if isinstance(first, Mapping) and first.get("type") == "tool_result":
        return "toolresult"  # Anthropic's tools answer as the user
    return next((plain(message[key]) for key in ROLES if isinstance(message.get(key), str)), "")


def _fetched(message: Mapping[str, Any]) -> list[Any]:
    """Return what a message says was retrieved: a tool's result, or a list of contexts beside."""
    for key, value in message.items():
        inner = value.values() if isinstance(value, Mapping) else [value]
        found = next((entries for entries in inner if isinstance(entries, list)), None)
        if plain(key) in FETCHED and found:
            return found
    return _result(text_of(message)) if _role(message) in RETRIEVES else []


def _result(content: str) -> list[Any]:
    """Return what a tool gave back: the entries of its JSON where it is a list, else its text."""
    if content.lstrip()[:1] in ("[", "{"):
        with suppress(orjson.JSONDecodeError):
            found = orjson.loads(content)
            inner = list(found.values()) if isinstance(found, dict) else []
            only = inner[0] if len(inner) == 1 and isinstance(inner[0], list) else found
            return only if isinstance(only, list) else [only]
    return [] if is_blank(content) else [content]

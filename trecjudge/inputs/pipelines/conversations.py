"""Questions and answers in a list of messages: OpenAI's form, RAGAS's turns, MTRAG's speakers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from trecjudge.inputs.documents.names import plain
from trecjudge.text.visible import is_blank

LISTS = ("messages", "userinput", "input", "conversation", "turns", "prompt")
"""Where a record keeps its messages."""
ROLES = ("role", "speaker", "type", "author")
TEXTS = ("content", "text", "output", "value", "answer", "response", "result")
ASKS = frozenset({"user", "human"})
ANSWERS = frozenset({"assistant", "ai", "model", "agent", "bot"})
RETRIEVES = frozenset({"tool", "function", "toolresult", "context"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """The last question of a list of messages, the answer to it, and what tools returned.

    `answer` is empty where the list ends with the question; `contexts` is None without a tool.
    """

    key: str
    question: str
    answer: str
    contexts: list[Any] | None


def conversation_in(record: Mapping[str, Any]) -> Conversation | None:
    """Return the conversation of a record, None where it has no list of messages."""
    for key in record:
        messages = record[key] if plain(key) in LISTS else None
        if isinstance(messages, list) and (found := _read(key, messages)) is not None:
            return found
    return None


def _read(key: str, messages: Sequence[Any]) -> Conversation | None:
    turns = [(_role(m), m) for m in messages if isinstance(m, Mapping)]
    asked = [at for at, (role, _) in enumerate(turns) if role in ASKS]
    if not asked:
        return None
    after = turns[asked[-1] + 1 :]
    said = [text for role, m in after if role in ANSWERS and not is_blank(text := _content(m))]
    tools = [_result(_content(m)) for role, m in turns if role in RETRIEVES]
    contexts = [entry for result in tools for entry in result] if tools else None
    return Conversation(key, _content(turns[asked[-1]][1]), said[-1] if said else "", contexts)


def _role(message: Mapping[str, Any]) -> str:
    return next((plain(message[key]) for key in ROLES if isinstance(message.get(key), str)), "")


def _content(message: Mapping[str, Any]) -> str:
    return next((text for key in TEXTS if (text := text_of(message.get(key)))), "")


def text_of(value: Any) -> str:
    """Return the text that a value holds: itself, that of its parts, or under a usual name."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _content(value)
    if isinstance(value, list):
        # Parts of one message, or several answers of one system, of which the first counts.
        parts = [text for part in value if (text := text_of(part))]
        typed = all(isinstance(part, Mapping) and "type" in part for part in value)
        return "\n".join(parts) if typed else next(iter(parts), "")
    return ""


def _result(content: str) -> list[Any]:
    """Return what a tool gave back: the entries of its JSON where it is a list, else its text."""
    if content.lstrip()[:1] in ("[", "{"):
        with suppress(orjson.JSONDecodeError):
            found = orjson.loads(content)
            inner = list(found.values()) if isinstance(found, dict) else []
            only = inner[0] if len(inner) == 1 and isinstance(inner[0], list) else found
            return only if isinstance(only, list) else [only]
    return [] if is_blank(content) else [content]

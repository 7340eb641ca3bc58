"""Topics from records: their ids and texts, by every name that files of the field use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import Topic

ID_KEYS = (
    "topic_id",
    "request_id",
    "narrative_id",
    "query_id",
    "qid",
    "id",
    "_id",
    "number",
    "num",
    "docid",
    "turn_id",
)
SAME_KEYS = ("topic_id", "request_id", "narrative_id")
"""Names of the same id: a record with two different ones names two topics."""
TITLE_KEYS = (
    "title",
    "query",
    *("prompt", "user_input", "user_query", "input", "instruction"),
    "topic",
    "question",
    "text",
    "query_text",
    "user_utterance",
    "utterance",
    "description",
    "desc",
    "narrative",
    "narr",
)
"""Names of the title: the first one present is it; others belong to the problem statement."""
PROBLEM_KEYS = ("problem_statement", "resolved_utterance", *TITLE_KEYS)
BACKGROUND_KEYS = ("background", "original_background", "context", "ptkb")
BODY_KEYS = ("article", "body")
QUESTION_KEYS = ("question_type", "query_type", "question_kind")
"""Names of the kind of question."""
TEXT_KEYS = (*PROBLEM_KEYS, *BACKGROUND_KEYS, *BODY_KEYS)
Record = Mapping[str, Any]


def name_of(key: str) -> str:
    """Return a key or a column's heading as this module names it: `Query ID`, `queryId`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.strip())
    return re.sub(r"[\s-]+", "_", parted).lower()


def name_fields(record: Record) -> dict[str, Any]:
    """Return a record by these names; of several keys of one name the first filled one counts."""
    fields: dict[str, Any] = {}
    for key, value in record.items():
        name = name_of(key)
        if fields.get(name) in (None, ""):
            fields[name] = value
    return fields


def id_of(fields: Record) -> str | None:
    """Return the id of a record by names, None where it has none."""
    ids = (as_id(fields.get(key)) for key in ID_KEYS)
    return next((found for found in ids if found), None)


def topic_of(fields: Record) -> tuple[Topic, tuple[str, ...]] | None:
    """Return (topic, names of fields whose text it leaves out) of a record; None without an id."""
    topic_id = id_of(fields)
    if topic_id is None:
        return None
    title_key = next((key for key in TITLE_KEYS if text_at(fields, [key])), "")
    title = text_at(fields, [title_key])
    limit = fields.get("limit")
    topic = Topic(
        topic_id=topic_id,
        title=title,
        problem_statement=text_at(fields, [k for k in PROBLEM_KEYS if k != title_key], title),
        background=text_at(fields, BACKGROUND_KEYS),
        body=text_at(fields, BODY_KEYS),
        url=as_text(fields.get("url")),
        # True is an int in Python, and no limit.
        limit=limit if isinstance(limit, int) and not isinstance(limit, bool) else None,
        question=text_at(fields, QUESTION_KEYS),
    )
    return topic, tuple(_unused_names(fields, topic))


def text_at(fields: Record, keys: Iterable[str], before: str = "") -> str:
    """Return the texts of these keys, with blank lines between; each once, and none of `before`."""
    fresh = {normalize_text(before): "", "": ""}
    for key in keys:
        text = "\n".join(texts_in(fields.get(key)))
        fresh.setdefault(normalize_text(text), text)
    return "\n\n".join(filter(None, fresh.values()))


def texts_in(value: Any) -> Iterator[str]:
    """Yield the text in a JSON value: itself, or that of the values in a list or an object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from texts_in(entry)


def _unused_names(fields: Record, topic: Topic) -> Iterator[str]:
    """Yield the names of other fields whose text the topic does not have.

    In a topic without any text, every field counts; in others only text that is more than a label.
    """
    parts = (topic.title, topic.problem_statement, topic.background, topic.body)
    used = normalize_text(" ".join(parts))
    for name, value in fields.items():
        if name in (*ID_KEYS, *TEXT_KEYS, *QUESTION_KEYS, "url", "limit"):
            continue
        read = (line for text in texts_in(value) for line in text.splitlines())
        if any(normalize_text(line) not in used and (not used or _is_prose(line)) for line in read):
            yield name


def _is_prose(text: str) -> bool:
    """Return whether a value is more than a label: several words, or not in ASCII."""
    return len(text.split()) > 1 or not text.isascii()


def normalize_text(text: str) -> str:
    """Return a text without case, and with single blanks: two such texts are one question."""
    return " ".join(text.split()).casefold()


# Conversations as iKAT has them: a topic for each turn, with the turns before it.
TURNS_KEYS = ("responses", "turns")
"""Where the turns are: iKAT 2025, and 2023 and 2024."""
USER_KEYS = ("user_utterance", "utterance")
OF_ITS_OWN = ("title", "ptkb", *TURNS_KEYS, *ID_KEYS)
"""Fields of a conversation that its topics have in another form, or under another name."""


def turns_in(fields: Record) -> list[dict[str, Any]]:
    """Return the turns of a conversation, none where a record is not one."""
    for key in TURNS_KEYS:
        value = fields.get(key)
        entries = value if isinstance(value, list) else []
        turns = [name_fields(entry) for entry in entries if isinstance(entry, dict)]
        if any(text_at(turn, USER_KEYS) for turn in turns):
            return turns
    return []


def topics_in(fields: Record) -> Iterator[dict[str, Any]]:
    """Yield a record for each turn of a conversation: the user's utterance is the topic's text.

    The turns before it, what the conversation is about and what is known of the user are its
    background. The response of the turn itself is an answer and no part of the topic.
    """
    number = id_of(fields)
    about = text_at(fields, ["title"])
    shared = {key: value for key, value in fields.items() if key not in OF_ITS_OWN}
    known = {key: value for key, value in shared.items() if key in (*TEXT_KEYS, "url", "limit")}
    dialogue: list[str] = []
    for turn in turns_in(fields):
        background = [about, "\n".join(dialogue), text_at(fields, ["ptkb"])]
        # Its response is what runs are judged on: a topic that holds it would give the answer away.
        own = {key: value for key, value in turn.items() if key not in ("response", *ID_KEYS)}
        yield {
            **shared,
            **own,
            "turn_id": _turn_id(number, as_id(turn.get("turn_id"))),
            "background": "\n\n".join(filter(None, background)),
        }
        shared = known  # what no judge sees is looked at once
        spoken = (text_at(turn, USER_KEYS), text_at(turn, ["response"]))
        dialogue += [f"— {text}" for text in spoken if text]


def _turn_id(number: str | None, turn_id: str | None) -> str | None:
    """Return the id that runs name a turn by: `1-2_3`, which is its own or made of both."""
    if turn_id is None or number in (None, turn_id) or turn_id.startswith(f"{number}_"):
        return turn_id
    return f"{number}_{turn_id}"

"""Conversations as iKAT has them: a topic for each turn, with the turns before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.sources.values import as_id
from trecjudge.inputs.topics.record import ID_KEYS, TEXT_KEYS, Record, id_of, name_fields, text_at

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

"""Conversations as records: one for each answer, with what was said before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.conversations import Turn, messages_at, text_of, turns_in
from trecjudge.inputs.pipelines.layers import REPLIED, values_of
from trecjudge.inputs.pipelines.parts import (
    ANSWERS,
    BEFORE,
    CONTEXTS,
    QUESTIONS,
    TOPICS,
    id_of_question,
)
from trecjudge.inputs.sources.values import as_id

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


def _history(record: Record, turns: list[Turn]) -> str:
    """Return what was said before, where a record has its question and answer beside it."""
    asked = any(isinstance(value, str) for value in values_of(record, QUESTIONS))
    said = next((v for v in values_of(record, ANSWERS) if isinstance(v, str)), None)
    if not asked or said is None or any(text_of(turn.answer) == said for turn in turns):
        return ""
    last = turns[-1]
    return f"{last.background}\nuser: {last.question}\nassistant: {text_of(last.answer)}".strip()


def _response(record: Record, turn: Turn, number: int, only_last: bool) -> Record:
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

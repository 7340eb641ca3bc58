"""Topic files of every track, native or as AutoJudge requests, as Topic records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.hostile import HostileText
from trecjudge.inputs.sources.containers import first_line
from trecjudge.inputs.sources.own import own_output
from trecjudge.inputs.sources.paths import as_file
from trecjudge.inputs.sources.room import Room, weight
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.inputs.topics.record import (
    ID_KEYS,
    SAME_KEYS,
    TEXT_KEYS,
    Record,
    named,
    texts_in,
    topic_of,
)
from trecjudge.inputs.topics.tables import table_topics
from trecjudge.inputs.topics.tagged import tagged_topics
from trecjudge.inputs.topics.turns import topics_in, turns_in
from trecjudge.records import Place, Topic

WORDS_OF_A_QUESTION = 5
OF_A_TOPIC = 500
"""Bytes that a topic takes beside its texts."""


def read_topics(path: Path, report: OnFinding) -> dict[str, Topic]:
    """Return the topics of a JSON, TSV, CSV, SGML or XML file by id, in the file's order.

    Ids and texts may have any of the names in `record`. Fields whose text no topic has are reported
    once. `-` and a shell's pipe are read too. Raises InputError if no topic is found.
    """
    path = as_file(path)
    topics: dict[str, Topic] = {}
    unused: dict[str, Place] = {}
    unasked: dict[str, Place] = {}
    hostile, room = HostileText(report), Room(report)
    for place, fields in _records(path, report):
        found = topic_of(fields)
        if found is None:
            message = f"has no topic id: none of {', '.join(ID_KEYS)} in it"
            report(Finding("topic_unreadable", place, message, shown(sorted(fields))))
            continue
        topic, left_out = found
        texts = (topic.title, topic.problem_statement, topic.background, topic.body)
        if not room.takes(place, OF_A_TOPIC + weight(texts)):
            break
        for name in left_out:
            asks = any(_may_ask(text, topic) for text in texts_in(fields[name]))
            (unasked if asks else unused).setdefault(name, place)
        _check_ids(place, fields, topic, report)
        if topic.topic_id in topics:
            message = f"repeats topic {topic.topic_id!r} of an earlier record"
            report(Finding("topic_duplicate", place, message, topic_id=topic.topic_id))
        else:
            hostile.look_at_topic(topic, place)
        # The first counts, as with labels and documents.
        topics.setdefault(topic.topic_id, topic)
    if not topics:
        raise InputError(
            f"{path}: no topics found; give JSONL records with one of {', '.join(ID_KEYS)},"
            " TSV or CSV of id and text, or TREC's <top> ... </top>"
        )
    hostile.finish()
    if names := ", ".join(sorted(unasked)):
        message = f"holds a question that no judge sees: {names}"
        report(Finding("topic_question_unused", next(iter(unasked.values())), message, names))
    if names := ", ".join(sorted(unused)):
        message = f"holds text that no judge sees: {names}"
        report(Finding("topic_text_unused", next(iter(unused.values())), message, names))
    return topics


def _may_ask(text: str, topic: Topic) -> bool:
    """Return whether a text may be the question of a topic: it asks, or says more than it all."""
    known = len(topic.title + topic.problem_statement + topic.background + topic.body)
    is_longer = len(text) > known and len(text.split()) >= WORDS_OF_A_QUESTION
    return is_longer or text.rstrip().endswith(("?", "？", "؟"))


def _check_ids(place: Place, fields: Record, topic: Topic, report: OnFinding) -> None:
    given = {found for key in SAME_KEYS if (found := as_id(fields.get(key)))}
    if len(given) > 1:
        message = f"names two topics: {', '.join(map(repr, sorted(given)))}"
        report(Finding("topic_id_conflict", place, message, topic_id=topic.topic_id))


def _records(path: Path, report: OnFinding) -> Iterator[tuple[Place, Record]]:
    """Yield (place, record by names) of all that may be a topic, from a file of any kind."""
    if os.path.isdir(path) or not os.path.exists(path):
        message = "is a folder; give a topic file" if os.path.isdir(path) else "no such topic file"
        raise InputError(f"{path}: {message}")
    if own := own_output(path):
        raise InputError(f"{path}: is {own}, no topic file")
    first = first_line(path).lstrip()[:1]
    if first in (b"{", b"["):
        for number, record in objects(path, report):
            for fields in _expanded(record):
                yield Place(str(path), number), fields
    else:
        yield from (tagged_topics if first == b"<" else table_topics)(path, report)


def _expanded(record: Record) -> Iterator[Record]:
    """Yield the topics that a JSON object holds: itself, turns, or topics by id."""
    fields = named(record)
    if turns_in(fields):
        yield from topics_in(fields)
    elif isinstance(listed := fields.get("examples"), list):  # of LlamaIndex, joined by position
        for number, entry in enumerate(listed, 1):
            yield {"topic_id": str(number), **named(entry if isinstance(entry, dict) else {})}
    elif _is_by_id(record, fields):
        for topic_id, value in record.items():
            inner = named(value) if isinstance(value, dict) else {"title": value}
            yield {**inner, "topic_id": topic_id}
    else:
        yield fields


def _is_by_id(record: Record, fields: Record) -> bool:
    """Return whether an object is of topics by id: of objects with text, or of texts.

    The id of a plain text must have a digit: without one it may be an unknown field's name.
    """
    if not record or any(name in (*ID_KEYS, *TEXT_KEYS) for name in fields):
        return False
    return all(
        any(name in TEXT_KEYS for name in named(value))
        if isinstance(value, dict)
        else isinstance(value, str) and any(map(str.isdigit, key))
        for key, value in record.items()
    )

"""Topic files of every track, native or as AutoJudge requests, as Topic records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.records import Place, Topic
from trecjudge.sources.containers import lines
from trecjudge.sources.own import own_output
from trecjudge.sources.values import as_id, as_text, objects

ID_KEYS = ("topic_id", "request_id", "narrative_id", "id", "qid", "query_id", "docid")
SAME_KEYS = ("topic_id", "request_id", "narrative_id")
TITLE_KEYS = ("title", "query", "narrative", "topic", "question")


def read_topics(path: Path, report: Report) -> dict[str, Topic]:
    """Return the topics of a JSON or TSV file by id, in the file's order.

    JSON records carry the id in one of `topic_id`, `request_id`, `narrative_id`, `id`, `qid`,
    `query_id`, `docid`; TSV lines are `id<TAB>text`. Raises InputError if no topic is found.
    """
    topics: dict[str, Topic] = {}
    for place, topic in _topics_of(path, report):
        if topic.topic_id in topics:
            message = f"topic {topic.topic_id!r} was there before"
            report(Finding("topic_duplicate", place, message, topic_id=topic.topic_id))
        topics.setdefault(topic.topic_id, topic)
    if not topics:
        raise InputError(
            f"{path}: no topics found; give JSONL records with one of {', '.join(ID_KEYS)},"
            " or TSV lines of id and text"
        )
    return topics


def _topics_of(path: Path, report: Report) -> Iterator[tuple[Place, Topic]]:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such topic file")
    if own := own_output(path):
        raise InputError(f"{path}: is {own}, no topic file")
    first = next(lines(path), (0, b""))[1]
    if first.lstrip()[:1] in (b"{", b"["):
        yield from _json_topics(path, report)
    else:
        yield from _tsv_topics(path, report)


def _json_topics(path: Path, report: Report) -> Iterator[tuple[Place, Topic]]:
    for number, record in objects(path, report):
        place = Place(str(path), number)
        topic = topic_of(record)
        if topic is not None:
            given = {found for key in SAME_KEYS if (found := as_id(record.get(key)))}
            if len(given) > 1:
                message = f"names two topics: {', '.join(map(repr, sorted(given)))}"
                report(Finding("topic_id_conflict", place, message, topic_id=topic.topic_id))
            yield place, topic
            continue
        message = f"has no topic id: none of {', '.join(ID_KEYS)} in it"
        report(Finding("topic_unreadable", place, message, shown(sorted(record))))


def topic_of(record: dict[str, Any]) -> Topic | None:
    """Return the topic that a JSON record describes; None if it has no id."""
    ids = (as_id(record[key]) for key in ID_KEYS if key in record)
    topic_id = next((found for found in ids if found), None)
    if topic_id is None:
        return None
    limit = record.get("limit")
    return Topic(
        topic_id=topic_id,
        title=next((as_text(record[key]) for key in TITLE_KEYS if record.get(key)), ""),
        problem_statement=as_text(record.get("problem_statement")),
        background=as_text(record.get("background")),
        body=as_text(record.get("body")),
        url=as_text(record.get("url")),
        limit=limit if isinstance(limit, int) and not isinstance(limit, bool) else None,
    )


def _tsv_topics(path: Path, report: Report) -> Iterator[tuple[Place, Topic]]:
    for number, line in lines(path):
        place = Place(str(path), number)
        try:
            topic_id, _, title = line.decode().partition("\t")
        except UnicodeDecodeError as bad:
            message = f"is not UTF-8 at byte {bad.start}"
            report(Finding("bad_utf8", place, message, shown(line)))
            continue
        if len(topic_id.split()) == 1 and not topic_id.startswith(("{", "[")):
            yield place, Topic(topic_id.strip(), title=title.strip())
        else:
            message = "is neither JSON nor id<TAB>text"
            report(Finding("topic_unreadable", place, message, shown(topic_id)))

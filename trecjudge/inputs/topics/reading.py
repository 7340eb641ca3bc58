"""Topic files of every track, native or as AutoJudge requests, as Topic records."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import chain
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.hostile import HostileText
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_rows, delimiter_of
from trecjudge.inputs.sources.containers import ENDINGS, chunks, first_line
from trecjudge.inputs.sources.paths import as_file, own_output
from trecjudge.inputs.sources.values import (
    Room,
    as_id,
    decoded_lines,
    estimate_memory,
    objects,
    too_large,
)
from trecjudge.inputs.topics.record import (
    ID_KEYS,
    SAME_KEYS,
    TEXT_KEYS,
    Record,
    name_fields,
    name_of,
    texts_in,
    topic_of,
    topics_in,
    turns_in,
)
from trecjudge.records import Place, Topic
from trecjudge.settings.limits import limits

MOST_COLUMNS = 1000
BEGIN = re.compile(r"<(top|topic|query)\b([^<>]*)>", re.IGNORECASE)
# TREC leaves `<num>` and its like open: a field ends where the next tag begins.
FIELD = re.compile(r"<(\w++)[^<>]*+>((?:[^<]++|<(?![/\w]))*+)")
ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
LABEL = re.compile(r"\A\s*+(?:number|topic|title|description|narrative)\s*+:", re.IGNORECASE)
"""The label before the text of a field: `<num> Number: 301`."""
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
            report(Finding("topic_unreadable", place, message, brief(sorted(fields))))
            continue
        topic, left_out = found
        texts = (topic.title, topic.problem_statement, topic.background, topic.body)
        if not room.takes(place, OF_A_TOPIC + estimate_memory(texts)):
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
    kinds = (
        ("topic_question_unused", "a question", unasked),
        ("topic_text_unused", "text", unused),
    )
    for kind, what, places in kinds:
        if names := ", ".join(sorted(places)):
            message = f"holds {what} that no judge sees: {names}"
            report(Finding(kind, next(iter(places.values())), message, names))
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
            for fields in _expand(record):
                yield Place(str(path), number), fields
    else:
        yield from (tagged_topics if first == b"<" else table_topics)(path, report)


def _expand(record: Record) -> Iterator[Record]:
    """Yield the topics that a JSON object holds: itself, turns, or topics by id."""
    fields = name_fields(record)
    if turns_in(fields):
        yield from topics_in(fields)
    elif isinstance(listed := fields.get("examples"), list):  # of LlamaIndex, joined by position
        for number, entry in enumerate(listed, 1):
            yield {"topic_id": str(number), **name_fields(entry if isinstance(entry, dict) else {})}
    elif _is_by_id(record, fields):
        for topic_id, value in record.items():
            inner = name_fields(value) if isinstance(value, dict) else {"title": value}
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
        any(name in TEXT_KEYS for name in name_fields(value))
        if isinstance(value, dict)
        else isinstance(value, str) and any(map(str.isdigit, key))
        for key, value in record.items()
    )


def table_topics(path: Path, report: OnFinding) -> Iterator[tuple[Place, Record]]:
    """Yield a record for each row: by the names of a header, or of id and text without one."""
    rows = _rows(path, report)
    place, first = next(rows, (Place(str(path)), []))
    names = header_of(first)
    if not names and first:
        yield from _row(place, first, report)
    last = len(names) - 1
    for place, cells in rows:
        if names:  # surplus cells belong to the last column
            fitted = [*cells[:last], "\t".join(cells[last:])]
            yield place, {n: cell.strip() for n, cell in zip(names, fitted, strict=False)}
        else:
            yield from _row(place, cells, report)


def header_of(cells: Sequence[str]) -> list[str]:
    """Return the names of the columns, if a first row is a header; else none.

    A header names only known columns, or at least an id and a text. Where all columns are of text
    (`topic`, `title`), the first holds the ids. A row without tabs or commas is read word by word.
    """
    parted = cells[0].split() if len(cells) == 1 else cells[:MOST_COLUMNS]
    # Headers are often commented out: `#qid`.
    names = [name_of(cell.lstrip("#")) for cell in parted]
    ids = [name for name in names if name in ID_KEYS]
    texts = [name for name in names if name in TEXT_KEYS]
    if len(set(names)) < len(names):
        return []
    if len(texts) == len(names) > 1:
        return ["topic_id", *names[1:]]
    return names if ids and (texts or len(ids) == len(names)) else []


def _rows(path: Path, report: OnFinding) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of every row, by commas or `;` where the file's name or header shows them."""
    texts = decoded_lines(path, report)
    number, first = next(texts, (0, ""))
    rest = chain([(number, first)] if number else [], texts)
    if delimiter := _csv_delimiter(path, first):
        try:
            for number, cells in csv_rows(rest, delimiter):
                yield Place(str(path), number), cells
        except BrokenCsv as error:
            message = f"is no CSV from here on: {error}"
            report(Finding("topic_unreadable", Place(str(path), error.line), message))
        return
    for n, text in rest:
        if text.count("\t") > limits().entries:
            report(too_large(Place(str(path), n), limits().too_many))
        else:
            yield Place(str(path), n), text.split("\t")


def _csv_delimiter(path: Path, first: str) -> str | None:
    if "\t" in first:
        return None
    is_csv = path.name.removesuffix(path.suffix * (path.suffix in ENDINGS)).endswith(".csv")
    inside = next((separator for separator in ",;" if separator in first), None)
    return delimiter_of(first, header_of) or (inside if is_csv else None)


def _row(place: Place, cells: Sequence[str], report: OnFinding) -> Iterator[tuple[Place, Record]]:
    topic_id, *rest = cells
    # A binary file has words of control characters.
    is_id = topic_id.strip().lstrip("\ufeff").isprintable() and len(topic_id.split()) == 1
    if is_id and not topic_id.startswith(("{", "[")):
        yield place, {"topic_id": topic_id, "title": "\t".join(rest).strip()}
    else:
        message = "is neither JSON nor id<TAB>text"
        report(Finding("topic_unreadable", place, message, brief(topic_id)))


def tagged_topics(path: Path, report: OnFinding) -> Iterator[tuple[Place, Record]]:
    """Yield a record for each topic of a file: its tags and attributes as names."""
    text = _text(path, report)
    line, counted = 1, 0
    for start, attributes, content in _parts(text):
        line += text.count("\n", counted, start)
        counted = start
        yield Place(str(path), line), _record(attributes, content)


def _parts(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (start, attributes, content) of each topic that is closed.

    It uses two patterns: with one, every topic that is not closed would be searched to the end of
    the file.
    """
    position, not_closed = 0, set[str]()
    while (begin := BEGIN.search(text, position)) is not None:
        name, position = begin[1].lower(), begin.end()
        if name in not_closed:
            continue
        end = re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(text, position)
        if end is None:
            not_closed.add(name)
            continue
        yield begin.start(), begin[2], text[begin.end() : end.start()]
        position = end.end()


def _text(path: Path, report: OnFinding) -> str:
    most = limits()
    content = bytearray()
    for chunk in chunks(path):
        content += chunk
        if len(content) > most.record:  # its topics may stand in one another: all of it is held
            raise InputError(f"{path}: {most.too_long}")
    try:
        return codecs.decode(content, "utf-8-sig")
    except UnicodeDecodeError as bad:
        message = f"is not UTF-8 at byte {bad.start}; such bytes are replaced"
        line = content.count(b"\n", 0, bad.start) + 1
        report(Finding("bytes_replaced", Place(str(path), line), message))
        return content.decode("utf-8-sig", errors="replace")


def _record(attributes: str, content: str) -> Record:
    """Return the fields of a topic; those of one name are joined, free text is its `text`."""
    fields: dict[str, list[str]] = {}
    for name, double, single in map(re.Match.groups, ATTRIBUTE.finditer(attributes)):
        fields.setdefault(name_of(name), []).append(_unescape(double or single or ""))
    fields.setdefault("text", []).append(_clean(content.partition("<")[0]))
    for name, text in map(re.Match.groups, FIELD.finditer(content)):
        fields.setdefault(name_of(name), []).append(_clean(LABEL.sub("", text, count=1)))
    return {name: "\n".join(filter(None, texts)) for name, texts in fields.items()}


def _clean(text: str) -> str:
    return " ".join(_unescape(text).split())


def _unescape(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # a character's number of thousands of digits
        return text

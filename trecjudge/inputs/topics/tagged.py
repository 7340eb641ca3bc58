"""Topics between tags: TREC's SGML, whose tags need not be closed, and the tracks' XML."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.sources.containers import chunks
from trecjudge.inputs.topics.record import Record, name_of
from trecjudge.records import Place
from trecjudge.settings.limits import limits

BEGIN = re.compile(r"<(top|topic|query)\b([^<>]*)>", re.IGNORECASE)
# TREC leaves `<num>` and its like open: a field ends where the next tag begins.
FIELD = re.compile(r"<(\w++)[^<>]*+>((?:[^<]++|<(?![/\w]))*+)")
ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
LABEL = re.compile(r"\A\s*+(?:number|topic|title|description|narrative)\s*+:", re.IGNORECASE)
"""The label before the text of a field: `<num> Number: 301`."""


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
        fields.setdefault(name_of(name), []).append(_unescaped(double or single or ""))
    fields.setdefault("text", []).append(_even(content.partition("<")[0]))
    for name, text in map(re.Match.groups, FIELD.finditer(content)):
        fields.setdefault(name_of(name), []).append(_even(LABEL.sub("", text, count=1)))
    return {name: "\n".join(filter(None, texts)) for name, texts in fields.items()}


def _even(text: str) -> str:
    return " ".join(_unescaped(text).split())


def _unescaped(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # a character's number of thousands of digits
        return text

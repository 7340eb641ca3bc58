"""Files given as runs that are none: topics, documents, qrels, recognised by their records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.topics.record import named, topic_of
from trecjudge.inputs.topics.turns import turns_in

OF_A_RUN = re.compile(
    r"answer|respon|output|generat|sentence|summar|predict|complet|citation|cited|^references?$"
    r"|^run|^team|^metadata$|^model|^system|^repl(y|ies)|^reports?$|^results?$|^messages?$",
    re.IGNORECASE,
)
"""Keys of a system's output in any shape: a record with one is an unreadable run, no stray."""


def stray(records: Iterable[Mapping[str, Any]]) -> str:
    """Return what a file with these first records holds; empty where that is not clear."""
    kinds = {_kind(record) for record in records}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(record: Mapping[str, Any]) -> str:
    if any(record.values()) and all(map(_is_graded, record.values())):
        return "qrels"
    if turns_in(named(dict(record))):
        return "topics or documents"
    if any(OF_A_RUN.search(key) for key in record):
        return ""
    found, document = topic_of(named(dict(record))), document_of(record)
    texts = [document.text] if document else []
    if found is not None:
        topic = found[0]
        texts += [topic.title, topic.problem_statement, topic.background]
    return "topics or documents" if any(texts) else ""


def _is_graded(value: object) -> bool:
    """Return whether a value is grades by document."""
    return isinstance(value, dict) and all(
        isinstance(grade, int | float) and not isinstance(grade, bool) for grade in value.values()
    )

"""Documents and questions of RAG 2025's support labels, for the benchmarks of retrieval."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trecjudge.records import Document

SEED = 7
TAIL = 150
"""Characters at the end of a passage by which it is known again."""
Grades = Mapping[str, Mapping[str, int]]
"""Grades of documents by question, 2 for full support and 1 for a part."""


@dataclass(frozen=True, slots=True)
class Queries:
    """Questions by id, and the documents that are right for each."""

    texts: Mapping[str, str]
    grades: Grades

    def some(self, ids: Sequence[str]) -> Queries:
        """Return only these questions."""
        return Queries({i: self.texts[i] for i in ids}, {i: self.grades[i] for i in ids})


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents, the topics by the labels, and the sentences that were fully supported.

    `topic_of` names the topic of each sentence.
    """

    documents: Sequence[Document]
    topics: Queries
    sentences: Queries
    topic_of: Mapping[str, str]


def collection(folder: Path) -> Collection:
    """Return the passages of the pairs, with their ids where a run carries them.

    A topic's documents are those with a label of FULL or PARTIAL on it. A sentence must find the
    document that fully supports it; others may support it too, and count as wrong.
    """
    pairs = list(_records(folder / "pairs.jsonl.gz"))
    carried = {_tail(text): doc_id for doc_id, text in _carried(folder / "runs")}
    ids: dict[str, str] = {}
    for pair in pairs:
        passage = pair["passage"]
        ids.setdefault(passage, carried.get(_tail(passage)) or f"passage-{len(ids)}")
    topics: dict[str, dict[str, int]] = defaultdict(dict)
    sentences: dict[str, dict[str, int]] = defaultdict(dict)
    for pair in pairs:
        doc_id = ids[pair["passage"]]
        grade = 2 if "FULL" in pair["labels"] else 1 if "PARTIAL" in pair["labels"] else 0
        if grade:
            of_topic = topics[str(pair["topic_id"])]
            of_topic[doc_id] = max(grade, of_topic.get(doc_id, 0))
        if grade == 2:
            sentences[pair["sentence"]][doc_id] = 1
    documents = [Document(doc_id, text) for text, doc_id in ids.items()]
    shuffled = _shuffled(sentences)
    topic = {pair["sentence"]: str(pair["topic_id"]) for pair in reversed(pairs)}
    topic_of = {query: topic[text] for query, text in shuffled.texts.items()}
    return Collection(documents, Queries({}, topics), shuffled, topic_of)


def _shuffled(sentences: Grades) -> Queries:
    order = sorted(sentences)
    random.Random(SEED).shuffle(order)
    numbered = {f"s{number}": text for number, text in enumerate(order)}
    return Queries(numbered, {i: sentences[text] for i, text in numbered.items()})


def _records(path: Path) -> Iterator[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _carried(runs: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(runs.iterdir()):
        for record in _records(path):
            for doc_id, document in (record.get("documents") or {}).items():
                yield doc_id, document["text"]


def _tail(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))[-TAIL:]

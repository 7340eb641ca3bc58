"""Invented runs: documents of about 200 words, sentences of 25, the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

DOCUMENT_WORDS = 200
SENTENCE_WORDS = 25
SENTENCES = 20
"""Sentences of a response; each cites one document of its own."""

SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu")
WORDS = tuple("".join(parts) for parts in product(SYLLABLES, repeat=3))


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and the document that it cites."""

    doc_id: str
    document: str
    sentence: str


def pairs(count: int, seed: int = 0) -> Iterator[Pair]:
    """Yield distinct pairs; a seed gives other documents than any other seed."""
    chance = random.Random(seed)
    for number in range(count):
        words = chance.choices(WORDS, k=DOCUMENT_WORDS)
        sentence = chance.choices(WORDS, k=SENTENCE_WORDS)
        doc_id = f"{seed:08x}-0000-4000-8000-{number:012x}_{number}"
        yield Pair(doc_id, f"{' '.join([doc_id, *words])}.", f"{' '.join(sentence)}.")


def write_run(folder: Path, run_id: str, made: Iterator[Pair]) -> None:
    """Write a run of the RAGTIME family whose documents travel with it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{run_id}.jsonl").open("w") as file:
        for topic, batch in enumerate(iter(lambda: list(islice(made, SENTENCES)), [])):
            record = {
                "metadata": {
                    "team_id": "invented",
                    "run_id": run_id,
                    "topic_id": str(topic),
                    "run_desc": "invented",
                },
                "references": [p.doc_id for p in batch],
                "responses": [{"text": p.sentence, "citations": [p.doc_id]} for p in batch],
                "documents": {p.doc_id: {"text": p.document} for p in batch},
            }
            file.write(json.dumps(record) + "\n")

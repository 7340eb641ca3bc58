"""Good files of every kind that commands read, made once by the commands themselves."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard

from tests.commandline import SAMPLES, command
from tests.endpoint import attesting, serving
from tests.reading import records_in

RAG = SAMPLES / "rag"
EXPERIMENT = """documents: [documents.jsonl]
topics: topics.jsonl
format: rag25
variants:
  usual: {}
  one: {top: 1, chunk_size: 40}
"""
SEASON = """judge: [support]
season: {submissions: [runs], topics: topics.jsonl, documents: [documents.jsonl]}
"""
WORKFLOW = """judges: [citation]
partial: 0.5
leaderboard: {sort_by: WEIGHTED_PRECISION}
variants:
  strict: {partial: 0}
"""
PROMPT = {
    "attest": {
        "signature": {
            "instructions": "Say whether the document supports the sentence.",
            "fields": [],
        },
        "demos": [],
        "traces": [],
        "train": [],
        "lm": None,
    },
    "metadata": {"dependency_versions": {"python": "3.11", "dspy": "3.4.0"}},
}
TAGGED = "<DOC>\n<DOCNO>{id}</DOCNO>\n<TITLE>{title}</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"


def make(folder: Path) -> None:
    """Fill a folder with the kit; each file or folder in it is named as recipes name it."""
    _inputs(folder)
    with _surroundings(folder):
        _of_commands(folder)


@contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """Work in the folder, with a cache of its own and without a model."""
    before, environment = Path.cwd(), dict(os.environ)
    os.environ["TRECJUDGE_CACHE"] = str(folder / "own")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def _inputs(folder: Path) -> None:
    for name in ("topics.jsonl", "documents.jsonl", "labels.jsonl"):
        shutil.copy(RAG / name, folder / name)
    shutil.copytree(RAG / "runs", folder / "runs")
    shutil.copy(RAG / "runs" / "careful.jsonl", folder / "run.jsonl")
    shutil.copy(SAMPLES / "ragtime" / "runs" / "careful.jsonl", folder / "report.jsonl")
    shutil.copy(SAMPLES / "pipeline" / "careful.jsonl", folder / "pipeline.jsonl")
    documents, labels, topics, records = (
        records_in(folder / name)
        for name in ("documents.jsonl", "labels.jsonl", "topics.jsonl", "pipeline.jsonl")
    )
    _table(folder / "documents.csv", documents, ",")
    _table(folder / "documents.tsv", documents, "\t")
    _table(folder / "labels.csv", labels, ",")
    cells = [{key: json.dumps(value) for key, value in record.items()} for record in records]
    _table(folder / "pipeline.csv", cells, ",")
    (folder / "documents.sgml").write_text(
        "".join(TAGGED.format(id=d["docid"], title=d["title"], text=d["text"]) for d in documents)
    )
    (folder / "documents.json").write_text(json.dumps({d["docid"]: d for d in documents}, indent=1))
    (folder / "topics.tsv").write_text(
        "".join(f"{t['id']}\t{t['title']}\n" for t in _plain(topics))
    )
    graded = (f"{x['topic_id']} 0 {x['doc_id']} {n % 3}\n" for n, x in enumerate(labels))
    (folder / "qrels.txt").write_text("".join(graded))
    text = {d["docid"]: d["text"] for d in documents}
    pairs = [
        {"sentence": _shorter(d["text"], n), "document": d["text"], "label": "full"}
        for d in documents
        for n in range(3)
    ]
    pairs += [
        {**pair, "document": text[documents[n // 3 - 1]["docid"]], "label": "none"}
        for n, pair in enumerate(pairs)
    ]
    _lines(folder / "pairs.jsonl", pairs)
    weights = ({"topic_id": x["topic_id"], "sentence_index": 0, "weight": 2.5} for x in labels)
    _lines(folder / "weights.jsonl", list(weights))
    nuggets = [{"text": value, "importance": "vital"} for value in list(text.values())[:3]]
    bank = [{"qid": t["id"], "query": t["title"], "nuggets": nuggets} for t in _plain(topics)]
    _lines(folder / "bank.jsonl", bank)
    for name in ("run.jsonl", "documents.jsonl"):
        data = (folder / name).read_bytes()
        (folder / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))
        (folder / f"{name}.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
    (folder / "experiment.yml").write_text(EXPERIMENT)
    (folder / "workflow.yml").write_text(WORKFLOW)
    (folder / "season.yml").write_text(SEASON)
    (folder / "prompt.json").write_text(json.dumps(PROMPT))
    (folder / "prompted.yml").write_text("judges: [citation]\nprompts: {attest: prompt.json}\n")
    _parquet(folder / "pipeline.parquet", records)


def _shorter(text: str, number: int) -> str:
    """Return a sentence of a text without some of its words."""
    sentences = text.split(". ")
    words = sentences[number % len(sentences)].split()
    return " ".join(word for place, word in enumerate(words) if place % 5 != 3)


def _plain(topics: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"id": str(next(iter(t.values()))), "title": str(list(t.values())[1])} for t in topics]


def _of_commands(folder: Path) -> None:
    """Make what commands write: jobs, parts, an index, a cache, a calibration, a table."""
    inputs = ("--rag-topics", "topics.jsonl", "--documents", "documents.jsonl")
    job = ("--rag-responses", "runs", *inputs)
    _done("--judge", "citation,support", *job, "--out-dir", "job", "--name", "x", "-q")
    _done("--judge", "citation", *job, "--out-dir", "packed", "--name", "x", "-q", "--compress")
    for part in ("1/2", "2/2"):
        _done(*job, "--out-dir", "parts", "--name", "x", "-q", "--shard", part)
    _done("rag", "index", "documents.jsonl", "--output", "docs.index", "-q")
    _done("judges", "calibrate", "--labels", "pairs.jsonl", "--output", "calibration.json", "-q")
    card = ("--max", "responses=3", "--change", "none", "--out-dir", ".", "--name", "x", "-q")
    _done("judges", "trust", "support", *job, *card)
    _done("judges", "pairs", "pairs.jsonl", "--output", "earlier.jsonl", "-q")
    _done("nuggets", "edit", "bank.jsonl", "--to-table", "nuggets.tsv", "-q")
    asked = ("--rag-topics", "topics.jsonl", "--format", "rag25", "--name", "asked")
    _done("rag", "generate", "--index", "docs.index", *asked, "--out-dir", ".", "-q")
    _done("job", "anonymise", "runs", "--out-dir", "coded", "--key", "runs.key", "-q")
    _done("job", "season", "season.yml", "--out-dir", "task", "--name", "x", "-q")
    (folder / "task" / "x.season.zip").rename(folder / "x.season.zip")
    _done("job", "convert", "job/x", "board.txt", "--to", "ir_measures")
    _done("job", "convert", "job/x", "board.csv", "--to", "csv")
    with serving(attesting()) as endpoint:
        os.environ.update(endpoint.environment())
        given = ("--use-env-llm", "--cache-dir", "replies", "--out-dir", "asked", "-q")
        _done("--judge", "citation", *job, *given)


def _done(*arguments: str) -> None:
    done = command(*arguments)
    assert done.status == 0, (arguments, done)


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def _table(path: Path, records: list[dict[str, Any]], delimiter: str) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(records)


def _parquet(path: Path, records: list[dict[str, Any]]) -> None:
    from pyarrow import Table, parquet

    parquet.write_table(Table.from_pylist(records), path)

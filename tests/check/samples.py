"""A record of each track that its validator takes, and what is found in changed ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trecjudge.check.checker import check_files
from trecjudge.check.outcome import CheckReport
from trecjudge.cli.printing import json_parts
from trecjudge.records import Topic

SEGMENT = "msmarco_v2.1_doc_01_1#0_1"
OTHER = "msmarco_v2.1_doc_02_2#0_2"
PAGE = "5f91a162-7a1e-4e5e-af0e-6b1bab774964_374756147"
UUID = "afff11d4-0f9b-45b7-a39f-03b82928668a"
CLUEWEB = "clueweb22-en0001-02-00003:4"
GONE = object()
"""Stands for a key to take away."""

GOOD: dict[str, dict[str, Any]] = {
    "rag24": {
        "run_id": "r",
        "topic_id": "2024-1",
        "topic": "What?",
        "references": [SEGMENT, OTHER],
        "response_length": 2,
        "answer": [{"text": "It is.", "citations": [0, 1]}],
    },
    "rag25": {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "type": "automatic",
            "narrative_id": 1,
            "narrative": "What?",
            "prompt": "Answer.",
        },
        "references": [SEGMENT, OTHER],
        "answer": [{"text": "It is.", "citations": [0, 1]}],
    },
    "rag26": {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "run_desc": "d",
            "narrative_id": "rag2026-1",
            "narrative": "What?",
        },
        "references": ["shard_0_1", "shard_0_2"],
        "answer": [{"text": "It is.", "citations": [0, 1]}],
    },
    "longeval26": {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "type": "automatic",
            "narrative_id": "aa42e210a361571ff4d1fad892b75d15",
        },
        "references": [129069349, 122371639],
        "answer": [{"text": "It is.", "citations": [0]}],
    },
    "ragtime25": {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1001", "task": "english"},
        "responses": [{"text": "It is.", "citations": {PAGE: 0.5}}],
        "references": [PAGE],
    },
    "ragtime26": {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "2000", "run_desc": "d"},
        "responses": [{"text": "It is.", "citations": [PAGE]}],
    },
    "dragun25": {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "topic_id": "msmarco_v2.1_doc_04_420132660",
            "type": "manual",
            "use_starter_kit": 0,
        },
        "responses": [{"text": "It is.", "citations": [SEGMENT]}],
    },
    "neuclir24": {
        "request_id": "300",
        "run_id": "r",
        "collection_ids": ["neuclir/1/zho"],
        "sentences": [{"text": "It is.", "citations": [UUID]}],
    },
    "biogen25": {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": 181},
        "responses": [{"text": "It is.", "citations": [22802756, "34765068"]}],
    },
    "biogen25a": {
        "metadata": {"run_id": "r", "qa_id": "116", "question": "Is it?"},
        "answer": [
            {
                "text": "It is.",
                "existing_supported_citations": [22802756],
                "supported_citations": [34765068],
                "contradicted_citations": [31535829, "34765069"],
            }
        ],
    },
    "checkthat26": {
        "id": 42,
        "factchecking_article": "It is (source: https://e.org/a; https://e.org/b).",
    },
    "ikat25": {
        "metadata": {"team_id": "t", "run_id": "r", "run_type": "generation-only"},
        "turn_id": "1-1_1",
        "references": {CLUEWEB: 0.5},
        "responses": [{"text": "It is.", "citations": {CLUEWEB: 0.5}, "ptkb_provenance": []}],
    },
    "autojudge": {
        "is_ragtime": True,
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1001"},
        "responses": [{"text": "It is.", "citations": {"d": 0.5}}],
        "answer": [{"text": "It is.", "citations": {"d": 0.5}}],
    },
}
SENTENCES = {"rag24": "answer", "rag25": "answer", "rag26": "answer", "longeval26": "answer"} | {
    "neuclir24": "sentences"
}


def changed(track: str, **changes: Any) -> dict[str, Any]:
    """Return the good record of a track with other values; `metadata__type` is one in metadata."""
    record = copy.deepcopy(GOOD[track])
    for name, value in changes.items():
        outer, _, key = name.rpartition("__")
        owner = record[outer] if outer else record
        if value is GONE:
            del owner[key]
        else:
            owner[key] = value
    return record


def citing(track: str, *citations: Any, **changes: Any) -> dict[str, Any]:
    """Return the good record of a track with a sentence for each of these `citations`."""
    sentences = [{"text": "It is.", "citations": cited} for cited in citations]
    return changed(track, **{SENTENCES.get(track, "responses"): sentences}, **changes)


def saying(track: str, *texts: str, **changes: Any) -> dict[str, Any]:
    """Return the good record of a track with these texts, which cite nothing."""
    sentences = [{"text": text, "citations": []} for text in texts]
    return changed(track, **{SENTENCES.get(track, "responses"): sentences}, **changes)


def topics(**titles: str) -> dict[str, Topic]:
    """Return topics by id; `_` in a name stands for `-`."""
    ids = {name.replace("_", "-").removeprefix("-"): title for name, title in titles.items()}
    return {topic_id: Topic(topic_id, title) for topic_id, title in ids.items()}


def lines(*records: dict[str, Any]) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


Write = Callable[..., Path]


def checked(write: Write, *records: dict[str, Any], **options: Any) -> CheckReport:
    """Check a file of these records."""
    return check_files([write(lines(*records))], **options)


def as_json(report: CheckReport) -> Any:
    """Return what a program reads of a report that is printed as JSON."""
    return json.loads(b"".join(json_parts(report.as_dict())))


def broken(report: CheckReport) -> set[tuple[str, str]]:
    """Return (rule, verdict) of everything that is broken."""
    return {(t.rule, t.verdict) for run in report.runs for t in run.violations}

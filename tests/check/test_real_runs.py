"""Real runs: the verdict of each is what its track's validator gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.check.checker import check_files
from trecjudge.check.repair import fix
from trecjudge.inputs.runs import find_runs
from trecjudge.inputs.topics import read_topics

REAL: dict[str, tuple[str, str, str, dict[str, int], dict[str, int]]] = {
    "RAG 2024, 60 of 301 topics": (
        "data/runs/rag24",
        "data/topics/rag-topics-2024.txt",
        "rag24",
        {"refused": 0, "accepted": 1},
        {"response_missing": 241},
    ),
    "RAG 2025, on 8 topics, without prompts": (
        "data/rag25_support/runs",
        "data/rag25_support/topics.jsonl",
        "rag25",
        {"refused": 0, "accepted": 53},
        {"field_missing": 406, "document_missing": 165, "response_missing": 18},
    ),
    "LongEval": (
        "data/runs/rag25",
        "",
        "longeval26",
        {"refused": 0, "accepted": 3},
        {},
    ),
    "RAGTIME 2026, whose topics are not known": (
        "data/runs/ragtime",
        "",
        "ragtime26",
        {"refused": 0, "accepted": 2},
        {},
    ),
    "DRAGUN": (
        "data/runs/dragun",
        "data/topics/dragun25.native.jsonl",
        "dragun25",
        {"refused": 0, "accepted": 3},
        {},
    ),
    "NeuCLIR, three runs in a file": (
        "data/runs/neuclir",
        "",
        "neuclir24",
        {"refused": 3, "accepted": 0},
        {"file_of_several_runs": 3},
    ),
    "BioGen, two answers too long": (
        "data/runs/biogen",
        "data/topics/biogen.topics.json",
        "biogen25",
        {"refused": 0, "accepted": 1},
        {"too_long": 2},
    ),
}


@pytest.mark.parametrize(
    ("runs", "topics", "track", "standings", "counts"), REAL.values(), ids=REAL
)
def test_verdicts_on_real_runs(
    runs: str,
    topics: str,
    track: str,
    standings: dict[str, int],
    counts: dict[str, int],
    shared: Path,
    tmp_path: Path,
) -> None:
    files = find_runs([shared / runs])
    known = read_topics(shared / topics, lambda finding: None) if topics else None
    report = check_files(files, known)
    assert {run.track for run in report.runs} == {track}
    assert (report.standings, report.counts) == (standings, counts)
    changes = fix(files, tmp_path / "fixed", known)
    assert bool(changes) == ("too_long" in counts)
    copies = find_runs([tmp_path / "fixed"])
    assert not fix(copies, tmp_path / "again", known)
    left = {rule: count for rule, count in counts.items() if rule != "too_long"}
    assert check_files(copies, known).counts == left

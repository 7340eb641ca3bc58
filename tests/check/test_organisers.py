"""Our verdicts beside those of the organisers' checkers, and on real runs."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from tests.check.mutations import TRACKS, mutated, mutations, requests
from tests.check.recorded import read_recorded, verdicts_by, write_runs
from tests.check.samples import GONE, Write, citing, lines, saying
from tests.conftest import ROOT
from trecjudge.check.checker import check_files
from trecjudge.check.outcome import Violation
from trecjudge.check.repair import fix
from trecjudge.check.rules import ORGANISERS, all_tracks
from trecjudge.inputs.runs import find_runs
from trecjudge.inputs.topics import read_topics

PAGE = ROOT / "trecjudge" / "check" / "differences.md"
ORDER = ("accepted", "warned", "refused")
WORDS = {"accepts": "accepted", "warns": "warned", "refuses": "refused"}
RIGHT = ("ours", "theirs", "open")
NOT_TOLD = {
    ("rag25", "a reference that is not cited"),
    ("rag25", "citations empty"),
    ("rag25", "citations missing"),
    ("rag25", "citations under another name"),
    ("rag25", "citations null"),
    ("rag25", "no citations at all"),
    *product(TRACKS, ("a lone surrogate", "lines that end in CR")),
}
"""Differences without a rule of ours, or with one that does not know the cause."""
Difference = tuple[str, str, str, str]
"""(track, mutation, their verdict, ours)."""


def worst(verdicts: list[str]) -> str:
    """Return what a run gets for all that is found in it."""
    return max(verdicts, key=ORDER.index, default="accepted")


@cache
def violations(track: str, folder: Path) -> dict[str, list[Violation]]:
    """Return what `check` finds in each mutated run."""
    topics = folder / f"{track}.requests.jsonl"
    topics.write_text(requests(track), encoding="utf-8")
    known = read_topics(topics, lambda finding: None)
    found: dict[str, list[Violation]] = {}
    for number, name in enumerate(mutations(track)):
        path = folder / f"{track}-{number}.run"
        path.write_bytes(mutated(track, name))
        check_files([path], known, track=track, on_violation=found.setdefault(name, []).append)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutated")


def theirs(track: str, name: str) -> str:
    """Return the recorded verdict; a run that they cannot read is refused."""
    verdict = read_recorded()[track, name]
    return "refused" if verdict == "unread" else verdict


def differences(track: str, folder: Path) -> set[Difference]:
    """Return where `check` and the organisers' checker give a mutated run another verdict."""
    ours = {n: worst([v.verdict for v in vs]) for n, vs in violations(track, folder).items()}
    found = {(track, name, theirs(track, name), verdict) for name, verdict in ours.items()}
    return {one for one in found if one[2] != one[3]}


def documented() -> Iterator[tuple[set[Difference], str, str]]:
    """Yield (differences, who is right, by which words) of each row of the table."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    for names, tracks, their_verdict, our_verdict, right, by in (r for r in rows if len(r) == 6):
        if their_verdict in WORDS:
            named = TRACKS if tracks == "all" else tracks.split(", ")
            each = product(named, names.split("; "))
            verdicts = WORDS[their_verdict], WORDS[our_verdict]
            yield {(track, name, *verdicts) for track, name in each}, right, by


@pytest.mark.parametrize("track", TRACKS)
def test_runs_are_mutated_in_at_least_sixty_ways(track: str) -> None:
    names = mutations(track)
    files = {mutated(track, name) for name in names}
    assert len(names) > 60
    assert {name for recorded, name in read_recorded() if recorded == track} == set(names)
    # Some mutations do nothing to a run that already is so.
    assert len(files) > 0.85 * len(names)


@pytest.mark.parametrize("track", TRACKS)
def test_a_good_run_is_accepted_by_both(track: str, folder: Path) -> None:
    assert (violations(track, folder)["none"], theirs(track, "none")) == ([], "accepted")


@pytest.mark.parametrize("track", TRACKS)
def test_every_difference_stands_in_the_table_and_every_row_is_one(
    track: str, folder: Path
) -> None:
    rows = [one for row, _, _ in documented() for one in row if one[0] == track]
    assert len(rows) == len(set(rows))
    assert set(rows) == differences(track, folder)


def test_every_row_says_who_is_right_and_by_which_words() -> None:
    rows = list(documented())
    assert {right for _, right, _ in rows} <= set(RIGHT)
    assert all(len(by.split()) > 3 for _, _, by in rows)
    assert ORGANISERS in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("track", TRACKS)
def test_check_tells_what_their_checker_will_say(track: str, folder: Path) -> None:
    said = {
        name: worst([v.organisers or v.verdict for v in found])
        for name, found in violations(track, folder).items()
        if (track, name) not in NOT_TOLD
    }
    assert said == {name: theirs(track, name) for name in said}


def test_the_page_counts_as_it_is(folder: Path) -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for track in TRACKS:
        other, every = len(differences(track, folder)), len(mutations(track))
        assert f"{track} {every - other} of {every}" in text


@pytest.mark.slow("tests/check", "pyproject.toml")
def test_the_verdicts_are_those_of_the_checker_itself(tmp_path: Path, shared: Path) -> None:
    """Run with AUTOJUDGE_PYTHON, a Python that has `autojudge-base`, or with it installed."""
    python = os.environ.get("AUTOJUDGE_PYTHON", "")
    if not python and importlib.util.find_spec("autojudge_base") is None:
        pytest.skip(f"needs {ORGANISERS}: install it, or name a Python by AUTOJUDGE_PYTHON")
    os.environ.setdefault("NLTK_DATA", str(shared / "tools" / "nltk_data"))
    write_runs(tmp_path)
    assert verdicts_by(python or sys.executable, tmp_path) == read_recorded()


def test_the_tracks_that_their_checker_knows() -> None:
    known = {name for name, track in all_tracks().items() if track.organisers is not None}
    assert known == set(TRACKS)


def test_a_line_for_each_track_and_verdict_of_theirs(write: Write) -> None:
    files = {
        "a.jsonl": lines(citing("rag26", [0, True], ["1"])),
        "b.jsonl": lines(citing("rag26", [0.5, 1])),
        "c.jsonl": lines(saying("rag25", "a", metadata__type=GONE)),
    }
    report = check_files([write(text, name) for name, text in files.items()])
    checker = "the organisers' checker (autojudge-base 1.0.0)"
    assert list(report.organisers.lines()) == [
        f"rag25: {checker} refuses this: field_missing",
        f"rag26: {checker} accepts this: citation_index_as_text, citation_kind (1 of 2)",
    ]
    assert report.as_dict()["organisers"]["differences"][0] == {
        "track": "rag26",
        "rule": "citation_kind",
        "verdict": "accepted",
        "count": 1,
    }


def test_nothing_is_said_where_their_checker_does_the_same(write: Write) -> None:
    report = check_files([write(lines(citing("rag26", [0, 7])))])
    assert report.is_refused
    assert list(report.organisers.lines()) == []


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

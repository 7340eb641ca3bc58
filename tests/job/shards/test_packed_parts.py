"""Packed files of one process, of workers and of merged parts, in either form: the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.job.shards.parts import flags, process, write_runs
from trecjudge.inputs.sources.containers import lines

FILES = ("judgments.jsonl.zst", "leaderboard.txt", "leaderboard.jsonl", "qrels")
PACK = ("--compress", "--log", "lean")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs, judged by one command into `one`, and in parts of both forms."""
    found = tmp_path_factory.mktemp("runs")
    write_runs(found, runs=3, topics=12)
    assert command(*flags(found, "one", "-q", *PACK)).status == 3
    for number in (1, 2, 3):
        form = PACK if number == 2 else PACK[1:]
        done = command(*flags(found, "parts", "-q", "--shard", f"{number}/3", *form))
        assert done.status == 3, done.err
    return found


def same(folder: Path, out: Path) -> list[str]:
    """Return which files of one command are the same as those in another folder."""
    whole = ((folder / "one" / f"x.{name}").read_bytes() for name in FILES)
    return [
        n for n, text in zip(FILES, whole, strict=True) if (out / f"x.{n}").read_bytes() == text
    ]


def events(path: Path) -> list[dict[str, Any]]:
    """Return the findings of a log without times."""
    found = (json.loads(text) for _, text in lines(path))
    return [e | {"timestamp": ""} for e in found if e["event"] == "FINDING"]


def test_there_are_several_frames(folder: Path) -> None:
    packed = (folder / "one" / "x.judgments.jsonl.zst").read_bytes()
    assert packed.count(b"\x28\xb5\x2f\xfd") > 1


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/results")
def test_workers_write_the_bytes_of_one_process(folder: Path) -> None:
    job = process(*flags(folder, "two", "-q", "--workers", "2", *PACK))
    _, err = job.communicate(timeout=120)
    assert job.returncode == 3, err
    assert same(folder, folder / "two") == list(FILES)
    assert events(folder / "two/x.log.zst") == events(folder / "one/x.log.zst") != []


def test_parts_of_either_form_are_merged(folder: Path, tmp_path: Path) -> None:
    made = sorted(path.name for path in (folder / "parts").glob("*.jsonl*"))
    assert made == [
        "x.shard-1-of-3.judgments.jsonl",
        "x.shard-2-of-3.judgments.jsonl.zst",
        "x.shard-3-of-3.judgments.jsonl",
    ]
    done = command(
        "job", "merge", folder / "parts", "--out-dir", tmp_path, "--name", "x", "--compress"
    )
    assert done.status == 3, done.err
    assert same(folder, tmp_path) == list(FILES)
    merged = events(tmp_path / "x.log.zst")
    once = events(folder / "one/x.log.zst")
    assert merged == 3 * once  # every part reads all runs, and reports what it finds


def test_merged_plain_files_are_those_of_a_plain_job(folder: Path, tmp_path: Path) -> None:
    given = ("--out-dir", tmp_path, "--name", "x")
    assert command("job", "merge", *(folder / "parts").glob("*.yml"), *given, "-q").status == 3
    plain = (tmp_path / "x.judgments.jsonl").read_bytes()
    packed = lines(folder / "one/x.judgments.jsonl.zst")
    assert plain.splitlines() == [text for _, text in packed]
    assert (tmp_path / "x.log").exists()


def test_a_part_that_is_cut_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "parts", tmp_path / "parts")
    path = tmp_path / "parts/x.shard-2-of-3.judgments.jsonl.zst"
    path.write_bytes(path.read_bytes()[:-20])
    done = command("job", "merge", tmp_path / "parts", "--out-dir", tmp_path / "out", "--name", "x")
    assert done.status == 1
    assert done.err.startswith(f"error: {path}: cannot be read")
    assert done.err.endswith("the data break off; it is cut or damaged: copy or make it again\n")
    assert not list((tmp_path / "out").iterdir())

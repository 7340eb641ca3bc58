"""A disk that takes no more: nothing further is asked, and what was paid for is judged."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.endpoint import attesting, serving
from tests.models.processes import IN_FLIGHT, Here, runs
from trecjudge.results.packed import open_output


@contextmanager
def no_file_larger(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def long_runs(folder: Path, sentence: int = 0, document: int = 0) -> None:
    """Write runs whose sentences and documents have so many more characters."""
    path = runs(folder) / "r.jsonl"
    text = path.read_text().replace("Fact number", f"Fact number{document * ' x'}")
    path.write_text(text.replace('"Fact ', f'"Fact{sentence * " y"} '))


def judged(path: Path) -> int:
    """Return how many judgments of a file have a label that a model gave."""
    records = map(json.loads, path.read_text().splitlines())
    return sum(record.get("label") == "full_support" for record in records)


@pytest.mark.parametrize("quiet", [False, True])
def test_under_the_cache(quiet: bool, tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    flags = ("--log", "none", "--no-check", *(["-q"] if quiet else []))
    with serving(attesting()) as endpoint:
        with no_file_larger(120_000):
            done = here(endpoint, "cache", "x", *flags)
        paid = len(endpoint.requests)
        assert (done.status, 0 < paid < 200) == (3, True)
        (line,) = (line for line in done.err.splitlines() if "cannot be written" in line)
        path = tmp_path / "cache" / "replies.sqlite"
        assert line.removeprefix("error: ").startswith(f"{path}: cannot be written: ")
        assert "; nothing more is asked: " in line
        kept = int(line.split("asked: ")[1].split()[0])
        assert paid - IN_FLIGHT <= kept < paid
        assert judged(tmp_path / "x.judgments.jsonl") == paid  # those from memory too
        assert (tmp_path / "x.leaderboard.txt").exists()
        assert here(endpoint, "cache", "x", *flags).status == 0
        assert 200 < len(endpoint.requests) <= 200 + IN_FLIGHT


def test_under_the_log_only(tmp_path: Path, here: Here) -> None:
    long_runs(tmp_path / "runs", document=1000)
    with serving(attesting()) as endpoint:
        assert here(endpoint, "cache", "x", "--no-check", "--max-calls", "150").status == 3
        with no_file_larger(200_000):
            done = here(endpoint, "cache", "x", "--no-check")
        assert (done.status, len(endpoint.requests), done.err) == (3, 150, done.err)
        log = tmp_path / "x.log"
        assert f"{log}: cannot be written: no file may be so large here" in done.err
        assert judged(tmp_path / "x.judgments.jsonl") == 150
        assert log.with_name("x.log.part").stat().st_size <= 200_000
        assert here(endpoint, "cache", "x", "--no-check").status == 0
        assert not log.with_name("x.log.part").exists()


def test_under_the_judgments_only(tmp_path: Path, here: Here) -> None:
    long_runs(tmp_path / "runs", sentence=1000)
    flags = ("--no-check", "--log", "none")
    with serving(attesting()) as endpoint:
        here(endpoint, "cache", "x", *flags, "--max-calls", "150")
        with no_file_larger(150_000):
            done = here(endpoint, "cache", "x", *flags)
        assert (done.status, len(endpoint.requests), done.err) == (1, 150, done.err)
        assert "x.judgments.jsonl: cannot be written: no file may be so large" in done.err


@pytest.mark.parametrize("name", ["x.log", "x.log.zst"])
def test_a_log_that_is_refused_ends_alone(name: str, tmp_path: Path) -> None:
    told: list[str] = []
    with (
        no_file_larger(20_000),
        open_output(tmp_path / name, keep_partial=True, refused=told.append) as file,
    ):
        for number in range(300_000):
            file.write(b"%d %d\n" % (number, number * number))
    assert told == ["no file may be so large here (ulimit -f)"]
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.part"]


def test_of_a_log_that_is_refused_another_error_is_not_hidden(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        no_file_larger(10),
        open_output(tmp_path / "x.log", keep_partial=True, refused=lambda why: None) as file,
    ):
        file.write(b"x" * 100_000)
        raise ZeroDivisionError

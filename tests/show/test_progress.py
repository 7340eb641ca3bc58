"""What a person sees while a job runs: a bar that fits, lines where there is no terminal."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from trecjudge.show.progress import ConsoleWatcher, TakenFiles

SPENT: dict[str, Any] = {
    "calls": 1056,
    "prompt_tokens": 1_085_000,
    "completion_tokens": 921,
    "cached": 3,
    "in_flight": 8,
    "throttled": 2,
    "cost": 1.5,
}


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        pytest.param(None, "1 of about 1 response, 0:00:40 elapsed, 0:00:00 left", id="not known"),
        pytest.param(5, "1 of about 5 responses, 0:00:40 elapsed, 0:02:40 left", id="known"),
        pytest.param(0, "1 of about 1 response, 0:00:40 elapsed, 0:00:00 left", id="too few"),
    ],
)
def test_the_state_in_a_line(known: int | None, wanted: str) -> None:
    seconds = iter([0.0, 0.0, 40.0, 40.0])
    watcher = ConsoleWatcher(Console(file=io.StringIO()), clock=lambda: next(seconds))
    watcher.begins(lambda: known, dict)
    watcher.counted(1, 0)
    assert watcher.line() == f"{wanted}, 0 items judged"


def test_before_the_first_response_the_time_left_is_not_known() -> None:
    watcher = ConsoleWatcher(Console(file=io.StringIO()), clock=lambda: 0.0)
    watcher.begins(lambda: 7, dict)
    assert watcher.line().startswith("0 of about 7 responses, 0:00:00 elapsed, time left unknown")


@pytest.mark.parametrize(
    ("quiet", "pause", "some"),
    [
        pytest.param(False, 0.02, True, id="every so often"),
        pytest.param(False, 30.0, False, id="none in a short job"),
        pytest.param(True, 0.02, False, id="none if quiet"),
    ],
)
def test_lines_come_without_a_terminal_while_nothing_is_judged(
    quiet: bool, pause: float, some: bool
) -> None:
    written = io.StringIO()
    with ConsoleWatcher(Console(file=written), quiet=quiet, pause=pause) as watcher:
        watcher.begins(lambda: 7, dict)
        time.sleep(0.2)
    lines = written.getvalue().splitlines()
    assert (len(lines) > 1) is some
    assert all(line.startswith("0 of about 7 responses, ") for line in lines)


@pytest.mark.parametrize(
    ("width", "shown", "hidden"),
    [
        pytest.param(40, [], ["call"], id="only bar and times"),
        pytest.param(80, ["1056 calls (", "cost 1.50"], ["token"], id="what fits"),
        pytest.param(160, ["8 in flight, 3 cached, 1085921 tokens"], [], id="all"),
    ],
)
def test_the_bar_comes_first_and_counts_as_they_fit(
    width: int, shown: list[str], hidden: list[str]
) -> None:
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=True, color_system=None)
    now = [0.0]
    watcher = ConsoleWatcher(console, clock=lambda: now[0])
    watcher.begins(lambda: 16, lambda: SPENT)
    now[0] = 40.0
    watcher.counted(1, 0)
    console.print(watcher._bar)
    (line,) = [line for line in written.getvalue().splitlines() if line.strip()]
    assert cell_len(line.rstrip()) <= width
    assert "1/16 0:00:00 " in line
    assert all(text in line for text in shown)
    assert not any(text in line for text in hidden) and "…" not in line


def test_one_line_for_all_files_that_are_taken_alike() -> None:
    files = TakenFiles()
    for name in ("a", "b", "c"):
        files.add(Path(f"/x/runs/{name}.jsonl"), "rag25", "it has `answer`")
    assert files.lines("so far ") == ["3 files so far read as rag25: they have `answer`"]
    files.add(Path("/x/other/f.jsonl"), "rag25", "it has `answer`")
    assert (files.is_new, files.lines("so far ")) == (False, [])
    assert files.lines() == ["4 files read as rag25: they have `answer`"]
    assert files.lines() == []


def test_of_several_formats_a_file_of_each_is_named() -> None:
    files = TakenFiles()
    for name, form, why in (
        ("a", "biogen", "its citations are PubMed ids"),
        ("b", "biogen", "its citations are PubMed ids"),
        ("c", "ragtime", "it has `responses`"),
    ):
        files.add(Path(f"runs/{name}.jsonl"), form, why)
    assert files.lines() == [
        "2 files read as biogen: their citations are PubMed ids; such as runs/a.jsonl",
        "runs/c.jsonl: read as ragtime: it has `responses`",
    ]


def test_notes_between_files_part_no_line() -> None:
    written, now = io.StringIO(), [0.0]
    with ConsoleWatcher(Console(file=written, width=200), clock=lambda: now[0]) as watcher:
        watcher.begins(lambda: 53, dict)
        for number in range(53):
            now[0] += 0.5
            watcher.taken(Path(f"runs/{number}.jsonl"), "rag25", "it has `answer`")
            watcher.notify(f"a note on {number}")
            watcher.counted(1, 1)
    lines = [line for line in written.getvalue().splitlines() if "read as" in line]
    assert lines == ["53 files read as rag25: they have `answer`"]

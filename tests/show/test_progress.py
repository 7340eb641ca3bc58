"""What a person sees while a job runs: the number of responses once it is known."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from trecjudge.judging.runner import JudgedResponse
from trecjudge.records import Response
from trecjudge.show.progress import ConsoleWatcher


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        pytest.param(None, "1 of about 1 responses, 0 items judged, 0:00:00 left", id="not known"),
        pytest.param(5, "1 of about 5 responses, 0 items judged, 0:02:40 left", id="known"),
        pytest.param(0, "1 of about 1 responses, 0 items judged, 0:00:00 left", id="too few"),
    ],
)
def test_lines_where_there_is_no_terminal(known: int | None, wanted: str) -> None:
    written, seconds = io.StringIO(), iter([0.0, 0.0, 40.0, 40.0, 40.0])
    watcher = ConsoleWatcher(Console(file=written), clock=lambda: next(seconds))
    watcher.begins(lambda: known, dict)
    watcher.judged(JudgedResponse(Response("r", "1", ()), []))
    assert written.getvalue() == f"{wanted}\n"

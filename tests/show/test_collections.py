"""How far a collection is: a bar on a terminal, lines elsewhere, one at the end."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from tests.commandline import ROOT
from trecjudge.cli.exits import exit_status
from trecjudge.inputs.collections.progress import CollectionProgress, report_progress
from trecjudge.show.progress import CollectionWatcher, ConsoleWatcher, end_line, state_line

AT = CollectionProgress("corpus", 14 * 10**8, 10**10, 975, 1000, 12.0)
END = replace(AT, done=10**10, seconds=75.0, ended=True)
SAID = "corpus: 975 of 1,000 documents found in 10.0 GB, in 0:01:15"


def test_the_lines() -> None:
    assert state_line(AT) == "1.4 GB of 10.0 GB, 975 of 1,000 documents found, 0:01:14 left"
    assert end_line(END) == SAID
    asked = replace(AT, what="https://e.org", done=120, total=1000, in_bytes=False)
    assert state_line(asked).startswith("120 of 1,000 asked for, 975 of ")
    assert end_line(asked) == "https://e.org: 975 of 1,000 documents found, 120 asked for, in 12 s"


def test_elsewhere_a_line_comes_now_and_then() -> None:
    written = io.StringIO()
    watcher = CollectionWatcher(Console(file=written, width=40))
    for seconds in range(3, 75):
        watcher(replace(AT, seconds=float(seconds)))
    watcher(END)
    watcher(replace(AT, what="[b]\x1b[2Jother", seconds=4.0))
    lines = written.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["corpus"] * 3
    assert lines[3] == SAID
    assert lines[4].startswith(r"[b]\x1b[2Jother: 1.4 GB")


def terminal() -> tuple[io.StringIO, Console]:
    written = io.StringIO()
    return written, Console(file=written, width=100, force_terminal=True, color_system=None)


def test_on_a_terminal_a_bar_stands_until_the_end() -> None:
    written, console = terminal()
    watcher = CollectionWatcher(console)
    watcher(AT)
    watcher(END)
    shown = written.getvalue()
    assert re.search(r"━+.*1\.4 GB of 10\.0 GB, 975 of 1,000 documents found", shown)
    assert shown.endswith(f"{SAID}\n")


def test_the_bar_of_a_job_makes_room_for_it() -> None:
    written, console = terminal()
    with ConsoleWatcher(console) as watcher:
        report_progress(replace(AT, seconds=1.0))
        assert watcher._bar.live.is_started
        report_progress(AT)
        assert not watcher._bar.live.is_started
        report_progress(END)
        assert watcher._bar.live.is_started
    assert SAID in written.getvalue()


@pytest.mark.parametrize(
    ("quiet", "seconds", "wanted"),
    [
        pytest.param(False, 75.0, f"{SAID}\n", id="shown"),
        pytest.param(True, 75.0, "", id="quiet"),
        pytest.param(False, 1.9, "", id="short"),
    ],
)
def test_every_command_shows_it(
    quiet: bool, seconds: float, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = replace(END, seconds=seconds)

    def work() -> int:
        report_progress(ended)
        return 0

    assert exit_status(work, quiet) == 0
    assert capsys.readouterr().err == wanted
    written = io.StringIO()
    with ConsoleWatcher(Console(file=written, width=200), quiet):
        report_progress(ended)
    assert written.getvalue() == wanted


def test_no_command_loads_it_before() -> None:
    code = (
        "import sys, trecjudge.cli.exits as e; e.exit_status(lambda: 0);"
        "print('rich' in sys.modules, 'trecjudge.show.progress' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[1] == "False"

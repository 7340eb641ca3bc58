"""Which signals interrupt a process, and what it does about those of which more come."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from trecjudge.job.process import Interrupts

HANDLED = """
import json, os, signal, sys
from trecjudge.job.process import Interrupts
interrupts = Interrupts()
interrupts.install()
found = [n for n in signal.valid_signals() if signal.getsignal(n) == interrupts._interrupt]
said = []
with interrupts.cancelling(lambda: said.append("cancelled")):
    for number in map(int, sys.argv[1:]):
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            said.append("ended")
print(json.dumps([list(map(int, found)), said]))
"""


def handled(*sent: int, ignored: int | None = None) -> tuple[set[int], list[str], str]:
    """Return the signals that a process handles, what those that are sent do, and what it says."""

    def ignore() -> None:
        if ignored is not None:
            signal.signal(ignored, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-c", HANDLED, *map(str, map(int, sent))],
        capture_output=True, text=True, check=True, preexec_fn=ignore,
    )  # fmt: skip
    found, said = json.loads(done.stdout)
    return set(found), said, done.stderr


def test_all_that_end_a_process_but_faults_and_what_is_ignored() -> None:
    found, said, told = handled(signal.SIGUSR2, signal.SIGALRM, ignored=signal.SIGUSR1)
    ending = ["HUP", "INT", "QUIT", "USR2", "ALRM", "TERM", "XCPU", "VTALRM", "PROF"]
    assert found >= {getattr(signal, f"SIG{name}") for name in ending}
    others = ["USR1", "PIPE", "XFSZ", "CHLD", "CONT", "TSTP", "WINCH", "SEGV", "ABRT"]
    assert not found & {getattr(signal, f"SIG{name}") for name in others}
    assert said == ["cancelled", "ended"]
    assert told.startswith("interrupted (SIGUSR2): ending")


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="no signals of real time")
def test_what_the_system_repeats_ends_nothing_at_once() -> None:
    later = signal.SIGRTMIN + 1
    _, said, told = handled(later, signal.SIGXCPU, signal.SIGHUP, later)
    assert said == ["cancelled", "ended"]
    assert told.startswith(f"interrupted (signal {later}): ending")


@pytest.mark.parametrize(
    ("module", "ends"),
    [("asyncio.base_events", asyncio.CancelledError), ("judges.support", KeyboardInterrupt)],
)
def test_a_signal_in_the_loops_own_code_loses_no_step_of_a_task(
    module: str, ends: type[BaseException]
) -> None:
    interrupts = Interrupts()
    at: dict[str, Any] = {"__name__": module}
    exec("import sys\nframe = sys._getframe()", at)

    async def work() -> None:
        with interrupts.cancelling_in_loop():
            interrupts._interrupt(signal.SIGTERM, at["frame"])
            await asyncio.sleep(60)

    with pytest.raises(ends):
        asyncio.run(work())

"""Fixtures of every test: a cache folder of its own, no model, no network."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.forked import ForkedReader
from tests.reading import Reading, reading
from trecjudge.inputs.collections import lookup
from trecjudge.job.process import tune_process

# The same examples every time, so that no merge depends on luck. `thorough` tries others, and more.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

FILE_EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "sqlite3.connect")
LOOPBACK = ("127.", "::1", "localhost")
ROOT = Path(__file__).parent.parent
CACHE_VARIABLE = "TRECJUDGE_CACHE"
CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
REAL_CACHE = str(CACHES / "trecjudge")


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Fail a test that uses the network or the user's cache, from any code."""
    if event in ("socket.connect", "socket.sendto"):
        _check_host(arguments[1])
    elif event == "socket.getaddrinfo":
        _check_host(arguments)
    elif event in FILE_EVENTS and str(arguments[0]).startswith(REAL_CACHE):
        pytest.fail(f"a test uses the user's cache: {arguments[0]}")


def _check_host(address: Any) -> None:
    """Fail for (host, port, ...) beyond loopback; the address of a local pipe is text."""
    host = address[0] if isinstance(address, tuple) else None
    name = host.decode() if isinstance(host, bytes) else host
    if name and not name.startswith(LOOPBACK):
        pytest.fail(f"a test asks the network for {name}")


# An audit hook sees what C code does too, and what it raises no `except Exception` swallows.
sys.addaudithook(_guard)


# Tests start hundreds of processes: what one of them has compiled, the next ones only load.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# `nohup`, and `&` in a script, start the tests with signals ignored, which every process that they
# start would inherit. A handler is not inherited; the one of SIGHUP still ignores it here.
for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, lambda *_: None),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--changed-since`, which chooses among the slow tests."""
    parser.addoption(
        "--changed-since",
        metavar="COMMIT",
        help="of the tests marked slow, only those whose own file, or a file below a path that they"
        " name, differs from COMMIT; all of them where git does not know it",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests of what has not changed, where a commit is given."""
    if not (commit := config.getoption("--changed-since")):
        return
    git = ["git", "-C", str(ROOT), "diff", "--name-only", commit]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return
    changed = [Path(line) for line in done.stdout.splitlines()]

    def is_needed(item: pytest.Item) -> bool:
        marks = list(item.iter_markers("slow"))
        guarded = {Path(path) for mark in marks for path in mark.args}
        guarded.add(item.path.relative_to(ROOT))
        return not marks or any(guarded & {path, *path.parents} for path in changed)

    config.hook.pytest_deselected(items=[item for item in items if not is_needed(item)])
    items[:] = [item for item in items if is_needed(item)]


def pytest_collection_finish() -> None:
    """Collect garbage as a command does, and leave out thousands of tests and modules."""
    tune_process()
    gc.freeze()


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the paths of cache folders, one for each test."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, caches: Iterator[Path]) -> None:
    """Give the test a cache folder of its own, made by who needs it, no model and no proxy."""
    monkeypatch.setenv(CACHE_VARIABLE, str(next(caches)))
    ours = ("OPENAI_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for name in [name for name in os.environ if name.upper().startswith(ours)]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def no_file_left_open() -> Iterator[None]:
    """Fail the test that leaves a run or judgments file open: another one would be warned of it."""
    before = _open_files()
    yield
    if left := {path for path in _open_files() - before if ".jsonl" in path}:
        pytest.fail(f"a file is left open: {sorted(left)}")


def _open_files() -> set[str]:
    """Return the paths of what this process has open, where the system shows it."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the folder itself was open only to be listed
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return `write(text, name)`: the path of a new file below the test's folder."""

    def write(text: str | bytes, name: str = "run.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def read(write: Callable[..., Path]) -> Callable[..., Reading]:
    """Return `read(text, name, **options of RunReader)`: what is read from such a run file."""

    def read(text: str | bytes, name: str = "run.jsonl", **options: Any) -> Reading:
        return reading(write(text, name), **options)

    return read


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what reads in several processes start one: each takes as long as a hundred tests."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)


@pytest.fixture
def forked_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let readers of collections import nothing anew, which takes them longer than the test."""
    monkeypatch.setattr(lookup, "Popen", ForkedReader)


@pytest.fixture
def shared() -> Path:
    """Return the folder of real data beside the project; skip the test where it is not."""
    folder = Path(os.environ.get("TRECJUDGE_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs real data in {folder}; TRECJUDGE_SHARED names another folder")
    return folder

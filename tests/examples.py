"""The examples of the pages: their files are written, their commands run, their output compared.

A block of code counts if a comment above it says what it is:

| comment | block |
|---|---|
| `command: NAME` | commands of which ours is run |
| `run`, `run: STATUS` | a command; its exit status is this, else 0 or 3 |
| `run: WORD` | a command that a test of its own runs, and not this one |
| `file: NAME` | a file, written |
| `file is: NAME` | what a file holds now |
| `prints`, `prints: N` | what the last command printed; its first N lines, the last with -N |
| `says`, `says: N` | the same of standard error |

`python -m tests.examples` writes what is printed today into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.commandline import ROOT, Done, command

DOCS = sorted((ROOT / "docs").glob("*.md"))
PYTHON = ROOT / "docs" / "python.md"  # its code is run by tests/api/test_python_page.py
PAGES = [ROOT / "README.md", *DOCS]
PLAYED = [page for page in PAGES if page != PYTHON]
BLOCK = re.compile(
    r"<!-- (command|file|run|file is|prints|says)(?:: (\S+))? -->\n```\w*\n(.*?)```", re.DOTALL
)


@dataclass(frozen=True)
class Shown:
    """A block of output on a page: the text shown, and the true one."""

    start: int
    end: int
    text: str
    true: str


def played(page: Path, folder: Path) -> Iterator[Shown]:
    """Run the examples of a page in `folder`, the working folder; yield its blocks of output."""
    for name in ("sample_data", "workflows"):
        (folder / name).symlink_to(ROOT / name)
    done = Done(0, "", "")
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        kind, name, text = block.groups(default="")
        path = folder / name
        if kind == "command":  # only our command of those, which also set up an environment
            _, ours, rest = text.partition("python run_judge.py")
            done = run(ours + rest) if ours else done
        elif kind == "run" and name.isalpha():
            done = Done(0, "", "")
        elif kind == "run":
            done = run(text, *([int(name)] if name else ()))
        elif kind == "file":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        else:
            printed = {"prints": done.out, "says": done.err}
            true = path.read_text(encoding="utf-8") if kind == "file is" else printed[kind]
            if kind != "file is" and name:
                true = part(true, int(name))
            yield Shown(block.start(3), block.end(3), text, true)


def part(text: str, count: int) -> str:
    """Return the first `count` lines of a text, or the last ones for a negative count."""
    lines = text.strip("\n").splitlines()
    return "\n".join(lines[:count] if count > 0 else lines[count:])


def arguments(line: str) -> list[str]:
    """Return the arguments of a page's command."""
    words = shlex.split(line.replace("\\\n", " "))
    assert words[:2] == ["python", "run_judge.py"], line
    return words[2:]


def run(line: str, *statuses: int) -> Done:
    """Run a page's command in the working folder, in a shell if it is not ours."""
    if line.startswith("python run_judge.py"):
        done = command(*arguments(line))
    else:
        shell = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        done = Done(shell.returncode, shell.stdout, shell.stderr)
    assert done.status in (statuses or (0, 3)), done.err
    return done


def steady(text: str) -> list[str]:
    """Return lines without what varies: times, and blanks at the end of a line."""
    return [
        re.sub(r"\d+\.\d (m?s)\b", r"N \1", line.rstrip()) for line in text.strip().splitlines()
    ]


def renew(page: Path) -> int:
    """Write what is printed today into a page; return how many of its blocks were wrong."""
    text, wrong, here = page.read_text(encoding="utf-8"), 0, Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            found = list(played(page, Path(name)))
        finally:
            os.chdir(here)
    for shown in reversed(found):
        if steady(shown.text) != steady(shown.true):
            lines = "\n".join(line.rstrip() for line in shown.true.strip("\n").splitlines())
            text = f"{text[: shown.start]}{lines}\n{text[shown.end :]}"
            wrong += 1
    page.write_text(text, encoding="utf-8")
    return wrong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRECJUDGE_CACHE"] = cache
        for page in PLAYED:
            if wrong := renew(page):
                print(f"{page.relative_to(ROOT)}: {wrong} renewed")

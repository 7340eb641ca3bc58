"""The house: a room imports only from lower floors, and never a judge."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import trecjudge

ROOT = Path(__file__).parent.parent
FLOORS = (
    {"errors", "records", "text", "plugins"},
    {"findings", "lexical", "files", "lock", "strict_yaml"},
    {"sources", "measures", "typed", "cache", "log"},
    {"topics", "trec", "workflow", "judgments", "outputs", "labels"},
    {"documents", "leaderboard", "llm", "points", "stats", "leaderboards"},
    {"formats", "naming", "strays", "attest", "judge", "summary", "human"},
    {"run_records"},
    {"runs", "panel", "attestation", "claims", "ranking"},
    {"gate", "workflow_checks"},
    {"job", "runner", "scoring", "check", "given", "judges"},
    {"choice", "config", "progress", "calibrate", "evaluation", "report"},
    {"pipeline", "console"},
    {"api"},
    {"cli"},
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = ("dspy", "aiohttp", "litellm", "openai", "scipy", "numpy", "jinja2")
MODULES = sorted((ROOT / "trecjudge").rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports by statement."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def room(path: Path) -> str:
    """Return the room of a module: its folder or its own name below `trecjudge`."""
    return path.relative_to(ROOT / "trecjudge").parts[0].removesuffix(".py")


ROOMS = [path for path in MODULES if path != ROOT / "trecjudge" / "__init__.py"]
"""All but the front door, which names what is on any floor."""


@pytest.mark.parametrize("path", ROOMS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_imports_only_from_lower_floors(path: Path) -> None:
    mine = room(path)
    for name in imports(path):
        top, _, rest = name.partition(".")
        ours = top in ("judges", "run_judge") or name.startswith("trecjudge.judges.")
        assert not ours, f"{path.name} imports {name}"
        theirs = rest.partition(".")[0]
        if top == "trecjudge" and theirs in FLOOR and theirs != mine:
            assert FLOOR[theirs] < FLOOR[mine], f"{mine} imports {theirs}"


def test_every_room_has_a_floor_and_is_in_the_guide() -> None:
    rooms = {room(path) for path in MODULES} - {"__init__"}
    assert rooms == set(FLOOR)
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [r for r in sorted(rooms) if f"`{r}" not in guide] == []


def test_no_import_cycles_inside_a_room() -> None:
    for folder in sorted({path.parent.name for path in MODULES} - {"trecjudge"}):
        paths = (ROOT / "trecjudge" / folder).glob("*.py")
        names = {f"trecjudge.{folder}.{p.stem}": p for p in paths}
        uses = {
            name: {other for i in imports(path) for other in names if i.startswith(f"{other}.")}
            for name, path in names.items()
        }
        while leaves := [name for name, used in uses.items() if not used - {name} & set(uses)]:
            for leaf in leaves:
                del uses[leaf]
            uses = {name: used - set(leaves) for name, used in uses.items()}
        assert not uses, f"a cycle among {sorted(uses)}"


def test_printing_is_for_the_command_line_alone() -> None:
    for path in [*MODULES, *(ROOT / "judges").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        printed = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]
        assert not printed, path


def test_only_the_runner_catches_everything() -> None:
    broad = [
        path.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
    ]
    assert set(broad) <= {"runner.py", "judge.py", "exits.py"}


@pytest.mark.parametrize("modules", ["run_judge", "trecjudge.pipeline, trecjudge.judges.citation"])
def test_nothing_of_a_model_is_imported_without_one(modules: str) -> None:
    code = f"import sys, {modules}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_is_exported_is_what_mypy_sees() -> None:
    tree = ast.parse((ROOT / "trecjudge" / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {(module, name) for name, module in trecjudge._MODULES.items()}


def test_what_only_tests_need_is_imported_nowhere() -> None:
    paths = [*MODULES, *(ROOT / "judges").rglob("*.py"), ROOT / "run_judge.py"]
    found = {(path.name, top) for path in paths for top in (i.split(".")[0] for i in imports(path))}
    assert [pair for pair in sorted(found) if pair[1] in ("scipy", "sklearn", "krippendorff")] == []

"""The layers: a wing imports only from wings below it, and no wing imports a judge."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import trecjudge

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "trecjudge"
WINGS = (
    "version",
    "text",
    "errors",
    "records",
    "findings",
    "files",
    "settings",
    "measures",
    "inputs",
    "models",
    "results",
    "stats",
    "judging",
    "judges",
    "check",
    "scores",
    "evaluation",
    "baseline",
    "job",
    "show",
    "api",
    "interop",
    "cli",
)
"""The wings from the ground up: each may use those before it."""
DOORS = {"__init__", "__main__"}
"""What others import, names of any wing when they are asked for; and `python -m trecjudge`."""
MOST_NAMES = 22
MOST_WINGS = 23
MOST_LOOSE = 6
MOST_LATE_IMPORTS = 16
MOST_PUBLIC_NAMES = 45
HEAVY = ("dspy", "aiohttp", "litellm", "openai", "scipy", "numpy", "jinja2", "pandas")
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in MODULES
}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return a module and all that is in it."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the dotted names that a file imports by statement, at its top or later."""
    (module,) = (node for node in nodes(path) if isinstance(node, ast.Module))
    return frozenset(_imported(module.body) | _imported(_inner(path)))


def _inner(path: Path) -> list[ast.stmt]:
    """Return the statements inside the functions of a module."""
    functions = [n for n in nodes(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [s for function in functions for s in ast.walk(function) if isinstance(s, ast.stmt)]


def _imported(statements: list[ast.stmt]) -> set[str]:
    """Return the names that these statements import, those under a condition too."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.If):
            found |= _imported(node.body)
    return found


def modules_in(names: Iterator[str] | frozenset[str] | set[str]) -> set[str]:
    """Return the modules of the package that imported names belong to."""
    found = set()
    for name in names:
        while name and name not in NAMES:
            name = name.rpartition(".")[0]
        if name.startswith("trecjudge."):
            found.add(name)
    return found


def wing(path: Path) -> str:
    """Return the wing of a module: its folder or its own name below `trecjudge`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_a_wing_imports_only_from_those_below() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        if wing(path) not in DOORS
        for name in imports(path)
        if not may_import(wing(path), name)
    ]
    assert wrong == []


def may_import(mine: str, name: str) -> bool:
    """Return whether a wing may import a dotted name: no judge, and no wing above its own."""
    top, _, rest = name.partition(".")
    theirs = rest.partition(".")[0]
    if top != "trecjudge" or theirs not in WINGS or theirs == mine:
        return top not in ("judges", "run_judge")
    return theirs != "judges" and WINGS.index(theirs) < WINGS.index(mine)


def test_every_wing_has_its_place_and_is_in_the_guide() -> None:
    assert {wing(path) for path in MODULES} - DOORS == set(WINGS)
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in WINGS if f"`{name}" not in guide] == []


def test_the_house_has_few_doors() -> None:
    loose = {path.stem for path in PACKAGE.glob("*.py")} - DOORS
    assert len(loose) <= MOST_LOOSE
    assert len({wing(path) for path in MODULES} - DOORS) <= MOST_WINGS


def test_no_import_leads_back() -> None:
    uses = {name: modules_in(imports(path)) - {name} for name, path in NAMES.items()}
    uses.pop("trecjudge", None)
    while leaves := [name for name, used in uses.items() if not used & set(uses)]:
        for leaf in leaves:
            del uses[leaf]
    assert not uses, f"a cycle among {sorted(uses)}"


def test_few_imports_stand_inside_functions() -> None:
    paths = [*MODULES, *(ROOT / "judges").rglob("*.py"), ROOT / "run_judge.py"]
    late = [
        f"{path.relative_to(ROOT)}:{statement.lineno}"
        for path in paths
        for statement in _inner(path)
        if any(name.startswith("trecjudge.") for name in _imported([statement]))
    ]
    assert len(late) <= MOST_LATE_IMPORTS, late


def test_tests_mirror_the_house() -> None:
    folders = {p.parent.relative_to(ROOT / "tests") for p in (ROOT / "tests").rglob("test_*.py")}
    rooms = {path.parent.relative_to(PACKAGE) for path in MODULES} | {Path("judges")}
    assert {str(folder) for folder in folders - rooms} <= {"."}


def test_judges_import_from_wings_below_them_and_from_what_is_public() -> None:
    allowed = {"trecjudge", *(f"trecjudge.{name}" for name in WINGS[: WINGS.index("judges")])}
    for path in sorted((ROOT / "judges").rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                module = str(node.module)
                found = ".".join(module.split(".")[:2])
                assert module.split(".")[0] != "trecjudge" or found in allowed, (path, module)


def test_the_smallest_judge_shows_what_authors_need() -> None:
    """It is the one to copy: it uses public names only."""
    used = imports(ROOT / "judges" / "length" / "__init__.py")
    own = {name for name in used if name.startswith("trecjudge")}
    assert own <= {f"trecjudge.{name}" for name in trecjudge.__all__}


def test_printing_is_for_the_command_line_only() -> None:
    for path in [*MODULES, *(ROOT / "judges").rglob("*.py")]:
        calls = [node for node in nodes(path) if isinstance(node, ast.Call)]
        printed = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]
        assert not printed, path


def test_only_the_runner_catches_everything() -> None:
    broad = [
        path.name
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
    ]
    assert set(broad) <= {"runner.py", "judge.py", "plugins.py", "exits.py"}


@pytest.mark.parametrize("modules", ["run_judge", "trecjudge.job.run, trecjudge.judges.citation"])
def test_nothing_of_a_model_is_imported_without_one(modules: str) -> None:
    code = f"import sys, {modules}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_slow_tests_guard_is_there() -> None:
    marks = [
        mark
        for path in (ROOT / "tests").rglob("*.py")
        for mark in re.findall(r"mark\.slow\(([^)]+)\)", path.read_text(encoding="utf-8"))
    ]
    guarded = {path for mark in marks for path in re.findall(r'"(.*?)"', mark)}
    assert [path for path in sorted(guarded) if not (ROOT / path).exists()] == []


def test_every_public_name_is_there() -> None:
    assert [name for name in trecjudge.__all__ if not hasattr(trecjudge, name)] == []
    assert {"judge", "ajudge", "Judge", "Item", "judgment_of"} <= set(dir(trecjudge))
    assert len(trecjudge.__all__) <= MOST_PUBLIC_NAMES


def test_names_that_have_moved_are_still_there_and_say_where_they_are() -> None:
    for module, names in trecjudge._MOVED.items():
        for name in names.split():
            with pytest.warns(DeprecationWarning, match=rf"{name} from trecjudge\.{module}: "):
                assert getattr(trecjudge, name) is not None
    assert not {n for names in trecjudge._MOVED.values() for n in names.split()} & set(
        trecjudge.__all__
    )
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = trecjudge.no_such_name


def test_a_moved_name_is_told_where_it_is_imported() -> None:
    code = "from trecjudge import FULL; print(FULL)"
    done = subprocess.run(
        [sys.executable, "-Wdefault", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout == "full_support\n"
    assert done.stderr.count("<string>:1: DeprecationWarning: import FULL from trecjudge.records")


def test_what_only_tests_need_is_imported_nowhere() -> None:
    paths = [*MODULES, *(ROOT / "judges").rglob("*.py"), ROOT / "run_judge.py"]
    found = {(path.name, top) for path in paths for top in (i.split(".")[0] for i in imports(path))}
    assert [pair for pair in sorted(found) if pair[1] in ("scipy", "sklearn", "krippendorff")] == []


def test_the_tour_of_the_main_job_leads_down() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("## A tour of the main job")[2].partition("\n## ")[0]
    files = re.findall(r"^\| `(\S+\.py)` \|", section, re.MULTILINE)
    assert len(files) == 10
    modules = [file.removesuffix(".py").replace("/", ".") for file in files]
    for number, module in enumerate(modules):
        back = modules_in(imports(NAMES[module])) & set(modules[:number])
        assert not back, f"{module} imports {back}"

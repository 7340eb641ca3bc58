"""Plug-ins: the folders of judges, and modules named in text."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from trecjudge.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FOLDER = "judges"
JUDGES = f"trecjudge.{FOLDER}"
_PACKAGE = Path(__file__).parent.parent
SHIPPED = _PACKAGE if (_PACKAGE / "workflows").is_dir() else _PACKAGE.parent
"""Where `judges/` and `workflows/` lie: in the package or, in a checkout, beside it."""
_own: list[str] = []  # the working directory's part of the package path


def judge_folders() -> dict[str, Path]:
    """Return the folder of each judge by name, none of them imported.

    They are ours, and the user's own in `judges/` of the working directory. Of two of one name ours
    is taken.
    """
    found: dict[str, Path] = {}
    for place in _package().__path__:
        names = (module.name for module in pkgutil.iter_modules([place]) if module.ispkg)
        found |= {name: Path(place, name) for name in names if name not in found}
    return found


def formats_in(package: ModuleType) -> list[Any]:
    """Return the modules of a package that are formats, in the order in which they are asked.

    Any module there with `claims` is one: a new format is only a new file.
    """
    names = (f"{package.__name__}.{m.name}" for m in pkgutil.iter_modules(package.__path__))
    found = [m for m in map(importlib.import_module, names) if hasattr(m, "claims")]
    return in_order(found)


def module_at(point: EntryPoint, what: str, needed: Sequence[str]) -> Any:
    """Return the module at an entry point, which is to offer some names. Raises PluginError."""
    where = f"the {what} {point.name!r} at {point.value}"
    try:
        found = point.load()
    except Exception as error:  # the code of others
        raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
    lacking = [name for name in needed if not hasattr(found, name)]
    if lacking:
        raise PluginError(f"{where} has no {', '.join(lacking)}")
    return found


def in_order(found: Iterable[Any]) -> list[Any]:
    """Return formats in the order in which they are asked: by RANK, 100 without one, then NAME."""
    return sorted(found, key=lambda module: (getattr(module, "RANK", 100), module.NAME))


def is_own(folder: Path) -> bool:
    """Return whether the folder of a judge is the user's own, and not one of ours."""
    return str(folder.parent) in _own


def module_of_others(reference: str) -> str:
    """Return the module of `module:name` where it is the user's own or somebody else's, else ""."""
    module = reference.partition(":")[0]
    top, _, rest = module.removeprefix("trecjudge.").partition(".")
    if top == FOLDER:
        folder = judge_folders().get(rest.partition(".")[0])
        return "" if folder is not None and not is_own(folder) else module
    return "" if module.startswith("trecjudge.") else module


def place_in_code(
    error: BaseException, function: Callable[..., object], module: str | None = None
) -> str:
    """Return `file.py:17`: where in the code of a function, or beside it, an error was raised.

    If only code elsewhere raises it, it is the line of the function itself. `module` is where
    it belongs, else where it is defined.
    """
    function = inspect.unwrap(getattr(function, "func", function))
    module = module or str(function.__module__)
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = Path(file).parent if file else None
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if (folder and _lies_in(Path(frame.filename), folder)) or _is_users(Path(frame.filename))
    ]
    code = getattr(function, "__code__", None)
    if own:
        path, line = Path(own[-1].filename), own[-1].lineno
    elif code is not None:
        path, line = Path(code.co_filename), code.co_firstlineno
    else:
        return module
    with suppress(OSError, ValueError):  # what lies elsewhere keeps its whole path
        path = path.relative_to(Path.cwd())
    return f"{path}:{line}"


def _is_users(path: Path) -> bool:
    """Return whether a file lies below the working directory, such as a module of prompts."""
    with suppress(OSError):
        return _lies_in(path, Path.cwd()) and not path.is_relative_to(_PACKAGE)
    return False


def _lies_in(path: Path, folder: Path) -> bool:
    """Return whether a file is of a folder; not what is installed below it (`.venv/`)."""
    return path.is_relative_to(folder) and "site-packages" not in path.relative_to(folder).parts


def find_in_working_folder() -> None:
    """Let Python find the user's modules in the working directory, after all that is installed."""
    with suppress(OSError):  # the folder may be gone
        if (folder := str(Path.cwd())) not in sys.path:
            sys.path.append(folder)


def import_named(module: str) -> ModuleType:
    """Return a module by its name; an error in it is raised as it is.

    `judges.NAME` is the judge of that name, as older files call it, even where another package is
    installed as `judges`.
    """
    if not module or module.endswith(".py") or {"/", os.sep}.intersection(module):
        raise ImportError(f"{module!r} is no name of a module: no folder before it, and no .py")
    top, _, rest = module.partition(".")
    # A module of others may import DSPy at its top, which would fetch a list of prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    _package()  # it makes the user's own judges importable
    if top == FOLDER and importlib.util.find_spec(f"{JUDGES}.{rest.partition('.')[0] or '-'}"):
        module = f"{JUDGES}.{rest}"
    return importlib.import_module(module)


def _package() -> ModuleType:
    """Return the package of all judges, with `judges/` of the current directory in its path."""
    package = importlib.import_module(JUDGES)
    path = [place for place in package.__path__ if place not in _own]
    _own.clear()
    with suppress(OSError):  # the working directory may be gone
        folder = Path.cwd() / FOLDER
        if folder.is_dir() and not any(_same(folder, place) for place in path):
            _own.append(str(folder))
    package.__path__ = path + _own
    return package


def _same(folder: Path, place: str) -> bool:
    with suppress(OSError):
        return folder.samefile(place)
    return False

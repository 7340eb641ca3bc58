"""What a judge for AutoJudge measures, before it ran; and its classes, imported."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trecjudge import InputError, PluginError, keyless, read_yaml_file, unknown

NUMBERS = ("float", "int")
HINT = "give measures_wanted=A,B, or measures_file: the .measures.yml of an earlier run"
NLTK_HINT = "it needs NLTK's data (punkt, stopwords): set NLTK_DATA to a folder that has them"
NOT_THEIRS = frozenset({"trecjudge", "autojudge_base", *sys.stdlib_module_names})
PLAIN = (list, dict, set, int, float, str, bool, type(None))
_first: dict[Any, dict[str, Any]] = {}
"""The plain values of classes and modules of judges, as they were before the first job."""


def measure_names(judge_class: str, measures_file: str = "") -> list[str]:
    """Return the names of a judge's numeric measures. Raises PluginError or InputError."""
    if measures_file:
        return _measure_names(measures_file)
    found = class_at(judge_class)
    specs = {tuple(_numeric(spec)) for spec in _specs(found)}
    if len(specs) != 1 or not next(iter(specs)):
        several = "; ".join(", ".join(names) for names in sorted(specs))
        why = f"there are several: {several}" if several else "its module has no LeaderboardSpec"
        raise PluginError(
            f"the measures of {judge_class} are not known before it ran: {why}; {HINT}"
        )
    return list(next(iter(specs)))


def column_of(name: str) -> str:
    """Return the name of a measure as a column can have it: without white space."""
    return re.sub(r"[^!-~]+", "_", name)


def class_at(reference: str) -> Any:
    """Return the class at `package.module:Class` or `package.module.Class`. Raises PluginError."""
    base()
    module, _, name = reference.partition(":") if ":" in reference else reference.rpartition(".")
    if not module or not name:
        raise PluginError(f"{reference!r}: give package.module:Class")
    try:
        if module not in sys.modules:  # what a module finds while it is imported, it may keep
            with keyless(None):
                importlib.import_module(module)
        found = getattr(sys.modules[module], name, None)
    except (Exception, SystemExit) as error:  # importing runs the code of others
        why = f"{type(error).__name__}: {error}"
        raise PluginError(f"{reference!r} cannot be imported: {why}") from error
    if found is None:
        classes = [n for n, c in vars(sys.modules[module]).items() if inspect.isclass(c)]
        raise PluginError(f"{module}: {unknown('class', name, classes)}")
    return found


def base() -> Any:
    """Return the package autojudge_base. Raises PluginError where it cannot be imported."""
    quiet = io.StringIO()  # it looks for data of NLTK, and tells what it cannot download
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            return importlib.import_module("autojudge_base")
    except ImportError as error:
        message = "autojudge-base is not installed: pip install 'trecjudge[autojudge]'"
        raise PluginError(f"{message} ({error})") from error
    except LookupError as error:
        raise PluginError(f"autojudge-base cannot be imported: {NLTK_HINT}") from error


def refresh(found: Any) -> None:
    """Give a class, and its module, the plain values back that they had when first seen here.

    What a class keeps of one job must not reach the next one in the same process.
    """
    for owner in (*found.__mro__, sys.modules.get(found.__module__)):
        name = str(getattr(owner, "__module__", None) or getattr(owner, "__name__", ""))
        if owner is None or name.partition(".")[0] in NOT_THEIRS:
            continue
        plain = {n: v for n, v in vars(owner).items() if isinstance(v, PLAIN) and n[:2] != "__"}
        first = _first.setdefault(owner, copy.deepcopy(plain))
        if inspect.isclass(owner):
            for added in plain.keys() - first.keys():
                delattr(owner, added)
        for name, value in first.items():
            setattr(owner, name, copy.deepcopy(value))


def _specs(found: Any) -> Iterator[Any]:
    """Yield the specs of a class, else those of its module."""
    kind = base().LeaderboardSpec
    own = [value for value in vars(found).values() if isinstance(value, kind)]
    module = vars(sys.modules[found.__module__])
    yield from own or (value for value in module.values() if isinstance(value, kind))


def _numeric(spec: Any) -> Iterator[str]:
    return (m.name for m in spec.measures if getattr(m, "dtype", float) is not str)


def _measure_names(path: str) -> list[str]:
    """Return the numeric measures of a file that `auto-judge run` wrote."""
    try:
        listed = read_yaml_file(Path(path), "list of measures").value["measures"]
        names = [str(m["name"]) for m in listed if m.get("dtype", "float") in NUMBERS]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: is no list of measures, as `auto-judge run` writes it"
        ) from error
    if not names:
        raise InputError(f"{path}: has no measure that is a number")
    return names

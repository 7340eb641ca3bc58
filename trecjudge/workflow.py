"""Workflow files: what to judge with, how it is set, and how it is aggregated; checked whole.

`--set` beats the variant or sweep point, which beats `settings`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import yaml

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import shown
from trecjudge.records import Place

DEFAULT_JUDGE = "citation"
LEADERBOARD_KEYS = ("sort_by", "on_missing", "measures")
MOST_POINTS = 1000
UNSAFE = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow file as read. `variants` name settings, `sweeps` lists of values of settings.

    `gate` has rules as `trecjudge.gate` reads them.
    """

    judge: str | list[str] = DEFAULT_JUDGE
    settings: dict[str, Any] = field(default_factory=dict)
    llm: dict[str, Any] = field(default_factory=dict)
    leaderboard: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    sweeps: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    gate: dict[str, Any] = field(default_factory=dict)
    measures: list[str] = field(default_factory=list)
    path: Path | None = None

    @property
    def judges(self) -> list[str]:
        """The names of the judges, in order."""
        return names_in(self.judge) if isinstance(self.judge, str) else list(map(str, self.judge))


@dataclass(frozen=True, slots=True)
class Point:
    """One set of settings to judge with; `suffix` is added to the names of its files."""

    suffix: str
    settings: dict[str, Any]


KEYS = [f.name for f in fields(Workflow) if f.name != "path"]


def find_workflow(given: Path, shipped: Path) -> Path:
    """Return a workflow file: the path that is given or, by its name, one of those shipped.

    Raises WorkflowError with the names of those.
    """
    if given.is_file():
        return given
    known = {path.stem: path for path in shipped.glob("*.yml")}
    if given.stem in known:
        return known[given.stem]
    raise WorkflowError(f"{given}: no such file, and {unknown('workflow', given.stem, known)}")


def read_workflow(path: Path) -> Workflow:
    """Read and check a workflow file. Raises WorkflowError with file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkflowError(f"{path}: cannot be read: {error}") from error
    try:
        loaded = yaml.safe_load(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError as error:
        raise WorkflowError(f"{path}: is nested too deep") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = Place(str(path), mark.line + 1 if mark else None)
        raise WorkflowError(f"{place}: is not YAML: {getattr(error, 'problem', error)}") from error
    if loaded is None:
        return Workflow(path=path)
    if not isinstance(loaded, dict):
        raise WorkflowError(f"{path}: must be a mapping of {', '.join(KEYS)}")
    nodes = root.value if root is not None else ()
    places = {node.value: Place(str(path), node.start_mark.line + 1) for node, _ in nodes}
    for key, value in loaded.items():
        _check(places.get(str(key), Place(str(path))), str(key), value)
    return Workflow(**{k: v for k, v in loaded.items() if v is not None}, path=path)


def _check(place: Place, key: str, value: Any) -> None:
    """Check one top-level key and the shape of its value."""
    if key not in KEYS:
        raise WorkflowError(f"{place}: {unknown('key', key, KEYS)}")
    wanted: Any = {"judge": (str, list), "measures": list}.get(key, dict)
    if value is not None and not isinstance(value, wanted):
        names = {(str, list): "a name or a list of names", list: "a list", dict: "a mapping"}
        raise WorkflowError(f"{place}: {key} is {shown(value)}, must be {names[wanted]}")
    if key == "leaderboard":
        check_leaderboard(str(place), value or {})
    entries: dict[str, Any] = value if isinstance(value, dict) else {}
    for name in entries:
        if not isinstance(name, str):
            raise WorkflowError(f"{place}: {key} has the key {shown(name)}, must be a name")
    for name, entry in entries.items() if key in ("variants", "sweeps") else ():
        if not isinstance(entry, dict):
            message = f"{place}: {key}.{name} is {shown(entry)}, must be a mapping of settings"
            raise WorkflowError(message)
    if key == "sweeps":
        _check_sweeps(place, value or {})
    for name, entry in entries.items() if key == "prompts" else ():
        if not isinstance(entry, str):
            raise WorkflowError(f"{place}: prompts.{name} is {shown(entry)}, must be text")


def _check_sweeps(place: Place, sweeps: Mapping[str, Mapping[str, Any]]) -> None:
    for name, axes in sweeps.items():
        for setting, values in axes.items():
            if not isinstance(values, list) or not values:
                message = f"sweeps.{name}.{setting} is {shown(values)}, must be a list of values"
                raise WorkflowError(f"{place}: {message}")


def check_leaderboard(where: str, value: Mapping[str, Any]) -> None:
    """Raise WorkflowError for an unknown key of `leaderboard:`."""
    for name in value:
        if name not in LEADERBOARD_KEYS:
            raise WorkflowError(f"{where}: leaderboard: {unknown('key', name, LEADERBOARD_KEYS)}")


def names_in(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def with_overrides(workflow: Workflow, overrides: Sequence[str]) -> tuple[Workflow, dict[str, Any]]:
    """Return the workflow with `llm.*` and `leaderboard.*` overridden, and the settings to set.

    An override is `key=value`, the value in YAML; any other section than these two is a judge.
    """
    sections: dict[str, dict[str, Any]] = {"llm": {}, "leaderboard": {}}
    settings: dict[str, Any] = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        section, _, name = key.strip().rpartition(".")
        if not equals or not name:
            choices = "key=value, judge.key=value, llm.key=value or leaderboard.key=value"
            raise WorkflowError(f"--set {override!r}: give {choices}")
        into = sections.get(section, settings) if section in sections or not section else None
        into = settings.setdefault(section, {}) if into is None else into
        try:
            into[name] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise WorkflowError(f"--set {override!r}: the value is not YAML: {error}") from error
    check_leaderboard("--set", sections["leaderboard"])
    changed = replace(
        workflow,
        llm=workflow.llm | sections["llm"],
        leaderboard=workflow.leaderboard | sections["leaderboard"],
    )
    if "api_key" in changed.llm:  # it would stand in the config
        raise WorkflowError("llm.api_key: keys do not belong in a workflow; set OPENAI_API_KEY")
    return changed, settings


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with others over them; those of one judge are merged, not replaced."""
    both = {
        key: value | above[key]
        for key, value in below.items()
        if isinstance(value, dict) and isinstance(above.get(key), dict)
    }
    return {**below, **above, **both}


def points(
    workflow: Workflow,
    overrides: Mapping[str, Any],
    variant: str | None = None,
    all_variants: bool = False,
    sweep: str | None = None,
) -> list[Point]:
    """Return the settings to judge with, one point or several, each with a suffix of its own.

    Raises WorkflowError for a variant or sweep that the workflow does not have.
    """
    if sum([variant is not None, all_variants, sweep is not None]) > 1:
        raise WorkflowError("give one of --variant, --all-variants and --sweep")
    if all_variants and not workflow.variants:
        raise WorkflowError("--all-variants: the workflow has no variants")
    if variant is not None and variant not in workflow.variants:
        raise WorkflowError(unknown("variant", variant, workflow.variants))
    if sweep is not None and sweep not in workflow.sweeps:
        raise WorkflowError(unknown("sweep", sweep, workflow.sweeps))
    if sweep is not None:
        count = math.prod(map(len, workflow.sweeps[sweep].values()))
        if count > MOST_POINTS:
            raise WorkflowError(f"sweep {sweep!r} has {count} points, more than {MOST_POINTS}")
        named = list(_sweep_points(workflow.sweeps[sweep]))
    elif all_variants:
        named = list(workflow.variants.items())
    else:
        named = [(variant, workflow.variants[variant])] if variant is not None else [("", {})]
    suffixes = [UNSAFE.sub("_", name) for name, _ in named]
    for suffix in suffixes:
        if suffixes.count(suffix) > 1:
            raise WorkflowError(f"two points would have the files of {suffix!r}; rename one")
    return [
        Point(suffix, merged(merged(workflow.settings, changes), overrides))
        for suffix, (_, changes) in zip(suffixes, named, strict=True)
    ]


def _sweep_points(axes: Mapping[str, list[Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for values in itertools.product(*axes.values()):
        settings = dict(zip(axes, values, strict=True))
        yield ".".join(f"{key}-{value}" for key, value in settings.items()), settings

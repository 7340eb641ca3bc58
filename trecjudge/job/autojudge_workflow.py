"""A workflow.yml of AutoJudge read as one of ours: its judge is run by our judge `autojudge`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from trecjudge.errors import WorkflowError
from trecjudge.findings import shown
from trecjudge.settings.strict_yaml import Unclear
from trecjudge.settings.wanted import TRUTH

JUDGE = "autojudge"
CLASSES = ("judge_class", "nugget_class", "qrels_class")
PHASES = ("nugget_settings", "judge_settings", "qrels_settings")
CARRIED = (
    *CLASSES,
    *("nugget_input", "qrels_input", "create_nuggets", "create_qrels"),
    *("judge_uses_nuggets", "judge_uses_qrels", "qrels_uses_nuggets"),
    "nugget_depends_on_responses",
)
"""Keys that are settings of our judge by the same names."""
OWN = "trecjudge."
OURS = ("llm", "leaderboard", "gate", "measures")
"""Sections of our own that may stand in such a file; theirs passes them over."""


def is_of_autojudge(value: Mapping[str, Any]) -> bool:
    """Return whether the content of a workflow file names a class of AutoJudge's protocol."""
    return any(value.get(key) for key in CLASSES)


def converted(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the content of a workflow of theirs as that of one of ours.

    Settings are merged as theirs does. Raises WorkflowError for what asks for no leaderboard.
    """
    value = {key: _clear(inner) for key, inner in value.items()}
    if not value.get("judge_class"):
        raise WorkflowError(f"{where}: has no judge_class, which makes the leaderboard")
    for key in CLASSES:
        if not isinstance(value.get(key, ""), str):
            raise WorkflowError(f"{where}: {key} is {shown(value[key])}, must be text")
    if value["judge_class"].startswith(OWN):
        message = "judge_class is our own judge, as `auto-judge run` wants it; here give --judge"
        raise WorkflowError(f"{where}: {message}")
    if not isinstance(value.get("judge", True), bool):
        raise WorkflowError(f"{where}: has judge and judge_class: give one")
    if value.get("judge") is False:
        raise WorkflowError(f"{where}: judge is false: there would be no leaderboard")
    for key in ("settings", *PHASES, "variants", "sweeps"):
        if not isinstance(value.get(key) or {}, Mapping):
            raise WorkflowError(f"{where}: {key} is {shown(value[key])}, must be a mapping")
    carried = {key: value[key] for key in CARRIED if value.get(key) is not None}
    sections = {key: value[key] for key in OURS if value.get(key) is not None}
    variants = {
        name: _merged(value, _entry(where, "variants", name, given))
        for name, given in (value.get("variants") or {}).items()
    }
    sweeps = {
        name: {JUDGE: _points(value, _entry(where, "sweeps", name, given))}
        for name, given in (value.get("sweeps") or {}).items()
    }
    settings = carried | _merged(value, {})
    return sections | {
        "judge": JUDGE,
        "settings": settings,
        "variants": variants,
        "sweeps": sweeps,
    }


def _entry(where: str, section: str, name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise WorkflowError(f"{where}: {section}.{name} is {shown(given)}, must be a mapping")
    return dict(given)


def _merged(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings with those of a variant: what all phases share, then their own."""
    shared = {key: inner for key, inner in changes.items() if key not in PHASES}
    whole = dict(value.get("settings") or {})
    found = {"settings": whole | shared}
    for phase in PHASES:
        own, changed = dict(value.get(phase) or {}), dict(changes.get(phase) or {})
        found[phase] = whole | own | shared | changed
    return {key: inner for key, inner in found.items() if inner}


def _points(value: Mapping[str, Any], sweep: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings at each point: every combination of what has a list of values."""
    lists = {k: v for k, v in sweep.items() if isinstance(v, list) and k not in PHASES}
    fixed = {key: inner for key, inner in sweep.items() if key not in lists}
    merged = _merged(value, fixed) if fixed else {}
    combinations = itertools.product(*lists.values())
    points = [dict(zip(lists, chosen, strict=True)) for chosen in combinations]
    return [{"override": point} | merged for point in points]


def _clear(value: Any) -> Any:
    """Return a value with `yes`, `no`, `on`, `off` as theirs reads them: as truth values."""
    if isinstance(value, Unclear) and value.lower() in TRUTH:
        return TRUTH[value.lower()]
    if isinstance(value, Mapping):
        return {key: _clear(inner) for key, inner in value.items()}
    return [_clear(inner) for inner in value] if isinstance(value, list) else value

"""Checks of all settings of a workflow, chosen or not: unknown names, values of a wrong type."""

from __future__ import annotations

from collections.abc import Iterable

from trecjudge.errors import WorkflowError
from trecjudge.job.points import Names, Setting, axes, own_settings, points, variant_settings
from trecjudge.job.workflow import Workflow, check_leaderboard
from trecjudge.judging.judge import judge_class
from trecjudge.judging.panel import make_panel
from trecjudge.models.settings import LlmSettings
from trecjudge.settings.fields import typed_fields


def check_workflow(workflow: Workflow, names: Names) -> None:
    """Raise WorkflowError, with its place, for any setting of a workflow that has no effect.

    The judges of each variant are made; of a sweep, each value is checked on its own.
    """
    llm = [
        Setting("llm", key, value, workflow.where("llm", inside=(key,)))
        for key, value in workflow.llm.items()
    ]
    check_settings([*llm, *own_settings(workflow, names).values()])
    for variant in workflow.variants:
        check_settings(variant_settings(workflow, names, variant).values())
        (point,) = points(workflow, names, variant=variant)
        try:
            make_panel(names.judges, point.settings)
        except WorkflowError as error:
            where = workflow.where("variants", variant)
            raise WorkflowError(f"{where}: {error}") from error
    # Each value on its own: the combinations of a sweep can be a thousand.
    for sweep in workflow.sweeps:
        for axis in axes(workflow, names, sweep):
            check_settings(setting for _, sets in axis for setting in sets.values())


def check_settings(settings: Iterable[Setting]) -> None:
    """Raise WorkflowError for a setting of an unknown name or a wrong type."""
    for setting in settings:
        value, where = {setting.key: setting.value}, setting.where
        if setting.owner == "leaderboard":
            check_leaderboard(where, value)
        elif setting.owner == "llm":
            typed_fields(LlmSettings, value, where)
        else:
            # The place names `settings` already where the section itself is meant.
            kind = "" if where.endswith(": settings") else ": settings"
            where = f"{where}{kind} of judge {setting.owner}"
            typed_fields(judge_class(setting.owner), value, where)

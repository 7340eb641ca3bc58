"""What an audit demands: the section `audit:` of a workflow, and the flags of the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.inputs.labels import takes_labels
from trecjudge.job.workflow import Workflow
from trecjudge.judging.panel import Panel
from trecjudge.settings.fields import typed_fields
from trecjudge.settings.strict_yaml import read_yaml_file

JUDGED = "judged"
"""The share of the labelled items that the judge could decide on."""
FIGURES = (
    JUDGED,
    *("accuracy", "kappa", "alpha_nominal"),
    *("kappa_linear", "kappa_quadratic", "alpha_ordinal", "tau_b"),
    *("precision", "recall", "f1", "auc"),
)
"""What can be bounded: `judged`, and the figures of `trecjudge.stats.agreement`."""


@dataclass(frozen=True, slots=True)
class AuditRules:
    """The labelled items of an audit, and the least that figures may be.

    `judge` is who is tried, where several judges take labels, and `map` what labels mean to it.
    `max_drop` bounds how far a figure may lie below that of an earlier job, whose config file
    `baseline` is.
    """

    labels: str
    min: dict[str, float] = field(default_factory=dict)
    baseline: str = ""
    max_drop: dict[str, float] = field(default_factory=dict)
    judge: str = ""
    map: dict[str, str] = field(default_factory=dict)

    def judge_place(self, panel: Panel) -> int:
        """Return the place of the judge to try. Raises WorkflowError where none can be told."""
        names = [named.name for named in panel]
        if self.judge:
            if self.judge not in names:
                raise WorkflowError(f"audit: {unknown('judge', self.judge, names)}")
            return names.index(self.judge)
        takers = [place for place, named in enumerate(panel) if takes_labels(named.judge)]
        if len(takers) > 1:
            among = ", ".join(sorted(names[place] for place in takers))
            raise WorkflowError(
                f"audit: several judges take labels: {among}; name one (judge: NAME)"
            )
        return (takers or [0])[0]

    def check(self, where: str) -> None:
        """Raise WorkflowError for what no figure could keep to, before anything is paid.

        Raises InputError where the baseline lacks a figure.
        """
        for name, number in (*self.min.items(), *self.max_drop.items()):
            if name not in FIGURES:
                raise WorkflowError(f"{where}: {unknown('figure', name, FIGURES)}")
            if not -1 <= number <= 1:
                raise WorkflowError(f"{where}: {name} is {number:g}, must be from -1 to 1")
        if bool(self.max_drop) != bool(self.baseline):
            raise WorkflowError(f"{where}: max_drop and baseline need each other")
        before = read_figures(Path(self.baseline)) if self.baseline else {}
        for name in self.max_drop:
            if name not in before:
                raise InputError(f"{self.baseline}: {unknown('figure', name, before)}")

    def broken_bounds(self, figures: Mapping[str, float | None]) -> list[str]:
        """Return a line for each bound that is not kept; one on a figure not defined is not."""
        found = [
            f"{name} is {_number(figures.get(name))}, must be at least {least:g}"
            for name, least in self.min.items()
            if not _reaches(figures.get(name), least)
        ]
        before = read_figures(Path(self.baseline)) if self.baseline else {}
        for name, most in self.max_drop.items():
            if not _reaches(figures.get(name), before[name] - most):
                text = f"{name} is {_number(figures.get(name))}, was {before[name]:.4f}"
                found.append(f"{text}: it may fall by {most:g}")
        return found


def read_rules(value: Mapping[str, Any] | str, where: str, folder: Path | None) -> AuditRules:
    """Return the rules of a section; a path that is not found from here is taken from `folder`.

    Raises WorkflowError, also where a file is not there.
    """
    given = {"labels": value} if isinstance(value, str) else dict(value)
    if not given.get("labels"):
        raise WorkflowError(f"{where}: give labels: FILE")
    typed = typed_fields(AuditRules, given, where)
    for name in ("labels", "baseline"):
        if typed.get(name):
            path = _beside(Path(typed[name]), folder)
            if not path.exists():
                raise WorkflowError(f"{where}: {name}: {path}: there is no such file")
            typed[name] = str(path)
    rules = AuditRules(**typed)
    rules.check(where)
    return rules


def audit_rules(workflow: Workflow) -> AuditRules | None:
    """Return what a workflow's section `audit:` demands, None without one. Raises WorkflowError."""
    if not workflow.audit:
        return None
    folder = workflow.path.parent if workflow.path else None
    return read_rules(workflow.audit, workflow.where("audit"), folder)


def parse_bounds(texts: Sequence[str], flag: str) -> dict[str, float]:
    """Return bounds as flags give them, `FIGURE=NUMBER`. Raises WorkflowError."""
    found = {}
    for text in texts:
        name, is_given, number = text.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            wrong = f"{number!r} is no number" if is_given else "give FIGURE=NUMBER"
            raise WorkflowError(f"{flag} {text}: {wrong}") from None
    return found


def read_figures(path: Path) -> dict[str, float]:
    """Return the audit's figures of an earlier job, by its config file. Raises TrecJudgeError."""
    read = read_yaml_file(path, "config of a job").value
    audit = read.get("audit") if isinstance(read, Mapping) else None
    figures = audit.get("figures") if isinstance(audit, Mapping) else None
    if not isinstance(figures, Mapping):
        raise InputError(f"{path}: has no audit; give NAME.config.yml of a job that had one")
    return {str(k): float(v) for k, v in figures.items() if isinstance(v, int | float)}


def _beside(path: Path, folder: Path | None) -> Path:
    """Return a path of a workflow: from the current folder or, if only there, from its own."""
    if folder is None or path.is_absolute() or path.exists() or not (folder / path).exists():
        return path
    return folder / path


def _reaches(value: float | None, least: float) -> bool:
    return value is not None and value >= least


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"

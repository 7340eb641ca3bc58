"""A request to judge: a job, and the judges, settings and sweep points that jobs are built of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, WorkflowError
from trecjudge.files import resolve_links
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.pipelines.reading import first_records
from trecjudge.inputs.runs import find_runs
from trecjudge.job.sweep import (
    JudgeNames,
    check_settings,
    check_workflow,
    read_overrides,
    sweep_points,
)
from trecjudge.job.workflow import WORKFLOWS, Workflow, find_workflow, read_workflow
from trecjudge.judging.judge import Judge
from trecjudge.models.documents.service import service_of
from trecjudge.models.opening import CommandState, ModelOptions
from trecjudge.models.spending import Budget
from trecjudge.results.judgments import QrelsForm
from trecjudge.results.log import LogKind
from trecjudge.results.outputs import Outputs

# A request to judge: one set of settings of the judges, on one input.
NO_MODEL = ModelOptions()
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """A request to judge runs. `settings` are those of the judges, all overrides applied.

    `chosen` says which variant or point of a sweep it is, `idle` what only a model would use.
    `made` are judges that exist as objects already, by name. `topics` None takes the topics that
    the runs answer. `workers` is how many processes judge, or `cluster` the address of a scheduler.
    `shard` is which part of the responses is judged: (number from 1, of how many).
    """

    runs: Sequence[Path]
    outputs: Outputs
    judges: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    workflow: Workflow = field(default_factory=Workflow)
    chosen: Mapping[str, str] = field(default_factory=dict)
    idle: Sequence[str] = ()
    made: Mapping[str, Judge] = field(default_factory=dict)
    topics: Path | None = None
    documents: Sequence[Path] = ()
    own_documents: bool = False
    qrels: Path | None = None
    nuggets: Sequence[Path] = ()
    dataset: str = "auto"
    model: ModelOptions = NO_MODEL
    max_topics: int | None = None
    max_runs: int | None = None
    only_topics: Sequence[str] = ()
    only_runs: Sequence[str] = ()
    log: LogKind = "full"
    document_text: bool = True
    qrels_pool: bool = False
    qrels_as: QrelsForm = "grades"
    check: bool = True
    strict: bool = False
    labels: Path | None = None
    calibration: Path | None = None
    human: Path | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    cluster: str = ""
    shard: tuple[int, int] | None = None
    command_line: Sequence[str] = ()

    @property
    def debug_log(self) -> bool:
        """Whether it writes a log."""
        return self.log != "none"

    @property
    def filters(self) -> dict[str, Any]:
        """Which runs and topics are judged, where these are not all."""
        topics, runs = sorted(self.only_topics), sorted(self.only_runs)
        given = {"topics": topics, "runs": runs, "max_topics": self.max_topics}
        given |= {"max_runs": self.max_runs}
        return {name: value for name, value in given.items() if value}

    @property
    def in_parts(self) -> bool:
        """Whether several workers judge it."""
        return self.workers > 1 or bool(self.cluster)

    @property
    def workers_ask(self) -> bool:
        """Whether several workers ask a model before all is judged from the cache."""
        return self.in_parts and self.model.asks and self.labels is None


PIPELINE, OF_A_PIPELINE = "qa", "grounding"
"""The format of a pipeline's records, and the judge that these have everything for."""


# The judges of a request, their settings and sweep points, made into jobs.
@dataclass(frozen=True, slots=True)
class JudgeSelection:
    """The judges of a request and their settings, which override the workflow.

    Without `judges`, the workflow's judges are used; those of `also` are added. `written` are
    settings as text, as `--set` takes them; `settings` are the same as values. At most one of
    `variant`, `all_variants` and `sweep` may be given.
    """

    judges: Sequence[str] = ()
    also: Sequence[str] = ()
    workflow: Workflow = field(default_factory=Workflow)
    written: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    variant: str | None = None
    all_variants: bool = False
    sweep: str | None = None


def load_workflow(path: Path | None) -> Workflow:
    """Return the workflow of a file, or a shipped one by its name; for None an empty one."""
    return Workflow() if path is None else read_workflow(*find_workflow(path))


def build_jobs(template: Job, choice: JudgeSelection) -> list[Job]:
    """Return the jobs of a choice, one for each point: the template with its judges and files.

    If neither flags nor workflow name a judge, answers of a pipeline are judged by `grounding`.
    Raises a TrecJudgeError for what cannot be chosen or set.
    """
    workflow = choice.workflow
    names = JudgeNames.of(
        workflow, choice.judges or _judge_for_pipeline(template, workflow), choice.also
    )
    overrides = read_overrides(choice.written, names)
    overrides |= names.resolve(choice.settings, lambda path: f"settings: {path[0]}")
    check_workflow(names)
    check_settings(overrides.values())
    which = (choice.variant, choice.all_variants, choice.sweep)
    return [
        replace(
            template,
            judges=names.judges,
            outputs=template.outputs.of(point.suffix),
            workflow=point.workflow,
            settings=point.settings,
            chosen=point.chosen,
            idle=_model_only_settings(workflow, point.workflow),
        )
        for point in sweep_points(names, overrides, *which)
    ]


def _judge_for_pipeline(template: Job, workflow: Workflow) -> Sequence[str]:
    """Return the judge of a pipeline's answers, if the first record is one; else none."""
    if workflow != Workflow() or template.labels is not None:
        return ()
    with suppress(InputError):  # reported where the runs are read
        path = find_runs(template.runs)[0]
        # What is read from a pipe is gone afterwards.
        first = first_records(path, 1) if os.path.isfile(path) else []
        formats = [found[0].NAME for found in map(format_of, first) if found]
        return (OF_A_PIPELINE,) if PIPELINE in formats else ()
    return ()


def _is_shipped(path: Path) -> bool:
    return resolve_links(path).parent == resolve_links(WORKFLOWS)


def _model_only_settings(given: Workflow, asked: Workflow) -> list[str]:
    """Return what a job sets that only a model uses: sections of the workflow, and `llm.KEY`.

    The `llm` settings of a shipped workflow are left out: those files serve with and without one.
    """
    found = ["prompts"] if asked.prompts else []
    changed = [key for key, value in asked.llm.items() if given.llm.get(key) != value]
    if given.llm and not (given.path and _is_shipped(given.path)):
        found.append("llm")
    return [*found, *(f"llm.{key}" for key in changed)]


def warn_without_model(jobs: Iterable[Job]) -> str:
    """Return a warning on settings of a model where none is asked; empty where there are none."""
    idle = dict.fromkeys(name for job in jobs if not job.model.use for name in job.idle)
    if not idle:
        return ""
    verb = "have" if len(idle) > 1 else "has"
    return f"no model is asked without --use-env-llm: {', '.join(idle)} {verb} no effect"


def model_options(
    use: bool,
    budget: Budget,
    cache_folder: Path | None = None,
    cache_from: Sequence[Path] = (),
    refresh: bool = False,
    offline: bool = False,
    plan: bool = False,
    documents: Sequence[Path] = (),
) -> ModelOptions:
    """Return how jobs may use a model, and services of `documents`.

    Raises WorkflowError for flags that need one of them.
    """
    switches = {"refresh": refresh, "offline": offline, "plan": plan}
    most = {
        "max-calls": budget.max_calls,
        "max-tokens": budget.max_tokens,
        "max-cost": budget.max_cost,
    }
    caches = {"cache-from": bool(cache_from)}
    asked = switches | caches | most
    given = [name for name, value in asked.items() if value is not None and value is not False]
    if not use and any(index_address(path) or service_of(path) for path in documents):
        given = [name for name in given if name not in switches]
    # Without a model these do nothing: most likely --use-env-llm was forgotten.
    if given and not use:
        flags = ", ".join(f"--{name}" for name in given)
        raise WorkflowError(f"{flags}: only with --use-env-llm")
    if refresh and offline:
        raise WorkflowError("give one of --refresh and --offline")
    return ModelOptions(use, cache_folder, cache_from, refresh, offline, plan, CommandState(budget))

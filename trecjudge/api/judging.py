"""Judging from Python: `judge`, and `ajudge` for code that runs in an event loop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from trecjudge.api.inputs import (
    Documents,
    InputFiles,
    PathLike,
    Paths,
    Runs,
    TempFolder,
    Topics,
    names,
    paths,
)
from trecjudge.api.result import Result, result_of
from trecjudge.errors import InputError, WorkflowError
from trecjudge.findings import Finding, brief
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.job.request import (
    Job,
    JudgeSelection,
    build_jobs,
    load_workflow,
    model_options,
    warn_without_model,
)
from trecjudge.job.run import judge_job
from trecjudge.job.workflow import names_in
from trecjudge.judging.judge import Judge, name_of
from trecjudge.models.blocking import blocking
from trecjudge.models.spending import Budget
from trecjudge.results.judgments import QrelsForm
from trecjudge.results.log import LogKind
from trecjudge.results.outputs import Outputs

Judges: TypeAlias = str | Judge | Sequence[str | Judge]
_log = logging.getLogger("trecjudge")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far judging is: responses `judged` of about `expected`, and `items` of them.

    `expected` is None until enough was read to estimate it.
    `spent` is what the model cost so far. `message` is a message for the user, mostly empty.
    """

    judged: int
    expected: int | None
    items: int
    spent: Mapping[str, Any]
    message: str = ""


OnProgress: TypeAlias = Callable[[Progress], None]


@dataclass(slots=True)
class _ResultListener:
    """Follows a job: keeps findings and notes, and calls `on_progress`."""

    on_progress: OnProgress | None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    expected: Callable[[], int | None] = lambda: None
    responses: int = 0
    items: int = 0
    spent: Callable[[], dict[str, Any]] = dict

    def begins(
        self, responses: Callable[[], int | None], spent: Callable[[], dict[str, Any]]
    ) -> None:
        self.expected, self.spent = responses, spent

    def taken(self, path: Path, format_name: str, why: str) -> None:
        self.notes.append(f"{path}: read as {format_name}: {why}")

    def finding(self, finding: Finding) -> None:
        self.findings.append(finding)

    def counted(self, responses: int, items: int) -> None:
        self.responses += responses
        self.items += items
        self._report_progress()

    def notify(self, message: str) -> None:
        self.notes.append(message)
        if self.on_progress is None:  # in an outage the caller should know why nothing happens
            _log.warning(message)
        self._report_progress(message)

    def _report_progress(self, message: str = "") -> None:
        if self.on_progress is not None:
            at = self.responses, self.expected(), self.items, self.spent()
            self.on_progress(Progress(*at, message))


async def ajudge(
    runs: Runs,
    judges: Judges | None = (),
    *,
    topics: Topics | None = None,
    documents: Documents | None = (),
    workflow: PathLike | Mapping[str, Any] | None = None,
    variant: str | None = None,
    settings: Mapping[str, Any] | None = None,
    also: Judges | None = (),
    own_documents: bool = False,
    qrels: PathLike | None = None,
    nuggets: Paths = (),
    dataset: str = "auto",
    keys: Mapping[str, str] | str = "",
    only_topics: str | Sequence[str] = (),
    only_runs: str | Sequence[str] = (),
    max_topics: int | None = None,
    max_runs: int | None = None,
    check: bool = True,
    strict: bool = False,
    judgments_from: PathLike | None = None,
    calibration: PathLike | None = None,
    human: PathLike | None = None,
    use_env_llm: bool = False,
    cache_dir: PathLike | None = None,
    cache_from: Paths = (),
    refresh: bool = False,
    offline: bool = False,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    out_dir: PathLike | None = None,
    name: str = "default",
    qrels_pool: bool = False,
    qrels_as: QrelsForm = "grades",
    log: LogKind = "full",
    debug_log: bool = True,
    document_text: bool = True,
    compress: bool = False,
    progress: OnProgress | None = None,
) -> Result:
    """Judge runs in the running event loop, and return the result.

    Arguments are the flags of the command, by their names. `judges` are names, judges made by the
    caller, or several. Without `out_dir` nothing is left on disk. Raises a TrecJudgeError, with the
    command's message, for what the caller can put right.
    """
    folder = TempFolder()
    given = InputFiles(Path(folder.name))
    with given.plainly(), use_record_keys(keys):
        documents_given = given.documents(documents)
        named, made = _judges(judges)
        beside, more = _judges(also)
        budget = Budget(max_calls, max_tokens, max_cost)
        caches = (_path(cache_dir), paths(cache_from))
        template = Job(
            runs=given.runs(runs),
            outputs=Outputs(
                Path(folder.name, "out") if out_dir is None else Path(out_dir), name, compress
            ),
            made=made | more,
            topics=given.topics(topics),
            documents=documents_given,
            own_documents=own_documents,
            qrels=_path(qrels),
            nuggets=paths(nuggets),
            dataset=dataset,
            model=model_options(
                use_env_llm, budget, *caches, refresh, offline, documents=documents_given
            ),
            max_topics=_at_least_one(max_topics, "max_topics"),
            max_runs=_at_least_one(max_runs, "max_runs"),
            only_topics=names(only_topics),
            only_runs=names(only_runs),
            log=log if debug_log else "none",
            document_text=document_text,
            qrels_pool=qrels_pool,
            qrels_as=qrels_as,
            check=check,
            strict=strict,
            labels=_path(judgments_from),
            calibration=_path(calibration),
            human=_path(human),
        )
        read = load_workflow(given.workflow(workflow))
        choice = JudgeSelection(named, beside, read, settings=_mapping(settings), variant=variant)
        (job,) = build_jobs(template, choice)
        follower = _ResultListener(progress)
        if message := warn_without_model([job]):
            follower.notify(f"warning: {message}")
        return await _run_job(job, follower, given, folder)


async def _run_job(
    job: Job, follower: _ResultListener, given: InputFiles, folder: object
) -> Result:
    with job.outputs.lock(follower.notify):
        done = await judge_job(job, follower)
    if done.summary.bug:
        follower.notify(f"error: {done.summary.bug}")
    findings = map(given.plain, follower.findings)
    notes = map(given.without, follower.notes)
    return result_of(done, job.outputs, tuple(findings), tuple(notes), folder)


judge = blocking(ajudge)
judge.__name__ = judge.__qualname__ = "judge"
judge.__doc__ = str(ajudge.__doc__).replace(
    "Judge runs in the running event loop, and return the result.",
    "Judge runs and return the result; works in a notebook too.",
)


def _path(given: PathLike | None) -> Path | None:
    return None if given is None else Path(given)


def _mapping(settings: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if settings is None or isinstance(settings, Mapping):
        return settings or {}
    raise WorkflowError(f'settings: {brief(settings)}: give a dict, such as {{"partial": 0.5}}')


def _at_least_one(given: int | None, name: str) -> int | None:
    if given is None or (isinstance(given, int) and given >= 1):
        return given
    raise InputError(f"{name} is {brief(given)}: give a whole number from 1, or nothing for all")


def _judges(given: Judges | None) -> tuple[list[str], dict[str, Judge]]:
    """Return the names of judges, and those that are given as objects by name."""
    if given is None:
        return [], {}
    every = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    names: list[str] = []
    made: dict[str, Judge] = {}
    for one in every:
        if isinstance(one, str):
            names += names_in(one)
            continue
        name = name_of(one)
        if name in made:
            message = "call once for each of its settings"
            raise WorkflowError(f"judge {name!r} is given twice; {message}")
        names.append(name)
        made[name] = one
    return names, made

"""The jobs that a command line asks for, and how they may use a model, by its flags."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trecjudge.cli.flags import AskingFlags, ModelFlags
from trecjudge.job.request import Job, JudgeSelection, build_jobs, load_workflow, model_options
from trecjudge.models.opening import ModelOptions
from trecjudge.models.spending import Budget
from trecjudge.results.outputs import Outputs

TO_JOB = {"responses": "runs", "judgments_from": "labels"} | {
    name: name
    for name in (
        *("topics", "documents", "own_documents", "qrels", "nuggets", "dataset", "check", "strict"),
        *("only_topics", "only_runs", "max_topics", "max_runs", "calibration", "human"),
        *("document_text", "qrels_pool", "qrels_as"),
    )
}
"""The flags that fill a field of a job as they are, each with that field."""


def model_of(flags: ModelFlags, documents: Sequence[Path] = ()) -> ModelOptions:
    """Return how a command may use a model, and services of `documents`.

    A new budget each time: a command takes it once. Raises WorkflowError for flags that need a
    model.
    """
    budget = Budget(flags.max_calls, flags.max_tokens, flags.max_cost)
    caches = (flags.cache_dir, flags.cache_from)
    asked = (flags.refresh, flags.offline, flags.plan)
    return model_options(flags.use_env_llm, budget, *caches, *asked, documents)


def request_jobs(
    flags: AskingFlags, outputs: Outputs, choice: JudgeSelection | None = None, **more: Any
) -> list[Job]:
    """Return the jobs that flags ask for; what a command has no flag for is as by default.

    `more` are fields of the jobs that no flag fills as it is.
    """
    given: dict[str, Any] = {"runs": (), "documents": ()}
    given |= {TO_JOB[name]: value for name, value in vars(flags).items() if name in TO_JOB}
    # A service of documents can be planned, or asked offline, without a model.
    model = model_of(flags, given["documents"])
    template = Job(outputs=outputs, model=model, command_line=tuple(sys.argv), **(given | more))
    return build_jobs(template, choice or choice_of(flags))


def request_job(flags: AskingFlags, name: str, **more: Any) -> Job:
    """Return the one job of a command that judges, but writes no files of a job."""
    (job,) = request_jobs(flags, Outputs(Path(), name), **more)
    return job


def choice_of(flags: AskingFlags, **more: Any) -> JudgeSelection:
    """Return the judges and settings that flags ask for; `more` are further fields, or others."""
    given = {"judges": flags.judge, "written": flags.settings} | more
    return JudgeSelection(workflow=load_workflow(flags.workflow), **given)

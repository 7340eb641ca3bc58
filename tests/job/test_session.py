"""The session of a job: whom it asks, and what an interrupt says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from trecjudge.errors import InputError, WorkflowError
from trecjudge.evaluation.banks.asking import PROGRAMS
from trecjudge.findings import ignore
from trecjudge.job.inputs import read_responses
from trecjudge.job.request import Job
from trecjudge.job.session import Session, interrupted_note, open_session
from trecjudge.job.workflow import Workflow
from trecjudge.models.model import Program
from trecjudge.results.outputs import Outputs


def opened(job: Job, *programs: Program) -> Session:
    async def open_once() -> Session:
        async with open_session(job, ignore, ignore, programs=programs) as session:
            return session

    return asyncio.run(open_once())


@pytest.mark.parametrize(
    ("judges", "lost"),
    [(["length"], "what this job judged so far"), ([], "what was done so far")],
    ids=["judges", "makes a run or banks"],
)
def test_an_interrupt_without_a_model_costs_time_only(
    judges: list[str], lost: str, tmp_path: Path
) -> None:
    kept = list(interrupted_note(Job((), Outputs(tmp_path, "x"), judges)))
    assert kept == ["kept: nothing", f"lost: {lost}; no model was asked, so it costs time only"]


def test_voters_are_none_of_a_session_that_judges_nothing(tmp_path: Path) -> None:
    alone = Workflow(voters={"strict": {}})
    job = Job((), Outputs(tmp_path, "x"), ["length"], workflow=alone)
    with pytest.raises(WorkflowError, match="one voter is no vote"):
        opened(job)
    assert list(opened(job, *PROGRAMS).panel) == []


def test_a_session_makes_the_judges_of_its_job(tmp_path: Path) -> None:
    session = opened(Job((), Outputs(tmp_path, "x"), ["length"]))
    assert [named.name for named in session.panel] == ["length"]


def test_without_runs_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs: there are none"):
        read_responses(Job((), Outputs(tmp_path, "x")), ignore)

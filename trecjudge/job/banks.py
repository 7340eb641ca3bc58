"""Banks of nuggets made of the inputs of a job, by words or a model, in a session."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.banks.asking import PROGRAMS, REPLY
from trecjudge.evaluation.banks.making import BankSettings, DraftBank, make_banks
from trecjudge.evaluation.banks.material import (
    Material,
    add_candidates,
    add_graded,
    gather_material,
)
from trecjudge.findings import OnFinding
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.job.inputs import JobInputs
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import open_session, run_session
from trecjudge.results.trec import read_grades


def make_job_banks(
    job: Job, making: BankSettings, report: OnFinding, notify: Notify
) -> tuple[list[DraftBank], dict[str, Any]]:
    """Return the banks that are made of the inputs of a job, and what was spent.

    With a plan, what would be asked is only counted. Raises a TrecJudgeError for what the user can
    put right, Interrupted for an interrupt.
    """
    job = replace(job, workflow=replace(job.workflow, llm=REPLY | job.workflow.llm))

    async def make() -> tuple[list[DraftBank], dict[str, Any]]:
        async with open_session(job, report, notify, programs=PROGRAMS) as session:
            materials = read_material(job, report, notify)
            made = await make_banks(materials, making, session.model, report, job.model.plan)
            spent = session.model.spent()
            return made, spent | {"items": len(made)} if "items" in spent else spent

    return run_session(job, make())


def read_material(job: Job, report: OnFinding, notify: Notify) -> list[Material]:
    """Return what there is on each topic, in the order of the topic file, or of the runs.

    Documents of a topic are those that runs cite, those with a grade in the job's `qrels`, and
    candidates lists (`query` and `candidates`) among its `documents`. Raises InputError for what
    cannot be used.
    """
    check_dataset(job.dataset)
    graded = read_grades(job.qrels, report) if job.qrels else {}
    more = [i for grades in graded.values() for i, grade in grades.items() if grade > 0]
    # Candidates lists may have topics that no run answers: topics are chosen after them. Grades may
    # be of other topics too. Nothing is judged: what a run says to a judge is no finding.
    model = replace(job.model, use=False)
    every = replace(job, qrels=None, only_topics=(), max_topics=None, model=model)
    with closing(JobInputs.read(every, report, notify, more)) as inputs:
        found = gather_material(inputs.topics, inputs.reader(report))
        add_candidates(job.documents, found, inputs.topics is None)
        add_graded(found, graded, inputs.store)
    for topic_id in job.only_topics:
        if topic_id not in found:
            raise InputError(unknown("topic", topic_id, found))
    chosen = (m for t, m in found.items() if not job.only_topics or t in job.only_topics)
    wanted = list(islice(chosen, job.max_topics))
    if not wanted:
        raise InputError("no topic to make a bank of: give --rag-topics or --rag-responses")
    return wanted

"""A run made from an index, in a session: every topic answered, the files written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from trecjudge.baseline.generate.answers import PROGRAMS, REPLY, Answerer
from trecjudge.baseline.generate.confidence import lacking_confidence
from trecjudge.baseline.generate.objects import answer_object
from trecjudge.baseline.generate.runs import (
    RunCounts,
    RunRequest,
    answer_all,
    retrieval_event,
    retrieval_log,
    write_run,
)
from trecjudge.baseline.index.index import open_index
from trecjudge.baseline.retrieve.ranking import GRADE_PASSAGES, MaskedRanks
from trecjudge.baseline.retrieve.retriever import open_retriever
from trecjudge.files import open_target
from trecjudge.findings import OnFinding
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import open_session
from trecjudge.records import Topic
from trecjudge.results.log import DebugLog


async def make_run(
    job: Job,
    wanted: RunRequest,
    topics: Sequence[Topic],
    report: OnFinding,
    notify: Notify,
    held: AbstractContextManager[None] | None = None,
) -> tuple[RunCounts | None, dict[str, Any]]:
    """Write a run; return what it has, None where calls were only counted, and what was spent.

    `job` has the workflow, and how a model may be used. `held` is what locks the files of the run
    while they are written. Raises InputError, OutputError, and ModelError if no topic could be
    answered.
    """
    programs = (*PROGRAMS, GRADE_PASSAGES) if wanted.retriever.rerank else PROGRAMS
    job = replace(job, workflow=replace(job.workflow, llm=REPLY | job.workflow.llm))
    options = job.model
    with closing(open_index(wanted.index)) as index:
        async with (
            open_session(job, report, notify, programs=programs) as session,
            open_retriever(
                wanted.index, index, wanted.retriever, session.model, options, notify
            ) as retriever,
        ):
            if wanted.generating.mask and retriever.ranks is not None:
                retriever = replace(retriever, ranks=MaskedRanks(retriever.ranks))
            model, track = session.model, wanted.format.track
            how = replace(wanted.retriever, method=retriever.method)
            facts = replace(wanted, retriever=how).facts(model, index)
            wanted.format.check(facts)
            answerer = Answerer(retriever, model, track, report, wanted.generating)
            if options.plan and options.use:
                async for _ in answer_all(topics, answerer.answer, model.in_flight):
                    pass  # only to count what they would ask
                return None, model.spent() | {"items": len(topics)}
            mask = wanted.generating.mask
            as_object = partial(answer_object, facts=facts, mask=mask) if wanted.objects else None
            with held or nullcontext(), open_target(retrieval_log(wanted.path)) as file:
                log = DebugLog(file)
                logging = replace(
                    answerer,
                    retrieved=lambda topic, found: log.event(
                        "RETRIEVAL", **retrieval_event(topic, found, facts)
                    ),
                )
                each = answer_all(topics, logging.answer, model.in_flight)
                made = await write_run(each, wanted.path, wanted.format, facts, as_object)
            if lacking := lacking_confidence(made.answers or (), wanted.generating.confidence):
                notify(lacking)
            return made, model.spent()

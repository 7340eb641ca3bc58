"""The session of a job: its judges, model and inputs, and how it is ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from trecjudge.errors import OutputError
from trecjudge.files import default_folder
from trecjudge.findings import OnFinding
from trecjudge.job.inputs import JobInputs
from trecjudge.job.judges import apply_voters, make_job_panel, read_voters
from trecjudge.job.process import INTERRUPTS, Interrupted
from trecjudge.job.request import Job, Notify
from trecjudge.judging.panel import Panel, panel_programs
from trecjudge.models.documents.opening import some_kept
from trecjudge.models.model import Model, Program, Voter
from trecjudge.models.opening import open_model, open_voters

T = TypeVar("T")


@dataclass
class Session:
    """A job that is open. Its inputs are read where they are first needed.

    `files` are closed when the session ends, after its model: the last one opened first.
    """

    job: Job
    panel: Panel
    model: Model
    report: OnFinding
    notify: Notify
    files: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def inputs(self) -> JobInputs:
        """The inputs of the job. Raises InputError."""
        inputs = JobInputs.read(self.job, self.report, self.notify)
        return self.files.enter_context(closing(inputs))

    @property
    def judging(self) -> Panel:
        """The judges as they judge: with voters, these in place of each."""
        return apply_voters(self.job.workflow, self.panel)


@asynccontextmanager
async def open_session(
    job: Job,
    report: OnFinding,
    notify: Notify,
    panel: Panel | None = None,
    voters: Sequence[Voter] = (),
    programs: Sequence[Program] = (),
) -> AsyncIterator[Session]:
    """Yield the session of a job.

    `panel` are its judges, where these are made already, and `voters` are asked in place of those
    of its workflow. Where nothing is judged, `programs` are asked: voters and prompts of judges,
    which the workflow may have too, do not count then.

    The first signal cancels what runs in it, where a model may be asked: replies on their way are
    kept. Without a model nothing is on its way, and it ends the process at once.
    """
    workflow = job.workflow
    if programs:
        panel, asked = [], list(programs)
    else:
        panel = make_job_panel(job) if panel is None else panel
        voters = voters or read_voters(workflow)
        asked = list(panel_programs(panel).values())
    if voters and job.model.use:
        opened = open_voters(job.model, voters, asked, notify)
    else:
        names = {program.name for program in programs} or workflow.prompts.keys()
        prompts = {name: text for name, text in workflow.prompts.items() if name in names}
        opened = open_model(job.model, workflow.llm, prompts, asked, notify)
    asks, interrupts = job.model.asks, INTERRUPTS
    cancelling = interrupts.cancelling_task() if asks else interrupts.cancelling_in_loop()
    # Files are entered first, so closed last: a log takes its name when the model is closed too.
    with cancelling, ExitStack() as files:
        async with opened as model:
            yield Session(job, panel, model, report, notify, files)


def run_session(job: Job, work: Coroutine[Any, Any, T]) -> T:
    """Return what the work of a job comes to, in an event loop of its own.

    Raises Interrupted with what is kept, where it was interrupted.
    """
    try:
        return asyncio.run(work)
    # Cancelled by a first signal where a model may be asked; else, or by a second, interrupted.
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise Interrupted("\n".join(interrupted_note(job))) from None
    except OutputError as error:
        if kept := sum(one.kept for one in job.model.command.spent):
            raise OutputError(f"{error}; {kept} replies of the model are kept") from error
        raise


def interrupted_note(job: Job) -> Iterator[str]:
    """Yield what a job that was interrupted keeps, and what is lost."""
    part = job.outputs.log.with_name(f"{job.outputs.log.name}.part")
    log = [f"the log so far, {part}"] if part.exists() else []
    spent = job.model.command.spent
    kept, lost = sum(one.kept for one in spent), sum(one.lost for one in spent)
    folder = job.model.cache_folder or default_folder()
    if found := some_kept(job.documents, folder):
        log.insert(0, f"the documents found so far of {', '.join(found)}, in {folder}")
    if job.model.asks:
        yield f"kept: {'; '.join([f'{kept} replies of the model, in {folder}', *log])}"
        yield f"lost: {lost} requests that were on their way; they are asked again"
    else:
        yield f"kept: {'; '.join(log) or 'nothing'}"
        done = "this job judged" if job.judges else "was done"
        yield f"lost: what {done} so far; no model was asked, so it costs time only"

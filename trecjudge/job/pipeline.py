"""The steps of a job in order: inputs, judging, judgments file, scores, config."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, cast

from trecjudge.errors import InputError, OutputError, PluginError
from trecjudge.findings import Finding, FindingLog
from trecjudge.inputs.labels import ItemKey, labels_of, read_labels
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.checksums import Checksums, taking_checksums
from trecjudge.job.audit.auditing import Audit, Auditor
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.config import head_of, write_config
from trecjudge.job.fitting import fitted_panel
from trecjudge.job.interrupts import INTERRUPTS, Interrupted
from trecjudge.job.job import Job, JobInputs, left_by
from trecjudge.job.judges import header_of, job_panel, job_spec, judging_panel
from trecjudge.job.needs import report_lacking
from trecjudge.job.recording import Recording
from trecjudge.job.rules import check_along, check_first
from trecjudge.job.shards.ahead import ask_ahead
from trecjudge.job.shards.cutting import all_placed, into_parts, unchanged
from trecjudge.job.shards.judging import ShardRecords, check_all_there
from trecjudge.job.shards.part import PartCounts, PartWritten, ShardAsked
from trecjudge.job.shards.session import check_in_parts, judged_in_parts, parts_folder
from trecjudge.job.shards.shard import Shard
from trecjudge.job.trial import MeasureTrial
from trecjudge.job.voters import opened, voting
from trecjudge.judging.bugs import Stop
from trecjudge.judging.labelled import check_takes_labels
from trecjudge.judging.panel import (
    Panel,
    calibrations,
    panel_settings,
)
from trecjudge.judging.runner import Runner
from trecjudge.models.model import Model
from trecjudge.models.shared_work import AskingModel, asked_before
from trecjudge.models.voters import wordings
from trecjudge.results.judgments import JudgmentsReader, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import Digested, written
from trecjudge.scores.scoring import Scored, scored
from trecjudge.scores.summary import Summary, counts_of
from trecjudge.settings.times import elapsed

T = TypeVar("T")


class Watcher(Protocol):
    """Follows a job, to show its progress."""

    def begins(
        self, responses: Callable[[], int | None], spent: Callable[[], dict[str, Any]]
    ) -> None:
        """Reading the runs begins.

        `responses` returns about how many there are, None as long as that is not known, `spent`
        what the model cost so far.
        """

    def taken(self, path: Path, format_name: str, why: str) -> None:
        """A run file is read as this format."""

    def finding(self, finding: Finding) -> None:
        """The input has a problem."""

    def counted(self, responses: int, items: int) -> None:
        """So many more responses and items were judged."""

    def notify(self, message: str) -> None:
        """Show a message to the user."""


def run_job(job: Job, watcher: Watcher) -> Summary:
    """Judge and score; return the summary, with all files in place.

    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """
    return _run(job, judge_job(job, watcher)).summary


def run_part(job: Job, watcher: Watcher) -> PartWritten:
    """Judge the shard of a job that it asks for; return what was written. Raises as `run_job`."""
    return _run(job, _judge_part(job, watcher))


def _run(job: Job, work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(_cancellable(job, work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise Interrupted("\n".join(left_by(job))) from None
    except OutputError as error:
        if kept := sum(one.kept for one in job.model.command.spent):
            raise OutputError(f"{error}; {kept} replies of the model are kept") from error
        raise


async def _cancellable(job: Job, work: Coroutine[Any, Any, T]) -> T:
    # Without a model nothing is on its way: it ends at once, also while a file is read.
    with INTERRUPTS.cancelling_task() if job.model.asks else nullcontext():
        return await work


async def _judge_part(job: Job, watcher: Watcher) -> PartWritten:
    panel = job_panel(job)
    check_in_parts(job, panel)
    job.outputs.prepare()
    session = _Session(job, panel, watcher)
    return await session.run(session.part)


async def judge_job(job: Job, watcher: Watcher) -> Scored:
    """Return all the numbers of a job; it is done as by `run_job`, in the running event loop."""
    panel = job_panel(job)
    if job.in_parts:
        check_in_parts(job, panel)
    job.outputs.prepare([named.name for named in panel])
    session = _Session(job, panel, watcher)
    return await session.run(session.whole)


def plan_job(job: Job, watcher: Watcher) -> dict[str, Any]:
    """Return what a job would ask of a model, without asking or writing anything.

    Raises a TrecJudgeError for what the user can put right.
    """
    return asyncio.run(_plan(job, job_panel(job), watcher))


async def _plan(job: Job, panel: Panel, watcher: Watcher) -> dict[str, Any]:
    findings = FindingLog([watcher.finding])
    async with opened(job.model, job.workflow, panel, watcher.notify) as model:
        with closing(JobInputs.read(job, findings, watcher.notify)) as inputs:
            report_lacking(panel, inputs, findings)
            inputs.check_documents(findings)
            reader = inputs.reader(findings, watcher.taken)
            if job.shard is not None:
                reader = inputs.reader_of(_of_part(job.shard, inputs, reader)[1].read)
            judging, items = voting(job.workflow, panel), 0
            if rules := audit_rules(job.workflow):
                auditor = Auditor(panel, judging, rules, findings, watcher.notify)
                await auditor.judged(auditor.items(inputs.responses), model, job.outputs)
            async for judged in Runner(judging, model).run(reader):
                items += len(judged.judgments)
            documents = {"documents_to_fetch": inputs.to_fetch} if inputs.to_fetch else {}
            return model.spent() | {"items": items} | documents


def _of_part(
    asked: ShardAsked, inputs: JobInputs, reader: RunReader
) -> tuple[list[Shard], ShardRecords]:
    """Return all parts of the responses, and what reads one; `reader` reads all of them."""
    number, of = asked
    parts = into_parts(all_placed(inputs, reader), of)
    return parts, ShardRecords(inputs.run_records(), parts[number - 1].portions)


@contextmanager
def judgments_named(outputs: Outputs) -> Iterator[None]:
    """Add to an error of scoring that what was judged, and paid for, is kept."""
    try:
        yield
    except InputError as error:
        kept = f"what was judged is in {outputs.judgments}: `rescore` scores it, and asks no model"
        raise InputError(f"{error}; {kept}") from error


@dataclass(slots=True)
class _Session:
    """A job while it runs."""

    job: Job
    panel: Panel
    watcher: Watcher
    findings: FindingLog = field(default_factory=FindingLog)
    recording: Recording = field(init=False)
    files: ExitStack = field(default_factory=ExitStack)
    log_file: BinaryIO | None = None
    started: float = field(default_factory=time.perf_counter)
    checksums: Checksums = field(default_factory=Checksums)
    stopped: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        self.recording = Recording.of(self.job)

    async def run(self, steps: Callable[[Model], Awaitable[T]]) -> T:
        """Do the steps of a job with its log and its model open."""
        job = self.job
        self.findings.listeners.append(self.watcher.finding)
        # Entered first, so closed last: the log takes its name when the model is closed too.
        with self.files as files:
            self.checksums = files.enter_context(taking_checksums())
            models = opened(job.model, job.workflow, self.panel, self.watcher.notify)
            async with models as model:
                if job.debug_log:
                    refused = self._log_refused if job.model.asks else None
                    file = files.enter_context(written(job.outputs.log, True, refused))
                    if job.shard is not None:
                        file = cast(BinaryIO, Digested(file))
                    self.log_file = file
                    self.findings.listeners.append(self.recording.log_to(file).finding)
                try:
                    return await steps(model)
                except (KeyboardInterrupt, asyncio.CancelledError):
                    self.recording.event("session_interrupted", signal=INTERRUPTS.first)
                    raise

    def _log_refused(self, why: str) -> None:
        message = f"{self.job.outputs.log}: cannot be written: {why}"
        self.job.model.command.refuse(self.watcher.notify, message)
        self.recording.log = None

    async def whole(self, model: Model) -> Scored:
        """Judge and score all responses."""
        job = self.job
        inputs, reader = self._begin(model)
        labels = None
        if job.human:
            check_takes_labels(self.panel, "--human")
            labels = read_labels(job.human, self.findings, job.words)
            # Words that nobody knows stop the job before a model is paid.
            labels.rename(labels_of(named.judge for named in self.panel), self.findings)
        audit = await self._audit(inputs, model)
        if job.in_parts and not job.model.use:
            done = self._in_parts(inputs, reader, labels)
        else:
            await self._ask_ahead(inputs, model)
            await self._judge(inputs, reader, model)
            judged = JudgmentsReader(job.outputs.judgments)
            # Scores are made from the file, not from memory: `rescore` must give the same bytes.
            with judgments_named(job.outputs):
                done = scored(judged, job.outputs, labels, self.findings, self.panel)
        summary = done.summary
        summary.audit = audit.as_dict() if audit else {}
        self._complete(summary, model)
        self._end(inputs, model, counts_of(summary), audit=summary.audit)
        return done

    async def part(self, model: Model) -> PartWritten:
        """Judge one shard of the responses; nothing is scored."""
        job = self.job
        inputs, reader = self._begin(model)
        await self._audit(inputs, model)
        assert job.shard is not None
        with unchanged([opened.path for opened in inputs.files]):
            parts, own = _of_part(job.shard, inputs, reader)
            counts = await self._judge(inputs, inputs.reader_of(own.read), model)
        check_all_there(parts[job.shard[0] - 1], counts.responses)
        spared, bug = self.recording.spared, self.stopped.why
        spent = {"model": model.spent(), "seconds": elapsed(self.started)}
        self.recording.event("session_end", **spent)  # the log ends here: its digest is taken
        digests = {"judgments": counts.sha256}
        if isinstance(self.log_file, Digested) and self.recording.log is not None:
            digests["log"] = self.log_file.sha256
        written = counts.written(job.shard, spared, self.findings, bug, job.filters, digests)
        more = {"shard": written.as_dict(), "prompts": wordings(model)}
        # What all parts say of one another: none can be of another job, or in another's place.
        self._write_config(inputs, model, spent, **more, parts=[part.ids for part in parts])
        return written

    def _begin(self, model: Model) -> tuple[JobInputs, RunReader]:
        """Read what there is beside the runs, and check these where a model would be paid."""
        job = self.job
        self.recording.event(
            "session_start", **head_of(job, panel_settings(self.panel), model, self.checksums)
        )
        inputs = self.files.enter_context(
            closing(JobInputs.read(job, self.findings, self.watcher.notify))
        )
        report_lacking(self.panel, inputs, self.findings)
        inputs.check_documents(self.findings)
        self.panel = fitted_panel(self.panel, inputs, self.findings)
        reader = inputs.reader(self.findings, self.watcher.taken)
        self.watcher.begins(lambda: reader.expected, model.spent)
        # A check before judging reads the runs twice; a model costs far more than that.
        if job.strict or (job.check and job.model.use):
            check_first(job, inputs, self.findings)
        elif job.check:
            check_along(job, inputs, reader, self.findings)
        return inputs, reader

    def _end(self, inputs: JobInputs, model: Model, counts: Mapping[str, Any], **more: Any) -> None:
        """Write the last event and the config, with what there is `more` of this job."""
        self.recording.event("session_end", **counts)
        self._write_config(inputs, model, counts, **more)

    def _write_config(
        self, inputs: JobInputs, model: Model, counts: Mapping[str, Any], **more: Any
    ) -> None:
        files = [*inputs.paths, *calibrations(self.panel)]
        settings = panel_settings(self.panel)
        # Last: a config beside the other files means that the job was finished.
        more["collections"] = inputs.collections
        sections = {"counts": counts} | {name: found for name, found in more.items() if found}
        write_config(self.job, settings, files, self.checksums, model, sections)

    async def _audit(self, inputs: JobInputs, model: Model) -> Audit | None:
        """Try the judge on labelled items, before all else is paid for; None without an audit.

        Raises JudgeUnfit where a bound is broken.
        """
        rules = audit_rules(self.job.workflow)
        if rules is None:
            return None
        judging = voting(self.job.workflow, self.panel)
        auditor = Auditor(self.panel, judging, rules, self.findings, self.watcher.notify)
        items = auditor.items(inputs.responses)
        judged = await auditor.judged(items, model, self.job.outputs)
        self.recording.tried(judged)
        audit = auditor.compared(items, judged)
        self.recording.event("audit", **audit.as_dict())
        audit.check()
        return audit

    async def _judge(self, inputs: JobInputs, reader: RunReader, model: Model) -> PartCounts:
        """Write the judgments file; return how much is in it."""
        counts = PartCounts()
        trial = MeasureTrial(job_spec(self.job, self.panel), self.stopped, self.job.model.asks)
        with written(self.job.outputs.judgments) as file:
            writer = JudgmentsWriter(file)
            writer.header(header_of(self.job, self.panel, inputs))
            runner = Runner(judging_panel(self.job, self.panel, self.findings), model, self.stopped)
            await runner.prepare(inputs.all_responses(model, self.watcher.notify))
            async for judged in runner.run(reader):
                self.recording.write(writer, judged)
                if self.job.model.asks:  # a full disk is found before more is paid for
                    file.flush()
                self.watcher.counted(1, len(judged.judgments))
                counts.add(judged)
                trial.add(judged)
                await asyncio.sleep(0)  # without a model nothing else yields to the event loop
            if not (writer.responses or self.job.shard):
                raise InputError(inputs.nothing_to_judge(reader))
            counts.sha256 = writer.end()
        if trial.error is not None:
            kept = f"what was judged before is in {self.job.outputs.judgments}"
            raise PluginError(f"{trial.error}; judging stopped: {kept}")
        return counts

    async def _ask_ahead(self, inputs: JobInputs, model: Model) -> None:
        """Have several workers ask the model before all is judged, where they are wanted."""
        if self.job.workers_ask and isinstance(model, AskingModel):
            async with asked_before(model):
                with parts_folder(self.job.outputs) as folder:
                    await ask_ahead(self.job, self.panel, inputs, model, folder, self.watcher)

    def _in_parts(
        self, inputs: JobInputs, reader: RunReader, labels: Mapping[ItemKey, str] | None
    ) -> Scored:
        """Judge by several workers; write the judgments file and the numbers."""
        # The workers make their judges anew: they need what these were fitted to.
        job = replace(self.job, settings=panel_settings(self.panel))
        outputs = job.outputs
        judging_panel(job, self.panel, self.findings)  # for the findings: workers report none
        with parts_folder(outputs) as folder:
            parts = judged_in_parts(job, self.panel, inputs, reader, folder, self.watcher)
            self.recording.spared += sum(part.spared for part in parts.done)
            if stopped := next((part.stopped for part in parts.done if part.stopped), ""):
                self.stopped.now(stopped)
            parts.merge(outputs, self.log_file)
            with judgments_named(outputs):
                return parts.scored(outputs, labels, self.findings)

    def _complete(self, summary: Summary, model: Model) -> None:
        outputs = self.job.outputs
        summary.files |= {"judgments": str(outputs.judgments), "config": str(outputs.config)}
        if self.recording.log is not None:
            summary.files["log"] = str(outputs.log)
        summary.bug = self.stopped.why
        summary.findings = dict(sorted(self.findings.counts.items()))
        summary.findings_by_run = {k: dict(v) for k, v in sorted(self.findings.by_run.items())}
        summary.inventory = self.findings.inventory
        # Lost input counts like unjudged items: the exit status must show it.
        summary.lost = self.findings.of_severity("error")
        summary.calls = model.spent()
        if summary.calls and self.recording.spared:
            summary.calls["spared"] = self.recording.spared
        summary.seconds = elapsed(self.started)

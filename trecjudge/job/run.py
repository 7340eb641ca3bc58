"""The steps of a job in order: inputs, judging, judgments file, scores, config."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from trecjudge.errors import InputError, PluginError
from trecjudge.files import seconds_since
from trecjudge.findings import Finding, FindingLog
from trecjudge.inputs.labels import ItemKey, labels_of, read_labels
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.packing import Checksums, taking_checksums
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.config import config_head, write_config
from trecjudge.job.inputs import check_along, check_first, fit_panel, report_lacking
from trecjudge.job.judges import job_spec, judgments_header, make_job_panel, make_judging_panel
from trecjudge.job.process import INTERRUPTS
from trecjudge.job.recording import JudgmentRecorder, MeasureTrial
from trecjudge.job.request import Job
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.job.shards.merging import ShardSummary
from trecjudge.job.shards.shard import (
    check_all_there,
    check_in_parts,
    check_unchanged,
    choose_part,
    parts_folder,
)
from trecjudge.judging.judge import planned_of
from trecjudge.judging.panel import Panel, check_takes_labels, importances
from trecjudge.judging.runner import Runner, Stop
from trecjudge.models.model import wordings
from trecjudge.models.shared_work import AskingModel, prefetch_scope
from trecjudge.results.judgments import JudgmentsReader, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import DigestingFile, open_output
from trecjudge.scores.scoring import Scored, score_file
from trecjudge.scores.summary import Summary, counts_of

if TYPE_CHECKING:
    from trecjudge.job.audit.auditing import AuditReport, LabelledJudgments


class ProgressListener(Protocol):
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


def run_job(job: Job, listener: ProgressListener) -> Summary:
    """Judge and score; return the summary, with all files in place.

    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """
    return run_session(job, judge_job(job, listener)).summary


def run_part(job: Job, listener: ProgressListener) -> ShardSummary:
    """Judge the shard of a job that it asks for; return what was written. Raises as `run_job`."""

    async def judge_part() -> ShardSummary:
        panel = make_job_panel(job)
        check_in_parts(job, panel)
        job.outputs.prepare()
        async with _open_run(job, panel, listener) as run:
            return await run.judge_part()

    return run_session(job, judge_part())


async def judge_job(job: Job, listener: ProgressListener) -> Scored:
    """Return all the numbers of a job; it is done as by `run_job`, in the running event loop."""
    panel = make_job_panel(job)
    if job.in_parts:
        check_in_parts(job, panel)
    job.outputs.prepare([named.name for named in panel])
    async with _open_run(job, panel, listener) as run:
        return await run.judge_whole()


async def _judge_labelled(session: Session) -> LabelledJudgments | None:
    """Return the judgments on the labelled items of an audit; None without an audit."""
    rules = audit_rules(session.job.workflow)
    if rules is None:
        return None
    # Imported late, as is what workers need: most jobs have neither, and start faster.
    from trecjudge.job.audit.auditing import LabelledJudgments

    return await LabelledJudgments.make(session, rules)


def plan_job(job: Job, listener: ProgressListener) -> dict[str, Any]:
    """Return what a job would ask of a model, without asking or writing anything.

    Raises a TrecJudgeError for what the user can put right.
    """
    findings = FindingLog([listener.finding])

    async def plan() -> dict[str, Any]:
        async with open_session(job, findings, listener.notify) as session:
            inputs, model = session.inputs, session.model
            report_lacking(session.panel, inputs, findings)
            inputs.check_documents(findings)
            reader = inputs.reader(findings, listener.taken)
            if job.shard is not None:
                reader = choose_part(job.shard, inputs, reader)[1]
            await _judge_labelled(session)
            items, runner = 0, Runner(session.judging, model)
            await runner.prepare(inputs.all_responses(model, session.notify), only_planning=True)
            async for judged in runner.run(reader):
                items += len(judged.judgments)
            more: dict[str, Any] = {}
            if inputs.to_fetch:
                more["documents_to_fetch"] = inputs.to_fetch
            if planned := {n.name: own for n in session.panel if (own := planned_of(n.judge))}:
                more["judges"] = planned
            return model.spent() | {"items": items} | more

    return run_session(job, plan())


@contextmanager
def note_kept_judgments(outputs: Outputs) -> Iterator[None]:
    """Add to an error of scoring that what was judged, and paid for, is kept."""
    try:
        yield
    except InputError as error:
        kept = f"what was judged is in {outputs.judgments}: `job rescore` scores it"
        raise InputError(f"{error}; {kept}") from error


@asynccontextmanager
async def _open_run(job: Job, panel: Panel, listener: ProgressListener) -> AsyncIterator[_JobRun]:
    """Yield a job in its session, with its log open."""
    findings = FindingLog([listener.finding])
    with taking_checksums() as checksums:
        async with open_session(job, findings, listener.notify, panel) as session:
            run = _JobRun(session, listener, findings, checksums, JudgmentRecorder.of(job))
            if job.debug_log:
                run.open_log()
            try:
                yield run
            except (KeyboardInterrupt, asyncio.CancelledError):
                run.recording.event("session_interrupted", signal=INTERRUPTS.first)
                raise


@dataclass(slots=True)
class _JobRun:
    """A job while it is judged, scored and written."""

    session: Session
    listener: ProgressListener
    findings: FindingLog
    checksums: Checksums
    recording: JudgmentRecorder
    log_file: BinaryIO | None = None
    started: float = field(default_factory=time.perf_counter)
    stopped: Stop = field(default_factory=Stop)

    @property
    def job(self) -> Job:
        """The request."""
        return self.session.job

    def open_log(self) -> None:
        """Write the log from now on; it takes its name when the session ends."""
        job = self.job
        refused = self._log_refused if job.model.asks else None
        file = self.session.files.enter_context(open_output(job.outputs.log, True, refused))
        self.log_file = file if job.shard is None else cast(BinaryIO, DigestingFile(file))
        self.findings.listeners.append(self.recording.log_to(self.log_file).finding)

    def _log_refused(self, why: str) -> None:
        message = f"{self.job.outputs.log}: cannot be written: {why}"
        self.job.model.command.refuse(self.listener.notify, message)
        self.recording.log = None

    async def judge_whole(self) -> Scored:
        """Judge and score all responses."""
        job, session = self.job, self.session
        reader = self._begin()
        labels = None
        if job.human:
            check_takes_labels(session.panel, "--labels")
            labels = read_labels(job.human, self.findings, job.words)
            # Words that nobody knows stop the job before a model is paid.
            labels.rename(labels_of(named.judge for named in session.panel), self.findings)
        audit = await self._audit()
        if job.in_parts and not job.model.use:
            done = await self._judge_in_parts(reader, labels)
        else:
            await self._ask_ahead()
            await self._judge(reader)
            judged = JudgmentsReader(job.outputs.judgments)
            # Scores are made from the file, not from memory: `rescore` must give the same bytes.
            with note_kept_judgments(job.outputs):
                done = score_file(judged, job.outputs, labels, self.findings, session.panel)
        done.summary.audit = audit.as_dict() if audit else {}
        self._complete(done.summary)
        counts = counts_of(done.summary)
        if self.recording.log is not None:
            self.recording.log.log_scores(done.board.values_by_response())
        self.recording.event("session_end", **counts)
        self._write_config(counts, audit=done.summary.audit)
        return done

    async def judge_part(self) -> ShardSummary:
        """Judge one shard of the responses; nothing is scored."""
        job, model, inputs = self.job, self.session.model, self.session.inputs
        reader = self._begin()
        await self._audit()
        assert job.shard is not None
        with check_unchanged([opened.path for opened in inputs.files]):
            shards, own = choose_part(job.shard, inputs, reader)
            writer, sha256 = await self._judge(own)
        check_all_there(shards[job.shard[0] - 1], writer.responses)
        spent = {"model": model.spent(), "seconds": seconds_since(self.started)}
        self.recording.event("session_end", **spent)  # the log ends here: its digest is taken
        digests = {"judgments": sha256}
        if isinstance(self.log_file, DigestingFile) and self.recording.log is not None:
            digests["log"] = self.log_file.sha256
        found = self.findings  # of all runs: every part reads them all
        written = ShardSummary(
            *job.shard,
            responses=writer.responses,
            judgments=writer.judgments,
            unjudged=self.recording.unjudged,
            spared=self.recording.spared,
            findings=dict(sorted(found.counts.items())),
            findings_by_run={kind: dict(runs) for kind, runs in sorted(found.by_run.items())},
            lost=found.of_severity("error"),
            bug=self.stopped.why,
            filters=job.filters,
            sha256=digests,
        )
        more = {"shard": written.as_dict(), "prompts": wordings(model)}
        # What all parts say of one another: none can be of another job, or in another's place.
        self._write_config(spent, **more, parts=[shard.ids for shard in shards])
        return written

    def _begin(self) -> RunReader:
        """Read what there is beside the runs, and check these where a model would be paid."""
        job, session, findings = self.job, self.session, self.findings
        self.recording.event("session_start", **config_head(session, self.checksums))
        inputs = session.inputs
        report_lacking(session.panel, inputs, findings)
        inputs.check_documents(findings)
        session.panel = fit_panel(session.panel, inputs, findings)
        reader = inputs.reader(findings, self.listener.taken)
        self.listener.begins(lambda: reader.expected_responses, session.model.spent)
        # A check before judging reads the runs twice; a model costs far more than that.
        if job.strict or (job.check and job.model.use):
            check_first(job, inputs, findings)
        elif job.check:
            check_along(job, inputs, reader, findings)
        return reader

    def _write_config(self, counts: Mapping[str, Any], **more: Any) -> None:
        # Last: a config beside the other files means that the job was finished.
        more["collections"] = self.session.inputs.collections
        sections = {"counts": counts} | {name: found for name, found in more.items() if found}
        write_config(self.session, self.checksums, sections)

    async def _audit(self) -> AuditReport | None:
        """Try the judge on labelled items, before all else is paid for; None without an audit.

        Raises JudgeUnfit where a bound is broken.
        """
        tried = await _judge_labelled(self.session)
        if tried is None:
            return None
        self.recording.log_audit(tried.judged)
        audit = tried.compare()
        self.recording.event("audit", **audit.as_dict())
        audit.check()
        return audit

    async def _judge(self, reader: RunReader) -> tuple[JudgmentsWriter, str]:
        """Write the judgments file; return its writer, which has counted, and its SHA-256."""
        job, session = self.job, self.session
        trial = MeasureTrial(job_spec(job, session.panel), self.stopped, job.model.asks)
        with open_output(job.outputs.judgments) as file:
            writer = JudgmentsWriter(file)
            writer.header(judgments_header(job, session.panel, session.inputs))
            judging = make_judging_panel(job, session.panel, self.findings)
            runner = Runner(judging, session.model, self.stopped)
            await runner.prepare(session.inputs.all_responses(session.model, session.notify))
            # Closed here in any case: what is on its way must end while the model is still open.
            async with aclosing(runner.run(reader)) as responses:
                async for judged in responses:
                    self.recording.write(writer, judged)
                    if job.model.asks:  # a full disk is found before more is paid for
                        file.flush()
                    self.listener.counted(1, len(judged.judgments))
                    trial.add(judged)
                    await asyncio.sleep(0)  # without a model nothing else yields to the event loop
            if not (writer.responses or job.shard):
                raise InputError(session.inputs.nothing_to_judge(reader))
            sha256 = writer.end()
        if trial.error is not None:
            kept = f"what was judged before is in {job.outputs.judgments}"
            raise PluginError(f"{trial.error}; judging stopped: {kept}")
        return writer, sha256

    async def _ask_ahead(self) -> None:
        """Have several workers ask the model before all is judged, where they are wanted."""
        model = self.session.model
        if not (self.job.workers_ask and isinstance(model, AskingModel)):
            return
        from trecjudge.job.shards.session import ask_ahead

        async with prefetch_scope(model):
            with parts_folder(self.job.outputs) as folder:
                await ask_ahead(self.session, model, folder)

    async def _judge_in_parts(
        self, reader: RunReader, labels: Mapping[ItemKey, str] | None
    ) -> Scored:
        """Judge by several workers; write the judgments file and the numbers."""
        from trecjudge.job.shards.session import judge_in_parts

        session, outputs = self.session, self.job.outputs
        # Only for the findings: workers report none.
        make_judging_panel(self.job, session.panel, self.findings)
        with parts_folder(outputs) as folder:
            parts = await judge_in_parts(session, reader, folder, self.listener.counted)
            self.recording.spared += sum(part.spared for part in parts.done)
            if stopped := next((part.stopped for part in parts.done if part.stopped), ""):
                self.stopped.now(stopped)
            parts.merge(outputs, self.log_file)
            with note_kept_judgments(outputs):
                return parts.score(outputs, labels, self.findings)

    def _complete(self, summary: Summary) -> None:
        """Add what scores do not tell: files, findings, and what the model cost."""
        outputs = self.job.outputs
        summary.files |= {"judgments": str(outputs.judgments), "config": str(outputs.config)}
        if self.recording.log is not None:
            summary.files["log"] = str(outputs.log)
        for weights in importances(self.session.panel):
            judged = JudgmentsReader(outputs.judgments)
            for finding in weights.unused(found for _, found in judged):
                self.findings(finding)
        summary.bug = self.stopped.why
        summary.findings = dict(sorted(self.findings.counts.items()))
        summary.findings_by_run = {k: dict(v) for k, v in sorted(self.findings.by_run.items())}
        summary.inventory = self.findings.inventory
        # Lost input counts like unjudged items: the exit status must show it.
        summary.lost = self.findings.of_severity("error")
        summary.calls = self.session.model.spent()
        if summary.calls and self.recording.spared:
            summary.calls["spared"] = self.recording.spared
        summary.seconds = seconds_since(self.started)

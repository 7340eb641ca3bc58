"""The order of the stations: topics, documents, runs, judge, judgments file, scores, config."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from trecjudge.cache import ReplyCache, default_folder
from trecjudge.config import config_text, digests, versions
from trecjudge.documents import DocumentStore, read_documents
from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.findings import Finding, FindingLog
from trecjudge.formats.registry import check_dataset
from trecjudge.judge import Judge, make_judge, programs_of, settings_of
from trecjudge.judgments import Header, JudgmentsReader, JudgmentsWriter
from trecjudge.llm.model import Model, NoModel
from trecjudge.log import DebugLog
from trecjudge.measures import leaderboard_spec
from trecjudge.outputs import Outputs, whole
from trecjudge.records import Judgment, Topic
from trecjudge.runner import JudgedResponse, Runner
from trecjudge.runs import RunReader, Taken, find_runs
from trecjudge.scoring import score
from trecjudge.summary import Summary
from trecjudge.topics import read_topics
from trecjudge.workflow import Point, Workflow


class Watcher(Protocol):
    """Told what goes on, for a progress bar or lines."""

    def taken(self, path: Path, format_name: str, why: str) -> None:
        """A run file was taken for a format."""

    def finding(self, finding: Finding) -> None:
        """The input has a problem."""

    def judged(self, judged: JudgedResponse) -> None:
        """A response was judged."""

    def files(self, count: int) -> None:
        """So many run files will be read."""

    def said(self, message: str) -> None:
        """Something that the user should know."""


@dataclass(frozen=True, slots=True)
class Job:
    """One judge with one set of settings on one input: what the command line asked for."""

    judge: str
    runs: Sequence[Path]
    outputs: Outputs
    workflow: Workflow
    point: Point
    topics: Path | None = None
    documents: Sequence[Path] = ()
    dataset: str = "auto"
    use_model: bool = False
    cache_folder: Path | None = None
    max_topics: int | None = None
    max_runs: int | None = None
    debug_log: bool = True
    document_text: bool = True
    qrels_pool: bool = False
    strict: bool = False
    command_line: Sequence[str] = ()


@dataclass(slots=True)
class _Inputs:
    """What a job reads: topics (None: those that the runs answer), documents and run files."""

    topics: dict[str, Topic] | None
    known: frozenset[str]
    store: DocumentStore | None
    files: list[Path]

    @classmethod
    def read(cls, job: Job, findings: FindingLog) -> _Inputs:
        topics = read_topics(job.topics, findings) if job.topics else None
        known = frozenset(topics or ())
        if topics is not None and job.max_topics is not None:
            topics = dict(list(topics.items())[: job.max_topics])
        store = read_documents(job.documents, findings) if job.documents else None
        return cls(topics, known, store, find_runs(job.runs))

    def reader(self, job: Job, findings: FindingLog, taken: Taken) -> RunReader:
        return RunReader(
            self.files,
            findings,
            topics=self.topics,
            known=self.known,
            store=self.store,
            dataset=job.dataset,
            max_runs=job.max_runs,
            taken=taken,
        )


def run_job(job: Job, watcher: Watcher) -> Summary:
    """Judge and score; all files are in place when it returns.

    Raises a TrecJudgeError for what the user can put right.
    """
    check_dataset(job.dataset)
    judge = make_judge(job.judge, job.point.settings)
    leaderboard_spec(judge.measures, job.workflow.leaderboard, job.workflow.measures)
    programs = programs_of(judge)
    for name in job.workflow.prompts:
        if name not in programs:
            raise WorkflowError(f"prompts: {unknown('program', name, programs)}")
    job.outputs.prepare()
    return asyncio.run(_Session(job, judge, watcher).run())


@dataclass(slots=True)
class _Session:
    """A job under way."""

    job: Job
    judge: Judge
    watcher: Watcher
    findings: FindingLog = field(default_factory=FindingLog)
    log: DebugLog | None = None
    model: Model = field(default_factory=NoModel)
    started: float = field(default_factory=time.perf_counter)

    async def run(self) -> Summary:
        outputs = self.job.outputs
        self.findings.listeners.append(self.watcher.finding)
        async with AsyncExitStack() as stack:
            self.model = await stack.enter_async_context(_model(self.job, self.judge, self.watcher))
            with ExitStack() as files:
                if self.job.debug_log:
                    log_file = files.enter_context(whole(outputs.log, keep_partial=True))
                    self.log = DebugLog(log_file, self.job.document_text)
                    self.findings.listeners.append(self.log.finding)
                return await self._judge_and_score(files)

    async def _judge_and_score(self, files: ExitStack) -> Summary:
        job = self.job
        self._event("session_start", judge=job.judge, settings=settings_of(self.judge))
        inputs = _Inputs.read(job, self.findings)
        self.watcher.files(len(inputs.files))
        if job.strict:
            self._strict(inputs)
        reader = inputs.reader(job, self.findings, self.watcher.taken)
        with whole(job.outputs.judgments) as file:
            writer = JudgmentsWriter(file)
            writer.header(self._header(inputs))
            async for judged in Runner(self.judge, self.model, self._look_ahead()).run(reader):
                self._write(writer, judged)
            if not writer.responses:
                raise InputError(_nothing(job, inputs, reader))
            writer.end()
        summary = score(JudgmentsReader(job.outputs.judgments), job.outputs)
        self._complete(summary)
        self._event("session_end", **_counts(summary))
        self._write_config(summary, inputs)
        return summary

    def _look_ahead(self) -> int:
        return 4 * getattr(getattr(self.model, "settings", None), "in_flight", 1)

    def _strict(self, inputs: _Inputs) -> None:
        """Read everything once and refuse it if a finding bears on a score."""
        found: list[Finding] = []
        trial = FindingLog([found.append])
        for _ in inputs.reader(self.job, trial, lambda *_: None):
            pass
        bad = [finding for finding in found if finding.severity != "note"]
        bad_before = self.findings.of_severity("error", "warning")
        for finding in bad:
            self.findings(finding)
        if bad or bad_before:
            first = f"; the first: {bad[0]}" if bad else ""
            raise InputError(f"--strict: {len(bad) + bad_before} findings{first}")

    def _header(self, inputs: _Inputs) -> Header:
        job = self.job
        return Header(
            judge=job.judge,
            settings=settings_of(self.judge),
            leaderboard=job.workflow.leaderboard,
            measures=tuple(job.workflow.measures),
            topics=tuple(inputs.topics) if inputs.topics is not None else None,
            qrels_pool=job.qrels_pool,
        )

    def _write(self, writer: JudgmentsWriter, judged: JudgedResponse) -> None:
        """Write a judged response to the log and the judgments file."""
        name = job_event(self.job.judge)
        for entry in judged.items:
            judgments = [self._shown(judgment) for judgment in entry.judgments]
            if self.log is not None:
                self.log.judged(name, entry.item, judgments, entry.calls)
            if entry.trace:
                self._event("BUG", traceback=entry.trace)
        writer.response(judged.response, [self._shown(j) for j in judged.judgments])
        self.watcher.judged(judged)

    def _shown(self, judgment: Judgment) -> Judgment:
        """Return the judgment without its quote where document text is to stay out of files."""
        evidence = judgment.evidence
        if evidence is None or self.job.document_text:
            return judgment
        return replace(judgment, evidence=replace(evidence, quote=""))

    def _event(self, name: str, **fields_: Any) -> None:
        if self.log is not None:
            self.log.event(name, **fields_)

    def _complete(self, summary: Summary) -> None:
        outputs = self.job.outputs
        summary.files |= {"judgments": str(outputs.judgments), "config": str(outputs.config)}
        if self.log is not None:
            summary.files["log"] = str(outputs.log)
        summary.findings = dict(sorted(self.findings.counts.items()))
        summary.lost = self.findings.of_severity("error")
        summary.calls = _calls(self.model)
        summary.seconds = round(time.perf_counter() - self.started, 3)

    def _write_config(self, summary: Summary, inputs: _Inputs) -> None:
        job = self.job
        paths = [job.topics, job.workflow.path, *job.documents]
        named = [path for path in paths if path is not None and path.is_file()]
        config = {
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
            "command_line": list(job.command_line),
            "judge": job.judge,
            "settings": settings_of(self.judge),
            "workflow": _workflow_record(job.workflow),
            "model": _model_record(self.model, self.judge),
            "inputs_sha256": digests([*named, *inputs.files]),
            "counts": _counts(summary),
        }
        with whole(job.outputs.config) as file:
            file.write(config_text(config))


def job_event(judge: str) -> str:
    """Return the prefix of a judge's events in the log: `citation` -> `CITATION`."""
    return judge.rpartition(":")[2].upper()


def _nothing(job: Job, inputs: _Inputs, reader: RunReader) -> str:
    """Return why there was nothing to judge, and what to do."""
    if reader.unknown_topics and inputs.topics is not None:
        return (
            f"none of {reader.unknown_topics} responses answers a topic of {job.topics}"
            f" (such as {next(iter(inputs.known))!r}); give the topic file of these runs,"
            " or no --rag-topics to take the topics from the runs"
        )
    paths = ", ".join(map(str, job.runs))
    return f"{paths}: no response could be read; `run_judge.py formats` lists what can"


@asynccontextmanager
async def _model(job: Job, judge: Judge, watcher: Watcher) -> AsyncIterator[Model]:
    """Open the door to a model, or none; nothing of a model is imported without one."""
    if not job.use_model:
        yield NoModel()
        return
    from trecjudge.llm.settings import llm_settings

    settings = llm_settings(job.workflow.llm, os.environ)
    from trecjudge.llm.door import Door
    from trecjudge.llm.prompt import Prompts

    prompts = Prompts(job.workflow.prompts)
    for program in programs_of(judge).values():
        prompts[program].digest  # noqa: B018  a prompt that misfits is an error before any call
    cache = ReplyCache(job.cache_folder or default_folder(), watcher.said)
    try:
        async with Door(settings, prompts, cache) as door:
            yield door
    finally:
        cache.close()


def _calls(model: Model) -> dict[str, int]:
    counts = getattr(model, "counts", None)
    if counts is None:
        return {}
    return {name: getattr(counts, name) for name in counts.__slots__}


def _model_record(model: Model, judge: Judge) -> Mapping[str, Any] | None:
    if not model.available:
        return None
    door: Any = model
    digests_ = {p.name: door.prompts[p].digest for p in programs_of(judge).values()}
    public: dict[str, Any] = door.settings.public()
    return public | {"prompts_sha256": digests_}


def _workflow_record(workflow: Workflow) -> dict[str, Any]:
    names = [name for name in Workflow.__slots__ if name != "path"]
    return {name: getattr(workflow, name) for name in names if getattr(workflow, name)}


def _counts(summary: Summary) -> dict[str, Any]:
    runs = [run.coverage for run in summary.runs]
    return {
        "runs": len(runs),
        "topics": summary.topics,
        "responses": sum(run.responses for run in runs),
        "responses_expected": sum(run.expected_responses for run in runs),
        "items_judged": sum(run.judged for run in runs),
        "items_expected": sum(run.expected for run in runs),
        "failures": summary.failures,
        "findings": summary.findings,
        "model": summary.calls,
        "seconds": summary.seconds,
    }

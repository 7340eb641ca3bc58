"""One shard judged, in whichever process: its responses read again, judged, scored, written."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.inputs.run_records import Event, FileBegins, RunRecord, RunRecords
from trecjudge.inputs.sources.containers import Opened
from trecjudge.job.job import JobInputs
from trecjudge.job.judges import header_of, job_panel, job_spec, judging_panel
from trecjudge.job.recording import Recording
from trecjudge.job.shards.shard import Portion, Shard, ShardDone, ShardSetup
from trecjudge.job.trial import MeasureTrial
from trecjudge.judging.bugs import Stop
from trecjudge.judging.panel import Panel
from trecjudge.judging.runner import Runner
from trecjudge.models.model import NoModel
from trecjudge.results.judgments import Header, JudgmentsReader, JudgmentsWriter
from trecjudge.scores.scoring import PartScores, Scoring
from trecjudge.settings.limits import limits_are
from trecjudge.settings.plugins import find_in_working_folder


@dataclass(frozen=True, slots=True)
class Worker:
    """What a process keeps of a job, for all its shards: inputs and judges."""

    setup: ShardSetup
    inputs: JobInputs
    panel: Panel
    judging: Panel
    header: Header
    records: RunRecords = field(repr=False)

    @classmethod
    def of(cls, setup: ShardSetup) -> Worker:
        """Read what a job needs beside its runs. Raises a TrecJudgeError."""
        find_in_working_folder()
        panel = job_panel(setup.job)
        inputs = JobInputs.read(setup.job, unreported)
        inputs.close()  # a shard opens the run files that it reads
        judging = judging_panel(setup.job, panel, unreported)
        header = header_of(setup.job, panel, inputs)
        return cls(setup, inputs, panel, judging, header, inputs.run_records())

    def judge(self, shard: Shard) -> ShardDone:
        """Judge a shard, write its files, and return what it came to."""
        recording = Recording.of(self.setup.job)
        stop = Stop()
        trial = MeasureTrial(job_spec(self.setup.job, self.panel), stop, pays=False)
        with ExitStack() as files:
            file = files.enter_context(whole(self.setup.part(shard.number, "judgments")))
            if self.setup.job.debug_log:
                recording.log_to(files.enter_context(whole(self.setup.part(shard.number, "log"))))
            writer = JudgmentsWriter(file)
            writer.header(self.header)
            asyncio.run(self._judged(shard, writer, recording, trial, stop))
            check_all_there(shard, writer.responses)
            sha256 = writer.end()
        counts = (writer.responses, writer.judgments, sha256, recording.spared)
        error = "" if trial.error is None else str(trial.error)
        return ShardDone(shard.number, *counts, self._scored(shard.number), stop.why, error)

    async def _judged(
        self,
        shard: Shard,
        writer: JudgmentsWriter,
        recording: Recording,
        trial: MeasureTrial,
        stop: Stop,
    ) -> None:
        runner = Runner(self.judging, NoModel(), stop)
        reader = self.inputs.reader_of(ShardRecords(self.records, shard.portions).read)
        async for judged in runner.run(reader):
            recording.write(writer, judged)
            trial.add(judged)

    def _scored(self, number: int) -> PartScores:
        """Return the scores of a part, made from its file: `rescore` must give the same bytes."""
        setup = self.setup
        reader = JudgmentsReader(setup.part(number, "judgments"))
        scoring = Scoring(self.header, self.panel, reader.path)
        if setup.job.human or not scoring.in_parts:
            return scoring.part  # empty: the whole is scored by whoever merges
        kinds = (*(f"qrels.{place}" for place in range(len(self.panel))), "review")
        with ExitStack() as opened:
            files = [opened.enter_context(whole(setup.part(number, kind))) for kind in kinds]
            for response, judgments in reader:
                qrels, reviewed = scoring.add(response, judgments)
                for file, lines in zip(files, (*qrels, reviewed), strict=True):
                    file.write(lines)
        return scoring.part


def check_all_there(shard: Shard, responses: int) -> None:
    """Raise InputError where not all responses of a shard were found again."""
    if responses != shard.responses:
        files = ", ".join(str(portion.path) for portion in shard.portions)
        raise InputError(
            f"{files}: {responses} of {shard.responses} responses were found again: the file was"
            " changed while it was judged; begin again"
        )


@dataclass(frozen=True, slots=True)
class ShardRecords:
    """Reads the records of a shard's responses, each with the name that the whole job gives it."""

    records: RunRecords
    portions: tuple[Portion, ...]

    def read(self, report: OnFinding) -> Iterator[Event]:
        """Yield the shard's records, file by file."""
        for portion in self.portions:
            yield FileBegins(portion.path)
            yield from self._of(portion)

    def _of(self, portion: Portion) -> Iterator[Event]:
        names = zip(portion.run_ids, portion.samples, strict=True)
        wanted = dict(zip(portion.ordinals, names, strict=True))
        self.records.forget_names()  # they are given; a file seen before would be read whole again
        ordinal, last = -1, portion.ordinals[-1]
        for event in self.records.of_file(Opened(portion.path)):
            if not isinstance(event, RunRecord):
                continue
            ordinal += 1
            if ordinal in wanted and event.response is not None:
                run_id, sample = wanted[ordinal]
                response = replace(event.response.as_sample(sample), run_id=run_id)
                yield replace(event, response=response, repeated=False, digest="")
            if ordinal == last:
                return


_KEPT = threading.local()
"""What a thread keeps of the job that it works for: an index of documents is used by one thread."""


def judge_shard(setup: ShardSetup, shard: Shard) -> ShardDone:
    """Judge a shard in this process. Raises a TrecJudgeError for what the user can put right."""
    with limits_are(setup.limits), keyed(setup.record_keys):
        return worker_of(setup).judge(shard)


def worker_of(setup: ShardSetup) -> Worker:
    """Return what this thread keeps of a job; what another one was about is let go."""
    if getattr(_KEPT, "token", "") != setup.token:
        _KEPT.worker, _KEPT.token = Worker.of(setup), setup.token
    worker: Worker = _KEPT.worker
    return worker

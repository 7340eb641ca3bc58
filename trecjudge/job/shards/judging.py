"""A shard in a worker: its responses judged, scored and written, or a model asked about its items.

Of what a model is asked only the replies are wanted: the job itself judges by them afterwards.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from trecjudge.errors import ModelError, OutputError
from trecjudge.files import whole
from trecjudge.findings import ignore
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.inputs.run_records import RunRecords
from trecjudge.job.inputs import JobInputs
from trecjudge.job.judges import job_spec, judgments_header, make_job_panel, make_judging_panel
from trecjudge.job.recording import JudgmentRecorder, MeasureTrial
from trecjudge.job.session import open_session
from trecjudge.job.shards.shard import (
    DocumentShard,
    Shard,
    ShardAsked,
    ShardDone,
    ShardRecords,
    ShardSetup,
    check_all_there,
)
from trecjudge.judging.panel import Panel
from trecjudge.judging.runner import Runner, Stop
from trecjudge.models.cache.upkeep import export_replies
from trecjudge.models.model import Model, NoModel
from trecjudge.models.opening import CommandState, ModelOptions
from trecjudge.models.shared_work import AskingModel, report_spending
from trecjudge.records import Item, Response
from trecjudge.results.judgments import Header, JudgmentsReader, JudgmentsWriter
from trecjudge.scores.scoring import JobScoring, PartScores
from trecjudge.settings.limits import hold_limits
from trecjudge.settings.plugins import find_in_working_folder

SECONDS_BETWEEN_LOOKS = 0.3
CACHE = "TRECJUDGE_CACHE"
_CARRIED: dict[Path, int] = {}
"""When this process last carried out the replies of a cache, in seconds since 1970."""


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
        panel = make_job_panel(setup.job)
        inputs = JobInputs.read(setup.job, ignore)
        inputs.close()  # a shard opens the run files that it reads
        judging = make_judging_panel(setup.job, panel, ignore)
        header = judgments_header(setup.job, panel, inputs)
        return cls(setup, inputs, panel, judging, header, inputs.run_records())

    def judge(self, shard: Shard) -> ShardDone:
        """Judge a shard, write its files, and return what it came to."""
        recording = JudgmentRecorder.of(self.setup.job)
        trial = MeasureTrial(job_spec(self.setup.job, self.panel), Stop(), pays=False)
        with ExitStack() as files:
            file = files.enter_context(whole(self.setup.part(shard.number, "judgments")))
            if self.setup.job.debug_log:
                recording.log_to(files.enter_context(whole(self.setup.part(shard.number, "log"))))
            writer = JudgmentsWriter(file)
            writer.header(self.header)
            asyncio.run(self._judge_responses(shard, writer, recording, trial))
            check_all_there(shard, writer.responses)
            sha256 = writer.end()
        counts = (writer.responses, writer.judgments, sha256, recording.spared)
        stopped, error = trial.stop.why, "" if trial.error is None else str(trial.error)
        return ShardDone(shard.number, *counts, self._score_part(shard.number), stopped, error)

    async def _judge_responses(
        self,
        shard: Shard,
        writer: JudgmentsWriter,
        recording: JudgmentRecorder,
        trial: MeasureTrial,
    ) -> None:
        runner = Runner(self.judging, NoModel(), trial.stop)
        reader = self.inputs.reader_of(ShardRecords(self.records, shard.portions).read)
        async for judged in runner.run(reader):
            recording.write(writer, judged)
            trial.add(judged)

    def _score_part(self, number: int) -> PartScores:
        """Return the scores of a part, made from its file: `rescore` must give the same bytes."""
        setup = self.setup
        reader = JudgmentsReader(setup.part(number, "judgments"))
        scoring = JobScoring(self.header, self.panel, reader.path)
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


_KEPT = threading.local()
"""What a thread keeps of the job that it works for: an index of documents is used by one thread."""


def judge_shard(setup: ShardSetup, shard: Shard) -> ShardDone:
    """Judge a shard in this process. Raises a TrecJudgeError for what the user can put right."""
    with hold_limits(setup.limits), use_record_keys(setup.record_keys):
        return worker_of(setup).judge(shard)


def worker_of(setup: ShardSetup) -> Worker:
    """Return what this thread keeps of a job; what another one was about is let go."""
    if getattr(_KEPT, "token", "") != setup.token:
        _KEPT.worker, _KEPT.token = Worker.of(setup), setup.token
    worker: Worker = _KEPT.worker
    return worker


def ask_shard(setup: ShardSetup, shard: DocumentShard) -> ShardAsked:
    """Ask a model about the items of a shard, within its allowance, until the job is told to end.

    Raises a TrecJudgeError for what the user can put right.
    """
    # A cluster gives the work of a lost worker to another one by itself, but an allowance may be
    # spent only once: whoever makes this file first has the attempt.
    try:
        setup.part(shard.attempt, "begun").touch(exist_ok=False)
    except (FileExistsError, FileNotFoundError):
        # Who began it is gone, and may have spent the allowance; or the job itself has ended.
        return ShardAsked()
    with hold_limits(setup.limits), use_record_keys(setup.record_keys):
        try:
            return asyncio.run(_ask(worker_of(setup), shard))
        except ModelError as error:
            # Its environment may be another one: keys never come from the job.
            there = f"worker on {socket.gethostname()}: " if setup.known else ""
            raise ModelError(f"{there}{error}") from error


async def _ask(worker: Worker, shard: DocumentShard) -> ShardAsked:
    setup = worker.setup
    options = _options_of(setup, shard)
    done: list[ShardAsked] = []
    await _until_told(setup.stop, _ask_all(worker, shard, options, done.append))
    if setup.known is not None and options.cache_folder is not None:
        # The replies that came since this process did so before; at first all.
        began, since = int(time.time()), _CARRIED.get(options.cache_folder, 1)
        replies, model = setup.part(shard.attempt, "replies"), setup.origins[0][1]
        export_replies(options.cache_folder, replies, model, since - 1)  # times are whole seconds
        _CARRIED[options.cache_folder] = began
    return done[0] if done else ShardAsked()


def _options_of(setup: ShardSetup, shard: DocumentShard) -> ModelOptions:
    whole, known, before = setup.job.model, setup.known, shard.before
    # With --refresh, what an earlier attempt has asked anew is not asked once more.
    asked = set(before.marks if before and whole.refresh else ())
    # The job tells its user that nothing more is asked: once, not once for each worker.
    command = CommandState(shard.allowance.budget(), asked=asked, untold=True)
    options = replace(whole, command=command)
    if known is None:
        return options
    own = own_cache(setup.job.outputs.folder / setup.job.outputs.name)
    return replace(options, cache_folder=own, cache_from=[known, *whole.cache_from])


async def _ask_all(
    worker: Worker,
    shard: DocumentShard,
    options: ModelOptions,
    take: Callable[[ShardAsked], None],
) -> None:
    """Ask about the items of a shard; `take` gets what that came to, also at an early end."""
    setup = worker.setup
    job, unpaid = replace(setup.job, model=options), 0
    notify = _notifier(setup.part(shard.attempt, "notices"))
    model: Model | None = None
    try:
        async with open_session(job, ignore, notify, worker.panel) as session:
            model = session.model
            assert isinstance(model, AskingModel)
            _check_origins(model, setup)
            if shard.before is not None:
                model.replies.given_up = shard.before.failed
            runner = Runner(worker.judging, model, wants=partial(is_of_shard, shard))
            await runner.prepare(worker.inputs.all_responses(model, notify))
            async for judged in runner.run(worker.inputs.responses()):
                failures = (j.failure for j in judged.judgments if j.failure is not None)
                unpaid += sum(failure.kind == "budget" for failure in failures)
                await asyncio.sleep(0)
    finally:
        if isinstance(model, AskingModel):
            take(ShardAsked(unpaid, report_spending(model)))


def _check_origins(model: AskingModel, setup: ShardSetup) -> None:
    # The job judges by the replies that are kept: those of another model it would not look for.
    origins = origins_of(model)
    if origins != setup.origins:
        here, there = (", ".join(map(" ".join, found)) for found in (origins, setup.origins))
        raise ModelError(
            f"asks {here}, the job {there}: set OPENAI_BASE_URL and OPENAI_MODEL alike"
        )


def origins_of(model: AskingModel) -> tuple[tuple[str, str], ...]:
    """Return the addresses at which a model is asked, each with its name there."""
    return tuple((one.endpoint, one.model) for one in model.replies.requests.origins)


async def _until_told(stop: Path, work: Coroutine[Any, Any, None]) -> None:
    """Do work, and cancel it when a file to stop is there or its folder is gone."""
    task = asyncio.create_task(work)
    # Looked for again and again: a folder on another machine's disk tells of no change.
    while not task.done():
        await asyncio.wait([task], timeout=SECONDS_BETWEEN_LOOKS)
        if stop.exists() or not stop.parent.exists():
            task.cancel()
            await asyncio.wait([task])
            break
    if not task.cancelled():
        task.result()


def _notifier(path: Path) -> Callable[[str], None]:
    def notify(message: str) -> None:
        # The folder is gone where the job has ended: nobody reads it.
        with suppress(OSError), path.open("a", encoding="utf-8") as file:
            file.write(f"{message}\n")

    return notify


def own_cache(of: Path) -> Path:
    """Return the folder of this machine's cache for a job: `TRECJUDGE_CACHE`, or a temporary one.

    A worker that follows a killed one finds its replies there. Raises OutputError where it is
    another user's.
    """
    if given := os.environ.get(CACHE):
        return Path(given)
    name = f"trecjudge-{os.getuid()}-{hashlib.sha256(str(of).encode()).hexdigest()[:16]}"
    folder = Path(tempfile.gettempdir()) / name
    # All users may write there: another one may have made a folder of this name, to read or to
    # forge replies.
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise OutputError(f"{folder}: belongs to another user; set {CACHE} for the workers")
    return folder


def is_of_shard(shard: DocumentShard, item: Item, response: Response) -> bool:
    """Return whether an item is of a shard: all items of a document are of one.

    Their prompts begin alike, some are the same, and some are put in one request. Items without a
    document are together by response, and the two sides of a battle, which ask the same.
    """
    whole = f"{item.topic.topic_id}\n{response.text}"
    if item.opponent is not None:
        whole = "\n".join((item.topic.topic_id, *sorted((item.run_id, item.opponent.run_id))))
    text = whole if item.document is None else item.document.text
    # No `hash`: Python salts it in each process, and all workers have to divide the items alike.
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % shard.of == shard.number

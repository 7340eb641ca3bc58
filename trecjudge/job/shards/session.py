"""The shards of a job in the process that it runs in: cut, given to workers, put together."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from trecjudge.errors import ModelError, PluginError, WorkflowError
from trecjudge.files import default_folder
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.store import is_elsewhere
from trecjudge.inputs.labels import ItemKey
from trecjudge.inputs.pipelines.fields import record_keys
from trecjudge.inputs.runs import RunReader
from trecjudge.job.inputs import JobInputs
from trecjudge.job.judges import job_spec, judgments_header
from trecjudge.job.recording import MeasureTrial
from trecjudge.job.request import NO_MODEL, Job, Notify
from trecjudge.job.session import Session
from trecjudge.job.shards.dask import DaskWorkers
from trecjudge.job.shards.judging import ask_shard, judge_shard, origins_of
from trecjudge.job.shards.merging import JudgmentsPart, append_files, merge_judgments
from trecjudge.job.shards.shard import (
    SHARDS_OF_A_WORKER,
    DocumentShard,
    Shard,
    ShardAsked,
    ShardDone,
    ShardSetup,
    absolute_file,
    check_unchanged,
    into_shards,
    locate_responses,
)
from trecjudge.job.shards.workers import LocalWorkers, Scheduler, Workers
from trecjudge.judging.panel import Panel, panel_programs, panel_settings
from trecjudge.judging.runner import Runner, Stop
from trecjudge.models.cache.upkeep import export_replies, import_replies
from trecjudge.models.opening import CommandState
from trecjudge.models.settings import LlmSettings
from trecjudge.models.shared_work import (
    AskingModel,
    Spent,
    learn_forms,
    merge_usage,
    report_spending,
    return_allowance,
    split_budget,
    with_earlier,
)
from trecjudge.results.judgments import Header, JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import open_output
from trecjudge.scores.scoring import JobScoring, Scored, score_file
from trecjudge.settings.limits import limits

SECONDS_TO_END = 60.0
"""How long workers that are told to end may take: they wait for replies on their way."""
DIVIDED = ("in_flight", "give_up_after", "rpm", "tpm")
"""Settings of the model that hold for all workers together; the first two are counts."""


def open_workers(job: Job, notify: Notify) -> Workers:
    """Return the workers that a job asks for. Raises WorkflowError where a cluster has none.

    `notify` is told of those that this process waits for.
    """
    return DaskWorkers(job.cluster, notify) if job.cluster else LocalWorkers(job.workers, notify)


def make_setup(job: Job, folder: Path, inputs: JobInputs) -> ShardSetup:
    """Return what the shards of a job share; a model is none of it.

    Of a collection they look up what was found of it, and never go through it themselves.

    Raises WorkflowError where one of the run files can be read by this process only.
    """

    def there(paths: Sequence[Path]) -> list[Path]:
        return [path if is_elsewhere(path) else absolute_file(path) for path in paths]

    runs = [opened.path for opened in inputs.files]
    for run in runs:
        if run.exists() and not run.is_file():
            raise WorkflowError(f"{run}: is a pipe, which workers cannot read: give it as a file")

    # A worker may have been started in another folder.
    single = ("topics", "qrels", "labels", "calibration", "human")
    paths: dict[str, Any] = {
        name: absolute_file(path) for name in single if (path := getattr(job, name)) is not None
    }
    paths["documents"] = there(inputs.store.paths if inputs.store else ())
    paths["nuggets"] = there(job.nuggets)
    paths["runs"] = list(map(absolute_file, runs))
    alone = replace(job, model=replace(NO_MODEL, cache_folder=job.model.cache_folder), **paths)
    return ShardSetup(secrets.token_hex(8), alone, folder, limits(), record_keys())


@dataclass(frozen=True, slots=True)
class JudgedParts:
    """The parts of a job that were judged apart, in the order of its responses.

    They lie in the folder of the setup, until that is removed.
    """

    setup: ShardSetup
    header: Header
    panel: Panel
    done: Sequence[ShardDone]

    def merge(self, outputs: Outputs, log: BinaryIO | None) -> None:
        """Write the judgments file, and add to the log. Raises PluginError for a failed measure."""
        with open_output(outputs.judgments) as file:
            files = zip(self._files("judgments"), self.done, strict=True)
            own = (JudgmentsPart(path, p.responses, p.judgments, p.sha256) for path, p in files)
            merge_judgments(file, own)
        if log is not None:
            append_files(self._files("log"), log)
        if error := next((part.error for part in self.done if part.error), ""):
            kept = f"what was judged before is in {outputs.judgments}"
            raise PluginError(f"{error}; judging stopped: {kept}")

    def score(
        self, outputs: Outputs, labels: Mapping[ItemKey, str] | None, report: OnFinding
    ) -> Scored:
        """Write the numbers of the whole, from those of the parts where they have them all."""
        if labels is None:
            scoring = JobScoring(self.header, self.panel, outputs.judgments)
            if scoring.in_parts:
                return self._merge_scores(scoring, outputs)
        reader = JudgmentsReader(outputs.judgments)
        return score_file(reader, outputs, labels, report, self.panel)

    def _merge_scores(self, scoring: JobScoring, outputs: Outputs) -> Scored:
        with scoring.files(outputs) as files:
            for shard in self.done:
                scoring.take(shard.scores)
                for place, qrels in enumerate(files.qrels):
                    append_files([self.setup.part(shard.number, f"qrels.{place}")], qrels)
                if files.review is not None:
                    append_files([self.setup.part(shard.number, "review")], files.review)
            standings = scoring.finish(files)
        return Scored(scoring.summary(outputs, standings), scoring.board, standings)

    def _files(self, kind: str) -> list[Path]:
        return [self.setup.part(part.number, kind) for part in self.done]


class JudgingScheduler(Scheduler[Shard, ShardDone]):
    """Has shards judged."""

    def __init__(
        self,
        workers: Workers,
        setup: ShardSetup,
        shards: Iterable[Shard],
        notify: Notify,
        counted: Callable[[int, int], None],
    ) -> None:
        # The longest first: the last ones are short, and end at about the same time.
        longest_first = sorted(shards, key=lambda one: -one.items)
        super().__init__(workers, judge_shard, setup, longest_first)
        self.notify, self.counted = notify, counted
        self.done: dict[int, ShardDone] = {}

    async def take(self, shard: Shard, done: ShardDone) -> None:
        self.done[shard.number] = done
        self.counted(done.responses, done.judgments)

    def tell_died(self, shards: Collection[Shard]) -> None:
        self.notify(f"a worker died: {len(shards)} shards are judged again")

    def blame(self, shard: Shard) -> str:
        return (
            f" on {shard.responses} responses from {shard.portions[0].path} on; is there enough"
            " memory? Judge without --workers to see why"
        )


async def judge_in_parts(
    session: Session, reader: RunReader, folder: Path, counted: Callable[[int, int], None]
) -> JudgedParts:
    """Return the parts of a job, judged by its workers. Raises what a shard raises.

    `counted` is told of responses and items that were judged.
    """
    inputs = session.inputs
    # The workers make their judges anew: they need what these were fitted to.
    job = replace(session.job, settings=panel_settings(session.panel))
    setup = make_setup(job, folder, inputs)
    files = [opened.path for opened in inputs.files]
    with closing(open_workers(job, session.notify)) as workers, check_unchanged(files):
        shards = into_shards(locate_responses(inputs, reader), workers.count)
        judging = JudgingScheduler(workers, setup, shards, session.notify, counted)
        await judging.run()
    in_order = [judging.done[number] for number in sorted(judging.done)]
    return JudgedParts(setup, judgments_header(job, session.panel, inputs), session.panel, in_order)


async def ask_ahead(session: Session, model: AskingModel, folder: Path) -> None:
    """Have the workers of a job ask its model about all items, and keep the replies.

    Nothing is judged: the job does that afterwards, and asks for what is left. Raises a
    TrecJudgeError that none of the items would survive.
    """
    job = session.job
    if not await _one_works(session) or model.fault_policy.stopped:
        return  # the job itself finds that again, and says so
    with closing(open_workers(job, session.notify)) as workers:
        # More workers than requests may be in flight: some would have nothing to ask.
        in_flight = job.workflow.llm.get("in_flight", LlmSettings.in_flight)
        count = max(1, min(workers.count, int(in_flight or 1)))
        setup = _setup_to_ask(session, model, folder, count)
        await AskingScheduler(workers, setup, model, count, session.notify).run()
    # Workers may have found out that the endpoint takes no schema: it is not to be tried again.
    learn_forms(model, panel_programs(session.panel).values())


async def _one_works(session: Session) -> bool:
    """Return whether one response can be judged and measured: all others cost far more.

    What the endpoint takes is learned by it, once for all workers.
    """
    stop = Stop()
    trial = MeasureTrial(job_spec(session.job, session.panel), stop, pays=True)
    one = islice(session.inputs.responses(), 1)
    async for judged in Runner(session.panel, session.model, stop).run(one):
        trial.add(judged)
    return not stop.why


def _setup_to_ask(session: Session, model: AskingModel, folder: Path, workers: int) -> ShardSetup:
    job, setup = session.job, make_setup(session.job, folder, session.inputs)
    cache, origins = (job.model.cache_folder or default_folder()).absolute(), origins_of(model)
    options = replace(
        job.model,
        command=CommandState(),
        cache_folder=cache,
        cache_from=[path.absolute() for path in job.model.cache_from],
    )
    known = None
    if job.cluster:
        # The cache itself is a file for processes of one machine.
        known = folder / "known"
        export_replies(cache, known, origins[0][1])
    asking = replace(divide_pace(setup.job, workers), model=options)
    return replace(setup, job=asking, origins=origins, known=known)


def divide_pace(job: Job, workers: int) -> Job:
    """Return a job whose pace is one of so many parts of the whole."""
    llm = dict(job.workflow.llm)
    for name in DIVIDED:
        whole = llm.get(name, getattr(LlmSettings, name))
        if whole is not None:
            # Two are counts, which are whole; a rate may be below one a minute.
            counts = name in DIVIDED[:2]
            llm[name] = max(1, int(whole) // workers) if counts else whole / workers
    return replace(job, workflow=replace(job.workflow, llm=llm))


class AskingScheduler(Scheduler[DocumentShard, ShardAsked]):
    """Has a model asked about shards, each with a part of what the budget has left."""

    def __init__(
        self, workers: Workers, setup: ShardSetup, model: AskingModel, count: int, notify: Notify
    ) -> None:
        of, before = count * SHARDS_OF_A_WORKER, report_spending(model)
        shards = [DocumentShard(number, of, before=before) for number in range(of)]
        super().__init__(workers, ask_shard, setup, shards)
        self.at_once, self.model, self.notify = count, model, notify
        self._attempts = 0
        self._shown: dict[Path, int] = {}
        self._error: BaseException | None = None

    async def run(self) -> None:
        """Return when all shards are done, or nothing more can be asked."""
        try:
            await super().run()
        finally:
            await self._end()
        if self._error is not None:
            raise self._error

    def prepare(self, shard: DocumentShard) -> DocumentShard | None:
        """Return a shard with an allowance; None where the job itself asks as far as it can."""
        allowance = split_budget(self.model.spending.budget, len(self.left) + 1)
        if allowance is None:
            return None
        self._attempts += 1
        return replace(shard, allowance=allowance, attempt=self._attempts)

    def undo(self, shard: DocumentShard) -> None:
        """Give an allowance back."""
        return_allowance(self.model.spending.budget, shard.allowance, Spent())

    async def look(self) -> None:
        """Wait a moment for shards to be done, take them, and show what workers have to say."""
        await super().look()
        self._show_notices()
        if self._error is not None or self.model.fault_policy.stopped:
            self.over = True

    def fail(self, error: BaseException) -> None:
        """Take the error of a shard: the others end first, and what they paid for is kept."""
        if isinstance(error, ModelError) and self.model.spending.kept:
            # The endpoint did answer before: what is judged is written.
            self.model.fault_policy.stopped = ("stopped", str(error))
        else:
            self._error = self._error or error

    async def take(self, shard: DocumentShard, done: ShardAsked) -> None:
        """Take over what a worker asked. What one was allowed that is gone counts as spent."""
        asked = done.asked
        if asked is None:
            self.count_try(shard)
            self.tell_died([shard])
            self.left.append(shard)
            return
        return_allowance(self.model.spending.budget, shard.allowance, asked.spent)
        # Before anything else is begun: a worker whose account is empty ends all of them.
        merge_usage(self.model, asked)
        if self.setup.known is not None:
            replies = self.setup.part(shard.attempt, "replies")
            cache = self.model.replies.cache.folder
            await asyncio.to_thread(import_replies, cache, replies, self.notify)
        if done.unpaid and asked.spent.calls:
            self.left.append(replace(shard, before=with_earlier(asked, shard.before)))

    def tell_died(self, shards: Collection[DocumentShard]) -> None:
        for _ in shards:
            self.notify("a worker died: its share is asked about again")

    def blame(self, shard: DocumentShard) -> str:
        why = "; is there enough memory? Judge without --workers to see why"
        return f"{why}; the replies so far are kept"

    def _show_notices(self) -> None:
        for attempt in range(1, self._attempts + 1):
            path = self.setup.part(attempt, "notices")
            if not path.exists():
                continue
            # The last line may be half written yet: it is shown when it is whole.
            with path.open("rb") as file:
                file.seek(self._shown.get(path, 0))
                lines = file.read().rpartition(b"\n")[0].splitlines(keepends=True)
            self._shown[path] = self._shown.get(path, 0) + sum(map(len, lines))
            for line in lines:
                self.notify(line.decode(errors="replace").rstrip("\n"))

    async def _end(self) -> None:
        """Tell workers to end, and take what those under way have paid for."""
        if not self.under_way:
            return
        # By a file: a worker waits for replies, and a signal reaches no other machine.
        self.setup.stop.touch()
        until = time.monotonic() + SECONDS_TO_END
        while self.under_way and time.monotonic() < until:
            await self.look()

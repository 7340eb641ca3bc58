"""A model asked ahead of a job by several workers: afterwards the job finds all replies kept."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from trecjudge.errors import ModelError, OutputError
from trecjudge.files import default_folder
from trecjudge.job.job import Job, JobInputs
from trecjudge.job.judges import job_spec
from trecjudge.job.shards.asking import ask_share
from trecjudge.job.shards.cutting import SHARDS_OF_A_WORKER
from trecjudge.job.shards.executing import MOST_TRIES, Workers
from trecjudge.job.shards.session import Watcher, setup_of, workers_of
from trecjudge.job.shards.share import DIVIDED, Share, ShareDone, ShareSetup, divided
from trecjudge.job.trial import MeasureTrial
from trecjudge.judging.bugs import Stop
from trecjudge.judging.panel import Panel, panel_programs
from trecjudge.judging.runner import Runner
from trecjudge.models.allowances import Spent, given_back, lent
from trecjudge.models.cache.carrying import carried_in, carried_out
from trecjudge.models.opening import Command
from trecjudge.models.shared_work import AskingModel, asked_by, learn_forms, take_over, with_earlier

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_TO_END = 60.0
"""How long workers that are told to end may take: they wait for replies on their way."""


async def ask_ahead(
    job: Job, panel: Panel, inputs: JobInputs, model: AskingModel, folder: Path, teller: Watcher
) -> None:
    """Have the workers of a job ask its model about all items, and keep the replies.

    Nothing is judged: the job does that afterwards, and asks for what is left. Raises a
    TrecJudgeError that none of the items would survive.
    """
    if not await _works(job, panel, inputs, model) or model.fault_policy.stopped:
        return  # the job itself finds that again, and says so
    with closing(workers_of(job, teller.notify)) as workers:
        whole = job.workflow.llm.get("in_flight", DIVIDED["in_flight"])
        count = max(1, min(workers.count, int(whole or 1)))
        setup = _setup_of(job, folder, inputs, model, count)
        await AskingAhead(workers, setup, model, teller, count).run()
    learn_forms(model, panel_programs(panel).values())


async def _works(job: Job, panel: Panel, inputs: JobInputs, model: AskingModel) -> bool:
    """Return whether one response can be judged and measured: all others cost far more.

    What the endpoint takes is learned by it, once for all workers.
    """
    stop = Stop()
    trial = MeasureTrial(job_spec(job, panel), stop, pays=True)
    async for judged in Runner(panel, model, stop).run(islice(inputs.responses(), 1)):
        trial.add(judged)
    return not stop.why


def _setup_of(
    job: Job, folder: Path, inputs: JobInputs, model: AskingModel, workers: int
) -> ShareSetup:
    setup = setup_of(job, folder, inputs)
    cache = (job.model.cache_folder or default_folder()).absolute()
    options = replace(
        job.model,
        command=Command(),
        cache_folder=cache,
        cache_from=[path.absolute() for path in job.model.cache_from],
    )
    setup = replace(setup, job=replace(divided(setup.job, workers), model=options))
    origins = tuple((o.endpoint, o.model) for o in model.replies.requests.origins)
    known = None
    if job.cluster:
        # The cache itself is a file for processes of one machine.
        known = folder / "known"
        carried_out(cache, known, origins[0][1])
    return ShareSetup(setup, origins, known)


@dataclass(slots=True)
class AskingAhead:
    """Shares that are given to workers, each with a part of what the budget has left."""

    workers: Workers
    setup: ShareSetup
    model: AskingModel
    teller: Watcher
    count: int
    _attempts: int = 0
    _left: deque[Share] = field(default_factory=deque)
    _under_way: dict[asyncio.Future[ShareDone], Share] = field(default_factory=dict)
    _tries: Counter[int] = field(default_factory=Counter)
    _told: dict[Path, int] = field(default_factory=dict)
    _error: BaseException | None = None

    async def run(self) -> None:
        """Return when all shares are done, or nothing more can be asked."""
        of = self.count * SHARDS_OF_A_WORKER
        before = asked_by(self.model)
        self._left.extend(Share(number, of, before=before) for number in range(of))
        try:
            while self._left or self._under_way:
                self._submit()
                if not self._under_way:
                    break
                await self._look(SECONDS_BETWEEN_LOOKS)
                if self._error is not None or self.model.fault_policy.stopped:
                    break
        finally:
            await self._end()
        if self._error is not None:
            raise self._error

    def _submit(self) -> None:
        """Give shares to workers that have none, while the budget has something left."""
        while self._left and len(self._under_way) < self.count:
            allowance = lent(self.model.spending.budget, len(self._left))
            if allowance is None:
                self._left.clear()  # the job itself asks as far as it can
                return
            self._attempts += 1
            share = self._left.popleft()
            share = replace(share, allowance=allowance, attempt=self._attempts)
            try:
                future = self.workers.submit(ask_share, self.setup, share)
            except BrokenExecutor:
                given_back(self.model.spending.budget, allowance, Spent())
                self._left.appendleft(share)
                if self._under_way:
                    return
                self.workers.renew()
                continue
            self._under_way[asyncio.wrap_future(future)] = share

    async def _look(self, seconds: float) -> None:
        """Wait for shares to be done, and take what they came to."""
        done, _ = await asyncio.wait(
            self._under_way, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        self.workers.look()
        self._tell()
        for future in done:
            await self._take(self._under_way.pop(future), future)

    async def _take(self, share: Share, future: asyncio.Future[ShareDone]) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, BrokenExecutor) or future.cancelled():
            self._died(share)
        elif isinstance(error, ModelError) and self.model.spending.kept:
            # The endpoint did answer before: what is judged is written.
            self.model.fault_policy.stopped = ("stopped", str(error))
        elif error is not None:
            self._error = self._error or error
        else:
            await self._took(share, future.result())

    async def _took(self, share: Share, done: ShareDone) -> None:
        asked = done.asked
        if asked is None:
            self._died(share)
            return
        given_back(self.model.spending.budget, share.allowance, asked.spent)
        take_over(self.model, asked)
        if self.setup.known is not None:
            cache = self.model.replies.cache.folder
            source = self.setup.replies(share)
            await asyncio.to_thread(carried_in, cache, source, self.teller.notify)
        if done.unpaid and asked.spent.calls:
            self._left.append(replace(share, before=with_earlier(asked, share.before)))

    def _died(self, share: Share) -> None:
        """Begin a share again; what its worker was allowed to spend counts as spent."""
        self._tries[share.number] += 1
        if self._tries[share.number] >= MOST_TRIES:
            self._error = self._error or OutputError(
                f"a worker died {MOST_TRIES} times; is there enough memory? Judge without"
                " --workers to see why; the replies so far are kept"
            )
        self.teller.notify("a worker died: its share is asked about again")
        self._left.append(share)

    def _tell(self) -> None:
        """Show what workers have to say."""
        for share in self._under_way.values():
            path = self.setup.notices(share)
            if not path.exists():
                continue
            with path.open("rb") as file:
                file.seek(self._told.get(path, 0))
                lines = file.read().rpartition(b"\n")[0].splitlines(keepends=True)
            self._told[path] = self._told.get(path, 0) + sum(map(len, lines))
            for line in lines:
                self.teller.notify(line.decode(errors="replace").rstrip("\n"))

    async def _end(self) -> None:
        """Tell workers to end, and take what those under way have paid for."""
        if not self._under_way:
            return
        self.setup.stop.touch()
        until = time.monotonic() + SECONDS_TO_END
        while self._under_way and time.monotonic() < until:
            await self._look(SECONDS_BETWEEN_LOOKS)

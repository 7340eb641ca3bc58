"""A model asked about one share of a job, in whichever process: only its replies are wanted."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from trecjudge.errors import ModelError, OutputError
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.job.shards.judging import worker_of
from trecjudge.job.shards.share import Share, ShareDone, ShareSetup, share_of
from trecjudge.judging.panel import panel_programs
from trecjudge.judging.runner import Runner
from trecjudge.models.cache.carrying import carried_out
from trecjudge.models.opening import Command, ModelOptions, open_model
from trecjudge.models.shared_work import Asked, AskingModel, asked_by
from trecjudge.settings.limits import limits_are

SECONDS_BETWEEN_LOOKS = 0.3
CACHE = "TRECJUDGE_CACHE"
_CARRIED: dict[Path, int] = {}
"""When this process last carried out the replies of a cache, in seconds since 1970."""


def ask_share(given: ShareSetup, share: Share) -> ShareDone:
    """Ask a model about the items of a share, within its allowance.

    Raises a TrecJudgeError for what the user can put right.
    """
    try:
        given.begun(share).touch(exist_ok=False)
    except (FileExistsError, FileNotFoundError):
        # Who began it is gone, and may have spent the allowance; or the job itself has ended.
        return ShareDone(share.number)
    setup = given.setup
    with limits_are(setup.limits), keyed(setup.record_keys):
        try:
            return asyncio.run(AskingShare(given, share).done())
        except ModelError as error:
            # Its environment may be another one: keys never come from the job.
            there = f"worker on {socket.gethostname()}: " if given.known else ""
            raise ModelError(f"{there}{error}") from error


@dataclass(slots=True)
class AskingShare:
    """A share that is asked about."""

    given: ShareSetup
    share: Share
    _unpaid: int = 0
    _asked: Asked | None = field(default=None)

    async def done(self) -> ShareDone:
        """Ask; return what it came to, also where the job is told to end."""
        options = self._options()
        await until_told(self.given.stop, self._ask(options))
        if self.given.known is not None and options.cache_folder is not None:
            self._carry_out(options.cache_folder)
        return ShareDone(self.share.number, self._unpaid, self._asked)

    def _options(self) -> ModelOptions:
        whole, known = self.given.setup.job.model, self.given.known
        before = self.share.before
        asked = set(before.marks if before and whole.refresh else ())
        command = Command(self.share.allowance.budget(), asked=asked, untold=True)
        if known is None:
            return replace(whole, command=command)
        own = own_cache(self.given.setup.job.outputs.folder / self.given.setup.job.outputs.name)
        return replace(
            whole, command=command, cache_folder=own, cache_from=[known, *whole.cache_from]
        )

    async def _ask(self, options: ModelOptions) -> None:
        worker = worker_of(self.given.setup)
        workflow, notify = worker.setup.job.workflow, _teller(self.given.notices(self.share))
        programs = panel_programs(worker.panel).values()
        opened = open_model(options, workflow.llm, workflow.prompts, programs, notify)
        asking: AskingModel | None = None
        try:
            async with opened as model:
                assert isinstance(model, AskingModel)
                asking = model
                self._check(model)
                if self.share.before is not None:
                    model.replies.given_up = self.share.before.failed
                runner = Runner(share_of(worker.judging, self.share), model)
                async for judged in runner.run(worker.inputs.responses()):
                    self._unpaid += sum(
                        j.failure is not None and j.failure.kind == "budget"
                        for j in judged.judgments
                    )
                    await asyncio.sleep(0)
        finally:
            if asking is not None:
                self._asked = asked_by(asking)

    def _check(self, model: AskingModel) -> None:
        """Raise ModelError where this process would ask another model than the job."""
        origins = tuple((o.endpoint, o.model) for o in model.replies.requests.origins)
        if origins != self.given.origins:
            here, there = (
                ", ".join(map(" ".join, found)) for found in (origins, self.given.origins)
            )
            raise ModelError(
                f"asks {here}, the job {there}: set OPENAI_BASE_URL and OPENAI_MODEL alike"
            )

    def _carry_out(self, folder: Path) -> None:
        """Write the replies that came since this process did so before; at first all."""
        began = int(time.time())
        model = self.given.origins[0][1]
        # A second more: times are whole seconds.
        carried_out(folder, self.given.replies(self.share), model, _CARRIED.get(folder, 1) - 1)
        _CARRIED[folder] = began


async def until_told(stop: Path, work: Coroutine[Any, Any, None]) -> None:
    """Do work, and cancel it when a file to stop is there or its folder is gone."""
    task = asyncio.create_task(work)
    while not task.done():
        await asyncio.wait([task], timeout=SECONDS_BETWEEN_LOOKS)
        if stop.exists() or not stop.parent.exists():
            task.cancel()
            await asyncio.wait([task])
            break
    if not task.cancelled():
        task.result()


def _teller(path: Path) -> Callable[[str], None]:
    def tell(message: str) -> None:
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{message}\n")
        except OSError:  # the job has ended: nobody reads it
            return

    return tell


def own_cache(of: Path) -> Path:
    """Return the folder of this machine's cache for a job: `TRECJUDGE_CACHE`, or a temporary one.

    A worker that follows a killed one finds its replies there. Raises OutputError where it is
    another user's.
    """
    if given := os.environ.get(CACHE):
        return Path(given)
    name = f"trecjudge-{os.getuid()}-{sha256(str(of).encode()).hexdigest()[:16]}"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise OutputError(f"{folder}: belongs to another user; set {CACHE} for the workers")
    return folder

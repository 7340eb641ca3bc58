"""The judging of a job by several workers: cut, judged, merged; the job does all else."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from trecjudge.errors import OutputError, PluginError, WorkflowError
from trecjudge.files import part_of
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.store import is_elsewhere
from trecjudge.inputs.labels import ItemKey
from trecjudge.inputs.pipelines.fields import record_keys
from trecjudge.inputs.runs import RunReader
from trecjudge.job.job import NO_MODEL, Job, JobInputs
from trecjudge.job.judges import header_of
from trecjudge.job.shards.cutting import all_placed, into_shards, unchanged
from trecjudge.job.shards.dask import DaskWorkers
from trecjudge.job.shards.executing import Execution, LocalWorkers, Workers
from trecjudge.job.shards.merging import Judged, append, merge_judgments, scored_by_shards
from trecjudge.job.shards.shard import ShardDone, ShardSetup, seen_by_all
from trecjudge.judging.judge import PreparingJudge
from trecjudge.judging.panel import Panel
from trecjudge.results.judgments import Header, JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import written
from trecjudge.scores.scoring import Scored, Scoring, scored
from trecjudge.settings.limits import limits


def workers_of(job: Job, notify: Callable[[str], None]) -> Workers:
    """Return the workers that a job asks for. Raises WorkflowError where a cluster has none.

    `notify` is told of those that this process waits for.
    """
    return DaskWorkers(job.cluster, notify) if job.cluster else LocalWorkers(job.workers, notify)


class Watcher(Protocol):
    """Is told how far the workers are."""

    def counted(self, responses: int, items: int) -> None:
        """So many more responses and items were judged."""

    def notify(self, message: str) -> None:
        """Show a message to the user."""


def check_in_parts(job: Job, panel: Panel) -> None:
    """Raise WorkflowError where a job cannot be judged in parts."""
    for named in panel:
        if isinstance(named.judge, PreparingJudge):
            raise WorkflowError(
                f"judge {named.name} is shown all responses before the first is judged: it cannot"
                " judge in parts; leave out --workers and --shard"
            )
    if job.workers_ask and job.workflow.llm.get("batch"):
        raise WorkflowError("llm.batch: one process sends a batch; leave out --workers")
    if job.workers_ask and job.workflow.voters:
        raise WorkflowError("voters: one process asks all their models; leave out --workers")
    if job.made:
        raise WorkflowError("judges given as objects cannot be sent to other processes")


@contextmanager
def parts_folder(outputs: Outputs) -> Iterator[Path]:
    """Yield a new folder for the parts of a job, beside its files; it is removed at the end."""
    # Named as partial files are, so that those of a killed job are found and removed.
    folder = part_of(outputs.folder.absolute() / outputs.name)
    try:
        folder.mkdir(0o700)
        yield folder
    except OSError as error:
        if error.filename is None or Path(error.filename) != folder:
            raise
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def setup_of(job: Job, folder: Path, inputs: JobInputs) -> ShardSetup:
    """Return what the shards of a job share; a model is none of it.

    Of a collection they look up what was found of it, and never go through it themselves.

    Raises WorkflowError where one of the run files can be read by this process only.
    """

    def there(paths: Sequence[Path]) -> list[Path]:
        return [path if is_elsewhere(path) else seen_by_all(path) for path in paths]

    runs = [opened.path for opened in inputs.files]
    for run in runs:
        if run.exists() and not run.is_file():
            raise WorkflowError(f"{run}: is a pipe, which workers cannot read: give it as a file")

    # A worker may have been started in another folder.
    single = ("topics", "qrels", "labels", "calibration", "human")
    paths: dict[str, Any] = {
        name: seen_by_all(path) for name in single if (path := getattr(job, name)) is not None
    }
    paths["documents"] = there(inputs.store.paths if inputs.store else ())
    paths["nuggets"] = there(job.nuggets)
    paths["runs"] = list(map(seen_by_all, runs))
    alone = replace(job, model=replace(NO_MODEL, cache_folder=job.model.cache_folder), **paths)
    return ShardSetup(secrets.token_hex(8), alone, folder, limits(), record_keys())


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a job that were judged apart, in the order of its responses.

    They lie in the folder of the setup, until that is removed.
    """

    setup: ShardSetup
    header: Header
    panel: Panel
    done: Sequence[ShardDone]

    def merge(self, outputs: Outputs, log: BinaryIO | None) -> None:
        """Write the judgments file, and add to the log. Raises PluginError for a failed measure."""
        with written(outputs.judgments) as file:
            files = zip(self._files("judgments"), self.done, strict=True)
            own = (Judged(path, p.responses, p.judgments, p.sha256) for path, p in files)
            merge_judgments(file, own)
        if log is not None:
            append(self._files("log"), log)
        if error := next((part.error for part in self.done if part.error), ""):
            kept = f"what was judged before is in {outputs.judgments}"
            raise PluginError(f"{error}; judging stopped: {kept}")

    def scored(
        self, outputs: Outputs, labels: Mapping[ItemKey, str] | None, report: OnFinding
    ) -> Scored:
        """Write the numbers of the whole, from those of the parts where they have them all."""
        if labels is None and Scoring(self.header, self.panel, outputs.judgments).in_parts:
            return scored_by_shards(self.header, self.panel, outputs, self.setup, self.done)
        reader = JudgmentsReader(outputs.judgments)
        return scored(reader, outputs, labels, report, self.panel)

    def _files(self, kind: str) -> list[Path]:
        return [self.setup.part(part.number, kind) for part in self.done]


def judged_in_parts(
    job: Job, panel: Panel, inputs: JobInputs, reader: RunReader, folder: Path, watcher: Watcher
) -> Parts:
    """Return the parts of a job, judged by its workers. Raises what a shard raises."""
    found: dict[int, ShardDone] = {}
    runs = [opened.path for opened in inputs.files]
    setup = setup_of(job, folder, inputs)
    with closing(workers_of(job, watcher.notify)) as workers, unchanged(runs):
        shards = into_shards(all_placed(inputs, reader), workers.count)
        for done in Execution(workers, setup, watcher.notify).run(shards):
            found[done.number] = done
            watcher.counted(done.responses, done.judgments)
    in_order = [found[number] for number in sorted(found)]
    return Parts(setup, header_of(job, panel, inputs), panel, in_order)

"""An experiment from its documents to the comparison: made, checked, judged, compared."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.baseline.generate.formats import carried
from trecjudge.baseline.index.opening import open_index
from trecjudge.check.checking import check
from trecjudge.check.outcome import CheckReport
from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import Comparison, compare
from trecjudge.evaluation.loading import scores_at
from trecjudge.files import whole
from trecjudge.findings import OnFinding
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.sources.containers import lines
from trecjudge.inputs.topics import read_topics
from trecjudge.job.choice import Choice, jobs_of
from trecjudge.job.experiment.making import Making, VariantRun, make_runs
from trecjudge.job.experiment.reading import Experiment
from trecjudge.job.job import Job
from trecjudge.job.judges import check_jobs
from trecjudge.job.pipeline import ProgressListener, plan_job, run_job
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Topic
from trecjudge.results.jobs import outcome
from trecjudge.results.outputs import Outputs
from trecjudge.scores.summary import INCOMPLETE, Summary

REFUSED = 1
"""The exit status where a track would refuse a run, as that of `check`."""


@dataclass(frozen=True, slots=True)
class Experimented:
    """The result of an experiment: runs in the order of the file, the job that judged them.

    `compared` is None where there are no two runs; `note` says why.
    """

    runs: Sequence[VariantRun]
    checked: CheckReport | None = None
    summary: Summary | None = None
    compared: Comparison | None = None
    note: str = ""

    @property
    def exit_status(self) -> int:
        """3 if a run or a judgment is missing, 4 if a gate rejects, 1 if a run is refused."""
        undone = 0 if all(run.is_whole for run in self.runs) else INCOMPLETE
        refused = REFUSED if any(run.standing == "refused" for run in self.runs) else 0
        return max(undone, refused, self.summary.exit_status if self.summary else 0)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "variants": [run.as_dict() for run in self.runs],
            "check": self.checked.as_dict() if self.checked else None,
            "job": self.summary.as_dict() if self.summary else None,
            "compared": self.compared.as_dict() if self.compared else None,
            "note": self.note,
            "exit_status": self.exit_status,
        }


@dataclass(frozen=True, slots=True)
class Request:
    """An experiment to be run: where its files go, which model may be asked, who is told."""

    experiment: Experiment
    outputs: Outputs
    options: ModelOptions
    report: OnFinding
    warn: Callable[[str], None]
    command_line: Sequence[str] = field(default_factory=tuple)

    @property
    def indexes(self) -> Path:
        """The folder of the indexes."""
        return self.outputs.folder / f"{self.outputs.name}.indexes"

    def topics(self) -> dict[str, Topic]:
        """Return the topics. Raises InputError."""
        return read_topics(self.experiment.topics, self.report)

    def made(self, folder: Path, topics: Sequence[Topic]) -> list[VariantRun]:
        """Return the runs, made with the indexes of a folder."""
        given = (self.experiment, self.outputs, folder, topics, self.options)
        return asyncio.run(make_runs(Making(*given, self.report, self.warn)))

    def job(self, runs: Sequence[Path], documents: Sequence[Path]) -> Job:
        """Return the job that judges runs, its judges and settings checked."""
        experiment = self.experiment
        template = Job(
            runs=runs,
            outputs=self.outputs,
            topics=experiment.topics,
            documents=documents,
            model=self.options,
            check=False,
            command_line=self.command_line,
        )
        (job,) = jobs_of(template, Choice(experiment.judges, workflow=experiment.workflow))
        check_jobs([job])
        return job


def run_experiment(asked: Request, listener: ProgressListener) -> Experimented:
    """Make, check, judge and compare all runs; return what was found, with all files in place.

    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """
    topics = asked.topics()
    asked.job([], asked.experiment.documents)  # its judges, before anything is spent
    runs = asked.made(asked.indexes, list(topics.values()))
    there = [run.path for run in runs if not run.failure]
    if not there:
        return Experimented(runs, note="no run could be made")
    checked = check(there, topics, track=asked.experiment.format.track_name)
    standings = {run.path: run.verdict for run in checked.runs}
    runs = [replace(run, standing=standings.get(str(run.path), "")) for run in runs]
    documents = asked.experiment.documents or [_cited(asked, there)]
    summary = run_job(asked.job(there, documents), listener)
    if len(there) < 2:
        return Experimented(runs, checked, summary, note="one run could be made: none to compare")
    compared, note = _compared(asked, runs, [run.run_id for run in summary.runs])
    return Experimented(runs, checked, summary, compared, note)


def plan_experiment(asked: Request, listener: ProgressListener) -> Iterator[dict[str, Any]]:
    """Yield what each run would ask of the model and, where all are there, what judging would.

    Nothing is asked, and nothing is written that stays.
    """
    topics = list(asked.topics().values())
    job = asked.job([], asked.experiment.documents)
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        runs = asked.made(Path(folder), topics)
    yield from ({"name": run.variant} | dict(run.spent) for run in runs if run.spent)
    there = [run.path for run in runs if run.path.exists()]
    if asked.experiment.documents and len(there) == len(runs):
        judging = replace(job, runs=there)
        yield {"name": asked.outputs.name} | plan_job(judging, listener)


def _compared(
    asked: Request, runs: Sequence[VariantRun], judged: Sequence[str]
) -> tuple[Comparison | None, str]:
    """Return the other runs compared with the first one that was judged, and why there are none."""
    first = next((run.variant for run in runs if run.variant in judged), "")
    found = outcome(asked.outputs.folder / asked.outputs.name)
    try:
        table = scores_at(found, asked.report)
        return compare([table], [found], asked.report, against=first), ""
    except InputError as error:
        return None, str(error)


def _cited(asked: Request, runs: Sequence[Path]) -> Path:
    """Write the documents of the index that the runs cite to a file, for the judges; return it."""
    path = asked.outputs.folder / f"{asked.outputs.name}.documents.jsonl"
    cited = (line for run in runs for _, line in lines(provenance_path(run)))
    ids = {orjson.loads(line)["doc_id"] for line in cited}
    with closing(open_index(asked.experiment.index)) as index, whole(path) as file:
        for doc_id in sorted(ids):
            if (chunk := index.document(doc_id)) is not None:
                file.write(orjson.dumps(carried(chunk), option=orjson.OPT_APPEND_NEWLINE))
    return path

"""An experiment from its documents to the comparison: made, checked, judged, compared."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.baseline.generate.formats import document_record
from trecjudge.baseline.generate.runs import RunRequest
from trecjudge.baseline.index.index import build_index, open_index
from trecjudge.baseline.index.sources import DuplicateFilter, at_least_one, sources_in
from trecjudge.baseline.retrieve.ranking import threshold_path
from trecjudge.check.checker import check_files
from trecjudge.check.outcome import CheckReport
from trecjudge.errors import InputError, JudgmentFailed, ModelError
from trecjudge.evaluation.comparing import Comparison, compare, scores_at
from trecjudge.files import read_text, whole
from trecjudge.findings import OnFinding, brief
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.inputs.sources.containers import lines
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.inputs.topics import read_topics
from trecjudge.job.experiment.reading import Experiment, Variant
from trecjudge.job.generating import make_run
from trecjudge.job.judges import check_jobs
from trecjudge.job.request import Job, JudgeSelection, Notify, build_jobs
from trecjudge.job.run import ProgressListener, plan_job, run_job
from trecjudge.job.session import run_session
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Topic
from trecjudge.results.jobs import outcome
from trecjudge.results.outputs import Outputs
from trecjudge.scores.summary import INCOMPLETE, Summary
from trecjudge.version import __version__

REFUSED = 1
"""The exit status where a track would refuse a run, as that of `check`."""


@dataclass(frozen=True, slots=True)
class VariantRun:
    """The run of a variant; `counts` are those of `RunCounts`, `failure` is why there is none.

    `reused` is whether it was there already, from the same inputs. `standing` is what the check by
    the track's rules says.
    """

    variant: str
    path: Path
    counts: Mapping[str, Any] = field(default_factory=dict)
    reused: bool = False
    spent: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    standing: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every topic has been answered, or an abstention."""
        return not self.failure and not self.counts.get("failed")

    def as_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        own = {"variant": self.variant, "run": str(self.path), "check": self.standing}
        made = {"reused": self.reused, "failure": self.failure, "calls": dict(self.spent)}
        return own | made | dict(self.counts)


@dataclass(frozen=True, slots=True)
class ExperimentReport:
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
class ExperimentJob:
    """An experiment to be run: where its files go, which model may be asked, who is told."""

    experiment: Experiment
    outputs: Outputs
    options: ModelOptions
    report: OnFinding
    warn: Notify
    command_line: Sequence[str] = ()

    def topics(self) -> dict[str, Topic]:
        """Return the topics. Raises InputError."""
        return read_topics(self.experiment.topics, self.report)

    def judging_job(self, runs: Sequence[Path], documents: Sequence[Path]) -> Job:
        """Return the job that judges runs, its judges and settings checked."""
        experiment = self.experiment
        template = Job(
            runs=runs,
            outputs=self.outputs,
            topics=experiment.topics,
            documents=documents,
            qrels=experiment.qrels,
            model=self.options,
            check=False,
            command_line=self.command_line,
        )
        (job,) = build_jobs(
            template, JudgeSelection(experiment.judges, workflow=experiment.workflow)
        )
        check_jobs([job])
        return job

    def job_of(self, variant: Variant) -> Job:
        """Return the job in which the run of a variant is made; all share one budget."""
        workflow, options = self.experiment.workflow, self.options
        return Job(
            runs=(),
            outputs=self.outputs,
            workflow=replace(
                workflow,
                llm=workflow.llm | variant.llm,
                prompts=workflow.prompts | variant.prompts,
            ),
            model=replace(options, use=False) if variant.extractive else options,
        )

    def path_of(self, name: str) -> Path:
        """Return the file of a run."""
        runs = self.outputs.folder / f"{self.outputs.name}.runs"
        return runs / f"{self.experiment.files[name]}.jsonl"

    def request_of(self, name: str, variant: Variant, index: str) -> RunRequest:
        """Return the run of a variant as it is to be made."""
        workflow = self.experiment.workflow
        return RunRequest(
            index,
            self.path_of(name),
            name,
            self.experiment.format,
            self.experiment.team_id,
            replace(variant.retrieving, embeddings=workflow.embeddings, reranking=workflow.rerank),
            variant.generating,
        )


def run_experiment(asked: ExperimentJob, listener: ProgressListener) -> ExperimentReport:
    """Make, check, judge and compare all runs; return what was found, with all files in place.

    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """
    topics = asked.topics()
    # Its judges are checked before anything is spent.
    job = asked.judging_job([], asked.experiment.documents)
    indexes = asked.outputs.folder / f"{asked.outputs.name}.indexes"
    runs = run_session(job, make_runs(asked, indexes, list(topics.values())))
    there = [run.path for run in runs if not run.failure]
    if not there:
        return ExperimentReport(runs, note="no run could be made")
    checked = check_files(there, topics, track=asked.experiment.format.track_name)
    standings = {run.path: run.verdict for run in checked.runs}
    runs = [replace(run, standing=standings.get(str(run.path), "")) for run in runs]
    documents = asked.experiment.documents or [_write_cited(asked, there)]
    summary = run_job(asked.judging_job(there, documents), listener)
    if len(there) < 2:
        return ExperimentReport(
            runs, checked, summary, note="one run could be made: none to compare"
        )
    compared, note = _compare_with_first(asked, runs, [run.run_id for run in summary.runs])
    return ExperimentReport(runs, checked, summary, compared, note)


def plan_experiment(asked: ExperimentJob, listener: ProgressListener) -> Iterator[dict[str, Any]]:
    """Yield what each run would ask of the model and, where all are there, what judging would.

    Nothing is asked, and nothing is written that stays.
    """
    topics = list(asked.topics().values())
    job = asked.judging_job([], asked.experiment.documents)
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        runs = run_session(job, make_runs(asked, Path(folder), topics))
    yield from ({"name": run.variant} | dict(run.spent) for run in runs if run.spent)
    there = [run.path for run in runs if run.path.exists()]
    if asked.experiment.documents and len(there) == len(runs):
        judging = replace(job, runs=there)
        yield {"name": asked.outputs.name} | plan_job(judging, listener)


def _compare_with_first(
    asked: ExperimentJob, runs: Sequence[VariantRun], judged: Sequence[str]
) -> tuple[Comparison | None, str]:
    """Return the other runs compared with the first one that was judged, and why there are none."""
    first = next((run.variant for run in runs if run.variant in judged), "")
    found = outcome(asked.outputs.folder / asked.outputs.name)
    try:
        table = scores_at(found, asked.report)
        return compare([table], [found], asked.report, against=first), ""
    except InputError as error:
        return None, str(error)


def _write_cited(asked: ExperimentJob, runs: Sequence[Path]) -> Path:
    path = asked.outputs.folder / f"{asked.outputs.name}.documents.jsonl"
    cited = (line for run in runs for _, line in lines(provenance_path(run)))
    ids = {orjson.loads(line)["doc_id"] for line in cited}
    with closing(open_index(asked.experiment.index)) as index, whole(path) as file:
        for doc_id in sorted(ids):
            if (chunk := index.document(doc_id)) is not None:
                file.write(orjson.dumps(document_record(chunk), option=orjson.OPT_APPEND_NEWLINE))
    return path


async def make_runs(
    making: ExperimentJob, folder: Path, topics: Sequence[Topic]
) -> list[VariantRun]:
    """Return the runs of all variants; one that fails does not keep the others from being made.

    Indexes are written to `folder`; with a plan nothing else is. Raises InputError, OutputError.
    """
    indexes: dict[str, str] = {}
    runs = []
    for name, variant in making.experiment.variants.items():
        try:
            index = await _make_index(making, folder, variant, indexes)
            runs.append(await _make_run(making, topics, name, variant, index))
        except (ModelError, JudgmentFailed) as error:
            runs.append(VariantRun(name, making.path_of(name), failure=str(error)))
        except InputError as error:
            raise InputError(f"variant {brief(name)}: {error}") from error
    return runs


async def _make_index(
    making: ExperimentJob, folder: Path, variant: Variant, made: dict[str, str]
) -> str:
    """Return the index of a variant, which holds the documents as they are now."""
    experiment, name = making.experiment, variant.index_name
    if experiment.index:
        return experiment.index
    if name not in made:
        folder.mkdir(parents=True, exist_ok=True)
        where = str(folder / f"{name}.index")
        found = DuplicateFilter(making.report).of(sources_in(experiment.documents, making.report))
        sources = at_least_one(found, experiment.documents)
        embeddings = experiment.workflow.embeddings
        chosen = (variant.vectors, making.options, embeddings, making.warn)
        await build_index(where, variant.chunking, sources, *chosen)
        made[name] = where
    return made[name]


async def _make_run(
    making: ExperimentJob, topics: Sequence[Topic], name: str, variant: Variant, index: str
) -> VariantRun:
    """Return the run of a variant: the one that is there if it is of the same inputs, else anew."""
    job, path = making.job_of(variant), making.path_of(name)
    inputs = _fingerprint(making, name, variant, index)
    # What a model says is in its cache: such a run is written again, and costs nothing.
    if not job.model.use and (known := _counts_of_known(path, inputs)) is not None:
        return VariantRun(name, path, known, reused=True)
    if not job.model.plan:
        path.parent.mkdir(parents=True, exist_ok=True)
        _record_path(path).unlink(missing_ok=True)
    elif not job.model.use:
        return VariantRun(name, path)
    wanted = making.request_of(name, variant, index)
    report, warn = making.report, _prefix_messages(making.warn, name)
    made, spent = await make_run(job, wanted, topics, report, warn)
    counts = made.as_dict() if made is not None else {}
    if made is not None and not made.failed:
        record = {"inputs": inputs, "files": _digests(path), "counts": counts}
        with whole(_record_path(path)) as file:
            file.write(orjson.dumps(record))
    return VariantRun(name, path, counts, spent=spent)


def _prefix_messages(warn: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda message: warn(f"{brief(name)}: {message}")


def _record_path(path: Path) -> Path:
    return path.with_suffix(".made.json")


def _counts_of_known(path: Path, inputs: str) -> Mapping[str, Any] | None:
    """Return the counts of a run that is there, unchanged and of these inputs; else None."""
    try:
        record = orjson.loads(read_text(_record_path(path), 1 << 20))
        same = record["inputs"] == inputs and record["files"] == _digests(path)
        counts: Mapping[str, Any] = record["counts"]
        return counts if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digests(path: Path) -> list[str]:
    beside = provenance_path(path), retrieved_path(path)
    return [Checksums().of(one) for one in (path, *beside)]


def _fingerprint(making: ExperimentJob, name: str, variant: Variant, index: str) -> str:
    experiment = making.experiment
    held = open_index(index)
    try:
        version = held.facts.version
    finally:
        held.close()
    line = None if index_address(index) else threshold_path(index)
    settings = {
        "trecjudge": __version__,
        "index": version,
        "threshold": Checksums().of(line) if line is not None and line.exists() else "",
        "topics": Checksums().of(experiment.topics),
        "run": [name, experiment.format.track_name, experiment.team_id],
        "variant": variant.as_dict(),
    }
    written = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).hexdigest()

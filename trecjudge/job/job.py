"""A job: judges with one set of settings on one input, and the inputs they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.files import default_folder
from trecjudge.findings import Finding, OnFinding, counted, unreported
from trecjudge.inputs.collections.wanted import AskedStore, Wanted
from trecjudge.inputs.documents.overlap import Overlap
from trecjudge.inputs.documents.store import DocumentStore, DocumentStores, is_elsewhere
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.reading import read_banks, report_unmatched
from trecjudge.inputs.run_records import KeptRecords, ReadRecords, RunRecord, RunRecords
from trecjudge.inputs.runs import (
    Observe,
    RunReader,
    Taken,
    find_runs,
    open_runs,
    unobserved,
    untaken,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.topics import read_topics
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.interrupts import INTERRUPTS
from trecjudge.job.workflow import Workflow
from trecjudge.judging.judge import AllResponses, Judge
from trecjudge.models.documents.opening import (
    OnWanted,
    Use,
    collections_of,
    open_documents,
    some_kept,
    source_name,
)
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Place, Response, Topic
from trecjudge.results.log import LogKind
from trecjudge.results.outputs import Outputs
from trecjudge.results.trec import read_grades

NO_MODEL = ModelOptions()
Notify = Callable[[str], None]


def unsaid(message: str) -> None:
    """Ignore a message: the default of `notify`."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request to judge runs. `settings` are those of the judges, all overrides applied.

    `chosen` says which variant or point of a sweep it is, `idle` what only a model would use.
    `made` are judges that exist as objects already, by name. `topics` None takes the topics that
    the runs answer. `workers` is how many processes judge, or `cluster` the address of a scheduler.
    `shard` is which part of the responses is judged: (number from 1, of how many).
    """

    runs: Sequence[Path]
    outputs: Outputs
    judges: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    workflow: Workflow = field(default_factory=Workflow)
    chosen: Mapping[str, str] = field(default_factory=dict)
    idle: Sequence[str] = ()
    made: Mapping[str, Judge] = field(default_factory=dict)
    topics: Path | None = None
    documents: Sequence[Path] = ()
    own_documents: bool = False
    qrels: Path | None = None
    nuggets: Sequence[Path] = ()
    dataset: str = "auto"
    model: ModelOptions = NO_MODEL
    max_topics: int | None = None
    max_runs: int | None = None
    only_topics: Sequence[str] = ()
    only_runs: Sequence[str] = ()
    log: LogKind = "full"
    document_text: bool = True
    qrels_pool: bool = False
    check: bool = True
    strict: bool = False
    labels: Path | None = None
    calibration: Path | None = None
    human: Path | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    cluster: str = ""
    shard: tuple[int, int] | None = None
    command_line: Sequence[str] = ()

    @property
    def debug_log(self) -> bool:
        """Whether it writes a log."""
        return self.log != "none"

    @property
    def filters(self) -> dict[str, Any]:
        """Which runs and topics are judged, where these are not all."""
        topics, runs = sorted(self.only_topics), sorted(self.only_runs)
        given = {"topics": topics, "runs": runs, "max_topics": self.max_topics}
        given |= {"max_runs": self.max_runs}
        return {name: value for name, value in given.items() if value}

    @property
    def in_parts(self) -> bool:
        """Whether several workers judge it."""
        return self.workers > 1 or bool(self.cluster)

    @property
    def workers_ask(self) -> bool:
        """Whether several workers ask a model before all is judged from the cache."""
        return self.in_parts and self.model.asks and self.labels is None


@dataclass(frozen=True, slots=True)
class JobInputs:
    """The inputs of a job: all topics of the file and the wanted ones, documents, run files."""

    job: Job
    all_topics: dict[str, Topic] | None
    topics: dict[str, Topic] | None
    store: DocumentStores | None
    records: KeptRecords
    files: list[Opened]
    qrels: Mapping[str, Mapping[str, int]] | None = None
    banks: Mapping[str, Bank] | None = None

    @classmethod
    def read(cls, job: Job, on_finding: OnFinding, notify: Notify = unsaid) -> JobInputs:
        """Read topics and documents and find the runs. Raises InputError.

        `notify` is called with messages while a service of documents is waited for.
        """
        every = read_topics(job.topics, on_finding) if job.topics else None
        qrels = read_grades(job.qrels, on_finding) if job.qrels else None
        wanted = _wanted(every, job)
        if qrels and wanted and qrels.keys().isdisjoint(wanted):
            there = f"{next(iter(qrels))!r}, not {next(iter(wanted))!r}"
            raise InputError(f"{job.qrels}: grades no topic that is judged (such as {there})")
        banks = read_banks(job.nuggets, on_finding) if job.nuggets else None
        if banks and not any(bank.nuggets for bank in banks.values()):
            named = ", ".join(map(str, job.nuggets))
            raise InputError(f"{named}: no nugget in {counted(len(banks), 'bank')}")
        if banks and every and wanted:
            report_unmatched(banks, every, wanted, on_finding)
        files = open_runs(find_runs(job.runs, on_finding), on_finding, _beside(job))
        inputs = cls(job, every, wanted, None, _kept_records(job, files), files, qrels, banks)
        if not job.documents:
            return inputs
        try:
            # It may take long, and what was found is kept: the first interrupt ends it.
            with INTERRUPTS.ending():
                store = _documents(job, inputs.wanted_documents, on_finding, notify)
        except BaseException:
            inputs.close()
            raise
        return replace(inputs, store=store, records=_kept_records(job, files, store))

    def wanted_documents(self) -> Wanted:
        """Return the documents that the responses ask for which will be judged."""

        every = Wanted()

        def observe(_: RunRecord, response: Response | None) -> None:
            if response is not None:
                every.add(response)

        def read(store: AskedStore) -> RunReader:
            every.possible = store.ids
            records = _run_records(self.job, self.files, store)
            return self._reader(unreported, untaken, observe, records.read)

        wanted = Wanted.of(read)
        wanted.beside = {i: None for i in every.named if i not in wanted.named}
        return wanted

    def close(self) -> None:
        """Close the run files that are open; they can still be read."""
        for opened in self.files:
            opened.close()

    def reader(
        self, on_finding: OnFinding, taken: Taken, observe: Observe = unobserved
    ) -> RunReader:
        """Return the reader that the job judges by: the last one, since it frees what was kept."""
        flag = self.job.model.use
        return self._reader(on_finding, taken, observe, self.records.read_last, flag)

    def run_records(self) -> RunRecords:
        """Return a new reader of the runs' records, for those who read some of them again."""
        return _run_records(self.job, self.files, self.store)

    def reader_of(self, records: ReadRecords) -> RunReader:
        """Return a reader of the responses that some records hold; it reports nothing."""
        return self._reader(unreported, untaken, unobserved, records)

    def responses(self) -> Iterator[tuple[Topic, Response]]:
        """Yield all responses that will be judged; findings on them come when they are judged."""
        return iter(self._reader(unreported, untaken, unobserved, self.records.read))

    def all_responses(self, model: Model, notify: Notify) -> AllResponses:
        """Return them for judges that look at all before the first is judged."""
        outputs = self.job.outputs
        beside = outputs.folder / outputs.name
        return AllResponses(self.responses, self.topics, model, beside, notify)

    def _reader(
        self,
        on_finding: OnFinding,
        taken: Taken,
        observe: Observe,
        records: ReadRecords,
        flag_hostile: bool = False,
    ) -> RunReader:
        return RunReader(
            self.files,
            on_finding,
            topics=self.topics,
            known=self.all_topics or {},
            store=self.store,
            qrels=self.qrels,
            banks=self.banks,
            flag_hostile=flag_hostile,
            max_runs=self.job.max_runs,
            only_runs=self.job.only_runs,
            only_topics=self.job.only_topics,
            max_topics=self.job.max_topics,
            records=records,
            taken=taken,
            observe=observe,
        )

    def check_documents(self, on_finding: OnFinding) -> None:
        """Check that the runs cite documents of `--documents`, before anything is judged.

        Runs are read until enough cited documents are found. Where only few are, that is a finding.
        Raises InputError where none is in `--documents` or carried by the runs.
        """
        if self.store is None:
            return
        # The usual mistake is the collection of another year: found before anything is paid for.
        overlap = Overlap()
        for _, response in self.responses():
            overlap.add(response, self.store)
            if overlap.citations and not overlap.is_few(overlap.stored):
                return
        paths = ", ".join(map(source_name, self.job.documents))
        message = f"{paths}: {overlap.figures(overlap.stored, self.store)}"
        if not overlap.citations:
            return
        # A lost record may hold one cited document, not more: only the rest proves a mismatch.
        if not overlap.there and len(overlap.distinct) > self.store.lost:
            raise InputError(f"{message}: give the collection of these runs")
        if overlap.there > overlap.stored:
            message += "; what the runs carry themselves is judged"
        on_finding(Finding("documents_elsewhere", Place("--documents"), message))

    @property
    def paths(self) -> list[Path]:
        """Every input file, the workflow included."""
        job = self.job
        beside = (job.topics, job.workflow.path, job.labels, job.human, job.qrels)
        given = [path for path in beside if path is not None]
        documents = self.store.files if self.store else ()
        if rules := audit_rules(job.workflow):
            given.append(Path(rules.labels))
        found = [file for path in (*given, *job.nuggets) for file in files_below(path)]
        return [*found, *documents, *(opened.path for opened in self.files)]

    @property
    def collections(self) -> dict[str, dict[str, Any]]:
        """What was found in collections and services, which have no digest of their files."""
        return collections_of(self.job.documents, self.store) if self.store else {}

    @property
    def to_fetch(self) -> int:
        """How many documents services would be asked for."""
        return self.store.to_fetch if self.store else 0

    def nothing_to_judge(self, reader: RunReader) -> str:
        """Return an error message: why `reader` gave no response to judge, and what to do."""
        unknown_topics, seen = reader.unknown_topics, reader.seen
        if unknown_topics and self.topics:
            return (
                f"none of {unknown_topics} responses answers a topic of {self.job.topics}"
                f" (such as {next(iter(self.topics))!r}); give the topic file of these runs,"
                " no --rag-topics to take the topics from the runs, or --keys topic=id where"
                " `id` of their records is the topic's"
            )
        if seen and self.job.only_runs and seen.isdisjoint(self.job.only_runs):
            return unknown("run", ", ".join(self.job.only_runs), seen)
        if self.job.only_topics and reader.seen_topics:
            return unknown("topic", ", ".join(self.job.only_topics), reader.seen_topics)
        paths = ", ".join(map(str, self.job.runs))
        return f"{paths}: no response could be read; `run_judge.py formats` lists what can"


def _kept_records(job: Job, files: list[Opened], store: DocumentStore | None = None) -> KeptRecords:
    return KeptRecords(_run_records(job, files, store))


def _run_records(job: Job, files: list[Opened], store: DocumentStore | None) -> RunRecords:
    return RunRecords(
        files,
        store,
        own_documents=job.own_documents,
        dataset=job.dataset,
        flag_instructions=job.model.use,
    )


def _wanted(topics: dict[str, Topic] | None, job: Job) -> dict[str, Topic] | None:
    """Return the topics that are asked for. Raises InputError for one that is not there."""
    if topics is None:
        return None
    for topic_id in job.only_topics:
        if topic_id not in topics:
            raise InputError(unknown("topic", topic_id, topics))
    # In the order of the topic file, whatever the order of the flags.
    chosen = {
        t: topic for t, topic in topics.items() if not job.only_topics or t in job.only_topics
    }
    return dict(islice(chosen.items(), job.max_topics))


def _beside(job: Job) -> dict[str, list[Path]]:
    """Return the files that are given as something else than runs, by what they are given as.

    A folder of documents that also holds the runs is left out: its files may be runs.
    """
    runs = [path.resolve() for path in job.runs]
    documents = (
        path
        for path in job.documents
        if not is_elsewhere(path) and not any(run.is_relative_to(path.resolve()) for run in runs)
    )
    return {
        "topics": [job.topics] if job.topics else [],
        "documents": [file for path in documents for file in files_below(path)],
        "qrels": [job.qrels] if job.qrels else [],
        "nuggets": [file for path in job.nuggets for file in files_below(path)],
        "labels": [f for path in (job.labels, job.human) if path for f in files_below(path)],
    }


def _documents(job: Job, wanted: OnWanted, on_finding: OnFinding, notify: Notify) -> DocumentStores:
    """Open the documents given beside the runs; what is found of many lies beside the cache."""
    folder, model = job.model.cache_folder or default_folder(), job.model
    # Of the jobs of one command the first one asks again.
    refresh = model.refresh and not model.command.fetched
    use = Use(model.offline, refresh, model.plan, notify)
    opened = open_documents(job.documents, folder, on_finding, wanted, use)
    model.command.fetched = True
    return opened


def left_by(job: Job) -> Iterator[str]:
    """Yield what a job that was interrupted keeps, and what is lost."""
    part = job.outputs.log.with_name(f"{job.outputs.log.name}.part")
    log = [f"the log so far, {part}"] if part.exists() else []
    spent = job.model.command.spent
    kept, lost = sum(one.kept for one in spent), sum(one.lost for one in spent)
    folder = job.model.cache_folder or default_folder()
    if found := some_kept(job.documents, folder):
        log.insert(0, f"the documents found so far of {', '.join(found)}, in {folder}")
    if job.model.asks:
        yield f"kept: {'; '.join([f'{kept} replies of the model, in {folder}', *log])}"
        yield f"lost: {lost} requests that were on their way; they are asked again"
    else:
        yield f"kept: {'; '.join(log) or 'nothing'}"
        yield "lost: what this job judged so far; no model was asked, so it costs time only"

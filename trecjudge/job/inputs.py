"""The inputs of a job: read once, and checked before anything is judged or paid for."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.check.checker import Checker, check_files
from trecjudge.check.outcome import Violation
from trecjudge.errors import InputError, unknown
from trecjudge.files import default_folder, resolve_links
from trecjudge.findings import (
    KINDS,
    RULE,
    Finding,
    FindingLog,
    OnFinding,
    brief,
    ignore,
    plural,
)
from trecjudge.inputs.collections.schemes.registry import usual_scheme
from trecjudge.inputs.collections.wanted import AskedStore, WantedDocuments
from trecjudge.inputs.documents.shelf import Overlap
from trecjudge.inputs.documents.store import DocumentStore, DocumentStores, is_elsewhere
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.run_records import KeptRecords, ReadRecords, RunRecord, RunRecords
from trecjudge.inputs.runs import (
    OnFormat,
    RunReader,
    find_runs,
    ignore_format,
    open_runs,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.topics import read_topics
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.process import INTERRUPTS
from trecjudge.job.request import Job, Notify
from trecjudge.judging.judge import NEEDS, AllResponses, FittingJudge, Need, needs_of
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.models.documents.opening import (
    OnWanted,
    ServiceUse,
    collections_of,
    open_documents,
    source_name,
)
from trecjudge.models.model import Model
from trecjudge.records import Place, Response, Topic
from trecjudge.results.trec import read_grades
from trecjudge.text.visible import is_blank


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
    def read(
        cls,
        job: Job,
        on_finding: OnFinding,
        notify: Notify = ignore,
        more: Iterable[str] = (),
    ) -> JobInputs:
        """Read topics and documents and find the runs, where any are given. Raises InputError.

        `notify` is called with messages while a service of documents is waited for. `more` are ids
        of documents that are wanted beside those that runs cite.
        """
        every = read_topics(job.topics, on_finding) if job.topics else None
        qrels = read_grades(job.qrels, on_finding) if job.qrels else None
        wanted = None if every is None else select_topics(every, job)
        if qrels and wanted and qrels.keys().isdisjoint(wanted):
            there = f"{next(iter(qrels))!r}, not {next(iter(wanted))!r}"
            raise InputError(f"{job.qrels}: grades no topic that is judged (such as {there})")
        banks = _banks(job, every, wanted, on_finding) if job.nuggets else None
        files: list[Opened] = []
        if job.runs:
            beside = _files_given_otherwise(job)
            files = open_runs(find_runs(job.runs, on_finding), on_finding, beside)
        records = KeptRecords(_run_records(job, files, None))
        inputs = cls(job, every, wanted, None, records, files, qrels, banks)
        if not job.documents:
            return inputs

        def find_wanted() -> WantedDocuments:
            found = inputs.wanted_documents()
            found.add_ids(more)
            return found

        try:
            # It may take long, and what was found is kept: the first interrupt ends it.
            with INTERRUPTS.ending():
                store = _open_job_documents(job, find_wanted, on_finding, notify)
        except BaseException:
            inputs.close()
            raise
        return replace(inputs, store=store, records=KeptRecords(_run_records(job, files, store)))

    def wanted_documents(self) -> WantedDocuments:
        """Return the documents that the responses ask for which will be judged."""

        every = WantedDocuments()

        def observe(_: RunRecord, response: Response | None) -> None:
            if response is not None:
                every.add(response)

        def read(store: AskedStore) -> RunReader:
            every.possible = store.ids
            reader = self.reader_of(_run_records(self.job, self.files, store).read)
            reader.observe = observe
            return reader

        wanted = WantedDocuments.of(read)
        wanted.beside = {i: None for i in every.named if i not in wanted.named}
        return wanted

    def close(self) -> None:
        """Close the run files that are open; they can still be read."""
        for opened in self.files:
            opened.close()

    def reader(self, on_finding: OnFinding, taken: OnFormat = ignore_format) -> RunReader:
        """Return the reader that the job judges by: the last one, since it frees what was kept."""
        reader = self.reader_of(self.records.read_last)
        reader.report, reader.taken = on_finding, taken
        reader.flag_hostile = self.job.model.use
        return reader

    def run_records(self) -> RunRecords:
        """Return a new reader of the runs' records, for those who read some of them again."""
        return _run_records(self.job, self.files, self.store)

    def reader_of(self, records: ReadRecords) -> RunReader:
        """Return a reader of the responses that some records hold; it reports nothing."""
        return RunReader(
            self.files,
            ignore,
            topics=self.topics,
            known=self.all_topics or {},
            store=self.store,
            qrels=self.qrels,
            banks=self.banks,
            max_runs=self.job.max_runs,
            only_runs=self.job.only_runs,
            only_topics=self.job.only_topics,
            max_topics=self.job.max_topics,
            records=records,
        )

    def responses(self) -> Iterator[tuple[Topic, Response]]:
        """Yield all responses that will be judged; findings on them come when they are judged."""
        return iter(self.reader_of(self.records.read))

    def all_responses(self, model: Model, notify: Notify) -> AllResponses:
        """Return them for judges that look at all before the first is judged."""
        outputs = self.job.outputs
        beside = outputs.folder / outputs.name
        return AllResponses(self.responses, self.topics, model, beside, notify)

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
        return f"{paths}: no response could be read; `run_judge.py job formats` lists what can"


def read_responses(job: Job, report: OnFinding) -> Iterator[tuple[Topic, Response]]:
    """Return the responses of a job's runs, to be read once, and to the end; nothing is judged.

    Raises InputError for inputs that cannot be used, before the first response is asked for.
    """
    check_dataset(job.dataset)
    if not job.runs:
        raise InputError("runs: there are none; give JSONL files, one a system")
    inputs = JobInputs.read(job, report)

    def responses() -> Iterator[tuple[Topic, Response]]:
        with closing(inputs):
            yield from inputs.reader(report)

    return responses()


def _run_records(job: Job, files: list[Opened], store: DocumentStore | None) -> RunRecords:
    return RunRecords(
        files,
        store,
        own_documents=job.own_documents,
        dataset=job.dataset,
        flag_instructions=job.model.use,
    )


def _banks(
    job: Job,
    every: Mapping[str, Topic] | None,
    wanted: Mapping[str, Topic] | None,
    report: OnFinding,
) -> Mapping[str, Bank]:
    """Return the banks of nuggets. Raises InputError where none of them has a nugget."""
    # Imported late: few jobs have any.
    from trecjudge.inputs.nuggets.bank_files import read_banks, report_unmatched

    banks = read_banks(job.nuggets, report)
    if banks and not any(bank.nuggets for bank in banks.values()):
        named = ", ".join(map(str, job.nuggets))
        raise InputError(f"{named}: no nugget in {plural(len(banks), 'bank')}")
    if banks and every and wanted:
        report_unmatched(banks, every, wanted, report)
    return banks


def select_topics(topics: Mapping[str, Topic], job: Job) -> dict[str, Topic]:
    """Return those of a file's topics that a job asks for. Raises InputError for another one."""
    for topic_id in job.only_topics:
        if topic_id not in topics:
            raise InputError(unknown("topic", topic_id, topics))
    # In the order of the topic file, whatever the order of the flags.
    chosen = {
        t: topic for t, topic in topics.items() if not job.only_topics or t in job.only_topics
    }
    return dict(islice(chosen.items(), job.max_topics))


def _files_given_otherwise(job: Job) -> dict[str, list[Path]]:
    """Return the files that are given as something else than runs, by what they are given as.

    A folder of documents that also holds the runs is left out: its files may be runs.
    """
    runs = [resolve_links(path) for path in job.runs]
    documents = (
        path
        for path in job.documents
        if not is_elsewhere(path)
        and not any(run.is_relative_to(resolve_links(path)) for run in runs)
    )
    return {
        "topics": [job.topics] if job.topics else [],
        "documents": [file for path in documents for file in files_below(path)],
        "qrels": [job.qrels] if job.qrels else [],
        "nuggets": [file for path in job.nuggets for file in files_below(path)],
        "labels": [f for path in (job.labels, job.human) if path for f in files_below(path)],
    }


def _open_job_documents(
    job: Job, wanted: OnWanted, on_finding: OnFinding, notify: Notify
) -> DocumentStores:
    """Open the documents given beside the runs; what is found of many lies beside the cache."""
    folder, model = job.model.cache_folder or default_folder(), job.model
    # Of the jobs of one command the first one asks again.
    refresh = model.refresh and not model.command.fetched
    use = ServiceUse(model.offline, refresh, model.plan, notify)
    opened = open_documents(job.documents, folder, on_finding, wanted, use)
    model.command.fetched = True
    return opened


MOST_READ = 200
"""Responses looked at for what they might carry themselves; the first one as a rule has it."""
FLAGS: Mapping[Need, str] = {
    "nuggets": "--nuggets",
    "topic_text": "--rag-topics",
    "document_text": "--documents",
}


def report_lacking(panel: Panel, inputs: JobInputs, report: OnFinding) -> None:
    """Report each need of the judges for which there is nothing at all, in one line.

    Where only some topics or documents lack it, their own findings say so.
    """
    if inputs.job.labels is not None:  # labels are given in place of judging
        return
    for need, lacks in LACKING.items():
        names = [named.name for named in panel if need in needs_of(named.judge)]
        if names and (why := lacks(inputs)):
            who = (
                f"judge {names[0]} needs" if len(names) == 1 else f"judges {', '.join(names)} need"
            )
            message = f"{who} {NEEDS[need]}: {why}; what depends on it will be unjudged"
            report(Finding("input_lacking", Place(FLAGS[need]), message))


def _lacks_nuggets(inputs: JobInputs) -> str:
    banks, topics = inputs.banks, inputs.topics
    if banks is None:
        return "none is given"
    if not topics or any(topic_id in banks for topic_id in topics):
        return ""
    first, other = next(iter(banks)), next(iter(topics))
    return f"those given are of other topics, such as {first!r}; asked for are such as {other!r}"


def _lacks_topics(inputs: JobInputs) -> str:
    if inputs.topics is not None:
        return "" if any(map(_has_text, inputs.topics.values())) else "the topics have none"
    found = (_has_text(topic) for topic, _ in _first_responses(inputs))
    return "" if any(found) else "no topics are given, and the runs carry none"


def _lacks_documents(inputs: JobInputs) -> str:
    if inputs.store is not None:  # `check_documents` has looked at it
        return ""
    cited: list[str | None] = []
    for _, response in _first_responses(inputs):
        if any(document.has_text or document.own for document in response.documents.values()):
            return ""
        cited += (c.doc_id for sentence in response.sentences for c in sentence.citations)
    if not cited:
        return ""
    scheme = usual_scheme(doc_id for doc_id in cited if doc_id is not None)
    advice = f"; these are ids of {scheme.NAME}: {scheme.HOW}" if scheme else ""
    return f"none are given, and the runs carry none{advice}"


LACKING: Mapping[Need, Callable[[JobInputs], str]] = {
    "nuggets": _lacks_nuggets,
    "topic_text": _lacks_topics,
    "document_text": _lacks_documents,
}
"""Why there is nothing at all of what a judge needs; empty where there is something."""


def _first_responses(inputs: JobInputs) -> Iterable[tuple[Topic, Response]]:
    return islice(inputs.responses(), MOST_READ)


def _has_text(topic: Topic) -> bool:
    texts = (topic.title, topic.problem_statement, topic.background, topic.body)
    return not all(map(is_blank, texts))


FEW = 3
"""Ids of each side that a message shows."""


def fit_panel(panel: Panel, inputs: JobInputs, report: OnFinding) -> Panel:
    """Return the judges of a job with what they have to know of its banks among their settings."""
    banks = inputs.banks
    if banks is None:
        return panel
    nuggets = [nugget for bank in banks.values() for nugget in bank.nuggets]
    cited = cache(lambda: _is_cited(banks, inputs, report))  # read once, and said once
    return [
        NamedJudge(n.name, n.judge.fitted(nuggets, cited))
        if isinstance(n.judge, FittingJudge)
        else n
        for n in panel
    ]


def _is_cited(banks: Mapping[str, Bank], inputs: JobInputs, report: OnFinding) -> bool:
    """Return whether a run cites a document of the banks, or no run cites anything; else report."""
    every = {doc_id: None for bank in banks.values() for doc_id in bank.documents}
    cited: dict[str, None] = {}
    for _, response in inputs.responses() if every else ():
        for doc_id in response.cited_ids():
            if doc_id in every:
                return True
            cited.setdefault(doc_id)
    if every and not cited:
        return True
    message = "the banks name no documents"
    if every:
        theirs, ours = (", ".join(map(brief, islice(side, FEW))) for side in (every, cited))
        message = f"no document of the banks ({theirs}, …) is cited by any run; they cite {ours}, …"
    report(Finding("nugget_documents_uncited", Place("--nuggets"), message))
    return False


@dataclass(slots=True)
class BrokenRules:
    """Reports broken rules of the tracks, and counts them; the reader reports all else."""

    on_finding: OnFinding
    broken: int = 0
    last: str = ""

    def __call__(self, violation: Violation) -> None:
        before, self.last = self.last, str(violation.finding)
        # A violation that two runs of a file share comes twice in a row, and is reported once.
        if KINDS[violation.finding.kind] is RULE and self.last != before:
            self.broken += 1
            self.on_finding(violation.finding)


def check_first(job: Job, inputs: JobInputs, findings: FindingLog) -> None:
    """Check all runs against the rules of their tracks before the first call of a model.

    Findings of the reader are reported later, when the runs are judged. Raises InputError with
    `strict`, where there are any.
    """
    read = FindingLog()
    first: list[Finding] = []
    rules = BrokenRules(findings)

    def note_first(finding: Finding) -> None:
        read(finding)
        if finding.severity != "note" and not first:
            first.append(finding)

    report = check_files(
        inputs.files[: job.max_runs],
        inputs.all_topics,
        dataset=job.dataset,
        store=inputs.store,
        on_finding=note_first,
        on_violation=rules,
        records=inputs.records.read,
        all_places=False,
    )
    bad = read.of_severity("error", "warning") + findings.of_severity("error", "warning")
    if job.strict and (bad or report.is_refused):
        place = f"; the first: {first[0]}" if first else ""
        raise InputError(f"--strict: {bad + rules.broken} findings{place}; `check` lists them all")


def check_along(job: Job, inputs: JobInputs, reader: RunReader, findings: FindingLog) -> None:
    """Check every record as it is read: no call is paid, so no check must come before."""
    rules = BrokenRules(findings)
    checker = Checker(inputs.all_topics, dataset=job.dataset, on_violation=rules)

    def both(finding: Finding) -> None:
        findings(finding)
        checker.add_finding(finding)

    reader.report, reader.observe = both, checker.observe


# Responses drawn by their names, and what items are known by where no text of theirs is kept.
SHORT = 16
"""Hexadecimal digits of a digest: two of a million items hardly ever share one."""


def short_digest(*parts: str | None) -> str:
    """Return SHORT digits of the SHA-256 of texts."""
    text = "\0".join("" if part is None else part for part in parts)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:SHORT]


def response_digest(response: Response) -> str:
    """Return what a response is known by: its run and topic."""
    return short_digest(response.run_id, response.topic_id)


def drawn_responses(
    responses: Iterable[tuple[Topic, Response]], most: int
) -> list[tuple[Topic, Response]]:
    """Return so many responses, drawn by run and topic: the same ones each time."""

    def place(numbered: tuple[int, tuple[Topic, Response]]) -> str:
        return response_digest(numbered[1][1])

    drawn = heapq.nsmallest(most, enumerate(responses), key=place)
    return [pair for _, pair in sorted(drawn, key=lambda one: one[0])]

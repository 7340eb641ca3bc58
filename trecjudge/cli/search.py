"""`search`: look at what an index finds, write it as a TREC run, draw the line of an answer."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from trecjudge.baseline.index.filters import parse_filter
from trecjudge.baseline.index.index import Index, open_index
from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.retrieve.ranking import GRADE_PASSAGES, threshold_path, write_threshold
from trecjudge.baseline.retrieve.retriever import (
    IndexRetriever,
    RetrieverSettings,
    name_of,
    open_retriever,
)
from trecjudge.baseline.retrieve.topics import SearchCounts, calibrate_threshold, write_run
from trecjudge.cli.exits import print_errors, warning_printer
from trecjudge.cli.flags import ModelFlags, PrintFlags, RetrievalFlags, WorkflowFlags
from trecjudge.cli.jobs import model_of
from trecjudge.cli.parameters import argument, command_with, option, switch
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, text_output
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.findings import plural
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.topics import read_topics
from trecjudge.job.request import Job, load_workflow
from trecjudge.job.session import open_session, run_session
from trecjudge.job.workflow import Workflow
from trecjudge.results.outputs import Outputs
from trecjudge.show.retrieval import search_record, search_view

SHOWN, WRITTEN = 10, 100
"""How many passages are shown, and documents of a topic written, by default."""


class SearchFlags(RetrievalFlags, WorkflowFlags, ModelFlags, PrintFlags):
    """The index, and what is looked for in it."""

    WITHOUT: ClassVar = frozenset({"plan"})
    index: str = argument("The index, as `rag index` wrote it.", metavar="INDEX")
    question: str = argument("What is looked for; quote it as one word.", "", metavar="QUESTION")
    top: int | None = option(
        "The N best passages: 10 for a question, 100 documents for topics.", min=1
    )
    one_per_document: bool = switch("Only the best passage of each document.", "--one-per-document")
    topics: Path | None = option(
        "Search for every topic of a file.", None, "--rag-topics", old=("--topics",)
    )
    trec: Path | None = option(
        "A file for what the topics find, as a TREC run: a line a document.",
        None,
        "--output",
        old=("--trec",),
    )
    tag: str = option(
        "The name of that run; by default the retriever's.", "", "--run-id", old=("--tag",)
    )
    calibrate: Path | None = option(
        "Topics that the documents answer: write the least confidence of an answer.",
        metavar="TOPICS",
    )
    against: Path | None = option(
        "With --calibrate: topics that the documents do not answer.", metavar="TOPICS"
    )
    threshold: Path | None = option("The file of that threshold; by default INDEX.threshold.json.")

    def check(self) -> None:
        """Raise InputError unless one thing is asked for, with all that it takes."""
        asked = [bool(self.question.strip()), self.topics is not None, self.calibrate is not None]
        if sum(asked) != 1:
            raise InputError("give a question, --rag-topics with --output, or --calibrate TOPICS")
        if (self.topics is None) != (self.trec is None):
            raise InputError("--rag-topics and --output go together: give both")
        if self.against is not None and self.calibrate is None:
            raise InputError("--against goes with --calibrate")
        parse_filter(self.only)  # here, since an endpoint may be asked before it is used

    def settings(self, workflow: Workflow) -> RetrieverSettings:
        """Return how passages are found; a run file has a line a document."""
        return RetrieverSettings(
            self.retriever,
            self.min_score,
            rerank=self.rerank,
            recency=self.recency,
            one_per_document=self.one_per_document or self.trec is not None,
            rerank_by=self.rerank_by,
            threshold=self.threshold,
            abstains=bool(self.question),
            embeddings=workflow.embeddings,
            reranking=workflow.rerank,
        )

    @property
    def filter(self) -> Filter | None:
        """Which documents are looked for; None for all. Raises InputError."""
        return parse_filter(self.only)

    @property
    def grades(self) -> bool:
        """Whether a model grades passages."""
        return bool(self.rerank) and self.rerank_by == "model"

    @property
    def job(self) -> Job:
        """The job whose model grades passages, or whose endpoints make vectors and rerank."""
        workflow, model = load_workflow(self.workflow), model_of(self)
        return Job((), Outputs(Path(), "search"), workflow=workflow, model=model)

    @property
    def line(self) -> Path:
        """The file of the threshold. Raises InputError where it has to be named."""
        if self.threshold is not None:
            return self.threshold
        if index_address(self.index):
            raise InputError("--threshold FILE is needed: an index in a database has none beside")
        return threshold_path(self.index)


@command_with(SearchFlags)
def search(flags: SearchFlags) -> int:
    """Show what an index finds for a question.

    With --rag-topics and --output it writes what every topic finds, as a TREC run. The confidence
    shows how likely the documents answer at all; --calibrate finds from which one on.
    """
    flags.check()
    printer = FindingPrinter(flags.quiet)
    with closing(open_index(flags.index)) as index:
        job = flags.job
        status = run_session(job, _search(flags, job, index, printer))
    printer.close()
    return status or printer.status()


async def _search(flags: SearchFlags, job: Job, index: Index, printer: FindingPrinter) -> int:
    settings, warn = flags.settings(job.workflow), warning_printer(flags.quiet)
    options = job.model
    # A model that only an endpoint's vectors or ranks come from is asked nothing in the session.
    grading = replace(job, model=replace(options, use=options.use and flags.grades))
    async with (
        open_session(grading, printer, warn, programs=[GRADE_PASSAGES]) as session,
        open_retriever(flags.index, index, settings, session.model, options, warn) as retriever,
    ):
        if flags.calibrate is not None:
            return await _calibrate(flags, retriever, printer)
        if flags.topics is not None:
            return await _write(flags, retriever, printer)
        return await _show(flags, retriever)


async def _show(flags: SearchFlags, retriever: IndexRetriever) -> int:
    line = retriever.threshold
    try:
        found = await retriever.retrieve(flags.question, flags.top or SHOWN, flags.filter)
    except JudgmentFailed as failed:
        print_errors([f"not reranked: {failed.kind}: {failed}"])
        return 3
    least = None if line is None else line.least
    if flags.as_json:
        print_json([search_record(found, least)])
    else:
        text_output().print(search_view(found, least))
    return 0


async def _calibrate(flags: SearchFlags, retriever: IndexRetriever, printer: FindingPrinter) -> int:
    assert flags.calibrate is not None
    topics = read_topics(flags.calibrate, printer)
    others = read_topics(flags.against, printer) if flags.against else {}
    asked = topics.values(), others.values(), flags.filter
    found = await calibrate_threshold(retriever, *asked, name_of(flags.index))
    write_threshold(flags.line, found.threshold)
    if flags.as_json:
        print_json([found.as_dict() | {"file": str(flags.line)}])
    elif not flags.quiet:
        print_lines([*found.lines(), f"written to {flags.line}"])
    return 0


async def _write(flags: SearchFlags, retriever: IndexRetriever, printer: FindingPrinter) -> int:
    assert flags.topics is not None and flags.trec is not None
    topics = read_topics(flags.topics, printer)
    tag = flags.tag or f"trecjudge-{retriever.method}"
    done: SearchCounts = await write_run(
        flags.trec, topics.values(), retriever, flags.top or WRITTEN, flags.filter, tag
    )
    for topic_id, why in done.failed.items():
        print_errors([f"topic {topic_id!r}: not reranked, so it is not in the run: {why}"])
    if done.nothing:
        print_errors([f"{plural(len(done.nothing), 'topic')} found nothing: {done.first_without}"])
    if flags.as_json:
        print_json([done.as_dict() | {"file": str(flags.trec), "tag": tag}])
    elif not flags.quiet:
        counts = f"{plural(done.topics, 'topic')}, {plural(done.lines, 'line')}"
        print_errors([f"{flags.trec}: {counts}"])
    return 3 if done.failed else 0

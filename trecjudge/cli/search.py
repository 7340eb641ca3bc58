"""`search`: look at what an index finds, write it as a TREC run, draw the line of an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from trecjudge.baseline.index.filters import only_of
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.opening import is_address, open_index
from trecjudge.baseline.index.protocol import Only
from trecjudge.baseline.retrieve.model_ranks import GRADE_PASSAGES
from trecjudge.baseline.retrieve.retriever import (
    IndexRetriever,
    RetrieverSettings,
    name_of,
    open_retriever,
)
from trecjudge.baseline.retrieve.threshold import threshold_path, write_threshold
from trecjudge.baseline.retrieve.topics import SearchCounts, calibrate_threshold, write_run
from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import search_options as own
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exits, print_errors, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_lines, text_output
from trecjudge.cli.shared import FindingPrinter
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.findings import counted
from trecjudge.inputs.topics import read_topics
from trecjudge.job.choice import workflow_at
from trecjudge.job.workflow import Workflow
from trecjudge.models.model import Model, NoModel
from trecjudge.models.opening import ModelOptions, open_model
from trecjudge.show.search import search_record, search_view

SHOWN, WRITTEN = 10, 100
"""How many passages are shown, and documents of a topic written, by default."""


@dataclass(frozen=True, slots=True)
class SearchFlags:
    """What the command line asks for: a flag each."""

    index: own.Index
    question: own.Question = ""
    retriever: own.Retriever = "bm25"
    top: own.Top = None
    only: own.OnlyDocuments = None
    recency: own.Recency = 0.0
    one_per_document: own.OnePerDocument = False
    rerank: own.Rerank = 0
    rerank_by: own.RerankBy = "model"
    topics: own.Topics = None
    trec: own.Trec = None
    tag: own.Tag = ""
    calibrate: own.Calibrate = None
    against: own.Against = None
    threshold: own.ThresholdFile = None
    workflow: flag.WorkflowFile = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False

    def check(self) -> None:
        """Raise InputError unless one thing is asked for, with all that it takes."""
        asked = [bool(self.question.strip()), self.topics is not None, self.calibrate is not None]
        if sum(asked) != 1:
            raise InputError("give a question, --rag-topics with --trec, or --calibrate TOPICS")
        if (self.topics is None) != (self.trec is None):
            raise InputError("--rag-topics and --trec go together: give both")
        if self.against is not None and self.calibrate is None:
            raise InputError("--against goes with --calibrate")

    def settings(self, workflow: Workflow) -> RetrieverSettings:
        """Return how passages are found; a run file has a line a document."""
        return RetrieverSettings(
            self.retriever,
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
    def model(self) -> ModelOptions:
        """How a model may be used."""
        return options_of(self, self.refresh)

    @property
    def line(self) -> Path:
        """The file of the threshold. Raises InputError where it has to be named."""
        if self.threshold is not None:
            return self.threshold
        if is_address(self.index):
            raise InputError("--threshold FILE is needed: an index in a database has none beside")
        return threshold_path(self.index)


@exits
def find(flags: SearchFlags) -> int:
    """Search as asked for; return the exit status."""
    flags.check()
    printer = FindingPrinter(flags.quiet)
    with closing(open_index(flags.index)) as index:
        status = asyncio.run(_found(flags, index, printer))
    printer.close()
    return status or printer.status()


search = taking(SearchFlags)(lambda ctx, flags: find(flags))
search.__doc__ = """Show what an index finds for a question.

With --rag-topics and --trec it writes what every topic finds, as a TREC run. The confidence shows
how likely the documents answer at all; --calibrate finds from which one on.
"""


async def _found(flags: SearchFlags, index: Index, printer: FindingPrinter) -> int:
    only, workflow = only_of(flags.only or ()), workflow_at(flags.workflow)
    options, warn = flags.model, warning_printer(flags.quiet)
    settings = flags.settings(workflow)
    async with (
        _grading(flags, options, workflow) as model,
        open_retriever(flags.index, index, settings, model, options, warn) as retriever,
    ):
        if flags.calibrate is not None:
            return await _calibrate(flags, retriever, only, printer)
        if flags.topics is not None:
            return await _write(flags, retriever, only, printer)
        return await _show(flags, retriever, only)


@asynccontextmanager
async def _grading(
    flags: SearchFlags, options: ModelOptions, workflow: Workflow
) -> AsyncIterator[Model]:
    """Yield the model that reranks; none where nothing asks one."""
    if not flags.rerank or flags.rerank_by == "endpoint":
        yield NoModel()
        return
    prompts = {n: text for n, text in workflow.prompts.items() if n == GRADE_PASSAGES.name}
    warn = warning_printer(flags.quiet)
    async with open_model(options, workflow.llm, prompts, [GRADE_PASSAGES], warn) as model:
        yield model


async def _show(flags: SearchFlags, retriever: IndexRetriever, only: Only | None) -> int:
    line = retriever.threshold
    try:
        found = await retriever.retrieve(flags.question, flags.top or SHOWN, only)
    except JudgmentFailed as failed:
        print_errors([f"not reranked: {failed.kind}: {failed}"])
        return 3
    least = None if line is None else line.least
    if flags.as_json:
        print_json([search_record(found, least)])
    else:
        text_output().print(search_view(found, least))
    return 0


async def _calibrate(
    flags: SearchFlags, retriever: IndexRetriever, only: Only | None, printer: FindingPrinter
) -> int:
    assert flags.calibrate is not None
    topics = read_topics(flags.calibrate, printer)
    others = read_topics(flags.against, printer) if flags.against else {}
    name = name_of(flags.index)
    found = await calibrate_threshold(retriever, topics.values(), others.values(), only, name)
    write_threshold(flags.line, found.threshold)
    if flags.as_json:
        print_json([found.as_dict() | {"file": str(flags.line)}])
    elif not flags.quiet:
        print_lines([*found.lines(), f"written to {flags.line}"])
    return 0


async def _write(
    flags: SearchFlags, retriever: IndexRetriever, only: Only | None, printer: FindingPrinter
) -> int:
    assert flags.topics is not None and flags.trec is not None
    topics = read_topics(flags.topics, printer)
    tag = flags.tag or f"trecjudge-{flags.retriever}"
    done: SearchCounts = await write_run(
        flags.trec, topics.values(), retriever, flags.top or WRITTEN, only, tag
    )
    for topic_id, why in done.failed.items():
        print_errors([f"topic {topic_id!r}: not reranked, so it is not in the run: {why}"])
    if done.nothing:
        print_errors([f"{counted(len(done.nothing), 'topic')} found nothing: {done.first_without}"])
    if flags.as_json:
        print_json([done.as_dict() | {"file": str(flags.trec), "tag": tag}])
    elif not flags.quiet:
        counts = f"{counted(done.topics, 'topic')}, {counted(done.lines, 'line')}"
        print_errors([f"{flags.trec}: {counts}"])
    return 3 if done.failed else 0

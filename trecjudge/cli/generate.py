"""`generate`: a run of answers from an index, in the format of a track, with its provenance."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.baseline.generate.answering import Generating
from trecjudge.baseline.generate.formats import RunFormat, format_for
from trecjudge.baseline.generate.making import RunWanted, make_run
from trecjudge.baseline.index.filters import only_of
from trecjudge.baseline.retrieve.retriever import RetrieverSettings
from trecjudge.cli import generate_options as own
from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import search_options as of_search
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exits, print_errors, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_lines, print_plans
from trecjudge.cli.shared import FindingPrinter
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import is_index
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.topics import read_topics
from trecjudge.job.choice import workflow_at
from trecjudge.job.workflow import Workflow
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Topic
from trecjudge.results.outputs import Outputs
from trecjudge.show.generated import generated_lines


@dataclass(frozen=True, slots=True)
class GenerateFlags:
    """What the command line asks for: a flag each."""

    index: own.Index
    topics: own.TopicFile
    format_name: own.Format
    only: of_search.OnlyDocuments = None
    only_topics: flag.OnlyTopics = None
    max_topics: flag.MaxTopics = None
    run_id: own.RunId = ""
    team_id: own.TeamId = "trecjudge"
    retriever: of_search.Retriever = "bm25"
    top: own.Top = 20
    recency: of_search.Recency = 0.0
    rerank: of_search.Rerank = 0
    rerank_by: of_search.RerankBy = "model"
    threshold: own.Threshold = None
    max_words: own.MaxWords = None
    rounds: own.Rounds = 0
    mask_pii: own.MaskPii = False
    workflow: flag.WorkflowFile = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    out_dir: flag.OutDir = Path("out")
    name: own.RunName = ""
    carry_documents: own.CarryDocuments = False
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False

    @property
    def generating(self) -> Generating:
        """How answers are made."""
        only = only_of(self.only or ())
        return Generating(self.top, self.rounds, self.mask_pii, self.max_words, only)

    @property
    def model(self) -> ModelOptions:
        """How a model may be used."""
        return options_of(self, self.refresh, self.plan)

    @property
    def run_name(self) -> str:
        """The run's id: as given, else the name of its files, else how it is made."""
        made = "grounded" if self.use_env_llm else "extractive"
        return self.run_id or self.name or f"{made}-{self.retriever}"

    @property
    def outputs(self) -> Outputs:
        """The folder and the name of the files. Raises OutputError for a name that is not safe."""
        return Outputs(self.out_dir, self.name or self.run_name)

    @property
    def run(self) -> Path:
        """The file of the run."""
        return self.out_dir / f"{self.outputs.name}.jsonl"

    def wanted(self, format_: RunFormat, workflow: Workflow) -> RunWanted:
        """The run with all that it is made by."""
        return RunWanted(
            self.index,
            self.run,
            self.run_name,
            format_,
            self.team_id,
            RetrieverSettings(
                self.retriever,
                rerank=self.rerank,
                recency=self.recency,
                rerank_by=self.rerank_by,
                threshold=self.threshold,
                embeddings=workflow.embeddings,
                reranking=workflow.rerank,
            ),
            self.generating,
            self.carry_documents,
            workflow.llm,
            workflow.prompts,
        )


@exits
def answer(flags: GenerateFlags) -> int:
    """Make the run, write it and its provenance; return the exit status."""
    format_, model = format_for(flags.format_name), flags.model
    flags.generating.check(model.use)
    if flags.mask_pii and flags.carry_documents:
        raise InputError("give one of --mask-pii and --carry-documents: it would carry what is hid")
    printer = FindingPrinter(flags.quiet)
    topics = _topics(flags, printer)
    wanted, warn = flags.wanted(format_, workflow_at(flags.workflow)), warning_printer(flags.quiet)
    held = flags.outputs.held(warn)
    made, spent = asyncio.run(make_run(wanted, topics, model, printer, warn, held))
    printer.close()
    if made is None:
        return _print_plan(spent, flags)
    if flags.as_json:
        files = [str(flags.run), str(provenance_path(flags.run))]
        counts = made.as_dict() | {"files": files, "calls": spent}
        print_json([counts | {"findings": printer.as_dicts()}])
    elif not flags.quiet:
        track, documents = format_.track_name, _documents(flags)
        print_lines(generated_lines(made, flags.run, track, flags.topics, documents, spent))
    return printer.status()


def _documents(flags: GenerateFlags) -> str:
    """Return what a judge is to be given as documents; empty if the run carries them."""
    if flags.carry_documents:
        return ""
    return flags.index if is_index(Path(flags.index)) else "DOCUMENTS"


generate = taking(GenerateFlags)(lambda ctx, flags: answer(flags))
generate.__doc__ = """Answer topics from an index, as a run of a track.

A file beside the run, NAME.provenance.jsonl, shows where each citation is from.
"""


def _topics(flags: GenerateFlags, printer: FindingPrinter) -> list[Topic]:
    every = read_topics(flags.topics, printer)
    for topic_id in flags.only_topics or ():
        if topic_id not in every:
            raise InputError(unknown("topic", topic_id, every))
    wanted = (t for t in every.values() if not flags.only_topics or t.topic_id in flags.only_topics)
    return list(islice(wanted, flags.max_topics))


def _print_plan(spent: dict[str, Any], flags: GenerateFlags) -> int:
    if not (flags.quiet or flags.as_json):
        print_errors(f"note: {note}" for note in _not_planned(flags))
    return print_plans([{"name": flags.run_name} | spent], flags.as_json)


def _not_planned(flags: GenerateFlags) -> Iterator[str]:
    """Yield what a plan does not know, in words."""
    if flags.rounds:
        yield "calls of --rounds depend on what is found: not counted"
    if flags.rerank and flags.rerank_by == "endpoint":
        yield "calls of --rerank by an endpoint are not counted"
    elif flags.rerank:
        yield "until all is reranked, answers are planned from the order before"

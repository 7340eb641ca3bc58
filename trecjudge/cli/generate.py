"""`generate`: a run of answers from an index, in the format of a track, with its provenance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from trecjudge.baseline.generate.answers import AnswerSettings
from trecjudge.baseline.generate.formats import RunFormat, format_for
from trecjudge.baseline.generate.runs import RunRequest, retrieval_log
from trecjudge.baseline.index.filters import parse_filter
from trecjudge.baseline.index.index import open_index
from trecjudge.baseline.records import ConfidenceSource
from trecjudge.baseline.retrieve.retriever import RetrieverSettings, usual_method
from trecjudge.cli.exits import print_errors, warning_printer
from trecjudge.cli.flags import (
    ModelFlags,
    PrintFlags,
    RetrievalFlags,
    SelectionFlags,
    WorkflowFlags,
)
from trecjudge.cli.jobs import model_of
from trecjudge.cli.parameters import command_with, option, part, switch
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, print_plans
from trecjudge.errors import InputError
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.inputs.topics import read_topics
from trecjudge.job.generating import make_run
from trecjudge.job.inputs import select_topics
from trecjudge.job.request import Job, load_workflow
from trecjudge.job.session import run_session
from trecjudge.job.workflow import Workflow
from trecjudge.models.opening import ModelOptions
from trecjudge.results.outputs import Outputs
from trecjudge.show.retrieval import generated_lines
from trecjudge.text.credentials import public


class GenerateFlags(RetrievalFlags, SelectionFlags, WorkflowFlags, ModelFlags, PrintFlags):
    """The index, the topics, and how a run is made from them."""

    WITHOUT: ClassVar = frozenset({"only_runs", "max_runs"})
    index: str = option(
        "The index of the documents, as `rag index` wrote it.",
        ...,
        "--documents",
        metavar="INDEX",
        old=("--index",),
    )
    topics: Path = option("The topic file.", ..., "--rag-topics", old=("--topics",))
    format_name: str = option(
        "The track that the run is for, such as rag25, rag26, ragtime26 or dragun25.",
        ...,
        "--format",
    )
    run_id: str = part(
        "--run-id",
        "",
        "The id of the run; by default --name, else how it is made, such as extractive-bm25.",
        "",
    )
    team_id: str = part("--run-id", "team", "The name of the team (trecjudge).", "trecjudge")
    top: int = option("Answer from the N best passages.", 20, min=1)
    threshold: Path | None = option(
        "Abstain below the confidence of this file, which `rag search --calibrate` wrote; by"
        " default INDEX.threshold.json, if it is there."
    )
    max_words: int | None = part(
        "--max", "words", "Words of an answer, where the track allows more.", min=1
    )
    rounds: int = option(
        "Let a model name what its answer lacks, and search again, N times at most.", 0, min=0
    )
    confidence: ConfidenceSource = part(
        "--confidence",
        "",
        "What the confidence of answers, with --json, is from: words of the passages (calibrated),"
        " logprobs of the model, or votes: further answers of the model.",
        "words",
        metavar="NAME",
    )
    votes: int = part("--confidence", "votes", "How many of these (4).", 4, min=1)
    mask_pii: bool = switch(
        "Mask email addresses, telephone, card and account numbers, IP addresses and national"
        " ids: no model sees them, and no answer has them.",
        "--mask-pii/--no-mask-pii",
    )
    out_dir: Path = option("The folder for all output files.", Path("out"), metavar="DIR")
    name: str = option("The name that output files start with; by default the run's.", "")
    carry_documents: bool = switch(
        "Put the documents that are cited into the run, to judge it without --documents.",
        "--carry-documents/--no-carry-documents",
    )

    @property
    def generating(self) -> AnswerSettings:
        """How answers are made."""
        only = parse_filter(self.only)
        given = self.top, self.rounds, self.mask_pii, self.max_words, only
        return AnswerSettings(*given, self.confidence, self.votes)

    @property
    def run_name(self) -> str:
        """The run's id: as given, else the name of its files, else how it is made."""
        if named := self.run_id or self.name:
            return named
        made = "grounded" if self.use_env_llm else "extractive"
        return f"{made}-{self._method}"

    @property
    def _method(self) -> str:
        """How passages are found, with `auto` as the index has it. Raises InputError."""
        if self.retriever != "auto":
            return self.retriever
        with closing(open_index(self.index)) as index:
            return usual_method(index.facts.vectors, model_of(self))

    @property
    def outputs(self) -> Outputs:
        """The folder and the name of the files. Raises OutputError for a name that is not safe."""
        return Outputs(self.out_dir, self.name or self.run_name)

    @property
    def run(self) -> Path:
        """The file of the run."""
        return self.out_dir / f"{self.outputs.name}.jsonl"

    def job(self, model: ModelOptions) -> Job:
        """Return the job in which the run is made."""
        return Job(
            runs=(),
            outputs=self.outputs,
            workflow=load_workflow(self.workflow),
            topics=self.topics,
            only_topics=self.only_topics,
            max_topics=self.max_topics,
            model=model,
        )

    def run_request(self, format_: RunFormat, workflow: Workflow) -> RunRequest:
        """Return the run with all that it is made by."""
        return RunRequest(
            self.index,
            self.run,
            self.run_name,
            format_,
            self.team_id,
            RetrieverSettings(
                self.retriever,
                self.min_score,
                rerank=self.rerank,
                recency=self.recency,
                rerank_by=self.rerank_by,
                threshold=self.threshold,
                embeddings=workflow.embeddings,
                reranking=workflow.rerank,
            ),
            self.generating,
            self.carry_documents,
            self.as_json,
        )


@command_with(GenerateFlags)
def generate(flags: GenerateFlags) -> int:
    """Answer topics from an index, as a run of a track.

    Beside the run, NAME.provenance.jsonl shows where each citation is from, and
    NAME.retrieved.jsonl what was retrieved for each topic. With --json each answer is printed as
    one object: answer, sources, confidence, grounded, abstained.
    """
    format_, model = format_for(flags.format_name), model_of(flags)
    flags.generating.check(model.use, flags.as_json)
    if flags.mask_pii and flags.carry_documents:
        raise InputError("give one of --mask-pii and --carry-documents: it would carry what is hid")
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    every = read_topics(flags.topics, printer)
    job = flags.job(model)
    topics = list(select_topics(every, job).values())
    wanted, held = flags.run_request(format_, job.workflow), job.outputs.lock(warn)
    made, spent = run_session(job, make_run(job, wanted, topics, printer, warn, held))
    printer.close()
    if made is None:
        return _print_plan(spent, flags)
    if flags.as_json:
        run = flags.run
        files = [run, provenance_path(run), retrieved_path(run), retrieval_log(run)]
        counts = made.as_dict() | {"files": [str(file) for file in files], "calls": spent}
        print_json([counts | {"findings": printer.as_dicts()}])
    elif not flags.quiet:
        track, documents = format_.track_name, _documents(flags)
        print_lines(generated_lines(made, flags.run, track, flags.topics, documents, spent))
    return printer.status()


def _documents(flags: GenerateFlags) -> str:
    """Return what a judge is to be given as documents; empty if the run carries them."""
    if flags.carry_documents:
        return ""
    return public(flags.index)


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

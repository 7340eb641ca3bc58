"""The flags that several commands have, each declared once, in groups that are given whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import typer

from trecjudge.cli.parameters import (
    Flags,
    LimitFlags,
    argument,
    declared_in,
    option,
    part,
    several,
    switch,
)
from trecjudge.version import __version__

INPUTS, JUDGING, MODEL, OUTPUTS, RETRIEVAL = "Input", "Judging", "Model", "Output", "Retrieval"
"""The flags that commands share, by what they are about: `help input` explains those of a panel."""
TRUTH = "A leaderboard to compare with, such as the assessors', in any format."
FormatName = Literal["auto", "ir_measures", "trec_eval", "tot", "rag4reports", "jsonl", "csv"]
AllRows = Literal["error", "checked", "given", "recomputed"]
Duplicates = Literal["first", "last", "mean", "error"]


class RunFlags(Flags):
    """The runs, with their topics and documents."""

    PANEL: ClassVar = INPUTS
    responses: Sequence[Path] = several(
        "Run files, or folders of them at any depth.", "--rag-responses"
    )
    topics: Path | None = option(
        "The topic file. Without it the topics are those that the runs answer.",
        None,
        "--rag-topics",
        old=("--topics",),
    )
    documents: Sequence[Path] = several(
        "The documents: files, folders, irds:NAME, an index (a file or postgresql://USER@HOST/DB),"
        " or an address with {docid}. JSONL has docid, title and text. Their text is judged, not"
        " the run's."
    )
    dataset: str = option(
        "The dataset to assume where several formats fit: rag, ragtime, dragun or auto.", "auto"
    )


class MaterialFlags(RunFlags):
    """The runs, with all that a judge may compare them with."""

    PANEL: ClassVar = INPUTS
    own_documents: bool = switch(
        "Judge the run's own copy of a document, even where --documents has it too.",
        "--own-documents/--no-own-documents",
    )
    nuggets: Sequence[Path] = several(
        "Banks of nuggets, files or folders. The judges nuggets, argue and rubric use them."
    )


class SelectionFlags(Flags):
    """Which topics and runs are taken."""

    PANEL: ClassVar = INPUTS
    only_topics: Sequence[str] = several("Only these topics; else all.", "--topic")
    only_runs: Sequence[str] = several("Only these runs; else all.", "--run")
    max_topics: int | None = part("--max", "topics", "Only the first topics.", min=1)
    max_runs: int | None = part("--max", "runs", "Only the first runs.", min=1)


class KeyFlags(Flags):
    """How records of a pipeline are read."""

    PANEL: ClassVar = INPUTS
    keys: str = option(
        "Keys of question, answer, contexts, topic and run in a pipeline's records, such as"
        " question=prompt.text,answer=out,contexts=hits. Usual keys are known.",
        "",
        metavar="PART=KEY,...",
    )


class WorkflowFlags(Flags):
    """The workflow."""

    PANEL: ClassVar = JUDGING
    workflow: Path | None = option("A workflow file, or the name of a shipped one.")


class JudgeFlags(Flags):
    """The judges and their settings."""

    PANEL: ClassVar = JUDGING
    judge: Sequence[str] = several(
        "The judges, by name or as module:Class. By default the workflow's, else citation, or"
        " grounding for a pipeline's records. `judges list` shows them."
    )
    settings: Sequence[str] = several(
        "Override settings, such as partial=0.25. KEY, JUDGE.KEY, llm.KEY or"
        " leaderboard.KEY; VALUE is YAML.",
        "--set",
        metavar="KEY=VALUE",
    )
    calibration: Path | None = option(
        "A file that `judges calibrate` wrote: weights of the offline attester, fitted to labels."
    )


class MapFlags(Flags):
    """What labels of people mean."""

    PANEL: ClassVar = JUDGING
    mapped: Sequence[str] = several(
        "What a label of people means to the judge, such as good=full_support. Usual words and"
        " numbers are known.",
        "--map",
        metavar="LABEL=LABEL",
    )


class HumanFlags(MapFlags):
    """Labels of people that correct the means."""

    PANEL: ClassVar = JUDGING
    human: Path | None = option(
        "Labels of people for some items, which correct the means, as for --judgments-from.",
        None,
        "--labels",
        old=("--human",),
    )


class ModelFlags(Flags):
    """The model that may be asked, what is kept of its replies, and what they may cost."""

    PANEL: ClassVar = MODEL
    use_env_llm: bool = switch(
        "Ask the model at OPENAI_BASE_URL. OPENAI_MODEL is its name, and OPENAI_API_KEY the key.",
        "--use-env-llm",
    )
    cache_dir: Path | None = option(
        "The folder of cached replies; by default TRECJUDGE_CACHE or the user's cache folder.",
        metavar="DIR",
    )
    cache_from: Sequence[Path] = several(
        "Folders of other caches to read, which are not changed.", metavar="DIR"
    )
    refresh: bool = switch("Ignore cached replies and ask again.", "--refresh")
    offline: bool = switch("Use only cached replies; items without one stay unjudged.", "--offline")
    plan: bool = switch("Count calls, tokens and price; ask nothing.", "--plan")
    max_calls: int | None = part("--max", "calls", "Calls of the model.", min=0)
    max_tokens: int | None = part("--max", "tokens", "Tokens spent.", min=0)
    max_cost: float | None = part("--max", "cost", "Dollars spent.", min=0)


class CacheFlags(ModelFlags):
    """The cache of a model's replies, for commands that ask none."""

    WITHOUT: ClassVar = frozenset(declared_in(ModelFlags)) - {"cache_dir"}


class AskingFlags(JudgeFlags, WorkflowFlags, ModelFlags):
    """The judges, and the model that they may ask."""


class OutputFlags(Flags):
    """The files of a job."""

    PANEL: ClassVar = OUTPUTS
    out_dir: Path = option("The folder for all output files.", Path("out"), metavar="DIR")
    name: str = option("The name that output files start with.", "default")
    compress: bool = switch(
        "Pack the judgments and the log with zstd, as NAME.judgments.jsonl.zst and"
        " NAME.log.zst. Every command reads them.",
        "--compress",
    )


class ReportFlags(Flags):
    """Whether a report is written."""

    PANEL: ClassVar = OUTPUTS
    report: bool = switch("Write NAME.report.html too, to browse the results.", "--report")


class TableFlags(Flags):
    """How much of the tables is shown."""

    PANEL: ClassVar = OUTPUTS
    wide: bool = switch("Show whole names and all columns, however long the lines.", "--wide")
    show_all: bool = switch("Show all rows of the tables, not only the first 20.", "--all")


class RankingFlags(TableFlags):
    """What the closing table of a job shows."""

    PANEL: ClassVar = OUTPUTS
    measures: Sequence[str] = several(
        "More measures in the closing table: names, `all`, or `ranking` for the one that each"
        " judge ranks by.",
        "--measure",
        metavar="A,B",
        old=("--measures",),
    )


class QuietFlags(Flags):
    """How much is printed."""

    PANEL: ClassVar = OUTPUTS
    quiet: bool = switch("Print only errors.", "--quiet", "-q")


class PrintFlags(QuietFlags):
    """How much is printed, and how."""

    PANEL: ClassVar = OUTPUTS
    as_json: bool = switch("Print the results as one JSON object.", "--json")


class JudgedJobFlags(Flags):
    """A job that was judged, by its name where a folder holds several."""

    job: Path = argument("The --out-dir of a job, FOLDER/NAME, or any of its files.")
    name: str | None = option("The job to take, where the folder holds several.")


class ItemFlags(JudgedJobFlags):
    """Which of a job's judgments are shown."""

    run: Sequence[str] = several("Only these runs; else all.")
    topic: Sequence[str] = several("Only these topics; else all.")
    judge: Sequence[str] = several("Only these judges; else all.")
    label: Sequence[str] = several(
        "Only these labels; else all. `none`, `partial` and `full` are short names;"
        " `missing_document` and `unjudged` are labels too.",
        old=("--unjudged=unjudged",),
    )


class TrustFlags(Flags):
    """Whether code that a file names is run."""

    PANEL: ClassVar = INPUTS
    trust: bool = switch(
        "Import judges and measures that the file names and that are not installed.", "--trust"
    )


class FormatFlags(Flags):
    """How leaderboards are read."""

    PANEL: ClassVar = INPUTS
    format_name: FormatName = part(
        "--format",
        "",
        "The format of the leaderboards; by default recognised.",
        "auto",
        metavar="FORMAT",
    )


class TruthFormatFlags(Flags):
    """How a leaderboard that people made is read."""

    PANEL: ClassVar = INPUTS
    truth_format: FormatName = part(
        "--format", "truth", "That of --truth.", "auto", metavar="FORMAT"
    )


class LeaderboardFlags(FormatFlags):
    """Leaderboards, and which of their measures count."""

    leaderboards: Sequence[Path] = argument(
        "Jobs (by folder, FOLDER/NAME, any file), or leaderboards of any format."
    )
    measure: Sequence[str] = several("Only these measures; else all.", old=("--measures",))


class LayoutFlags(Flags):
    """How a table for a paper looks."""

    PANEL: ClassVar = OUTPUTS
    layout: str = part(
        "--layout",
        "",
        "For LaTeX: page, column or wide (of a page with two), landscape; page:360 for 360 pt.",
        "page",
    )
    digits: int = part("--layout", "digits", "Decimals of a value (3).", 3, min=0, max=6)
    plain: bool = part("--layout", "plain", "Numbers without siunitx.", False)

    @property
    def looks(self) -> dict[str, Any]:
        """What `trecjudge.table` takes of them."""
        return {"digits": self.digits, "layout": self.layout, "plain": self.plain}


class PaperFlags(LayoutFlags):
    """A table for a paper."""

    PANEL: ClassVar = OUTPUTS
    to: Literal["markdown", "latex", "html", "csv"] | None = option(
        "Print a table for a paper or a page, or write it to --output."
    )


class RetrievalFlags(Flags):
    """How passages of an index are found."""

    PANEL: ClassVar = RETRIEVAL
    retriever: Literal["auto", "bm25", "dense", "hybrid"] = option(
        "How passages are found: bm25 by words, dense by vectors, hybrid by both; auto is hybrid"
        " where the index has vectors, else bm25.",
        "auto",
        metavar="NAME",
    )
    min_score: float | None = part(
        "--min", "score", "Leave out passages below it; what it is depends on the retriever."
    )
    only: Sequence[str] = several(
        "Only documents with this value of a field, or one of several; since=DATE and"
        " until=DATE bound the date.",
        metavar="FIELD=VALUE",
    )
    recency: float = option(
        "Raise newer documents: the newest twofold, half of that raise after so many days.",
        0.0,
        metavar="DAYS",
        min=0,
    )
    rerank: int = part(
        "--rerank",
        "",
        "Have the first N passages graded and put in order; needs --use-env-llm.",
        0,
        min=0,
    )
    rerank_by: Literal["model", "endpoint"] = part(
        "--rerank",
        "by",
        "The model, or an endpoint's /rerank, which RERANK_MODEL names.",
        "model",
    )


def all_rows_part(default: AllRows) -> Any:
    """Return the field on `all` rows; the commands differ in its default."""
    return part(
        "--rows",
        "all",
        "What an `all` row that its topics contradict is; recomputed is for all of them.",
        default,
        rich_help_panel=INPUTS,
    )


def duplicates_part(default: Duplicates) -> Any:
    """Return the field on values that stand twice; the commands differ in its default."""
    return part(
        "--rows",
        "duplicates",
        "Of two values of a run on a topic, the one that counts.",
        default,
        rich_help_panel=INPUTS,
    )


def missing_part(default: str) -> Any:
    """Return the field on what only one of two files has; the commands differ in its default."""
    return part(
        "--rows",
        "missing",
        "What only one side has.",
        default,
        "--on-missing",
        rich_help_panel=INPUTS,
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trecjudge {__version__}")
        raise typer.Exit


class InputFlags(MaterialFlags, SelectionFlags, KeyFlags, LimitFlags):
    """The inputs of the main job."""

    PANEL: ClassVar = INPUTS
    qrels: Path | None = option(
        "Grades of documents by topic, for the judge grounding. TREC lines, or JSON of"
        " {topic: {doc: grade}}."
    )
    check: bool = switch(
        "Check the runs against the rules of their track first.", "--check/--no-check", on=True
    )
    strict: bool = switch(
        "Stop before judging if a finding could change a score, or the track would refuse a run.",
        "--strict",
    )


class JudgingFlags(AskingFlags, HumanFlags):
    """The judges of the main job, and how often and by whom the runs are judged."""

    PANEL: ClassVar = JUDGING
    also: Sequence[str] = several("More judges, beside those of --judge or of the workflow.")
    judgments_from: Path | None = option(
        "Use the labels of a file instead of a judge's. JSONL or CSV with topic_id, run_id,"
        " sentence_index, doc_id, label; AutoNuggetizer's assignments; Auto-ARGUE's judgments; or"
        " assessments of a rubric (CSV)."
    )
    variant: str | None = part("--variant", "", "Judge with this variant of the workflow.")
    all_variants: bool = part(
        "--variant", "every", "All of them, each into files of its own.", False
    )
    sweep: str | None = option("Judge at every point of this sweep, each into files of its own.")
    workers: str = option(
        "Judge by N processes of this machine; `auto` takes one for each core, and"
        " dask://HOST:PORT the workers of a cluster. All files are as those of one process.",
        "1",
        metavar="N",
    )
    shard: str = option(
        "Judge only the I-th of N parts of the responses, as 2/8, and score nothing: the"
        " command `job merge` puts the parts together.",
        "",
        metavar="I/N",
    )


class JobFlags(InputFlags, JudgingFlags, OutputFlags, ReportFlags, RankingFlags, PrintFlags):
    """The flags of the main job."""

    PANEL: ClassVar = OUTPUTS
    history: Path | None = option(
        "Keep the job in this folder too, under a number and the date, as a baseline of `gate` or"
        " for `compare --trend`.",
        metavar="DIR",
    )
    qrels_as: Literal["grades", "binary"] = part(
        "--qrels-as",
        "",
        "How qrels are written: `grades` as the judge gives them; `binary` as 1.0 for grade 2 and"
        " more, such as full support, else 0.0.",
        "grades",
        metavar="FORM",
    )
    qrels_pool: bool = part(
        "--qrels-as", "pool", "Classic qrels, `topic 0 doc grade`, over all runs.", False
    )
    log: Literal["full", "lean", "none"] = option(
        "What goes into NAME.log, one JSON event a line: `full`; `lean` leaves out items on"
        " which no model was asked, since the judgments have all of them; `none` writes no log.",
        "full",
        metavar="KIND",
    )
    debug_log: bool = switch(
        "--no-debug-log is the same as --log none.",
        "--debug-log/--no-debug-log",
        on=True,
        hidden=True,
    )
    document_text: bool = switch(
        "Include document text in the log and the evidence.",
        "--document-text/--no-document-text",
        on=True,
    )


class MainFlags(JobFlags):
    """The flags of the program: those of the main job, and what it says of itself."""

    version: bool = switch(
        "Print the version.", "--version", callback=_print_version, is_eager=True
    )


class SharedFlags(JobFlags, PaperFlags, RetrievalFlags, TrustFlags, FormatFlags, TruthFormatFlags):
    """The flags that commands share, to be explained once."""

    duplicates: Duplicates = duplicates_part("error")
    all_rows: AllRows = all_rows_part("error")
    on_missing: Literal["common", "zero", "error"] = missing_part("error")

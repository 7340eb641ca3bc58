"""The flags of the command line: what each is called, takes and is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.cli.help_text import help_text
from trecjudge.cli.pages import page_of
from trecjudge.version import __version__

INPUTS, JUDGING, OUTPUTS = "Inputs", "Judging", "Outputs"

Responses = Annotated[
    list[Path] | None,
    typer.Option(
        "--rag-responses",
        help="Run files, or folders of them at any depth.",
        rich_help_panel=INPUTS,
    ),
]
Topics = Annotated[
    Path | None,
    typer.Option(
        "--rag-topics",
        help="The topic file. Without it the topics are those that the runs answer.",
        rich_help_panel=INPUTS,
    ),
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        help="The documents: files, folders, irds:NAME, an index, or an address with {docid}. JSONL"
        " has docid, title and text. Their text is judged, not the run's.",
        rich_help_panel=INPUTS,
    ),
]
OwnDocuments = Annotated[
    bool,
    typer.Option(
        "--own-documents/--no-own-documents",
        help="Judge the run's own copy of a document, even where --documents has it too.",
        rich_help_panel=INPUTS,
    ),
]
Qrels = Annotated[
    Path | None,
    typer.Option(
        "--qrels",
        help="Grades of documents by topic, for the judge grounding. TREC lines, or JSON of"
        " {topic: {doc: grade}}.",
        rich_help_panel=INPUTS,
    ),
]
Nuggets = Annotated[
    list[Path] | None,
    typer.Option(
        "--nuggets",
        help="Banks of nuggets, files or folders. The judges nuggets, argue and rubric use them.",
        rich_help_panel=INPUTS,
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        "--dataset",
        help="The dataset to assume where several formats fit: rag, ragtime, dragun or auto.",
        rich_help_panel=INPUTS,
    ),
]
OnlyTopics = Annotated[
    list[str] | None,
    typer.Option("--topic", help="Only these topics; else all.", rich_help_panel=INPUTS),
]
OnlyRuns = Annotated[
    list[str] | None,
    typer.Option("--run", help="Only these runs; else all.", rich_help_panel=INPUTS),
]
MaxTopics = Annotated[
    int | None,
    typer.Option("--max-topics", min=1, help="Only the first N topics.", rich_help_panel=INPUTS),
]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", min=1, help="Only the first N runs.", rich_help_panel=INPUTS),
]
RecordKeys = Annotated[
    str,
    typer.Option(
        "--keys",
        metavar="PART=KEY,...",
        help="Keys of question, answer, contexts, topic and run in a pipeline's records, such as"
        " question=prompt.text,answer=out,contexts=hits. Usual keys are known.",
        rich_help_panel=INPUTS,
    ),
]
LimitFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="The largest input that is read: record (16MB for a line or record), depth (200"
        " levels), entries (100000 in a list or object), rows (2000000 of a leaderboard), stdin"
        " (1GB), unpacked (256MB that a packed file becomes, or 100 times its size), held (256MB"
        " of memory for topics, nuggets, labels or runs). What is larger is reported with its line,"
        " as record_too_large, and left out; the rest is judged."
        ' TRECJUDGE_LIMITS="record=200MB depth=500" sets limits for every command.',
        rich_help_panel=INPUTS,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop before judging if a finding could change a score, or the track would refuse a"
        " run.",
        rich_help_panel=INPUTS,
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help="Check the runs against the rules of their track first.",
        rich_help_panel=INPUTS,
    ),
]
JudgeName = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="The judges, by name or as module:Class. By default the workflow's, else citation, or"
        " grounding for a pipeline's records. The command `judges` lists them.",
        rich_help_panel=JUDGING,
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        help="More judges, beside those of --judge or of the workflow.",
        rich_help_panel=JUDGING,
    ),
]
JudgmentsFrom = Annotated[
    Path | None,
    typer.Option(
        "--judgments-from",
        help="Use the labels of a file instead of a judge's. JSONL or CSV with topic_id, run_id,"
        " sentence_index, doc_id, label; AutoNuggetizer's assignments; Auto-ARGUE's judgments; or"
        " assessments of a rubric (CSV).",
        rich_help_panel=JUDGING,
    ),
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(
        "--calibration",
        help="A file that `calibrate` wrote: weights of the offline attester, fitted to labels.",
        rich_help_panel=JUDGING,
    ),
]
Human = Annotated[
    Path | None,
    typer.Option(
        "--human",
        help="Labels of people for some items, which correct the means, as for --judgments-from.",
        rich_help_panel=JUDGING,
    ),
]
MapLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="LABEL=LABEL",
        help="What a label of people means to the judge, such as good=full_support. Usual words and"
        " numbers are known.",
        rich_help_panel=JUDGING,
    ),
]
WorkflowFile = Annotated[
    Path | None,
    typer.Option(
        "--workflow", help="A workflow file, or the name of a shipped one.", rich_help_panel=JUDGING
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override settings, such as partial=0.25. KEY, JUDGE.KEY, llm.KEY or"
        " leaderboard.KEY; VALUE is YAML.",
        rich_help_panel=JUDGING,
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant", help="Judge with this variant of the workflow.", rich_help_panel=JUDGING
    ),
]
AllVariants = Annotated[
    bool,
    typer.Option(
        "--all-variants",
        help="Judge with every variant, each into files of its own.",
        rich_help_panel=JUDGING,
    ),
]
Sweep = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        help="Judge at every point of this sweep, each into files of its own.",
        rich_help_panel=JUDGING,
    ),
]
Workers = Annotated[
    str,
    typer.Option(
        "--workers",
        metavar="N",
        help="Judge by N processes of this machine; `auto` takes one for each core, and"
        " dask://HOST:PORT the workers of a cluster. All files are as those of one process.",
        rich_help_panel=JUDGING,
    ),
]
Shard = Annotated[
    str,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Judge only the I-th of N parts of the responses, as 2/8, and score nothing: the"
        " command `merge` puts the parts together.",
        rich_help_panel=JUDGING,
    ),
]
OutDir = Annotated[
    Path,
    typer.Option(
        "--out-dir", metavar="DIR", help="The folder for all output files.", rich_help_panel=OUTPUTS
    ),
]
Name = Annotated[
    str,
    typer.Option("--name", help="The name that output files start with.", rich_help_panel=OUTPUTS),
]
QrelsPool = Annotated[
    bool,
    typer.Option(
        "--qrels-pool",
        help="Write classic qrels, `topic 0 doc grade`, over all runs.",
        rich_help_panel=OUTPUTS,
    ),
]
Log = Annotated[
    Literal["full", "lean", "none"],
    typer.Option(
        "--log",
        metavar="KIND",
        help="What goes into NAME.log, one JSON event a line: `full`; `lean` leaves out items on"
        " which no model was asked, since the judgments have all of them; `none` writes no log.",
        rich_help_panel=OUTPUTS,
    ),
]
DebugLogFlag = Annotated[
    bool,
    typer.Option(help="--no-debug-log is the same as --log none.", rich_help_panel=OUTPUTS),
]
DocumentText = Annotated[
    bool,
    typer.Option(
        "--document-text/--no-document-text",
        help="Include document text in the log and the evidence.",
        rich_help_panel=OUTPUTS,
    ),
]
Compress = Annotated[
    bool,
    typer.Option(
        "--compress",
        help="Pack the judgments and the log with zstd, as NAME.judgments.jsonl.zst and"
        " NAME.log.zst. Every command reads them.",
        rich_help_panel=OUTPUTS,
    ),
]
MeasuresShown = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        metavar="A,B",
        help="More measures in the closing table: names, `all`, or `ranking` for the one that each"
        " judge ranks by.",
        rich_help_panel=OUTPUTS,
    ),
]
Wide = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Show whole names and all measures, however long the lines.",
        rich_help_panel=OUTPUTS,
    ),
]
AllRuns = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Show all runs in the closing table, not only the 20 best.",
        rich_help_panel=OUTPUTS,
    ),
]
Report = Annotated[
    bool,
    typer.Option(
        "--report",
        help="Write NAME.report.html too, to browse the results.",
        rich_help_panel=OUTPUTS,
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trecjudge {__version__}")
        raise typer.Exit


def _print_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        typer.echo(help_text(page_of(ctx.command, ctx), everything=True), nl=False)
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", help="Show all flags of the main job.", callback=_print_all, is_eager=True
    ),
]
Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors.", rich_help_panel=OUTPUTS)
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the results as one JSON object.",
        rich_help_panel=OUTPUTS,
    ),
]

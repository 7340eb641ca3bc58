"""The flags of the command line: what each is called, takes and is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli.help_text import help_text
from trecjudge.cli.pages import page_of
from trecjudge.version import __version__

INPUTS, JUDGING, MODEL, OUTPUTS = "Inputs", "Judging", "Model", "Outputs"

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
        help="The documents, as JSONL of docid, title, text. Their text is judged, not the run's.",
        rich_help_panel=INPUTS,
    ),
]
OwnDocuments = Annotated[
    bool,
    typer.Option(
        "--own-documents/--no-own-documents",
        help="Judge the text that a run carries even where --documents has the document too.",
        rich_help_panel=INPUTS,
    ),
]
Qrels = Annotated[
    Path | None,
    typer.Option(
        "--qrels",
        help="Grades of documents by topic, for judges that ask what was retrieved (grounding)."
        " TREC lines, or JSON of {topic: {doc: grade}}.",
        rich_help_panel=INPUTS,
    ),
]
Nuggets = Annotated[
    list[Path] | None,
    typer.Option(
        "--nuggets",
        help="Banks of nuggets, for judges that ask for them. A file or a folder; the judges are"
        " nuggets, argue and rubric.",
        rich_help_panel=INPUTS,
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        "--dataset",
        help="What records are taken for where several formats fit: rag, ragtime, dragun, auto.",
        rich_help_panel=INPUTS,
    ),
]
OnlyTopics = Annotated[
    list[str] | None,
    typer.Option("--topic", help="Judge only these topics.", rich_help_panel=INPUTS),
]
OnlyRuns = Annotated[
    list[str] | None,
    typer.Option("--run", help="Judge only these runs.", rich_help_panel=INPUTS),
]
MaxTopics = Annotated[
    int | None,
    typer.Option(
        "--max-topics", min=1, help="Judge only the first N topics.", rich_help_panel=INPUTS
    ),
]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", min=1, help="Judge only the first N runs.", rich_help_panel=INPUTS),
]
RecordKeys = Annotated[
    str,
    typer.Option(
        "--keys",
        metavar="PART=KEY,...",
        help="What the records of a pipeline call their question, answer, contexts, topic and run:"
        " question=prompt.text,answer=out,contexts=hits. Usual names are known.",
        rich_help_panel=INPUTS,
    ),
]
LimitFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="The most that is read: record (64MB a line or record), depth (200), entries"
        " (100000 of a list or object), stdin (1GB). What is larger is reported with its line, as"
        ' record_too_large, and left out; the rest is judged. TRECJUDGE_LIMITS="record=200MB'
        ' depth=500" sets it for every command.',
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
        help="Judges by name, or as module:Class. The command `judges` lists them; without this"
        " flag the workflow's judge is taken.",
        rich_help_panel=JUDGING,
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        help="Further judges, beside those of --judge or of the workflow.",
        rich_help_panel=JUDGING,
    ),
]
JudgmentsFrom = Annotated[
    Path | None,
    typer.Option(
        "--judgments-from",
        help="Labels of others in place of a judge's. JSONL of topic_id, run_id, sentence_index,"
        " doc_id, label; or assignments of nuggets; or assessments of a rubric (CSV).",
        rich_help_panel=JUDGING,
    ),
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(
        "--calibration",
        help="A file that `calibrate` wrote: weights of the offline attester for your labels.",
        rich_help_panel=JUDGING,
    ),
]
Human = Annotated[
    Path | None,
    typer.Option(
        "--human",
        help="JSONL as for --judgments-from: human labels of some items, which correct the means.",
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
        "--variant", help="Judge with a variant of the workflow.", rich_help_panel=JUDGING
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
        help="Judge at every point of a sweep, each into files of its own.",
        rich_help_panel=JUDGING,
    ),
]
UseEnvLlm = Annotated[
    bool,
    typer.Option(
        "--use-env-llm",
        help="Ask the model at OPENAI_BASE_URL. OPENAI_MODEL names it, and OPENAI_API_KEY is its"
        " key.",
        rich_help_panel=MODEL,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="Where model replies are kept; by default TRECJUDGE_CACHE or the user's cache folder.",
        rich_help_panel=MODEL,
    ),
]
CacheFrom = Annotated[
    list[Path] | None,
    typer.Option(
        "--cache-from",
        metavar="DIR",
        help="Folders of further caches, only read.",
        rich_help_panel=MODEL,
    ),
]
Refresh = Annotated[
    bool,
    typer.Option("--refresh", help="Ignore cached replies and ask again.", rich_help_panel=MODEL),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Use only cached replies; items without one stay unjudged.",
        rich_help_panel=MODEL,
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Count calls, tokens and price without asking.",
        rich_help_panel=MODEL,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", min=0, help="Make at most N calls.", rich_help_panel=MODEL),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=0, help="Stop asking once N tokens are spent.", rich_help_panel=MODEL
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", min=0, help="Stop asking once this much is spent.", rich_help_panel=MODEL
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
DebugLogFlag = Annotated[
    bool,
    typer.Option(
        "--debug-log/--no-debug-log",
        help="Write NAME.log, one JSON event a line.",
        rich_help_panel=OUTPUTS,
    ),
]
DocumentText = Annotated[
    bool,
    typer.Option(
        "--document-text/--no-document-text",
        help="Include document text in the log and the evidence.",
        rich_help_panel=OUTPUTS,
    ),
]
MeasuresShown = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        metavar="A,B",
        help="Further measures in the closing table: names, `all`, or `ranking` for each judge's.",
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
        help="Write NAME.report.html too, results to browse.",
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
        help="Print the closing table as one JSON object.",
        rich_help_panel=OUTPUTS,
    ),
]

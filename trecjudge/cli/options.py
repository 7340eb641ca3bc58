"""The flags of the command line: what each is called, takes and is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trecjudge.version import __version__

INPUTS, JUDGING, MODEL, OUTPUTS = "Inputs", "Judging", "Model", "Outputs"

Responses = Annotated[
    list[Path] | None,
    typer.Option(
        "--rag-responses",
        help="Run files, or folders of them at any depth; several may follow.",
        rich_help_panel=INPUTS,
    ),
]
Topics = Annotated[
    Path | None,
    typer.Option(
        "--rag-topics",
        help="The topic file; without it the topics are those that the runs answer.",
        rich_help_panel=INPUTS,
    ),
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        help="JSONL of docid, title, text: the organiser's documents, whose text is judged.",
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
        help="Grades of documents for judges that ask what was retrieved (grounding).",
        rich_help_panel=INPUTS,
    ),
]
Nuggets = Annotated[
    list[Path] | None,
    typer.Option(
        "--nuggets",
        help="Banks of nuggets, a file or a folder, for judges that ask for them.",
        rich_help_panel=INPUTS,
    ),
]
Dataset = Annotated[
    str,
    typer.Option("--dataset", help="rag, ragtime, dragun or auto.", rich_help_panel=INPUTS),
]
OnlyTopics = Annotated[
    list[str] | None,
    typer.Option("--topic", help="Judge only this topic; may be repeated.", rich_help_panel=INPUTS),
]
OnlyRuns = Annotated[
    list[str] | None,
    typer.Option("--run", help="Judge only this run; may be repeated.", rich_help_panel=INPUTS),
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
LimitFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="The most that is read: record (64MB a line or record), depth (200), entries"
        " (100000), stdin (1GB); may be repeated.",
        rich_help_panel=INPUTS,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop before judging if a finding could change a score.",
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
        help="Judges by name (see `judges`) or module:Class, separated by commas or repeated;"
        " else the workflow's.",
        rich_help_panel=JUDGING,
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", help="A further judge; may be repeated.", rich_help_panel=JUDGING),
]
JudgmentsFrom = Annotated[
    Path | None,
    typer.Option(
        "--judgments-from",
        help="JSONL of topic_id, run_id, sentence_index, doc_id, label: labels of others in"
        " place of the judge's; or AutoNuggetizer's assignments, Auto-ARGUE's judgments, or"
        " assessments of a rubric (CSV).",
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
        help="Override a setting, JUDGE.KEY, llm.KEY or leaderboard.KEY; VALUE is YAML.",
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
        help="Ask the model at OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY.",
        rich_help_panel=MODEL,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        help="Where model replies are kept; by default TRECJUDGE_CACHE or the user's cache folder.",
        rich_help_panel=MODEL,
    ),
]
CacheFrom = Annotated[
    list[Path] | None,
    typer.Option(
        "--cache-from",
        help="Folders of further caches, only read; several may follow.",
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
    typer.Option("--out-dir", help="The folder for all output files.", rich_help_panel=OUTPUTS),
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
Report = Annotated[
    bool,
    typer.Option(
        "--report",
        help="Write NAME.report.html too: the results to browse, in one file.",
        rich_help_panel=OUTPUTS,
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trecjudge {__version__}")
        raise typer.Exit


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

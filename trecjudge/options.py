"""The flags of the command line: what each is called, takes and is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

INPUTS, JUDGING, OUTPUTS = "Inputs", "Judging", "Outputs"

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
        help="JSONL of docid, title, text: document text that the runs lack.",
        rich_help_panel=INPUTS,
    ),
]
Dataset = Annotated[
    str,
    typer.Option("--dataset", help="rag, ragtime, dragun or auto.", rich_help_panel=INPUTS),
]
MaxTopics = Annotated[
    int | None,
    typer.Option(
        "--max-topics", min=1, help="Judge the first N topics alone.", rich_help_panel=INPUTS
    ),
]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", min=1, help="Judge the first N runs alone.", rich_help_panel=INPUTS),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop before judging if a finding bears on a score.",
        rich_help_panel=INPUTS,
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="A judge by name (see `judges`) or module:Class; else the workflow's, else citation.",
        rich_help_panel=JUDGING,
    ),
]
WorkflowFile = Annotated[
    Path | None,
    typer.Option("--workflow", help="A workflow file (YAML).", rich_help_panel=JUDGING),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a setting, llm.KEY or leaderboard.KEY; the value in YAML.",
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
        rich_help_panel=JUDGING,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        help="Where model replies are kept; else TRECJUDGE_CACHE, else the user's cache folder.",
        rich_help_panel=JUDGING,
    ),
]
OutDir = Annotated[
    Path,
    typer.Option("--out-dir", help="The folder for all output files.", rich_help_panel=OUTPUTS),
]
Name = Annotated[
    str,
    typer.Option("--name", help="What the files are named after.", rich_help_panel=OUTPUTS),
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
        help="Whether text of documents may stand in the log and in the evidence.",
        rich_help_panel=OUTPUTS,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors alone.", rich_help_panel=OUTPUTS)
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the closing table as one JSON object.",
        rich_help_panel=OUTPUTS,
    ),
]

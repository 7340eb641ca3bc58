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
        help="Whether text that a run carries is judged where --documents has the document too.",
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
Dataset = Annotated[
    str,
    typer.Option("--dataset", help="rag, ragtime, dragun or auto.", rich_help_panel=INPUTS),
]
OnlyTopics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic", help="Judge this topic alone; may be repeated.", rich_help_panel=INPUTS
    ),
]
OnlyRuns = Annotated[
    list[str] | None,
    typer.Option("--run", help="Judge this run alone; may be repeated.", rich_help_panel=INPUTS),
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
Check = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help="Hold the runs against the rules of their track first.",
        rich_help_panel=INPUTS,
    ),
]
JudgeName = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="Judges by name (see `judges`) or module:Class, by commas or repeated; else the"
        " workflow's.",
        rich_help_panel=JUDGING,
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", help="A judge beside these; may be repeated.", rich_help_panel=JUDGING),
]
JudgmentsFrom = Annotated[
    Path | None,
    typer.Option(
        "--judgments-from",
        help="JSONL of topic_id, run_id, sentence_index, doc_id, label: labels of others as the"
        " judge.",
        rich_help_panel=JUDGING,
    ),
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(
        "--calibration",
        help="What `calibrate` wrote: weights of the offline attester for labels of one's own.",
        rich_help_panel=JUDGING,
    ),
]
Human = Annotated[
    Path | None,
    typer.Option(
        "--human",
        help="JSONL as for --judgments-from, of some items: labels that correct the judge's means.",
        rich_help_panel=JUDGING,
    ),
]
WorkflowFile = Annotated[
    Path | None,
    typer.Option(
        "--workflow", help="A workflow file, or one shipped by name.", rich_help_panel=JUDGING
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a setting, JUDGE.KEY, llm.KEY or leaderboard.KEY; the value in YAML.",
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
        help="Where model replies are kept; else TRECJUDGE_CACHE, else the user's cache folder.",
        rich_help_panel=MODEL,
    ),
]
CacheFrom = Annotated[
    list[Path] | None,
    typer.Option(
        "--cache-from",
        help="Folders of further caches, read alone; several may follow.",
        rich_help_panel=MODEL,
    ),
]
Refresh = Annotated[
    bool,
    typer.Option("--refresh", help="Ask again whatever the cache has.", rich_help_panel=MODEL),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Take replies from the caches alone; what is missing is unjudged.",
        rich_help_panel=MODEL,
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Count calls, tokens and price, and ask nothing.",
        rich_help_panel=MODEL,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", min=0, help="Ask at most N times.", rich_help_panel=MODEL),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=0, help="Ask no more once N tokens are spent.", rich_help_panel=MODEL
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", min=0, help="Ask no more once so much is spent.", rich_help_panel=MODEL
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
Report = Annotated[
    bool,
    typer.Option(
        "--report",
        help="Write NAME.report.html too: all of it to look at, in one file.",
        rich_help_panel=OUTPUTS,
    ),
]


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trecjudge {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_tell_version, is_eager=True),
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
Cache = Annotated[
    Path | None,
    typer.Option("--cache-dir", help="The cache; else TRECJUDGE_CACHE, else the user's."),
]
CacheFolder = Annotated[Path, typer.Argument(help="A folder with a cache.")]
CacheModel = Annotated[str | None, typer.Option("--model", help="Replies of this model alone.")]
OlderThan = Annotated[
    float | None, typer.Option("--older-than", min=0, help="Replies older than so many days.")
]
Runs = Annotated[list[Path], typer.Argument(help="Run files, or folders of them.")]
Track = Annotated[
    str, typer.Option("--track", help="The track whose rules hold; else each file tells.")
]
Fix = Annotated[
    Path | None, typer.Option("--fix", help="A folder for repaired copies; every change is said.")
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="JSONL of sentence, passage, label; or of topic_id, run_id, sentence_index, doc_id,"
        " label, with --rag-responses. Without it the runs' words alone are counted.",
    ),
]
LabelledRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--rag-responses",
        help="The runs that the labels are on, or whose documents are to be counted.",
    ),
]
CalibrationOut = Annotated[
    Path, typer.Option("--out", help="The calibration file to write, for --calibration.")
]
JudgedJob = Annotated[
    Path, typer.Argument(help="The --out-dir of a job, FOLDER/NAME, or any of its files.")
]
JobName = Annotated[
    str | None, typer.Option("--name", help="Which job, where the folder holds several.")
]
ReportText = Annotated[
    bool | None,
    typer.Option(
        "--document-text/--no-document-text",
        help="Whether text of documents may stand in the report; else as in the job.",
    ),
]
Compare = Annotated[
    Path | None,
    typer.Option("--compare", help="Another job on the same runs: what flipped."),
]
TRUTH = typer.Option("--truth", help="A leaderboard of others, as from assessors, of any format.")
Truth = Annotated[Path | None, TRUTH]
TruthMeasure = Annotated[
    list[str] | None,
    typer.Option(
        "--truth-measure",
        help="What --truth calls our measure: THEIRS for the one that ranks, or OURS=THEIRS; may be"
        " repeated; else those of the same name.",
    ),
]
MaxSize = Annotated[
    float,
    typer.Option(
        "--max-size", min=0, help="Past so many MB detail goes into a folder beside the file."
    ),
]
ShownRun = Annotated[str, typer.Option("--run", help="The run.")]
ShownTopic = Annotated[str, typer.Option("--topic", help="The topic.")]

"""The flags and arguments of the commands beside the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="The folder of cached replies; by default TRECJUDGE_CACHE or the user's cache folder.",
    ),
]
CacheFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder with a cache.")]
CacheModel = Annotated[str | None, typer.Option("--model", help="Only replies of this model.")]
OlderThan = Annotated[
    float | None,
    typer.Option(
        "--older-than", metavar="DAYS", min=0, help="Only replies older than this many days."
    ),
]
Runs = Annotated[list[Path], typer.Argument(help="Run files, or folders of them.")]
RunsIfAny = Annotated[
    list[Path] | None,
    typer.Argument(help="Run files, or folders of them; may be left out with --nuggets."),
]
Track = Annotated[
    str,
    typer.Option(
        "--track", help="The track whose rules apply; by default recognised from each file."
    ),
]
Fix = Annotated[
    Path | None,
    typer.Option(
        "--fix", metavar="DIR", help="A folder for repaired copies; what is left to do is listed."
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Labels: JSONL with sentence, passage, label; or, with --rag-responses, JSONL or CSV"
        " with topic_id, run_id, sentence_index, doc_id, label. Without it only the words of the"
        " runs are counted.",
    ),
]
LabelledRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--rag-responses",
        help="The runs that were labelled, or whose words are to be counted.",
    ),
]
CalibrationOut = Annotated[
    Path, typer.Option("--out", help="The calibration file to write, for --calibration.")
]
JudgedJob = Annotated[
    Path, typer.Argument(help="The --out-dir of a job, FOLDER/NAME, or any of its files.")
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Import judges and measures that the file names and that are not installed."
    ),
]
JobName = Annotated[
    str | None, typer.Option("--name", help="The job to take, where the folder holds several.")
]
ReportText = Annotated[
    bool | None,
    typer.Option(
        "--document-text/--no-document-text",
        help="Include document text in the report; by default as in the job.",
    ),
]
Compare = Annotated[
    Path | None,
    typer.Option("--compare", help="Another job on the same runs, to show which judgments differ."),
]
TRUTH = typer.Option(
    "--truth", help="A leaderboard to compare with, such as the assessors', in any format."
)
Truth = Annotated[Path | None, TRUTH]
TruthMeasure = Annotated[
    list[str] | None,
    typer.Option(
        "--truth-measure",
        help="The measure of --truth to compare with: THEIRS for the one that ranks, or"
        " OURS=THEIRS; by default the one of the same name.",
    ),
]
MaxSize = Annotated[
    float,
    typer.Option(
        "--max-size", min=0, help="Put details into a folder beside the file above this size in MB."
    ),
]
WideTable = Annotated[
    bool, typer.Option("--wide", help="Show whole names and all columns, however long the lines.")
]
AllTableRows = Annotated[
    bool, typer.Option("--all", help="Show all rows of the tables, not only the first 20.")
]
OfRuns = Annotated[list[str] | None, typer.Option("--run", help="Only these runs; else all.")]
OfTopics = Annotated[list[str] | None, typer.Option("--topic", help="Only these topics; else all.")]
OfJudges = Annotated[list[str] | None, typer.Option("--judge", help="Only these judges; else all.")]
OfLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        help="Only these labels; else all. `none`, `partial` and `full` are short names;"
        " `missing_document` and `unjudged` are labels too.",
    ),
]
Unjudged = Annotated[
    bool, typer.Option("--unjudged", help="Only what is unjudged; beside --label, that too.")
]

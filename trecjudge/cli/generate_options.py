"""The flags of `generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli.options import INPUTS, OUTPUTS

ANSWERS = "Answers"

Index = Annotated[
    str,
    typer.Option(
        "--index",
        metavar="FILE",
        help="The index of the documents, as `index` wrote it.",
        rich_help_panel=INPUTS,
    ),
]
TopicFile = Annotated[
    Path, typer.Option("--rag-topics", help="The topic file.", rich_help_panel=INPUTS)
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="The track that the run is for, such as rag25, rag26, ragtime26 or dragun25.",
        rich_help_panel=OUTPUTS,
    ),
]
RunId = Annotated[
    str,
    typer.Option(
        "--run-id",
        help="The id of the run; by default --name, else how it is made, such as extractive-bm25.",
        rich_help_panel=OUTPUTS,
    ),
]
TeamId = Annotated[
    str, typer.Option("--team-id", help="The name of the team.", rich_help_panel=OUTPUTS)
]
RunName = Annotated[
    str,
    typer.Option(
        "--name",
        help="The name that output files start with; by default the run's.",
        rich_help_panel=OUTPUTS,
    ),
]
CarryDocuments = Annotated[
    bool,
    typer.Option(
        "--carry-documents/--no-carry-documents",
        help="Put the documents that are cited into the run, to judge it without --documents.",
        rich_help_panel=OUTPUTS,
    ),
]
Top = Annotated[
    int,
    typer.Option("--top", min=1, help="Answer from the N best passages.", rich_help_panel=ANSWERS),
]
Threshold = Annotated[
    Path | None,
    typer.Option(
        "--threshold",
        metavar="FILE",
        help="Abstain below the confidence of this file, which `search --calibrate` wrote; by"
        " default INDEX.threshold.json, if it is there.",
        rich_help_panel=ANSWERS,
    ),
]
MaxWords = Annotated[
    int | None,
    typer.Option(
        "--max-words",
        min=1,
        help="Answer in N words at most, where the track allows more.",
        rich_help_panel=ANSWERS,
    ),
]
Rounds = Annotated[
    int,
    typer.Option(
        "--rounds",
        min=0,
        help="Let a model name what its answer lacks, and search again, N times at most.",
        rich_help_panel=ANSWERS,
    ),
]
MaskPii = Annotated[
    bool,
    typer.Option(
        "--mask-pii/--no-mask-pii",
        help="Mask email addresses, telephone, card and account numbers, IP addresses and national"
        " ids: no model sees them, and no answer has them.",
        rich_help_panel=ANSWERS,
    ),
]

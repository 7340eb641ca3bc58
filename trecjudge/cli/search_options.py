"""The flags of `search`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.cli.options import INPUTS, OUTPUTS

SEARCH, LINE = "Search", "Whether the documents answer at all"

Index = Annotated[str, typer.Argument(metavar="INDEX", help="The index, as `index` wrote it.")]
Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What is looked for; quote it as one word.")
]
Retriever = Annotated[
    Literal["bm25", "dense", "hybrid"],
    typer.Option(
        "--retriever",
        metavar="NAME",
        help="How passages are found: bm25 by words, dense by vectors, hybrid by both.",
        rich_help_panel=SEARCH,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        "--top",
        min=1,
        help="The N best passages: 10 for a question, 100 documents for topics.",
        rich_help_panel=SEARCH,
    ),
]
OnlyDocuments = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="FIELD=VALUE",
        help="Only documents with this value of a field, or one of several; since=DATE and"
        " until=DATE bound the date.",
        rich_help_panel=SEARCH,
    ),
]
Recency = Annotated[
    float,
    typer.Option(
        "--recency",
        metavar="DAYS",
        min=0,
        help="Raise newer documents: the newest twofold, half of that raise after so many days.",
        rich_help_panel=SEARCH,
    ),
]
OnePerDocument = Annotated[
    bool,
    typer.Option(
        "--one-per-document",
        help="Only the best passage of each document.",
        rich_help_panel=SEARCH,
    ),
]
Rerank = Annotated[
    int,
    typer.Option(
        "--rerank",
        min=0,
        help="Have the first N passages graded and put in order; needs --use-env-llm.",
        rich_help_panel=SEARCH,
    ),
]
RerankBy = Annotated[
    Literal["model", "endpoint"],
    typer.Option(
        "--rerank-by",
        metavar="NAME",
        help="What reranks: the model, or an endpoint's /rerank (RERANK_MODEL names it).",
        rich_help_panel=SEARCH,
    ),
]
Topics = Annotated[
    Path | None,
    typer.Option("--rag-topics", help="Search for every topic of a file.", rich_help_panel=INPUTS),
]
Trec = Annotated[
    Path | None,
    typer.Option(
        "--trec",
        help="A file for what the topics find, as a TREC run: a line a document.",
        rich_help_panel=OUTPUTS,
    ),
]
Tag = Annotated[
    str,
    typer.Option(
        "--tag", help="The name of that run; by default the retriever's.", rich_help_panel=OUTPUTS
    ),
]
Calibrate = Annotated[
    Path | None,
    typer.Option(
        "--calibrate",
        metavar="TOPICS",
        help="Topics that the documents answer: write the least confidence of an answer.",
        rich_help_panel=LINE,
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="TOPICS",
        help="With --calibrate: topics that the documents do not answer.",
        rich_help_panel=LINE,
    ),
]
ThresholdFile = Annotated[
    Path | None,
    typer.Option(
        "--threshold",
        metavar="FILE",
        help="The file of that threshold; by default INDEX.threshold.json.",
        rich_help_panel=LINE,
    ),
]

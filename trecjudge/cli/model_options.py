"""The flags on the model: which one is asked, what is kept, and what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Model"

UseEnvLlm = Annotated[
    bool,
    typer.Option(
        "--use-env-llm",
        help="Ask the model at OPENAI_BASE_URL. OPENAI_MODEL is its name, and OPENAI_API_KEY the"
        " key.",
        rich_help_panel=PANEL,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="The folder of cached replies; by default TRECJUDGE_CACHE or the user's cache folder.",
        rich_help_panel=PANEL,
    ),
]
CacheFrom = Annotated[
    list[Path] | None,
    typer.Option(
        "--cache-from",
        metavar="DIR",
        help="Folders of other caches to read, which are not changed.",
        rich_help_panel=PANEL,
    ),
]
Refresh = Annotated[
    bool,
    typer.Option("--refresh", help="Ignore cached replies and ask again.", rich_help_panel=PANEL),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Use only cached replies; items without one stay unjudged.",
        rich_help_panel=PANEL,
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Count calls, tokens and price; ask nothing.",
        rich_help_panel=PANEL,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls", min=0, help="Make at most N calls of the model.", rich_help_panel=PANEL
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=0, help="Stop asking once N tokens are spent.", rich_help_panel=PANEL
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0,
        help="Stop asking once this much is spent, in dollars.",
        rich_help_panel=PANEL,
    ),
]

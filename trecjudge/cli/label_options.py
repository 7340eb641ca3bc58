"""The flag that says what labels of people mean, of every command that reads some."""

from __future__ import annotations

from typing import Annotated

import typer

MapLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="LABEL=LABEL",
        help="What a label of people means to the judge, such as good=full_support. Usual words and"
        " numbers are known.",
        rich_help_panel="Judging",
    ),
]

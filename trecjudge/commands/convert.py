"""`convert`: a leaderboard in the format of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.commands import statistics as common
from trecjudge.commands.ending import exits


@exits
def convert(
    leaderboard: Annotated[
        Path, typer.Argument(help="An output folder, FOLDER/NAME, or a leaderboard file.")
    ],
    target: Annotated[
        Path, typer.Argument(help="The new file; for trec_eval a folder, one file a run.")
    ],
    to: Annotated[
        Literal["ir_measures", "trec_eval", "tot", "rag4reports", "jsonl", "csv"],
        typer.Option(help="The format to write."),
    ],
    format_name: common.Format = "auto",
) -> int:
    """Write a leaderboard in another format."""
    from trecjudge.errors import InputError
    from trecjudge.leaderboards.layouts import LAYOUTS
    from trecjudge.leaderboards.outcomes import outcome
    from trecjudge.leaderboards.reading import read_all
    from trecjudge.leaderboards.writing import write_rows

    heard = common.Heard()
    found = outcome(leaderboard)
    files = found.leaderboard or [path for path in (found.statistics,) if path]
    rows = [row for _, row in read_all(files, heard, format_name)]
    if not rows:
        raise InputError(f"{found.place}: no scores in it; give a leaderboard")
    write_rows(rows, target, LAYOUTS[to])
    heard.close()
    return heard.status()

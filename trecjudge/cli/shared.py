"""What the statistics commands share: flags, printed findings, sources of statistics."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer

from trecjudge.cli.exits import before_error, print_errors
from trecjudge.errors import InputError
from trecjudge.files import chosen
from trecjudge.findings import PREFIX, Finding, FirstFindings, OnFinding
from trecjudge.measures import UNJUDGED

if TYPE_CHECKING:  # numpy: not for `rescore --help`
    from trecjudge.stats.scores import Scores

FormatName = Literal["auto", "ir_measures", "trec_eval", "tot", "rag4reports", "jsonl", "csv"]
Leaderboards = Annotated[
    list[Path],
    typer.Argument(help="Jobs (by folder, FOLDER/NAME, any file), or leaderboards of any format."),
]
Leaderboard = Annotated[
    Path, typer.Argument(help="A job (its folder, FOLDER/NAME, any of its files) or a leaderboard.")
]
Format = Annotated[
    FormatName,
    typer.Option(
        "--format", metavar="FORMAT", help="The format of the leaderboards; by default recognised."
    ),
]
TruthFormat = Annotated[
    FormatName,
    typer.Option(
        "--truth-format", metavar="FORMAT", help="The format of the truth; by default recognised."
    ),
]
AllRows = Annotated[
    Literal["error", "checked", "given", "recomputed"],
    typer.Option(
        "--all-rows",
        help="How to treat `all` rows that contradict their topics: an error, recomputed from the"
        " topics of that measure (checked), or taken as given; `recomputed` recomputes all rows.",
    ),
]
JsonlFile = Annotated[
    Path | None, typer.Option("--output", help="A file for JSONL, one object a line.")
]
Duplicates = Annotated[
    Literal["first", "last", "mean", "error"],
    typer.Option(help="Which value counts where a run has two on one topic."),
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", help="Only these measures; else all."),
]
Digits = Annotated[
    int, typer.Option("--digits", min=0, max=6, help="For a table: decimals of a value.")
]
To = Annotated[
    Literal["markdown", "latex", "html", "csv"] | None,
    typer.Option("--to", help="Print a table for a paper or a page, or write it to --output."),
]


class FindingPrinter:
    """Prints the first few findings of each kind as they come, and keeps all of them.

    With `quiet` only errors are printed (something was left out), and the kinds in `always`.
    """

    def __init__(self, quiet: bool = False, always: Collection[str] = ()) -> None:
        self.findings: dict[Finding, None] = {}
        self._quiet = quiet
        self._always = always
        self._first = FirstFindings()
        before_error(self.close)

    def __call__(self, finding: Finding) -> None:
        # Leaderboards are read more than once in a command, and would report the same each time.
        if finding in self.findings:
            return
        self.findings[finding] = None
        is_printed = not self._quiet or finding.severity == "error" or finding.kind in self._always
        if is_printed and self._first.take(finding):
            print_errors([f"{PREFIX[finding.severity]}: {finding}"])

    def close(self) -> None:
        """Print, once, how many findings of each kind were not printed."""
        print_errors(self._first.rest())
        self._first.hidden.clear()

    def status(self, strict: bool = False) -> int:
        """Return 3 if something was left out, 1 for any other finding if `strict`, else 0."""
        bad = {finding.severity for finding in self.findings}
        if strict and bad & {"error", "warning"}:
            return 1
        # 3 also means that something was left out, as after a job with unjudged items.
        return 3 if "error" in bad else 0

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the findings as JSON values."""
        return [{"kind": finding.kind, "message": str(finding)} for finding in self.findings]


def refusing(on_finding: OnFinding, all_rows: str) -> OnFinding:
    """Return a callback that raises InputError for contradicted `all` rows if they are errors."""

    def check(finding: Finding) -> None:
        if finding.kind == "all_row_differs" and all_rows == "error":
            choices = "--all-rows given takes the row, checked or recomputed what its topics give"
            raise InputError(f"{finding}; {choices}")
        on_finding(finding)

    return check


def print_sources(tables: Iterable[Scores], quiet: bool = False) -> None:
    """Print where the counts of unjudged items of each leaderboard come from."""
    for table in () if quiet else tables:
        if table.statistics:
            print_errors([f"note: {table.name}: with its statistics, {table.statistics}"])
        elif table.unjudged:
            rows = f"its rows of MEASURE{UNJUDGED} count what is unjudged; no bounds are known"
            print_errors([f"note: {table.name}: {rows}"])


def sources(tables: Iterable[Scores]) -> dict[str, str | None]:
    """Return the statistics file of each leaderboard by its name, None where none is used."""
    return {table.name: table.statistics or None for table in tables}


def write_jsonl(path: Path, records: Iterable[object]) -> None:
    """Write one JSON object a line, whole or not at all. Raises OutputError."""
    with chosen(path) as file:
        for record in records:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def write_text(path: Path | None, text: str) -> None:
    """Write a text whole or not at all; print it where no path is given. Raises OutputError."""
    if path is None:
        typer.echo(text, nl=False)
        return
    with chosen(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def check_form(to: str | None, as_json: bool, out: Path | None = None) -> None:
    """Raise InputError for --to beside --json, and for an --output that --to does not fill."""
    if to is not None and as_json:
        raise InputError("--to prints a table and --json an object: give one of them")
    if to is None and out is not None:
        raise InputError("--output needs --to: markdown, latex, html or csv")

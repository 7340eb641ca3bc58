"""`judges`, `formats` and `schema`: what there is, for people and for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trecjudge.cli.exits import Later
from trecjudge.cli.parameters import Flags, command_with
from trecjudge.cli.printing import print_lines, print_listing
from trecjudge.errors import PluginError
from trecjudge.inputs.formats.registry import all_formats
from trecjudge.judging.judge import judge_names, summary_of

if TYPE_CHECKING:  # pydantic: for `schema` only
    from trecjudge.job import schema as schemas
else:
    schemas = Later("trecjudge.job.schema")


@command_with(Flags)
def judges(flags: Flags) -> int:
    """List the judges."""
    rows = []
    for name in judge_names():
        try:
            rows.append((name, summary_of(name)))
        # One broken judge of the user must not hide all others.
        except PluginError as error:
            rows.append((name, f"broken: {error}"))
    return print_listing(rows)


@command_with(Flags)
def formats(flags: Flags) -> int:
    """List the run formats."""
    return print_listing([(f.NAME, f"({f.DATASET}) {f.SUMMARY}") for f in all_formats()])


@command_with(Flags)
def schema(flags: Flags) -> int:
    """Print the JSON Schema of workflows, for editors.

    It has the judges of the folder that you run it from too.
    """
    print_lines([schemas.schema_text().rstrip()])
    return 0

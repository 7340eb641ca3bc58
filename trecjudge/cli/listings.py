"""`judges` and `formats`: what there is, one line each."""

from __future__ import annotations

from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_listing
from trecjudge.errors import PluginError
from trecjudge.inputs.formats.registry import all_formats
from trecjudge.judging.judge import judge_names, summary_of


@exits
def judges() -> int:
    """List the judges."""
    rows = []
    for name in judge_names():
        try:
            rows.append((name, summary_of(name)))
        # One broken judge of the user must not hide all others.
        except PluginError as error:
            rows.append((name, f"broken: {error}"))
    return print_listing(rows)


@exits
def formats() -> int:
    """List the run formats."""
    return print_listing([(f.NAME, f"({f.DATASET}) {f.SUMMARY}") for f in all_formats()])

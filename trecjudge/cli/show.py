"""`show`: responses in the terminal, with their judgments and reasons."""

from __future__ import annotations

from typing import Any

from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import ItemFlags
from trecjudge.cli.parameters import command_with
from trecjudge.cli.printing import print_lines, text_output
from trecjudge.errors import InputError
from trecjudge.findings import counted
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.selection import Selected, Selection
from trecjudge.show.terminal import chosen_view, find_response, response_view


@command_with(ItemFlags)
def show_response(flags: ItemFlags) -> int:
    """Print responses with labels, reasons and evidence.

    The flags choose which sentences and citations are shown.
    """
    path = judged_job(flags.job, flags.name).judgments
    wanted = selection_of(flags)
    if wanted == Selection():
        raise InputError(
            "give --run, --topic, --judge, --label or --unjudged; `judgments` lists all in lines"
        )
    if wanted.is_of_responses and len(wanted.runs) == len(wanted.topics) == 1:
        found = find_response(path, wanted.runs[0], wanted.topics[0])
        text_output().print(response_view(*found))
        return 0
    return _show_chosen(Selected(JudgmentsReader(path), wanted))


def selection_of(flags: ItemFlags, **more: Any) -> Selection:
    """Return which judgments are chosen; `more` are those fields of it that not all flags have."""
    return Selection(
        runs=flags.run,
        topics=flags.topic,
        judges=flags.judge,
        labels=flags.label,
        unjudged=flags.unjudged,
        **more,
    )


def _show_chosen(selected: Selected) -> int:
    view = response_view if selected.selection.is_of_responses else chosen_view
    console = text_output()
    for response, judgments in selected:
        if selected.responses > 1:
            print_lines([""])
        console.print(view(response, judgments))
    if not selected.responses:
        print_errors([selected.none_line])
    elif not selected.selection.is_of_responses:
        found = counted(selected.judgments, "judgment")
        print_errors([f"{found} on {counted(selected.responses, 'response')}"])
    return 0

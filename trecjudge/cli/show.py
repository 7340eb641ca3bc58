"""`show`: responses in the terminal, with their judgments and reasons."""

from __future__ import annotations

from trecjudge.cli import command_options as own
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.printing import print_lines, text_output
from trecjudge.errors import InputError
from trecjudge.findings import counted
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.selection import Selected, Selection
from trecjudge.show.terminal import chosen_view, find_response, response_view


@exits
def show_response(
    job: own.JudgedJob,
    run: own.OfRuns = None,
    topic: own.OfTopics = None,
    judge: own.OfJudges = None,
    label: own.OfLabels = None,
    unjudged: own.Unjudged = False,
    name: own.JobName = None,
) -> int:
    """Print responses with labels, reasons and evidence.

    The flags choose which sentences and citations are shown.
    """
    path = judged_job(job, name).judgments
    wanted = Selection(run or (), topic or (), judge or (), label or (), unjudged=unjudged)
    if wanted == Selection():
        raise InputError(
            "give --run, --topic, --judge, --label or --unjudged; `judgments` lists all in lines"
        )
    if wanted.is_of_responses and len(wanted.runs) == len(wanted.topics) == 1:
        found = find_response(path, wanted.runs[0], wanted.topics[0])
        text_output().print(response_view(*found))
        return 0
    return _show_chosen(Selected(JudgmentsReader(path), wanted))


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

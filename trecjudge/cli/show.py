"""`show`: a response in the terminal, with its judgments and their reasons."""

from __future__ import annotations

from trecjudge.cli import command_options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import text_output
from trecjudge.results.jobs import judged_job
from trecjudge.show.terminal import find_response, response_view


@exits
def show_response(
    job: flag.JudgedJob,
    run: flag.ShownRun,
    topic: flag.ShownTopic,
    name: flag.JobName = None,
) -> int:
    """Print a response: sentences by label, citations with reason and evidence."""
    found = find_response(judged_job(job, name).judgments, run, topic)
    text_output().print(response_view(*found))
    return 0

"""`show`: what a run says on a topic, how it was judged and why, in the terminal."""

from __future__ import annotations

from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import output
from trecjudge.report.output import find_output
from trecjudge.report.terminal import find_response, response_view


@exits
def show_response(
    folder: flag.Output,
    run: flag.ShownRun,
    topic: flag.ShownTopic,
    name: flag.OutputName = None,
) -> int:
    """Print a response: sentences by label, citations with reason and evidence."""
    found = find_response(find_output(folder, name).judgments, run, topic)
    output().print(response_view(*found))
    return 0

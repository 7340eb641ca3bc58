"""`init`: look at a folder, write a workflow for it, print the command to run."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from trecjudge.cli.flags import QuietFlags
from trecjudge.cli.parameters import argument, command_with, option, switch
from trecjudge.cli.printing import print_lines
from trecjudge.errors import InputError, OutputError
from trecjudge.files import open_target, resolve_links
from trecjudge.inputs.formats.registry import all_formats
from trecjudge.job.discover import discover, propose


class InitFlags(QuietFlags):
    """The folder to look at, and the workflow to write."""

    folder: Path = argument("The folder with the runs, their topics and documents.", Path("."))
    output: Path = option("The workflow to write.", Path("judge.yml"))
    force: bool = switch("Replace the workflow if it is there.", "--force")


@command_with(InitFlags)
def init(flags: InitFlags) -> int:
    """Write a workflow for what is in a folder.

    It asks nothing, and prints the command to run. It chooses the judge that fits the runs, and
    the workflow says why.
    """
    folder, output = flags.folder, flags.output
    if output.exists() and not flags.force:
        raise OutputError(
            f"{output}: is there already; --force replaces it, --output names another"
        )
    found = discover(folder)
    if not found.responses:
        formats = ", ".join(format_.NAME for format_ in all_formats())
        kinds = ", ".join(sorted(found.files)) or "nothing else that is known"
        raise InputError(
            f"{folder}: no run in it. Looked for files of responses ({formats}) at any depth;"
            f" `run_judge.py job formats` says what each looks like. Found: {kinds}"
        )
    proposal = propose(folder, found)
    output.parent.mkdir(parents=True, exist_ok=True)
    with open_target(output) as file:
        file.write(proposal.text(output).encode())
    name = (
        re.sub(r"[^\w.+-]+", "_", resolve_links(folder).name, flags=re.ASCII).strip("_.-")
        or "judged"
    )
    if flags.quiet:
        return 0
    print_lines(
        [
            f"{output}: judge {proposal.judge}, since {proposal.why}; run",
            "",
            proposal.command(_program(), output, name),
        ]
    )
    return 0


def _program() -> str:
    """Return how this program was started."""
    started = Path(sys.argv[0])
    if started.name == "run_judge.py":
        return f"python {shlex.quote(str(started))}"
    return "python -m trecjudge" if started.name == "__main__.py" else "run-judge"

"""`schema`: the JSON Schema of workflows, by which editors complete and check them."""

from __future__ import annotations

from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_lines
from trecjudge.job.schema import schema_text


@exits
def schema() -> int:
    """Print the JSON Schema of workflows, for editors.

    It has the judges of the folder that you run it from too.
    """
    print_lines([schema_text().rstrip()])
    return 0

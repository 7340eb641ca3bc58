"""The verdicts of the organisers' checker on the files of a folder, as TSV.

Needs nothing but `autojudge-base`, so that any Python that has it can run this file:
`python organisers.py FOLDER` reads `FOLDER/TRACK/requests.jsonl` and `FOLDER/TRACK/*.run`.
"""

from __future__ import annotations

import sys
from pathlib import Path


def verdict(run: Path, requests: Path) -> str:
    """Return `accepted`, `warned` or `refused`; `unread` where it ends in an exception."""
    from autojudge_base.report_tool import main
    from click.testing import CliRunner

    arguments = ["check", str(run), "--spec", run.parent.name, "--topics", str(requests)]
    done = CliRunner().invoke(main, arguments)
    if done.exit_code == 0:
        warned = "SMELL" in done.output or "(smell)" in done.output
        return "warned" if warned else "accepted"
    return "refused" if done.exit_code == 255 else "unread"


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*/*.run")):
        print(path.parent.name, path.stem, verdict(path, path.parent / "requests.jsonl"), sep="\t")

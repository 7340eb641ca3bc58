"""The sheet of a team: what it is told of its own runs, and of all others three values a topic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.results.outputs import Outputs, replace_unsafe
from trecjudge.show.html.cards import Cards

LONGEST_NAME = 40
"""Characters of a run_id that are in the name of its file."""


def sheet_values(
    job: str, cards: Cards, scores: Sequence[Sequence[Sequence[Any]]]
) -> dict[str, Any]:
    """Return a sheet as JSON values; `scores` as the page has them."""
    own = [run for run in cards.board.ranking() if run in cards.runs]
    topics = [
        {
            "topic": topic,
            "measure": measure.name,
            "own": {run: scores[m][r][t] for r, run in enumerate(own)},
            "best": three[0],
            "median": three[1],
            "worst": three[2],
        }
        for m, measure in enumerate(cards.board.spec.measures)
        for t, topic in enumerate(cards.board.expected)
        if (three := cards.others[m][t]) is not None
    ]
    return {"job": job, "runs": cards.cards(), "topics": topics}


def sheet_paths(
    outputs: Outputs, every: Collection[str], runs: Sequence[str], folder: Path | None
) -> dict[Path, Sequence[str]]:
    """Return the page of each sheet with its runs: one for `runs`, in a `folder` one for each run.

    Raises InputError for a run that the job does not have.
    """
    for run in runs:
        if run not in every:
            raise InputError(f"--run {run!r}: {unknown('run', run, every)}")
    if folder is not None:
        names = _file_names(runs or sorted(every))
        return {folder / f"{name}.sheet.html": [run] for run, name in names.items()}
    own = list(dict.fromkeys(runs))
    more = f"+{len(own) - 1}" if len(own) > 1 else ""
    name = _file_names(sorted(every))[own[0]]
    return {outputs.folder / f"{outputs.name}.{name}{more}.sheet.html": own}


def _file_names(runs: Iterable[str]) -> dict[str, str]:
    """Return a name that every file system takes for each run, no two of them alike."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for run in runs:
        name = replace_unsafe(run).lstrip("._+-")[:LONGEST_NAME] or "run"
        while name.casefold() in taken:  # some file systems know no case
            name += "+"
        taken.add(name.casefold())
        found[run] = name
    return found

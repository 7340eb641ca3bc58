"""The teams of runs: from a file with a run and its team in each line, or from a job."""

from __future__ import annotations

from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.files import read_text
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader


def teams_at(path: Path) -> dict[str, str]:
    """Return the team of each run: of a table, else of the job that is there.

    A run of a job without a team is a team of its own. Raises InputError for what is neither.
    """
    if path.is_file() and path.suffix in (".tsv", ".csv", ".txt"):
        return teams_in(path)
    reader = JudgmentsReader(judged_job(path).judgments)
    return {response.run_id: response.team_id or response.run_id for response, _ in reader}


def teams_in(path: Path) -> dict[str, str]:
    """Return the team of each run of a file with both in each line. Raises InputError."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        parts = [part.strip() for part in line.replace(",", "\t").split("\t")]
        if not any(parts):
            continue
        if len(parts) != 2 or not all(parts):
            raise InputError(f"{path}:{number}: must be a run and its team, with a tab between")
        if found.setdefault(parts[0], parts[1]) != parts[1]:
            raise InputError(
                f"{path}:{number}: run {parts[0]!r} has a team already: {found[parts[0]]}"
            )
    return found

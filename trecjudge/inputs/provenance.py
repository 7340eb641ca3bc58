"""Where the sentences of a run are from: `NAME.provenance.jsonl` beside the run's file."""

from __future__ import annotations

from pathlib import Path

from trecjudge.inputs.sources.containers import bare_name


def provenance_path(run: Path) -> Path:
    """Return where the provenance of a run file is: beside `a.jsonl.gz` in `a.provenance.jsonl`."""
    return run.with_name(f"{bare_name(run)}.provenance.jsonl")

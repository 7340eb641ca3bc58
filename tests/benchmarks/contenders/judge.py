"""One job of the citation judge, everything in it: reading, asking, judging, all files written."""

from __future__ import annotations

import cProfile
import importlib
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from clock import Clock
from rich.console import Console

from trecjudge.job.request import Job
from trecjudge.job.run import run_job
from trecjudge.job.workflow import Workflow
from trecjudge.models.adapters import dspy_module, load_signature
from trecjudge.models.opening import ModelOptions
from trecjudge.results.outputs import Outputs
from trecjudge.show.progress import ConsoleWatcher


def job_of(spec: dict[str, Any]) -> Job:
    """Return the job that a benchmark describes."""
    llm = {"base_url": spec["url"], "model": "stub"} | spec["llm"]
    return Job(
        judges=["citation"],
        settings={},
        workflow=Workflow(llm=llm),
        runs=[Path(spec["runs"])],
        outputs=Outputs(Path(spec["out"]), spec["name"]),
        model=ModelOptions(use=True, cache_folder=Path(spec["cache"])),
        log="full" if spec["debug_log"] else "none",
    )


def main() -> None:
    """Run the job described on standard input and report."""
    spec = json.loads(sys.stdin.read())
    os.environ["OPENAI_API_KEY"] = "none"
    job = job_of(spec)
    dspy_module()
    load_signature("trecjudge.judges.citation.program:Attest")
    for heavy in ("trecjudge.models.client", "trecjudge.stats.correlation"):
        importlib.import_module(heavy)
    profile = cProfile.Profile() if spec["profile"] else None
    clock = Clock()
    with profile or nullcontext(), ConsoleWatcher(Console(stderr=True), quiet=True) as watcher:
        summary = run_job(job, watcher)
    coverage = [run.coverage for run in summary.runs]
    clock.report(
        sum(c.expected for c in coverage),
        judged=sum(c.judged for c in coverage),
        failures=dict(summary.failures),
        spent=summary.calls,
    )
    if profile:
        profile.dump_stats(spec["profile"])


if __name__ == "__main__":
    main()

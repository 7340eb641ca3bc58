"""`documents`: pack what jobs were judged by, and see where the documents of runs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.lazy import Command, Group, Later
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.cli.shared import FindingPrinter
from trecjudge.errors import InputError
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.inputs.sources.paths import was_given_elsewhere
from trecjudge.job.documents import check_documents, narrow_to_judged, pack_documents
from trecjudge.job.job import Job
from trecjudge.models.opening import ModelOptions
from trecjudge.results.jobs import judged_job, kind_of
from trecjudge.results.outputs import Outputs
from trecjudge.settings.limits import limited
from trecjudge.show.html.output import read_config

if TYPE_CHECKING:  # rich: not for --help
    from trecjudge.show import documents as shown
else:
    shown = Later("trecjudge.show.documents")

documents_app = typer.Typer(
    cls=Group, help="Pack the documents of jobs; see where those of runs are.", add_completion=False
)
Jobs = Annotated[
    list[Path], typer.Argument(help="Jobs: their --out-dir, FOLDER/NAME, or any of their files.")
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="The pack: NAME.jsonl, NAME.jsonl.gz or NAME.jsonl.zst."),
]
RunsOrJob = Annotated[
    list[Path],
    typer.Argument(help="Run files, or folders of them; or a finished job, as FOLDER/NAME."),
]


@documents_app.command(cls=Command)
@exits
def pack(
    jobs: Jobs,
    output: Output,
    cache_dir: of_model.CacheDir = None,
    limit: flag.LimitFlag = None,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Write the documents that jobs were judged by into one file.

    Others give it as --documents, and need nothing else. It keeps which documents are not there,
    and which were not looked for.
    """
    printer = FindingPrinter(quiet)
    # What a job has fetched is kept: nothing is asked for again.
    model = ModelOptions(cache_folder=cache_dir, offline=True)
    with limited(limit or ()):
        packed = pack_documents((_read_job(path, model) for path in jobs), output, printer)
    printer.close()
    if as_json:
        print_json([packed])
    elif not quiet:
        print_lines(shown.pack_lines(packed))
    return printer.status()


@documents_app.command(cls=Command)
@exits
def check(
    runs: RunsOrJob,
    documents: flag.Documents = None,
    topics: flag.Topics = None,
    dataset: flag.Dataset = "auto",
    keys: flag.RecordKeys = "",
    cache_dir: of_model.CacheDir = None,
    offline: of_model.Offline = False,
    limit: flag.LimitFlag = None,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Show which of the documents that runs cite are found, and in which source.

    What is found is kept, so that a job need not look for it again. It exits with 1 if runs cite
    documents, and none of them is found.
    """
    printer = FindingPrinter(quiet)
    model = ModelOptions(cache_folder=cache_dir, offline=offline)
    with limited(limit or ()):
        if _is_job(runs):
            whole, given = _read_job(runs[0], model)
            job, _ = narrow_to_judged(whole)
        else:  # nothing is written
            job, given = Job(runs, Outputs(Path(), "documents"), dataset=dataset, model=model), {}
        job = replace(job, documents=documents or job.documents, topics=topics or job.topics)
        with keyed(keys or given):
            found = check_documents(job, printer)
    printer.close()
    if as_json:
        print_json([found.as_dict()])
    elif not quiet:
        print_table(shown.source_table(found))
        print_lines(shown.check_lines(found))
    return 1 if found.none_found else printer.status()


def _is_job(paths: Sequence[Path]) -> bool:
    """Return whether what is given is a job: one of its files, or FOLDER/NAME."""
    if len(paths) != 1 or paths[0].is_dir():
        return False
    with suppress(InputError):  # no job either: it is reported as a run that is not there
        return bool(kind_of(paths[0]) or (not paths[0].exists() and judged_job(paths[0])))
    return False


def _read_job(path: Path, model: ModelOptions) -> tuple[Job, Mapping[str, str]]:
    """Return a job by its files, and its keys. Raises InputError where a file is not there."""
    found = judged_job(path)
    config = found.outputs.config
    if not config.is_file():
        raise InputError(f"{config}: no such file; it says which documents a job read")
    given = read_config(config).inputs
    if streams := [p for p in (*given.runs, *given.documents) if was_given_elsewhere(p)]:
        raise InputError(f"{config}: the job read {streams[0]} from a pipe; give it as a file")
    job = Job(
        given.runs,
        found.outputs,
        topics=given.topics,
        documents=given.documents,
        own_documents=given.own_documents,
        dataset=given.dataset,
        model=model,
    )
    return job, given.keys

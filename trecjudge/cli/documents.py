"""`documents`: pack what jobs were judged by, and see where the documents of runs are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from trecjudge.cli.exits import Later
from trecjudge.cli.flags import CacheFlags, KeyFlags, ModelFlags, PrintFlags, RunFlags
from trecjudge.cli.parameters import LimitFlags, argument, command_with, option
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, print_table
from trecjudge.errors import InputError
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.job.documents import (
    FinishedJob,
    check_documents,
    narrow_to_judged,
    pack_documents,
)
from trecjudge.job.request import Job
from trecjudge.models.opening import ModelOptions
from trecjudge.results.jobs import judged_job, kind_of
from trecjudge.results.outputs import Outputs

if TYPE_CHECKING:  # rich: not for --help
    from trecjudge.show import evaluation as shown
else:
    shown = Later("trecjudge.show.evaluation")


class PackFlags(LimitFlags, CacheFlags, PrintFlags):
    """The jobs, and the pack of their documents."""

    jobs: Sequence[Path] = argument("Jobs: their --out-dir, FOLDER/NAME, or any of their files.")
    output: Path = option("The pack: NAME.jsonl, NAME.jsonl.gz or NAME.jsonl.zst.", ..., "--output")


class CheckDocumentsFlags(RunFlags, KeyFlags, LimitFlags, ModelFlags, PrintFlags):
    """The runs, and the documents that they may cite."""

    WITHOUT: ClassVar = frozenset(
        {"responses", "use_env_llm", "cache_from", "plan", "max_calls", "max_tokens", "max_cost"}
    )
    runs: Sequence[Path] = argument(
        "Run files, or folders of them; or a finished job, as FOLDER/NAME."
    )


@command_with(PackFlags)
def pack(flags: PackFlags) -> int:
    """Write the documents that jobs were judged by into one file.

    Others give it as --documents, and need nothing else. It keeps which documents are not there,
    and which were not looked for. What has changed since the jobs is a warning.
    """
    printer = FindingPrinter(flags.quiet)
    # What a job has fetched is kept: nothing is asked for again.
    model = ModelOptions(cache_folder=flags.cache_dir, offline=True)
    found = (FinishedJob.read(path, model) for path in flags.jobs)
    packed = pack_documents(found, flags.output, printer)
    printer.close()
    if flags.as_json:
        print_json([packed])
    elif not flags.quiet:
        print_lines(shown.pack_lines(packed))
    return printer.status()


@command_with(CheckDocumentsFlags)
def check(flags: CheckDocumentsFlags) -> int:
    """Show which of the documents that runs cite are found, and in which source.

    What is found is kept, so that a job need not look for it again. Of a finished job no service is
    asked, unless --documents gives it. It exits with 1 if runs cite documents, and none of them is
    found; with 3 if some would be unjudged, since they were not looked for or have no text.
    """
    runs, documents, topics = flags.runs, flags.documents, flags.topics
    dataset = flags.dataset
    if flags.refresh and flags.offline:
        raise InputError("give one of --refresh and --offline")
    printer = FindingPrinter(flags.quiet)
    model = ModelOptions(cache_folder=flags.cache_dir, offline=flags.offline, refresh=flags.refresh)
    if _is_job(runs):
        # Whoever made the job may have named an address that is to get nothing of ours.
        asking = model if documents else replace(model, offline=True, refresh=False)
        found = FinishedJob.read(runs[0], asking)
        job, given = narrow_to_judged(found.job)[0], found.keys
    else:  # nothing is written
        job, given = Job(runs, Outputs(Path(), "documents"), dataset=dataset, model=model), {}
    job = replace(job, documents=documents or job.documents, topics=topics or job.topics)
    with use_record_keys(flags.keys or given):
        cited = check_documents(job, printer)
    printer.close()
    if flags.as_json:
        print_json([cited.as_dict()])
    elif not flags.quiet:
        print_table(shown.source_table(cited))
        print_lines(shown.check_lines(cited))
    if cited.none_found:
        return 1
    return printer.status() if cited.all_settled else 3


def _is_job(paths: Sequence[Path]) -> bool:
    """Return whether what is given is a job: its folder, one of its files, or FOLDER/NAME."""
    if len(paths) != 1:
        return False
    path = paths[0]
    if path.is_dir():
        return any(kind_of(file) == "judgments" for file in path.iterdir())
    with suppress(InputError):  # no job either: it is reported as a run that is not there
        return bool(kind_of(path) or (not path.exists() and judged_job(path)))
    return False

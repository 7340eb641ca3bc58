"""`cache`: show, copy, check and clear the cache of model replies."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import CacheFlags
from trecjudge.cli.parameters import Flags, argument, command_with, option, part
from trecjudge.cli.printing import print_listing
from trecjudge.models.cache import upkeep

TELL = warning_printer(quiet=False)


class FolderFlags(Flags):
    """Another cache, in a folder."""

    folder: Path = argument("A folder with a cache.", metavar="DIR")


class ImportFlags(FolderFlags, CacheFlags):
    """The cache, and another one whose replies it takes."""


class ExportFlags(ImportFlags):
    """What is copied of the cache, and where."""

    model: str | None = option("Only replies of this model.")


class PruneFlags(CacheFlags):
    """What is deleted of the cache."""

    model: str | None = option("Only replies of this model.")
    older_than: float | None = part("--max", "days", "Only replies that are older.", min=0)


@command_with(CacheFlags)
def info(flags: CacheFlags) -> int:
    """Show what the cache holds, by endpoint and model, and batches under way."""
    cache_dir = flags.cache_dir
    rows = [
        (f"{h.endpoint} {h.model}", f"{h.replies} replies, {h.tokens} tokens")
        for h in upkeep.holdings(cache_dir, TELL)
    ]
    for batch in upkeep.batches_under_way(cache_dir, TELL):
        when = datetime.fromtimestamp(batch.begun).isoformat(" ", "minutes")
        # A batch that was sent has an id; before that it is known only by its uploaded file.
        name = batch.id or f"of file {batch.file}"
        line = f"batch {name} under way since {when}: {batch.requests} requests"
        rows.append((f"{batch.endpoint} {batch.model}", line))
    return print_listing(rows)


@command_with(ExportFlags)
def export_cache(flags: ExportFlags) -> int:
    """Copy the cache, or one model's part of it, into a new folder, with a manifest."""
    count = upkeep.export_to(flags.cache_dir, flags.folder, flags.model, TELL)
    return print_listing([("exported", f"{count} replies to {flags.folder}")])


@command_with(ImportFlags)
def import_cache(flags: ImportFlags) -> int:
    """Add the replies of another cache, where this one has none."""
    count = upkeep.import_from(flags.cache_dir, flags.folder, TELL)
    return print_listing([("imported", f"{count} replies from {flags.folder}")])


@command_with(FolderFlags)
def verify_cache(flags: FolderFlags) -> int:
    """Check a cache, its replies and its manifest; exit with 1 if something is wrong."""
    checks = upkeep.verify(flags.folder)
    print_listing([(c.name, c.found if c.good else f"WRONG: {c.found}") for c in checks])
    return int(not all(check.good for check in checks))


@command_with(PruneFlags)
def prune(flags: PruneFlags) -> int:
    """Delete the replies of a model, or those older than some days, or both."""
    count = upkeep.prune(flags.cache_dir, flags.model, flags.older_than, TELL)
    return print_listing([("deleted", f"{count} replies")])

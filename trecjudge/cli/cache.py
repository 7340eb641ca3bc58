"""`cache`: show, copy, check and clear the cache of model replies."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import CacheFlags, QuietFlags
from trecjudge.cli.parameters import argument, command_with, option, part
from trecjudge.cli.printing import print_listing
from trecjudge.models.cache import upkeep


class FolderFlags(QuietFlags):
    """Another cache, in a folder."""

    folder: Path = argument("A folder with a cache.", metavar="DIR")


class ImportFlags(FolderFlags, CacheFlags):
    """The cache, and another one whose replies it takes."""


class ExportFlags(ImportFlags):
    """What is copied of the cache, and where."""

    model: str | None = option("Only replies of this model.")


class InfoFlags(CacheFlags, QuietFlags):
    """The cache, which is shown."""


class PruneFlags(CacheFlags, QuietFlags):
    """What is deleted of the cache."""

    model: str | None = option("Only replies of this model.")
    older_than: float | None = part("--max", "days", "Only replies that are older.", min=0)


@command_with(InfoFlags)
def info(flags: InfoFlags) -> int:
    """Show what the cache holds, by endpoint and model, and batches under way."""
    cache_dir = flags.cache_dir
    rows = [
        (f"{h.endpoint} {h.model}", f"{h.replies} replies, {h.tokens} tokens")
        for h in upkeep.holdings(cache_dir, warning_printer(flags.quiet))
    ]
    for batch in upkeep.batches_under_way(cache_dir, warning_printer(flags.quiet)):
        when = datetime.fromtimestamp(batch.begun).isoformat(" ", "minutes")
        # A batch that was sent has an id; before that it is known only by its uploaded file.
        name = batch.id or f"of file {batch.file}"
        line = f"batch {name} under way since {when}: {batch.requests} requests"
        rows.append((f"{batch.endpoint} {batch.model}", line))
    return print_listing(rows, flags.quiet)


@command_with(ExportFlags)
def export_cache(flags: ExportFlags) -> int:
    """Copy the cache, or one model's part of it, into a new folder, with a manifest."""
    warn = warning_printer(flags.quiet)
    count = upkeep.export_to(flags.cache_dir, flags.folder, flags.model, warn)
    return print_listing([("exported", f"{count} replies to {flags.folder}")], flags.quiet)


@command_with(ImportFlags)
def import_cache(flags: ImportFlags) -> int:
    """Add the replies of another cache, where this one has none."""
    count = upkeep.import_from(flags.cache_dir, flags.folder, warning_printer(flags.quiet))
    return print_listing([("imported", f"{count} replies from {flags.folder}")], flags.quiet)


@command_with(FolderFlags)
def verify_cache(flags: FolderFlags) -> int:
    """Check a cache, its replies and its manifest; exit with 1 if something is wrong."""
    checks = upkeep.verify(flags.folder)
    rows = [(c.name, c.found if c.good else f"WRONG: {c.found}") for c in checks]
    print_listing(rows, flags.quiet)
    return int(not all(check.good for check in checks))


@command_with(PruneFlags)
def prune(flags: PruneFlags) -> int:
    """Delete the replies of a model, or those older than some days, or both."""
    warn = warning_printer(flags.quiet)
    count = upkeep.prune(flags.cache_dir, flags.model, flags.older_than, warn)
    return print_listing([("deleted", f"{count} replies")], flags.quiet)

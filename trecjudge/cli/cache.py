"""`cache`: show, copy, check and clear the cache of model replies."""

from __future__ import annotations

from datetime import datetime

import typer

from trecjudge.cli import command_options as flag
from trecjudge.cli.exits import exits, warning_printer
from trecjudge.cli.lazy import Command, Group
from trecjudge.cli.printing import print_listing
from trecjudge.models.cache import upkeep

cache_app = typer.Typer(
    cls=Group, help="Show, copy, check and clear the cache of model replies.", add_completion=False
)


TELL = warning_printer(quiet=False)


@cache_app.command(cls=Command)
@exits
def info(cache_dir: flag.Cache = None) -> int:
    """Show what the cache holds, by endpoint and model, and batches under way."""
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


@cache_app.command(cls=Command, name="export")
@exits
def export_cache(
    target: flag.CacheFolder, cache_dir: flag.Cache = None, model: flag.CacheModel = None
) -> int:
    """Copy the cache, or one model's part of it, into a new folder, with a manifest."""
    count = upkeep.export_to(cache_dir, target, model, TELL)
    return print_listing([("exported", f"{count} replies to {target}")])


@cache_app.command(cls=Command, name="import")
@exits
def import_cache(source: flag.CacheFolder, cache_dir: flag.Cache = None) -> int:
    """Add the replies of another cache, where this one has none."""
    count = upkeep.import_from(cache_dir, source, TELL)
    return print_listing([("imported", f"{count} replies from {source}")])


@cache_app.command(cls=Command, name="verify")
@exits
def verify_cache(folder: flag.CacheFolder) -> int:
    """Check a cache, its replies and its manifest; exit with 1 if something is wrong."""
    checks = upkeep.verify(folder)
    print_listing([(c.name, c.found if c.good else f"WRONG: {c.found}") for c in checks])
    return int(not all(check.good for check in checks))


@cache_app.command(cls=Command)
@exits
def prune(
    cache_dir: flag.Cache = None,
    model: flag.CacheModel = None,
    older_than: flag.OlderThan = None,
) -> int:
    """Delete the replies of a model, or those older than some days, or both."""
    count = upkeep.prune(cache_dir, model, older_than, TELL)
    return print_listing([("deleted", f"{count} replies")])

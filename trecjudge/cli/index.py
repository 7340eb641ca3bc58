"""`index`: keep documents in an index, to be searched and answered from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.index import build_index
from trecjudge.baseline.index.records import Changes, IndexFacts, IndexSource
from trecjudge.baseline.index.sources import (
    DuplicateFilter,
    Placed,
    at_least_one,
    sources_carried,
    sources_in,
)
from trecjudge.baseline.index.vectors import VECTORS, check_vectors
from trecjudge.cli.exits import print_errors, warning_printer
from trecjudge.cli.flags import ModelFlags, PrintFlags, WorkflowFlags
from trecjudge.cli.jobs import model_of
from trecjudge.cli.parameters import (
    LimitFlags,
    argument,
    command_with,
    option,
    part,
    several,
    switch,
)
from trecjudge.cli.printing import FindingPrinter, print_json, print_listing
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.findings import OnFinding, plural
from trecjudge.job.request import load_workflow
from trecjudge.models.opening import ModelOptions
from trecjudge.text.credentials import public


class IndexFlags(LimitFlags, WorkflowFlags, ModelFlags, PrintFlags):
    """The documents, and the index that keeps them."""

    WITHOUT: ClassVar = frozenset({"refresh", "plan"})
    to: str = option(
        "The index: a file, or postgresql://…; made if it is not there.",
        ...,
        "--output",
        old=("--to",),
        metavar="INDEX",
    )
    documents: Sequence[Path] = argument(
        "Documents: files or folders. JSONL has docid, title, text, and any further fields to"
        " narrow a search by; may be compressed.",
        (),
    )
    from_runs: Sequence[Path] = several(
        "Runs whose own documents are indexed too.", "--rag-responses", old=("--from-runs",)
    )
    chunk_size: int | None = part("--chunk", "size", "Words of a chunk, at most (220).")
    chunk_overlap: int | None = part("--chunk", "overlap", "Words that two share, at most (30).")
    vectors: str | None = option(
        f"What makes vectors: {', '.join(VECTORS)} (of the environment, with --use-env-llm)."
        " By default what the index has them of."
    )
    keep_others: bool = switch(
        "Keep what the index has and the documents given have not.", "--keep-others"
    )

    @property
    def chunking(self) -> ChunkSettings | None:
        """How to cut documents; None where nothing is asked for."""
        given = {"size": self.chunk_size, "overlap": self.chunk_overlap}
        asked = {name: value for name, value in given.items() if value is not None}
        return ChunkSettings(**asked) if asked else None

    @property
    def model(self) -> ModelOptions:
        """How an endpoint may be asked for vectors."""
        return model_of(self)


@command_with(IndexFlags)
def index(flags: IndexFlags) -> int:
    """Keep documents in an index, to be searched.

    The index then holds these documents and no others. Only what changed is cut and indexed again.
    A search during that sees the index as it was.
    """
    begun = time.monotonic()
    check_vectors(flags.vectors)
    printer = FindingPrinter(flags.quiet)
    distinct = DuplicateFilter(printer)
    try:
        with closing(_placed_documents(flags, printer)) as placed:
            sources = _some(distinct.of(placed), flags)
            changes, facts = asyncio.run(_refresh_index(flags, sources))
    except JudgmentFailed as failed:
        message = f"no vectors: {failed.kind}: {failed}; the index stays as it was"
        print_errors([f"{message}; vectors that came are in the cache: run it again to go on"])
        return 3
    seconds = time.monotonic() - begun
    printer.close()
    if flags.as_json:
        record = _record(flags.to, changes, facts) | {"repeated": distinct.repeated}
        print_json([record | {"seconds": round(seconds, 3), "findings": printer.as_dicts()}])
    elif not flags.quiet:
        print_listing(_rows(changes, facts, distinct.repeated, seconds))
    return printer.status()


async def _refresh_index(
    flags: IndexFlags, sources: Iterator[IndexSource]
) -> tuple[Changes, IndexFacts]:
    """Return what changed, after the index holds the documents. Raises JudgmentFailed."""
    return await build_index(
        flags.to,
        flags.chunking,
        sources,
        flags.vectors,
        flags.model,
        load_workflow(flags.workflow).embeddings,
        warning_printer(flags.quiet),
        not flags.keep_others,
    )


def _placed_documents(flags: IndexFlags, report: OnFinding) -> Generator[Placed, None, None]:
    """Yield the documents of the files, then those of the runs, each with its place."""
    yield from sources_in(flags.documents, report)
    if flags.from_runs:
        yield from sources_carried(flags.from_runs, report)


def _some(sources: Iterator[IndexSource], flags: IndexFlags) -> Iterator[IndexSource]:
    """Return the documents. Raises InputError if there is none: nothing is made or emptied."""
    paths = [*flags.documents, *flags.from_runs]
    if not paths:
        raise InputError("no documents given; give files of documents, or runs with --from-runs")
    return at_least_one(sources, paths)


def _record(where: str, changes: Changes, facts: IndexFacts) -> dict[str, Any]:
    """Return what was done as JSON values."""
    written = asdict(changes)
    return {"index": public(where), "version": facts.version} | {
        **{name: written[name] for name in ("added", "changed", "removed", "kept")},
        "chunks_written": changes.chunks,
        "documents": facts.documents,
        "chunks": facts.chunks,
        "chunking": dict(facts.chunking),
        "vectors": asdict(facts.vectors) if facts.vectors else None,
    }


def _rows(
    changes: Changes, facts: IndexFacts, repeated: int, seconds: float
) -> list[tuple[str, str]]:
    """Return what was done, a line each."""
    done = ", ".join(
        f"{name} {count:,}"
        for name, count in asdict(changes).items()
        if name != "chunks" and (count or name == "added")
    )
    held = f"{plural(facts.documents, 'document')} in {plural(facts.chunks, 'chunk')}"
    cut = f"at most {facts.chunking['size']} words, {facts.chunking['overlap']} shared"
    vectors = facts.vectors.name if facts.vectors else "none"
    again = [("repeated", f"{repeated:,}, left out")] if repeated else []
    return [
        ("documents", done),
        *again,
        ("written", f"{plural(changes.chunks, 'chunk')} in {seconds:.1f} s"),
        ("index", held),
        ("chunks", cut),
        ("vectors", vectors),
        ("version", facts.version),
    ]

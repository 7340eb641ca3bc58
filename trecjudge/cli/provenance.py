"""`provenance`: what the sentences of runs rest on, and what of it is stale."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_many
from trecjudge.errors import InputError
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.provenance import provenance_files, read_provenance
from trecjudge.records import ProvenanceLine

if TYPE_CHECKING:  # sqlite and rich: not for --help
    from trecjudge.baseline import freshness
    from trecjudge.show import provenance as shown
else:
    freshness = Later("trecjudge.baseline.freshness")
    shown = Later("trecjudge.show.provenance")

Index = Annotated[
    str, typer.Option(help="The index as it is now: its file, or an address of PostgreSQL.")
]
OfDocuments = Annotated[
    list[str] | None, typer.Option("--document", help="Only what rests on these documents.")
]
OfVersions = Annotated[
    list[str] | None,
    typer.Option(
        "--document-version",
        help="Only what rests on these versions, or on texts whose digests begin so.",
    ),
]
Stale = Annotated[bool, typer.Option("--stale", help="Only where the document changed or is gone.")]
FailStale = Annotated[
    bool, typer.Option("--fail-stale", help="Exit with 1 where anything is stale.")
]
UNREAD = "provenance_unusable"
"""The finding of a line that cannot be read."""


@exits
def provenance(
    runs: own.Runs,
    document: OfDocuments = None,
    version: OfVersions = None,
    index: Index = "",
    documents: flag.Documents = None,
    stale: Stale = False,
    fail_stale: FailStale = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Show which documents answers rest on, and which are stale.

    It reads NAME.provenance.jsonl beside each run, and compares it with an index or with documents
    as they are now. Each citation is one line.
    """
    if (stale or fail_stale) and not (index or documents):
        raise InputError("--stale needs what to compare with: give --index or --documents")
    if index and documents:
        raise InputError("give one of --index and --documents to compare with")
    printer = common.FindingPrinter(quiet, always={UNREAD})

    def asked() -> Wanted:
        return Wanted.of_ids(line.doc_id for line in _lines(provenance_files(runs), unreported))

    with freshness.documents_now(index, documents or (), printer, asked) as look_up:
        audit = freshness.FreshnessAudit(
            look_up, frozenset(document or ()), frozenset(version or ())
        )
        bases = audit.bases(_lines(provenance_files(runs), printer))
        wanted = (basis for basis in bases if basis.is_stale or not stale)
        if as_json:
            citations = [basis.as_dict() for basis in wanted]
            print_json([{"citations": citations, "counts": audit.as_dict()}])
        elif quiet:
            deque(wanted, maxlen=0)
        else:
            print_many(shown.basis_lines(wanted))
    printer.close()
    if not (quiet or as_json):
        print_errors([shown.closing_line(audit)])
    # A citation that could not be read may be stale too.
    left_out = any(finding.kind == UNREAD for finding in printer.findings)
    return 1 if fail_stale and audit.stale else 3 if left_out else printer.status()


def _lines(files: Sequence[Path], report: OnFinding) -> Iterator[ProvenanceLine]:
    for file in files:
        yield from (line for _, line in read_provenance(file, report))

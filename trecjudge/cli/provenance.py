"""`provenance`: what the sentences of runs rest on, and what of it is stale."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from trecjudge.cli.exits import Later, print_errors
from trecjudge.cli.flags import PrintFlags, RunFlags
from trecjudge.cli.parameters import argument, command_with, option, part, switch
from trecjudge.cli.printing import FindingPrinter, print_json, print_many
from trecjudge.errors import InputError
from trecjudge.findings import OnFinding, ignore
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.index_file import names_index
from trecjudge.inputs.provenance import provenance_files, read_provenance
from trecjudge.records import ProvenanceLine

if TYPE_CHECKING:  # sqlite and rich: not for --help
    from trecjudge.baseline import freshness
    from trecjudge.show import retrieval as shown
else:
    freshness = Later("trecjudge.baseline.freshness")
    shown = Later("trecjudge.show.retrieval")

UNREAD = "provenance_unusable"
"""The finding of a line that cannot be read."""


class ProvenanceFlags(RunFlags, PrintFlags):
    """The runs, and what their documents are compared with."""

    WITHOUT: ClassVar = frozenset({"responses", "topics", "dataset"})
    runs: Sequence[Path] = argument("Run files, or folders of them.")
    document: Sequence[str] = part("--document", "", "Only what rests on these documents.", ())
    version: Sequence[str] = part(
        "--document",
        "version",
        "Only what rests on this version, or on texts whose digests begin so.",
        (),
        "--document-version",
    )
    index: str = option("The index as it is now.", "", "--index", hidden=True)
    stale: bool = switch("Only where the document changed or is gone.", "--stale")
    fail_stale: bool = switch(
        "Exit with 1 where anything is stale.", "--strict", old=("--fail-stale",)
    )


@command_with(ProvenanceFlags)
def provenance(flags: ProvenanceFlags) -> int:
    """Show which documents answers rest on, and which are stale.

    It reads NAME.provenance.jsonl beside each run, and compares it with an index or with documents
    as they are now. Each citation is one line.
    """
    index, documents = flags.index, flags.documents
    if (flags.stale or flags.fail_stale) and not (index or documents):
        raise InputError("--stale needs what to compare with: give --documents")
    if index and documents:
        raise InputError("give one of --index and --documents to compare with")
    if len(documents) == 1 and names_index(documents[0]):
        index, documents = str(documents[0]), ()
    printer = FindingPrinter(flags.quiet, always={UNREAD})

    def find_wanted() -> WantedDocuments:
        return WantedDocuments.of_ids(
            line.doc_id for line in _lines(provenance_files(flags.runs), ignore)
        )

    with freshness.documents_now(index, documents, printer, find_wanted) as look_up:
        audit = freshness.FreshnessAudit(
            look_up, frozenset(flags.document), frozenset(flags.version)
        )
        bases = audit.bases(_lines(provenance_files(flags.runs), printer))
        wanted = (basis for basis in bases if basis.is_stale or not flags.stale)
        if flags.as_json:
            citations = [basis.as_dict() for basis in wanted]
            print_json([{"citations": citations, "counts": audit.as_dict()}])
        elif flags.quiet:
            deque(wanted, maxlen=0)
        else:
            print_many(shown.basis_lines(wanted))
    printer.close()
    if not (flags.quiet or flags.as_json):
        print_errors([shown.closing_line(audit)])
    # A citation that could not be read may be stale too.
    left_out = any(finding.kind == UNREAD for finding in printer.findings)
    return 1 if flags.fail_stale and audit.stale else 3 if left_out else printer.status()


def _lines(files: Sequence[Path], report: OnFinding) -> Iterator[ProvenanceLine]:
    for file in files:
        yield from (line for _, line in read_provenance(file, report))

"""Documents whose ids say where they lie: only these places of a collection are read."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.progress import Progress, tell
from trecjudge.inputs.collections.schemes import Address
from trecjudge.inputs.collections.schemes.registry import address_of, scheme_of, scheme_of_file
from trecjudge.inputs.collections.seeking import documents_at, file_name, first_id, stands_at
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.collection import BESIDE
from trecjudge.inputs.pipelines.tables import PARQUET, check_parquet
from trecjudge.inputs.sources.packing import is_packed
from trecjudge.records import Place

OFTEN = 1.0
"""Seconds after which what was found is kept."""
MOST_LOOKED_AT = 20
"""Files that are opened to see whether they are what their names say; the others are like them."""
MOST_NAMED = 3
"""Files that a message names."""


def by_address(
    files: Sequence[Path], kept: KeptDocuments, wanted: Iterable[str], report: OnFinding, name: str
) -> list[str]:
    """Read the wanted documents whose ids say where in these files they lie; keep what is found.

    Returns the ids for which the files must be read through: they say no place, or the files are
    not those that they speak of. Where all files are of collections whose ids say a place, other
    ids are surely not there, and those of a file that is not given are not known, which is one
    finding. `name` names the collection. Findings on files are kept, and not reported. What was
    found stays kept where this is interrupted. Raises InputError, OutputError.
    """
    left = kept.left(dict.fromkeys(wanted))
    paths: dict[str, list[Path]] = {}
    for file in sorted(files):
        paths.setdefault(file_name(file), []).append(file)
    asked: dict[str, dict[str, Address]] = {}
    for doc_id in left:
        address = address_of(doc_id)
        if address is not None and address.file in paths:
            asked.setdefault(address.file, {})[doc_id] = address
    back = _read_places(paths, asked, kept, left, report, name)
    left = kept.left(left)
    unknown = {doc_id for file in asked for doc_id in _unsure(kept, paths[file], asked[file], back)}
    kept.not_known(unknown)
    left = [doc_id for doc_id in left if doc_id not in unknown]
    if not left or not _all_of_schemes(files, kept):
        return left
    rest = [doc_id for doc_id in left if doc_id not in back]
    given = {scheme_of_file(file) for file in paths}
    at_places = {doc_id for addresses in asked.values() for doc_id in addresses}
    lacking = [i for i in rest if i not in at_places and address_of(i) and scheme_of(i) in given]
    _lack(lacking, kept, report, name)
    kept.not_there(set(rest).difference(lacking))
    return [doc_id for doc_id in left if doc_id in back]


def read_units(
    units: Sequence[Unit],
    kept: KeptDocuments,
    wanted: Sequence[str],
    report: OnFinding,
    name: str,
) -> None:
    """Keep the documents of units of places, one unit after another, in this process."""
    began = before = time.monotonic()
    found: list[FoundDocument] = []
    findings: list[Finding] = []
    total, done, count = sum(len(unit.places) for unit in units), 0, 0

    def keep(ended: bool = False) -> None:
        with kept.change():
            kept.add(found, findings)
        found.clear()
        findings.clear()
        seconds = time.monotonic() - began
        tell(Progress(name, done, total, count, len(wanted), seconds, False, ended))

    for number, unit in enumerate(units, 1):
        for document in documents_at(unit, findings.append):
            found.append(document)
            count += 1
            if time.monotonic() - before > OFTEN:
                keep()
                before = time.monotonic()
        done += len(unit.places)
        keep(number == len(units))


def _read_places(
    paths: Mapping[str, Sequence[Path]],
    asked: Mapping[str, Mapping[str, Address]],
    kept: KeptDocuments,
    wanted: Sequence[str],
    report: OnFinding,
    name: str,
) -> set[str]:
    """Keep what lies at its place; return the ids whose files are no files of places."""
    back: set[str] = set()
    for turn in range(max((len(paths[file]) for file in asked), default=0)):
        plain: list[Unit] = []
        packed: list[Unit] = []
        for file, addresses in asked.items():
            # Of files of one name the first one that has a document counts, as in a pass.
            left = kept.left(addresses) if turn < len(paths[file]) else []
            if not left:
                continue
            path = paths[file][turn]
            first = b""
            with suppress(OSError), open_regular(path) as opened:  # reported where it is read
                first = opened.read(8)
            rows = first.startswith(PARQUET)
            here = [(addresses[i].place, i) for i in left if addresses[i].row == rows]
            back.update(i for i in left if addresses[i].row != rows)
            if rows and here:
                check_parquet(path)
            unit = Unit(path, places=sorted(here), rows=rows, tables=kept.path.parent)
            if here:
                (packed if rows or is_packed(first) else plain).append(unit)
        read_units(plain, kept, wanted, report, name)
        read_units(packed, kept, wanted, report, name)
    return back


def _unsure(
    kept: KeptDocuments, paths: Iterable[Path], ids: Iterable[str], back: set[str]
) -> list[str]:
    """Return those ids that may be in these files, in a part that could not be read.

    Those that the files must be read through for are added to `back`.
    """
    names = {Place(str(path)).path for path in paths}
    findings = [finding for finding in kept.findings() if finding.place.path in names]
    kinds = {finding.kind for finding in findings}
    left = kept.left(ids)
    if "address_differs" in kinds:
        back.update(left)
    if "collection_unreadable" in kinds:
        return left
    unread = {finding.value for finding in findings if finding.kind != "address_differs"}
    return [doc_id for doc_id in left if doc_id in unread]


def _all_of_schemes(files: Sequence[Path], kept: KeptDocuments) -> bool:
    """Return whether all files are of collections whose ids say places, by names and first records.

    A few of their ids are kept, for messages.
    """
    data = [file for file in files if not BESIDE.fullmatch(file.name)]
    if not data or not all(scheme_of_file(file_name(file)) for file in data):
        return False
    first = {file: first_id(file) for file in data[:: -(-len(data) // MOST_LOOKED_AT)]}
    with kept.change():
        kept.sample(doc_id for doc_id in first.values() if doc_id)
    return all(stands_at(file, 0, doc_id) for file, doc_id in first.items())


def _lack(ids: Sequence[str], kept: KeptDocuments, report: OnFinding, name: str) -> None:
    """Note and report documents that lie in files which are not given."""
    kept.not_known(ids)
    counts = Counter(address.file for doc_id in ids if (address := address_of(doc_id)))
    if not counts:
        return
    most = ", ".join(f"{file} ({count})" for file, count in counts.most_common(MOST_NAMED))
    more = f" and {len(counts) - MOST_NAMED} more" if len(counts) > MOST_NAMED else ""
    message = f"{len(ids)} of the documents asked for lie in files that are not there: {most}{more}"
    report(Finding("files_not_given", Place(name), message))

"""Documents whose ids say where they lie: only these places of a collection are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.passing import run_units
from trecjudge.inputs.collections.schemes import Address
from trecjudge.inputs.collections.schemes.registry import address_of, scheme_of, scheme_of_file
from trecjudge.inputs.collections.seeking import differs, file_name, stands_at
from trecjudge.inputs.collections.units import Unit
from trecjudge.inputs.documents.collection import BESIDE
from trecjudge.inputs.documents.files import documents_of
from trecjudge.inputs.documents.parquet import is_parquet
from trecjudge.records import Place

MOST_LOOKED_AT = 5
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
    for file in sorted(files, key=str):
        paths.setdefault(file_name(file), []).append(file)
    asked: dict[str, dict[str, Address]] = {}
    for doc_id in left:
        address = address_of(doc_id)
        if address is not None and address.file in paths:
            asked.setdefault(address.file, {})[doc_id] = address
    back, unread = _read_places(paths, asked, kept, report, name)
    kept.not_known(kept.left(unread))
    left = [doc_id for doc_id in kept.left(left) if doc_id not in unread]
    if not left or not _all_of_schemes(files, kept):
        return left
    rest = [doc_id for doc_id in left if doc_id not in back]
    given = {scheme_of_file(file) for file in paths}
    at_places = {doc_id for addresses in asked.values() for doc_id in addresses}
    lacking = [i for i in rest if i not in at_places and address_of(i) and scheme_of(i) in given]
    _lack(lacking, kept, report, name)
    kept.not_there(set(rest).difference(lacking))
    return [doc_id for doc_id in left if doc_id in back]


def _read_places(
    paths: Mapping[str, Sequence[Path]],
    asked: Mapping[str, Mapping[str, Address]],
    kept: KeptDocuments,
    report: OnFinding,
    name: str,
) -> tuple[set[str], set[str]]:
    """Keep what lies at its place.

    Returns the ids for which the files must be read through, and those that may be in a part of
    these that could not be read.
    """
    back: set[str] = set()
    unread: set[str] = set()
    for turn in range(max((len(paths[file]) for file in asked), default=0)):
        # Of files of one name the first one that has a document counts, as in a pass.
        units: list[Unit] = []
        ids: dict[Path, list[str]] = {}
        for file, addresses in asked.items():
            left = kept.left(addresses) if turn < len(paths[file]) else []
            if not left:
                continue
            path = paths[file][turn]
            in_rows = is_parquet(_beginning(path))
            back.update(i for i in left if addresses[i].row != in_rows)
            ids[path] = [i for i in left if addresses[i].row == in_rows]
            places = () if in_rows else [(addresses[i].place, i) for i in ids[path]]
            units += [Unit(path, places=places, tables=str(kept.path.parent))] * bool(ids[path])
        if not units:
            continue
        every = [doc_id for left in ids.values() for doc_id in left]
        failed = run_units(units, kept, every, report, name)
        if len(failed) == len(units) and len(kept.left(every)) == len(every):
            raise failed[0]
        for path, wanted in ids.items():
            left = kept.left(wanted)
            if any(str(error).startswith(f"{path}: ") for error in failed):
                unread.update(left)
            elif left:
                more_back, more_unread = _doubts(path, left, kept)
                back.update(more_back)
                unread.update(more_unread)
    return back, unread


def _beginning(path: Path) -> bytes:
    with suppress(OSError), open_regular(path) as file:  # reported where it is read
        return file.read(8)
    return b""


def _doubts(path: Path, left: Sequence[str], kept: KeptDocuments) -> tuple[list[str], list[str]]:
    """Return those of the ids that a file must be read through for, and those in what is unread."""
    first = _first_id(path) if is_parquet(_beginning(path)) else None
    if first is not None and not stands_at(path, 0, first):
        with kept.change():
            kept.add((), [differs(path, left[0], 0, first)])
    findings = [f for f in kept.findings() if f.place.path == Place(str(path)).path]
    kinds = {finding.kind for finding in findings}
    unread = {finding.value for finding in findings if finding.kind != "address_differs"}
    return (
        list(left) if "address_differs" in kinds else [],
        [i for i in left if i in unread or "collection_unreadable" in kinds],
    )


def _all_of_schemes(files: Sequence[Path], kept: KeptDocuments) -> bool:
    """Return whether all files are of collections whose ids say places, by names and first records.

    A few of their ids are kept, for messages.
    """
    data = [file for file in files if not BESIDE.fullmatch(file.name)]
    if not data or not all(scheme_of_file(file_name(file)) for file in data):
        return False
    first = {file: _first_id(file) for file in data[:: -(-len(data) // MOST_LOOKED_AT)]}
    with kept.change():
        kept.sample(doc_id for doc_id in first.values() if doc_id)
    return all(stands_at(file, 0, doc_id) for file, doc_id in first.items())


def _first_id(path: Path) -> str | None:
    """Return the id of the first document of a file, None where there is none."""
    with suppress(InputError):
        for _, _, document, _ in islice(documents_of([path], unreported), 1):
            return document.doc_id
    return None


def _lack(ids: Sequence[str], kept: KeptDocuments, report: OnFinding, name: str) -> None:
    """Note and report documents that lie in files which are not given."""
    kept.not_known(ids)
    # What a text has in brackets may be an id, and only looks like a citation.
    named = [doc_id for doc_id in ids if doc_id in kept.wanted]
    counts = Counter(address.file for doc_id in named if (address := address_of(doc_id)))
    if not counts:
        return
    most = ", ".join(f"{file} ({count})" for file, count in counts.most_common(MOST_NAMED))
    more = f" and {len(counts) - MOST_NAMED} more" if len(counts) > MOST_NAMED else ""
    message = (
        f"{len(named)} of the documents asked for lie in files that are not there: {most}{more}"
    )
    report(Finding("files_not_given", Place(name), message))

"""Opens what is given with --documents: files, collections, indexes, data sets and services."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, FindingLog, OnFinding, counted, shown
from trecjudge.inputs.collections.addressing import by_address
from trecjudge.inputs.collections.kept import KeptDocuments, is_kept, path_of
from trecjudge.inputs.collections.packs import open_packs
from trecjudge.inputs.collections.passing import pass_over
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.index_file import DocumentsOfIndex, is_index
from trecjudge.inputs.documents.pack import are_packs
from trecjudge.inputs.documents.store import (
    IRDS,
    DocumentStore,
    DocumentStores,
    HeldDocuments,
    IrDatasetsDocuments,
    address_in,
    document_files,
    held,
    is_data_set,
)
from trecjudge.models.documents.fetching import Use, fetch
from trecjudge.models.documents.service import Service, service_of
from trecjudge.records import Document, Place

HELD_BYTES = 64 << 20
"""Files up to this size together are held in memory."""
IN_MEMORY = 3
"""How many times as many bytes their documents may take in memory: packed files hold more."""
AS_IT_IS = Use()
OnWanted = Callable[[], Wanted]
"""Returns the documents that are wanted: it may have to read the runs for them."""


def open_documents(
    paths: Sequence[Path],
    folder: Path,
    report: OnFinding,
    wanted: OnWanted,
    use: Use = AS_IT_IS,
    held_bytes: int = HELD_BYTES,
) -> DocumentStores:
    """Return the documents of files and folders, indexes, data sets (`irds:NAME`) and services.

    Of several paths the first one that has a document counts. Few documents are held in memory. Of
    a larger collection, and of a service, only those are read that are `wanted` and that no path
    before it has; what is found is kept in `folder` for later jobs. Raises InputError if a path
    holds no document, OutputError if nothing can be kept.
    """
    asked = cache(wanted)
    stores: list[DocumentStore] = []
    files: list[Path] = []
    for path in paths:
        if is_data_set(path):
            stores.append(IrDatasetsDocuments(str(path).removeprefix(IRDS)))
        elif is_kept(path):
            stores.append(KeptDocuments.read(path))
        elif is_index(path):
            stores.append(DocumentsOfIndex(path))
            files.append(path)
        elif (service := service_of(path)) is not None:
            stores.append(_of_service(path, service, folder, report, _left(asked, stores), use))
        else:
            found = document_files(path, report)
            if are_packs(found):
                stores.append(open_packs(path, found, _left(asked, stores)(), report))
                files += found
                continue
            stores.append(_of_files(path, found, folder, report, _left(asked, stores), held_bytes))
            if isinstance(stores[-1], HeldDocuments):
                files += found
    both = list(zip(paths, stores, strict=True))
    if len(stores) > 1:
        _report_differences(both, asked, report)
    opened = [s.path if isinstance(s, KeptDocuments) else p for p, s in both]
    return DocumentStores(stores, opened, files)


def collections_of(paths: Sequence[Path], opened: DocumentStores) -> dict[str, dict[str, Any]]:
    """Return how many wanted documents were found in each collection and service, and a digest.

    They stand for the digests of their files, which no job reads whole.
    """
    found = {}
    for path, store in zip(paths, opened.stores, strict=True):
        if isinstance(store, KeptDocuments):
            count, sha256 = store.digest(store.wanted)
            found[source_name(path)] = {"documents": count, "sha256": sha256}
    return found


def _left(wanted: OnWanted, before: Sequence[DocumentStore]) -> OnWanted:
    """Return what returns the documents that no store has that is asked before."""
    if not before:
        return wanted
    first = DocumentStores(tuple(before))

    def left() -> Wanted:
        def without(ids: Iterable[str]) -> dict[str, None]:
            return {i: None for i in ids if not ((d := first.get(i)) and d.has_text)}

        every = wanted()
        return Wanted(without(every.named), without(every.cited), without(every.possible))

    return left


def _of_service(
    path: Path, service: Service, folder: Path, report: OnFinding, wanted: OnWanted, use: Use
) -> KeptDocuments:
    kept = KeptDocuments.open(folder, store_name(path))
    kept.wanted = wanted().named
    fetch(service, kept, wanted(), use, report)
    return kept


def _of_files(
    path: Path,
    files: Sequence[Path],
    folder: Path,
    report: OnFinding,
    wanted: OnWanted,
    held_bytes: int,
) -> DocumentStore:
    """Return the documents of files in memory, or those of them that are wanted."""
    log = FindingLog([report])
    if sum(file.stat().st_size for file in files if file.exists()) <= held_bytes:
        in_memory = held(path, files, log, IN_MEMORY * held_bytes)
        if in_memory is not None:
            return in_memory
    kept = KeptDocuments.open(folder, store_name(path))
    files = _from_any_folder(path, files)
    kept.begin(files)
    kept.wanted = wanted().named
    left = kept.left(wanted().possible)
    new = _unless_reported(log.counts, report)
    try:
        if left:
            left = by_address(files, kept, left, new, str(path))
        if left:
            pass_over(files, kept, left, new, str(path))
    except InputError:
        kept.remove_if_empty()
        raise
    for finding in kept.findings():
        new(finding)
    return kept


def _from_any_folder(path: Path, files: Sequence[Path]) -> list[Path]:
    """Return the files by paths that say the same in every working folder.

    What was found in them is kept by these. Only the path that was given is resolved: a file may
    be a link to one whose name says nothing.
    """
    if not path.is_dir():
        return [Path(os.path.realpath(file.parent), file.name) for file in files]
    return [Path(os.path.realpath(path), file.relative_to(path)) for file in files]


def _unless_reported(counts: Mapping[str, int], report: OnFinding) -> OnFinding:
    """Return what reports the findings of files read again, but for those reported before."""
    left = Counter(counts)

    def tell(finding: Finding) -> None:
        left[finding.kind] -= 1
        if left[finding.kind] < 0:
            report(finding)

    return tell


def _report_differences(
    stores: Sequence[tuple[Path, DocumentStore]], wanted: OnWanted, report: OnFinding
) -> None:
    """Report, for each path, how many documents have another text in one before it."""
    ids: Iterable[str]
    if all(isinstance(store, HeldDocuments) for _, store in stores):
        every = Counter(i for _, s in stores if isinstance(s, HeldDocuments) for i in s.documents)
        ids = [doc_id for doc_id, times in every.items() if times > 1]
    else:
        ids = wanted().named
    for number, (path, store) in enumerate(stores[1:], 1):
        before = DocumentStores([earlier for _, earlier in stores[:number]])
        other = [i for i in ids if _differ(before.get(i), store.get(i))]
        if other:
            what = f"has {counted(len(other), 'document')} with another text than a source before"
            message = f"{what} it, such as {shown(other[0])}: the first source counts"
            report(Finding("documents_differ", Place(source_name(path)), message, other[0]))


def _differ(one: Document | None, other: Document | None) -> bool:
    if one is None or other is None or not (one.has_text and other.has_text):
        return False
    return one.text != other.text and one.text.split() != other.text.split()


def store_name(path: Path) -> str:
    """Return by what name the documents of a path are kept."""
    service = service_of(path)
    return service.name if service else os.path.realpath(path)


def some_kept(paths: Sequence[Path], folder: Path) -> list[str]:
    """Return those paths of which a folder keeps what was found."""
    return [
        source_name(path)
        for path in paths
        if not is_data_set(path) and path_of(folder, store_name(path)).exists()
    ]


def source_name(path: Path) -> str:
    """Return what a path of --documents is called in messages and files: no secret is in it."""
    if address_in(path):
        with suppress(InputError):
            service = service_of(path)
            return service.name if service else str(path)
    return str(path)

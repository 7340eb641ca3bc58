"""Opens what is given with --documents: files, collections, indexes, data sets and services."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.files import default_folder
from trecjudge.findings import Finding, FindingLog, OnFinding, brief, plural
from trecjudge.inputs.collections.kept import KeptDocuments, is_kept, path_of
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import Read, WantedDocuments
from trecjudge.inputs.documents.index_file import DocumentsOfIndex, index_address, is_index
from trecjudge.inputs.documents.store import (
    IRDS,
    DocumentStore,
    DocumentStores,
    HeldDocuments,
    IrDatasetsDocuments,
    address_in,
    document_files,
    hold_documents,
    is_data_set,
    open_packs,
    packs_among,
)
from trecjudge.models.blocking import blocking
from trecjudge.models.documents.postgres import PostgresAddress, find_documents
from trecjudge.models.documents.service import DocumentApi, can_be_asked, service_of
from trecjudge.records import Document, Place
from trecjudge.text.credentials import public

HELD_BYTES = 64 << 20
"""Files up to this size together are held in memory."""
OnWanted = Callable[[], WantedDocuments]
"""Returns the documents that are wanted: it may have to read the runs for them."""
PROOFS = 3
"""Documents of other sources that show whether a service is the right one."""


@dataclass(frozen=True, slots=True)
class ServiceUse:
    """Whether a service may be asked.

    `offline` asks nothing; `refresh` asks again for what is kept; `plan` asks nothing and counts.
    `notify` is called with messages while a service is waited for.
    """

    offline: bool = False
    refresh: bool = False
    plan: bool = False
    notify: Callable[[str], None] = lambda message: None


AS_IT_IS = ServiceUse()


def open_documents(
    paths: Sequence[Path],
    folder: Path,
    report: OnFinding,
    wanted: OnWanted,
    use: ServiceUse = AS_IT_IS,
    held_bytes: int = HELD_BYTES,
) -> DocumentStores:
    """Return the documents of files and folders, indexes, data sets (`irds:NAME`) and services.

    Of several paths the first one that has a document counts. Few documents are held in memory. Of
    a larger collection, of a service, and of an index in a database, only those are read that are
    `wanted` and that no path before it has; what is found is kept in `folder` for later jobs.
    Raises InputError if a path holds no document, OutputError if nothing can be kept.
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
        elif address := index_address(path):
            kept, left = (
                KeptDocuments.open(folder, store_name(path)),
                _still_wanted(asked(), stores),
            )
            _fetch_from_index(address, kept, left, use, report)
            stores.append(kept)
        elif service := service_of(path):
            kept, left = KeptDocuments.open(folder, service.key), _still_wanted(asked(), stores)
            elsewhere = (doc_id for doc_id in asked().named if doc_id not in left.named)
            fetch(service, kept, left, use, report, list(islice(elsewhere, PROOFS)))
            stores.append(kept)
        elif packs := packs_among(found := document_files(path, report), held_bytes):
            stores.append(open_packs(path, found, packs, _still_wanted(asked(), stores), report))
            files += found
        elif (held := hold_documents(path, found, log := FindingLog([report]), held_bytes)) is None:
            left, again = _still_wanted(asked(), stores), _unless_reported(log.counts, report)
            stores.append(_look_through(path, found, folder, again, left))
        else:
            stores.append(held)
            files += found
    both = list(zip(paths, stores, strict=True))
    if len(stores) > 1:
        _report_differences(both, asked, report)
    opened = [s.path if isinstance(s, KeptDocuments) else p for p, s in both]
    return DocumentStores(stores, opened, files)


def open_cited(
    paths: Sequence[Path], read: Read, report: OnFinding, use: ServiceUse = AS_IT_IS
) -> DocumentStores | None:
    """Return the documents of paths that responses ask for; None without a path.

    `read` reads the responses with a store that only notes what it is asked for. It is called where
    a path is large, or a service. What is found is kept in the default folder.
    """
    if not paths:
        return None
    return open_documents(paths, default_folder(), report, lambda: WantedDocuments.of(read), use)


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


def _still_wanted(wanted: WantedDocuments, stores: Sequence[DocumentStore]) -> WantedDocuments:
    """Return the documents that are wanted and that none of some stores has."""
    if not stores:
        return wanted
    before = DocumentStores(stores)
    # All others are among those that are possible: each is looked up once.
    left = {i for i in wanted.possible if not ((d := before.get(i)) and d.has_text)}

    def still(ids: Iterable[str]) -> dict[str, None]:
        return {doc_id: None for doc_id in ids if doc_id in left}

    every = wanted.named, wanted.cited, wanted.possible, wanted.beside
    return WantedDocuments(*map(still, every))


def fetch(
    service: DocumentApi,
    kept: KeptDocuments,
    wanted: WantedDocuments,
    use: ServiceUse,
    report: OnFinding,
    proofs: Sequence[str] = (),
) -> None:
    """Fetch the documents that are wanted and not kept; each is kept as soon as it has come.

    What was not fetched is not known: it is never taken for a document that is not there. Where
    nothing has come, a few of the ids in `proofs`, which other sources have, are asked for. Raises
    InputError where the service does not let anybody in, ModelError for headers that cannot be
    sent.
    """
    kept.wanted = wanted.named
    # All of them, until they are settled: also what is not asked for, or where this ends early.
    kept.not_known(kept.select_unsettled([*wanted.named, *wanted.beside]))
    asked = wanted.cited if service.only_cited else wanted.named
    ids = [doc_id for doc_id in asked if can_be_asked(doc_id)]
    others = len(asked) - len(ids)
    if not use.refresh or use.offline:
        ids = kept.select_unsettled(ids)
    elif not use.plan:
        kept.not_known(ids)
    kept.to_fetch = len(ids)
    if ids and use.offline and not use.plan:
        message = f"offline: {plural(len(ids), 'document')} not kept, and not asked for"
        report(Finding("documents_not_fetched", Place(service.name), message))
    if others:
        message = f"{plural(others, 'id')} not asked for: too long, or no part of an address"
        report(Finding("documents_not_fetched", Place(service.name), message))
    if not ids or use.offline or use.plan:
        return
    # Imported late: aiohttp loads slowly, and most jobs ask no service.
    from trecjudge.models.documents.fetcher import Fetcher

    usable = list(filter(can_be_asked, proofs))
    fetcher = Fetcher(service, kept, use.notify, usable, use.refresh, str(os.getpid()))
    blocking(fetcher.run)(ids)
    for finding in fetcher.findings():
        report(finding)


def _fetch_from_index(
    address: str, kept: KeptDocuments, wanted: WantedDocuments, use: ServiceUse, report: OnFinding
) -> None:
    """Look up the documents that are wanted in an index, as they are now; offline none is."""
    kept.wanted = wanted.named
    if use.offline:
        kept.not_known(left := kept.select_unsettled(wanted.possible))
        if left:
            message = f"offline: {plural(len(left), 'document')} not kept, and not asked for"
            report(Finding("documents_not_fetched", Place(public(address)), message))
        return
    place = PostgresAddress.of(address)
    found = {one.doc_id: one for one in find_documents(place, list(wanted.possible))}
    with kept.change():
        kept.add(FoundDocument(one, source=place.shown) for one in found.values())
        kept.sample(islice(found, PROOFS))
    kept.not_there(doc_id for doc_id in wanted.possible if doc_id not in found)


def _unless_reported(counts: Mapping[str, int], report: OnFinding) -> OnFinding:
    """Return what reports the findings of files read again, but for those reported before."""
    left = Counter(counts)

    def report_new(finding: Finding) -> None:
        left[finding.kind] -= 1
        if left[finding.kind] < 0:
            report(finding)

    return report_new


def _look_through(
    path: Path, files: Sequence[Path], folder: Path, report: OnFinding, wanted: WantedDocuments
) -> KeptDocuments:
    """Return the documents of a large collection that are wanted."""
    kept = KeptDocuments.open(folder, store_name(path))
    # By paths that say the same in every working folder. Only what was given is resolved: a file
    # may be a link to one whose name says nothing.
    if path.is_dir():
        files = [Path(os.path.realpath(path), file.relative_to(path)) for file in files]
    else:
        files = [Path(os.path.realpath(file.parent), file.name) for file in files]
    kept.begin(files)
    kept.wanted = wanted.named
    left = kept.select_unsettled(wanted.possible)
    # Imported late: few collections are so large.
    from trecjudge.inputs.collections.lookup import CollectionLookup

    lookup = CollectionLookup(files, kept, report, str(path))
    try:
        if left:
            left = lookup.find_by_address(left)
        lookup.find_in_pass(left)
    except InputError:
        kept.remove_if_empty()
        raise
    for finding in kept.findings():
        report(finding)
    return kept


def _report_differences(
    stores: Sequence[tuple[Path, DocumentStore]], wanted: OnWanted, report: OnFinding
) -> None:
    """Report, for each path, how many documents have another text in one before it."""
    in_memory = [store.documents for _, store in stores if isinstance(store, HeldDocuments)]
    ids = dict.fromkeys(chain(*in_memory)) if len(in_memory) == len(stores) else wanted().named
    for number, (path, store) in enumerate(stores[1:], 1):
        before = DocumentStores([earlier for _, earlier in stores[:number]])
        other = [i for i in ids if _differ(before.get(i), store.get(i))]
        if other:
            what = f"has {plural(len(other), 'document')} with another text than a source before"
            message = f"{what} it, such as {brief(other[0])}: the first source counts"
            report(Finding("documents_differ", Place(source_name(path)), message, other[0]))


def _differ(one: Document | None, other: Document | None) -> bool:
    if one is None or other is None or not (one.has_text and other.has_text):
        return False
    return one.text != other.text and one.text.split() != other.text.split()


def store_name(path: Path) -> str:
    """Return by what name the documents of a path are kept."""
    if address := index_address(path):
        return public(address)
    service = service_of(path)
    return service.key if service else os.path.realpath(path)


def some_kept(paths: Sequence[Path], folder: Path) -> list[str]:
    """Return those paths of which a folder keeps what was found."""
    return [
        source_name(path)
        for path in paths
        if not is_data_set(path) and path_of(folder, store_name(path)).exists()
    ]


def source_name(path: Path) -> str:
    """Return what a path of --documents is called in messages and files: no secret is in it."""
    address = address_in(path)
    return public(address) if address else str(path)

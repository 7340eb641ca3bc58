"""Documents of a service, fetched once and kept: only those that a job wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trecjudge.findings import Finding, OnFinding, counted
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.models.blocking import blocking
from trecjudge.models.documents.service import Service, can_be_asked
from trecjudge.records import Place


@dataclass(frozen=True, slots=True)
class Use:
    """Whether a service may be asked.

    `offline` asks nothing; `refresh` asks again for what is kept; `plan` asks nothing and counts.
    `notify` is called with messages while a service is waited for.
    """

    offline: bool = False
    refresh: bool = False
    plan: bool = False
    notify: Callable[[str], None] = lambda message: None


def fetch(
    service: Service, kept: KeptDocuments, wanted: Wanted, use: Use, report: OnFinding
) -> None:
    """Fetch the documents that are wanted and not kept; each is kept as soon as it has come.

    What was not fetched is not known: it is never taken for a document that is not there. Raises
    InputError where the service does not let anybody in, ModelError for headers that cannot be
    sent.
    """
    # All of them, until they are settled: also what is not asked for, or where this ends early.
    kept.not_known(kept.left(wanted.named))
    asked = wanted.cited if service.only_cited else wanted.named
    ids = [doc_id for doc_id in asked if can_be_asked(doc_id)]
    others = len(asked) - len(ids)
    if use.refresh and not use.offline:
        kept.not_known(ids)
    else:
        ids = kept.left(ids)
    kept.to_fetch = len(ids)
    if ids and use.offline and not use.plan:
        message = f"--offline: {counted(len(ids), 'document')} not kept, and not asked for"
        report(Finding("documents_not_fetched", Place(service.name), message))
    if others:
        message = f"{counted(others, 'id')} not asked for: too long, or no part of an address"
        report(Finding("documents_not_fetched", Place(service.name), message))
    if not ids or use.offline or use.plan:
        return
    # Imported late: aiohttp loads slowly, and most jobs ask no service.
    from trecjudge.models.documents.asking import Asking

    asking = Asking(service, kept, use.notify)
    blocking(asking.run)(ids)
    for finding in asking.findings():
        report(finding)

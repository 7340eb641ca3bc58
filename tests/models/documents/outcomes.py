"""What comes of asking a service for documents, told in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.document_service import DocumentService, Reply, serving_documents
from tests.models.clock import run
from trecjudge.findings import Finding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.models.documents.fetcher import Fetcher
from trecjudge.models.documents.service import DocumentApi


@dataclass
class Outcome:
    """What is kept, what was reported and said, and what the service was asked."""

    kept: KeptDocuments
    server: DocumentService
    findings: list[Finding]
    notices: list[str]
    fetcher: Fetcher
    raised: str = ""

    def of(self, doc_id: str) -> str:
        """Return `found: TEXT`, `not there`, or `unknown`."""
        if self.kept.state_of(doc_id) == "not there":
            return "not there"
        document = self.kept.get(doc_id)
        assert document is not None
        return f"found: {document.text}" if document.complete else "unknown"

    @property
    def messages(self) -> str:
        """All that was reported, one finding a line."""
        return "\n".join(finding.message for finding in self.findings)


@dataclass
class Library:
    """A folder of what is kept under one name, so that several jobs may ask in a row."""

    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    proofs: Sequence[str] = ()

    def ask(
        self,
        ids: Iterable[str],
        documents: Mapping[str, Any],
        rude: Mapping[str, Sequence[Reply | None]] | None = None,
        token: str = "",
        path: str = "/v1/books/doc/{docid}",
    ) -> Outcome:
        """Ask a service that has some documents, and replies rudely to some ids."""

        async def asked() -> Outcome:
            async with serving_documents(documents, rude, token) as server:
                url = path if "://" in path else f"{server.url}{path}"
                service = DocumentApi(url, **self.settings)
                kept = KeptDocuments.open(self.folder, "library")
                notices: list[str] = []
                fetcher = Fetcher(service, kept, notices.append, self.proofs)
                left = kept.select_unsettled(ids)
                kept.not_known(left)
                found = Outcome(kept, server, [], notices, fetcher)
                try:
                    await fetcher.run(left)
                except Exception as error:
                    found.raised = f"{type(error).__name__}: {error}"
                found.findings = list(fetcher.findings())
                return found

        return run(asked())

"""Reading run text in a test: the responses, and the problems found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trecjudge.findings import IN_ALL, Finding, OnFinding
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.store import DocumentStores
from trecjudge.inputs.runs import RunReader
from trecjudge.models.documents.opening import HELD_BYTES, open_documents
from trecjudge.records import Citation, Response, Topic

Write = Callable[..., Path]
"""(text, name) -> path"""
IDS = [*"abcdefghijklmnopqrstuvwxyz", *map(str, range(10)), "12345", "nowhere"]
"""Ids of documents that tests use, and one that no collection has."""


def documents_of(
    paths: Sequence[Path],
    folder: Path,
    report: OnFinding,
    held_bytes: int = HELD_BYTES,
    ids: Iterable[str] = IDS,
) -> DocumentStores:
    """Return the documents of files; those with these ids where they are not held in memory."""
    wanted = WantedDocuments.of_ids(ids)
    return open_documents(paths, folder, report, lambda: wanted, held_bytes=held_bytes)


def records_in(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file that has one a line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def lines_of(*records: Any) -> str:
    """Return the text of a file that has one record a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


@dataclass(frozen=True)
class Reading:
    """The responses that a reader yielded, and its findings."""

    pairs: list[tuple[Topic, Response]]
    findings: list[Finding]

    @property
    def responses(self) -> list[Response]:
        return [response for _, response in self.pairs]

    @property
    def response(self) -> Response:
        """The only response."""
        (response,) = self.responses
        return response

    @property
    def kinds(self) -> list[str]:
        """The kinds of the findings, in their order, without the inventories of marks."""
        kinds = (finding.kind for finding in self.findings)
        return [kind for kind in kinds if kind not in (IN_ALL, "marks_counted")]

    @property
    def answers(self) -> list[tuple[str, str]]:
        """(run_id, topic_id) of every response."""
        return [(response.run_id, response.topic_id) for response in self.responses]

    @property
    def citations(self) -> list[Citation]:
        """All citations of the only response."""
        return [c for sentence in self.response.sentences for c in sentence.citations]

    @property
    def cited(self) -> list[str | None]:
        """The document ids of these."""
        return [citation.doc_id for citation in self.citations]


def fail(finding: Finding) -> None:
    """Fail the test: nothing was to be found."""
    pytest.fail(f"{finding.kind}: {finding}")


Read = Callable[..., Reading]
"""(text, name, **options of RunReader) -> Reading"""


def reading(*paths: Path, **options: Any) -> Reading:
    """Return what is read from run files, without findings on file names, which tests choose."""
    findings: list[Finding] = []
    pairs = list(RunReader(paths, findings.append, **options))
    kept = [finding for finding in findings if finding.kind != "file_name_differs"]
    return Reading(pairs, kept)


def answer(sentences: str, topic_id: str = "1", more: str = "") -> str:
    """Return a TREC RAG 2025 record with this literal `answer`; references are a, b."""
    metadata = f'{{"team_id": "t", "run_id": "r", "narrative_id": "{topic_id}"}}'
    return f'{{"metadata": {metadata}, "references": ["a", "b"], "answer": {sentences}{more}}}'


def citing(citations: str, more: str = ', "documents": {"a": "A.", "b": "B."}') -> str:
    """Return a TREC RAG 2025 record of one sentence with these literal `citations`."""
    return answer(f'[{{"text": "S.", "citations": {citations}}}]', more=more)


def responses(sentences: str, topic_id: str = "1", more: str = "") -> str:
    """Return a RAGTIME record with this literal `responses`."""
    metadata = f'{{"team_id": "t", "run_id": "r", "topic_id": "{topic_id}"}}'
    return f'{{"metadata": {metadata}, "responses": {sentences}{more}}}'


PLAIN = responses('[{"text": "S.", "citations": []}]')
SECOND = responses('[{"text": "S.", "citations": []}]', topic_id="2")

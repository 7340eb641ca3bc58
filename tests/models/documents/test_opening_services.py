"""Fetching for jobs: what is kept, what is asked again, what an interrupt leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commandline import ROOT
from tests.document_service import DocumentService, Reply, serving_documents
from tests.endpoint import in_a_thread
from tests.models.documents import interrupted
from tests.models.processes import wait_until
from trecjudge.findings import Finding, ignore
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.progress import CollectionProgress, progress_to
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.models.documents.opening import ServiceUse, fetch
from trecjudge.models.documents.service import DocumentApi
from trecjudge.records import Document

HELD = {f"d{number}": f"Text {number}." for number in range(20)}


@pytest.fixture
def server() -> Iterator[DocumentService]:
    with in_a_thread(serving_documents(dict(HELD))) as server:
        yield server


def kept_of(server: DocumentService, folder: Path) -> KeptDocuments:
    return KeptDocuments.open(folder, server.pattern)


def job(
    server: DocumentService,
    folder: Path,
    ids: list[str],
    use: ServiceUse | None = None,
    **more: object,
) -> tuple[KeptDocuments, list[str]]:
    """Fetch documents as a job does; return what is kept, and what was reported."""
    found: list[Finding] = []
    kept = kept_of(server, folder)
    wanted = WantedDocuments.of_ids(ids)
    fetch(DocumentApi(server.pattern, **more), kept, wanted, use or ServiceUse(), found.append)  # type: ignore[arg-type]
    return kept, [finding.message for finding in found]


def test_a_document_is_fetched_once(server: DocumentService, tmp_path: Path) -> None:
    kept, said = job(server, tmp_path, [*HELD, "z"])
    assert [kept.state_of("d1"), kept.state_of("z"), said] == ["found", "not there", []]
    assert kept.source_of("d1") == f"{server.url}/v1/books/doc/d1"
    assert kept.some_ids(1) != []
    job(server, tmp_path, [*HELD, "z"])
    asked = server.asked
    assert (asked["z"], asked.total(), len(asked)) == (1, 21, 21)


def test_a_plan_asks_nothing_and_counts(server: DocumentService, tmp_path: Path) -> None:
    job(server, tmp_path, ["d1"])
    kept, said = job(server, tmp_path, ["d1", "d2", "d3"], ServiceUse(plan=True))
    assert (kept.to_fetch, server.asked.total(), said) == (2, 1, [])
    kept, _ = job(server, tmp_path, ["d1", "d2", "d3"], ServiceUse(plan=True, refresh=True))
    assert kept.to_fetch == 3


def test_a_plan_to_ask_again_forgets_nothing(server: DocumentService, tmp_path: Path) -> None:
    job(server, tmp_path, ["d1", "z"])
    kept, _ = job(server, tmp_path, ["d1", "z"], ServiceUse(plan=True, refresh=True))
    assert (kept.to_fetch, kept.state_of("z")) == (2, "not there")


def test_a_gateway_takes_no_text_that_is_kept(server: DocumentService, tmp_path: Path) -> None:
    job(server, tmp_path, ["d1", "d2"])
    server.rude = {"d2": [Reply(b"<h1>404 page not found</h1>", 404)]}
    kept, said = job(server, tmp_path, ["d1", "d2"], ServiceUse(refresh=True))
    assert (kept.get("d2") or Document("")).text == "Text 2."
    assert said == [
        "1 document not fetched ('d2'): HTTP 404: 404 page not found; the text that is kept stays"
    ]


def test_offline_nothing_is_asked(server: DocumentService, tmp_path: Path) -> None:
    job(server, tmp_path, ["d1"])
    kept, said = job(server, tmp_path, ["d1", "d2"], ServiceUse(offline=True))
    unknown = kept.get("d2")
    assert unknown is not None and not unknown.complete
    assert (kept.state_of("d1"), server.asked.total()) == ("found", 1)
    assert said == ["offline: 1 document not kept, and not asked for"]


def test_refresh_asks_again_for_what_is_wanted(server: DocumentService, tmp_path: Path) -> None:
    job(server, tmp_path, ["d1", "d2", "d3", "z"])
    server.documents = {"d1": "New.", "z": "New.", "d3": "New."}
    server.rude = {"d3": [Reply({"error": "no"}, 400)]}
    kept, _ = job(server, tmp_path, ["d1", "d2", "d3", "z"], ServiceUse(refresh=True))
    texts = [found.text if (found := kept.get(i)) else None for i in ("d1", "d2", "d3", "z")]
    assert texts == ["New.", None, "Text 3.", "New."]
    assert kept.state_of("d2") == "not there"


def test_what_no_sentence_cites_need_not_be_fetched(
    server: DocumentService, tmp_path: Path
) -> None:
    wanted = WantedDocuments(dict.fromkeys(["d1", "d2"]), {"d2": None})
    kept, ignored = kept_of(server, tmp_path), list[Finding]()
    fetch(DocumentApi(server.pattern, only_cited=True), kept, wanted, ServiceUse(), ignored.append)
    unknown = kept.get("d1")
    assert (dict(server.asked), ignored) == ({"d2": 1}, [])
    assert unknown is not None and not unknown.complete


def test_what_only_other_responses_name_is_not_fetched_and_not_missing(
    server: DocumentService, tmp_path: Path
) -> None:
    wanted, kept = (
        WantedDocuments({"d2": None}, {"d2": None}, beside={"d1": None}),
        kept_of(server, tmp_path),
    )
    fetch(DocumentApi(server.pattern), kept, wanted, ServiceUse(), ignore)
    unknown = kept.get("d1")
    assert dict(server.asked) == {"d2": 1}
    assert unknown is not None and not unknown.complete


def test_an_id_that_cannot_be_asked_for_is_told(server: DocumentService, tmp_path: Path) -> None:
    kept, said = job(server, tmp_path, ["d1", "..", "x" * 9999])
    assert said == ["2 ids not asked for: too long, or no part of an address"]
    assert (kept.state_of("d1"), dict(server.asked)) == ("found", {"d1": 1})
    unknown = kept.get("..")
    assert unknown is not None and not unknown.complete


def test_where_an_event_loop_runs_already(server: DocumentService, tmp_path: Path) -> None:
    seen: list[CollectionProgress] = []

    async def notebook() -> KeptDocuments:
        with progress_to(seen.append):
            return job(server, tmp_path, list(HELD))[0]

    assert asyncio.run(notebook()).state_of("d7") == "found"
    last = seen[-1]
    assert (last.done, last.total, last.found, last.wanted) == (20, 20, 20, 20)
    assert (last.ended, last.in_bytes, last.what) == (True, False, server.pattern)


def found(kept: KeptDocuments) -> list[str]:
    return [doc_id for doc_id in HELD if kept.state_of(doc_id) == "found"]


@pytest.mark.parametrize(
    ("inside", "number"),
    [
        ("no", signal.SIGINT),
        ("yes", signal.SIGINT),
        pytest.param("no", signal.SIGTERM, marks=pytest.mark.slow("trecjudge/models/documents")),
    ],
)
def test_an_interrupt_ends_it_with_what_has_come(
    inside: str, number: signal.Signals, tmp_path: Path
) -> None:
    with in_a_thread(serving_documents(dict(HELD))) as server:
        server.answers = 5
        kept = kept_of(server, tmp_path)
        program = ["-m", interrupted.__name__, server.pattern, str(tmp_path), inside]
        surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
        to = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = subprocess.Popen([sys.executable, *program], text=True, env=surroundings, **to)  # type: ignore[call-overload]
        wait_until(lambda: server.asked.total() > 5 and len(found(kept)) == 5)
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
    assert said == "interrupted\n"
    documents = [kept.get(doc_id) for doc_id in HELD]
    assert [d.complete for d in documents if d is not None].count(False) == 15

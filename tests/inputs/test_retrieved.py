"""Reading what a run retrieved, from the file beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.inputs.test_provenance import RUN
from trecjudge.findings import Finding
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.records import Response


def search(*ids: str, **more: Any) -> dict[str, Any]:
    passages = [{"rank": n, "doc_id": i, "text": f"Of {i}."} for n, i in enumerate(ids, 1)]
    return {"run_id": "r", "topic_id": "1", "passages": passages} | more


def read(folder: Path, *lines: Any) -> tuple[Response, list[Finding]]:
    """Return the one response of a folder, and the findings on what it retrieved."""
    (folder / "r.jsonl").write_text(json.dumps(RUN) + "\n")
    written = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    (folder / "r.retrieved.jsonl").write_text("".join(f"{line}\n" for line in written))
    findings: list[Finding] = []
    [(_, response)] = list(RunReader(find_runs([folder], findings.append), findings.append))
    return response, [f for f in findings if f.kind in ("retrieved_unusable", "own_output")]


def test_it_is_what_the_response_retrieved(tmp_path: Path) -> None:
    response, findings = read(tmp_path, search("b", "a", "b"), search("c", "a"))
    assert (response.retrieved, findings) == (("b", "a", "c"), [])
    assert response.retrieved_documents["b"].text == "Of b.\nOf b."
    assert set(response.documents) == {"k"}  # what its claims are judged by stays as it is


def test_ranks_order_passages(tmp_path: Path) -> None:
    shuffled = [{"rank": 2, "doc_id": "b"}, {"rank": 1, "doc_id": "a"}]
    assert read(tmp_path, search(passages=shuffled))[0].retrieved == ("a", "b")


def test_other_runs_and_topics_are_not_its_own(tmp_path: Path) -> None:
    response, findings = read(tmp_path, search("b", run_id="s"), search("b", topic_id="2"))
    assert (response.retrieved, findings) == (None, [])


def test_an_empty_search_found_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, search())[0].retrieved == ()


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(search(passages="b"), id="no list"),
        pytest.param(search(passages=["b"]), id="no objects"),
        pytest.param(search(passages=[{"rank": 1}]), id="no id"),
        pytest.param({"run_id": "r", "topic_id": "1"}, id="no passages"),
    ],
)
def test_of_a_topic_with_a_bad_line_nothing_is_known(tmp_path: Path, bad: dict[str, Any]) -> None:
    response, [finding] = read(tmp_path, search("a"), bad)
    assert response.retrieved is None
    assert (finding.kind, finding.severity) == ("retrieved_unusable", "warning")
    assert str(finding.place).endswith("r.retrieved.jsonl:2")


def test_what_is_no_json_is_a_warning(tmp_path: Path) -> None:
    response, [finding] = read(tmp_path, search("a"), "{")
    assert (response.retrieved, finding.kind) == (("a",), "retrieved_unusable")

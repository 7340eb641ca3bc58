"""What became of the documents that sentences rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.provenance import KETTLE, line
from trecjudge.baseline.freshness import FreshnessAudit, compare_with_now
from trecjudge.baseline.records import Chunk
from trecjudge.records import Document


def whole(text: str, digest: str, version: str) -> Chunk:
    return Chunk(Document("d", version=version), 0, len(text), text, digest)


SAME = whole(KETTLE, "d1", "v1")
MOVED = whole(f"New. {KETTLE}", "d2", "v2")
REWRITTEN = whole("Kettles sing.", "d3", "v3")


def always(now: Chunk | None) -> Callable[[str], Chunk | None]:
    return lambda doc_id: now


@pytest.mark.parametrize(
    ("now", "digest", "version", "state", "quoted"),
    [
        pytest.param(SAME, "d1", "v1", "current", True, id="the same"),
        pytest.param(SAME, "d1", "v0", "current", True, id="the digest decides, not the version"),
        pytest.param(MOVED, "d1", "v2", "changed", True, id="changed elsewhere"),
        pytest.param(REWRITTEN, "d1", "v1", "changed", False, id="the quote is gone"),
        pytest.param(SAME, "", "v1", "current", True, id="no digest: the version"),
        pytest.param(MOVED, "", "v1", "changed", True, id="no digest: another version"),
        pytest.param(MOVED, "", "", "current", True, id="neither: the quote"),
        pytest.param(REWRITTEN, "", "", "changed", False, id="neither, and no quote"),
        pytest.param(None, "d1", "v1", "gone", None, id="gone"),
    ],
)
def test_a_document(
    now: Chunk | None, digest: str, version: str, state: str, quoted: bool | None
) -> None:
    found = compare_with_now(line(document_digest=digest, document_version=version), always(now))
    assert (found.state, found.quoted) == (state, quoted)
    assert found.is_stale is (state in ("changed", "gone"))


def test_a_quote_that_never_was_there_is_told_of_a_current_document() -> None:
    found = compare_with_now(line(document_digest="d1", quote="Kettles are blue."), always(SAME))
    assert (found.state, found.quoted) == ("current", False)


def test_lines_are_chosen_and_counted() -> None:
    known = {"k": MOVED, "m": replace(SAME, digest="")}
    audit = FreshnessAudit(known.get, versions={"v1"})
    lines = [
        line(document_digest="d1"),
        line(doc_id="m"),
        line(doc_id="gone", run_id="s"),
        line(document_version="v7"),
    ]
    assert [basis.state for basis in audit.bases(lines)] == ["changed", "current", "gone"]
    assert audit.stale == 2
    assert audit.as_dict() == {
        "runs": 2,
        "current": 1,
        "changed": 1,
        "gone": 1,
        "unknown": 0,
        "changed_but_quoted": 1,
    }
    of_one = FreshnessAudit(known.get, documents={"m"})
    assert [basis.line.doc_id for basis in of_one.bases(lines)] == ["m"]


def test_with_nothing_to_compare_with_nothing_is_known() -> None:
    audit = FreshnessAudit()
    assert [basis.state for basis in audit.bases([line()])] == ["unknown"]
    assert audit.stale == 0


def test_a_document_is_looked_up_once() -> None:
    asked: list[str] = []

    def look_up(doc_id: str) -> Chunk:
        asked.append(doc_id)
        return SAME

    list(FreshnessAudit(look_up).bases([line()] * 5))
    assert asked == ["k"]

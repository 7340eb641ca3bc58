"""The README's pictures show the report as it is, and are small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pictures import PICTURES, digest, judged, stamp

MOST_BYTES = 150_000


@pytest.mark.parametrize("theme", PICTURES)
def test_a_picture_is_of_the_present_report(theme: str, tmp_path: Path) -> None:
    judged(tmp_path)
    shown = stamp(PICTURES[theme].read_bytes())
    assert shown == digest(tmp_path), "the report has changed: run .ci/pictures"


@pytest.mark.parametrize("theme", PICTURES)
def test_a_picture_loads_fast(theme: str) -> None:
    assert PICTURES[theme].stat().st_size < MOST_BYTES


def test_the_digest_changes_with_what_is_shown(tmp_path: Path) -> None:
    judged(tmp_path)
    before = digest(tmp_path)
    judgments = tmp_path / "ragtime_citations.judgments.jsonl"
    judgments.write_bytes(judgments.read_bytes().replace(b"full_support", b"no_support", 1))
    assert digest(tmp_path) != before

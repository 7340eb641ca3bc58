"""Leaderboards of any content: rows and findings, one clear error, never a crash."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.results.leaderboards.reading import read_rows
from trecjudge.results.leaderboards.writing import LAYOUTS, write_rows
from trecjudge.results.trec import LeaderboardRow

CELL = st.sampled_from(
    ["all", "r1", "t1", "M", "0.5", "nan", "run", "topic", "value", "%61ll", "é"]
)
LINE = st.lists(CELL, min_size=1, max_size=6).map(" ".join)
JSON = st.sampled_from(
    [
        '{"run_id": "r", "topic_id": 1, "measure": "M", "value": 1}',
        '{"run_id": null}',
        '{"run_id": "r", "measure": "M", "mean": [1]}',
        "[1, 2]",
        '{"value": 1e999}',
        "{",
        "null",
    ]
)
TEXT = st.lists(st.one_of(LINE, JSON, st.text(max_size=20)), max_size=8).map("\n".join)
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
ROWS = st.lists(
    st.builds(
        LeaderboardRow,
        IDS.map(str.strip),
        st.one_of(st.none(), IDS.map(str.strip)),
        st.sampled_from(["M", "nDCG@10", "A.B"]),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    max_size=6,
    unique_by=lambda row: row[:3],
)


def read(content: bytes, format_name: str) -> None:
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lb"
        path.write_bytes(content)
        try:
            rows = [row for _, row in read_rows(path, findings.append, format_name)]
        except InputError as error:
            assert "\n" not in str(error)
            return
    assert all(math.isfinite(row.value) for row in rows)
    assert all(row.run_id and row.measure and row.topic_id != "" for row in rows)


@pytest.mark.parametrize("name", ["auto", *LAYOUTS])
@given(text=TEXT)
def test_any_text(name: str, text: str) -> None:
    read(text.encode(errors="surrogatepass"), name)


@given(content=st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    read(content, "auto")


@pytest.mark.parametrize("name", ["ir_measures", "tot", "rag4reports", "jsonl", "csv"])
@given(rows=ROWS)
def test_any_ids_are_read_as_they_were_written(name: str, rows: list[LeaderboardRow]) -> None:
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        written = write_rows(rows, Path(folder) / "lb", LAYOUTS[name])
        found = [row for _, row in read_rows(written[0], findings.append, name)]
    assert (found, findings) == (rows, [])

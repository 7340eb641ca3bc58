"""Documents in Parquet, and the ids of their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from trecjudge.findings import Finding
from trecjudge.inputs.documents.collection import documents_of


def read(path: Path, rows: list[dict[str, Any]]) -> tuple[dict[str, str], list[Finding]]:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    findings: list[Finding] = []
    return {d.doc_id: d.text for _, _, d, _ in documents_of([path], findings.append)}, findings


IDS_OF_ROWS = {
    "docid": ([{"docid": "a", "text": "T"}], {"a": "T"}, []),
    "a number": ([{"url": "u", "doc_id": 7, "text": "T"}], {"7": "T"}, []),
    "none": (
        [{"url": "u", "text": "T"}, {"url": "u", "text": "U"}],
        {"shard_00001_0": "T", "shard_00001_1": "U"},
        [],
    ),
    "another name": ([{"warc_rid": "a", "text": "T"}], {"a": "T"}, ["id_field_guessed"]),
    "no text": ([{"width_id": 5, "text": "T"}], {"shard_00001_0": "T"}, []),
    "null": (
        [{"id": "a", "text": "T"}, {"id": None, "text": "U"}],
        {"a": "T"},
        ["documents_unusable"],
    ),
    "inside another": ([{"text": "T", "metadata": {"doc_id": "a"}}], {"a": "T"}, []),
}


@pytest.mark.parametrize(("rows", "wanted", "kinds"), IDS_OF_ROWS.values(), ids=IDS_OF_ROWS)
def test_ids_of_rows(
    rows: list[dict[str, Any]], wanted: dict[str, str], kinds: list[str], tmp_path: Path
) -> None:
    found, findings = read(tmp_path / "shard_00001.parquet", rows)
    assert (found, [finding.kind for finding in findings]) == (wanted, kinds)

"""Any bytes in a run file give responses or findings; every line is accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reading import PLAIN, reading
from trecjudge.findings import Finding
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.values import values

pytestmark = pytest.mark.filterwarnings("error")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = (
    "metadata",
    "answer",
    "responses",
    "references",
    "documents",
    "citations",
    "text",
    "topic_id",
)
RECORDS = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5)
LINES = st.one_of(
    st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")),
    RECORDS.map(lambda record: json.dumps(record).encode()),
    st.integers(0, len(PLAIN)).map(lambda end: PLAIN[:end].encode()),
)
SETTINGS = settings(suppress_health_check=list(HealthCheck))


def written(folder: Path, data: bytes) -> Path:
    path = folder / "fuzz.jsonl"
    path.write_bytes(data)
    return path


@SETTINGS
@given(data=st.binary(max_size=300))
def test_any_bytes(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    reading(written(tmp_path_factory.getbasetemp(), data))


@SETTINGS
@given(lines=st.lists(LINES, max_size=5))
def test_every_line_is_a_record_a_finding_or_blank(
    lines: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A whole record goes first, so that the file is read line by line.
    path = written(tmp_path_factory.getbasetemp(), b"\n".join([PLAIN.encode(), *lines]))
    findings: list[Finding] = []
    read = {line for line, _ in values(path, findings.append)}
    found = {finding.place.line for finding in findings}
    blank = {n for n, line in enumerate(path.read_bytes().split(b"\n"), 1) if not line.strip()}
    empty = {n for n, line in enumerate(lines, 2) if line.strip() in (b"[]", b"\xef\xbb\xbf")}
    assert read | found | blank | empty == set(range(1, len(lines) + 2))


@SETTINGS
@given(record=RECORDS)
def test_a_record_is_a_response_or_a_finding(
    record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(tmp_path_factory.getbasetemp(), json.dumps(record).encode())
    findings: list[Finding] = []
    responses = list(RunReader([path], findings.append))
    assert responses or findings

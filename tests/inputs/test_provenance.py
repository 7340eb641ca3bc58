"""Reading where sentences are from, beside a run."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.provenance import KETTLE, QUOTE, line, written
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.provenance import (
    provenance_files,
    provenance_path,
    quote_span,
    read_provenance,
)
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.records import ProvenanceLine

RUN = {
    "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"},
    "responses": [{"text": "A kettle whistles by steam.", "citations": ["k"]}],
    "documents": {"k": {"title": "Kettles", "text": KETTLE.partition("\n")[2]}},
}


def of_run(folder: Path, name: str = "r.jsonl") -> tuple[tuple[ProvenanceLine, ...], list[Finding]]:
    """Return the provenance of the one response of a folder, and the findings of provenance."""
    data = json.dumps(RUN).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    findings: list[Finding] = []
    reader = RunReader(find_runs([folder], findings.append), findings.append)
    [(_, response)] = list(reader)
    kinds = ("provenance_unusable", "quote_missing", "own_output", "file_not_a_run")
    return response.provenance, [finding for finding in findings if finding.kind in kinds]


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.json"])
def test_it_lies_beside_its_run(tmp_path: Path, name: str) -> None:
    written(provenance_path(tmp_path / name), line())
    assert of_run(tmp_path, name) == ((line(),), [])


def test_a_run_without_it_has_none(tmp_path: Path) -> None:
    assert of_run(tmp_path) == ((), [])


def test_lines_of_another_run_or_topic_are_not_its_own(tmp_path: Path) -> None:
    written(tmp_path / "r.provenance.jsonl", line(run_id="s"), line(topic_id="2"))
    assert of_run(tmp_path) == ((), [])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param("{", "is not JSON", id="no JSON"),
        pytest.param("[1]", "holds int, not an object", id="no object"),
        pytest.param("{}", "run_id: Input should be a valid string", id="nothing in it"),
        pytest.param(json.dumps(asdict(line(sentence_index=-1))), "count up from 0", id="index"),
        pytest.param(json.dumps(asdict(line(start=9, end=3))), "count up from 0", id="offsets"),
        pytest.param(json.dumps(asdict(line(end=1 << 53))), "count up from 0", id="too large"),
        pytest.param(
            json.dumps(asdict(line()) | {"score": "inf"}), "must be finite", id="infinite"
        ),
        pytest.param(json.dumps(asdict(line(quote=["a"]))), "quote: Input should be", id="type"),
    ],
)
def test_a_bad_line_is_a_warning_with_its_place(tmp_path: Path, bad: str, message: str) -> None:
    path = written(tmp_path / "r.provenance.jsonl", bad, line())
    lines, [finding] = of_run(tmp_path)
    assert lines == (line(),)
    assert (finding.kind, finding.severity) == ("provenance_unusable", "warning")
    assert str(finding.place) == f"{path}:1"
    assert message in finding.message


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    given = {"run_id": "r", "topic_id": 1, "sentence_index": 0, "doc_id": "k", "quote": QUOTE}
    path = written(tmp_path / "r.provenance.jsonl", json.dumps(given | {"time": None, "own": 1}))
    [(_, found)] = read_provenance(path, pytest.fail)
    bare = dict.fromkeys(("retriever", "document_version", "index", "index_version", "time"), "")
    assert found == line(start=0, end=0, score=0.0, rank=0, **bare)


def test_a_sentence_that_is_not_there_is_reported(tmp_path: Path) -> None:
    written(tmp_path / "r.provenance.jsonl", line(sentence_index=1))
    lines, [finding] = of_run(tmp_path)
    assert lines == ()
    assert finding.message == "its provenance has 1 lines on sentences it does not have"


def test_a_quote_that_its_document_lacks_is_reported(tmp_path: Path) -> None:
    forged = line(quote="Steam makes a kettle sing.")
    written(tmp_path / "r.provenance.jsonl", forged, line())
    lines, [finding] = of_run(tmp_path)
    assert lines == (forged, line())
    assert (finding.kind, finding.run_id, finding.sentence) == ("quote_missing", "r", 0)


def test_a_file_that_breaks_off_loses_no_response(tmp_path: Path) -> None:
    path = written(tmp_path / "r.provenance.jsonl", line())
    path.write_bytes(b"\x1f\x8b" + path.read_bytes())
    lines, [finding] = of_run(tmp_path)
    assert lines == ()
    assert finding.kind == "provenance_unusable"


def test_without_its_run_it_is_no_run(tmp_path: Path) -> None:
    written(tmp_path / "other.provenance.jsonl", line())
    _, [finding] = of_run(tmp_path)
    assert finding.message == "is the provenance of a run, no run; passed over"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        pytest.param(KETTLE, (8, 37), id="at its place"),
        pytest.param(f"New. {KETTLE}", (13, 42), id="moved"),
        pytest.param("steam  makes\na kettle whistle.", (0, 30), id="other case and space"),
        pytest.param("Steam makes a kettle sing.", None, id="not there"),
        pytest.param("", None, id="no text"),
    ],
)
def test_where_a_quote_stands(text: str, span: tuple[int, int] | None) -> None:
    assert quote_span(text, line()) == span


LETTER = "Write to ann@harbour.org or call +49 30 1234567 for a tour."


def test_masks_stand_for_what_they_hide() -> None:
    expected = {
        "Write to [EMAIL] or call [PHONE] for a tour.": (0, 59),
        "or call [PHONE]": (25, 32),
        "Write to [EMAIL] or fax [PHONE] for a tour.": None,
        "[EMAIL]": None,
        "Write to [NAME] or call": None,
    }
    assert {
        quote: quote_span(LETTER, line(quote=quote, start=0, end=59)) for quote in expected
    } == expected


def test_an_empty_quote_stands_nowhere() -> None:
    assert quote_span(KETTLE, line(quote="", start=0, end=0)) is None


def test_files_are_found_by_run_by_folder_and_by_themselves(tmp_path: Path) -> None:
    path = written(tmp_path / "r.provenance.jsonl", line())
    (tmp_path / "r.jsonl").write_text("{}")
    for given in (tmp_path, tmp_path / "r.jsonl", path):
        assert provenance_files([given, path]) == [path]
    (tmp_path / "s.jsonl").write_text("{}")
    with pytest.raises(InputError, match=r"s\.jsonl: no NAME\.provenance\.jsonl is there"):
        provenance_files([tmp_path / "s.jsonl"])

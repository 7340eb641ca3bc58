"""What judging comes to: an unknown value is never 0, and says why; as data frames too."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.commandline import SAMPLES
from trecjudge import Result

UNDEFINED = "not defined on this response"

LABELS = '{"topic_id": "%s", "run_id": "r", "sentence_index": 0, "doc_id": "d", "label": "%s"}\n'


def record(topic_id: str, *citations: str) -> dict[str, Any]:
    documents = {"d": {"text": "The Perch sails."}, "e": {"text": "It is blue."}}
    return {
        "metadata": {"run_id": "r", "topic_id": topic_id},
        "responses": [{"text": "The Perch sails.", "citations": list(citations)}],
        "documents": documents,
    }


@pytest.fixture
def partly(tmp_path: Path) -> Result:
    """Return a result: judged, of two items one, none, no citation, no response."""
    labels = tmp_path / "labels.jsonl"
    labels.write_text(LABELS % ("1", "full_support") + LABELS % ("2", "full_support"))
    given = [record("1", "d"), record("2", "d", "e"), record("3", "d"), record("4")]
    topics = {str(n): "ferries" for n in range(1, 6)}
    return trecjudge.judge(given, "citation", topics=topics, judgments_from=labels)


def cell(result: Result, topic_id: str, measure: str = "CITATION_SUPPORT") -> Any:
    found = {(s.topic_id, s.measure): s for s in result.scores}[topic_id, measure]
    return found.value, found.lowest, found.highest, found.unjudged, found.reason.split(":")[0]


@pytest.mark.parametrize(
    ("topic_id", "measure", "expected"),
    [
        pytest.param("1", "CITATION_SUPPORT", (1.0, 1.0, 1.0, 0, ""), id="judged"),
        pytest.param("2", "CITATION_SUPPORT", (1.0, 0.5, 1.0, 1, "not_given"), id="in part"),
        pytest.param("3", "CITATION_SUPPORT", (None, 0.0, 1.0, 1, "not_given"), id="unjudged"),
        pytest.param("4", "CITATION_SUPPORT", (0.0, 0.0, 0.0, 0, ""), id="no citation"),
        pytest.param("4", "SENTENCE_SUPPORT", (None, None, None, 0, UNDEFINED), id="undefined"),
    ],
)
def test_a_score_says_why_it_is_not_known(
    partly: Result, topic_id: str, measure: str, expected: tuple[Any, ...]
) -> None:
    assert cell(partly, topic_id, measure) == expected


def test_a_topic_without_a_response_is_neither(partly: Result) -> None:
    assert cell(partly, "5") == (None, None, None, 0, "no response")


def test_counts(partly: Result) -> None:
    assert (partly.unjudged, partly.failures, partly.complete) == (2, {"not_given": 2}, False)
    assert sum(not judgment.judged for judgment in partly.judgments()) == 2


def test_scores_are_those_of_the_leaderboard(partly: Result) -> None:
    lines = partly.files["leaderboard"].read_text().splitlines()
    rows = {tuple(line.split("\t")[:3]): float(line.split("\t")[3]) for line in lines}
    for score in partly.scores:
        key = (score.run_id, score.topic_id, score.measure)
        assert (key in rows) == (score.value is not None)
        assert rows.get(key) == (None if score.value is None else round(score.value, 6))
        gaps = rows.get((*key[:2], f"{score.measure}.unjudged"), 0)
        assert gaps == score.unjudged


def test_frames(partly: Result) -> None:
    pytest.importorskip("pandas")
    long = partly.scores_frame()
    assert len(long) == len(partly.scores)
    assert long["value"].isna().sum() == sum(score.value is None for score in partly.scores)
    assert (long.loc[long["value"].isna(), "reason"] != "").all()
    wide = partly.scores_frame(wide=True)
    assert list(wide.columns) == ["run_id", "topic_id", *partly.measures, "reason"]
    assert wide["topic_id"].tolist() == ["1", "2", "3", "4", "5"]
    assert wide["CITATION_SUPPORT"].isna().tolist() == [False, False, True, False, True]
    assert wide["reason"].tolist()[0] == ""
    judgments = partly.judgments_frame()
    assert judgments["label"].isna().tolist() == (~judgments["judged"]).tolist()
    assert judgments["failure"].dropna().tolist() == ["not_given", "not_given"]
    assert str(judgments["grade"].dtype) == "Int64"
    statistics = partly.statistics_frame()
    assert statistics["mean"].tolist() == [one.mean for one in partly.statistics]
    findings = partly.findings_frame()
    assert findings["kind"].tolist() == [finding.kind for finding in partly.findings]


def test_frames_of_nothing_have_their_columns() -> None:
    pytest.importorskip("pandas")
    nothing = trecjudge.judge([record("1")], "citation")
    assert len(nothing.judgments_frame()) == 0
    assert "label" in nothing.judgments_frame().columns
    assert len(nothing.scores_frame(wide=True)) == 1


def test_without_pandas_it_says_what_to_do(partly: Result, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install 'trecjudge\[pandas\]'"):
        partly.scores_frame()


def test_written_over_itself(tmp_path: Path) -> None:
    given = SAMPLES / "rag/runs"
    result = trecjudge.judge(given, "length", out_dir=tmp_path, name="x")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert result.write(tmp_path, "x") == dict(result.files)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert len(list(result.judgments())) == 9


def test_a_result_goes_with_its_folder_and_without_a_warning() -> None:
    gc.collect()  # what other tests left
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = trecjudge.judge(SAMPLES / "rag" / "runs", "length")
        folder = result.files["config"].parent.parent
        assert folder.exists()
        del result
        gc.collect()
    assert not folder.exists()
    assert [str(warning.message) for warning in caught] == []


def test_sentences_of_findings_are_whole_numbers() -> None:
    pytest.importorskip("pandas")
    result = trecjudge.judge(SAMPLES / "rag" / "runs", "length")
    given = [finding.sentence for finding in result.findings]
    column = result.findings_frame()["sentence"]
    assert str(column.dtype) == "Int64"
    assert [None if gap else int(n) for n, gap in zip(column, column.isna(), strict=True)] == given


def test_a_frame_names_the_nuggets_of_judgments(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    bank = tmp_path / "bank.jsonl"
    bank.write_text(
        '{"qid": "1", "nuggets": [{"text": "The Perch sails", "importance": "vital"},'
        ' {"text": "Sheep graze on the hill", "importance": "okay"}]}\n'
    )
    frame = trecjudge.judge([record("1")], "nuggets", nuggets=bank).judgments_frame()
    assert frame["nugget"].tolist() == ["The Perch sails", "Sheep graze on the hill"]
    assert frame["importance"].tolist() == ["vital", "okay"]
    assert frame["nugget_id"].nunique() == 2

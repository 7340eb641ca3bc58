"""The gate of a workflow: rules, what they make of a response, and what to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.commandline import command
from trecjudge.errors import WorkflowError
from trecjudge.scores.response_scores import Score
from trecjudge.scores.review import check_gate, read_gate

RUN = (
    '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "%s"}, "responses":'
    ' [{"text": "%s", "citations": ["k"]}, {"text": "It was sold in Lyon.", "citations": ["k"]}],'
    ' "documents": {"k": "Steam makes a kettle whistle. It was sold in Lyon."}}\n'
)
WORKFLOW = """
judge: attribution
gate:
  reject_unless: ATTRIBUTION_RATE >= 0.5
  review_unless: [ATTRIBUTION_RATE >= 0.95, CONTRADICTION_RATE <= 0]
"""


def score(value: float | None, lowest: float | None = None, highest: float | None = None) -> Score:
    judged = lowest is None and highest is None
    return Score(value, value if judged else lowest, value if judged else highest, judged)


@pytest.mark.parametrize(
    ("rule", "given", "outcome"),
    [
        pytest.param("M >= 0.5", score(0.5), "met", id="reached"),
        pytest.param("M>0.5", score(0.5), "broken", id="not above"),
        pytest.param("M <= 0", score(0.1), "broken", id="too much"),
        pytest.param("M == 1", score(1.0), "met", id="equal"),
        pytest.param("M >= 1e-1", score(0.2), "met", id="an exponent"),
        pytest.param("M >= .5", score(0.2), "broken", id="no digit before the point"),
        pytest.param("M >= 0.5", score(None), "open", id="not defined"),
        pytest.param("M >= 0.5", score(0.6, 0.3, 0.8), "open", id="unjudged items may break it"),
        pytest.param("M >= 0.5", score(0.6, 0.5, 0.8), "met", id="they cannot"),
        pytest.param("M >= 0.5", score(0.2, 0.1, 0.4), "broken", id="nor mend it"),
        pytest.param("M >= 0.5", score(None, 0.0, 1.0), "open", id="nothing judged"),
    ],
)
def test_outcome(rule: str, given: Score, outcome: str) -> None:
    (read,) = read_gate({"reject_unless": rule})
    assert read.outcome(given) == outcome


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ({"reject": "M >= 1"}, "unknown key 'reject'; did you mean 'reject_unless'"),
        ({"reject_unless": "M"}, "reject_unless is 'M', must be MEASURE >= NUMBER"),
        ({"reject_unless": "M = 1"}, "must be MEASURE >= NUMBER"),
        ({"review_unless": [5]}, "review_unless is 5"),
        ({"review_unless": ["M >= many"]}, "must be MEASURE >= NUMBER"),
    ],
    ids=range(5),
)
def test_a_rule_that_cannot_be_read(gate: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_gate(gate)


def test_a_measure_that_is_not_there() -> None:
    with pytest.raises(WorkflowError, match="unknown measure 'ATTRIBUTION'; did you mean"):
        check_gate(read_gate({"reject_unless": "ATTRIBUTION >= 1"}), ["ATTRIBUTION_RATE"])


def test_what_a_job_writes_and_rescore_writes_again(tmp_path: Path) -> None:
    texts = {"1": "Steam makes a kettle whistle.", "2": "Copper conducts.", "3": "Copper. Tin."}
    run = tmp_path / "r.jsonl"
    run.write_text("".join(RUN % pair for pair in texts.items()))
    workflow = tmp_path / "w.yml"
    workflow.write_text(WORKFLOW.replace(">= 0.5", ">= 0.6"))
    options = ("--workflow", workflow, "--out-dir", tmp_path / "out", "--name", "x")
    done = command("--rag-responses", run, *options)
    assert done.status == 4, done.err
    review = tmp_path / "out" / "x.review.jsonl"
    assert f"gate: 1 REJECTED, 0 REVIEW, 2 PASSED responses: {review}" in done.out
    (record,) = map(json.loads, review.read_text().splitlines())
    assert (record["run_id"], record["topic_id"], record["status"]) == ("r", "2", "REJECTED")
    assert record["rules"][0] == {
        "rule": "ATTRIBUTION_RATE >= 0.6",
        "outcome": "broken",
        **dict.fromkeys(("value", "lowest", "highest"), 0.5),
    }
    (claim,) = record["look_at"]
    assert (claim["claim"], claim["label"]) == ("Copper conducts.", "UNATTRIBUTED")
    before = review.read_bytes()
    review.unlink()
    assert command("job", "rescore", tmp_path / "out" / "x.judgments.jsonl", "-q").status == 4
    assert review.read_bytes() == before


GATE = "judge: citation\ngate: {%s}\nvariants: {hard: {partial: 0.0}, half: {partial: 0.5}}\n"
NO_TEXT = '{"metadata": {"run_id": "q", "topic_id": "1"}, "responses": [{"text": "It is.",' + (
    ' "citations": ["k"]}]}\n'
)


@pytest.mark.parametrize(
    ("gate", "second", "flags", "status"),
    [
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.6", "", (), 4, id="rejected"),
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.6", NO_TEXT, (), 4, id="and unjudged"),
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.6", "{", (), 4, id="and unreadable"),
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.4", NO_TEXT, (), 3, id="open only"),
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.4", "{", (), 3, id="unreadable only"),
        pytest.param("reject_unless: CITATION_SUPPORT >= 0.4", "", (), 0, id="passed"),
        pytest.param("review_unless: CITATION_SUPPORT >= 0.6", "", (), 0, id="review only"),
        pytest.param(
            "reject_unless: CITATION_SUPPORT >= 0.6", "", ("--all-variants",), 4, id="variants"
        ),
    ],
)
def test_a_rejected_response_has_an_exit_status_of_its_own(
    gate: str, second: str, flags: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_text(RUN % ("1", "Copper conducts.") + second)
    (tmp_path / "w.yml").write_text(GATE % gate)
    options = ("--workflow", tmp_path / "w.yml", "--out-dir", tmp_path / "out", "--name", "x")
    done = command("--rag-responses", tmp_path / "r.jsonl", *options, *flags, "--json")
    assert done.status == status
    found = json.loads(done.out)
    statuses = [one["exit_status"] for one in found.get("jobs", [found])]
    assert max(statuses) == status


def test_python_says_what_the_gate_rejects(tmp_path: Path) -> None:
    run = json.loads(RUN % ("1", "Copper conducts."))
    workflow = {"judge": "citation", "gate": {"reject_unless": "CITATION_SUPPORT >= 0.6"}}
    result = trecjudge.judge([run], None, workflow=workflow)
    assert (result.exit_status, result.rejected, result.complete) == (4, 1, True)
    assert result.gate == {"REJECTED": 1, "REVIEW": 0, "PASSED": 0}
    assert '"REJECTED"' in result.files["review"].read_text()


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        pytest.param("Is it so?", ["REVIEW"], id="claims nothing"),
        pytest.param("I don't have that information.", [], id="declines to answer"),
    ],
)
def test_a_response_without_claims(text: str, marked: list[str], tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text((RUN % ("1", text)).replace("It was sold in Lyon.", "", 1))
    (tmp_path / "w.yml").write_text(WORKFLOW)
    options = ("--workflow", tmp_path / "w.yml", "--out-dir", tmp_path / "out", "--name", "x", "-q")
    assert command("--rag-responses", tmp_path / "r.jsonl", *options).status == 0
    records = (tmp_path / "out" / "x.review.jsonl").read_text().splitlines()
    assert [json.loads(record)["status"] for record in records] == marked


def test_a_wrong_rule_is_reported_before_anything_is_judged(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(RUN % ("1", "A."))
    workflow = tmp_path / "w.yml"
    workflow.write_text("gate: {reject_unless: CITATION_SUPORT >= 1}")
    done = command(
        "--rag-responses", tmp_path, "--workflow", workflow, "--out-dir", tmp_path / "out"
    )
    assert done.status == 1
    assert "gate: unknown measure 'CITATION_SUPORT'; did you mean 'CITATION_SUPPORT'" in done.err


BANK = (
    '{"qid": "1", "query": "kettles", "nuggets": [{"text": "Steam makes a kettle whistle",'
    ' "importance": "vital"}, {"text": "Copper was cheap in Rome", "importance": "vital"}]}\n'
)


def test_nuggets_that_are_not_stated_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(RUN % ("1", "Steam makes a kettle whistle."))
    (tmp_path / "bank.jsonl").write_text(BANK)
    workflow = "judge: nuggets\ngate: {review_unless: STRICT_VITAL_SCORE >= 0.8}\n"
    (tmp_path / "w.yml").write_text(workflow)
    options = ("--workflow", tmp_path / "w.yml", "--out-dir", tmp_path / "out", "--name", "x", "-q")
    given = ("--rag-responses", tmp_path / "r.jsonl", "--nuggets", tmp_path / "bank.jsonl")
    assert command(*given, *options).status == 0
    (record,) = map(json.loads, (tmp_path / "out" / "x.review.jsonl").read_text().splitlines())
    (lacking,) = record["look_at"]
    assert (lacking["nugget"]["text"], lacking["label"]) == (
        "Copper was cheap in Rome",
        "not_support",
    )

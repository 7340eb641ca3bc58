"""Judgments on nuggets as the files of the tracks: what is written is read back as labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.labels import key_of, read_labels
from trecjudge.records import AskedNugget, Failure, Judgment
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.trec import write_assessments

NO_LABEL = Failure("parse", "unreadable")
ANSWERED = AskedNugget("Q-1", "When?", "A", "1902", "na-1")
FACT = AskedNugget("1", "Opened in 1902", "vital")
PAIR = AskedNugget("Q-1", "When?", "A", answer_id="rank-2")


def written(folder: Path, to: str, *judgments: Judgment) -> tuple[Path, list[str]]:
    source, target = folder / "x.judgments.jsonl", folder / "written"
    findings: list[Finding] = []
    with source.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({"j": {}}))
        writer.response(response(("Opened.", [])), [("j", j) for j in judgments])
        writer.end()
    write_assessments(source, target, to, findings.append)
    return target, [finding.kind for finding in findings]


def on(nugget: AskedNugget | None, label: str | None, sentence: int | None = None) -> Judgment:
    failure = None if label else NO_LABEL
    return judgment(label, sentence_index=sentence, nugget=nugget, failure=failure, reason="So, so")


FORMS = {
    "answers": (
        "dragun_assessments",
        on(ANSWERED, "contradicts"),
        "topic_id,run_tag,answer_id,auto_assessment,auto_rationale\n"
        't1,r,na-1,contradicts,"So, so"\n',
    ),
    "questions": (
        "dragun_questions",
        on(PAIR, "similar", 3),
        "topic_id,run_tag,run_question_rank,rubric_question_rank,auto_assessment\n"
        "t1,r,4,2,similar\n",
    ),
    "compounds": (
        "dragun_compound",
        on(None, "compound", 3),
        "topic_id,run_tag,run_question_rank,auto_compound_question_assessment\nt1,r,4,compound\n",
    ),
}


@pytest.mark.parametrize(("to", "judged", "text"), FORMS.values(), ids=FORMS)
def test_what_is_written_is_read_back(to: str, judged: Judgment, text: str, tmp_path: Path) -> None:
    target, findings = written(tmp_path, to, judged)
    assert (target.read_text(), findings) == (text, [])
    assert read_labels(target, lambda finding: None) == {key_of(judged): judged.label}


def test_assignments_are_read_back(tmp_path: Path) -> None:
    target, _ = written(tmp_path, "nuggetizer_assignments", on(FACT, "support"))
    record = json.loads(target.read_text())
    assert record["nuggets"] == [
        {"text": "Opened in 1902", "importance": "vital", "assignment": "support"}
    ]
    assert read_labels(target, lambda finding: None) == {key_of(on(FACT, "support")): "support"}


@pytest.mark.parametrize(
    ("to", "nugget", "there"),
    [
        ("dragun_assessments", ANSWERED, "t1,r,na-1,,"),
        ("nuggetizer_assignments", FACT, '"assignment": "failed"'),
    ],
)
def test_what_is_unjudged_has_no_label_and_is_reported(
    to: str, nugget: AskedNugget, there: str, tmp_path: Path
) -> None:
    target, findings = written(tmp_path, to, on(nugget, None))
    assert there in target.read_text()
    assert findings == ["assessment_missing"]


def test_judgments_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="its judge must be rubric"):
        written(tmp_path, "dragun_assessments", on(FACT, "support"))

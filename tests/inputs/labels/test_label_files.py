"""Labels in the files of AutoNuggetizer and Auto-ARGUE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.fakes import judgment
from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.labels import ItemKey, key_of, label_of, read_labels
from trecjudge.records import AskedNugget

ANSWERS = "topic_id,run_tag,answer_id,auto_assessment,auto_rationale\n"


def read(text: str, write: Write, name: str) -> tuple[dict[ItemKey, str], list[str]]:
    findings: list[Finding] = []
    labels = read_labels(write(text, name), findings.append)
    return labels, [f"{f.place.line}: {f.kind}" for f in findings]


def assignment(*nuggets: object, **more: object) -> str:
    return json.dumps({"qid": "t1", "run_id": "r", "nuggets": list(nuggets)} | more) + "\n"


TIN = {"text": "Lined  with TIN", "importance": "vital", "assignment": "support"}
KEY: ItemKey = ("t1", "r", None, None, "lined with tin")


def test_assignments(write: Write) -> None:
    cases = {
        "one": (assignment(TIN), {KEY: "support"}, []),
        "twice": (
            assignment(TIN, TIN | {"assignment": "failed"}),
            {},
            ["None: people_unnamed", "1: labels_tied"],
        ),
        "without a label": (
            assignment(TIN, TIN | {"text": "x", "assignment": None}, 7),
            {KEY: "support"},
            ["1: label_unusable", "1: label_unusable"],
        ),
        "an integer topic": (assignment(TIN, qid=1), {("1", *KEY[1:]): "support"}, []),
        "without a run": (
            assignment(TIN, run_id=None) + assignment(TIN),
            {KEY: "support"},
            ["1: label_unusable"],
        ),
        "a record of a nugget": (
            '{"topic_id": "t1", "run_id": "r", "nugget": "Lined with tin", "label": "support"}\n',
            {KEY: "support"},
            [],
        ),
    }
    wrong = {
        name: found
        for name, (text, labels, findings) in cases.items()
        if (found := read(text, write, "a.jsonl")) != (labels, findings)
    }
    assert not wrong


ASSESSMENTS = {
    "of a tool": (
        ANSWERS + '901,r,na-1,supports,"so, ""yes"""\n',
        {("901", "r", None, None, "na-1"): "supports"},
        [],
    ),
    "of people": (
        "topic_id,run_tag,answer_id,annotation\r\n901,r,NA-1,none\r\n",
        {("901", "r", None, None, "na-1"): "none"},
        [],
    ),
    "an empty label": (
        ANSWERS + "901,r,na-1,,\n901,r,na-2,none,\n",
        {("901", "r", None, None, "na-2"): "none"},
        ["2: label_unusable"],
    ),
    "of two questions": (
        "topic_id,run_tag,run_question_rank,rubric_question_rank,annotation\n901,r,2,3.0,similar\n",
        {("901", "r", 1, None, "rank-3"): "similar"},
        [],
    ),
    "of a compound": (
        "topic_id,run_tag,run_question_rank,auto_compound_question_assessment\n901,r,2,compound\n",
        {("901", "r", 1, None): "compound"},
        [],
    ),
}


@pytest.mark.parametrize(("text", "labels", "findings"), ASSESSMENTS.values(), ids=ASSESSMENTS)
def test_assessments(
    text: str, labels: dict[ItemKey, str], findings: list[str], write: Write
) -> None:
    for separator in ",;\t":
        assert read(text.replace(",", separator), write, "a.csv") == (labels, findings)


def test_a_table_without_a_column_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="no run_tag or run_id"):
        read("topic_id,answer_id,annotation\n901,na-1,none\n", write, "a.csv")


def test_labels_of_a_folder_are_read_together(write: Write) -> None:
    path = write(assignment(TIN), "labels/r.jsonl")
    write(assignment(TIN, run_id="s"), "labels/s.jsonl")
    assert {key[1] for key in read_labels(path.parent, lambda finding: None)} == {"r", "s"}


@pytest.mark.parametrize("name", ["n-7", "lined with tin"])
def test_a_nugget_is_found_by_its_id_or_its_text(name: str) -> None:
    judged = judgment("support", sentence_index=None, nugget=AskedNugget("N-7", "Lined with  tin"))
    labels: dict[ItemKey, str] = {("t1", "r", None, None, name): "failed"}
    assert label_of(labels, judged) == (("t1", "r", None, None, name), "failed")
    assert key_of(judged) == KEY


TEXTS = ("The lamp was lit in 1871.", "It burned oil.", "The keeper left in 1983.")
RUN = {
    "metadata": {"team_id": "t", "run_id": "r", "topic_id": "9"},
    "responses": [
        {"text": TEXTS[0], "citations": ["d1", "d2"]},
        {"text": TEXTS[1], "citations": []},
        {"text": TEXTS[2], "citations": ["d2"]},
    ],
    "documents": {"d1": {"text": "The lamp."}, "d2": {"text": "The keeper."}},
}


def attested(doc_id: str | None, answer: object) -> dict[str, Any]:
    """Return a judgment on whether a document attests a sentence."""
    provenance = {"doc_id": doc_id, "run_id": "r", "sent_id": "s"}
    response = {"is_attested": answer}
    return {
        "judgment_type_id": "SENTENCE_ATTESTED",
        "response": response,
        "provenance": provenance,
        "evaluator": "m",
    }


def segment(text: str, *judgments: dict[str, Any]) -> dict[str, Any]:
    """Return a judged sentence; relevance is judged too, which is no label."""
    relevance = {"doc_id": "d1", "is_relevant": False}
    more = {"judgment_type_id": "CITED_DOCUMENT_RELEVANCE", "response": relevance}
    found = [more, *judgments]
    return {"segment_type": "sentence", "text": text, "citations": [], "judgments": found}


JUDGED = {
    "report": RUN,
    "judgments": [
        segment(TEXTS[0], attested("d1", True), attested("d2", False)),
        segment(TEXTS[1]),
        segment(TEXTS[2], attested("d2", True)),
    ],
}


def written(folder: Path, *records: object) -> Path:
    """Return a file of records."""
    path = folder / "judgments.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def labels(path: Path, found: list[Finding] | None = None) -> dict[tuple[Any, ...], str]:
    """Return the labels of a file."""
    return dict(read_labels(path, pytest.fail if found is None else found.append))


def test_each_citation_has_the_label_of_its_attestation(tmp_path: Path) -> None:
    assert labels(written(tmp_path, JUDGED)) == {
        ("9", "r", 0, "d1"): "full_support",
        ("9", "r", 0, "d2"): "no_support",
        ("9", "r", 2, "d2"): "full_support",
    }


@pytest.mark.parametrize(
    "report",
    [
        pytest.param({"metadata": RUN["metadata"], "answer": RUN["responses"]}, id="answer"),
        pytest.param({"run_id": "r", "topic_id": 9, "responses": RUN["responses"]}, id="flat"),
    ],
)
def test_sentences_that_were_left_out_are_found_by_their_text(
    report: dict[str, Any], tmp_path: Path
) -> None:
    judged = {"report": report, "judgments": [segment(TEXTS[2], attested("d2", True))]}
    assert labels(written(tmp_path, judged)) == {("9", "r", 2, "d2"): "full_support"}


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        pytest.param(
            segment(TEXTS[0], attested("d1", None)), "without is_attested", id="no answer"
        ),
        pytest.param(segment(TEXTS[0], attested("d1", "yes")), "without is_attested", id="text"),
        pytest.param(segment(TEXTS[0], attested(None, True)), "or doc_id", id="no document"),
        pytest.param(segment("Another.", attested("d1", True)), "does not have", id="sentence"),
    ],
)
def test_what_is_no_label_is_named_and_never_guessed(
    judged: dict[str, Any], message: str, tmp_path: Path
) -> None:
    found: list[Finding] = []
    more = segment(TEXTS[2], attested("d2", True))
    path = written(tmp_path, {"report": RUN, "judgments": [judged, more]})
    assert labels(path, found) == {("9", "r", 2, "d2"): "full_support"}
    assert [one.kind for one in found] == ["label_unusable"]
    assert message in str(found[0])


def test_a_job_judged_elsewhere_gets_our_scores(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r.jsonl").write_text(json.dumps(RUN))
    path = written(tmp_path, JUDGED)
    done = command(
        *("--judge", "citation", "--rag-responses", tmp_path / "runs", "--judgments-from", path),
        *("--out-dir", tmp_path / "out", "--name", "x", "--no-check"),
    )
    assert done.status == 0, done.err
    rows = (tmp_path / "out" / "x.leaderboard.txt").read_text()
    assert "r\t9\tCITATION_SUPPORT\t0.666667" in rows


def test_a_citation_that_was_not_judged_is_unjudged(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r.jsonl").write_text(json.dumps(RUN))
    path = written(tmp_path, JUDGED | {"judgments": JUDGED["judgments"][:2]})
    done = command(
        *("--judge", "citation", "--rag-responses", tmp_path / "runs", "--judgments-from", path),
        *("--out-dir", tmp_path / "out", "--name", "x", "--no-check"),
    )
    assert done.status == 3
    assert "unjudged: 1 item, not_given" in done.out


@pytest.mark.parametrize("text", ["", "hello\n", "1 0 d 3\n", "[1]", '{"x": 1}\n', "a,b\n1,2\n"])
def test_a_file_of_another_kind_is_told_which_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "labels"
    path.write_text(text)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r.jsonl").write_text(json.dumps(RUN))
    given = ("--rag-responses", tmp_path / "runs", "--out-dir", tmp_path / "out", "--no-check")
    done = command("--judge", "citation", *given, "--judgments-from", path)
    assert done.status == 1
    assert "AutoNuggetizer's assignments, Auto-ARGUE's judgments or DRAGUN's" in done.err

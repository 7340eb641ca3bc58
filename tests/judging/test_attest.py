"""Attesters, and the labels of people as one of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commandline import command, sample
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.evaluation.label_sets import LabelSet, in_one_shape
from trecjudge.judging.attest import Attestation, LexicalAttester, attester_for, text_missing
from trecjudge.judging.offline.support import calibration_at
from trecjudge.models.model import NoModel, Program
from trecjudge.records import Document

TOWER = Document("d", "The old tower of Lyon was sold in spring.", title="Lyon")


def attested(sentence: str, document: Document = TOWER) -> Attestation:
    return asyncio.run(LexicalAttester().attest(sentence, document))


def test_an_attestation_has_label_reason_evidence_and_expected_weight() -> None:
    found = attested("In spring the old tower was sold.")
    assert (found.label, found.attester) == ("full_support", "lexical")
    assert found.reason == "100 % of the sentence's weight is in the document"
    assert found.evidence is not None
    assert TOWER.full_text[found.evidence.start : found.evidence.end] == found.evidence.quote
    assert found.evidence.quote == "The old tower of Lyon was sold in spring"
    assert found.expected is not None and 0.9 < found.expected < 1


@pytest.mark.parametrize(
    ("sentence", "least", "most"),
    [
        ("The old tower of Lyon was sold in spring.", 0.9, 1.0),
        ("The old tower of Lyon was sold in 1894.", 0.1, 0.5),
        ("Gluons bind quarks.", 0.0, 0.0),
    ],
    ids=["copy", "another date", "nothing in common"],
)
def test_expected_weight(sentence: str, least: float, most: float) -> None:
    expected = attested(sentence).expected
    assert expected is not None and least <= expected <= most


def test_no_script_in_common() -> None:
    with pytest.raises(JudgmentFailed, match="the sentence is in han, the document in latin"):
        attested("东京是日本的首都。")


def test_a_calibration_is_read_once() -> None:
    assert calibration_at("") is calibration_at("")
    with pytest.raises(InputError, match=r"^nowhere\.json: cannot be read"):
        calibration_at("nowhere.json")


def test_without_a_model_auto_is_lexical() -> None:
    program = Program("attest", "trecjudge.judges.citation.program:Attest")
    assert attester_for("auto", NoModel(), program, "mine.json") == LexicalAttester("mine.json")


@pytest.mark.parametrize(
    ("doc_ids", "message"),
    [
        pytest.param([], "no text of any document; supply it with --documents", id="none given"),
        pytest.param(["d"], "no text of document d; supply it with --documents", id="of one"),
        pytest.param(
            list("abcd"), "no text of 4 documents (a, b, c); supply it with --documents", id="more"
        ),
    ],
)
def test_a_document_without_text_is_one_failure(doc_ids: list[str], message: str) -> None:
    failed = text_missing(*doc_ids)
    assert (failed.kind, failed.message) == ("no_document_text", message)


BANK = {"query": "kettles", "qid": "1"}
FACTS = ("Opened in 1902", "Closed in 1958", "Lined with tin", "A strike in 1926")
RUN = {
    "metadata": {"team_id": "tx", "run_id": "r", "topic_id": "1"},
    "responses": [{"text": "Opened in 1902.", "citations": []}],
}


def judged(
    folder: Path, labels: Sequence[str], importance: str = "vvvo"
) -> tuple[int, dict[str, str], str]:
    """Return the exit status, the scores and the messages of the judge `nuggets` by labels."""
    names = {"v": "vital", "o": "okay"}
    given = {"s": "support", "p": "partial_support", "n": "not_support", "f": "failed"}
    nuggets = [
        {"text": text, "importance": names[letter]}
        for text, letter in zip(FACTS, importance, strict=True)
    ]
    assigned = [
        nugget | {"assignment": given.get(letter, letter)}
        for nugget, letter in zip(nuggets, labels, strict=False)
    ]
    files = {"bank.jsonl": [BANK | {"nuggets": nuggets}], "runs/r.jsonl": [RUN]}
    files["labels.jsonl"] = [BANK | {"run_id": "r", "nuggets": assigned}]
    for name, records in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{json.dumps(record)}\n" for record in records))
    done = command(
        *("--judge", "nuggets", "--nuggets", folder / "bank.jsonl", "--out-dir", folder / "out"),
        *("--rag-responses", folder / "runs", "--judgments-from", folder / "labels.jsonl"),
        *("--no-check", "--name", "x"),
    )
    rows = (folder / "out" / "x.leaderboard.txt").read_text().splitlines()
    cells = (row.split("\t") for row in rows)
    return done.status, {name: value for _, topic, name, value in cells if topic == "1"}, done.out


@pytest.mark.parametrize(
    ("labels", "strict_vital", "every", "weighted"),
    [
        pytest.param("nnpp", "0.000000", "0.250000", "0.214286", id="two in part"),
        pytest.param("snsn", "0.666667", "0.500000", "0.571429", id="two of three vital"),
    ],
)
def test_scores_are_those_of_the_labels(
    labels: str, strict_vital: str, every: str, weighted: str, tmp_path: Path
) -> None:
    status, scores, _ = judged(tmp_path, labels)
    found = (scores["STRICT_VITAL_SCORE"], scores["ALL_SCORE"], scores["WEIGHTED_SCORE"])
    assert (status, found) == (0, (strict_vital, every, weighted))


def test_known_words_are_the_labels_of_nuggets(tmp_path: Path) -> None:
    words = judged(tmp_path, ["Yes", "No", "fully supported", "partly"])
    assert words[:2] == judged(tmp_path, "snsp")[:2]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        pytest.param("snf", "not_given", id="an assignment that failed, and one that is not there"),
        pytest.param(["s", "n", "1", "maybe"], "parse", id="labels that are none"),
    ],
)
def test_a_nugget_without_a_label_is_unjudged(
    labels: Sequence[str], why: str, tmp_path: Path
) -> None:
    status, scores, out = judged(tmp_path, labels)
    assert (status, scores["STRICT_VITAL_SCORE.unjudged"]) == (3, "2")
    assert scores["STRICT_VITAL_SCORE"] == "0.500000"
    assert f"unjudged: 2 items, {why}" in out


def test_labels_of_nuggets_agree_item_by_item(tmp_path: Path) -> None:
    judged(tmp_path, "snsn")
    given = ("--truth", tmp_path / "labels.jsonl", "--predicted", tmp_path / "out" / "x")
    done = command("labels", "agree", *given, "--json")
    assert json.loads(done.out)["items"] == 4


@pytest.mark.parametrize(
    "name",
    [
        pytest.param({"nugget_id": "3"}, id="its id"),
        pytest.param({"nugget": "lined  with TIN"}, id="its text"),
    ],
)
def test_a_nugget_is_labelled_by_any_of_its_names(name: dict[str, str], tmp_path: Path) -> None:
    judged(tmp_path, "snsn")
    record = {"topic_id": "1", "run_id": "r", "label": "support"} | name
    (tmp_path / "one.jsonl").write_text(json.dumps(record))
    job = tmp_path / "out" / "x"
    done = command(
        "labels", "agree", "--truth", tmp_path / "one.jsonl", "--predicted", job, "--json"
    )
    found = json.loads(done.out)
    assert (found["items"], found["only_truth"], found["only_predicted"]) == (1, 0, 3)
    done = command("labels", "next", job, "--human", tmp_path / "one.jsonl", "--random", "--json")
    items = json.loads(done.out)["items"]
    assert sorted(item["nugget"][:6] for item in items) == ["a stri", "closed", "opened"]


def test_a_label_of_an_answer_is_on_all_nuggets_of_that_answer() -> None:
    truth, predicted = LabelSet("l", "labels"), LabelSet("j", "judgments")
    truth.put(("t", "r"), [((None, None, "yes"), "supports", 1, None)])
    rows = [((None, None, name, name), "supports", n, None) for n, name in enumerate("ab", 2)]
    predicted.put(("t", "r"), rows)
    predicted.nuggets = {("t", "yes"): {"a", "b"}}
    people, _ = in_one_shape(truth, predicted, print)
    assert [item for item, *_ in people.rows(("t", "r"))] == [(None, None, n) for n in "ab"]


def test_labels_of_people_correct_the_judge_of_nuggets(tmp_path: Path) -> None:
    judged(tmp_path, "ssss")
    done = command(
        *("--judge", "nuggets", "--nuggets", tmp_path / "bank.jsonl", "--no-check", "--name", "y"),
        *("--rag-responses", tmp_path / "runs", "--human", tmp_path / "labels.jsonl"),
        *("--out-dir", tmp_path / "out"),
    )
    assert done.status == 0
    first = (tmp_path / "out" / "y.leaderboard.jsonl").read_text().splitlines()[0]
    record = json.loads(first)
    assert (record["by_topic"]["1"], record["human"]["mean"]) == (0.333333, 1.0)


def test_people_in_unknown_words_stop_a_job_before_it_judges(tmp_path: Path) -> None:
    key = {"topic_id": "11", "run_id": "careful", "sentence_index": 0, "doc_id": "d"}
    (tmp_path / "l.jsonl").write_text(json.dumps(key | {"label": "so so"}))
    done = sample("rag", tmp_path / "out", "--human", tmp_path / "l.jsonl")
    assert done.status == 1 and "--map 'so so'=LABEL" in done.err
    assert not list((tmp_path / "out").glob("*.judgments.jsonl"))

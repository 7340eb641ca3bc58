"""Documents that a sentence cites as contradicting it: read, judged, and no matter of support."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.fakes import response
from trecjudge.errors import JudgmentFailed
from trecjudge.findings import ignore
from trecjudge.inputs.runs import RunReader
from trecjudge.judges.citation import CitationJudge, best_or_worst
from trecjudge.judging.judge import unjudged
from trecjudge.models.model import NoModel
from trecjudge.records import Document, Item, Judgment, Response, Topic
from trecjudge.results.judgments import response_of, response_record

DOSE = "Aspirin lowered systolic blood pressure by 5 mmHg in the trial."
DOCUMENTS = {
    "11111": "In the trial aspirin lowered systolic blood pressure by 5 mmHg.",
    "22222": "Aspirin lowered systolic blood pressure by 9 mmHg in the trial.",
    "33333": "Coffee is often drunk in the morning in Norway.",
}


def sentence(supporting: Any, contradicting: Any) -> dict[str, Any]:
    cited = {"supported_citations": supporting, "contradicted_citations": contradicting}
    return {"text": DOSE, "existing_supported_citations": None, **cited}


def record(*sentences: dict[str, Any]) -> dict[str, Any]:
    meta = {"team_id": "t", "run_id": "r", "qa_id": "116", "question": "Does it help?"}
    documents = {i: {"text": text} for i, text in DOCUMENTS.items()}
    return {"metadata": meta, "answer": list(sentences), "documents": documents}


@pytest.fixture
def read(tmp_path: Path) -> Response:
    made = record(sentence([11111], [22222, "33333", 44444]), sentence([], None))
    (tmp_path / "run.json").write_text(json.dumps([made]))
    ((topic, found),) = RunReader([tmp_path / "run.json"], ignore)
    assert topic.title == "Does it help?"
    return found


def judged(found: Response) -> list[Judgment]:
    judge = CitationJudge()

    def one(item: Item) -> Judgment:
        try:
            return asyncio.run(judge.judge(item, NoModel()))
        except JudgmentFailed as failed:
            return unjudged(item, failed)

    return [one(item) for item in judge.pool(Topic("116"), found)]


def test_what_contradicts_is_no_citation_of_support(read: Response) -> None:
    cited = [(s.citations, s.contradicting) for s in read.sentences]
    assert [[[c.doc_id for c in side] for side in both] for both in cited] == [
        [["11111"], ["22222", "33333", "44444"]],
        [[], []],
    ]
    assert list(read.cited_ids()) == list(read.sources) == ["11111"]
    assert list(read.named_ids()) == [*DOCUMENTS, "44444"]
    assert response_of(json.loads(json.dumps(response_record(read)))).sentences == read.sentences


def test_words_show_a_contradiction_or_leave_it_open(read: Response) -> None:
    assert [(j.doc_id, j.label, j.grade) for j in judged(read)] == [
        ("11111", "full_support", 2),
        ("22222", "contradicted", None),
        ("33333", None, None),
        ("44444", "not_contradicted", None),
    ]


def test_a_document_that_supports_does_not_contradict(read: Response) -> None:
    item = next(iter(CitationJudge().pool(Topic("116"), read)))
    against = Item(item.topic, "r", DOSE, 0, item.citation, item.document, True, contradicts=True)
    found = asyncio.run(CitationJudge().judge(against, NoModel()))
    assert (found.label, found.reason) == ("not_contradicted", "it supports the sentence")
    hollow = Document("11111", "", own=True)
    empty = Item(item.topic, "r", DOSE, 0, item.citation, hollow, True, contradicts=True)
    assert asyncio.run(CitationJudge().judge(empty, NoModel())).label == "not_contradicted"


def test_measures_of_support_do_not_see_it(read: Response) -> None:
    found = judged(read)
    measures = {m.name: m for m in CitationJudge().measures.measures}
    values = {name: m.compute(read, found) for name, m in measures.items()}
    assert (values["CITATION_SUPPORT"], values["AVG_CITATIONS"]) == (1.0, 1.0)
    assert (values["CITATION_ACCURACY"], values["PERFECT_CITATIONS"]) == (1.0, True)
    assert values["CONTRADICTION_SUPPORT"] == 0.5
    for best, value in ((True, 2 / 3), (False, 1 / 3)):
        filled = [j if j.judged else best_or_worst(j, best) for j in found]
        assert measures["CONTRADICTION_SUPPORT"].compute(read, filled) == pytest.approx(value)
        assert measures["CITATION_SUPPORT"].compute(read, filled) == 1.0


def test_labels_of_people_on_it(read: Response) -> None:
    item = list(CitationJudge().pool(Topic("116"), read))[1]
    labels = [CitationJudge().given(item, said).label for said in ("Contradicted", "full")]
    assert labels == ["contradicted", "not_contradicted"]
    for said in ("no_support", "perhaps"):  # a file of labels has the first for what contradicts
        with pytest.raises(JudgmentFailed, match="none of contradicted, not_contradicted"):
            CitationJudge().given(item, said)


@pytest.mark.parametrize("against", [True, False], ids=["cited", "none"])
def test_its_measure_is_a_column_only_where_a_run_cites_so(against: bool, tmp_path: Path) -> None:
    made = record(sentence([11111], [22222, 33333] if against else []))
    (tmp_path / "run.json").write_text(json.dumps([made]))
    given = ("--judge", "citation", "--rag-responses", tmp_path / "run.json", "-q")
    done = command(*given, "--out-dir", tmp_path / "out", "--name", "x")
    assert done.status == (3 if against else 0), done.err
    board = (tmp_path / "out" / "x.leaderboard.txt").read_text()
    assert ("all\tCONTRADICTION_SUPPORT\t1.0" in board) is against
    judgments = (tmp_path / "out" / "x.judgments.jsonl").read_text()
    assert ('"contradicts":true' in judgments) is against
    assert command("job", "rescore", tmp_path / "out" / "x", "-q").status == done.status
    assert (tmp_path / "out" / "x.leaderboard.txt").read_text() == board


@pytest.mark.parametrize(
    "wanted",
    [
        ("--measure", "CONTRADICTION_SUPPORT"),
        ("--set", "leaderboard.sort_by=CONTRADICTION_SUPPORT"),
    ],
    ids=["to show", "to rank by"],
)
def test_a_measure_without_values_may_be_asked_for(wanted: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps([record(sentence([11111], []))]))
    given = ("--judge", "citation", "--rag-responses", tmp_path / "run.json", *wanted)
    done = command(*given, "--out-dir", tmp_path / "out", "--name", "x")
    assert done.status == 0 and "ranked by " in done.out


def test_where_nothing_contradicts_the_sources_are_all_documents() -> None:
    plain = response(("One.", ["k"]), documents={"k": "Text.", "other": "Text."})
    assert plain.sources is plain.documents

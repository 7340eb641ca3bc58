"""The retrieval judge: equal to ir_measures by given grades, and without a value where none are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, Judged, P, R, Success, nDCG

from tests.fakes import response
from trecjudge.judges.retrieval import RetrievalJudge
from trecjudge.models.model import NoModel
from trecjudge.records import Document, Response, Topic

IDS = [f"d{n}" for n in range(14)]
TOPIC = Topic("t1", "How did the harbour tram of Ostermere reopen?", qrels={"a": 2, "b": 1, "c": 0})
PASSAGES = {
    "good": "The harbour tram of Ostermere reopened in 2014. How the tram did reopen is told.",
    "bad": "Cats sleep for most of the day.",
}


def answer(*retrieved: str, known: bool = True, **more: Any) -> Response:
    said = response(("A sentence.", []))
    return replace(said, retrieved=retrieved if known else None, **more)


def values(found: Response, topic: Topic = TOPIC, **settings: Any) -> dict[str, Any]:
    """Return the value of each measure of one response."""
    judge, judgments = RetrievalJudge(**settings), []
    for item in judge.pool(topic, found):
        made = asyncio.run(judge.judge(item, NoModel()))
        judgments += made if isinstance(made, list) else [made]
    return {m.name: m.compute(found, judgments) for m in judge.measures.measures}


@given(
    st.permutations(IDS).flatmap(lambda ids: st.integers(1, len(ids)).map(lambda n: ids[:n])),
    st.dictionaries(st.sampled_from([*IDS, "x", "y"]), st.integers(0, 3), min_size=1),
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_by_given_grades_it_is_what_ir_measures_computes(
    order: list[str], grades: dict[str, int], k: int, hit: int, least: int
) -> None:
    ours = values(answer(*order), Topic("t1", qrels=grades), k=k, hit=hit, relevant_from=least)
    if not any(grade >= least for grade in grades.values()):
        assert set(ours.values()) == {None}
        return
    theirs = {
        f"NDCG@{k}": nDCG @ k,
        f"RECALL@{k}": R(rel=least) @ k,
        f"HIT@{hit}": Success(rel=least) @ hit,
        f"PRECISION@{k}": P(rel=least) @ k,
        f"MRR@{k}": RR(rel=least) @ k,
    }
    run = {"t1": {doc_id: 1 / rank for rank, doc_id in enumerate(order, 1)}}
    expected = ir_measures.calc_aggregate([*theirs.values()], {"t1": grades}, run)
    for name, measure in theirs.items():
        assert ours[name] == pytest.approx(expected[measure]), name
    share = ir_measures.calc_aggregate([Judged @ k], {"t1": grades}, run)[Judged @ k]
    assert ours[f"JUDGED@{k}"] == pytest.approx(share * k / min(k, len(order)), abs=1e-9) or (
        ours[f"JUDGED@{k}"] == pytest.approx(share)
    )


@pytest.mark.parametrize(
    ("found", "grades"),
    [
        pytest.param(answer("a"), None, id="no qrels"),
        pytest.param(answer("a"), {}, id="none of this topic"),
        pytest.param(answer("a"), {"a": 0}, id="none is relevant"),
        pytest.param(answer(known=False), {"a": 1}, id="the run does not say"),
    ],
)
def test_what_is_not_known_has_no_value(found: Response, grades: dict[str, int] | None) -> None:
    assert set(values(found, Topic("t1", qrels=grades)).values()) == {None}


def test_nothing_retrieved_is_worth_nothing() -> None:
    assert values(answer()) == dict.fromkeys(
        ["NDCG@10", "RECALL@10", "HIT@3", "PRECISION@10", "MRR@10"], 0.0
    ) | {"JUDGED@10": None}


def test_a_document_counts_once() -> None:
    assert values(answer("c", "c", "a"), k=2)["MRR@2"] == 0.5


def test_judged_grades_need_no_qrels_and_give_no_recall() -> None:
    texts = {doc_id: Document(doc_id, text) for doc_id, text in PASSAGES.items()}
    found = answer("bad", "good", retrieved_documents=texts)
    assert values(found, relevance="judged", k=2, hit=1, relevant_from=1) == {
        "HIT@1": 0.0,
        "PRECISION@2": 0.5,
        "MRR@2": 0.5,
    }
    assert set(values(answer(known=False), relevance="judged").values()) == {None}
    assert set(values(answer(), relevance="judged").values()) == {0.0}


def test_a_topic_without_an_answer_counts_0_where_it_has_grades() -> None:
    spec = RetrievalJudge().measures
    assert {m.default for m in spec.measures} == {0.0}
    assert not any(m.default_if_undefined for m in spec.measures)
    assert all(m.undefined for m in spec.measures)

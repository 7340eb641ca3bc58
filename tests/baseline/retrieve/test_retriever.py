"""What is found, in which order and by which scores."""

from __future__ import annotations

import asyncio
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from shutil import rmtree
from typing import Any

import numpy as np
import pytest

from tests.baseline.index.indexed import refreshed
from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.index import Index, make_index
from trecjudge.baseline.index.records import Filter, IndexSource, VectorModel
from trecjudge.baseline.records import Chunk, SearchResult
from trecjudge.baseline.retrieve.ranking import Threshold
from trecjudge.baseline.retrieve.retriever import IndexRetriever, RetrieverSettings
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.records import Document

DAM = Document("dam", "The dam was paid by the state. It holds the river.", date="2024-01-01")
TAX = Document("tax", "A tax on water was paid. The state took it.", date="2020-01-01")
ZOO = Document("zoo", "Lions live in the zoo.")
DOCUMENTS = [ZOO, TAX, DAM]
VECTORS: Mapping[str, Sequence[float]] = {
    ZOO.text: (0.0, 1.0),
    TAX.text: (0.6, 0.8),
    DAM.text: (1.0, 0.0),
}
GIVEN = VectorModel("given", 2, "d" * 64)


@dataclass(frozen=True)
class GivenVectors:
    """Embeds texts by a table of vectors; a text that is not in it gets zeros."""

    table: Mapping[str, Sequence[float]]
    model: VectorModel = GIVEN

    async def embed(self, texts: Sequence[str]) -> Any:
        return np.array([self.table.get(text, (0.0, 0.0)) for text in texts], np.float32)


def index(*documents: Document, vectors: bool = True, words: int = 220) -> Index:
    folder = tempfile.mkdtemp()
    weakref.finalize(
        made := make_index(f"{folder}/x.index", ChunkSettings(words, 0)), rmtree, folder
    )
    sources = map(IndexSource, documents or DOCUMENTS)
    refreshed(made, sources, embeds=GivenVectors(VECTORS) if vectors else None)
    return made


def found(question: str, most: int = 10, only: Filter | None = None, **given: Any) -> SearchResult:
    own = {
        name: given.pop(name) for name in ("index", "embeds", "ranks", "threshold") & given.keys()
    }
    retriever = IndexRetriever(own.pop("index", index()), RetrieverSettings(**given), **own)
    return asyncio.run(retriever.retrieve(question, most, only))


def ids(result: SearchResult) -> list[str]:
    return [passage.chunk.doc_id for passage in result.passages]


@dataclass
class Scripted:
    """Ranks by a table of texts; keeps what it was asked."""

    table: Mapping[str, float]
    asked: list[Sequence[str]] = field(default_factory=list)

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(texts)
        return [self.table.get(text, 0.0) for text in texts]


def test_words_find_the_document_that_has_most_of_them() -> None:
    result = found("who paid the dam on the river")
    assert ids(result) == ["dam", "tax"]
    assert [passage.rank for passage in result.passages] == [1, 2]


def test_a_score_is_the_sum_of_its_parts() -> None:
    for passage in found("was the dam paid by the state").passages:
        assert set(passage.parts) == {"bm25", "window", "pairs"}
        assert passage.score == pytest.approx(sum(passage.parts.values()))


def test_words_that_stand_together_rank_higher() -> None:
    apart = Document("a", "Paid. One. Two. Three. Four. Dam. The state. Five.")
    close = Document("b", "One. Two. Three. Four. Five. The state paid. Dam.")
    both = index(apart, close)
    assert ids(found("state paid dam", index=both, closeness=False)) == ["a", "b"]
    assert ids(found("state paid dam", index=both)) == ["b", "a"]


def test_equal_scores_go_by_document_id() -> None:
    same = [Document(name, "a dam") for name in ("c", "a", "b")]
    assert ids(found("dam", index=index(*same))) == ["a", "b", "c"]


def test_dense_finds_by_cosine() -> None:
    result = found("q", embeds=GivenVectors({"q": (1.0, 0.0)}), method="dense")
    assert ids(result) == ["dam", "tax", "zoo"]
    assert result.passages[1].parts == {"dense": pytest.approx(0.6)}


def test_hybrid_adds_half_a_cosine_to_the_share_of_the_words() -> None:
    given = index()
    result = found("zoo", index=given, embeds=GivenVectors({"zoo": (0.8, 0.6)}), method="hybrid")
    assert ids(result) == ["zoo", "tax", "dam"]
    first, *others = result.passages
    by_words = sum(score for name, score in first.parts.items() if name != "dense")
    share = by_words / given.idf(["zoo"])["zoo"]
    assert first.score == pytest.approx(share + first.parts["dense"] / 2)
    assert first.parts["dense"] == pytest.approx(0.6)
    assert [p.score for p in others] == pytest.approx([p.parts["dense"] / 2 for p in others])


def test_where_the_words_find_nothing_vectors_do() -> None:
    question = "How do I get my money back?"
    refund = Document("refund", "Refunds are issued within ten days.")
    other = Document("opening", "The shop opens at nine.")
    table = {question: (1.0, 0.0), refund.text: (0.8, 0.6), other.text: (0.0, 1.0)}
    made = index(vectors=False)
    refreshed(made, map(IndexSource, [refund, other]), embeds=GivenVectors(table))
    assert ids(found(question, index=made)) == []
    result = found(question, index=made, embeds=GivenVectors(table))
    assert (ids(result), result.method) == (["refund", "opening"], "hybrid")
    assert ids(found(question, index=made, embeds=GivenVectors(table), min_score=0.2)) == ["refund"]


def test_a_method_is_chosen_by_what_there_is() -> None:
    by = {"vectors": GivenVectors({})}
    assert found("dam").method == "bm25"
    assert found("dam", index=index(vectors=False), embeds=by["vectors"]).method == "bm25"
    assert found("dam", embeds=by["vectors"]).method == "hybrid"
    assert found("dam", embeds=by["vectors"], method="bm25").method == "bm25"


def test_passages_below_a_score_are_left_out() -> None:
    both = found("who paid the dam on the river").passages
    assert [p.chunk.doc_id for p in both] == ["dam", "tax"]
    for least, left in ((both[1].score, 2), (both[0].score, 1), (both[0].score + 0.01, 0)):
        assert len(found("who paid the dam on the river", min_score=least).passages) == left


def test_a_newer_document_is_raised_and_one_without_date_kept() -> None:
    undated = replace(DAM, doc_id="0", date="")
    old = replace(DAM, doc_id="1", date="2023-12-22")
    result = found("dam", index=index(undated, old, DAM), recency=10)
    assert ids(result) == ["dam", "1", "0"]
    assert [p.parts.get("recency") for p in result.passages] == [2.0, 1.5, None]


def test_a_date_still_to_come_takes_nothing_from_the_others() -> None:
    old = replace(DAM, doc_id="1", date="2023-12-22")
    slip = replace(DAM, doc_id="2", date="9999-01-01")
    result = found("dam", index=index(slip, old, DAM), recency=10)
    assert ids(result) == ["2", "dam", "1"]
    assert [p.parts["recency"] for p in result.passages] == [2.0, 2.0, 1.5]
    alone = found("dam", index=index(slip, replace(slip, doc_id="3")), recency=10)
    assert [p.parts["recency"] for p in alone.passages] == [2.0, 2.0]


def test_the_first_are_reranked_and_the_rest_stay_behind() -> None:
    first, second, third = found("state paid dam zoo").passages
    ranks = Scripted({second.chunk.text: 3.0, first.chunk.text: -1.0})
    result = found("state paid dam zoo", ranks=ranks, rerank=2)
    assert [p.chunk for p in result.passages] == [second.chunk, first.chunk, third.chunk]
    scores = [passage.score for passage in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert len(ranks.asked[0]) == 2


def test_of_equal_grades_the_order_stays() -> None:
    assert ids(found("paid dam", ranks=Scripted({}), rerank=2)) == ids(found("paid dam"))


def test_one_passage_a_document_is_the_best_of_it() -> None:
    text = "The dam was paid by all who live there. And a dam it is, the old one there."
    twice = index(replace(DAM, text=text), TAX, words=10)
    assert ids(found("dam", index=twice)) == ["dam", "dam"]
    assert ids(found("dam", index=twice, one_per_document=True)) == ["dam"]


def test_a_filter_narrows_what_is_found() -> None:
    assert ids(found("paid", only=Filter({"doc_id": ["tax"]}))) == ["tax"]
    assert ids(found("paid lions", only=Filter(since="2023-01-01"))) == ["dam"]


@pytest.mark.parametrize("question", ["", "?", "quark"])
def test_what_is_nowhere_finds_nothing(question: str) -> None:
    result = found(question)
    assert (result.passages, result.confidence) == ((), 0.0)


def test_the_confidence_is_a_mean_cosine_where_there_are_vectors() -> None:
    result = found("dam", embeds=GivenVectors({"dam": (1.0, 0.0)}))
    assert result.confidence == pytest.approx((1.0 + 0.6 + 0.0) / 3)
    assert result.confidence_by == f"mean cosine of 20, given {'d' * 12}"


def test_without_vectors_the_confidence_is_by_words() -> None:
    all_of_it, half = found("dam river"), found("dam quark")
    assert all_of_it.confidence_by == half.confidence_by == "top BM25 over idf"
    assert all_of_it.confidence > half.confidence > 0


@pytest.mark.parametrize(("least", "answers"), [(0.0, True), (9.0, False)])
def test_a_threshold_decides(least: float, answers: bool) -> None:
    line = Threshold(least, "top BM25 over idf", "i", "v1", 3)
    assert found("dam", threshold=line).answers is answers
    assert found("dam").answers is None


def test_a_threshold_of_another_confidence_is_refused() -> None:
    line = Threshold(0.4, "top BM25 over idf", "i", "v1", 3)
    with pytest.raises(InputError, match="here the confidence is 'mean cosine of 20"):
        found("dam", threshold=line, embeds=GivenVectors({}))


def test_vectors_of_another_model_are_refused() -> None:
    other = GivenVectors({}, VectorModel("other", 2, "e" * 64))
    with pytest.raises(InputError, match=r"vectors of 'given' .* not of 'other'"):
        found("dam", embeds=other)


@pytest.mark.parametrize("method", ["dense", "hybrid"])
def test_vectors_that_are_not_there_are_told(method: str) -> None:
    with pytest.raises(InputError, match=f"{method}: the index has no vectors; there is: bm25"):
        found("dam", index=index(vectors=False), method=method)
    with pytest.raises(InputError, match=f"{method}: nothing makes vectors"):
        found("dam", method=method)


def test_reranking_without_a_ranker_is_refused() -> None:
    with pytest.raises(InputError, match="to rerank needs a model"):
        found("dam", rerank=5)


def test_a_failed_reranking_is_not_hidden() -> None:
    class Failing:
        async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
            raise JudgmentFailed("transport", "no answer")

    with pytest.raises(JudgmentFailed, match="no answer"):
        found("dam", ranks=Failing(), rerank=5)


class RefreshedMeanwhile(Index):
    """An index that is refreshed twice between a search and the reading of its chunks."""

    times = 2

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        if self.times:
            self.times -= 1
            raise KeyError(numbers[0])
        return super().chunks(numbers)


def test_a_refresh_in_between_makes_it_search_again() -> None:
    assert ids(found("dam", index=RefreshedMeanwhile(index().store))) == ["dam"]

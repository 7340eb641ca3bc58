"""The grounding judge: factuality, coverage by citations, abstention, and what was retrieved."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes import response
from tests.provenance import line
from trecjudge.judges.grounding import GroundingJudge
from trecjudge.models.model import NoModel
from trecjudge.records import Evidence, Judgment, ProvenanceLine, Response, Topic, WholeResponse

KETTLE = "Steam makes a kettle whistle. It was invented in Lyon in 1893."
ANSWER = response(
    ("Steam makes a kettle whistle.", ["k"]),
    ("It was invented in Lyon in 1895.", []),
    ("Collectors admire the handle.", ["k"]),
    documents={"k": KETTLE},
)


def judged(answer: Response, topic: Topic = Topic("t1"), **settings: Any) -> list[Judgment]:  # noqa: B008
    item = WholeResponse.of(topic, answer)
    return asyncio.run(GroundingJudge(**settings).judge(item, NoModel()))


def scores(answer: Response, judgments: list[Judgment]) -> dict[str, float | bool | None]:
    spec = GroundingJudge().measures
    return {m.name: m.compute(answer, judgments) for m in spec.measures}


def test_measures() -> None:
    found = judged(ANSWER)
    assert [j.label for j in found] == ["ANSWERED", "supported", "contradicted", "unsupported"]
    assert scores(ANSWER, found) == {
        "FACTUALITY_RATE": pytest.approx(1 / 3),
        "HALLUCINATION_RATE": pytest.approx(2 / 3),
        "CITATION_COVERAGE": pytest.approx(2 / 3),
        "ABSTAINED": False,
        "RETRIEVAL_HIT_3": None,
        "QUOTES_FOUND": None,
    }


def test_an_abstention_is_no_hallucination_and_not_perfect() -> None:
    answer = response(("I don't have that information.", []), documents={"k": KETTLE})
    found = scores(answer, judged(answer))
    assert found.pop("ABSTAINED") is True
    assert set(found.values()) == {None}


def test_an_empty_response_is_no_abstention() -> None:
    answer = response(("", []))
    assert scores(answer, judged(answer))["ABSTAINED"] is False


@pytest.mark.parametrize(
    ("references", "qrels", "hit"),
    [
        pytest.param(("a", "b", "c", "d"), {"c": 1}, 1.0, id="third"),
        pytest.param(("a", "b", "c", "d"), {"d": 3}, 0.0, id="fourth"),
        pytest.param(("a", "b"), {"a": 0}, 0.0, id="graded 0"),
        pytest.param((), {"k": 1}, 1.0, id="without references the citations"),
        pytest.param(("a",), {}, 0.0, id="nothing relevant for the topic"),
        pytest.param(("a",), None, None, id="no grades"),
    ],
)
def test_retrieval(references: tuple[str, ...], qrels: dict[str, int] | None, hit: float) -> None:
    answer = replace(ANSWER, references=references)
    found = judged(answer, Topic("t1", qrels=qrels))
    assert scores(answer, found)["RETRIEVAL_HIT_3"] == hit


def test_the_grade_from_which_on_a_document_is_relevant_is_a_setting() -> None:
    found = judged(ANSWER, Topic("t1", qrels={"k": 1}), relevant_from=2)
    assert scores(ANSWER, found)["RETRIEVAL_HIT_3"] == 0.0


def test_what_the_run_carries_without_text_or_uncited_in_another_script_shields_no_claim() -> None:
    sentences = ("Steam makes it whistle.", ["k"]), ("Nine in ten are blue.", [])
    plain = response(*sentences, carried={"k": "Steam makes it whistle."})
    more = {"k": "Steam makes it whistle.", "z": "", "y": "水壶会响。"}
    found = [scores(a, judged(a)) for a in (plain, response(*sentences, carried=more))]
    assert found[0] == found[1]
    assert found[0]["FACTUALITY_RATE"] == 0.5


def quotes(*lines: ProvenanceLine, **answer: Any) -> list[Judgment]:
    """Return the judgments on the quotes of a run."""
    found = judged(replace(ANSWER, provenance=lines, **answer))
    return [judgment for judgment in found if (judgment.label or "").startswith("quote_")]


def test_a_quote_is_looked_up_in_its_document() -> None:
    [found] = quotes(line(topic_id="t1", start=0, end=0))
    assert (found.label, found.doc_id, found.sentence_index) == ("quote_found", "k", 0)
    assert found.evidence == Evidence(0, 29, "Steam makes a kettle whistle.")


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        pytest.param({"quote": "Steam makes a kettle sing."}, {}, id="not in it"),
        pytest.param({"quote": ""}, {}, id="nothing quoted"),
        pytest.param({"doc_id": "z"}, {}, id="no such document"),
        pytest.param(
            {}, {"documents": response(carried={"k": ""}).documents}, id="carried without text"
        ),
    ],
)
def test_a_quote_that_is_not_there_is_the_fault_of_the_run(
    fields: dict[str, str], answer: dict[str, Any]
) -> None:
    [found] = quotes(line(**fields), **answer)
    assert (found.label, found.value, found.evidence) == ("quote_missing", 0.0, None)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"documents": {}, "documents_given": False}, id="no documents given"),
        pytest.param({"documents": {}, "documents_lost": True}, id="some lost"),
        pytest.param({"documents": response(documents={"k": ""}).documents}, id="no text"),
    ],
)
def test_where_the_document_is_not_known_no_quote_is_judged(answer: dict[str, Any]) -> None:
    assert quotes(line(), **answer) == []


def test_what_a_run_names_changes_no_verdict_on_its_claims() -> None:
    forged = line(sentence_index=1, quote="It was invented in Lyon in 1895.")
    answer = replace(ANSWER, provenance=(line(), forged))
    found, without = judged(answer), judged(ANSWER)
    assert [judgment for judgment in found if judgment in without] == without
    values, plain = scores(answer, found), scores(ANSWER, without)
    assert values.pop("QUOTES_FOUND") == 0.5
    assert plain.pop("QUOTES_FOUND") is None
    assert values == plain

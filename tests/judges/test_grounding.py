"""The grounding judge: factuality, coverage by citations, abstention, and what was retrieved."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes import response
from trecjudge.judges.grounding import GroundingJudge
from trecjudge.models.model import NoModel
from trecjudge.records import Judgment, Response, Topic, WholeResponse

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

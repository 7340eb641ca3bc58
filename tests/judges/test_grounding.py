"""The grounding judge: factuality, coverage by citations, abstention, and what was retrieved."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import judgment, response
from tests.provenance import line
from trecjudge.judges.grounding import LABELS, GroundingJudge
from trecjudge.measures import OnMissingResponse
from trecjudge.models.model import NoModel
from trecjudge.records import (
    Claim,
    Evidence,
    Failure,
    Judgment,
    ProvenanceLine,
    Response,
    Topic,
    WholeResponse,
)
from trecjudge.scores.leaderboard import Leaderboard

PAIR = "FACTUALITY_RATE", "HALLUCINATION_RATE"
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
        "EXPECTED_FACTUALITY": pytest.approx(mean([j.expected or 0.0 for j in found[1:]])),
    }


def test_an_abstention_is_no_hallucination_and_not_perfect() -> None:
    answer = response(("I don't have that information.", []), documents={"k": KETTLE})
    found = scores(answer, judged(answer))
    assert found.pop("ABSTAINED") is True
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    ("retrieved", "qrels", "hit"),
    [
        pytest.param(("a", "b", "c", "d"), {"c": 1}, 1.0, id="third"),
        pytest.param(("a", "b", "c", "d"), {"d": 3}, 0.0, id="fourth"),
        pytest.param(("a", "b", "a", "d"), {"d": 3}, 1.0, id="a document counts once"),
        pytest.param(("a", "b"), {"a": 0}, 0.0, id="graded 0"),
        pytest.param((), {"k": 1}, 0.0, id="nothing retrieved"),
        pytest.param(None, {"k": 1}, None, id="not known, whatever is cited"),
        pytest.param(("a",), {}, 0.0, id="nothing relevant for the topic"),
        pytest.param(("a",), None, None, id="no grades"),
    ],
)
def test_retrieval(
    retrieved: tuple[str, ...] | None, qrels: dict[str, int] | None, hit: float | None
) -> None:
    answer = replace(ANSWER, references=("k",), retrieved=retrieved)
    found = judged(answer, Topic("t1", qrels=qrels))
    assert scores(answer, found)["RETRIEVAL_HIT_3"] == hit


def test_the_grade_from_which_on_a_document_is_relevant_is_a_setting() -> None:
    answer = replace(ANSWER, retrieved=("k",))
    found = judged(answer, Topic("t1", qrels={"k": 1}), relevant_from=2)
    assert scores(ANSWER, found)["RETRIEVAL_HIT_3"] == 0.0


@pytest.mark.parametrize(
    ("ranks", "hit"),
    [
        pytest.param([("z", 1), ("k", 3)], 1.0, id="a relevant one at rank 3"),
        pytest.param([("z", 1), ("k", 4)], None, id="ranks 2 and 3 are not told"),
        pytest.param([("z", 1), ("y", 2), ("x", 3), ("k", 4)], 0.0, id="the first three are told"),
        pytest.param([("z", 1), ("k", 1)], None, id="a second one at a rank"),
        pytest.param([("k", 0)], None, id="no rank"),
    ],
)
def test_ranks_of_the_provenance_tell_what_was_retrieved(
    ranks: list[tuple[str, int]], hit: float | None
) -> None:
    lines = tuple(line(doc_id=doc_id, rank=rank) for doc_id, rank in ranks)
    answer = replace(ANSWER, provenance=lines)
    assert scores(answer, judged(answer, Topic("t1", qrels={"k": 1})))["RETRIEVAL_HIT_3"] == hit


SILENT = {"FACTUALITY_RATE": 0.0, "HALLUCINATION_RATE": 1.0, "ABSTAINED": False}
DECLINED = {"FACTUALITY_RATE": None, "HALLUCINATION_RATE": None, "ABSTAINED": True}
SAYS_IT = "Steam makes a kettle whistle."


@pytest.mark.parametrize(
    ("text", "flag", "expected"),
    [
        pytest.param("", True, DECLINED, id="empty, says it abstains"),
        pytest.param("", None, SILENT, id="empty, says nothing"),
        pytest.param("", False, SILENT, id="empty, says it does not abstain"),
        pytest.param("I don't know.", False, DECLINED, id="words against the flag"),
        pytest.param("Hello!", True, DECLINED, id="no claim"),
        pytest.param(
            SAYS_IT,
            True,
            {"FACTUALITY_RATE": 1.0, "HALLUCINATION_RATE": 0.0, "ABSTAINED": False},
            id="a claim is judged whatever the flag says",
        ),
    ],
)
def test_whether_a_response_abstains(
    text: str, flag: bool | None, expected: dict[str, float | bool | None]
) -> None:
    answer = replace(response((text, []), documents={"k": KETTLE}), abstained=flag)
    found = scores(answer, judged(answer))
    assert {name: found[name] for name in expected} == expected


LABELLED = st.lists(st.sampled_from([*LABELS.values(), "ABSTAINED", "NO_CLAIMS", None]), min_size=1)
ANSWERS = st.lists(st.none() | st.tuples(st.sampled_from(["", "Text."]), LABELLED), min_size=1)


def labelled(label: str | None) -> Judgment:
    """Return a judgment on a claim, or on a response without any; None is for an unjudged one."""
    claim = None if label in ("ABSTAINED", "NO_CLAIMS") else Claim(0, "c", 0)
    return judgment(label, claim=claim, failure=None if label else Failure("call", "no reply"))


@given(ANSWERS, st.sampled_from(["fix_aggregate", "default", "warn"]))
def test_what_is_no_fact_is_a_hallucination_in_every_row(
    answers: list[tuple[str, list[str | None]] | None], on_missing: OnMissingResponse
) -> None:
    spec = replace(GroundingJudge().measures, on_missing=on_missing)
    board = Leaderboard(spec, [str(n) for n in range(len(answers))])
    for n, one in enumerate(answers):
        if one is not None:
            board.add(
                response((one[0], []), topic_id=str(n)), [labelled(label) for label in one[1]]
            )
    board.finish()
    rows = {(row.topic_id, row.measure): row.value for row in board.rows()}
    factual, invented = ({t: v for (t, m), v in rows.items() if m == name} for name in PAIR)
    assert factual == {topic: pytest.approx(1 - value) for topic, value in invented.items()}


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

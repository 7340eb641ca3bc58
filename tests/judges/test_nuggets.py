"""The nuggets judge: AutoNuggetizer's six scores; a label that was not given is never a no."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.nuggets import NuggetsJudge, best_or_worst, statement_of
from trecjudge.judges.nuggets.program import Assignment
from trecjudge.models.model import Model, NoModel
from trecjudge.records import GoldAnswer, Judgment, Nugget, Response, Topic, WholeResponse

NO_MODEL = NoModel()
KETTLES = response(("Dunmoor kettles are lined with tin.", []), ("Smiths struck in 1926.", []))
LABELS = {"s": "support", "p": "partial_support", "n": "not_support"}


def bank(importance: str) -> tuple[Nugget, ...]:
    """Return a statement for each letter: vital, okay, or none (`-`)."""
    names = {"v": "vital", "o": "okay", "-": ""}
    return tuple(
        Nugget(str(number), f"Fact {number}.", importance=names[letter])
        for number, letter in enumerate(importance, 1)
    )


def scripted(labels: str) -> ScriptedModel:
    """Return a model that gives nugget n the n-th label; `x` is a reply that cannot be read."""

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = [labels[int(text.split()[1].rstrip(".")) - 1] for text in inputs["nuggets"]]
        if "x" in wanted:
            raise JudgmentFailed("parse", "unreadable")
        found = [
            Assignment(number=number, reason="So.", label=LABELS[letter])
            for number, letter in enumerate(wanted, 1)
        ]
        return {"assignments": found}

    return ScriptedModel(answer)


def judged(
    nuggets: Sequence[Nugget] | None, model: Model = NO_MODEL, answer: Response = KETTLES
) -> list[Judgment]:
    topic = Topic("t1", "kettles", nuggets=None if nuggets is None else tuple(nuggets))
    return asyncio.run(NuggetsJudge().judge(WholeResponse.of(topic, answer), model))


def scores(judgments: Sequence[Judgment]) -> dict[str, float | None]:
    spec = NuggetsJudge().measures
    found = {m.name: m.compute(KETTLES, judgments) for m in spec.measures}
    return {name: None if v is None else round(float(v), 6) for name, v in found.items()}


@pytest.mark.parametrize(
    ("importance", "labels", "wanted"),
    [
        pytest.param("vvov", "nnpp", [0, 0, 0, 0.166667, 0.25, 0.214286], id="two in part"),
        pytest.param("vvoo", "ssss", [1, 1, 1, 1, 1, 1], id="all of them"),
        pytest.param("vvovo", "sspsn", [1, 0.6, 0.75, 1, 0.7, 0.8125], id="one vital in part"),
        pytest.param("oo", "sn", [None, 0.5, 0.5, None, 0.5, 0.5], id="no vital nugget"),
        pytest.param("--", "sn", [None, 0.5, 0.5, None, 0.5, 0.5], id="no importance at all"),
        pytest.param("v-", "ns", [0, 0.5, 0.333333, 0, 0.5, 0.333333], id="one without importance"),
    ],
)
def test_scores(importance: str, labels: str, wanted: list[float | None]) -> None:
    found = scores(judged(bank(importance), scripted(labels)))
    assert list(found.values()) == wanted


def test_a_label_that_was_not_given_is_unjudged() -> None:
    judgments = judged(bank("vvo"), scripted("sxs"))
    assert [judgment.label for judgment in judgments] == ["support", None, "support"]
    assert scores(judgments)["STRICT_VITAL_SCORE"] == 1.0
    worst = [j if j.judged else best_or_worst(j, False) for j in judgments]
    assert scores(worst)["STRICT_VITAL_SCORE"] == 0.5


def test_nuggets_are_asked_in_windows_with_the_whole_response() -> None:
    model = scripted("s" * 23)
    judged(bank("v" * 23), model)
    assert sorted(len(asked["nuggets"]) for asked in model.asked) == [3, 10, 10]
    assert {asked["response"] for asked in model.asked} == {KETTLES.text}


def test_an_empty_response_states_nothing_and_nobody_is_asked() -> None:
    model = scripted("ss")
    judgments = judged(bank("vv"), model, response(("  ", [])))
    assert [judgment.label for judgment in judgments] == ["not_support", "not_support"]
    assert model.asked == []


def test_a_topic_without_a_bank_is_unjudged() -> None:
    with pytest.raises(JudgmentFailed, match="give --nuggets") as failed:
        judged(None)
    assert failed.value.kind == "not_given"


def test_a_bank_without_nuggets_leaves_every_mean() -> None:
    assert set(scores(judged(())).values()) == {None}


TIN = Nugget("1", "Of what is the lining?", True, (GoldAnswer("tin"), GoldAnswer("zinc")))
BOTH = Nugget("2", "Which metals?", True, (GoldAnswer("tin"), GoldAnswer("zinc")), together=True)
STRIKE = Nugget("3", "When did smiths strike?", True, (GoldAnswer("1926"),))
HEIGHT = Nugget("4", "How high is the tower?", True, (GoldAnswer("1926"),))
LINED = Nugget("5", "Dunmoor kettles have a lining of tin.")
ZINC = Nugget("6", "Zinc was never used at all.")


@pytest.mark.parametrize(
    ("nugget", "label"),
    [
        pytest.param(STRIKE, "support", id="a number with its question"),
        pytest.param(HEIGHT, "not_support", id="the same number for another question"),
        pytest.param(LINED, "support", id="a statement in other order"),
        pytest.param(ZINC, "not_support", id="a statement that is not there"),
        pytest.param(TIN, "support", id="one of two answers"),
    ],
)
def test_words_decide_without_a_model(nugget: Nugget, label: str) -> None:
    (judgment,) = judged([nugget])
    assert (judgment.label, judgment.attester) == (label, "lexical")


def test_a_question_that_nobody_can_answer_is_no_nugget_of_a_response() -> None:
    judgments = judged([Nugget("1", "Who founded it?", True), STRIKE])
    assert [j.nugget.nugget_id for j in judgments if j.nugget] == ["3"]


def test_a_model_is_asked_with_all_answers() -> None:
    assert statement_of(BOTH) == "Which metals? tin; zinc"
    assert statement_of(TIN) == "Of what is the lining? tin / zinc"


@pytest.mark.parametrize(
    ("nugget", "passage"),
    [
        pytest.param(STRIKE, "Smiths struck in 1926", id="of an answer"),
        pytest.param(LINED, "Dunmoor kettles are lined with tin", id="of a statement"),
        pytest.param(ZINC, None, id="of what is not stated"),
    ],
)
@pytest.mark.parametrize("by", ["words", "a model"])
def test_the_passage_that_states_a_nugget(nugget: Nugget, passage: str | None, by: str) -> None:
    letter = Assignment(number=1, reason="So.", label="support" if passage else "not_support")
    model = NO_MODEL if by == "words" else ScriptedModel(lambda _: {"assignments": [letter]})
    (found,) = judged([nugget], model)
    assert (found.sentence_index, found.doc_id) == (None, None)
    if passage is None:
        assert found.evidence is None
    else:
        assert found.evidence is not None
        start, end = found.evidence.start, found.evidence.end
        assert KETTLES.text[start:end] == found.evidence.quote == passage


def test_what_only_a_model_sees_has_no_passage() -> None:
    model = ScriptedModel(
        lambda _: {"assignments": [Assignment(number=1, reason="So.", label="support")]}
    )
    (found,) = judged([ZINC], model)
    assert (found.label, found.evidence) == ("support", None)


def mapped(*nuggets: str) -> list[Nugget]:
    """Return a fact for each text: its importance, and the sub-narrative that it is mapped to."""
    names = {"v": "vital", "o": "okay"}
    return [
        Nugget(str(n), f"Fact {n}.", importance=names[text[0]], group=text[1:])
        for n, text in enumerate(nuggets, 1)
    ]


SUB_NARRATIVES = ("vMetal", "vmetal ", "vStrikes", "oPrices", "v")


@pytest.mark.parametrize(
    ("labels", "covered"),
    [
        pytest.param("snnsn", 0.5, id="one of two; an okay nugget covers nothing"),
        pytest.param("npsnn", 0.5, id="in part is not enough"),
        pytest.param("snsns", 1.0, id="a nugget that is mapped to none does not count"),
        pytest.param("nnxnn", 0.0, id="one that is unjudged is in neither count"),
        pytest.param("sxsnn", 1.0, id="nor does it matter where another is stated"),
    ],
)
def test_coverage_of_sub_narratives(labels: str, covered: float) -> None:
    nuggets = mapped(*SUB_NARRATIVES)
    judge = NuggetsJudge(window=1).fitted(nuggets, None)
    item = WholeResponse.of(Topic("t1", "kettles", nuggets=tuple(nuggets)), KETTLES)
    found = asyncio.run(judge.judge(item, scripted(labels)))
    measure = judge.measures.measures[-1]
    assert measure.name == "SUB_NARRATIVE_COVERAGE"
    assert measure.compute(KETTLES, found) == covered


def test_coverage_is_a_measure_only_of_banks_with_sub_narratives() -> None:
    plain = NuggetsJudge().fitted(bank("vo"), None).measures
    assert "SUB_NARRATIVE_COVERAGE" not in {measure.name for measure in plain.measures}
    coverage = NuggetsJudge(groups=True).measures.measures[-1]
    assert coverage.compute(KETTLES, judged(mapped("oMetal", "v"))) is None
    (failed,) = judged(mapped("vMetal"), scripted("x"))
    for one in (failed, replace(failed, nugget=None)):  # a response of which nothing is known
        bounds = [coverage.compute(KETTLES, [best_or_worst(one, best)]) for best in (False, True)]
        assert bounds == [0.0, 1.0]

"""The rubric judge: DRAGUN's scores; an answer without a label never raises them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.rubric import RubricJudge
from trecjudge.judges.rubric.program import Alignment, Assessment, Form
from trecjudge.judges.rubric.scoring import (
    assess_answer,
    best_or_worst,
    compare_questions,
    form_of_question,
)
from trecjudge.judging.panel import GivenJudge
from trecjudge.models.model import Model, NoModel
from trecjudge.records import GoldAnswer, Judgment, Nugget, Response, Topic, WholeResponse

NO_MODEL = NoModel()
REPORT = response(("Skarne was lit in 1871.", []), ("Its tower is of red brick.", []))
EMPTY = response(("  ", []))


def question(number: int, importance: str, *answers: str) -> Nugget:
    """Return question Q-`number`, whose answers have ids of their own, such as `na-1`."""
    gold = tuple(GoldAnswer(f"Answer {name}.", (), name) for name in answers)
    return Nugget(f"901-Q-{number}", f"Question {number}?", True, gold, importance=importance)


RUBRIC = (
    question(1, "A", "na-1", "na-2"),
    question(2, "B", "na-3"),
    question(3, "C", "na-4", "na-5"),
)
SHORT = (question(1, "A", "na-1"), question(2, "C", "na-2"))
LABELS = {"s": "supports", "p": "partial", "c": "contradicts", "n": "none"}


def item(answer: Response = REPORT, rubric: Sequence[Nugget] | None = RUBRIC) -> WholeResponse:
    topic = Topic("t1", "lights", nuggets=None if rubric is None else tuple(rubric))
    return WholeResponse.of(topic, answer)


def given(
    labels: str | list[str], rubric: Sequence[Nugget] = RUBRIC, of: Response = REPORT
) -> list[Judgment]:
    """Return the judgments that labels make, a letter an answer; `-` is no label."""
    by_key = {
        ("t1", "r", None, None, f"na-{number}"): LABELS.get(letter, letter)
        for number, letter in enumerate(labels, 1)
        if letter != "-"
    }
    found = asyncio.run(GivenJudge(RubricJudge(), by_key).judge(item(of, rubric), NO_MODEL))
    assert isinstance(found, list)
    return found


def scores(judgments: Sequence[Judgment]) -> list[float | None]:
    values = (m.compute(REPORT, judgments) for m in RubricJudge().measures.measures)
    return [None if value is None else round(float(value), 9) for value in values]


@pytest.mark.parametrize(
    ("rubric", "labels", "wanted"),
    [
        pytest.param(RUBRIC, "snpns", [0.5, 0.0], id="one of two, in part, one of two"),
        pytest.param(RUBRIC, "csnpn", [0.321428571, 0.285714286], id="contradicted and supported"),
        pytest.param(RUBRIC, "sccnn", [0.285714286, 0.571428571], id="more contradicted"),
        pytest.param(SHORT, "sp", [0.9, 0.0], id="two questions"),
        pytest.param(SHORT, "cn", [0.0, 0.8], id="contradicted only"),
        pytest.param(RUBRIC, "s-p--", [0.428571429, 0.0], id="three without a label"),
        pytest.param(RUBRIC, "-----", [None, None], id="no label at all"),
    ],
)
def test_scores(rubric: Sequence[Nugget], labels: str, wanted: list[float | None]) -> None:
    assert scores(given(labels, rubric)) == wanted


@pytest.mark.parametrize("left_out", ["-npns", "s-pns", "sn-ns", "snp-s", "s-p-s", "---ns"])
def test_a_label_that_is_missing_never_raises_a_score(left_out: str) -> None:
    whole, part = scores(given("snpns")), scores(given(left_out))
    assert part[0] is not None and whole[0] is not None and part[0] <= whole[0]
    judgments = given(left_out)
    low, high = (
        scores([j if j.judged else best_or_worst(j, best) for j in judgments])
        for best in (False, True)
    )
    assert low[0] is not None and high[0] is not None and low[0] <= whole[0] <= high[0]


def test_a_label_of_another_tool_is_unjudged() -> None:
    judgments = given(["s", "so so", "p", "n", "s"])
    assert [judgment.judged for judgment in judgments] == [True, False, True, True, True]
    assert judgments[1].failure is not None and "so so" in judgments[1].failure.message


def test_an_empty_report_supports_nothing_whatever_labels_say() -> None:
    assert scores(given("sssss", of=EMPTY)) == [0.0, 0.0]


def test_a_topic_without_a_rubric_is_unjudged() -> None:
    with pytest.raises(JudgmentFailed, match="give --nuggets"):
        asyncio.run(RubricJudge().judge(item(rubric=None), NO_MODEL))


def scripted(labels: str) -> ScriptedModel:
    """Return a model that gives answer na-n the n-th label; `x` is a reply that cannot be read."""

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        numbers = [int(text.rpartition("-")[2].rstrip(".")) for text in inputs["answers"]]
        wanted = [labels[number - 1] for number in numbers]
        if "x" in wanted:
            raise JudgmentFailed("parse", "unreadable")
        found = [
            Assessment(number=number, reason="So.", label=LABELS[letter])
            for number, letter in enumerate(wanted, 1)
        ]
        return {"assessments": found}

    return ScriptedModel(answer)


def by_model(model: Model, window: int = 50, of: Response = REPORT) -> list[Judgment]:
    return asyncio.run(RubricJudge(window=window).judge(item(of), model))


def test_a_model_is_asked_once_with_all_answers() -> None:
    model = scripted("csnpn")
    assert scores(by_model(model)) == [0.321428571, 0.285714286]
    (asked,) = model.asked
    assert asked["report"] == REPORT.text
    assert asked["answers"][0] == "Question 1? Answer na-1."


def test_answers_are_asked_about_in_windows() -> None:
    model = scripted("sssss")
    assert scores(by_model(model, window=2)) == [1.0, 0.0]
    assert [len(asked["answers"]) for asked in model.asked] == [2, 2, 1]


def test_what_a_model_cannot_say_is_asked_alone_and_then_unjudged() -> None:
    judgments = by_model(scripted("sxpns"))
    assert [j.label for j in judgments] == ["supports", None, "partial", "none", "supports"]
    assert [j.nugget.answer_id for j in judgments if j.nugget and not j.judged] == ["na-2"]


def test_a_model_is_not_asked_about_an_empty_report() -> None:
    model = scripted("sssss")
    assert scores(by_model(model, of=EMPTY)) == [0.0, 0.0]
    assert model.asked == []


LIT = Nugget("1", "When was the lighthouse of Skarne lit?", True)


@pytest.mark.parametrize(
    ("report", "answer", "label"),
    [
        pytest.param("The lighthouse of Skarne was lit in 1871.", "1871", "supports", id="there"),
        pytest.param("The harbour of Perch opened in 1871.", "1871", "none", id="of another thing"),
        pytest.param("Skarne has gulls.", "1871", "none", id="not there"),
        pytest.param(
            "Ada Holm founded the works in 1911.",
            "Ada Holm founded the works in 1902",
            "contradicts",
            id="another year",
        ),
    ],
)
def test_answers_by_words(report: str, answer: str, label: str) -> None:
    assert assess_answer(report, LIT, GoldAnswer(answer))[0] == label


@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        pytest.param("Who funded the study?", "Who funded this study?", "very-similar", id="same"),
        pytest.param("When was it built?", "Where was it built?", "different", id="when and where"),
        pytest.param("Who funded the study?", "What do gulls eat?", "very-different", id="nothing"),
    ],
)
def test_questions_by_words(one: str, other: str, label: str) -> None:
    assert compare_questions(one, other)[0] == label


def test_compounds_by_words() -> None:
    expected = {
        "Who wrote it and when was it written?": "compound",
        "Who wrote it? When?": "compound",
        "Who wrote it and revised it?": "not-compound",
        "What bread and butter issues does it name?": "not-compound",
    }
    assert {text: form_of_question(text)[0] for text in expected} == expected


ASKED = response(("Who funded it?", []), ("Who wrote it and when?", []), ("", []))
TASK = RubricJudge(task="questions")


def question_score(judgments: Sequence[Judgment]) -> float | None:
    (measure,) = TASK.measures.measures
    value = measure.compute(ASKED, judgments)
    return None if value is None else round(float(value), 9)


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        pytest.param({"1": "very-similar"}, 0.571428571, id="one of weight 4 of 7"),
        pytest.param({"2": "similar"}, 0.142857143, id="half of weight 2"),
        pytest.param({"1": "similar", "2": "very-similar"}, 0.571428571, id="two"),
        pytest.param({}, 0.0, id="none"),
    ],
)
def test_the_best_question_of_a_run_counts(labels: Mapping[str, str], wanted: float) -> None:
    given: dict[Any, str] = {("t1", "r", 0, None): "not-compound", ("t1", "r", 1, None): "compound"}
    for rank in "123":
        given["t1", "r", 0, None, f"rank-{rank}"] = labels.get(rank, "different")
        # A compound question matches nothing, however like it is.
        given["t1", "r", 1, None, f"rank-{rank}"] = "very-similar"
    found = asyncio.run(GivenJudge(TASK, given).judge(item(ASKED), NO_MODEL))
    assert isinstance(found, list)
    assert len(found) == 2 + 3 * 2
    assert question_score(found) == wanted


def test_a_model_is_asked_about_compounds_once_and_about_each_question_of_the_rubric() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "rubric_question" not in inputs:
            forms = ("not-compound", "compound")
            return {"forms": [Form(number=n, label=f) for n, f in enumerate(forms, 1)]}
        label = "very-similar" if "1?" in inputs["rubric_question"] else "different"
        return {"alignments": [Alignment(number=n, label=label) for n in (1, 2)]}

    model = ScriptedModel(answer)
    judgments = asyncio.run(TASK.judge(item(ASKED), model))
    assert question_score(judgments) == 0.571428571
    assert len(model.asked) == 4


def test_a_run_without_questions_matches_nothing() -> None:
    assert question_score(asyncio.run(TASK.judge(item(EMPTY), NO_MODEL))) == 0.0

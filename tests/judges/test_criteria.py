"""Weighted criteria by the rubric judge: weights, axes, bounds, empty responses, the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import judge
from tests.fakes import ScriptedModel, response
from trecjudge.errors import InputError
from trecjudge.judges.argue import ArgueJudge
from trecjudge.judges.nuggets import NuggetsJudge
from trecjudge.judges.rubric import RubricJudge
from trecjudge.judges.rubric.program import Verdict
from trecjudge.judges.rubric.scoring import axes_in
from trecjudge.judging.panel import GivenJudge
from trecjudge.measures import MeasureSpec
from trecjudge.models.model import NoModel
from trecjudge.records import AskedNugget, Judgment, Nugget, Topic, WholeResponse
from trecjudge.scores.leaderboard import Leaderboard

REPORT = response(("The bridge opened in 1931.", []))
LABELS = {"m": "met", "p": "partial", "u": "unmet"}
AXES = ["Explicit Criteria", "Implicit", "Références", "正确性"]


def bank(*weights: float, axes: Sequence[str] = ()) -> tuple[Nugget, ...]:
    named = dict(enumerate(axes))
    return tuple(
        Nugget(str(n), f"criterion {n}", weight=w, group=named.get(n, ""))
        for n, w in enumerate(weights)
    )


def item(nuggets: Sequence[Nugget], of: str = "text") -> WholeResponse:
    answer = response((of, []))
    return WholeResponse.of(Topic("t1", "bridges", nuggets=tuple(nuggets)), answer)


def given(labels: str, nuggets: Sequence[Nugget]) -> list[Judgment]:
    """Return the judgments that labels make, a letter a criterion; `-` is no label."""
    by_key = {
        ("t1", "r", None, None, f"criterion {n}"): LABELS.get(letter, letter)
        for n, letter in enumerate(labels)
        if letter != "-"
    }
    found = asyncio.run(GivenJudge(RubricJudge(), by_key).judge(item(nuggets), NoModel()))
    assert isinstance(found, list)
    return found


def columns(*axes: str) -> dict[str, MeasureSpec]:
    return {m.name: m for m in RubricJudge(axes=list(axes)).measures.measures}


@pytest.mark.parametrize(
    ("weights", "labels", "wanted"),
    [
        pytest.param((5, 3, 2), "mmu", 0.8, id="weights of what is met"),
        pytest.param((5, 3, 2), "mpu", 0.65, id="in part counts half"),
        pytest.param((5, 3, 2, -4), "mmum", 0.4, id="a fault takes its weight off"),
        pytest.param((5, 3, 2, -4), "mmup", 0.6, id="a fault in part takes half"),
        pytest.param((5, 3, 2, -4), "mmuu", 0.8, id="no fault"),
        pytest.param((5, -4, -4), "mmm", 0.0, id="never below 0"),
        pytest.param((2, -4), "um", 0.0, id="only the fault"),
        pytest.param((-4, -1), "uu", None, id="no positive weight"),
        pytest.param((5, 5), "m-", 0.5, id="without a label: never raised"),
        pytest.param((5, 5, -5), "mm-", 0.5, id="a fault without a label: never raised"),
        pytest.param((5, 5), "--", None, id="nothing judged"),
        pytest.param((0.5, 1.5), "mu", 0.25, id="fractions"),
    ],
)
def test_score(weights: tuple[float, ...], labels: str, wanted: float | None) -> None:
    judgments = given(labels, bank(*weights))
    own = columns()
    assert own["SUPPORTIVE_SCORE"].compute(REPORT, judgments) == (
        None if wanted is None else pytest.approx(wanted)
    )
    assert own["CONTRADICTORY_SCORE"].compute(REPORT, judgments) is None


@pytest.mark.parametrize(
    ("labels", "lowest", "highest"),
    [("mm-", 0.6, 1.0), ("-uu", 0.0, 0.5), ("m--", 0.1, 1.0), ("p-u", 0.25, 0.75)],
)
def test_bounds_of_what_is_unjudged(labels: str, lowest: float, highest: float) -> None:
    board = Leaderboard(RubricJudge().measures)
    judgments = given(labels, bank(5, 5, -4))
    board.add(REPORT, judgments)
    board.finish()
    mean = board.mean("r", board.ranking_measure)
    assert (mean.lowest, mean.highest) == (pytest.approx(lowest), pytest.approx(highest))


def test_axes_are_measures_of_their_own() -> None:
    nuggets = bank(5, 3, -4, 2, 1, axes=["A b", "A b", "A b", "C"])
    own, judgments = columns("A b", "C"), given("mumum", nuggets)
    assert own["AXIS_A_B"].compute(REPORT, judgments) == pytest.approx(1 / 8)
    assert own["AXIS_C"].compute(REPORT, judgments) == 0.0
    assert own["SUPPORTIVE_SCORE"].compute(REPORT, judgments) == pytest.approx(2 / 11)
    unknown = replace(judgments[0], nugget=AskedNugget("", "", "A"), label="supports")
    assert own["AXIS_C"].compute(REPORT, [unknown]) == 1.0


def test_axes_have_names_that_a_leaderboard_can_hold() -> None:
    names = list(columns(*AXES, "a-b", "a b"))[2:]
    assert names[:3] == ["AXIS_EXPLICIT_CRITERIA", "AXIS_IMPLICIT", "AXIS_REFERENCES"]
    assert names[3:] == ["AXIS_4", "AXIS_A_B", "AXIS_A_B_6"]


@pytest.mark.parametrize("other", ["a B", " A  b ", "A\tb", "A\u00a0b"])
def test_axes_that_differ_in_case_or_spaces_are_one(other: str) -> None:
    nuggets = bank(5, 3, axes=["A b", other])
    assert axes_in(nuggets) == sorted(["A b", other])[:1]
    assert columns("a b")["AXIS_A_B"].compute(REPORT, given("mu", nuggets)) == 5 / 8


def test_an_axis_that_the_banks_lack_is_named_with_those_there_are() -> None:
    judge, nuggets = RubricJudge(axes=["Explict"]), bank(5, 3, axes=["Explicit", "Implicit"])
    with pytest.raises(InputError, match=r"'Explict'; did you mean 'Explicit'.*Implicit"):
        judge.fitted(nuggets, None)
    assert RubricJudge(axes=["EXPLICIT"]).fitted(nuggets, None).axes == ["EXPLICIT"]


def test_labels_are_those_of_criteria() -> None:
    (known,) = given(["Yes"], bank(3))  # type: ignore[arg-type]
    assert known.label == "met"
    (wrong,) = given(["so so"], bank(3))  # type: ignore[arg-type]
    assert wrong.failure is not None and "none of met, partial, unmet" in wrong.failure.message


def test_an_empty_response_meets_nothing() -> None:
    found = asyncio.run(RubricJudge().judge(item(bank(3, -3), " "), NoModel()))
    assert [j.label for j in found] == ["unmet", "unmet"]


def test_a_model_is_asked_whether_criteria_are_met() -> None:
    verdicts = [Verdict(number=n, reason="so", label="met") for n in (1, 2)]
    model = ScriptedModel(lambda inputs: {"verdicts": verdicts})
    found = asyncio.run(RubricJudge(assessor="llm").judge(item(bank(3, -3)), model))
    assert [(j.label, j.nugget.weight if j.nugget else 0) for j in found] == [
        ("met", 3),
        ("met", -3),
    ]
    assert model.asked[0]["criteria"] == ["criterion 0", "criterion 1"]


@pytest.mark.parametrize("other", [NuggetsJudge(), ArgueJudge(), RubricJudge(task="questions")])
def test_other_judges_take_no_criteria(other: NuggetsJudge | ArgueJudge | RubricJudge) -> None:
    """To state what a fault says would else count as good."""
    inner = item(bank(3, -3))
    try:
        found = asyncio.run(other.judge(inner, NoModel()))
        assert isinstance(found, list)
        why = " ".join(j.failure.message for j in found if j.failure)
    except Exception as failed:
        why = str(failed)
    assert "weighted criteria, which only judge rubric takes" in why


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["alone", "workers"])
def test_a_job_has_the_axes_of_its_bank(tmp_path: Path, more: tuple[str, ...]) -> None:
    rubrics = [
        {"criterion": "The bridge opened in 1931", "weight": 5, "axis": "Facts"},
        {"criterion": "The bridge is of wood", "weight": -2, "axis": "Faults"},
    ]
    (tmp_path / "b.jsonl").write_text(json.dumps({"qid": "1", "rubrics": rubrics}))
    meta = {"team_id": "t", "run_id": "r", "topic_id": "1"}
    texts = [{"text": "The bridge opened in 1931.", "citations": []}]
    (tmp_path / "runs").mkdir()
    for run in ("r", "s"):
        record = {"metadata": meta | {"run_id": run}, "responses": texts}
        (tmp_path / "runs" / f"{run}.jsonl").write_text(json.dumps(record))
    given = ("--judge", "rubric", "--nuggets", tmp_path / "b.jsonl", *more)
    done = judge(tmp_path / "runs", tmp_path / "out", *given)
    assert done.status == 0 and "ranked by SUPPORTIVE_SCORE" in done.out + done.err
    rows = (tmp_path / "out" / "x.leaderboard.txt").read_text().splitlines()
    assert [row.split("\t")[2:] for row in rows if "r\tall" in row] == [
        ["SUPPORTIVE_SCORE", "1.000000"],
        ["AXIS_FACTS", "1.000000"],
    ]

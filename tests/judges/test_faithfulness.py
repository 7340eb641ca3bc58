"""The faithfulness judge: its four steps, each kept, and a score that follows from the verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.faithfulness import FaithfulnessJudge
from trecjudge.judges.faithfulness.program import ClaimVerdict
from trecjudge.judges.faithfulness.steps import read_verdict
from trecjudge.models.model import Model, NoModel
from trecjudge.records import Judgment, Response, Topic, WholeResponse

NO_MODEL = NoModel()
KETTLE = "Steam makes a kettle whistle. It was invented in Lyon in 1893."
ANSWER = response(
    ("Steam makes a kettle whistle.", ["k"]),
    ("It was invented in Lyon in 1895.", ["k"]),
    ("Collectors admire the handle.", []),
    documents={"k": KETTLE},
)
CASES = Path(__file__).parents[3] / "shared" / "cases" / "52_verdict_wording" / "answers.tsv"


def judged(answer: Response, model: Model = NO_MODEL, **settings: Any) -> list[Judgment]:
    item = WholeResponse.of(Topic("t1"), answer)
    return asyncio.run(FaithfulnessJudge(**settings).judge(item, model))


def scores(judgments: list[Judgment]) -> dict[str, float | bool | None]:
    spec = FaithfulnessJudge().measures
    return {m.name: m.compute(ANSWER, judgments) for m in spec.measures}


def verdicts(judgments: list[Judgment]) -> list[str | None]:
    return [judgment.label for judgment in judgments if judgment.claim]


def nearest(claim: str, truths: str) -> int:
    """Return the number of the truth that shares most words with a claim."""
    words = set(claim.split())
    lines = truths.splitlines()
    return 1 + max(range(len(lines)), key=lambda n: len(words.intersection(lines[n].split())))


def verdicts_of(labels: Sequence[str], truths: Sequence[int]) -> list[ClaimVerdict]:
    """Return verdicts on claims 1, 2, ... by these truths."""
    pairs = enumerate(zip(labels, truths, strict=True), 1)
    return [
        ClaimVerdict(number=number, reason="So.", truth=truth, verdict=label)
        for number, (label, truth) in pairs
    ]


def scripted(
    *labels: str, truths: tuple[str, ...] = ("Steam makes it whistle.", "It was invented in 1893.")
) -> ScriptedModel:
    """Return a model that finds one claim a sentence and gives these verdicts, in a row."""

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "response" in inputs:
            lines = inputs["response"].splitlines()
            made = [
                {"sentence": n, "claim": x[4:], "importance": "vital"} for n, x in enumerate(lines)
            ]
            return {"claims": made}
        if "text" in inputs:
            return {"truths": list(truths)}
        count = len(inputs["claims"])
        wanted = list(labels) if count > 1 else [labels[0]]
        numbers = [nearest(claim, inputs["truths"]) for claim in inputs["claims"]]
        numbers = [*numbers, *[1] * len(wanted)][: len(wanted)]
        return {"verdicts": verdicts_of(wanted, numbers)}

    return ScriptedModel(answer)


def test_offline_every_step_is_kept() -> None:
    truths, *claims = judged(ANSWER)
    assert (truths.label, truths.doc_id) == ("TRUTHS", "k")
    assert [fact.text for fact in truths.facts] == KETTLE.replace(". ", ".|").split("|")
    assert [j.claim.text for j in claims if j.claim] == [s.text for s in ANSWER.sentences]
    assert verdicts(claims) == ["yes", "no", "unsure"]
    assert all(j.reason for j in claims)
    assert scores(judged(ANSWER)) == {
        "FAITHFULNESS": pytest.approx(1 / 3),
        "HALLUCINATION": pytest.approx(1 / 3),
        "EXPECTED_FAITHFULNESS": pytest.approx(mean([j.expected or 0.0 for j in claims])),
    }


def test_with_a_model_the_steps_follow_one_another() -> None:
    model = scripted("yes", "no", "unsure")
    truths, *claims = judged(ANSWER, model)
    assert [sorted(inputs) for inputs in model.asked] == [
        ["response"],
        ["text"],
        ["claims", "truths"],
    ]
    assert model.asked[2]["truths"] == "1. Steam makes it whistle.\n2. It was invented in 1893."
    assert [fact.text for fact in truths.facts] == [
        "Steam makes it whistle.",
        "It was invented in 1893.",
    ]
    assert verdicts(claims) == ["yes", "no", "unsure"]
    assert claims[0].sources[0].excerpt == "Steam makes a kettle whistle"


def test_a_list_of_verdicts_that_does_not_fit_is_asked_for_claim_by_claim() -> None:
    model = scripted("no", "yes", "yes", "yes")
    found = judged(ANSWER, model)
    assert verdicts(found) == ["no", "no", "no"]
    assert [len(inputs["claims"]) for inputs in model.asked[2:]] == [3, 1, 1, 1]


def test_a_verdict_that_is_missing_for_good_is_unjudged_never_a_success() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "claims" in inputs and "Collectors admire the handle." in inputs["claims"]:
            return {"verdicts": []}
        return scripted("yes", "yes", "yes").answer(inputs)

    found = judged(ANSWER, ScriptedModel(answer))
    assert verdicts(found) == ["yes", "unsure", None]  # 1895 is in no truth
    assert scores(found)["FAITHFULNESS"] == 0.5
    assert [j.failure.kind for j in found if j.failure] == ["parse"]


def test_a_document_whose_truths_are_not_known_leaves_open_what_is_unsure() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "text" in inputs:
            raise JudgmentFailed("transport", "reset")
        return scripted("yes").answer(inputs)

    found = judged(ANSWER, ScriptedModel(answer))
    assert [j.judged for j in found] == [False] * 4


def test_long_documents_are_read_to_their_end_in_parts_that_overlap() -> None:
    text = " ".join(f"Fact number {n} stands here." for n in range(200))
    model = scripted("yes")
    judged(response(("One.  It is so.", ["k"]), documents={"k": text}), model, characters=1000)
    parts = [inputs["text"] for inputs in model.asked if "text" in inputs]
    assert len(parts) > 4
    assert parts[0].startswith("Fact number 0")
    assert parts[-1].endswith("Fact number 199 stands here.")
    assert all(
        any(one[-20:] in other for other in parts[i + 1 :]) for i, one in enumerate(parts[:-1])
    )


TRUTHS = tuple(f"Truth {n} is written here for all to see." for n in range(10, 50))
MANY = response(("It is so.", ["k"]), documents={"k": " ".join(TRUTHS)})


def test_many_truths_are_gone_through_until_a_claim_is_decided() -> None:
    model = scripted("unsure", truths=TRUTHS)
    assert verdicts(judged(MANY, model, characters=500, rounds=9)) == ["unsure"]
    asked = [inputs["truths"] for inputs in model.asked if "truths" in inputs]
    assert len(asked) == 4
    assert "Truth 49" in "".join(asked)


def test_truths_that_were_not_read_leave_a_claim_unjudged() -> None:
    *_, found = judged(MANY, scripted("unsure", truths=TRUTHS), characters=500, rounds=1)
    assert found.failure is not None
    assert found.failure.kind == "not_read"


def test_a_truth_with_a_number_that_the_document_has_not_is_made_up() -> None:
    truths, *_ = judged(ANSWER, scripted("yes", truths=("It has 99 handles.", "Steam whistles.")))
    assert [fact.text for fact in truths.facts] == ["Steam whistles."]


def test_a_decision_that_no_truth_decides_is_none() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        found = scripted("yes", "yes", "unsure").answer(inputs)
        wanted = {"verdicts": verdicts_of(["yes", "yes", "unsure"], [7, 1, 0])}
        return wanted if "claims" in inputs else found

    found = judged(ANSWER, ScriptedModel(answer))
    assert verdicts(found) == [None, "yes", "unsure"]
    assert found[2].reason.endswith("(not in what was quoted: '1895')")


@pytest.mark.parametrize(
    ("label", "claim", "truth", "kept"),
    [
        pytest.param("no", "Nobody was hurt.", "Two workers died in the fire.", "no", id="denied"),
        pytest.param("yes", "Half of it burned.", "The fire took 50 % of it.", "yes", id="half"),
        pytest.param("yes", "It has 12 rooms.", "It has a dozen rooms.", "yes", id="a dozen"),
        pytest.param("yes", "It has 12 rooms.", "It has 18 rooms.", "unsure", id="other number"),
        pytest.param("no", "It has 12 rooms.", "It has 18 rooms.", "no", id="number denied"),
    ],
)
def test_a_verdict_by_a_truth_in_other_words_is_kept(
    label: str, claim: str, truth: str, kept: str
) -> None:
    answer = response((claim, ["k"]), documents={"k": truth})
    assert verdicts(judged(answer, scripted(label, truths=(truth,)))) == [kept]


def test_a_cascade_spares_the_model_what_words_can_decide() -> None:
    model = scripted("unsure", "unsure")
    found = judged(ANSWER, model, claims="rules", cascade=["lexical", "llm"])
    assert verdicts(found)[0] == "yes"
    assert sum(j.usage.spared for j in found) >= 1
    assert all(
        "Steam makes a kettle whistle." not in i["claims"] for i in model.asked if "claims" in i
    )


def test_where_words_decide_all_the_model_is_asked_nothing() -> None:
    model = scripted("unsure")
    whole = response(("Steam makes a kettle whistle.", ["k"]), documents={"k": KETTLE})
    found = judged(whole, model, claims="rules", cascade=["lexical", "llm"])
    assert ([j.label for j in found], model.asked) == (["TRUTHS", "yes"], [])


def test_an_abstention_is_not_perfect() -> None:
    found = judged(response(("I don't have that information.", []), documents={"k": KETTLE}))
    assert [j.label for j in found] == ["ABSTAINED"]
    assert set(scores(found).values()) == {None}


@pytest.mark.parametrize(
    ("wording", "verdict"),
    [
        pytest.param("yes", "yes", id="yes"),
        pytest.param('"Yes."', "yes", id="quoted"),
        pytest.param("**No**, it is not.", "no", id="no"),
        pytest.param("Unsure", "unsure", id="unsure"),
        pytest.param("Unsupported: yes is not said.", "unsure", id="unsupported"),
        pytest.param("Not really.", None, id="something else"),
        pytest.param("yesterday", None, id="a word that begins like it"),
        pytest.param(1, None, id="a number"),
    ],
)
def test_wording(wording: object, verdict: str | None) -> None:
    assert read_verdict(wording) == verdict


@pytest.mark.skipif(not CASES.is_file(), reason="the shared cases are not beside the checkout")
def test_wording_of_the_cases_is_yes_only_where_it_should() -> None:
    for line in CASES.read_text(encoding="utf-8").splitlines()[1:]:
        want, _, wording = line.partition("\t")
        assert (read_verdict(wording) == "yes") == (want == "YES"), wording
        assert (read_verdict(wording) in ("no", "unsure")) == (want == "NO"), wording


@pytest.mark.parametrize("offline", [True, False], ids=["offline", "model"])
def test_a_document_carried_without_text_states_nothing_and_shields_nothing(offline: bool) -> None:
    sentences = [(s.text, ["k", "z"]) for s in ANSWER.sentences]
    answer = response(*sentences, carried={"k": KETTLE, "z": "\u200b"})
    model = NO_MODEL if offline else scripted("yes", "no", "unsure")
    _, hollow, *claims = judged(answer, model)
    assert (hollow.label, hollow.facts) == ("TRUTHS", ())
    assert hollow.reason == "the run carries this document without text"
    assert verdicts(claims) == ["yes", "no", "unsure"]


@pytest.mark.parametrize(("cited", "label"), [(["k", "z"], None), (["k"], "unsure")])
def test_missing_text_leaves_open_claims_of_sentences_that_cite_it(
    cited: list[str], label: str | None
) -> None:
    answer = response(("Collectors admire it.", cited), documents={"k": KETTLE, "z": ""})
    assert verdicts(judged(answer, scripted("unsure"))) == verdicts(judged(answer)) == [label]

"""The attribution judge: the examples that define it, offline and with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.attribution import AttributionJudge, best_or_worst
from trecjudge.judging.claims.by_model import ATTRIBUTE
from trecjudge.judging.claims.importance import WEIGH
from trecjudge.models.model import Model, NoModel
from trecjudge.models.prompt import Prompts
from trecjudge.models.reading import Unparsed
from trecjudge.records import Claim, Document, Failure, Judgment, Response, Topic, WholeResponse

NO_MODEL = NoModel()
GITA = "The Bhagavad Gita is a Hindu scripture of 700 verses. It has 18 chapters."


def judged(answer: Response, model: Model = NO_MODEL, **settings: Any) -> list[Judgment]:
    item = WholeResponse.of(Topic("t1"), answer)
    return asyncio.run(AttributionJudge(**settings).judge(item, model))


def scores(answer: Response, judgments: list[Judgment]) -> dict[str, float | bool | None]:
    spec = AttributionJudge().measures
    return {m.name: m.compute(answer, judgments) for m in spec.measures}


def labels(judgments: list[Judgment]) -> list[str | None]:
    return [judgment.label for judgment in judgments if judgment.claim]


def test_four_of_six_claims_are_two_thirds() -> None:
    answer = response(
        ("Steam makes a kettle whistle. The kettle holds two litres.", ["k"]),
        ("The kettle is made of copper. It was sold in Lyon.", ["k"]),
        ("It won a prize in Turin. Collectors admire its handle.", ["k"]),
        documents={
            "k": "Steam makes a kettle whistle. The kettle holds two litres. The kettle is made"
            " of copper. It was sold in Lyon."
        },
    )
    found = judged(answer)
    assert labels(found) == ["ATTRIBUTED"] * 4 + ["UNATTRIBUTED"] * 2
    assert scores(answer, found)["ATTRIBUTION_RATE"] == pytest.approx(0.667, abs=5e-4)


def test_one_of_three_claims_of_a_sentence_is_a_third() -> None:
    sentence = (
        "The Bhagavad Gita has 18 chapters, was composed around 200 BCE, and teaches the path of"
        " dharma [1]."
    )
    answer = response((sentence, ["g"]), documents={"g": GITA})
    found = judged(answer)
    assert labels(found) == ["ATTRIBUTED", "UNATTRIBUTED", "UNATTRIBUTED"]
    assert scores(answer, found)["ATTRIBUTION_RATE"] == pytest.approx(0.333, abs=5e-4)


def test_expected_weights_are_kept_and_averaged() -> None:
    answer = response(
        ("The Bhagavad Gita has 18 chapters.", ["g"]),
        ("Copper conducts electricity.", ["g"]),
        documents={"g": GITA},
    )
    found = judged(answer)
    weights = [j.expected for j in found if j.claim]
    assert weights == [pytest.approx(0.8, abs=0.2), 0.0]
    mean = sum(weight or 0.0 for weight in weights) / 2
    assert scores(answer, found)["EXPECTED_ATTRIBUTION"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("label", "weight"), [("ATTRIBUTED", 1.0), ("AMBIGUOUS", 0.5), ("UNATTRIBUTED", 0.0)]
)
def test_without_probabilities_the_label_is_what_is_expected(label: str, weight: float) -> None:
    one = Judgment("r", "t1", claim=Claim(0, "A.", 0), label=label)
    assert scores(response(("A.", [])), [one])["EXPECTED_ATTRIBUTION"] == weight


def test_two_documents_combine() -> None:
    documents = {
        "a": "Alice works at Acme Robotics.",
        "b": "Acme Robotics has its office in Paris.",
    }
    found = judged(response(("Alice works in Paris.", ["a"]), documents=documents))
    assert (found[0].label, found[0].match) == ("ATTRIBUTED", "INFERENCE")
    assert [source.doc_id for source in found[0].sources] == ["a", "b"]


def test_another_number_contradicts() -> None:
    answer = response(("Add 3 cups of flour [1].", ["r"]), documents={"r": "Add 2 cups of flour."})
    found = judged(answer)
    assert labels(found) == ["CONTRADICTED"]
    assert scores(answer, found)["CONTRADICTION_RATE"] == 1.0


def test_a_true_fact_that_is_not_there_is_unattributed() -> None:
    answer = response(("Water boils at 100 degrees.", ["g"]), documents={"g": GITA})
    assert labels(judged(answer)) == ["UNATTRIBUTED"]


def test_precision_and_recall() -> None:
    facts = {
        "A": "Granite is igneous.",
        "B": "Marble is metamorphic.",
        "C": "Chalk is porous.",
        "D": "Slate splits easily.",
        "E": "Basalt covers Iceland.",
        "F": "Copper conducts electricity.",
        "G": "Tungsten melts late.",
    }
    answer = response(
        *((facts[name], ["c"]) for name in "ABFG"),
        documents={"c": " ".join(facts[name] for name in "ABCDE")},
    )
    found = scores(answer, judged(answer))
    assert (found["ATTRIBUTION_PRECISION"], found["ATTRIBUTION_RECALL"]) == (0.5, 0.4)


def test_all_documents_count_not_only_the_cited_ones() -> None:
    documents = {"cited": "Nothing.", "other": GITA}
    answer = response(("The Bhagavad Gita has 18 chapters.", ["cited"]), documents=documents)
    found = judged(answer)
    assert (found[0].label, found[0].doc_id) == ("ATTRIBUTED", "other")
    assert scores(answer, found)["DOCUMENT_COVERAGE"] == 0.5
    assert {j.doc_id: j.grade for j in found if not j.claim} == {"cited": 0, "other": 1}


def test_provenance_is_kept() -> None:
    answer = response(("The Bhagavad Gita has 18 chapters.", ["g"]), documents={"g": GITA})
    document = replace(
        answer.documents["g"], title="Gita", url="http://g", date="2024", version="2"
    )
    first, *_ = judged(replace(answer, documents={"g": document}))
    (source,) = first.sources
    assert (source.title, source.url, source.date, source.version) == (
        "Gita",
        "http://g",
        "2024",
        "2",
    )
    assert first.evidence is not None
    assert document.full_text[first.evidence.start : first.evidence.end] == first.evidence.quote


def test_without_document_text_claims_are_unjudged() -> None:
    native = replace(response(("It has 18 chapters. It is old.", ["g"])), documents_given=False)
    found = judged(native)
    assert [j.failure.kind for j in found if j.failure] == ["no_document_text"] * 2
    assert scores(native, found)["ATTRIBUTION_RATE"] is None


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        pytest.param(" ", "no_document_text", id="without text"),
        pytest.param("水壶会响。", "script", id="in another script"),
    ],
)
def test_what_cannot_be_read_leaves_open_claims_of_sentences_that_cite_it(
    other: str, kind: str
) -> None:
    sentences = ("It has 18 chapters. Copper conducts.", ["g", "x"]), ("Gold shines.", ["g"])
    found = judged(response(*sentences, documents={"g": GITA, "x": other}))
    assert labels(found) == ["ATTRIBUTED", None, "UNATTRIBUTED"]
    assert [j.label for j in found if not j.claim] == ["USED", None]
    assert [j.failure.kind for j in found if j.failure] == [kind] * 2


def test_where_no_document_has_text_every_claim_is_open() -> None:
    found = judged(response(("Copper conducts.", []), documents={"x": ""}))
    assert [j.failure.kind for j in found if j.failure] == ["no_document_text"] * 2


def test_a_document_carried_without_text_shields_no_claim() -> None:
    sentences = ("It has 18 chapters.", ["g"]), ("Copper conducts.", ["z"])
    found = judged(response(*sentences, carried={"g": GITA, "z": "", "y": "\u200b"}))
    assert labels(found) == ["ATTRIBUTED", "UNATTRIBUTED"]
    assert "carried without text: z" in found[1].reason
    unused = [(j.label, j.grade, j.reason) for j in found[3:]]
    assert unused == [("UNUSED", 0, "the run carries this document without text")] * 2


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("I don't have that information.", "ABSTAINED", id="abstains"),
        pytest.param("The sources are silent on the cost.", "ABSTAINED", id="silent sources"),
        pytest.param("Is it so?", "NO_CLAIMS", id="only a question"),
        pytest.param("", "NO_CLAIMS", id="empty"),
    ],
)
def test_a_response_without_claims_has_no_rate(text: str, label: str) -> None:
    answer = response((text, []))
    found = judged(answer)
    assert [j.label for j in found] == [label]
    values = scores(answer, found)
    assert set(values.values()) <= ({None} if text else {None, 0.0})
    assert values["ATTRIBUTION_RATE"] == (None if text else 0.0)


def claims_and_verdicts(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer as a model that knows its way: two claims, of which the text has one."""
    if "response" in inputs:
        return {
            "claims": [
                {"sentence": 0, "claim": "The Gita has 18 chapters.", "importance": "vital"},
                {"sentence": 7, "claim": "The Gita is loved.", "importance": "detail"},
                {"sentence": 0, "claim": "the gita has 18 CHAPTERS.", "importance": "vital"},
            ]
        }
    there = "18" in inputs["claim"]
    return {
        "verdict": "ATTRIBUTED" if there else "UNATTRIBUTED",
        "quotes": ["has 18 chapters"] if there else [],
        "match": "PARAPHRASE" if there else "NONE",
        "reason": "So.",
    }


def test_with_a_model() -> None:
    answer = response(("It has 18 chapters and is loved.", ["g"]), documents={"g": GITA})
    model = ScriptedModel(claims_and_verdicts)
    first, second, document = judged(answer, model)
    assert first.claim == Claim(0, "The Gita has 18 chapters.", 0, ("g",), 1.0)
    assert second.claim == Claim(1, "The Gita is loved.", 0, ("g",), 0.5)
    assert (first.label, first.match, first.attester) == ("ATTRIBUTED", "PARAPHRASE", "llm")
    assert model.asked[0] == {"response": "[0] It has 18 chapters and is loved."}
    found = scores(answer, [first, second, document])
    assert (found["ATTRIBUTION_RATE"], found["WEIGHTED_ATTRIBUTION"]) == (0.5, pytest.approx(2 / 3))


PARAPHRASE = response(("Holy text of the Hindus, in a dozen and a half parts.", []))


@pytest.mark.parametrize(
    ("verdict", "recall"),
    [
        pytest.param("ATTRIBUTED", 0.5, id="stated, since the model says so"),
        pytest.param("UNATTRIBUTED", 0.0, id="neither by the model nor by words"),
    ],
)
def test_recall_follows_the_model(verdict: str, recall: float) -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "response" in inputs:
            claim = {"sentence": 0, "claim": "The text has a dozen and a half parts."}
            return {"claims": [{**claim, "importance": "vital"}]}
        quotes = ["It has 18 chapters."] if verdict == "ATTRIBUTED" else []
        return {"verdict": verdict, "quotes": quotes, "match": "PARAPHRASE", "reason": "So."}

    text = replace(PARAPHRASE, documents={"g": Document("g", GITA)})
    found = scores(text, judged(text, ScriptedModel(answer)))
    assert found["ATTRIBUTION_RATE"] == float(verdict == "ATTRIBUTED")
    assert found["ATTRIBUTION_RECALL"] == recall


def test_silence_counts_0_and_an_abstention_nothing() -> None:
    silent = response(documents={"g": GITA})
    declined = replace(silent, abstained=True)
    ranked = [m.name for m in AttributionJudge().measures.measures if m.default is not None]
    found, other = (scores(answer, judged(answer)) for answer in (silent, declined))
    assert {name: found[name] for name in ranked} == dict.fromkeys(ranked, 0.0)
    assert set(other.values()) == {None}


def test_one_claim_that_fails_leaves_the_others() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if inputs.get("claim") == "The Gita is loved.":
            raise JudgmentFailed("transport", "reset")
        return claims_and_verdicts(inputs)

    both = response(("The Gita has 18 chapters and is loved.", ["g"]), documents={"g": GITA})
    found = judged(both, ScriptedModel(answer))
    assert [j.judged for j in found if j.claim] == [True, False]


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        pytest.param("ATTRIBUTED", "ATTRIBUTED", id="attributed"),
        pytest.param("UNATTRIBUTED", "UNATTRIBUTED", id="unattributed"),
        pytest.param("not ATTRIBUTED", None, id="not attributed"),
        pytest.param("UN-ATTRIBUTED", "UNATTRIBUTED", id="hyphen"),
        pytest.param("ATTRIBUTED or UNATTRIBUTED", None, id="both"),
        pytest.param("", None, id="empty"),
    ],
)
@pytest.mark.parametrize("form", ["schema", "chat"])
def test_unattributed_never_parses_as_attributed(word: str, verdict: str | None, form: Any) -> None:
    prompt = Prompts().get(ATTRIBUTE, form)
    reply = (
        f'{{"quotes": [], "reason": "", "match": "NONE", "verdict": "{word}"}}'
        if form == "schema"
        else "[[ ## quotes ## ]]\n[]\n[[ ## reason ## ]]\nSo.\n[[ ## match ## ]]\nNONE\n"
        f"[[ ## verdict ## ]]\n{word}\n[[ ## completed ## ]]"
    )
    if verdict is None:
        with pytest.raises(Unparsed):
            prompt.parse(reply)
    else:
        assert prompt.parse(reply)["verdict"] == verdict


def test_bounds_of_what_is_unjudged() -> None:
    failure, some = Failure("transport", "reset"), response(("A.", []))
    claim = Judgment("r", "t1", claim=Claim(0, "A.", 0), failure=failure)
    whole, document = (
        Judgment("r", "t1", failure=failure),
        Judgment("r", "t1", doc_id="d", failure=failure),
    )
    for judgment in (claim, whole):
        best, worst = best_or_worst(judgment, True), best_or_worst(judgment, False)
        assert [scores(some, [j])["ATTRIBUTION_RATE"] for j in (best, worst)] == [1.0, 0.0]
    recall = [
        scores(some, [best_or_worst(document, best)])["ATTRIBUTION_RECALL"]
        for best in (True, False)
    ]
    assert recall == [1.0, 0.0]


def test_a_failed_claim_leaves_open_which_documents_are_used() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if inputs.get("claim") == "The Gita is loved.":
            raise JudgmentFailed("transport", "reset")
        return claims_and_verdicts(inputs)

    text = "The Gita has 18 chapters and is loved."
    both = response((text, ["g"]), documents={"g": GITA, "other": "Nothing."})
    found = judged(both, ScriptedModel(answer))
    assert [(j.doc_id, j.grade, j.judged) for j in found if not j.claim] == [
        ("g", 1, True),
        ("other", None, False),
    ]


def test_every_document_that_has_a_claim_is_used() -> None:
    documents = {f"d{n}": "The army has 18 divisions." for n in range(5)}
    answer = response(("The army has 18 divisions.", []), documents=documents)
    assert scores(answer, judged(answer))["DOCUMENT_COVERAGE"] == 1.0


@pytest.mark.parametrize("text", ["Not enough information to answer.", "No passage is on this."])
def test_a_model_that_lists_no_claim_of_a_text_that_declines_is_believed(text: str) -> None:
    model = ScriptedModel(lambda inputs: {"claims": []})
    assert [j.label for j in judged(response((text, []), documents={"g": GITA}), model)] == [
        "ABSTAINED"
    ]


def test_what_a_model_makes_up_is_no_claim_of_the_response() -> None:
    made = {"sentence": 0, "claim": "Elephants are blue.", "importance": "vital"}
    model = ScriptedModel(lambda inputs: {"claims": [made]})
    with pytest.raises(JudgmentFailed, match="lists no claim of the response, rules find 1"):
        judged(response(("The army has 18 divisions.", []), documents={"g": GITA}), model)


def test_a_claim_made_twice_cites_what_either_cites() -> None:
    answer = response(
        ("It has 18 chapters.", []), ("It has 18 chapters.", ["g"]), documents={"g": GITA}
    )
    assert [j.claim.cited for j in judged(answer) if j.claim] == [("g",)]


def test_weights_of_a_file_weigh_the_rate(tmp_path: Path) -> None:
    rows = (
        '{"topic_id": "t1", "claim": "The Bhagavad Gita has 18 chapters.", "weight": 6}',
        '{"topic_id": "t1", "sentence_index": 1, "weight": 1.5}',
        '{"topic_id": "t1", "sentence_index": 2, "weight": 0}',
    )
    (tmp_path / "w.jsonl").write_text("\n".join(rows), encoding="utf-8")
    sentences = "The Bhagavad Gita has 18 chapters.", "Copper conducts.", "Gold shines."
    answer = response(*((text, ["g"]) for text in sentences), documents={"g": GITA})
    found = judged(answer, claim_weights=str(tmp_path / "w.jsonl"))
    assert [j.claim.importance for j in found if j.claim] == [6.0, 1.5, 0.0]
    values = scores(answer, found)
    assert values["WEIGHTED_ATTRIBUTION"] == pytest.approx(6 / 7.5)
    assert values["ATTRIBUTION_RATE"] == pytest.approx(1 / 3)


COPPER = ("The Bhagavad Gita has 18 chapters.", "Copper conducts.", "Gold shines.")


def weighed(*weights: float, sentences: tuple[str, ...] = COPPER) -> tuple[Any, ...]:
    """Return the answer, its judgments with weights by a model, and what the model was asked."""
    asked = ScriptedModel(lambda inputs: {"weights": list(weights)})
    if not weights:
        asked = failing("parse", "it does not parse")
    answer = response(*((text, ["g"]) for text in sentences), documents={"g": GITA})
    item = WholeResponse.of(Topic("t1", "Gita", "How long is it?"), answer)
    settings: Any = {"claims": "rules", "detector": "lexical", "claim_weights": "model"}
    return answer, asyncio.run(AttributionJudge(**settings).judge(item, asked)), asked.asked


def failing(kind: str, message: str) -> ScriptedModel:
    """Return a model of which every call fails."""

    def fail(inputs: Any) -> Any:
        raise JudgmentFailed(kind, message)

    return ScriptedModel(fail)


def test_a_model_weighs_all_claims_of_an_answer_in_one_call() -> None:
    answer, found, asked = weighed(6, 1.5, 0)
    assert [j.claim.importance for j in found if j.claim] == [6.0, 1.5, 0.0]
    assert scores(answer, found)["WEIGHTED_ATTRIBUTION"] == pytest.approx(6 / 7.5)
    assert asked == [{"question": "Gita\nHow long is it?", "claims": list(COPPER)}]


@pytest.mark.parametrize("weights", [(), (0, 0, 0)], ids=["no reply", "nothing weighs"])
def test_weights_that_are_not_known_leave_only_their_measure_open(weights: tuple[float]) -> None:
    answer, found, _ = weighed(*weights)
    (claimless,) = [j for j in found if j.failure]
    assert [j.claim.importance for j in found if j.claim] == [None] * 3
    values = scores(answer, found)
    assert values["WEIGHTED_ATTRIBUTION"] is None
    assert values["ATTRIBUTION_RATE"] == pytest.approx(1 / 3)
    assert claimless.attester == "weigh_claims" and claimless.claim is None
    for best in (True, False):
        whole = [j if j.judged else best_or_worst(j, best) for j in found]
        assert scores(answer, whole) == values | {"WEIGHTED_ATTRIBUTION": float(best)}


def test_for_a_single_claim_no_weight_is_asked_for() -> None:
    answer, found, asked = weighed(sentences=COPPER[:1])
    assert (asked, scores(answer, found)["WEIGHTED_ATTRIBUTION"]) == ([], 1.0)


def test_the_weights_of_an_unknown_topic_are_unjudged() -> None:
    answer = response(*((text, ["g"]) for text in COPPER), documents={"g": GITA})
    asked = ScriptedModel(lambda inputs: {"weights": [1, 1, 1]})
    settings: Any = {"claims": "rules", "detector": "lexical", "claim_weights": "model"}
    failures = [j.failure.kind for j in judged(answer, asked, **settings) if j.failure]
    assert (failures, asked.asked) == (["no_topic_text"], [])


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"weights": [3, 0.5]}', [3.0, 0.5]),
        ('{"weights": ["3", 0]}', [3.0, 0.0]),
        ('{"weights": [3]}', None),
        ('{"weights": [3, -1]}', None),
        ('{"weights": [3, 11]}', None),
        ('{"weights": [3, "high"]}', None),
        ('{"weights": [3, NaN]}', None),
        ("3, 1", None),
    ],
)
def test_weights_are_one_number_for_each_claim(reply: str, wanted: list[float] | None) -> None:
    prompt = Prompts().get(WEIGH, "schema")
    if wanted is None:
        with pytest.raises(Unparsed):
            prompt.parse(reply, 2)
    else:
        assert prompt.parse(reply, 2) == {"weights": wanted}
    sent = prompt.request["response_format"]["json_schema"]["schema"]["properties"]["weights"]
    assert (sent["type"], sent["items"]) == ("array", {"type": "number"})


def test_a_claim_has_the_probability_of_its_verdict_where_it_is_calibrated() -> None:
    sentences = (
        "The Bhagavad Gita has 18 chapters.",
        "The Gita has chapters on gold.",
        "Add 3 cups of flour.",
    )
    documents = {"g": GITA, "r": "Add 2 cups of flour."}
    found = judged(response(*((text, ["g"]) for text in sentences), documents=documents))
    claims = [(j.label, j.confidence, j.expected) for j in found if j.claim]
    attributed, unattributed, contradicted = claims
    about = pytest.approx(0.93, abs=0.05)
    assert attributed == ("ATTRIBUTED", about, about)
    assert unattributed[0] == "UNATTRIBUTED"
    assert unattributed[1] is not None
    assert unattributed[1] > 0.5
    assert contradicted == ("CONTRADICTED", None, 0.0)
    persian = response(("این شهر بزرگ است.", ["g"]), documents={"g": "این شهر بزرگ است."})
    assert [j.confidence for j in judged(persian) if j.claim] == [None]
    by_overlap = judged(response((sentences[0], ["g"]), documents={"g": GITA}), overlap=0.7)
    assert by_overlap[0].confidence is None


def test_bands_of_the_rate_are_those_of_the_literature() -> None:
    (rate,) = (m for m in AttributionJudge().measures.measures if m.name == "ATTRIBUTION_RATE")
    values = (1.0, 0.95, 0.9499999, 0.9499, 0.85, 0.84, 0.7, 0.6999, 0.0)
    names = "excellent excellent excellent good good fair fair poor poor".split()  # noqa: SIM905
    assert [rate.band(value) for value in values] == names

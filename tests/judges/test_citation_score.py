"""The citation score: each axis by hand, what is unjudged, the weights, and a whole job."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import ROOT, command, judge, sample
from tests.endpoint import Answer, attestation, serving
from tests.fakes import ScriptedModel, always, judgment, response
from trecjudge.errors import JudgmentFailed, WorkflowError
from trecjudge.judges.citation_score import CitationScoreJudge, best_or_worst
from trecjudge.judging.judge import make_judge
from trecjudge.models.model import Model, NoModel
from trecjudge.records import Citation, Failure, Judgment, Response, Topic

# Each word is a keyword: none is frequent in the shipped table.
WHISTLE = "Zorblat kettle whistles."
FERRY = "Ferry sailed 1500000 crowns."
TOPIC = Topic("t1", "kettle whistles", "ferry", "vineyard")
NO_MODEL = NoModel()
Cited = tuple[str, list[str]]


def judged(
    answer: Response, topic: Topic = TOPIC, model: Model = NO_MODEL, **settings: object
) -> list[Judgment]:
    own = CitationScoreJudge(**settings)  # type: ignore[arg-type]
    (item,) = own.pool(topic, answer)
    return asyncio.run(own.judge(item, model))


def scores(
    sentences: list[Cited], documents: dict[str, str], topic: Topic = TOPIC, **settings: object
) -> list[float | bool | None]:
    answer = response(*sentences, documents=documents)
    found = judged(answer, topic, **settings)
    return measured(found, **settings)


def measured(judgments: list[Judgment], **settings: object) -> list[float | bool | None]:
    """Return CITATION_SCORE, FAITHFULNESS, COVERAGE, REDUNDANCY."""
    spec = CitationScoreJudge(**settings).measures  # type: ignore[arg-type]
    return [measure.compute(response(), judgments) for measure in spec.measures]


@pytest.mark.parametrize(
    ("sentences", "faithfulness"),
    [
        pytest.param([("Kettle whistles.", ["w"])], 1.0, id="all keywords cited"),
        pytest.param([("Kettle explodes.", ["w"])], 0.5, id="one of two"),
        pytest.param([("The kettle is what whistles.", ["w"])], 1.0, id="function words aside"),
        pytest.param([("Vineyard.", ["w"])], 0.0, id="none"),
        pytest.param([("Kettle ferry.", ["w", "f"])], 1.0, id="two documents together"),
        pytest.param([("Kettle ferry.", ["w", "gone"])], 0.5, id="one citation unresolved"),
        pytest.param([("Kettle.", ["w"]), ("Kettle.", ["gone"])], 0.5, id="unresolved claim is 0"),
        pytest.param([("Kettle.", ["w"]), ("Kettle.", [])], 0.5, id="uncited claim is 0"),
        pytest.param([("Kettle.", ["w"]), ("And it is.", [])], 1.0, id="nothing is claimed"),
        pytest.param([("And it is.", ["w"])], 0.0, id="nothing is claimed at all"),
        pytest.param([("1.5 million crowns.", ["f"])], 1.0, id="a number written otherwise"),
        pytest.param([("Kettle never whistles.", ["w"])], 2 / 3, id="a negation is one keyword"),
        pytest.param([("Kettle whistles [1].", ["w"])], 1.0, id="citation mark is no number"),
    ],
)
def test_faithfulness(sentences: list[Cited], faithfulness: float) -> None:
    found = scores(sentences, {"w": WHISTLE, "f": FERRY})
    assert found[1] == pytest.approx(faithfulness)


def test_a_number_written_out_in_the_claim_is_found_in_words() -> None:
    assert scores([("1,500,000", ["d"])], {"d": "It cost 1.5 million."})[1] == 1.0


def test_uncited_sentences_may_be_left_out() -> None:
    sentences = [("Kettle.", ["w"]), ("Kettle.", []), ("Kettle.", ["gone"])]
    assert scores(sentences, {"w": WHISTLE}, uncited="skip")[1] == 0.5


@pytest.mark.parametrize(
    ("cited", "coverage"),
    [
        pytest.param(["w"], 0.5, id="two of four terms"),
        pytest.param(["w", "f"], 0.75, id="two documents together"),
        pytest.param(["w", "f", "v"], 1.0, id="all"),
        pytest.param(["x"], 0.0, id="none"),
    ],
)
def test_coverage(cited: list[str], coverage: float) -> None:
    documents = {"w": WHISTLE, "f": FERRY, "v": "Vineyards.", "x": "Brandok."}
    assert scores([("Kettle.", cited)], documents)[2] == coverage


@pytest.mark.parametrize(
    ("documents", "redundancy"),
    [
        pytest.param({"a": WHISTLE}, 0.0, id="one passage"),
        pytest.param({"a": WHISTLE, "b": WHISTLE}, 1.0, id="identical"),
        pytest.param({"a": WHISTLE, "b": FERRY}, 0.0, id="disjoint"),
        pytest.param({"a": WHISTLE, "b": WHISTLE, "c": FERRY}, 1 / 3, id="one pair of three"),
        pytest.param({"a": "Zorblat quimpo", "b": "Zorblat vextil"}, 0.5, id="half"),
        pytest.param({"a": "东京湾", "b": "东京塔"}, 0.5, id="half, in Chinese"),
    ],
)
def test_redundancy(documents: dict[str, str], redundancy: float) -> None:
    sentences = [("Kettle.", [*documents]), ("Kettle again.", [*documents])]
    assert scores(sentences, documents)[3] == pytest.approx(redundancy)


def test_a_document_that_is_not_cited_bears_on_nothing() -> None:
    cited = [("Kettle.", ["w"])]
    by_itself = scores(cited, {"w": WHISTLE})
    assert scores(cited, {"w": WHISTLE, "copy": WHISTLE, "f": FERRY}) == by_itself


def test_chinese() -> None:
    topic = Topic("t1", "东京湾")
    # 东京, 京湾 of the claim are cited; of 京塔 nothing is.
    assert scores([("东京湾", ["d"]), ("东京塔", ["d"])], {"d": "东京湾的船"}, topic) == [
        pytest.approx(0.4 * 0.75 + 0.4 + 0.2),
        0.75,
        1.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("settings", "score"),
    [
        pytest.param({}, 0.4 * 0.75 + 0.4 * 0.5 + 0.2 * 0.0, id="default"),
        pytest.param({"faithfulness": 1, "coverage": 0, "redundancy": 0}, 0.75, id="F"),
        pytest.param({"faithfulness": 0, "coverage": 1, "redundancy": 0}, 0.5, id="C"),
        pytest.param({"faithfulness": 0, "coverage": 0, "redundancy": 1}, 0.0, id="1 - R"),
        pytest.param({"faithfulness": 0.2, "coverage": 0.3, "redundancy": 0.5}, 0.3, id="mixed"),
    ],
)
def test_score_is_the_weighted_sum(settings: dict[str, object], score: float) -> None:
    sentences = [("Kettle.", ["a", "b"]), ("Kettle explodes.", ["a"])]
    found = scores(sentences, {"a": WHISTLE, "b": WHISTLE}, **settings)
    assert found == [pytest.approx(score), 0.75, 0.5, 1.0]


@pytest.mark.parametrize(
    "weights",
    [
        pytest.param({"faithfulness": 0.5}, id="sum 1.1"),
        pytest.param({"faithfulness": 1.2, "coverage": -0.4}, id="below 0"),
        pytest.param({"faithfulness": float("nan")}, id="nan"),
        pytest.param({"faithfulness": float("inf")}, id="inf"),
        pytest.param({"redundancy": 0.2000001}, id="off by 1e-7"),
    ],
)
def test_weights_that_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(WorkflowError, match=r"none below 0, 1 together|not a number"):
        make_judge("citation_score", weights)


def test_thirds_are_weights() -> None:
    make_judge("citation_score", dict.fromkeys(("faithfulness", "coverage", "redundancy"), 1 / 3))


@pytest.mark.parametrize(
    "sentences",
    [
        pytest.param([], id="no sentence"),
        pytest.param([("Kettle whistles.", [])], id="uncited answer"),
        pytest.param([("Kettle whistles.", ["gone", "lost"])], id="unresolved citations"),
    ],
)
def test_nothing_cited_that_is_there_is_zero_on_every_axis(sentences: list[Cited]) -> None:
    assert scores(sentences, {"w": WHISTLE}) == [0.0, 0.0, 0.0, 0.0]


def kinds(judgments: list[Judgment]) -> list[str]:
    return [j.failure.kind if j.failure else "" for j in judgments]


def test_without_any_document_text_a_citing_answer_is_unjudged() -> None:
    found = judged(replace(response(("Kettle.", ["w"])), documents_given=False))
    assert kinds(found) == ["no_document_text"] * 3
    assert measured(found) == [None] * 4


def test_without_any_document_text_an_uncited_answer_is_zero() -> None:
    unresolvable = response(("Kettle.", []))
    sentence = replace(unresolvable.sentences[0], citations=(Citation(None, "99"),))
    answer = replace(unresolvable, sentences=(sentence,), documents_given=False)
    assert measured(judged(answer)) == [0.0] * 4


def test_unjudged() -> None:
    cases = {
        "empty document": ([("Kettle.", ["e"])], {"e": " "}, TOPIC, ["no_document_text"] * 3),
        "topic": ([("Kettle.", ["w"])], {"w": WHISTLE}, Topic("t1"), ["", "no_topic_text", ""]),
        "script": ([("Kettle.", ["z"])], {"z": "东京湾"}, TOPIC, ["script", "script", ""]),
        "an uncited claim does not speak for one that could not be read": (
            [("Kettle.", ["e"]), ("Ferry.", [])],
            {"e": "", "w": WHISTLE},
            TOPIC,
            ["no_document_text"] * 3,
        ),
        "one claim of two": (
            [("Kettle.", ["z"]), ("Ferry.", ["w"])],
            {"z": "东京湾", "w": WHISTLE},
            TOPIC,
            ["", "", ""],
        ),
    }
    wrong = {
        name: found
        for name, (sentences, documents, topic, expected) in cases.items()
        if (found := kinds(judged(response(*sentences, documents=documents), topic))) != expected
    }
    assert not wrong


def test_a_claim_that_cannot_be_compared_is_left_out() -> None:
    sentences = [("Kettle.", ["z"]), ("Kettle.", ["e"]), ("Kettle explodes.", ["w"])]
    answer = response(*sentences, documents={"z": "东京湾", "e": "", "w": WHISTLE})
    first = judged(answer)[0]
    expected = "claims compared: 1; with nothing cited: 0; left out: 2"
    assert (first.value, first.reason) == (0.5, expected)


def test_reasons() -> None:
    found = judged(response(("Kettle.", ["w"]), ("Ferry.", []), documents={"w": WHISTLE}))
    assert [(j.label, j.exists, j.reason) for j in found] == [
        ("FAITHFULNESS", True, "claims compared: 1; with nothing cited: 1"),
        ("COVERAGE", True, "2 of 4 topic terms; missing: 'ferry', 'vineyard'"),
        ("REDUNDANCY", True, "cited passages: 1"),
    ]


@pytest.mark.parametrize(
    ("known", "lowest", "highest"),
    [
        pytest.param([], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], id="all unjudged"),
        pytest.param(
            [("FAITHFULNESS", 0.5), ("REDUNDANCY", 0.25)],
            [0.35, 0.5, 0.0, 0.25],
            [0.75, 0.5, 1.0, 0.25],
            id="only coverage",
        ),
    ],
)
def test_bounds(known: list[tuple[str, float]], lowest: list[float], highest: list[float]) -> None:
    failed = judgment(failure=Failure("no_topic_text", ""))
    axes = [judgment(label, value=value) for label, value in known]
    for best, bound in ((False, lowest), (True, highest)):
        assert measured([*axes, best_or_worst(failed, best)]) == pytest.approx(bound)


def test_no_model_is_asked() -> None:
    model = always("full_support")
    answer = response(("Kettle.", ["w"]), documents={"w": WHISTLE})
    assert (judged(answer, model=model), model.asked) == (judged(answer), [])


RUN = {
    "metadata": {"team_id": "tx", "run_id": "r", "topic_id": "1", "narrative": "kettle"},
    "responses": [{"text": "A kettle whistles.", "citations": ["k"]}],
    "documents": {"k": {"text": "Kettle explodes."}},
}


@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
def test_sample_data_and_rescore(dataset: str, tmp_path: Path) -> None:
    flow = ("--workflow", ROOT / f"workflows/citation_score_{dataset}.yml", "--no-check")
    done = sample(dataset, tmp_path, *flow, "--json")
    runs = [run["run_id"] for run in json.loads(done.out)["runs"]]
    written = (tmp_path / "x.leaderboard.txt").read_bytes()
    assert runs[0] == "careful"
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q").status == done.status
    assert (tmp_path / "x.leaderboard.txt").read_bytes() == written


def test_beside_another_judge(tmp_path: Path) -> None:
    runs = tmp_path / "r.jsonl"
    runs.write_text(json.dumps(RUN))
    done = judge(runs, tmp_path / "out", "--also", "citation_score", "-q")
    rows = (tmp_path / "out/x.leaderboard.txt").read_text().splitlines()
    found = {m: value for _, t, m, value in (r.split("\t") for r in rows) if t == "all"}
    assert done.status == 0
    assert found["CITATION_ACCURACY"] == "1.000000"
    assert found["FAITHFULNESS"] == "0.500000"


def test_wrong_weights_stop_the_job_before_anything_is_read(tmp_path: Path) -> None:
    done = judge(tmp_path, tmp_path / "out", "--judge", "citation_score", "--set", "faithfulness=1")
    assert (done.status, "none below 0, 1 together" in done.err) == (1, True)
    assert not (tmp_path / "out").exists()


def test_shipped_workflow_has_the_defaults(tmp_path: Path) -> None:
    runs = tmp_path / "r.jsonl"
    runs.write_text(json.dumps(RUN))
    one, two = tmp_path / "one", tmp_path / "two"
    judge(runs, one, "--workflow", ROOT / "workflows/citation_score.yml", "-q")
    judge(runs, two, "--judge", "citation_score", "-q")
    name = "x.leaderboard.txt"
    assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        pytest.param([("Kettle.", ["e"])], [0.0] * 4, id="nothing else is cited"),
        pytest.param([("Kettle whistles.", ["w", "e"])], [0.8, 1.0, 0.5, 0.0], id="one beside it"),
        pytest.param(
            [("Kettle.", ["w"]), ("Kettle.", ["e"])], [0.6, 0.5, 0.5, 0.0], id="a claim of its own"
        ),
    ],
)
def test_what_is_carried_without_text_counts_as_nothing(
    sentences: list[Cited], expected: list[float]
) -> None:
    answer = response(*sentences, carried={"w": WHISTLE, "e": " "})
    assert measured(judged(answer)) == pytest.approx(expected)


def test_what_is_carried_without_text_makes_copies_no_less_redundant() -> None:
    copies = {"w": WHISTLE, "x": WHISTLE}
    by_itself = measured(judged(response(("Kettle.", ["w", "x"]), carried=copies)))
    beside = response(("Kettle.", ["w", "x", "e"]), carried=copies | {"e": ""})
    assert measured(judged(beside)) == by_itself


@pytest.mark.parametrize(
    ("question", "documents", "coverage"),
    [
        pytest.param("Why do kettles whistle?", {"w": WHISTLE}, 1.0, id="why"),
        pytest.param("How many kettles, and which whistles?", {"w": WHISTLE}, 1.0, id="how many"),
        pytest.param("What does the WHO say?", {"w": WHISTLE}, 0.0, id="what is no word of WHO"),
        pytest.param("Сколько стоит чайник?", {"w": "Чайник стоит рубль."}, 1.0, id="Russian"),
        pytest.param("为什么水壶？", {"w": "水壶"}, 1.0, id="Chinese"),
        pytest.param("Why?", {"w": WHISTLE}, 0.0, id="nothing else is asked"),
    ],
)
def test_words_that_ask_are_no_topic_terms(
    question: str, documents: dict[str, str], coverage: float
) -> None:
    text = next(iter(documents.values()))
    assert scores([(text, ["w"])], documents, Topic("t1", question))[2] == coverage


def reply_of(label: str) -> dict[str, str]:
    """Return the fields of a reply; without a label none could be read."""
    if not label:
        raise JudgmentFailed("parse", "no label")
    return {"label": label, "evidence": ""}


def support_of(*labels: str) -> list[Judgment]:
    """Judge three claims with a model that gives labels in turn: two citations, one, and none."""
    answer = response(
        ("Kettle whistles.", ["w", "f"]), ("Ferry.", ["f"]), ("And it is.", ["f"]), ("Kettle.", []),
        documents={"w": WHISTLE, "f": FERRY},
    )  # fmt: skip
    given = map(reply_of, labels)
    model = ScriptedModel(lambda inputs: next(given))
    found = judged(answer, model=model, attester="llm")
    assert len(model.asked) == 3
    return found


def test_faithfulness_by_a_model() -> None:
    full = support_of("partial_support", "full_support", "partial_support")
    assert full[0].value == pytest.approx((1 + 0.5 + 0) / 3)
    assert (full[0].attester, full[0].reason) == (
        "llm", "claims compared: 2; with nothing cited: 1",
    )  # fmt: skip
    assert measured(full, attester="llm")[0] == pytest.approx(
        0.4 * 0.5 + 0.4 * full[1].value + 0.2 * (1 - full[2].value)  # type: ignore[operator]
    )


def test_a_reply_that_cannot_be_read_leaves_faithfulness_unjudged_and_no_other_axis() -> None:
    found = support_of("full_support", "partial_support", "")
    assert kinds(found) == ["parse", "", ""]
    assert measured(found)[0] is None


def test_a_claim_that_one_document_supports_in_full_is_decided() -> None:
    found = support_of("full_support", "", "no_support")
    assert found[0].value == pytest.approx(1 / 3)


def test_the_model_is_not_asked_about_documents_without_text() -> None:
    answer = response(("Kettle.", ["e"]), ("Ferry.", ["w"]), documents={"w": WHISTLE, "e": " "})
    model = always("full_support")
    first = judged(answer, model=model, attester="llm")[0]
    assert first.reason == "claims compared: 1; with nothing cited: 0; left out: 1"
    assert len(model.asked) == 1


def test_the_question_is_that_of_the_citation_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "r.jsonl"
    runs.write_text(json.dumps(RUN))
    flags = ("--set", "citation_score.attester=llm", "--use-env-llm", "--json", "--also")
    with serving(lambda body, number: Answer(attestation(body)), monkeypatch):
        done = judge(runs, tmp_path / "out", *flags, "citation_score")
    calls = json.loads(done.out)["calls"]
    assert (calls["calls"], calls["saved"] + calls["cached"]) == (1, 1)


def test_kinds_of_question_and_missing_words_are_told(tmp_path: Path) -> None:
    topics, runs = tmp_path / "topics.jsonl", tmp_path / "r.jsonl"
    said = [("1", "Why does the vineyard ripen?", ""), ("2", "Kettle", "definition")]
    topics.write_text(
        "".join(
            json.dumps({"topic_id": i, "title": title, "question_type": kind}) + "\n"
            for i, title, kind in said
        )
    )
    records = [{**RUN, "metadata": {"team_id": "x", "run_id": "r", "topic_id": n}} for n in "12"]
    runs.write_text("".join(json.dumps(record) + "\n" for record in records))
    flags = ("--judge", "citation_score", "--rag-topics", topics, "--report")
    done = judge(runs, tmp_path / "out", *flags)
    lines = [
        "responses whose documents lack half of the topic's words, by kind of question: why 1 of 1",
        "words of topics that are lacking, by responses: ripen 1, vineyard 1",
    ]
    page = (tmp_path / "out/x.report.html").read_text().replace("&#39;", "'")
    assert all(line in " ".join(done.out.split()) and line in page for line in lines)
    judgments = (tmp_path / "out/x.judgments.jsonl").read_text()
    assert '"question":"why","missing":["vineyard","ripen"]' in judgments
    assert '"question":"definition"' in judgments
    once = (tmp_path / "out/x.judgments.jsonl").read_bytes()
    again = command("job", "rescore", tmp_path / "out/x.judgments.jsonl")
    assert lines[0] in " ".join(again.out.split())
    assert (tmp_path / "out/x.judgments.jsonl").read_bytes() == once

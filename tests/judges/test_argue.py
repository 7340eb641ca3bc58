"""The argue judge: what it asks, what replies decide, and its measures."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.endpoint import Answer, attestation, serving
from tests.fakes import ScriptedModel, response
from tests.reading import documents_of
from trecjudge.errors import JudgmentFailed, WorkflowError
from trecjudge.inputs.nuggets.bank_files import read_banks, write_banks
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.topics import read_topics
from trecjudge.judges.argue import ArgueJudge
from trecjudge.judges.argue.program import Stated
from trecjudge.judges.argue.scoring import harmonic_mean, value_of_sums
from trecjudge.judging.judge import make_judge
from trecjudge.judging.nuggets import Matches
from trecjudge.judging.panel import NamedJudge, panel_spec
from trecjudge.judging.runner import JudgedResponse, Runner
from trecjudge.measures import aggregate
from trecjudge.models.model import Model, NoModel
from trecjudge.records import GoldAnswer, Judgment, Nugget, Response, Topic
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.response_scores import Score

Fails = Callable[[Mapping[str, Any]], bool]
DATA = Path(__file__).parent / "argue"
DECISIONS = json.loads((DATA / "decisions.json").read_text())
TOPICS = ("901", "902", "903")
_DOCUMENTS = [json.loads(line) for line in (DATA / "documents.jsonl").read_text().splitlines()]
_ID_OF = {f"{d['title']}\n{d['text']}": d["docid"] for d in _DOCUMENTS}


def expected(name: str) -> dict[str, Any]:
    """Return a file of expected values."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return found


def scripted(fails: Fails = lambda inputs: False) -> ScriptedModel:
    """Return a model that decides as the script says; what is not listed is no.

    Where `fails` says so, its reply cannot be read.
    """

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if fails(inputs):
            raise JudgmentFailed("parse", "unreadable")
        return _answer(inputs)

    return ScriptedModel(answer)


def _answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    sentence = inputs["sentence"]
    if "document" in inputs:
        attested = [sentence, _ID_OF[inputs["document"]]] in DECISIONS["attested"]
        return {"label": "full_support" if attested else "no_support", "evidence": ""}
    if "earlier" in inputs:
        return {
            "negative": sentence in DECISIONS["negative"],
            "needs_citation": sentence in DECISIONS["requires_citation"],
            "first": sentence not in DECISIONS["not_first"],
        }
    return {"stated": [_stated(sentence, *q) for q in enumerate(inputs["questions"], 1)]}


def _stated(sentence: str, number: int, question: str) -> Stated:
    text, _, listed = question.partition(" (1) ")
    answers = [answer.partition(") ")[2] or answer for answer in f"1) {listed}".split("; (")]
    own = [i for i, a in enumerate(answers, 1) if [sentence, text, a] in DECISIONS["nugget"]]
    confirms = [sentence, text] in DECISIONS["confirms_unanswerable"]
    return Stated(number=number, reason="So.", answers=[1] if confirms else own)


def pairs(bank: Path, runs: Sequence[str]) -> list[tuple[Topic, Response]]:
    """Return the responses of runs with their topics and nuggets."""
    banks = read_banks([bank], lambda finding: None)
    topics = {
        topic_id: replace(topic, nuggets=banks[topic_id].nuggets)
        for topic_id, topic in read_topics(DATA / "topics.jsonl", lambda finding: None).items()
    }
    store = documents_of([DATA / "documents.jsonl"], DATA, lambda finding: None)
    files = [DATA / "runs" / f"{run}.jsonl" for run in runs]
    reader = RunReader(files, lambda finding: None, store=store, dataset="ragtime")
    return [(topics[response.topic_id], response) for _, response in reader]


def judged(
    judge: ArgueJudge, model: Model, given: Sequence[tuple[Topic, Response]]
) -> list[JudgedResponse]:
    """Return the responses judged."""

    async def collect() -> list[JudgedResponse]:
        panel = [NamedJudge("argue", judge)]
        return [found async for found in Runner(panel, model).run(given)]

    return asyncio.run(collect())


def board(
    judge: ArgueJudge, found: Sequence[JudgedResponse], topics: Sequence[str] | None = TOPICS
) -> Leaderboard:
    """Return the finished leaderboard of judged responses."""
    spec = panel_spec([NamedJudge("argue", judge)])
    made = Leaderboard(spec, topics)
    for each in found:
        made.add(each.response, [replace(j, judge="argue") for j in each.judgments])
    made.finish()
    return made


RUNS = ("careful", "broad", "uncited")
MATCHES: tuple[Matches, ...] = ("linked", "attested", "any_text")
REFERENCE = expected("argue.expected")
COUNTS = {
    "SENTENCE_SUPPORT_MICRO": ("correctly_cited", "sentences_counted"),
    "CITATION_SUPPORT_MICRO": ("supporting", "citations"),
    "CITATION_RELEVANCE_MICRO": ("relevant", "citations"),
    "NUGGET_COVERAGE_MICRO": ("correct_nuggets", "nuggets"),
    "NUGGET_COVERAGE_WEIGHTED_MICRO": ("correct_nuggets_weighted", "nuggets_weighted"),
}
RATES = (
    *("sentence_support", "citation_support", "citation_relevance", "nugget_coverage"),
    *("nugget_coverage_weighted", "f1", "f1_weighted"),
)


@cache
def scored(matches: Matches, bank: str = "nuggets.v3.jsonl") -> Leaderboard:
    """Return the leaderboard of all runs by the scripted decisions."""
    judge = ArgueJudge(matches=matches)
    return board(judge, judged(judge, scripted(), pairs(DATA / bank, RUNS)))


@pytest.mark.parametrize("matches", MATCHES)
@pytest.mark.parametrize("run", RUNS)
def test_every_count_and_rate_of_a_topic_is_the_reference(run: str, matches: Matches) -> None:
    for topic, wanted in REFERENCE[run][matches]["per_topic"].items():
        found = scored(matches).scores[run][topic]
        for rate in RATES:
            value = found[rate.upper()].value
            assert value == pytest.approx(wanted[rate], abs=1e-9), (topic, rate)
        for measure, names in COUNTS.items():
            sums = found[measure].sums
            assert sums is not None and sums[0] == tuple(wanted[name] for name in names)


@pytest.mark.parametrize("matches", MATCHES)
@pytest.mark.parametrize("run", RUNS)
def test_macro_and_micro_are_the_reference_with_missing_topics_as_0(
    run: str, matches: Matches
) -> None:
    made = scored(matches)
    means = {m.name: made.mean(run, m).mean for m in made.spec.measures}
    for name, wanted in REFERENCE[run][matches]["all"]["missing_topics_are_0"].items():
        column = name.upper().removesuffix("_MACRO")
        assert means[column] == pytest.approx(wanted, abs=1e-9), name


@pytest.mark.parametrize("matches", MATCHES)
def test_over_the_topics_that_a_run_answered(matches: Matches) -> None:
    judge = ArgueJudge(matches=matches)
    found = judged(judge, scripted(), pairs(DATA / "nuggets.v3.jsonl", ["uncited"]))
    made = board(judge, found, topics=None)
    means = {m.name: made.mean("uncited", m).mean for m in made.spec.measures}
    for name, wanted in REFERENCE["uncited"][matches]["all"]["answered_topics"].items():
        column = name.upper().removesuffix("_MACRO")
        assert means[column] == pytest.approx(wanted, abs=1e-9), name


@pytest.mark.parametrize("run", RUNS)
def test_every_sentence_takes_the_path_of_the_reference(run: str) -> None:
    judge = ArgueJudge()
    wanted = REFERENCE[run]["argue_outcomes"]
    for each in judged(judge, scripted(), pairs(DATA / "nuggets.v3.jsonl", [run])):
        outcomes = [
            path.outcome + (f" {len(path.nuggets)}" if path.outcome == "reward" else "")
            for path in judge.paths(each.response, each.judgments)
        ]
        assert outcomes == [steps[-1] for steps in wanted[each.response.topic_id]]


# Where the predecessor of Auto-ARGUE is known to be wrong: its value, and what is right.
RIGHT = {
    ("broad", "903", "precision"): (1.0, 0.5),  # it ignores a sentence with a made-up source
    ("careful", "902", "precision"): (2 / 3, 1.0),  # it knows no question without an answer
}


@pytest.mark.parametrize("run", RUNS)
def test_precision_and_recall_of_argue_2024(run: str) -> None:
    for topic, answer in expected("report_gen_eval")[run].items():
        found = scored("attested").scores[run][topic]
        for name in ("precision", "recall"):
            theirs = answer["metrics"][name]
            known, right = RIGHT.get((run, topic, name), (theirs, theirs))
            assert theirs == pytest.approx(known, abs=1e-9)
            value = found[f"ARGUE_{name.upper()}"].value
            assert value == pytest.approx(right, abs=1e-9), (topic, name)


def test_the_published_rates_of_auto_argue_come_of_its_counts() -> None:
    example = expected("auto_argue_public_example")
    rows = list(example["rows"].values())
    shares = {"sentence_support": (1, 0), "citation_support": (3, 2), "nugget_coverage": (5, 4)}
    found: dict[str, float | None] = {}
    for name, (part, whole) in shares.items():
        values = [value_of_sums((row[part], row[whole])) or 0.0 for row in rows]
        found[f"{name}_macro"] = aggregate("mean_of_floats", values)
        found[f"{name}_micro"] = value_of_sums((_sum(rows, part), _sum(rows, whole)))
    f1 = [harmonic_mean(row[1] / row[0], row[5] / row[4]) for row in rows]
    found["f1_macro"] = aggregate("mean_of_floats", f1)
    found["f1_micro"] = value_of_sums(tuple(_sum(rows, i) for i in (1, 0, 5, 4)))
    assert found == {k: pytest.approx(v, abs=1e-12) for k, v in example["published"].items()}


def _sum(rows: list[list[int]], column: int) -> float:
    return math.fsum(row[column] for row in rows)


@pytest.mark.parametrize(
    ("format_", "name"),
    [
        ("", "nuggets.ragtime26.jsonl"),
        ("autoargue", "folder"),
        ("ragtime26", "folder"),
        ("neuclir24", "b.jsonl"),
    ],
)
def test_the_same_bank_in_another_format_gives_the_same(
    format_: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name if format_ else DATA / name
    if format_:
        banks = read_banks([DATA / "nuggets.v3.jsonl"], lambda finding: None)
        write_banks(banks.values(), path, bank_format_named(format_))
    for matches in MATCHES:
        judge = ArgueJudge(matches=matches)
        rows = board(judge, judged(judge, scripted(), pairs(path, RUNS))).rows()
        assert list(rows) == list(scored(matches).rows())


def test_a_bank_that_does_not_say_and_asks_for_one_answer_only() -> None:
    stated = {
        bank: scored("any_text", bank).scores["broad"]["901"]["NUGGET_COVERAGE"].value
        for bank in ("nuggets.v3.jsonl", "nuggets.2024.jsonl")
    }
    assert list(stated.values()) == [0.5, 0.75]  # the lamp burned colza oil, and two more


WRONG_BY_WORDS = {
    # Paraphrase: no word, or no number, of the answer is in the sentence.
    ("The last keeper left in 1983.", "When did the last keeper leave? in the early 1980s"),
    ("Nobody has kept the light since 1983.", "When did the last keeper leave? 1983"),
    ("A berth costs 41 crowns and dogs travel free.", "May dogs travel? free of charge"),
    # The answer is there, and no word of its question.
    ("Its height is 34 metres.", "How high is the tower? 34 metres"),
}


def test_by_words_few_decisions_differ_from_the_script() -> None:
    given = pairs(DATA / "nuggets.v3.jsonl", RUNS)
    found = {
        model.available: {
            ((j.sentence_index, j.citation, j.about), j.run_id, j.topic_id): j.label
            for each in judged(ArgueJudge(), model, given)
            for j in each.judgments
            if j.sentence_index is not None
        }
        for model in (scripted(), NoModel())
    }
    texts = {(r.run_id, r.topic_id, s.index): s.text for _, r in given for s in r.sentences}
    differ = {
        (texts[run, topic, key[0]], key[2])
        for key, run, topic in found[True].keys() | found[False].keys()
        if found[True].get((key, run, topic)) != found[False].get((key, run, topic))
    }
    assert differ == WRONG_BY_WORDS
    questions = sum(
        len(response.sentences) * sum(len(nugget.answers) for nugget in topic.nuggets or ())
        for topic, response in given
    )
    others = [key for key, _, _ in found[True] if not key[2]]
    assert (questions, len(others)) == (132, 26)  # the README has the figures


NO_MODEL = NoModel()
BANK = DATA / "nuggets.v3.jsonl"
TIN = Nugget("1", "Of what is the lining?", True, (GoldAnswer("tin", ("K1",)),), importance="vital")
STRIKE = Nugget("2", "When did smiths strike?", True, (GoldAnswer("1926"),), importance="okay")
FOUNDER = Nugget("3", "Who founded the works?", True)
TEXT = {"K1": "The lining of the kettles is tin.", "K2": "Gulls nest on cliffs."}


def decided(
    *sentences: tuple[str, list[str]],
    nuggets: tuple[Nugget, ...] | None = (TIN, STRIKE, FOUNDER),
    judge: ArgueJudge | None = None,
    model: Model = NO_MODEL,
    limit: int | None = None,
) -> tuple[Response, list[Judgment]]:
    """Return a response of (text, cited ids) pairs and the judgments on it."""
    given = response(*sentences, documents=TEXT)
    topic = Topic("t1", "kettles", nuggets=nuggets, limit=limit)
    (found,) = judged(judge or ArgueJudge(), model, [(topic, given)])
    return given, found.judgments


def score(found: tuple[Response, list[Judgment]], name: str, **settings: Any) -> float | None:
    """Return a measure of a judged response."""
    measures = ArgueJudge(**settings).measures.measures
    value = next(m for m in measures if m.name == name).compute(*found)
    return None if value is None else round(float(value), 6)


@pytest.mark.parametrize(
    ("sentence", "steps", "outcome"),
    [
        (("The lining is tin.", ["K1"]), "cited attested states", "reward"),
        (("The lining is tin.", ["K1", "K2"]), "cited attested", "penalty"),
        (("The lining is tin.", ["K9"]), "cited attested", "penalty"),
        (("Gulls nest on cliffs.", ["K2"]), "cited attested states", "ignore"),
        (("Nobody knows who founded the works.", []), "cited negative confirmed", "reward"),
        (("Nobody knows how high it is.", []), "cited negative confirmed", "penalty"),
        (("Who founded the works?", []), "cited negative needs_citation", "ignore"),
        (("Smiths struck in 1926.", []), "cited negative needs_citation first", "penalty"),
        (("  ", []), "cited negative needs_citation", "ignore"),
    ],
)
def test_each_sentence_has_its_path(
    sentence: tuple[str, list[str]], steps: str, outcome: str
) -> None:
    given, judgments = decided(sentence)
    (path,) = ArgueJudge().paths(given, judgments)
    assert ([step.question for step in path.steps], path.outcome) == (steps.split(), outcome)


def test_what_was_said_before_needs_no_citation_again() -> None:
    found = decided(("Smiths struck in 1926.", []), ("In 1926 the smiths struck.", []))
    assert [path.outcome for path in ArgueJudge().paths(*found)] == ["penalty", "ignore"]
    assert score(found, "SENTENCE_SUPPORT") == 0.0


@pytest.mark.parametrize(
    ("matches", "cited", "coverage"),
    [
        pytest.param("linked", ["K1"], 1.0, id="a document of the answer"),
        pytest.param("linked", ["K1", "K2"], 1.0, id="one of two, though the other says nothing"),
        pytest.param("linked", ["K2"], 0.0, id="another document"),
        pytest.param("attested", ["K1"], 1.0, id="a document that attests it"),
        pytest.param("attested", ["K1", "K2"], 0.0, id="not all attest it"),
        pytest.param("attested", [], 0.0, id="cited nothing"),
        pytest.param("any_text", [], 1.0, id="whatever it cites"),
    ],
)
def test_which_answers_count(matches: Matches, cited: list[str], coverage: float) -> None:
    found = decided(("The lining is tin.", cited), nuggets=(TIN,))
    assert score(found, "NUGGET_COVERAGE", matches=matches) == coverage


def test_by_links_an_answer_without_documents_cannot_count() -> None:
    found = decided(("The lining is tin.", ["K1"]))
    assert score(found, "NUGGET_COVERAGE", matches="linked") == 1.0
    assert score(found, "NUGGET_COVERAGE", matches="attested") == 0.5


@pytest.mark.parametrize(
    ("importances", "weighted"),
    [
        pytest.param(("vital", "okay"), 0.666667, id="vital 2, okay 1"),
        pytest.param(("", ""), 0.5, id="none: all alike"),
        pytest.param(("", "okay"), 0.0, id="one without weighs nothing"),
        pytest.param(("A", "C"), 0.8, id="a rubric's"),
    ],
)
def test_weights_are_those_of_importance(importances: tuple[str, str], weighted: float) -> None:
    nuggets = tuple(
        Nugget(n.nugget_id, n.text, True, n.answers, importance=importance)
        for n, importance in zip((TIN, STRIKE), importances, strict=True)
    )
    found = decided(("The lining is tin.", ["K1"]), nuggets=nuggets)
    assert score(found, "NUGGET_COVERAGE_WEIGHTED") == weighted


def test_a_response_without_sentences_has_0_and_nobody_is_asked() -> None:
    model = scripted()
    found = decided(model=model)
    assert model.asked == []
    assert {score(found, m.name) for m in ArgueJudge().measures.measures if not m.sums} == {0.0}
    assert all(judgment.judged for judgment in found[1])


def test_without_a_bank_only_what_needs_none_is_known() -> None:
    found = decided(("The lining is tin.", ["K1"]), nuggets=None)
    assert score(found, "SENTENCE_SUPPORT") == score(found, "CITATION_SUPPORT") == 1.0
    for name in ("NUGGET_COVERAGE", "F1", "CITATION_RELEVANCE", "ARGUE_PRECISION", "ARGUE_RECALL"):
        assert score(found, name) is None
    (failed,) = (j.failure for j in found[1] if j.failure)
    assert "--nuggets" in failed.message


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        pytest.param("topic", 1, id="the topic's, 20 characters"),
        pytest.param(18, 1, id="just the first"),
        pytest.param(17, 0, id="not even the first"),
        pytest.param(41, 2, id="both with the space between"),
        pytest.param(0, 2, id="none"),
    ],
)
def test_what_is_behind_the_limit_is_as_if_it_were_not_there(limit: Any, kept: int) -> None:
    judge = ArgueJudge(limit=limit)
    two = (("The lining is tin.", ["K1"]), ("Smiths struck in 1926.", ["K2"]))
    given, judgments = decided(*two, judge=judge, limit=20)
    assert len(judge.paths(given, judgments)) == kept
    assert sum(judgment.label == "CUT" for judgment in judgments) == 2 - kept


def asks_about(sentence: str, kind: str) -> Fails:
    """Return whether a request is of a kind, by one of its inputs, and about this sentence."""
    return lambda inputs: inputs["sentence"] == sentence and kind in inputs


OIL = "The lamp burned colza oil."
TOWER = "The tower is 34 metres high."
LIT = "The lighthouse on Skarne was lit in 1871."


@pytest.mark.parametrize(
    ("sentence", "kind", "name", "now", "lowest", "highest"),
    [
        # Of 4 sentences one is attested; this one was lost already by its other citation.
        pytest.param(OIL, "document", "SENTENCE_SUPPORT", 1 / 3, 1 / 4, 2 / 4, id="both open"),
        pytest.param(OIL, "document", "CITATION_SUPPORT", 2 / 3, 2 / 5, 4 / 5, id="citations"),
        pytest.param(OIL, "document", "CITATION_RELEVANCE", 0.8, 0.8, 0.8, id="looked up"),
        pytest.param(TOWER, "earlier", "SENTENCE_SUPPORT", 1 / 3, 1 / 4, 1 / 3, id="uncited"),
        pytest.param(TOWER, "earlier", "ARGUE_PRECISION", 0, 0, 1 / 3, id="its reward"),
        pytest.param(TOWER, "earlier", "NUGGET_COVERAGE", 0, 0, 0, id="not its nuggets"),
        # All nuggets are open through it, but it is not attested: it cannot count.
        pytest.param(OIL, "questions", "NUGGET_COVERAGE", 0, 0, 0, id="no matter if unattested"),
        pytest.param(OIL, "questions", "SENTENCE_SUPPORT", 0.25, 0.25, 0.25, id="nuggets only"),
    ],
)
def test_an_open_decision_leaves_open_only_what_depends_on_it(
    sentence: str, kind: str, name: str, now: float, lowest: float, highest: float
) -> None:
    found = broad_901(asks_about(sentence, kind), "attested")[name]
    bounds = (found.value, found.lowest, found.highest)
    assert bounds == tuple(pytest.approx(value, abs=1e-9) for value in (now, lowest, highest))


@pytest.mark.parametrize(
    ("sentence", "lowest", "highest"),
    [
        pytest.param(LIT, 1 / 4, 4 / 4, id="when it was lit is open, how high it is known"),
        pytest.param("Its height is 34 metres.", 2 / 4, 4 / 4, id="both are stated elsewhere"),
    ],
)
def test_a_nugget_that_is_stated_elsewhere_is_not_open(
    sentence: str, lowest: float, highest: float
) -> None:
    found = broad_901(asks_about(sentence, "questions"), "any_text")["NUGGET_COVERAGE"]
    assert (found.value, found.lowest, found.highest) == (1.0, lowest, highest)


def broad_901(fails: Fails, matches: Matches) -> Mapping[str, Score]:
    """Return the scores of a response of which a decision failed."""
    judge = ArgueJudge(matches=matches)
    made = board(judge, judged(judge, scripted(fails), pairs(BANK, ["broad"])))
    return made.scores["broad"]["901"]


def test_a_model_gets_a_sentence_with_a_window_of_questions() -> None:
    sizes = {}
    for window in (1, 3, 10):
        model = scripted()
        judged(ArgueJudge(window=window), model, pairs(BANK, ["careful"]))
        asked: list[Any] = [i["questions"] for i in model.asked if "questions" in i]
        sizes[window] = (len(asked), max(map(len, asked)))
    # 4 + 3 + 2 sentences; 902 has a question without an answer, asked of uncited sentences only.
    assert sizes == {1: (4 * 4 + 2 * 3 + 4 + 2 * 4, 1), 3: (8 + 4 + 4, 3), 10: (9, 4)}


def test_a_list_that_does_not_fit_is_asked_for_singly() -> None:
    model = scripted(lambda inputs: len(inputs.get("questions", ())) > 1)
    judge = ArgueJudge()
    rows = list(board(judge, judged(judge, model, pairs(BANK, ["careful"]))).rows())
    assert rows == list(board(judge, judged(judge, scripted(), pairs(BANK, ["careful"]))).rows())


def test_an_answer_that_does_not_exist_decides_nothing() -> None:
    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "document" in inputs:
            return {"label": "full_support", "evidence": ""}
        return {"stated": [Stated(number=1, reason="", answers=[7])]}

    found = decided(("It is tin.", ["K1"]), nuggets=(TIN,), model=ScriptedModel(answer))
    assert [j.label for j in found[1]] == ["full_support", None, None]
    assert score(found, "NUGGET_COVERAGE") is None


def test_a_citation_is_the_citation_judges_own_question() -> None:
    own, theirs = scripted(), scripted()
    judged(ArgueJudge(), own, pairs(BANK, ["broad"]))
    citation: Any = make_judge("citation", {})
    judged(citation, theirs, pairs(BANK, ["broad"]))
    asked = [inputs for inputs in own.asked if "document" in inputs]
    assert asked == theirs.asked


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"window": 0}, "window"), ({"limit": -1}, "limit"), ({"partial": 2.0}, "partial")],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        make_judge("argue", settings)


def job(out: Path, *more: str | Path) -> Sequence[str]:
    """Judge the runs by words; return the leaderboard's lines."""
    inputs = ("--rag-responses", DATA / "runs", "--rag-topics", DATA / "topics.jsonl")
    documents = ("--documents", DATA / "documents.jsonl", "--nuggets", BANK)
    to = ("--out-dir", out, "--name", "x")
    done = command("--judge", "argue", *inputs, *documents, *to, *more)
    assert done.status == 0, done.err
    return (out / "x.leaderboard.txt").read_text().splitlines()


def test_by_words_the_runs_rank_as_they_should(tmp_path: Path) -> None:
    lines = [line.split("\t") for line in job(tmp_path)]
    f1 = {run: float(value) for run, topic, name, value in lines if (topic, name) == ("all", "F1")}
    assert f1["careful"] > f1["broad"] > f1["uncited"] == 0.0


def test_judgments_are_scored_again_without_the_bank(tmp_path: Path) -> None:
    lines = job(tmp_path)
    again = ("--out-dir", tmp_path, "--name", "again")
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", *again).status == 0
    assert (tmp_path / "again.leaderboard.txt").read_text().splitlines() == lines


def test_labels_of_people_are_on_citations_and_the_judge_decides_the_rest(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    given = (DATA / "attestation_labels.jsonl").read_text()
    labels.write_text(given.replace("full_support", "no_support"))
    assert "careful\t901\tSENTENCE_SUPPORT\t0.000000" in job(tmp_path, "--judgments-from", labels)
    records = map(json.loads, (tmp_path / "x.judgments.jsonl").read_text().splitlines())
    made = [record for record in records if record["record"] == "judgment"]
    assert {r["attester"] for r in made if r["grade"] is not None} == {"given", ""}
    assert not [record for record in made if record["failure"]]
    assert [record for record in made if record["attester"] == "lexical"]


def replies(body: dict[str, Any], number: int) -> Answer:
    """Return a reply to any of the judge's questions; a list of two questions is one short."""
    text, form = body["messages"][-1]["content"], json.dumps(body.get("response_format"))
    if "state_answers" in form:
        count = text.count("(1) ")
        listed = [{"number": n, "reason": "So.", "answers": [1]} for n in range(1, count + 1)]
        return Answer(json.dumps({"stated": listed[: 1 if count == 2 else count]}))
    if "judge_uncited" in form:
        decision = {"negative": False, "needs_citation": True, "first": True}
        return Answer(json.dumps({"reason": "So."} | decision))
    return Answer(attestation(body))


def test_over_an_endpoint_every_item_is_accounted_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(replies) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        lines = job(tmp_path, "--use-env-llm", "--set", "window=2")
    # The model says the first answer to everything, so of an AND only a part; one citation is of
    # no document.
    assert "careful\t903\tNUGGET_COVERAGE\t1.000000" in lines
    assert "careful\t901\tNUGGET_COVERAGE\t0.750000" in lines
    assert "broad\t903\tSENTENCE_SUPPORT\t0.666667" in lines
    assert not [line for line in lines if "unjudged" in line]

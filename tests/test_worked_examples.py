"""The worked examples that judges are known by, in words of our own and with the same arithmetic.

Each is named after what it shows. They run by the command line, on files: first without a model,
then with one on loopback that answers from a script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from judges.attribution import MEASURES
from tests.commandline import Done, command, sample
from tests.endpoint import Answer as Reply
from tests.endpoint import serving, text_of
from tests.reading import lines_of

FULL, NONE = "full_support", "no_support"
WORDS: Mapping[str, tuple[str, str, str]] = {
    "hours are minutes": ("The climb takes 3 hours.", "The climb takes 180 minutes.", FULL),
    "other hours are not": ("The climb takes 3 hours.", "The climb takes 150 minutes.", NONE),
    "an afternoon hour": ("The shop closes at 5pm.", "The shop closes at 17:00.", FULL),
    "a morning hour": ("The shop closes at 5am.", "The shop closes at 17:00.", NONE),
    "parts in words": ("Half a litre fits into the jug.", "500 ml fits into the jug.", FULL),
    "a share": (
        "A third of the voters stayed at home.",
        "33 % of the voters stayed at home.",
        FULL,
    ),
    "a share, rounded": (
        "A third of the voters stayed home.",
        "33 % of the voters stayed home.",
        FULL,
    ),
    "a length": ("The tunnel is 3 km long.", "The tunnel is 3,000 metres long.", FULL),
    "a date in digits": ("The vote was on 7 June 2021.", "The vote was on 2021-06-07.", FULL),
    "who won": ("Bergen won the cup against Moss.", "Moss won the cup against Bergen.", NONE),
    "up for down": ("The bank raised the rate.", "The bank cut the rate.", NONE),
    "denied by whom": ("It is false that the mill burned.", "The mill burned.", NONE),
}
"""Sentence, document, and the label that a person gives."""


class Answer(NamedTuple):
    """An answer with its contexts: its claims, those attributed, and documents of one of these."""

    text: str
    contexts: Sequence[str]
    claims: int
    attributed: int
    together: int = 1


CLAIMS: Mapping[str, Answer] = {
    "one of three": Answer(
        "The Lay of Sund, composed around 1180, has 22 stanzas and mourns the king.",
        ["The Lay of Sund has 22 stanzas."],
        *(3, 1),
    ),
    "four of six": Answer(
        "Fjord soup contains barley, cod, cream, and dill."
        " The soup was first served in 1902 by the innkeeper Tora Lund.",
        ["Fjord soup contains barley, cod, cream, and dill."],
        *(6, 4),
    ),
    "two documents together": Answer(
        "Fjord soup uses dried cod.",
        ["Fjord soup uses klippfisk.", "Klippfisk is dried cod."],
        *(1, 1, 2),
    ),
    "two documents on another matter": Answer(
        "Pancakes use dried cod.",
        ["Fjord soup uses klippfisk.", "Klippfisk is dried cod."],
        *(1, 0),
    ),
    "another number": Answer("You need 7 onions.", ["The recipe needs 4 onions."], 1, 0),
    "a denial in other words": Answer(
        "The cabin at Voll was built in 1911 and does not use oil.",
        ["The cabin at Voll burns no oil."],
        *(2, 1),
    ),
}


def judged(folder: Path, answers: Sequence[Answer], *more: str) -> dict[str, dict[str, Any]]:
    """Judge answers by `attribution`; return of each, by its number, its values and judgments."""
    runs = folder / "answers.jsonl"
    records = (
        {"id": str(n), "question": f"What of {n}?", "answer": a.text, "contexts": a.contexts}
        for n, a in enumerate(answers)
    )
    runs.write_text(lines_of(*records), "utf-8")
    done = command(
        *("--judge", "attribution", "--rag-responses", runs),
        *("--out-dir", folder, "--name", "x", *more),
    )
    assert done.status == 0, done.err
    found: dict[str, dict[str, Any]] = {}
    for line in (folder / "x.leaderboard.txt").read_text("utf-8").splitlines():
        _, topic, measure, value = line.split("\t")
        found.setdefault(topic, {"claims": []})[measure] = float(value)
    for line in (folder / "x.judgments.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        if record.get("claim"):
            found[record["topic_id"]]["claims"].append(record)
    return found


def test_what_words_decide(tmp_path: Path) -> None:
    path, out = tmp_path / "p.jsonl", tmp_path / "v.jsonl"
    records = [{"id": n, "sentence": s, "document": d} for n, (s, d, _) in WORDS.items()]
    path.write_text(lines_of(*records), "utf-8")
    assert command("judges", "pairs", path, "--output", out).status == 0
    verdicts = map(json.loads, out.read_text("utf-8").splitlines())
    found = {verdict["id"]: verdict["label"] for verdict in verdicts}
    assert found == {name: label for name, (_, _, label) in WORDS.items()}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_and_the_rate_of_those_attributed(name: str, tmp_path: Path) -> None:
    wanted = CLAIMS[name]
    (found,) = (v for t, v in judged(tmp_path, [wanted]).items() if t != "all")
    attributed = [one for one in found["claims"] if one["label"] == "ATTRIBUTED"]
    assert (len(found["claims"]), len(attributed)) == (wanted.claims, wanted.attributed)
    rate = Fraction(wanted.attributed, wanted.claims)
    assert found["ATTRIBUTION_RATE"] == pytest.approx(float(rate), abs=1e-6)
    named = {source["doc_id"] for one in attributed for source in one["sources"]}
    assert len(named) == (wanted.together if attributed else 0)


def test_claims_that_weigh_more_count_more(tmp_path: Path) -> None:
    """Weights 3 and 1 of claims attributed, 1 of one that is not: 4 of 5."""
    text = "The ferry Ask has two decks. The ferry Ask has a kiosk. The ferry Ask sank."
    answer = Answer(text, ["The ferry Ask has two decks and a kiosk."], 3, 2)
    weights = tmp_path / "weights.jsonl"
    (topic,) = (t for t in judged(tmp_path, [answer]) if t != "all")
    rows = ((0, 3), (1, 1), (2, 1))
    lines = ({"topic_id": topic, "sentence_index": n, "weight": w} for n, w in rows)
    weights.write_text(lines_of(*lines), "utf-8")
    found = judged(tmp_path, [answer], "--set", f"claim_weights={weights}")[topic]
    assert found["ATTRIBUTION_RATE"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["WEIGHTED_ATTRIBUTION"] == pytest.approx(0.8, abs=1e-6)


def test_a_rate_has_the_name_of_its_band() -> None:
    (rate,) = (measure for measure in MEASURES if measure.name == "ATTRIBUTION_RATE")
    values = (1.0, 0.95, 0.949, 0.85, 0.7, 2 / 3, 0.0)
    bands = ["excellent", "excellent", "good", "good", "fair", "poor", "poor"]
    assert list(map(rate.band, values)) == bands


def test_a_threshold_rejects_what_is_below_it(tmp_path: Path) -> None:
    judged(tmp_path, [CLAIMS["four of six"]])
    gate = ("gate", tmp_path / "x", "--min")
    assert command(*gate, "ATTRIBUTION_RATE=0.66").status == 0
    assert command(*gate, "ATTRIBUTION_RATE=0.67").status == 1


def test_the_citation_score_is_the_weighted_sum_of_its_axes(tmp_path: Path) -> None:
    """.4 faithfulness + .4 coverage + .2 (1 - redundancy), of each answer that cites."""
    assert sample("rag", tmp_path, "--judge", "citation_score").status == 0
    table: dict[tuple[str, str], dict[str, float]] = {}
    for line in (tmp_path / "x.leaderboard.txt").read_text("utf-8").splitlines():
        run, topic, measure, value = line.split("\t")
        table.setdefault((run, topic), {})[measure] = float(value)
    scored = [v for (_, topic), v in table.items() if topic != "all" and v["CITATION_SCORE"]]
    assert len(scored) > 3
    for axes in scored:
        weighed = 0.4 * axes["FAITHFULNESS"] + 0.4 * axes["COVERAGE"]
        wanted = weighed + 0.2 * (1 - axes["REDUNDANCY"])
        assert axes["CITATION_SCORE"] == pytest.approx(wanted, abs=2e-6)


# With a model: its verdicts are scripted by program, what is made of them is the judges'.
Fields = dict[str, Any]
Verdicts = Mapping[str, Callable[[Mapping[str, str]], Fields | None]]
"""What the model says by program, of its inputs; None is a reply that cannot be read."""
INPUT = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\n\[\[ ##|\n\nJSON object of)", re.DOTALL)


class WithModel(NamedTuple):
    """How a job ended, its values by topic and measure, and its judgments."""

    done: Done
    values: Mapping[str, Mapping[str, float]]
    judgments: Sequence[Mapping[str, Any]]


def by_model(
    folder: Path, judge: str, verdicts: Verdicts, sentences: Mapping[str, str], *more: str | Path
) -> WithModel:
    """Judge one answer on topic 1 by a scripted model: sentences, each with what it cites."""
    documents = {doc_id: f"Passage {doc_id}." for doc_id in sentences.values() if doc_id}
    responses = [{"text": s, "citations": [d] if d else []} for s, d in sentences.items()]
    named = {"team_id": "t", "run_id": "r", "topic_id": "1"}
    record = {"metadata": named, "responses": responses, "documents": documents}
    (folder / "r.jsonl").write_text(lines_of(record), "utf-8")
    (folder / "topics.jsonl").write_text(lines_of({"id": "1", "title": "Which passage?"}), "utf-8")

    def script(body: dict[str, Any], number: int) -> Reply:
        program = body["response_format"]["json_schema"]["name"]
        said = verdicts[program](dict(INPUT.findall(text_of(body))))
        return Reply("I cannot say." if said is None else json.dumps(said))

    with pytest.MonkeyPatch.context() as patch, serving(script, patch):
        done = command(
            *("--judge", judge, "--rag-responses", folder / "r.jsonl"),
            *("--rag-topics", folder / "topics.jsonl", "--use-env-llm"),
            *("--out-dir", folder, "--name", "x", "--cache-dir", folder / "cache", *more),
        )
    values: dict[str, dict[str, float]] = {}
    for line in (folder / "x.leaderboard.txt").read_text("utf-8").splitlines():
        _, topic, measure, value = line.split("\t")
        values.setdefault(topic, {})[measure] = float(value)
    lines = (folder / "x.judgments.jsonl").read_text("utf-8").splitlines()
    return WithModel(
        done, values, [found for line in lines if "run_id" in (found := json.loads(line))]
    )


def attesting(labels: str) -> Verdicts:
    """Return a model that gives sentence n the n-th label: f(ull), p(artial) or n(one)."""
    names = {"f": FULL, "p": "partial_support", "n": NONE}

    def attest(inputs: Mapping[str, str]) -> Fields:
        letter = labels[int(inputs["sentence"].split()[1]) - 1]
        return {"evidence": "", "label": names[letter]}

    return {"attest": attest}


def attributing(verdicts: str) -> Verdicts:
    """Return a model that lists as many claims: a(ttributed), n(ot), or no reply to read (x)."""

    def split(inputs: Mapping[str, str]) -> Fields:
        texts = (f"Claim {n} of the passage." for n in range(1, len(verdicts) + 1))
        return {"claims": [{"sentence": 0, "claim": c, "importance": "vital"} for c in texts]}

    def attribute(inputs: Mapping[str, str]) -> Fields | None:
        letter = verdicts[int(inputs["claim"].split()[1]) - 1]
        found, plain = (
            {"quotes": ["Passage d"], "match": "PARAPHRASE"},
            {"quotes": [], "match": "NONE"},
        )
        if letter == "x":
            return None
        if letter == "a":
            return found | {"reason": "stated", "verdict": "ATTRIBUTED"}
        return plain | {"reason": "not stated", "verdict": "UNATTRIBUTED"}

    return {"claims": split, "attribute": attribute}


def numbered(count: int, cited: str = "d") -> dict[str, str]:
    """Return sentences, each of which cites a document of its own: `d1`, `d2` ..."""
    return {f"Sentence {n} stands here.": f"{cited}{n}" for n in range(1, count + 1)}


PASSAGE = {"The passage has claims.": "d"}


def test_four_of_six_claims_that_a_model_finds(tmp_path: Path) -> None:
    found = by_model(tmp_path, "attribution", attributing("aaaann"), PASSAGE)
    assert found.done.status == 0
    assert found.values["1"]["ATTRIBUTION_RATE"] == pytest.approx(4 / 6, abs=1e-6)


def test_two_of_five_sentences_that_a_model_attests(tmp_path: Path) -> None:
    more = ("--set", "attester=llm")
    found = by_model(tmp_path, "citation", attesting("fnpfn"), numbered(5), *more)
    assert found.done.status == 0
    assert found.values["1"]["SENTENCE_SUPPORT"] == found.values["1"]["CITATION_SUPPORT"] == 0.4


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [([3, 1, 1], 0.8), ([1, 1, 3], 0.4), ([0.5, 0, 0], 1.0), ([0, 0, 2.5], 0.0)],
    ids=["four of five", "two of five", "only the first counts", "only the last counts"],
)
def test_claims_that_a_model_weighs(weights: list[float], wanted: float, tmp_path: Path) -> None:
    verdicts = {**attributing("aan"), "weigh_claims": lambda inputs: {"weights": weights}}
    more = ("--set", "claim_weights=model")
    found = by_model(tmp_path, "attribution", verdicts, PASSAGE, *more)
    assert found.done.status == 0
    assert found.values["1"]["WEIGHTED_ATTRIBUTION"] == pytest.approx(wanted)
    assert found.values["1"]["ATTRIBUTION_RATE"] == pytest.approx(2 / 3, abs=1e-6)


def test_the_citation_score_with_the_faithfulness_of_a_model(tmp_path: Path) -> None:
    """Full, in part and none: (1 + .5 + 0) / 3; the other axes are those of words."""
    more = ("--set", "attester=llm")
    found = by_model(tmp_path, "citation_score", attesting("fpn"), numbered(3), *more)
    axes = found.values["1"]
    assert axes["FAITHFULNESS"] == 0.5 and axes["COVERAGE"] == 1.0
    wanted = 0.4 * 0.5 + 0.4 * 1.0 + 0.2 * (1 - axes["REDUNDANCY"])
    assert axes["CITATION_SCORE"] == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize(
    ("verdicts", "band"),
    [("a" * 20, "excellent"), ("a" * 9 + "n", "good"), ("aaan", "fair"), ("an", "poor")],
)
def test_the_band_of_what_a_model_attributes(verdicts: str, band: str, tmp_path: Path) -> None:
    found = by_model(tmp_path, "attribution", attributing(verdicts), PASSAGE)
    assert f"ATTRIBUTION_RATE: 1 {band} (r);" in found.done.out + found.done.err


@pytest.mark.parametrize(("verdicts", "status"), [("aaan", 0), ("aann", 1)])
def test_a_threshold_rejects_what_a_model_does_not_find(
    verdicts: str, status: int, tmp_path: Path
) -> None:
    by_model(tmp_path, "attribution", attributing(verdicts), PASSAGE)
    assert command("gate", tmp_path / "x", "--min", "ATTRIBUTION_RATE=0.7").status == status


def test_nuggets_count_by_weight(tmp_path: Path) -> None:
    """Vital: in full, in part; okay: in full, not. (1 + .5 + .5 x 1 + .5 x 0) / (2 + .5 x 2)."""
    labels = ["support", "partial_support", "support", "not_support"]
    bank = {
        "qid": "1",
        "query": "passages",
        "nuggets": [
            {"text": f"Fact {n}.", "importance": "vital" if n < 3 else "okay"} for n in range(1, 5)
        ],
    }
    (tmp_path / "bank.jsonl").write_text(lines_of(bank), "utf-8")

    def assign(inputs: Mapping[str, str]) -> Fields:
        said = enumerate(labels, 1)
        return {"assignments": [{"number": n, "reason": "", "label": label} for n, label in said]}

    more = ("--nuggets", tmp_path / "bank.jsonl")
    found = by_model(tmp_path, "nuggets", {"assign_nuggets": assign}, PASSAGE, *more).values["1"]
    assert found["WEIGHTED_SCORE"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["STRICT_WEIGHTED_SCORE"] == pytest.approx(1.5 / 3, abs=1e-6)
    assert (found["STRICT_VITAL_SCORE"], found["VITAL_SCORE"]) == (0.5, 0.75)


@pytest.mark.parametrize("grade", [0, 1, 2, 3])
def test_a_grade_from_0_to_3_is_relevant_from_2_on(grade: int, tmp_path: Path) -> None:
    verdicts: Verdicts = {"grade": lambda inputs: {"reason": "", "grade": grade}}
    found = by_model(tmp_path, "direct_prompt", verdicts, PASSAGE)
    assert found.values["1"] == {"AVG_GRADE": grade, "IS_RELEVANT": float(grade >= 2)}


def test_a_claim_on_which_the_call_fails_is_unjudged_and_no_zero(tmp_path: Path) -> None:
    """Of the three that are judged two are attributed; with the fourth it is 2 or 3 of 4."""
    found = by_model(tmp_path, "attribution", attributing("aanx"), PASSAGE)
    assert found.done.status == 3
    assert found.values["1"]["ATTRIBUTION_RATE"] == pytest.approx(2 / 3, abs=1e-6)
    failed = [j for j in found.judgments if j.get("claim") and j.get("label") is None]
    assert [j["claim"]["text"] for j in failed] == ["Claim 4 of the passage."]
    assert failed[0]["failure"]["kind"] == "parse"
    assert found.values["1"]["ATTRIBUTION_RATE.unjudged"] == 1
    assert re.search(r"r +0\.667 +0\.50-0\.75 ", found.done.out)


def test_weights_that_a_model_does_not_give_are_unjudged_and_not_1(tmp_path: Path) -> None:
    verdicts: Verdicts = {**attributing("aan"), "weigh_claims": lambda inputs: {"weights": [1, 2]}}
    more = ("--set", "claim_weights=model", "--measures", "WEIGHTED_ATTRIBUTION")
    found = by_model(tmp_path, "attribution", verdicts, PASSAGE, *more)
    assert found.done.status == 3
    assert found.values["1"]["ATTRIBUTION_RATE"] == pytest.approx(2 / 3, abs=1e-6)
    assert "WEIGHTED_ATTRIBUTION" not in found.values["1"]
    assert found.values["1"]["WEIGHTED_ATTRIBUTION.unjudged"] == 1
    assert re.search(r"r +0\.667 .* n/a \(0\.00-1\.00\)", found.done.out)


def test_a_grade_that_cannot_be_read_is_no_grade_of_0(tmp_path: Path) -> None:
    found = by_model(tmp_path, "direct_prompt", {"grade": lambda inputs: None}, PASSAGE)
    assert found.done.status == 3
    assert found.values["1"] == {"AVG_GRADE.unjudged": 1, "IS_RELEVANT.unjudged": 1}
    assert found.values["all"] == found.values["1"]

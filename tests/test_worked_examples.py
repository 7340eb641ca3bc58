"""The worked examples that judges are known by, in words of our own and with the same arithmetic.

Each is named after what it shows. They run by the command line, on files, without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from judges.attribution import MEASURES
from tests.commandline import command, sample
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
    assert command("pairs", path, "--output", out).status == 0
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

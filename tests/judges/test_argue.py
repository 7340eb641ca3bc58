"""The argue judge: every number of a hand-checked reference, and of the tools before it."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

from tests.judges.argue_data import DATA, board, expected, judged, pairs, scripted
from trecjudge.inputs.nuggets.bank_files import read_banks, write_banks
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.judges.argue import ArgueJudge
from trecjudge.judges.argue.scoring import harmonic_mean, value_of_sums
from trecjudge.judging.nuggets import Matches
from trecjudge.measures import aggregate
from trecjudge.models.model import NoModel
from trecjudge.scores.leaderboard import Leaderboard

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

"""Runs rank by expected weights where words alone decided, the same in every command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.jobs import BAD, GOOD, as_json, job
from tests.commandline import command
from tests.fakes import judgment, response
from trecjudge.evaluation.standings import standings_at
from trecjudge.judging.panel import make_panel, panel_spec
from trecjudge.measures import expected_weight
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, PARTIAL, Claim, Failure, Judgment, Vote
from trecjudge.results.jobs import outcome
from trecjudge.scores.leaderboard import Leaderboard

FAIR = '{"text": "A narrow gap in brass of Lyon makes it whistle.", "citations": ["k"]}'
RUNS = {"good": [GOOD] * 2, "fair": [FAIR] * 2, "bad": [BAD] * 2}
EXPECTED, LABELS = "EXPECTED_CITATION_SUPPORT", "CITATION_SUPPORT"
BY_WORDS = judgment(
    PARTIAL, attester="lexical", expected=0.6, p_full=0.3, citation="k", judge="citation"
)
BY_RULE = replace(BY_WORDS, label=NONE, attester="", expected=None, p_full=None)
BY_MODEL = replace(BY_RULE, label=FULL, attester="llm")
VOTED = replace(BY_WORDS, votes=(Vote("a", FULL, 2, ""), Vote("b", FULL, 2, "")))
UNJUDGED = replace(BY_RULE, label=None, failure=Failure("cut", ""))


@pytest.mark.parametrize(
    ("partial", "weight"),
    [(0.0, 0.3), (0.25, 0.45), (0.5, 0.6), (1.0, 0.9)],
)
def test_the_weight_to_be_expected_counts_partial_support_as_the_label_does(
    partial: float, weight: float
) -> None:
    weights = {FULL: 1.0, PARTIAL: partial, NONE: 0.0}
    assert expected_weight(BY_WORDS, weights) == pytest.approx(weight)
    assert expected_weight(BY_MODEL, weights) == 1.0
    assert expected_weight(replace(BY_WORDS, expected=None), weights) == partial


@pytest.mark.parametrize(
    ("one", "weighed"),
    [
        pytest.param(BY_WORDS, True, id="by words"),
        pytest.param(BY_RULE, None, id="by a rule: no doubt is left"),
        pytest.param(UNJUDGED, None, id="unjudged"),
        pytest.param(replace(BY_WORDS, expected=None), False, id="probabilities are withheld"),
        pytest.param(BY_MODEL, False, id="by a model"),
        pytest.param(replace(BY_MODEL, expected=0.5), False, id="by a model that gives a mean"),
        pytest.param(VOTED, False, id="by voters"),
        pytest.param(replace(BY_MODEL, attester="given"), False, id="by people"),
        pytest.param(replace(BY_MODEL, label=NOTHING_TO_CHECK), None, id="in no measure"),
        pytest.param(judgment("USED", attester="llm", doc_id="k"), None, id="on a document"),
        pytest.param(judgment("yes", attester="llm", claim=Claim(0, "A.", 0)), False, id="a claim"),
    ],
)
def test_what_has_a_weight(one: Judgment, weighed: bool | None) -> None:
    assert one.weighed is weighed


@pytest.mark.parametrize(
    ("judgments", "wanted", "ranked"),
    [
        pytest.param([BY_WORDS, BY_RULE], {}, EXPECTED, id="words and rules"),
        pytest.param([BY_WORDS, UNJUDGED], {}, EXPECTED, id="unjudged is not decided by a model"),
        pytest.param([BY_WORDS, BY_MODEL], {}, LABELS, id="mixed"),
        pytest.param([BY_RULE, UNJUDGED], {}, LABELS, id="rules alone: labels say it all"),
        pytest.param([UNJUDGED], {}, "LENGTH", id="nothing is known"),
        pytest.param([BY_WORDS], {"sort_by": LABELS}, LABELS, id="named"),
        pytest.param([BY_WORDS], {"measures": [LABELS]}, LABELS, id="no column"),
        pytest.param([BY_WORDS], {"measures": [EXPECTED, LABELS]}, EXPECTED, id="a column"),
    ],
)
@pytest.mark.parametrize("apart", [False, True], ids=["whole", "in parts"])
def test_what_ranks(
    judgments: list[Judgment], wanted: dict[str, Any], ranked: str, apart: bool
) -> None:
    panel = make_panel(["citation", "length"], {})
    board, part = (Leaderboard(panel_spec(panel, wanted)) for _ in range(2))
    of_length = judgment(value=3.0, judge="length", attester="llm", citation="k")
    (part if apart else board).add(response(), [*judgments, of_length])
    board.take(part.scores, part.coverage)
    board.finish()
    assert board.ranking_measure.name == ranked
    assert board.ranks_for == (LABELS if ranked == EXPECTED else "")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a job by words of two judges, whose labels make two runs alike."""
    return job(tmp_path_factory.mktemp("job"), "x", RUNS, "--judge", "citation,attribution")


def ranking(path: Path) -> list[str]:
    """Return the measures by which the judges of a job rank, as its files have it."""
    return list(standings_at(outcome(path), lambda finding: None)[0].ranking)


def test_every_command_ranks_alike(judged: Path) -> None:
    status, summary = as_json("rescore", judged)
    assert (status, summary["ranked_by"], summary["ranks_for"]) == (
        0,
        "EXPECTED_ATTRIBUTION",
        "ATTRIBUTION_RATE",
    )
    by_judge = {"attribution": "EXPECTED_ATTRIBUTION", "citation": EXPECTED}
    assert summary["ranked_by_judge"] == by_judge
    assert ranking(judged) == list(by_judge.values())
    lines = map(json.loads, Path(f"{judged}.leaderboard.jsonl").read_text().splitlines())
    places = {"EXPECTED_ATTRIBUTION": "ATTRIBUTION_RATE", EXPECTED: LABELS}
    assert {one["measure"]: one["ranks_for"] for one in lines if "ranks_for" in one} == places
    assert "ranked_by: EXPECTED_ATTRIBUTION" in Path(f"{judged}.config.yml").read_text()
    out = " ".join(command("job", "rescore", judged).out.split())
    assert "ranked by expected weights, since no model decided; ATTRIBUTION_RATE has labels" in out
    _, held = as_json("gate", judged, "--baseline", judged, "--max-drop", "0.1")
    assert {check["rule"]["measure"] for check in held["checks"]} == set(by_judge.values())
    made = judged.with_name("t.csv")
    assert command("job", "convert", judged, made, "--to", "table-csv").status == 0
    head = made.read_text().splitlines()[0].split(",")
    assert [name for name in head if name in (*by_judge.values(), LABELS)] == [*by_judge.values()]
    assert command("report", judged, "-q").status == 0
    page = Path(f"{judged}.report.html").read_text(encoding="utf-8")
    assert "Ranked by EXPECTED_ATTRIBUTION of judge attribution, expected weights" in page


def test_the_order_is_that_of_weights_and_labels_are_beside_it(judged: Path) -> None:
    _, summary = as_json("rescore", judged)
    means = {run["run_id"]: run["means"] for run in summary["runs"]}
    assert list(means) == ["good", "fair", "bad"]
    assert means["fair"][LABELS] == means["bad"][LABELS]  # labels alone do not tell them apart
    assert means["fair"][EXPECTED]["value"] > means["bad"][EXPECTED]["value"] + 0.1


def test_a_file_of_an_earlier_release_keeps_its_order(judged: Path, tmp_path: Path) -> None:
    text = Path(f"{judged}.judgments.jsonl").read_text().replace(',"by_expected":true', "")
    old = tmp_path / "old.judgments.jsonl"
    old.write_text(text)
    _, summary = as_json("rescore", old)
    assert (summary["ranked_by"], summary["ranks_for"]) == ("ATTRIBUTION_RATE", "")
    assert ranking(tmp_path / "old") == ["ATTRIBUTION_RATE", LABELS]


def test_labels_of_people_rank_by_what_they_say(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    line = (
        '{"topic_id": "1", "run_id": "good", "sentence_index": 0, "doc_id": "k", "label": "full"}\n'
    )
    labels.write_text(line)
    path = job(tmp_path, "x", {"good": [GOOD]}, "--judgments-from", labels)
    assert as_json("rescore", path)[1]["ranked_by"] == LABELS
    corrected = job(tmp_path, "y", {"good": [GOOD]}, "--human", labels)
    _, summary = as_json("rescore", corrected, "--human", labels)
    assert summary["ranked_by"] == EXPECTED
    (run,) = summary["runs"]
    assert run["means"][EXPECTED]["value"] < 1.0
    assert run["standings"][EXPECTED]["human"]["mean"] == 1.0

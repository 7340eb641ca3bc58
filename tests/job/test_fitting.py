"""Banks whose documents nobody cites, and banks without importance: what a job says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Done, judge

STEAM = "Steam makes a kettle whistle."


def bank(references: list[str] | None, importance: str = "vital") -> dict[str, Any]:
    answer = {"answer": "steam", "references": references or []}
    question = {"question": "What makes a kettle whistle?", "answers": [answer]}
    return {
        "metadata": {"topic_id": "1", "run_id": "bank"},
        "nugget_bank": [question | ({"importance": importance} if importance else {})],
    }


def run(name: str, cited: list[str], text: str = STEAM) -> dict[str, Any]:
    return {
        "metadata": {"team_id": "t", "run_id": name, "topic_id": "1"},
        "responses": [{"text": text, "citations": cited}],
        "documents": {"k-1": {"text": STEAM}, "k-2": {"text": "Kettles are cold."}},
    }


def judged(
    tmp_path: Path, runs: list[dict[str, Any]], given: dict[str, Any], *more: str
) -> tuple[Done, dict[str, str]]:
    """Return what a job printed, and the mean of each measure of run a."""
    (tmp_path / "runs").mkdir()
    for record in runs:
        path = tmp_path / "runs" / f"{record['metadata']['run_id']}.jsonl"
        path.write_text(json.dumps(record))
    (tmp_path / "bank.jsonl").write_text(json.dumps(given))
    done = judge(tmp_path / "runs", tmp_path / "out", "--nuggets", tmp_path / "bank.jsonl", *more)
    rows = (tmp_path / "out" / "x.leaderboard.txt").read_text().splitlines()
    cells = [row.split("\t") for row in rows]
    return done, {name: value for own, topic, name, value in cells if (own, topic) == ("a", "all")}


BOTH = [run("a", ["k-1"]), run("b", ["k-2"])]
UNCITED = "no document of the banks ('z-1', …) is cited by any run"
ARGUE = ("--judge", "argue", "--set")


@pytest.mark.parametrize(
    ("references", "said", "more"),
    [
        (["z-1"], f"{UNCITED}; they cite 'k-1', 'k-2'", ()),
        (["z-1"], f"{UNCITED}; they cite 'k-1', 'k-2'", ("--workers", "2")),
        (None, "the banks name no documents", ()),
    ],
    ids=["others", "others, by workers", "none"],
)
def test_by_links_to_documents_that_nobody_cites_nothing_has_a_value(
    references: list[str] | None, said: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    done, means = judged(tmp_path, BOTH, bank(references), *ARGUE, "matches=linked", *more)
    assert said in done.err and "F1 has no value for any run: no run cites" in done.out + done.err
    assert "ranked by SENTENCE_SUPPORT" in done.out + done.err and done.status == 0
    assert not {"F1", "F1_MICRO", "NUGGET_COVERAGE", "CITATION_RELEVANCE"} & means.keys()


@pytest.mark.parametrize("matches", ["attested", "any_text", "linked"])
def test_coverage_that_is_not_that_of_auto_argue_is_said_beside_it(
    matches: str, tmp_path: Path
) -> None:
    done, means = judged(tmp_path, BOTH, bank(["k-1"]), *ARGUE, f"matches={matches}")
    said = f"by matches={matches}: not comparable with what Auto-ARGUE publishes"
    assert (said in done.out + done.err) == (matches != "linked")
    assert means["F1"] == "1.000000" and means["CITATION_RELEVANCE"] == "1.000000"


def test_runs_that_cite_nothing_earn_nothing_by_links(tmp_path: Path) -> None:
    """It is their own doing, and not that of the bank."""
    done, means = judged(
        tmp_path, [run("a", []), run("b", [])], bank(["k-1"]), *ARGUE, "matches=linked"
    )
    assert means["F1"] == "0.000000" and "nugget_documents_uncited" not in done.out + done.err


def test_a_bank_without_importance_ranks_by_what_is_defined(tmp_path: Path) -> None:
    runs = [run("a", []), run("b", [], "Kettles are cold.")]
    done, means = judged(tmp_path, runs, bank(["k-1"], ""), "--judge", "nuggets")
    assert "the bank has no importance" in done.err
    assert "ranked by STRICT_ALL_SCORE: STRICT_VITAL_SCORE has no value" in done.out + done.err
    assert means["STRICT_ALL_SCORE"] == "1.000000" and "STRICT_VITAL_SCORE" not in means

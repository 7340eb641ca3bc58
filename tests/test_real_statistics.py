"""The statistics on 53 real runs with assessors' labels: a judge compared with people."""

from __future__ import annotations

import csv
import json
import random
import re
import statistics
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.jobs import as_json
from tests.commandline import ROOT, command
from trecjudge.stats.paired import holm_pairs
from trecjudge.stats.tukey import tukey_hsd

SUPPORT = Path("data/rag25_support")
MEASURE = "WEIGHTED_PRECISION"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("support")


@pytest.fixture
def job(folder: Path, shared: Path) -> Path:
    """Return the judgments of the offline support judge on the real runs, judged once."""
    if not (folder / "x.judgments.jsonl").exists():
        data = shared / SUPPORT
        given = ("--rag-responses", data / "runs", "--rag-topics", data / "topics.jsonl")
        into = ("--out-dir", folder, "--name", "x", "-q", "--no-debug-log", "--no-check")
        command(*given, *into, "--judge", "support")
    return folder / "x"


def standings(job: Path) -> list[dict[str, Any]]:
    lines = job.with_name("x.leaderboard.jsonl").read_text().splitlines()
    return [r for r in map(json.loads, lines) if r["measure"] == MEASURE]


def test_the_offline_judge_orders_the_runs_as_assessors_do(job: Path, shared: Path) -> None:
    truth = ("--truth", shared / SUPPORT / "human.leaderboard.txt", "--truth-measure", MEASURE)
    status, found = as_json("meta-evaluate", job, *truth, "--measure", MEASURE)
    (pair,) = found["pairs"]
    assert (status, pair["runs"], pair["topics"]) == (0, 53, 8)
    assert found["findings"] == []
    for name, least in (("kendall", 0.75), ("tauap_b", 0.65), ("pairwise_accuracy", 0.87)):
        one = pair["correlations"][name]
        assert one["value"] > least
        for over in ("over_topics", "over_runs"):
            low, high = one[over]["low"], one[over]["high"]
            assert 0.5 < low < one["value"] < high < 1
            assert high - low < 0.3


def test_the_single_labels_agree_as_far_as_they_do(job: Path, shared: Path) -> None:
    labels = shared / SUPPORT / "labels.jsonl"
    status, found = as_json("agree", "--truth", labels, "--predicted", job)
    figures = {f["figure"]: f for f in found["figures"]}
    # of the 4,535 items nine are of headings, in which the judge finds nothing to check, and on
    # twenty of the 511 that two assessors labelled they are divided
    assert (status, found["items"], found["topics"]) == (0, 4506, 8)
    assert (found["only_truth"], found["tied"]) == (9, [20, 0])
    people = found["people"]
    assert (people["labelled_by_several"], people["alpha_nominal"] > 0.9) == (511, True)
    # An assessor agrees with the other far better than the judge does.
    for one in people["persons"]:
        assert one["with_rest"]["kappa"] > 0.9 > 0.5 > one["judge_with_rest"]["kappa"] > 0.4
    assert 0.6 < figures["accuracy"]["pooled"] < 0.83
    assert 0.45 < figures["kappa"]["pooled"] < figures["kappa_quadratic"]["pooled"]


def section(title: str) -> str:
    """Return a section of the page of measured figures."""
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_page_has_the_figures_of_the_worked_example(job: Path, shared: Path) -> None:
    """Hold the tables of the documentation to what the judge says now."""
    example = section("The attester against assessors")
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in example.splitlines()]
    shown = {row[0]: row[1:] for row in rows if row}
    labels = shared / SUPPORT / "labels.jsonl"
    _, found = as_json("agree", "--truth", labels, "--predicted", job, "--by-topic")
    for name, counts in zip(("none", "partial", "full"), found["confusion"], strict=True):
        assert shown[name] == [f"{n:,}" for n in (*counts, sum(counts))]
    wanted = ("accuracy", "kappa", "kappa_linear", "auc")
    figures = {f["figure"]: f for f in found["figures"]}
    assert shown["all 4,506"] == [f"{figures[name]['pooled']:.3f}" for name in wanted]
    assert shown["95 % over topics"] == [
        "{low:.3f} to {high:.3f}".format(**figures[name]["interval"]) for name in wanted
    ]
    for topic in ("161", "200", "213", "233", "300", "477", "515", "707"):
        assert shown[topic] == [f"{figures[n]['by_topic'][topic]:.3f}" for n in wanted]


def test_a_tenth_of_the_labels_with_the_judge_tell_more_than_without(
    job: Path, shared: Path, tmp_path: Path
) -> None:
    labels = (shared / SUPPORT / "labels.jsonl").read_text().splitlines(keepends=True)
    some = tmp_path / "some.jsonl"
    some.write_text("".join(random.Random(5).sample(labels, len(labels) // 10)))
    command(
        "job", "rescore", f"{job}.judgments.jsonl", "--out-dir", tmp_path, "-q", "--human", some
    )
    truth = {}
    for line in (shared / SUPPORT / "human.leaderboard.txt").read_text().splitlines():
        run, topic, measure, value = line.split("\t")
        if (topic, measure) == ("all", MEASURE):
            truth[run] = float(value)
    corrected = [s for s in standings(tmp_path / "x") if s["human"] and s["human"]["labelled"] >= 5]
    humans = [s["human"] for s in corrected]
    assert len(corrected) > 25
    pairs = [(truth[s["run_id"]], s["human"]) for s in corrected]
    held = [human["low"] <= value <= human["high"] for value, human in pairs]
    assert sum(held) / len(held) > 0.9
    assert all(0 <= h["low"] <= h["mean"] <= h["high"] <= 1 for h in humans)
    by_judge = [abs(s["mean"] - truth[s["run_id"]]) for s in corrected]
    by_labels = [abs(s["human"]["mean"] - truth[s["run_id"]]) for s in corrected]
    assert statistics.mean(by_labels) < 0.95 * statistics.mean(by_judge)


def told_apart(groups: list[set[str]]) -> int:
    """Return how many pairs of runs share no letter."""
    return sum(not one & other for one, other in combinations(groups, 2))


def test_eight_topics_tell_a_tenth_of_the_pairs_apart(job: Path, shared: Path) -> None:
    found = standings(job)
    assert len(found) == 53
    assert {s["test"] for s in found} == {"tukey: 10000 permutations, seed 20250801"}
    # More permutations give 125; which ones are drawn moves it by one or two.
    assert abs(told_apart([set(s["groups"]) for s in found]) - 125) <= 2
    assert all(s["low"] <= s["mean"] <= s["high"] for s in found)
    assert all(s["rank_low"] <= s["rank"] <= s["rank_high"] for s in found)
    table = job.with_name("people.csv")
    people = shared / SUPPORT / "human.leaderboard.txt"
    command("job", "convert", people, table, "--to", "table-csv", "--measures", MEASURE)
    with table.open(newline="") as file:
        letters = [set(row[f"{MEASURE}_groups"].split()) for row in csv.DictReader(file)]
    assert abs(told_apart(letters) - 123) <= 2


def test_the_page_has_what_both_tests_tell_apart(job: Path, shared: Path) -> None:
    """Hold the figures of the page: topics are drawn from what is left of each run's values."""
    values = np.array([list(s["by_topic"].values()) for s in standings(job)])
    assert (holm_pairs(values).p > 0.05).all()
    means = values.mean(axis=1, keepdims=True)
    left = (values - means - values.mean(axis=0) + values.mean()) * np.sqrt(8 / 7)
    page = section("Tukey and Holm")
    rows = re.findall(r"^\| ?(\d+) ?\| ?([\d,]+) ?\| ?([\d,]+) ?\|$", page, re.MULTILINE)
    pairs = np.triu_indices(len(values), 1)
    for topics, *shown in rows:
        rng = np.random.default_rng(int(topics))
        drawn = means + np.array([rng.choice(row, int(topics)) for row in left])
        found = [(test(drawn).p[pairs] < 0.05).sum() for test in (tukey_hsd, holm_pairs)]
        assert shown == [f"{count:,}" for count in found], topics
    assert len(rows) == 4
    by_people, by_judge = re.findall(r"tells (\d+) of 1,378 pairs.*?and (\d+) by", page, re.S)[0]
    assert abs(int(by_people) - 123) <= 2 and abs(int(by_judge) - 125) <= 2


def test_what_to_label_next_is_in_runs_that_are_hard_to_tell_apart(job: Path) -> None:
    status, found = as_json("label-next", job, "--budget", "100")
    assert (status, len(found["items"])) == (0, 100)
    assert found["items"][0]["gain"] > 10 * found["items"][-1]["gain"]

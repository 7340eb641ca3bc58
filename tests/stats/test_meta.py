"""Meta-evaluation: what does not fit together is named and never scored as agreement."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.stats.texts import by_run, by_topic, rows, scores
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.show.comparison import correlation_lines
from trecjudge.stats.alignment import Rules
from trecjudge.stats.meta import Correlated, Correlation, meta_evaluate
from trecjudge.stats.resampling import NO_INTERVAL
from trecjudge.stats.scores import scores_of

TRUTH = by_run("H", r1=0.9, r2=0.7, r3=0.5, r4=0.3, r5=0.1)
KENDALL = Rules(correlations=["kendall"])


def evaluated(
    truth: str, judge: str, rules: Rules = KENDALL
) -> tuple[list[Correlated], list[tuple[str, str]]]:
    findings: list[Finding] = []
    sides = scores(truth, "human"), scores(judge, "judge")
    found = meta_evaluate(*sides, rules, findings.append)
    return found, [(finding.kind, str(finding)) for finding in findings]


def value(truth: str, judge: str, rules: Rules = KENDALL) -> float | None:
    return evaluated(truth, judge, rules)[0][0].correlations[0].value


LACKING = by_run("S", r2=0.4, r3=0.3, r4=0.2, r5=0.1)


def test_runs_on_one_side_only_are_an_error_that_names_them() -> None:
    with pytest.raises(
        InputError, match="judge: has no scores of 1 run: 'r1'; --rows missing=common"
    ):
        evaluated(TRUTH, LACKING)
    with pytest.raises(InputError, match="human: has no scores of 1 run: 'r6'"):
        evaluated(TRUTH, by_run("S", r1=1, r2=1, r3=1, r4=1, r5=1, r6=1))


@pytest.mark.parametrize(("on_missing", "tau"), [("common", 1.0), ("zero", 0.2)])
def test_or_are_handled_as_asked_and_still_named(on_missing: str, tau: float) -> None:
    rules = replace(KENDALL, on_missing=on_missing)  # type: ignore[arg-type]
    found, reported = evaluated(TRUTH, LACKING, rules)
    assert found[0].correlations[0].value == pytest.approx(tau)
    assert reported[0] == ("run_one_sided", "judge: has no scores of 1 run: 'r1'")


def test_fewer_than_three_runs_in_common() -> None:
    rules = replace(KENDALL, on_missing="common")
    with pytest.raises(InputError, match="2 runs in common with human; a correlation needs 3"):
        evaluated(TRUTH, by_run("S", r1=1, r2=2, x=3), rules)


def test_a_run_that_lacks_one_measure_is_named() -> None:
    judge = by_run("S", r1=5, r2=4, r3=3, r4=2, r5=1) + by_run("N", r1=1, r2=2, r3=3, r4=4)
    found, reported = evaluated(TRUTH, judge)
    assert ([one.measure for one in found], reported[0][0]) == (["S"], "measure_undefined")
    found, reported = evaluated(TRUTH, judge, replace(KENDALL, on_missing="common"))
    assert [(one.measure, len(one.runs)) for one in found] == [("S", 5), ("N", 4)]
    assert [one.correlations[0].value for one in found] == [1.0, -1.0]
    assert reported[0][0] == "run_one_sided"


def test_measures_of_one_name_come_first() -> None:
    truth = by_run("A", r1=1, r2=2, r3=3) + by_run("S", r1=1, r2=2, r3=3)
    judge = by_run("N", r1=1, r2=2, r3=3) + by_run("X.S", r1=1, r2=3, r3=2)
    found, _ = evaluated(truth, judge)
    assert (found[0].truth_measure, found[0].measure, len(found)) == ("S", "X.S", 4)
    lines = list(correlation_lines(found))
    assert lines[0].startswith("X.S by judge orders 3 runs as S does: kendall 0.333")
    assert lines[1].startswith("best of 4 pairs: N by judge orders 3 runs most as A does:")


def test_a_constant_column_is_no_agreement() -> None:
    found, reported = evaluated(TRUTH, by_run("S", r1=1, r2=1, r3=1, r4=1, r5=1))
    assert found[0].correlations == [Correlation("kendall", None, NO_INTERVAL, NO_INTERVAL)]
    assert reported == [("scores_constant", "judge: S is the same for all 5 runs: 1")]


def test_ties_are_named() -> None:
    _, reported = evaluated(TRUTH, by_run("S", r1=3, r2=3, r3=2, r4=1, r5=0))
    assert reported == [("scores_tied", "judge: S: 5 runs have 4 different values")]


def table(runs: int, topics: int, noise: float, measure: str, shift: float = 0.0) -> str:
    rng = np.random.default_rng(11)
    truth = rng.random((runs, topics)) + np.linspace(0, 1, runs)[:, None]
    values = truth + np.random.default_rng(5).normal(0, noise, truth.shape) + shift
    return "".join(by_topic(f"r{i:02d}", row.round(4), measure) for i, row in enumerate(values))


HUMAN, JUDGE = table(12, 20, 0.0, "H"), table(12, 20, 0.6, "S")


def test_intervals_over_topics_and_over_runs() -> None:
    (found,), reported = evaluated(HUMAN, JUDGE, Rules())
    assert (len(found.runs), found.topics, reported) == (12, 20, [])
    for one in found.correlations:
        assert one.value is not None
        for interval in (one.topics, one.runs):
            low, high = interval
            assert low is not None and high is not None
            assert -1 <= low < one.value <= high <= 1


def test_without_topics_there_is_only_an_interval_over_runs() -> None:
    six = TRUTH + by_run("H", r6=0.0)
    (found,), _ = evaluated(six, by_run("S", r1=5, r2=3, r3=4, r4=2, r5=1, r6=0))
    assert found.correlations[0].topics == NO_INTERVAL
    assert found.correlations[0].runs.low is not None


def test_few_runs_that_agree_are_no_certainty() -> None:
    (found,), _ = evaluated(TRUTH, TRUTH.replace("H", "S"))
    assert found.correlations == [Correlation("kendall", 1.0, NO_INTERVAL, NO_INTERVAL)]


def renamed(text: str) -> str:
    """Return the lines with runs and topics called otherwise, in another order."""
    lines = [
        f"x{99 - int(run[1:])} y{999 - int(topic[1:])} {rest}"
        for run, topic, rest in (line.split(" ", 2) for line in text.splitlines())
    ]
    random.Random(3).shuffle(lines)
    return "\n".join(lines)


def test_the_result_hangs_neither_on_names_nor_on_the_order_of_rows() -> None:
    (before,), _ = evaluated(HUMAN, JUDGE, Rules())
    (after,), _ = evaluated(renamed(HUMAN), renamed(JUDGE), Rules())
    assert before.correlations == after.correlations
    assert (before.truth, before.predicted) == (after.truth, after.predicted)


def test_topics_on_one_side_only_are_named() -> None:
    longer = HUMAN + "".join(by_run("H", topic="more", **{f"r{i:02d}": i}) for i in range(12))
    (found,), reported = evaluated(longer, JUDGE)
    assert found.topics == 20
    assert reported[-1] == ("topic_one_sided", "judge: has no scores on 1 topics of human: 'more'")


@pytest.mark.parametrize(("all_rows", "tau"), [("given", -1.0), ("recomputed", 1.0)])
def test_the_all_rows_or_the_topics_of_both_sides(all_rows: str, tau: float) -> None:
    topics = "".join(by_run("H", topic="t", **{f"r{i}": 5 - i}) for i in range(1, 6))
    opposite = by_run("H", r1=1, r2=2, r3=3, r4=4, r5=5)
    judge = "".join(by_run("S", topic="t", **{f"r{i}": 5 - i}) for i in range(1, 6))
    rules = replace(KENDALL, all_rows=all_rows)  # type: ignore[arg-type]
    assert value(topics + opposite, judge, rules) == tau


def test_no_topic_in_common() -> None:
    one, other = by_topic("r1", [1]), "r1 other M 1\n"
    others = "".join(f"r{i} other M {i}\n" for i in (2, 3)) + other
    ones = "".join(by_topic(f"r{i}", [i]) for i in (2, 3)) + one
    with pytest.raises(InputError, match="no topic in common with human; --rows all=given"):
        evaluated(ones, others, replace(KENDALL, all_rows="recomputed"))
    assert value(ones, others) == 1.0


def test_every_wanted_pair_of_measures() -> None:
    truth = TRUTH + by_run("G", r1=1, r2=2, r3=3, r4=4, r5=5)
    judge = by_run("S", r1=5, r2=4, r3=3, r4=2, r5=1) + by_run("N", r1=1, r2=2, r3=3, r4=4, r5=5)
    found, _ = evaluated(truth, judge)
    pairs = [(one.truth_measure, one.measure, one.correlations[0].value) for one in found]
    assert pairs == [("H", "S", 1.0), ("H", "N", -1.0), ("G", "S", -1.0), ("G", "N", 1.0)]
    found, _ = evaluated(truth, judge, replace(KENDALL, truth_measures=["G"], measures=["N"]))
    assert [(one.truth_measure, one.measure) for one in found] == [("G", "N")]


def test_unknown_measures_are_an_error() -> None:
    with pytest.raises(InputError, match="human: unknown measure 'X'; there are: H"):
        evaluated(TRUTH, TRUTH, replace(KENDALL, truth_measures=["X"]))


def test_a_duplicate_of_the_truth_does_not_count_twice() -> None:
    doubled = scores_of("human", rows(TRUTH + "r1 all H 0\n"), lambda finding: None)
    judge = scores(by_run("S", r1=5, r2=4, r3=3, r4=2, r5=1), "judge")
    (found,) = meta_evaluate(doubled, judge, KENDALL, lambda finding: None)
    assert found.correlations[0].value == 1.0


def test_as_json_values() -> None:
    (found,), _ = evaluated(TRUTH, by_run("S", r1=5, r2=4, r3=3, r4=2, r5=1))
    record = found.as_dict()
    assert (record["runs"], record["topics"], record["truth_measure"]) == (5, 0, "H")
    assert record["means"][-1] == {"run_id": "r1", "truth": 0.9, "predicted": 5.0}
    assert record["correlations"]["kendall"]["value"] == 1.0


def test_names_change_nothing_where_nearly_everything_ties() -> None:
    rng = np.random.default_rng(4)
    truth = (rng.random((12, 15)) < 0.6).astype(float)
    judge = np.where(rng.random((12, 15)) < 0.2, 1 - truth, truth)

    def reported(runs: list[int], topics: list[int]) -> list[Correlation]:
        sides = [
            "".join(
                f"r{runs[i]:02d} t{topics[j]:02d} M {side[i, j]}\n"
                for i in range(12)
                for j in range(15)
            )
            for side in (truth, judge)
        ]
        return list(evaluated(*sides, Rules())[0][0].correlations)

    before = reported(list(range(12)), list(range(15)))
    for _ in range(3):
        assert reported(rng.permutation(12).tolist(), rng.permutation(15).tolist()) == before


@pytest.mark.parametrize(
    ("runs", "measures"), [(1001, 1), (3, 71), (500, 9)], ids=["runs", "measures", "both"]
)
def test_what_would_take_hours_is_refused(runs: int, measures: int) -> None:
    names = [f"M{number}" for number in range(measures)]
    board = "".join(f"r{run} all {name} {run}\n" for run in range(runs) for name in names)
    with pytest.raises(InputError, match="runs are too many to correlate"):
        evaluated(board, board)
    only = replace(KENDALL, measures=names[:1], truth_measures=names[:1])
    if runs < 100:
        assert value(board, board, only) == 1.0

"""A few labels of people: what they would make of each response, and of the means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tests.fakes import judgment, response
from trecjudge.inputs.labels import ItemKey
from trecjudge.judges.citation import CitationJudge
from trecjudge.judges.support import SupportJudge
from trecjudge.measures import MeasureSpec
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, PARTIAL, Failure, Judgment, Response
from trecjudge.results.statistics import Corrected
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.statistics import rank_by_measure, statistics_lines
from trecjudge.stats.labelled import BLIND, KNOWN, LABELS, LEAST, MOST, OPEN

RESPONSE = response(*((f"Sentence {i}.", ["d"]) for i in range(4)))
SUPPORT = SupportJudge().measures
CITATION = CitationJudge().measures


def judged(*labels: str | None) -> list[Judgment]:
    """Return a judgment of the judge `j` on each sentence; None is unjudged."""
    failure = Failure("transport", "reset")
    return [
        judgment(
            label,
            sentence_index=i,
            doc_id="d",
            citation="d",
            exists=True,
            judge="j",
            failure=None if label else failure,
        )
        for i, label in enumerate(labels)
    ]


def labels(**by_sentence: str) -> dict[ItemKey, str]:
    """Return labels by sentence: `labels(s0="full")`."""
    return {("t1", "r", int(name[1:]), "d"): label for name, label in by_sentence.items()}


def values(
    given: Mapping[ItemKey, str], judgments: list[Judgment], judge: str = "j"
) -> dict[str, float]:
    """Return each measure with the labelled items as people say, the others as the judge does."""
    people = HumanLabels(given, {judge: SupportJudge()})
    people.add(SUPPORT, RESPONSE, judgments)
    found = {name: one.table for name, one in people.by_measure.items()}
    return {name: table[KNOWN] + table[OPEN.start + 1] for name, table in found.items() if table}


JUDGED = judged(FULL, FULL, NONE, NONE)


def test_labels_of_all_items_are_what_people_make_of_the_response() -> None:
    found = values(labels(s0="none", s1="full", s2="partial", s3="none"), JUDGED)
    assert found["WEIGHTED_PRECISION"] == pytest.approx(1.5 / 4)
    assert found["HARD_PRECISION"] == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param({}, 0.5, id="no label"),
        pytest.param({"s0": "full"}, 0.5, id="the judge is right"),
        pytest.param({"s0": "none"}, 0.25, id="one is wrong"),
        pytest.param({"s2": "partial", "s3": "none"}, 0.625, id="half a point too low"),
    ],
)
def test_a_label_counts_for_its_own_item(given: dict[str, str], wanted: float) -> None:
    assert values(labels(**given), JUDGED)["WEIGHTED_PRECISION"] == pytest.approx(wanted)


def test_a_weight_is_corrected_by_the_label_of_the_item_that_has_it() -> None:
    """Items of one label have weights of their own; what people label counts as it does there."""
    weights = (0.9, 0.7, 0.3, 0.1)
    own = [replace(j, expected=w, p_full=w) for j, w in zip(JUDGED, weights, strict=True)]
    assert values({}, own)["EXPECTED_PRECISION"] == pytest.approx(0.5)
    assert values(labels(s1="none"), own)["EXPECTED_PRECISION"] == pytest.approx(1.3 / 4)
    assert values(labels(s3="partial"), own)["EXPECTED_PRECISION"] == pytest.approx(2.4 / 4)


def test_an_item_in_no_numerator_and_no_denominator_counts_once_it_is_labelled() -> None:
    own = [*JUDGED[:3], replace(JUDGED[3], label=NOTHING_TO_CHECK, grade=None)]
    assert values({}, own)["WEIGHTED_PRECISION"] == pytest.approx(2 / 3)
    assert values(labels(s3="none"), own)["WEIGHTED_PRECISION"] == pytest.approx(2 / 4)


def test_an_unjudged_item_is_put_where_the_others_are_until_people_label_it() -> None:
    own = judged(FULL, None, NONE, NONE)
    assert values(labels(s0="full"), own)["WEIGHTED_PRECISION"] == pytest.approx(1 / 3)
    assert values(labels(s1="full"), own)["WEIGHTED_PRECISION"] == pytest.approx(0.5)
    people = HumanLabels({}, {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, own)
    assert people.by_measure["WEIGHTED_PRECISION"].rows[BLIND] == pytest.approx(1 / 16)


def test_a_measure_in_which_items_do_not_count_for_themselves_needs_all_labels() -> None:
    own = judged(FULL, FULL, FULL, NONE)
    for given, wanted in (
        ({"s0": "full"}, None),
        (dict.fromkeys(("s0", "s1", "s2", "s3"), "full"), 1.0),
    ):
        people = HumanLabels(labels(**given), {"j": CitationJudge()})
        people.add(CITATION, RESPONSE, own)
        assert people.by_measure["CITATION_SUPPORT"].is_additive
        table = people.by_measure["PERFECT_CITATIONS"].table
        assert (table and table[KNOWN]) == wanted


def test_items_whose_changes_add_up_by_chance_need_all_labels() -> None:
    def by_chance(_: Response, judgments: Sequence[Judgment]) -> float:
        a, b, c, d = (float(judgment.label == FULL) for judgment in judgments)
        return (a + b + c + d + a * b - c * d) / 4

    spec = replace(SUPPORT, measures=(MeasureSpec("CHANCE", by_chance),), sort_by="")
    people = HumanLabels(labels(s0="full"), {"j": SupportJudge()})
    people.add(spec, RESPONSE, judged(NONE, NONE, NONE, NONE))
    assert not people.by_measure["CHANCE"].is_additive
    assert people.by_measure["CHANCE"].table is None


def test_a_citation_of_no_document_needs_no_label() -> None:
    missing = replace(JUDGED[3], exists=False)
    people = HumanLabels(labels(s0="full", s1="none", s2="none"), {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, [*JUDGED[:3], missing])
    row = people.by_measure["WEIGHTED_PRECISION"].rows
    assert (row[KNOWN], row[LEAST], row[MOST], row[LABELS]) == (0.25, 0.0, 0.0, 3.0)


def test_a_response_with_nothing_to_label_is_certain() -> None:
    people = HumanLabels(labels(s0="full"), {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, [])
    assert people.by_measure == {}


def test_labels_are_counted() -> None:
    given = labels(s0="full", s1="perhaps", s9="full")
    people = HumanLabels(given, {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, JUDGED)
    assert people.counts("X") == {
        "given": 3,
        "of_judged_items": 1,
        "unusable": 1,
        "effect": None,
    }
    (why,) = people.unusable.values()
    assert why == "label 'perhaps' is none of full, partial, none"


def test_labels_of_another_judge_are_left() -> None:
    people = HumanLabels(labels(s0="full"), {"other": SupportJudge()})
    people.add(SUPPORT, RESPONSE, JUDGED)
    assert (people.matched, people.by_measure) == (0, {})


def board(people: HumanLabels) -> Leaderboard:
    """Return a leaderboard of four topics; the judge finds support in two, people in one."""
    board = Leaderboard(SUPPORT, ["t1", "t2", "t3", "t4"])
    for topic_id, label in (("t1", FULL), ("t2", FULL), ("t3", NONE)):
        answered: Response = response(("S.", ["d"]), topic_id=topic_id)
        own = [replace(judged(label)[0], topic_id=topic_id)]
        board.add(answered, own)
        people.add(SUPPORT, answered, own)
    board.finish()
    return board


def test_few_labels_change_their_own_items_only() -> None:
    given: dict[ItemKey, str] = {("t1", "r", 0, "d"): "full", ("t2", "r", 0, "d"): "partial"}
    people = HumanLabels(given, {"j": SupportJudge()})
    (standing,) = rank_by_measure(board(people), people)["WEIGHTED_PRECISION"]
    assert (standing.mean, standing.topics) == (0.5, 4)
    # The missing fourth response is 0 whoever judges.
    assert standing.human == Corrected(2, (1 + 0.5 + 0 + 0) / 4, None, None)
    assert people.effects["WEIGHTED_PRECISION"] == {"labels": 2, "needed": 20}


def test_all_labels_leave_no_doubt() -> None:
    given: dict[ItemKey, str] = {(topic, "r", 0, "d"): "full" for topic in ("t1", "t2", "t3")}
    people = HumanLabels(given, {"j": SupportJudge()})
    (standing,) = rank_by_measure(board(people), people)["WEIGHTED_PRECISION"]
    assert standing.human == Corrected(3, 0.75, 0.75, 0.75)


def test_without_labels_there_is_no_correction() -> None:
    people = HumanLabels({}, {})
    leaderboard = board(people)
    found = rank_by_measure(leaderboard, people)
    assert all(s.human is None for column in found.values() for s in column)
    lines = list(statistics_lines(leaderboard, found))
    assert len(lines) == len(SUPPORT.measures)
    assert lines[0].startswith(b'{"run_id":"r","measure":"WEIGHTED_PRECISION","mean":0.5,')


def test_judged_and_expected_are_those_of_the_measures_own_judge() -> None:
    named = zip(SUPPORT.measures, "jkjk", strict=False)
    spec = replace(SUPPORT, measures=tuple(replace(m, judge=j) for m, j in named))
    found = Leaderboard(spec, ["t1"])
    found.add(RESPONSE, [*judged(FULL, None, FULL, PARTIAL), replace(judged(FULL)[0], judge="k")])
    found.finish()
    counts = [found.counts("r", measure) for measure in spec.measures]
    assert counts == [(3, 4), (1, 1), (3, 4), (1, 1)]
    assert found.counts("r", replace(spec.measures[0], judge="")) == (4, 5)

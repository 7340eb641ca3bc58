"""A few labels of people: what they would make of each response, and of the means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.fakes import judgment, response
from trecjudge.inputs.labels import ItemKey
from trecjudge.judges.citation import CitationJudge
from trecjudge.judges.support import SupportJudge
from trecjudge.records import FULL, NONE, PARTIAL, Failure, Judgment, Response
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.statistics import standing_lines, standings_of

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


def values(given: Mapping[ItemKey, str], judgments: list[Judgment]) -> dict[str, float]:
    people = HumanLabels(given, {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, judgments)
    return {measure: made.estimate for (_, _, measure), made in people.values.items()}


JUDGED = judged(FULL, FULL, NONE, NONE)


def test_labels_of_all_items_are_what_people_make_of_the_response() -> None:
    found = values(labels(s0="none", s1="full", s2="partial", s3="none"), JUDGED)
    assert found["WEIGHTED_PRECISION"] == pytest.approx(1.5 / 4)
    assert found["HARD_PRECISION"] == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param({"s0": "full"}, 0.5, id="the judge is right"),
        pytest.param({"s0": "none"}, -0.5, id="one of one is wrong: all may be"),
        pytest.param({"s0": "none", "s1": "full"}, 0.0, id="one of two is wrong"),
        pytest.param({"s2": "partial", "s3": "none"}, 0.75, id="half a point of two too low"),
    ],
)
def test_labels_of_some_items_stand_for_all(given: dict[str, str], wanted: float) -> None:
    # The mean over responses is what is estimated: one of them may go below 0.
    assert values(labels(**given), JUDGED)["WEIGHTED_PRECISION"] == pytest.approx(wanted)


def test_what_the_labels_give_without_the_judge() -> None:
    people = HumanLabels(labels(s0="none", s1="partial"), {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, JUDGED)
    made = people.values["r", "t1", "WEIGHTED_PRECISION"]
    assert (made.without_judge, made.estimate) == (0.25, pytest.approx(0.5 - 0.75))


def test_a_measure_in_which_items_do_not_count_for_themselves_needs_all_labels() -> None:
    people = HumanLabels(labels(s0="full"), {"j": CitationJudge()})
    people.add(CITATION, RESPONSE, judged(FULL, FULL, FULL, NONE))
    names = {measure for _, _, measure in people.values}
    assert "CITATION_SUPPORT" in names
    assert "PERFECT_CITATIONS" not in names
    assert people.undetermined >= {("r", "t1", "PERFECT_CITATIONS")}
    assert not people.undetermined & people.values.keys()


def test_an_unjudged_item_that_people_did_not_label_leaves_it_open() -> None:
    assert values(labels(s0="full"), judged(FULL, None, NONE, NONE)) == {}
    whole = values(
        labels(s0="full", s1="full", s2="none", s3="none"), judged(FULL, None, NONE, NONE)
    )
    assert whole["WEIGHTED_PRECISION"] == 0.5


def test_a_citation_of_no_document_needs_no_label() -> None:
    missing = replace(JUDGED[3], exists=False)
    found = values(labels(s0="full", s1="none", s2="none"), [*JUDGED[:3], missing])
    assert found["WEIGHTED_PRECISION"] == 0.25


def test_a_response_with_nothing_to_label_is_certain() -> None:
    people = HumanLabels(labels(s0="full"), {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, [])
    assert ("r", "t1", "WEIGHTED_PRECISION") in people.certain


def test_labels_are_counted() -> None:
    given = labels(s0="full", s1="perhaps", s9="full")
    people = HumanLabels(given, {"j": SupportJudge()})
    people.add(SUPPORT, RESPONSE, JUDGED)
    assert people.counts == {"given": 3, "of_judged_items": 1, "unusable": 1}
    (why,) = people.unusable.values()
    assert why == "label 'perhaps' is none of full, partial, none"


def test_labels_of_another_judge_are_left() -> None:
    people = HumanLabels(labels(s0="full"), {"other": SupportJudge()})
    people.add(SUPPORT, RESPONSE, JUDGED)
    assert (people.values, people.counts["of_judged_items"]) == ({}, 0)


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


def test_a_mean_is_corrected_by_the_labels() -> None:
    given: dict[ItemKey, str] = {("t1", "r", 0, "d"): "full", ("t2", "r", 0, "d"): "partial"}
    people = HumanLabels(given, {"j": SupportJudge()})
    (standing,) = standings_of(board(people), people)["WEIGHTED_PRECISION"]
    assert (standing.mean, standing.topics) == (0.5, 4)
    human = standing.human
    assert human is not None
    # The judge is 0.25 too high on the labelled; the missing fourth response cannot be labelled.
    assert (human.labelled, human.mean) == (2, pytest.approx(0.5 - 0.75 * 0.25))
    assert human.labels_mean == pytest.approx(0.75 * 0.75)


def test_where_only_short_responses_tell_a_measure_it_is_not_corrected() -> None:
    """A response of one item is labelled whole, one of four in part."""
    given: dict[ItemKey, str] = {(topic, "r", 0, "d"): "full" for topic in ("t1", "t2", "t3")}
    people = HumanLabels(given, {"j": CitationJudge()})
    found = Leaderboard(CITATION, ["t1", "t2", "t3"])
    for topic_id, items in (("t1", 4), ("t2", 1), ("t3", 1)):
        answered = response(*((f"S{i}.", ["d"]) for i in range(items)), topic_id=topic_id)
        own = [replace(one, topic_id=topic_id) for one in judged(*[FULL] * items)]
        found.add(answered, own)
        people.add(CITATION, answered, own)
    found.finish()
    columns = standings_of(found, people)
    corrected = {name: column[0].human is not None for name, column in columns.items()}
    assert (corrected["CITATION_SUPPORT"], corrected["PERFECT_CITATIONS"]) == (True, False)


def test_without_labels_there_is_no_correction() -> None:
    people = HumanLabels({}, {})
    leaderboard = board(people)
    found = standings_of(leaderboard, people)
    assert all(s.human is None for column in found.values() for s in column)
    lines = list(standing_lines(leaderboard, found))
    assert len(lines) == len(SUPPORT.measures)
    assert lines[0].startswith(b'{"run_id":"r","measure":"WEIGHTED_PRECISION","mean":0.5,')


def test_judged_and_expected_are_those_of_the_measures_own_judge() -> None:
    spec = replace(
        SUPPORT,
        measures=tuple(replace(m, judge=j) for m, j in zip(SUPPORT.measures, "jkjk", strict=True)),
    )
    found = Leaderboard(spec, ["t1"])
    found.add(RESPONSE, [*judged(FULL, None, FULL, PARTIAL), replace(judged(FULL)[0], judge="k")])
    found.finish()
    counts = [found.counts("r", measure) for measure in spec.measures]
    assert counts == [(3, 4), (1, 1), (3, 4), (1, 1)]
    assert found.counts("r", replace(spec.measures[0], judge="")) == (4, 5)

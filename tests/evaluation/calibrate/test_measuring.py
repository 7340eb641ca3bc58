from __future__ import annotations

from collections.abc import Mapping

from trecjudge.evaluation.calibrate.fitting import measure, measure_apart
from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.judging.offline.wording import SHIPPED
from trecjudge.text.frequencies import Frequencies

ABOUT = {"a": "Gluons bind quarks.", "b": "Gluons bind towers.", "c": "Poets praise towers."}
PAIRS = [LabelledPair(topic, text, text, 1.0) for topic, text in ABOUT.items()]


def test_a_topic_is_measured_by_the_words_of_the_others() -> None:
    tables: list[tuple[int, Mapping[str, int]]] = []

    def table(passages: int, counts: Mapping[str, int]) -> Frequencies:
        tables.append((passages, dict(counts)))
        return SHIPPED

    found, whole = measure_apart(PAIRS, list("abc"), table)
    assert tables[0] == (2, {"gluon": 1, "bind": 1, "tower": 2, "poet": 1, "prais": 1})
    assert tables[-1][0] == 3
    assert tables[-1][1]["gluon"] == 2
    assert (len(found), whole) == (3, SHIPPED)


def test_each_pair_is_measured_by_its_table() -> None:
    rare = Frequencies.of(9, {"gluon": 9, "bind": 1})
    first, second = measure([PAIRS[0], PAIRS[0]], [SHIPPED, rare])
    assert first.features.weight != second.features.weight

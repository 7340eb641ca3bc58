"""Near copies that say another thing, each beside one that says the same."""

from __future__ import annotations

import pytest

from tests.judging.offline.blind_spots import Twins, by_kind, read_twins
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import SupportComparison, compare

KINDS = by_kind(list(read_twins()))
# What still passes for full support, of so many: words see no more. Rules that see more of the
# words that replace others call none what people label full: "goal" and "target".
MOST_WRONG = {
    "same words in another relation": 2,
    "one word replaced": 6,
    "one word added": 4,
    "comparatives and bounds": 1,
    "units": 1,
    "compounds": 9,
    "keys and JSON": 4,
}


def judged(sentence: str, document: str) -> SupportComparison:
    return compare(sentence, prepare(document))


def test_a_kind_has_twenty_twins_and_more() -> None:
    wrong = [kind for kind in KINDS if len(KINDS[kind]) <= 20]
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_the_true_twin_is_full_support(kind: str) -> None:
    missed = [
        one.true for one in KINDS[kind] if judged(one.true, one.document).label != "full_support"
    ]
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("kind", KINDS)
def test_the_false_twin_is_none(kind: str) -> None:
    passed = [
        one.false for one in KINDS[kind] if judged(one.false, one.document).label == "full_support"
    ]
    assert len(passed) <= MOST_WRONG[kind], passed


@pytest.mark.parametrize("kind", KINDS)
def test_the_true_twin_is_above_the_false_one(kind: str) -> None:
    def above(one: Twins) -> bool:
        return judged(one.true, one.document).full > judged(one.false, one.document).full

    assert sum(map(above, KINDS[kind])) >= 0.85 * len(KINDS[kind])


@pytest.mark.parametrize(
    ("sentence", "document", "differing"),
    [
        pytest.param(
            "Arsenal won the league.",
            "City won the league ahead of Arsenal.",
            ("Arsenal",),
            id="another won",
        ),
        pytest.param(
            "Arsenal won the league.",
            "City won the league ahead of Arsenal. In 2002 Arsenal won the league.",
            (),
            id="won it, too",
        ),
        pytest.param("Peru beat Chile.", "Chile beat Peru.", ("beat",), id="exchanged"),
        pytest.param("Peru beat Chile.", "Chile was beaten by Peru.", (), id="passive"),
        pytest.param("Peru met Chile.", "Chile met Peru.", (), id="mutual"),
        pytest.param("Tea is dearer than ale.", "Ale is dearer than tea.", ("than",), id="than"),
        pytest.param("Tea is dearer than ale.", "Ale is cheaper than tea.", (), id="turned twice"),
    ],
)
def test_who_does_what_to_whom(sentence: str, document: str, differing: tuple[str, ...]) -> None:
    found = judged(sentence, document)
    assert found.differing == differing
    assert not (differing and found.label == "full_support")


def test_the_reason_says_what_is_the_other_way_round() -> None:
    found = judged("Peru beat Chile.", "Chile beat Peru.")
    assert found.label == "no_support"
    assert found.reason.endswith("the other way round there: 'beat'")


FILLER = "The minutes of the meeting were read and the agenda was agreed by those present. "


def test_in_a_long_document_words_far_apart_are_no_support() -> None:
    words = ["Gluons", "bind", "quarks", "inside", "protons", "tightly", "at", "short", "range"]
    scattered = " ".join(f"{FILLER * 8}It mentions {word} too." for word in words)
    together = f"{FILLER * 60}{' '.join(words)}. {FILLER * 60}"
    assert judged(" ".join(words) + ".", together).label == "full_support"
    assert judged(" ".join(words) + ".", scattered).label != "full_support"


def test_two_passages_of_a_long_document_count_together() -> None:
    first, second = "Quill sold the Dunmoor foundry in 1911.", "Abbott bought the Kilbride quarry."
    document = f"{FILLER * 30}{first} {FILLER * 30}{second} {FILLER * 30}"
    found = judged(
        "Quill sold the Dunmoor foundry, and Abbott bought the Kilbride quarry.", document
    )
    assert (found.label, found.missing) == ("full_support", ())

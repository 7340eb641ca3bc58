"""Short sentences: what is missing or another in them, and a reason that agrees with the label."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.offline.short_pairs import REPLACED, SUPPORTED
from trecjudge.judging.offline.features import Features
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import (
    Calibration,
    SupportComparison,
    Weight,
    compare,
    shipped_calibration,
)
from trecjudge.judging.offline.wording import SHIPPED


def judged(sentence: str, document: str) -> SupportComparison:
    return compare(sentence, prepare(document))


def test_another_word_in_its_place_is_no_full_support() -> None:
    found = {name: judged(*given) for name, *given in REPLACED}
    assert not [n for n, one in found.items() if one.label == "full_support" or not one.reason]


def test_the_same_in_other_words_stays_supported() -> None:
    wrong = [pair for pair in SUPPORTED if judged(*pair[1:]).label == "no_support"]
    assert not wrong


def test_replaced() -> None:
    cases = {
        "colour": ("The ferry is blue.", "The ferry is red.", ("blue",)),
        "both": ("The ferry is blue.", "The blue ferry left the red pier.", ()),
        "swapped": ("The ferry is blue.", "The ferry is red. The bus is blue.", ("ferry", "blue")),
        "month": ("It opened in May.", "It opened in June.", ("May",)),
        "may is no month": ("It may open early.", "It opens early in June.", ()),
        "name": ("He moved to Lyon.", "He moved to Turin.", ("Lyon",)),
        "no name shape": ("He flew to the US.", "He flew to the United States.", ()),
        "both may be": ("It is safe.", "It is not unsafe.", ()),
        "prefix": ("The dam is unsafe.", "The old dam is safe.", ("unsafe",)),
        "count": ("It has seven rooms.", "It has three rooms.", ("seven",)),
        "year": ("It opened in 1931.", "It opened in 1913.", ("1931",)),
        "year missing": ("It opened in 1931.", "It opened in spring.", ()),
        "another count": ("It took two decades.", "It took twenty years.", ()),
        "unit": ("The pipe is 5 km.", "The pipe is 5 miles.", ("km",)),
        "bound": ("The lake is over 30 m deep.", "The lake is under 30 m deep.", ("30 m",)),
        "of a long sentence in its place": (
            "In 1987 volunteers painted the old mill by the river in a bright yellow.",
            "In 1987 volunteers painted the old mill by the river in a bright green.",
            ("yellow",),
        ),
        "of a long sentence elsewhere": (
            "In 1987 volunteers painted the old mill by the river in a bright yellow.",
            "In 1987 volunteers painted the old mill by the green river in a bright colour.",
            (),
        ),
    }
    wrong = {
        name: found
        for name, (sentence, document, replaced) in cases.items()
        if (found := judged(sentence, document).replaced) != replaced
    }
    assert not wrong


REASONS = {
    "one fact, another": (
        "The ferry is blue.",
        "The ferry is red.",
        "no_support",
        "another stands there for 'blue'",
    ),
    "one of two": (
        "The ferry, painted blue, sails daily.",
        "The ferry, painted red, sails daily.",
        "no_support",
        "another stands there for 'blue'",
    ),
    "a telling word missing": (
        "The ferry to Oslo is late.",
        "The ferry to Oslo is red.",
        "partial_support",
        "missing: 'late'",
    ),
    "half of it missing": (
        "Mia owns a poodle.",
        "Mia owns a terrier.",
        "no_support",
        "missing: 'poodle'",
    ),
    "a synonym": (
        "The firm bought the mine.",
        "The firm acquired the mine.",
        "full_support",
        "the rest in other words",
    ),
    "a long sentence": (
        "The old mill by the river was painted green by volunteers in 1987.",
        "The old mill by the river was coloured green by volunteers in 1987.",
        "full_support",
        "not word for word: 'painted'",
    ),
    "function words": (
        "Is it so?",
        "The mill burned. It was so.",
        "no_support",
        "the sentence has only function words: nothing in it can be attested",
    ),
    "function words, word for word": (
        "It was so.",
        "The mill burned. It was so.",
        "full_support",
        "the sentence stands in the document word for word",
    ),
    "one common word": (
        "There were many people.",
        "People came; there were many.",
        "no_support",
        "the sentence has only function words: nothing in it can be attested",
    ),
}


@pytest.mark.parametrize(("sentence", "document", "label", "reason"), REASONS.values(), ids=REASONS)
def test_label_and_reason(sentence: str, document: str, label: str, reason: str) -> None:
    found = judged(sentence, document)
    assert found.label == label
    assert found.reason.split("; ")[-1] == reason


@pytest.mark.parametrize(
    "sentence",
    [
        "This is why it was so.",
        "Das ist es, was sie dort waren.",
        "C'est ce qui était avec elle.",
        "Eso es lo que era.",
        "Questo non è quello che era.",
        "Это было там, где они были.",
        "هذا هو الذي كان",
        "यह वह है जो था",
        "这是为什么。",
        "それはそうです。",
    ],
)
def test_function_words_say_nothing_that_can_be_attested(sentence: str) -> None:
    found = judged(sentence, f"Lyon 1931. {sentence[:-2]} Lyon; {sentence.rstrip('. 。')} Lyon.")
    assert (found.label, found.score) == ("no_support", 0.0)


def test_words_of_another_language_are_words_of_an_english_sentence() -> None:
    assert judged("The man died in the war.", "The man died in the war.").label == "full_support"
    assert judged("The man was at war.", "The sea was calm.").missing == ("man", "war")


WORDS = st.sampled_from(
    (  # noqa: SIM905
        "the is in of a ferry mill river Oslo Lyon blue red May June 5 7 km miles not sold bought"
        " was rose fell big large seven and it Ferry 渡轮 是 蓝色 Паром синий"
    ).split()
)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from([".", ","])), max_size=14).map(" ".join)
WEIGHTS = st.floats(-6, 6)


@st.composite
def calibrations(draw: st.DrawFn) -> Calibration:
    """Draw weights of any sign: no fit may bring label and reason apart."""
    rows = [Weight(0.0, 3.0, draw(WEIGHTS), draw(WEIGHTS)) for _ in Features._fields]
    return Calibration(tuple(rows), draw(WEIGHTS), draw(WEIGHTS), SHIPPED)


@given(TEXTS, TEXTS, st.booleans(), st.one_of(st.builds(shipped_calibration), calibrations()))
def test_label_and_reason_agree(
    sentence: str, document: str, copied: bool, by: Calibration
) -> None:
    found = compare(sentence, prepare(f"{sentence} {document}" if copied else document), by)
    parts = found.reason.split("; ")
    against = ("missing:", "another stands", "negated", "says the opposite")
    if found.label == "full_support":
        assert not found.numbers_missing
        assert not found.wanting
        assert not any(part.startswith(against) for part in parts)
        assert parts[0].startswith(("the sentence stands", *map(str, range(45, 101))))
    elif parts[0][0].isdigit():
        assert parts[1:]
    for part in parts:
        if part.startswith("missing:"):
            assert found.missing


@given(TEXTS)
def test_what_stands_there_word_for_word_is_never_contradicted(sentence: str) -> None:
    found = judged(sentence, sentence)
    assert (found.missing, found.replaced, found.numbers_missing) == ((), (), ())

"""What a response says of each nugget, and where."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import judgment, response
from trecjudge.records import AskedNugget, Evidence, Failure, Judgment
from trecjudge.show.tones import (
    Stating,
    Tone,
    by_tone,
    marks_of,
    sentences_of,
    statings,
    tone,
    word,
)

ANSWER = response(("Tin lines it.", ["d"]), ("It was lit in 1871.", []), ("No more.", []))
LIT = AskedNugget("n1", "When was it lit?", "vital")


def on(
    label: str | None, sentence: int | None = None, nugget: AskedNugget = LIT, **fields: Any
) -> Judgment:
    fields.setdefault("judge", "nuggets")
    return judgment(label, sentence_index=sentence, nugget=nugget, **fields)


FAILED = on(None, failure=Failure("parse", "no label"))


def test_labels_of_nuggets() -> None:
    expected = {
        "support": ("good", "stated"),
        "partial_support": ("part", "stated in part"),
        "not_support": ("bad", "not stated"),
        "supports": ("good", "stated"),
        "partial": ("part", "stated in part"),
        "contradicts": ("against", "contradicted"),
        "none": ("bad", "not stated"),
        "very-similar": ("good", "very similar"),
        "UNANSWERABLE": ("plain", "UNANSWERABLE"),
    }
    assert {label: (tone(on(label)), word(on(label))) for label in expected} == expected


def test_labels_of_nuggets_mean_that_only_on_nuggets() -> None:
    assert (tone(judgment("none")), tone(judgment("partial_support"))) == ("plain", "part")
    assert word(judgment("partial_support")) == "partial_support"
    assert tone(FAILED) == "unjudged"


@pytest.mark.parametrize(
    ("start", "end", "where"),
    [
        pytest.param(0, 13, [(0, 0, 13)], id="a whole sentence"),
        pytest.param(18, 26, [(1, 4, 12)], id="inside one"),
        pytest.param(9, 20, [(0, 9, 13), (1, 0, 6)], id="over a border"),
        pytest.param(13, 14, [], id="the space between"),
        pytest.param(400, 500, [], id="nowhere"),
    ],
)
def test_a_passage_lies_in_sentences(
    start: int, end: int, where: list[tuple[int, int, int]]
) -> None:
    assert list(sentences_of(ANSWER, Evidence(start, end))) == where


def test_a_judgment_on_the_whole_says_where_by_its_passage() -> None:
    (found,) = statings(ANSWER, [judgment("x"), on("support", evidence=Evidence(14, 33))])
    assert found == Stating(LIT, "nuggets", 1, "good", [(1, 0, 19)])


def test_what_is_lacking_is_nowhere() -> None:
    (found,) = statings(ANSWER, [on("not_support", evidence=Evidence(14, 33))])
    assert (found.tone, found.where) == ("bad", [])


def test_a_passage_of_a_document_is_none_of_the_response() -> None:
    (found,) = statings(ANSWER, [on("support", doc_id="d", evidence=Evidence(14, 33))])
    assert found.where == []


def test_judgments_on_sentences_say_where() -> None:
    answer = AskedNugget("n1", "When was it lit?", "vital", "1871")
    pairs = [on("support", 1, answer), on("support", 1, answer), on(None, 2, answer, failure=CUT)]
    (found,) = statings(ANSWER, [*pairs, on("support")])
    assert found == Stating(LIT, "nuggets", 3, "good", [(1, 0, 0)])


CUT = Failure("cut", "")


@pytest.mark.parametrize(
    ("labels", "expected", "place"),
    [
        pytest.param(["different", "similar", "very-similar"], "good", 2, id="the best counts"),
        pytest.param(["different", None], "unjudged", 1, id="an unjudged one may be better"),
        pytest.param([None, "similar"], "part", 1, id="in part at least"),
        pytest.param(["different", "different"], "bad", 0, id="none"),
    ],
)
def test_without_one_on_the_whole_sentences_decide(
    labels: list[str | None], expected: Tone, place: int
) -> None:
    judged = [
        on(label, index, failure=None if label else CUT) for index, label in enumerate(labels)
    ]
    (found,) = statings(ANSWER, judged)
    assert (found.tone, found.place) == (expected, place)


def test_equal_texts_of_two_ids_and_judges_are_apart() -> None:
    other = AskedNugget("n2", "When was it lit?", "vital")
    judged = [on("support"), on("not_support", nugget=other), on("support", judge="argue")]
    assert len(statings(ANSWER, judged)) == 3


def test_vital_ones_come_first_in_each_group() -> None:
    nuggets = [AskedNugget(name, name, name) for name in ("okay", "", "vital", "C", "A", "odd")]
    groups = by_tone(statings(ANSWER, [FAILED, *(on("support", nugget=n) for n in nuggets)]))
    assert list(groups) == ["good", "unjudged"]
    names = [one.nugget.importance for one in groups["good"]]
    assert names == ["vital", "A", "okay", "C", "", "odd"]


def test_a_sentence_that_states_a_nugget_is_not_therefore_supported() -> None:
    judged = [on("support", 0), judgment("no_support", sentence_index=1, judge="nuggets")]
    assert marks_of(judged)["nuggets"].tones == {1: "bad"}

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trecjudge.judging.offline.prepared import prepare
from trecjudge.text.forms import neighbours_in
from trecjudge.text.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        pytest.param("One here. Two there.", ["One here", "Two there"], id="sentences"),
        pytest.param("Title\nOne here.", ["Title", "One here"], id="a line is a segment"),
        pytest.param("One. ... 😀 Two.", ["One", "Two"], id="no segment without words"),
        pytest.param("东京。大阪。", ["东京", "大阪"], id="Chinese"),
        pytest.param("", [], id="empty"),
    ],
)
def test_segments(text: str, segments: list[str]) -> None:
    assert [text[start:end] for start, end in prepare(text).spans] == segments


def test_text_without_stops_is_cut_every_sixty_tokens() -> None:
    assert len(prepare("word " * 130).spans) == 3


def test_index_names_segments_once_and_in_order() -> None:
    index = prepare("Cats and cats. A dog. The cat.").segments_of
    assert (index["cat"], index["dog"]) == ((0, 2), (1,))


def test_negation_reaches_three_words_and_not_into_the_next_sentence() -> None:
    index = prepare("Cats never eat raw fish often. No. Dogs do.")
    assert sorted(index.negated_in) == ["eat", "fish", "raw"]
    assert index.denying == {0, 1}


def test_scaled_number_is_in_the_index() -> None:
    assert prepare("It cost 1.5 million in 2,000 days.").segments_of["1500000"] == (0,)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param("It cost $5.", "dollar", id="sign before"),
        pytest.param("It grew 5 %.", "percent", id="sign at the end"),
        pytest.param("It grew 5 per cent.", "percent", id="British"),
        pytest.param("It has two hundred ships.", "200", id="in words"),
    ],
)
def test_other_writings_are_in_the_index(text: str, form: str) -> None:
    assert prepare(f"Nothing here. {text}").segments_of[form] == (1,)


def test_neighbours_do_not_reach_into_the_next_segment() -> None:
    found = prepare("Cats sleep. Dogs bark.")
    assert neighbours_in(found.row, ["cat", "sleep", "dog", "bark"]) == [True, False, True]
    assert found.tokens == 4


def test_what_is_hedged() -> None:
    assert prepare("Cats may sleep. Dogs bark.").hedging == {0}


@given(st.text(alphabet="aB1 .,!?\n-_日本。%'é\u0301", max_size=200))
def test_segments_begin_and_end_with_a_token(text: str) -> None:
    prepared = prepare(text)
    end = 0
    for span in prepared.spans:
        tokens = tokenize(text[slice(*span)])
        assert span[0] >= end
        assert (tokens[0].start, tokens[-1].end) == (0, span[1] - span[0])
        end = span[1]
    assert prepared.tokens == len(tokenize(text))


def test_a_part_has_its_own_segments_only() -> None:
    whole = prepare("Cats sleep. Dogs bark. Cats bark.")
    part = whole.within([1, 2], ["cat", "sleep"])
    assert part.segments_of == {"dog": (1,), "bark": (1, 2), "cat": (2,)}
    assert (part.tokens, part.forms_between(0, 1)) == (4, {"cat", "sleep", "dog", "bark"})

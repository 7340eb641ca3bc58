"""How much an answer may hold, in the unit of its track."""

from __future__ import annotations

from tests.baseline.generate.material import answer
from trecjudge.baseline.generate.formats import answer_limits, cut_to_limits
from trecjudge.check.rules import track_named
from trecjudge.records import Topic


def test_what_a_model_is_told() -> None:
    cases = [
        ("rag25", None, None, "at most 400 words"),
        ("rag26", None, 250, "at most 250 words"),
        ("rag25", None, 900, "at most 400 words"),
        ("ragtime25", 10000, None, "at most 10000 characters"),
        ("ragtime25", None, 250, "at most 250 words and 2000 characters"),
        ("dragun25", None, None, "at most 250 words"),
    ]
    wrong = [
        (track, limit, words, described)
        for track, limit, words, described in cases
        if answer_limits(track_named(track), Topic("1", limit=limit), words).in_words != described
    ]
    assert not wrong


def test_characters_are_counted_joined_and_normalised() -> None:
    limits = answer_limits(track_named("ragtime25"), Topic("1", limit=8))
    assert limits.fit(["abc", "ﬁne"])  # the ligature is two characters
    assert not limits.fit(["abcd", "ﬁne"])


def test_whole_sentences_go_from_the_end() -> None:
    said = answer(Topic("1"), [("one two", "a"), ("three four", "b"), ("five six", "c")])
    limits = answer_limits(track_named("rag25"), Topic("1"), 5)
    kept, left_out = cut_to_limits(said.sentences, limits)
    assert ([s.text for s in kept], left_out) == (["one two", "three four"], 1)


def test_citations_that_are_too_many_go() -> None:
    said = answer(Topic("1"), [("one", ["a", "a", "b", "c"]), ("two", ["d"])])
    kept, left_out = cut_to_limits(
        said.sentences, answer_limits(track_named("neuclir24"), Topic("1"))
    )
    cited = [[one.passage.chunk.doc_id for one in s.support] for s in kept]
    assert (cited, left_out) == ([["a", "b"], ["d"]], 0)


def test_a_sentence_goes_with_its_last_citation() -> None:
    said = answer(Topic("1"), [(f"s{n}", [f"d{n}"]) for n in range(22)])
    kept, left_out = cut_to_limits(said.sentences, answer_limits(track_named("rag24"), Topic("1")))
    assert (len(kept), left_out) == (20, 2)

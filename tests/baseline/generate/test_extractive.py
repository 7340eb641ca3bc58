"""Answers without a model: what is chosen, in which order, and what it cites."""

from __future__ import annotations

from tests.baseline.generate.material import FERRY, HARBOUR, TOPIC, passage, passages
from trecjudge.baseline.generate.extractive import extract_answer, weighted_terms
from trecjudge.baseline.generate.limits import AnswerLimits, answer_limits, cut_to_limits
from trecjudge.check.rules import track_named

SHARED = "The new tram line opened in 2014 and cost 61 million euros."
RAG25 = answer_limits(track_named("rag25"), TOPIC)


def test_whole_sentences_of_the_passages_with_exact_quotes() -> None:
    answer = extract_answer(TOPIC.title, passages(a=HARBOUR, b=FERRY), RAG25)
    assert len(answer) == 5
    for sentence in answer:
        for support in sentence.support:
            assert support.quote == sentence.text
            assert support.passage.chunk.text[support.start : support.end] == support.quote


def test_a_sentence_cites_all_documents_that_have_it() -> None:
    answer = extract_answer(TOPIC.title, passages(a=HARBOUR, b=FERRY, c=FERRY, d=FERRY), RAG25)
    cited = {s.text: [one.passage.chunk.doc_id for one in s.support] for s in answer}
    assert cited[SHARED] == ["a", "b", "c"]
    assert cited["Trams are charged at both ends of the line within six minutes."] == [
        "b",
        "c",
        "d",
    ]


def test_nothing_is_said_twice() -> None:
    again = "Ostermere has a harbour tram, which was closed in 1962 after a fire."
    answer = extract_answer(TOPIC.title, passages(a=HARBOUR, b=again), RAG25)
    assert sum("1962" in sentence.text for sentence in answer) == 1


def test_sentences_stand_by_document_and_as_they_stand_there() -> None:
    answer = extract_answer(TOPIC.title, passages(a=HARBOUR, b=FERRY), RAG25)
    places = [(s.support[0].passage.chunk.doc_id, s.support[0].start) for s in answer]
    assert places == sorted(places)


def test_nothing_where_no_word_is_there() -> None:
    assert (
        extract_answer(TOPIC.title, passages(a="Cats sleep for most of the long day."), RAG25) == ()
    )
    assert extract_answer(TOPIC.title, [], RAG25) == ()
    assert extract_answer("", passages(a=HARBOUR), RAG25) == ()


def test_words_of_a_request_weigh_little() -> None:
    weights = weighted_terms(TOPIC.title)
    assert weights["ostermer"] == 1.0
    assert weights["cost"] > 0.5
    assert all(weights.get(word, 0.0) < 0.2 for word in ("want", "know"))
    assert "of" not in weights


def test_many_passages_are_bounded_by_the_length() -> None:
    town = "The {n}th harbour tram of Ostermere was number {n}{n} and cost {n} million euros."
    texts = {f"d{n}": town.format(n=f"{n}7") for n in range(40)}
    limits = AnswerLimits(RAG25.rule, 60, None, 3, 4)
    kept, _ = cut_to_limits(extract_answer(TOPIC.title, passages(**texts), limits), limits)
    assert kept
    assert sum(len(s.text.split()) for s in kept) <= 60
    assert len({one.passage.chunk.doc_id for s in kept for one in s.support}) <= 4


def test_a_shorter_sentence_takes_the_room_of_one_too_long() -> None:
    long = "The harbour tram of Ostermere opened and cost " + "very " * 30 + "much in the end."
    short = "The Ostermere tram cost 61 million euros."
    answer = extract_answer(TOPIC.title, passages(a=long, b=short), AnswerLimits(RAG25.rule, 10))
    assert [s.text for s in answer] == [short]


def test_scripts_without_spaces() -> None:
    text = "港口电车线路于二〇一四年重新开通运营。猫每天睡很长时间而且不喜欢水。"
    answer = extract_answer("港口电车什么时候开通？", [passage("z", text)], RAG25)
    assert [s.text for s in answer][:1] == ["港口电车线路于二〇一四年重新开通运营。"]

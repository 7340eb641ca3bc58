"""Answers by a scripted model: quotes, numbers, masks, abstention, rounds, hostile documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.baseline.generate.material import (
    FERRY,
    HARBOUR,
    TOPIC,
    ScriptedRetriever,
    found,
    passage,
    passages,
)
from tests.fakes import ScriptedModel
from trecjudge.baseline.generate.answers import (
    NOT_THERE,
    NOTHING_FITS,
    NOTHING_FOUND,
    NOTHING_QUOTED,
    Answerer,
    AnswerSettings,
)
from trecjudge.baseline.records import Answer, SearchResult, WrittenSentence
from trecjudge.check.rules import track_named
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.findings import Finding
from trecjudge.models.model import Model, NoModel
from trecjudge.records import Topic

OPENED = ("The line opened in 2014.", [1], "new tram line opened in 2014")
CHARGED = ("Trams are charged quickly.", [2], "charged at both ends of the line")


def reply(*sentences: tuple[str, list[int], str], answerable: str = "yes") -> dict[str, Any]:
    """Return what a model answers to `write_answer`, with no gaps if it is asked for them."""
    listed = [WrittenSentence(text=t, passages=p, quote=q) for t, p, q in sentences]
    return {"answerable": answerable, "sentences": listed, "queries": []}


def model(*replies: Mapping[str, Any]) -> ScriptedModel:
    """Return a model that gives these replies in turn, then always the last."""
    left = list(replies)
    return ScriptedModel(lambda inputs: left.pop(0) if len(left) > 1 else left[0])


def ask(
    asked: Model,
    *searches: SearchResult,
    generating: AnswerSettings = AnswerSettings(),  # noqa: B008
    topic: Topic = TOPIC,
    track: str = "rag25",
    retriever: ScriptedRetriever | None = None,
) -> tuple[Answer, list[Finding]]:
    findings: list[Finding] = []
    searched = retriever or ScriptedRetriever(*searches)
    answerer = Answerer(searched, asked, track_named(track), findings.append, generating)
    return asyncio.run(answerer.answer(topic)), findings


BOTH = found(*passages(a=HARBOUR, b=FERRY))


def test_numbers_become_ids_and_quotes_spans() -> None:
    answer, findings = ask(model(reply(OPENED, CHARGED)), BOTH)
    assert [s.text for s in answer.sentences] == [OPENED[0], CHARGED[0]]
    assert [s.support[0].passage.chunk.doc_id for s in answer.sentences] == ["a", "b"]
    for sentence, (_, _, quote) in zip(answer.sentences, (OPENED, CHARGED), strict=True):
        (one,) = sentence.support
        assert one.passage.chunk.text[one.start : one.end] == one.quote == quote
    assert (findings, answer.abstained) == ([], "")


def test_what_is_said_twice_is_said_once() -> None:
    answer, findings = ask(model(reply(OPENED, CHARGED, OPENED, OPENED)), BOTH)
    assert ([s.text for s in answer.sentences], findings) == ([OPENED[0], CHARGED[0]], [])


def test_a_quote_from_within_a_document_has_the_place_in_all_of_it() -> None:
    whole = f"Trams\n{HARBOUR}"
    late = passage("a", HARBOUR, title="Trams", start=whole.index("The new"))
    answer, _ = ask(asked := model(reply(OPENED)), found(late))
    (one,) = answer.sentences[0].support
    assert whole[one.start : one.end] == OPENED[2]
    assert asked.asked[0]["passages"][0].startswith("[1] Trams\nThe new tram line")


@pytest.mark.parametrize(
    ("quote", "wanted"),
    [
        ("“New  tram\nline opened in 2014”", "new tram line opened in 2014"),
        ("passengers praise the quiet", "Passengers praise the quiet"),
        ("new tram line opened in 2015", None),
        ("tram line", None),
        ("", None),
        ("The harbour tram … harbour line.", None),
    ],
    ids=["white space, marks", "case", "another number", "too short", "none", "too much left out"],
)
def test_a_quote_is_checked_word_for_word(quote: str, wanted: str | None) -> None:
    answer, findings = ask(model(reply(("A sentence.", [1], quote), CHARGED)), BOTH)
    kept = [s.support[0].quote for s in answer.sentences[:-1]]
    assert kept == ([] if wanted is None else [wanted])
    assert [f.kind for f in findings] == (["quote_not_found"] if wanted is None else [])


def test_numbers_out_of_range_and_passages_without_the_quote() -> None:
    answer, findings = ask(model(reply((OPENED[0], [7, 1, 1, 0], OPENED[2]))), BOTH)
    assert [one.passage.chunk.doc_id for one in answer.sentences[0].support] == ["a"]
    assert [(f.kind, f.message) for f in findings] == [
        ("passage_unknown", "sentence 1 cites passage 7, 0 of 2")
    ]
    charged = (CHARGED[0], [1, 2], CHARGED[2])
    answer, findings = ask(model(reply(charged)), BOTH)
    assert [one.passage.chunk.doc_id for one in answer.sentences[0].support] == ["b"]
    assert [f.kind for f in findings] == ["quote_elsewhere"]


def test_marks_that_a_reader_would_take_for_citations_go() -> None:
    answer, _ = ask(model(reply(("The line\nopened [1] in 2014 [2, 3].", [1], OPENED[2]))), BOTH)
    assert answer.sentences[0].text == "The line opened in 2014."


def test_what_is_too_long_is_cut_from_the_end() -> None:
    many = [(f"Sentence number {n} says it.", [1], OPENED[2]) for n in range(9)]
    answer, findings = ask(model(reply(*many)), BOTH, generating=AnswerSettings(most_words=16))
    assert [s.text for s in answer.sentences] == [text for text, _, _ in many[:3]]
    assert [(f.kind, f.message) for f in findings] == [
        ("answer_cut", "6 of 9 sentences are too many for at most 16 words")
    ]


@pytest.mark.parametrize(
    ("asked", "search", "why"),
    [
        (model(reply(OPENED)), found(), NOTHING_FOUND),
        (
            model(reply(OPENED)),
            found(*passages(a=HARBOUR), answers=False),
            "too little was found: top BM25 over idf is 0.500",
        ),
        (model(reply(OPENED, answerable="no")), BOTH, NOT_THERE),
        (model(reply(("It is.", [1], "not there at all"))), BOTH, NOTHING_QUOTED),
        (model(reply()), BOTH, NOTHING_QUOTED),
        (NoModel(), found(*passages(a="Cats sleep most of the day.")), NOTHING_FITS),
        (NoModel(), found(*passages(a=HARBOUR), answers=False), "too little was found"),
    ],
)
def test_abstention(asked: Model, search: SearchResult, why: str) -> None:
    answer, _ = ask(asked, search)
    assert (answer.sentences, answer.failure) == ((), None)
    assert answer.abstained.startswith(why)


def test_no_call_is_made_where_nothing_answers() -> None:
    asked = model(reply(OPENED))
    ask(asked, found(*passages(a=HARBOUR), answers=False), generating=AnswerSettings(rounds=2))
    assert asked.asked == []


def failing(kind: str) -> Callable[[Mapping[str, str]], Mapping[str, Any]]:
    def fail(inputs: Mapping[str, str]) -> Mapping[str, Any]:
        raise JudgmentFailed(kind, "no reply")

    return fail


def test_a_failure_is_no_abstention() -> None:
    answer, findings = ask(ScriptedModel(failing("transport")), BOTH)
    assert answer.failure is not None and answer.failure.kind == "transport"
    assert (answer.abstained, answer.sentences) == ("", ())
    assert [(f.kind, f.severity) for f in findings] == [("answer_failed", "error")]
    assert ask(ScriptedModel(failing("planned")), BOTH)[1] == []
    blank, _ = ask(NoModel(), BOTH, topic=Topic("9"))
    assert blank.failure is not None and blank.failure.kind == "no_topic_text"


class TestRounds:
    def search(self, *more: str) -> ScriptedRetriever:
        script = {"ferry charge": found(*passages(b=FERRY))}
        return ScriptedRetriever(found(*passages(a=HARBOUR)), script)

    def test_what_is_missing_is_looked_for_and_the_answer_made_anew(self) -> None:
        gaps = {"queries": ["ferry charge", " "]}
        asked = model(reply(OPENED), gaps, reply(OPENED, CHARGED), {"queries": []})
        retriever = self.search()
        answer, _ = ask(asked, retriever=retriever, generating=AnswerSettings(rounds=5))
        assert [s.support[0].passage.chunk.doc_id for s in answer.sentences] == ["a", "b"]
        assert retriever.asked[1:] == ["ferry charge"]
        assert len(answer.retrieved) == 2
        assert len(asked.asked) == 4
        # What was cited comes first, then what is new.
        assert [p[:3] for p in asked.asked[2]["passages"]] == ["[1]", "[2]"]
        assert "electric ferry" in asked.asked[2]["passages"][1]

    def test_it_ends_where_nothing_new_is_found(self) -> None:
        asked = model(reply(OPENED), {"queries": ["trams"]})
        answer, _ = ask(asked, retriever=self.search(), generating=AnswerSettings(rounds=5))
        assert (len(asked.asked), len(answer.sentences)) == (2, 1)

    def test_what_is_below_the_line_adds_nothing(self) -> None:
        script = {"ferry": found(*passages(b=FERRY), answers=False)}
        retriever = ScriptedRetriever(found(*passages(a=HARBOUR), answers=True), script)
        asked = model(reply(OPENED), {"queries": ["ferry"]})
        ask(asked, retriever=retriever, generating=AnswerSettings(rounds=5))
        assert len(asked.asked) == 2

    def test_it_is_bounded(self) -> None:
        def endless(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
            return reply(OPENED) if "passages" in inputs else {"queries": [f"q{len(asked.asked)}"]}

        asked = ScriptedModel(endless)
        script = {f"q{n}": found(*passages(**{f"d{n}": FERRY})) for n in range(50)}
        retriever = ScriptedRetriever(found(*passages(a=HARBOUR)), script)
        generating = AnswerSettings(top=3, rounds=3)
        answer, _ = ask(asked, retriever=retriever, generating=generating)
        assert len(asked.asked) == 1 + 2 * 3
        assert all(len(i["passages"]) <= 3 for i in asked.asked if "passages" in i)
        assert answer.sentences[0].support[0].passage.chunk.doc_id == "a"

    def test_what_was_said_stays_where_a_round_makes_nothing_of_it(self) -> None:
        asked = model(reply(OPENED), {"queries": ["ferry charge"]}, reply(answerable="no"))
        answer, _ = ask(asked, retriever=self.search(), generating=AnswerSettings(rounds=1))
        assert [s.text for s in answer.sentences] == [OPENED[0]]

    def test_without_a_model(self) -> None:
        with pytest.raises(InputError, match="--use-env-llm"):
            AnswerSettings(rounds=1).check(with_model=False)


SECRET = "ann.lee@mail.example.org"
PRIVATE = f"Write to the tram office of Ostermere at {SECRET} before May. It cost 61 million euros."


class TestMasks:
    def test_a_model_never_sees_them_and_the_way_back_is_kept(self) -> None:
        quoted = ("Write to [EMAIL].", [1], "tram office of Ostermere at [EMAIL] before May")
        asked = model(reply(quoted))
        topic = Topic("1", f"Who is {SECRET}?")
        answer, _ = ask(
            asked, found(*passages(a=PRIVATE)), generating=AnswerSettings(mask=True), topic=topic
        )
        assert SECRET not in str(asked.asked)
        (one,) = answer.sentences[0].support
        assert one.quote == quoted[2]
        assert PRIVATE[one.start : one.end] == quoted[2].replace("[EMAIL]", SECRET)
        assert SECRET not in answer.sentences[0].text

    def test_what_a_model_knows_by_itself_is_masked_too(self) -> None:
        told = (f"Write to {SECRET}.", [1], "tram office of Ostermere at")
        answer, _ = ask(
            model(reply(told)), found(*passages(a=PRIVATE)), generating=AnswerSettings(mask=True)
        )
        assert answer.sentences[0].text == "Write to [EMAIL]."

    def test_without_a_model(self) -> None:
        answer, _ = ask(
            NoModel(), found(*passages(a=PRIVATE)), generating=AnswerSettings(mask=True)
        )
        assert any("[EMAIL]" in sentence.text for sentence in answer.sentences)
        assert SECRET not in str([(s.text, s.support[0].quote) for s in answer.sentences])

    def test_only_where_they_are_asked_for(self) -> None:
        asked = model(reply(OPENED))
        ask(asked, found(*passages(a=PRIVATE)))
        assert SECRET in str(asked.asked)

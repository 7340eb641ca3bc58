"""How sure a model is of an answer: by the tokens of its sentences, and by further answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.baseline.generate.material import FERRY, HARBOUR, found, passages
from tests.baseline.generate.test_answers import CHARGED, OPENED, ask, model, reply
from tests.fakes import ScriptedModel
from trecjudge.baseline.generate.answers import AnswerSettings
from trecjudge.baseline.generate.confidence import (
    BY,
    AnswerConfidence,
    chance_of_sentence,
    lacking_confidence,
)
from trecjudge.errors import PLANNED, JudgmentFailed
from trecjudge.records import ModelCall, TokenChances, Usage

BOTH = found(*passages(a=HARBOUR, b=FERRY))
VOTES = AnswerSettings(confidence="votes", votes=4)
SAID = reply(OPENED, CHARGED)
NO = {"answerable": "no", "sentences": [], "queries": []}


def call(text: str, *chances: tuple[str, float]) -> ModelCall:
    """Return the call for a reply that is made of these tokens."""
    end, logprobs = 0, []
    for token, chance in chances:
        end += len(token.encode())
        logprobs.append((end, math.log(chance)))
    return ModelCall("p", [], text, Usage(), logprobs=tuple(logprobs))


@pytest.mark.parametrize(
    ("before", "sentence", "written", "wanted"),
    [
        ('{"text": "', "It rose.", "It rose.", 0.6),
        ('{"text":"', "It rose.", "It rose.", 0.6),
        ('{"text": "', 'A "b" é.', 'A \\"b\\" é.', 0.6),
        ('{"text": "', 'A "b" é.', 'A \\"b\\" \\u00e9.', 0.6),
        ('{"quote": "', "It rose.", "It rose.", None),
        ('{"text": "', "It fell.", "It rose.", None),
    ],
    ids=["as it is", "without a blank", "escaped", "in ASCII", "a quote", "another sentence"],
)
def test_only_the_tokens_of_a_sentence_count(
    before: str, sentence: str, written: str, wanted: float | None
) -> None:
    parts = (before, 0.01), (written[:3], 0.9), (written[3:], 0.4), ('", "quote": "…"}', 0.01)
    text = "".join(part for part, _ in parts)
    chance = chance_of_sentence(call(text, *parts), sentence)
    assert chance == (None if wanted is None else pytest.approx(wanted))
    bare: TokenChances = ()
    assert chance_of_sentence(ModelCall("p", [], text, Usage(), logprobs=bare), sentence) is None


@pytest.mark.parametrize(
    ("votes", "wanted"),
    [
        ([SAID, SAID, SAID, SAID], [1.0, 1.0]),
        ([SAID, reply(OPENED), reply(OPENED), NO], [0.75, 0.25]),
        ([NO, NO, NO, NO], [0.0, 0.0]),
    ],
    ids=["all say it", "some say it", "none answers"],
)
def test_a_vote_is_a_further_answer_that_says_the_sentence(
    votes: list[dict[str, Any]], wanted: list[float]
) -> None:
    answer, findings = ask(asked := model(SAID, *votes), BOTH, generating=VOTES)
    assert [sentence.confidence for sentence in answer.sentences] == wanted
    found = AnswerConfidence.of(answer)
    assert (found.value, found.source) == (sum(wanted) / 2, BY["votes"])
    assert (len(asked.asked), findings) == (5, [])


@pytest.mark.parametrize(("failing", "known"), [(1, True), (2, False), (4, False)])
def test_votes_that_fail_are_no_votes_against_it(failing: int, known: bool) -> None:
    left = [SAID, *[None] * failing, *[SAID] * (4 - failing)]

    def answer_next(inputs: Any) -> Any:
        if (given := left.pop(0)) is None:
            raise JudgmentFailed("transport", "no connection")
        return given

    answer, _ = ask(ScriptedModel(answer_next), BOTH, generating=VOTES)
    assert [s.confidence for s in answer.sentences] == ([1.0, 1.0] if known else [None, None])
    assert AnswerConfidence.of(answer).value == (1.0 if known else None)
    assert AnswerConfidence.of(answer).source == (BY["votes"] if known else None)


def test_an_abstention_asks_for_no_votes_and_a_plan_counts_them() -> None:
    answer, _ = ask(asked := model(NO), BOTH, generating=VOTES)
    assert (answer.sentences, len(asked.asked)) == ((), 1)
    assert AnswerConfidence.of(answer) == AnswerConfidence(None, None, None)

    def planned(inputs: Any) -> Any:
        raise JudgmentFailed(PLANNED, "only counted")

    ask(asked := ScriptedModel(planned), BOTH, generating=VOTES)
    assert len(asked.asked) == 5


def test_without_log_probabilities_none_is_invented() -> None:
    by_logprobs = AnswerSettings(confidence="logprobs")
    answer, _ = ask(model(SAID), BOTH, generating=by_logprobs)
    found = AnswerConfidence.of(answer)
    assert (found.value, found.source, found.grounded is not None) == (None, None, True)
    listed = [{"confidence": c, "abstained": a} for c, a in ((0.5, False), (None, True))]
    assert lacking_confidence(listed, "logprobs") == ""
    listed.append({"confidence": None, "abstained": False})
    assert lacking_confidence(listed, "logprobs").startswith("1 of 2 answers have no confidence")

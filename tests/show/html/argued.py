"""A response that the argue judge decided on, one sentence for each way through its tree."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes import judgment, response
from trecjudge.records import FULL, NONE, AskedNugget, Failure, GoldAnswer, Judgment

FAILED = Failure("parse", "<b>no label</b>", 3)
HEIGHT = AskedNugget("n1", "How high is it?", "vital")
WHO = AskedNugget("n2", "Who built it?", "okay")
ANSWERED = response(
    ("It is 34 m, or 112 feet, high.", ["d1", "d2"]),
    ("It was lit in 1871.", ["d1", "d2"]),
    ("It is white.", ["d1"]),
    ("Its lamp burned oil.", ["d1", "d2"]),
    ("It has a keeper.", ["d1"]),
    ("Nobody knows who built it.", []),
    ("It is not red.", []),
    ("What is a lighthouse?", []),
    ("It is high.", []),
    ("Dogs may go up.", []),
    ("Cats may not.", []),
    ("It is far.", []),
)
LINES = [
    "cited → attested by all → states 2 answers → rewarded",
    "cited → not attested by all → penalised",
    "cited → attested by all → states no answer → ignored",
    "cited → attested by all? → unjudged",
    "cited → attested by all → states an answer? → unjudged",
    "not cited → negative → confirmed → rewarded",
    "not cited → negative → not confirmed → penalised",
    "not cited → not negative → needs no citation → ignored",
    "not cited → not negative → needs a citation → stated before → ignored",
    "not cited → not negative → needs a citation → first stated → penalised",
    "not cited → negative? → unjudged",
]
"""The line of each sentence; the last one is behind the limit."""


def cites(index: int, doc_id: str, label: str | None = FULL) -> Judgment:
    """Return a judgment on a citation; without a label it failed."""
    failure = None if label else FAILED
    reason = f"why {doc_id}" if label else ""
    return judgment(
        label, sentence_index=index, doc_id=doc_id, citation=doc_id, exists=True,
        reason=reason, failure=failure, attester="llm",
    )  # fmt: skip


def states(index: int, nugget: AskedNugget, answer: str, label: str | None = FULL) -> Judgment:
    """Return a judgment on an answer in a sentence."""
    failure = None if label else FAILED
    asked = replace(nugget, answer=answer)
    return judgment(
        "support" if label else None, sentence_index=index, nugget=asked, failure=failure
    )


JUDGED = [
    cites(0, "d1"), cites(0, "d2"), cites(1, "d1"), cites(1, "d2", NONE), cites(2, "d1"),
    cites(3, "d1"), cites(3, "d2", None), cites(4, "d1"),
    judgment("NEGATIVE", sentence_index=5, reason="it is negated"),
    judgment("NEGATIVE", sentence_index=6, reason="it is negated"),
    judgment("NEEDS_NONE", sentence_index=7, reason="it is a question"),
    judgment("REPEATED", sentence_index=8, reason="sentence 0 says so"),
    judgment("NEEDS_CITATION", sentence_index=9, reason="it claims something"),
    judgment(sentence_index=10, failure=FAILED),
    judgment("CUT", sentence_index=11, reason="it is behind the limit"),
    states(0, HEIGHT, "34 m"), states(0, HEIGHT, "112 feet"), states(1, HEIGHT, "1871"),
    states(4, HEIGHT, "34 m", None), states(5, WHO, ""),
    judgment("support", sentence_index=None, nugget=replace(HEIGHT, answers=(GoldAnswer("34 m"),))),
    judgment("UNANSWERABLE", sentence_index=None, nugget=WHO),
]  # fmt: skip

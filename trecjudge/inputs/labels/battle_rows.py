"""Battles as other tools and people have them: one vote a row, on two runs' answers to a topic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place
from trecjudge.records.battles import LOSS, REVERSED, TIE, WIN

BattleKey = tuple[str, str, None, str]
"""(topic_id, the run whose name sorts first, None, the other run): the label is the first run's."""
TOPICS = ("topic_id", "question_id", "qid", "query_id", "request_id", "narrative_id", "prompt_id")
SIDES = (
    ("run_id", "against"),
    *(
        (f"{name}_{a}", f"{name}_{b}")
        for name in ("run", "model", "system", "agent")
        for a, b in (("a", "b"), ("1", "2"))
    ),
)
"""The columns that name the two runs, in the order in which they are looked for."""
WINNERS = ("winner", "better", "vote", "preference", "answer", "label", "outcome")
"""Columns of who won; arena-rank, MT-Bench and Chatbot Arena call it `winner`, RAGElo `answer`."""
GAMES = ("g1_winner", "g2_winner")
"""What MT-Bench's own judge said in both orders."""
_WORDS = {
    WIN: "win a 1 modela runa systema agenta model1 run1 left first",
    LOSS: "loss b 2 modelb runb systemb agentb model2 run2 right second",
    TIE: "c tie ties tied draw both equal neither none bothbad tiebothbad tieinconsistent",
}
_OUTCOMES = {word: outcome for outcome, words in _WORDS.items() for word in words.split()}
_TRUE = ("1", "1.0", "True", "true")
FORM = "run_a, run_b, winner (run_a, run_b, tie or both_bad) and topic_id"


def sides_of(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the fields of a record that name the two runs of a battle; None where none do."""
    return _sides(frozenset(map(str, names)))


@lru_cache(maxsize=64)
def _sides(names: frozenset[str]) -> tuple[str, str] | None:
    sides = next((both for both in SIDES if names.issuperset(both)), None)
    won = names & {*WINNERS, *GAMES} or any(name.startswith("winner_") for name in names)
    return sides if won else None


def read_battle(
    record: Mapping[str, Any], sides: tuple[str, str], place: Place, report: OnFinding
) -> Iterator[tuple[BattleKey, str]]:
    """Yield the battle of a record and its outcome; what cannot be used is reported."""
    topic_id, (a, b) = _topic_of(record), (as_id(record.get(side)) for side in sides)
    outcome = outcome_of(record, sides)
    if not (topic_id and a and b) or a == b or outcome is None:
        message = f"is no battle: give {FORM}"
        report(Finding("label_unusable", place, message, brief(record)))
    elif a < b:
        yield (topic_id, a, None, b), outcome
    else:
        yield (topic_id, b, None, a), REVERSED[outcome]


def _topic_of(record: Mapping[str, Any]) -> str | None:
    topic_id = next((found for name in TOPICS if (found := as_id(record.get(name)))), None)
    turn = as_id(record.get("turn"))
    # A later turn of a conversation is another question.
    return topic_id if turn in (None, "0", "1") or topic_id is None else f"{topic_id}_{turn}"


def outcome_of(record: Mapping[str, Any], sides: tuple[str, str]) -> str | None:
    """Return what a record says for its first run: win, loss or tie; None where it says nothing.

    Both bad is a tie, and so is what was said otherwise in the other order.
    """
    if all(name in record for name in GAMES):
        found = {_outcome(record, record[name], sides) for name in GAMES}
        return found.pop() if len(found) == 1 else None if None in found else TIE
    name = next((name for name in WINNERS if name in record), None)
    if name is not None:
        return _outcome(record, record[name], sides)
    flags = {
        key.removeprefix("winner_"): value for key, value in record.items() if "winner_" in key
    }
    won = [key for key, value in flags.items() if str(value) in _TRUE]
    return _outcome(record, won[0], sides) if len(won) == 1 else None


def _outcome(record: Mapping[str, Any], said: object, sides: tuple[str, str]) -> str | None:
    named = as_id(said)
    if named is None:
        return None
    for side, outcome in zip(sides, (WIN, LOSS), strict=True):
        if named in (side, as_id(record.get(side))):
            return outcome
    return _OUTCOMES.get(re.sub(r"[\W_]", "", named).casefold())


def voter_of(record: Mapping[str, Any]) -> str | None:
    """Return who voted, where `judge` names somebody; MT-Bench names its own as a list."""
    judge = record.get("judge")
    return " ".join(map(str, judge)) if isinstance(judge, list) else as_id(judge)

"""DRAGUN's rubric of a topic: questions of three degrees of importance, with short answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import GoldAnswer, Nugget

NAME = "dragun_rubric"
SUMMARY = "DRAGUN: `rubrics` of questions with `short_answers`"
FILE_NAME = "{topic}.json"
TOPIC_KEYS = ("topic_id",)
LABELS = {"A": "A: Have to Know", "B": "B: Good to Know", "C": "C: Nice to Know"}
OF_LABEL = {"vital": "A", "okay": "B"}
"""The degree for importance of other formats; none is the lowest."""


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    listed = record.get("rubrics")
    if not isinstance(listed, list):
        return None
    # Other tools' rubrics have the same key: what is none of them is no bank of empty questions.
    known = not listed or any("question_text" in raw for raw in listed if isinstance(raw, dict))
    return "it has `rubrics` of `question_text`" if known else None


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield the questions."""
    for raw in entry.objects(entry.raw.get("rubrics"), "rubrics"):
        answers = (
            GoldAnswer(
                as_text(answer.get("answer")),
                entry.documents(answer.get("references")),
                as_id(answer.get("answer_id")) or "",
            )
            for answer in entry.objects(raw.get("short_answers"), "short_answers")
        )
        text = as_text(raw.get("question_text"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"))


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format."""
    raw = bank.raw_for(NAME)
    number, rubrics = 0, []
    for rank, nugget in enumerate(bank.nuggets, start=1):
        found = bank.raw_nugget(NAME, nugget)
        before = {as_id(a.get("answer_id")): a for a in found.get("short_answers", [])}
        answers = []
        for answer in nugget.gold_answers:
            number += 1
            answers.append(
                updated(
                    before.get(answer.answer_id or None, {}),
                    answer_id=answer.answer_id or f"na-{number}",
                    answer=answer.text,
                    references=list(answer.documents),
                )
            )
        letter = OF_LABEL.get(nugget.importance, nugget.importance or "C")
        rubrics.append(
            updated(
                found,
                question_id=found.get("question_id") or f"{bank.topic_id}-{rank}",
                question_text=nugget.text,
                importance=LABELS[letter],
                short_answers=answers,
            )
        )
    topic_id = raw.get("topic_id", bank.topic_id)
    return updated(raw, topic_id=topic_id, rubrics=rubrics)

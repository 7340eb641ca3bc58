"""Nuggets: what a good answer says, as people or a model listed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

VITAL: Final = "vital"
OKAY: Final = "okay"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer to a nugget's question, and the ids of the documents that attest it."""

    text: str
    documents: tuple[str, ...] = ()
    answer_id: str = ""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A question with its gold answers, or a statement, whose only answer is itself.

    `together`: all answers are needed (aggregator AND), else one will do. `importance` is `vital`,
    `okay` or, in a rubric, `A`, `B`, `C`; empty where the bank has none. `documents` are those of
    the nugget itself, `group` is a sub-narrative, a broader question or an axis, `source` who it is
    from. Only a criterion has a `weight`, which is not 0: one below 0 punishes what meets it.
    """

    nugget_id: str
    text: str
    is_question: bool = False
    answers: tuple[GoldAnswer, ...] = ()
    together: bool = False
    importance: str = ""
    documents: tuple[str, ...] = ()
    group: str = ""
    source: str = ""
    weight: float | None = None

    @property
    def gold_answers(self) -> tuple[GoldAnswer, ...]:
        """The answers; of a statement the statement itself."""
        return self.answers if self.is_question else (GoldAnswer(self.text, self.documents),)

    @property
    def answerable(self) -> bool:
        """Whether it has an answer; a question without one is one that nobody can answer."""
        return bool(self.gold_answers)


@dataclass(frozen=True, slots=True)
class AskedNugget:
    """The nugget that a judgment is on, and the gold answer, empty where it is on all of it.

    `answers`, `together`, `weight` and `group` are the nugget's own, for measures that need them:
    they must be computable from a judgments file, without the bank.
    """

    nugget_id: str
    text: str
    importance: str = ""
    answer: str = ""
    answer_id: str = ""
    answers: tuple[GoldAnswer, ...] = ()
    together: bool = False
    weight: float | None = None
    group: str = ""

    @property
    def key(self) -> str:
        """What identifies the nugget, and its answer, among all of its topic."""
        return f"{self.nugget_id}\n{self.answer}"

    @property
    def rank(self) -> str:
        """Its importance, or that of a criterion: `weight -4`; empty for none."""
        return self.importance if self.weight is None else f"weight {self.weight:g}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that labels may give it, as `plain_name`s: of its answer, else its own."""
        answer, own = (self.answer_id, self.answer), (self.text, self.nugget_id)
        named = answer if any(answer) else own
        return tuple(filter(None, map(plain_name, named)))


def plain_name(text: str) -> str:
    """Return a name in the form in which names are compared: case and white space do not count."""
    return " ".join(text.split()).casefold()

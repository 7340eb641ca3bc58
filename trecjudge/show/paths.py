"""ARGUE's way to a verdict on each sentence: its questions in words, a line, and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trecjudge.judging.nuggets.matching import STATED
from trecjudge.judging.nuggets.tree import Outcome, SentencePath, Step, Tree
from trecjudge.records import Judgment, Response
from trecjudge.show.tones import MEANINGS, SIGNS, Tone

ARGUE: Final = ("argue", "ArgueJudge")
"""Our judge by its name, and by its class where a module names it."""
QUESTIONS: Final[Mapping[str, str]] = {
    "cited": "Does it cite anything?",
    "attested": "Does everything that it cites attest it?",
    "states": "Does it state an answer to a nugget?",
    "negative": "Does it say that something is not so, or not known?",
    "confirmed": "Do the nuggets confirm that?",
    "needs_citation": "Does it need a citation?",
    "first": "Is it the first to say so?",
}
OUTCOMES: Final[Mapping[Outcome, tuple[Tone, str]]] = {
    "reward": ("good", "rewarded"),
    "penalty": ("bad", "penalised"),
    "ignore": ("plain", "ignored"),
    "open": ("unjudged", MEANINGS["unjudged"]),
}
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "cited": ("cited", "not cited"),
    "attested": ("attested by all", "not attested by all"),
    "states": ("states an answer", "states no answer"),
    "negative": ("negative", "not negative"),
    "confirmed": ("confirmed", "not confirmed"),
    "needs_citation": ("needs a citation", "needs no citation"),
    "first": ("first stated", "stated before"),
}
"""A question by its answer, yes and no."""


@dataclass(frozen=True, slots=True)
class ShownPath:
    """The path of a sentence; `stated` are the places of the judgments on answers that it states.

    They are among all judgments on the response.
    """

    path: SentencePath
    stated: Sequence[int]

    @property
    def tone(self) -> Tone:
        """How the outcome looks."""
        return OUTCOMES[self.path.outcome][0]

    @property
    def line(self) -> str:
        """The path in a line: `cited → attested by all → states 2 answers → rewarded`."""
        steps = map(self._words, self.path.steps)
        return " → ".join((*steps, OUTCOMES[self.path.outcome][1]))

    def _words(self, step: Step) -> str:
        yes, no = _WORDS[step.question]
        if step.answer is None:
            return f"{yes}{SIGNS['unjudged']}"
        if step.answer and step.question == "states" and self.stated:
            count = len(self.stated)
            return f"states {count} {'answer' if count == 1 else 'answers'}"
        return yes if step.answer else no

    def as_dict(self) -> dict[str, Any]:
        """Return this as the page takes it, a step as question, answer and reason."""
        found = {
            "sentence": self.path.sentence_index,
            "outcome": self.path.outcome,
            "steps": [self._step(step) for step in self.path.steps],
        }
        return found | ({"stated": self.stated} if self._tells else {})

    def _step(self, step: Step) -> list[Any]:
        # The page shows the answers that are stated, not the ids of their nuggets.
        told = self._tells and step.question in ("states", "confirmed")
        return [step.question, step.answer, *([step.reason] if step.reason and not told else ())]

    @property
    def _tells(self) -> bool:
        return bool(self.path.nuggets)


def paths_by_judge(response: Response, judgments: Sequence[Judgment]) -> dict[str, list[ShownPath]]:
    """Return the path of each sentence, by each judge of a response that decided as ARGUE does.

    A sentence behind the limit has none.
    """
    judges = dict.fromkeys(j.judge for j in judgments if j.judge.rpartition(":")[2] in ARGUE)
    return {judge: list(_paths(response, judgments, judge)) for judge in judges}


def _paths(response: Response, judgments: Sequence[Judgment], judge: str) -> Iterator[ShownPath]:
    own = {place: j for place, j in enumerate(judgments) if j.judge == judge}
    stated: dict[int | None, list[int]] = {}
    for place, judgment in own.items():
        if judgment.nugget is not None and judgment.label == STATED:
            stated.setdefault(judgment.sentence_index, []).append(place)
    for path in Tree.of(response, own.values()).paths():
        yield ShownPath(path, stated.get(path.sentence_index, ()))

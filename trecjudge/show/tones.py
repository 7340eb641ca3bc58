"""The tone, sign and word of a judgment, what is said of nuggets, and ARGUE's verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from trecjudge.judging.nuggets import STATED, Outcome, SentencePath, Step, Tree
from trecjudge.records import (
    CONTRADICTED,
    FULL,
    NONE,
    PARTIAL,
    AskedNugget,
    Evidence,
    Judgment,
    Response,
)

# The tone, sign and word of a judgment: its meaning never depends on colour only.
Tone = Literal["good", "part", "bad", "against", "missing", "unjudged", "plain"]

SIGNS: Final[Mapping[Tone, str]] = {
    "good": "✓",
    "part": "◐",
    "bad": "✗",
    "against": "≠",
    "missing": "∅",
    "unjudged": "?",
    "plain": "·",
}
MEANINGS: Final[Mapping[Tone, str]] = {
    "good": FULL,
    "part": PARTIAL,
    "bad": NONE,
    "against": "contradicted",
    "missing": "missing document",
    "unjudged": "unjudged",
    "plain": "not judged by label",
}
TONES: Final[Mapping[str, Tone]] = {
    FULL: "good",
    PARTIAL: "part",
    NONE: "bad",
    "attributed": "good",
    "ambiguous": "part",
    "unattributed": "bad",
    "contradicted": "bad",
    "yes": "good",
    "unsure": "part",
    "no": "bad",
    "supported": "good",
    "unsupported": "bad",
    "win": "good",
    "tie": "part",
    "loss": "bad",
    "3": "good",
    "2": "good",
    "1": "part",
    "0": "bad",
}
"""Labels of the judges here, in lower case; any other label is plain."""

NUGGET_LABELS: Final[Mapping[str, tuple[Tone, str]]] = {
    "support": ("good", "stated"),
    "supports": ("good", "stated"),
    PARTIAL: ("part", "stated in part"),
    "partial": ("part", "stated in part"),
    "not_support": ("bad", "not stated"),
    "none": ("bad", "not stated"),
    "contradicts": ("against", "contradicted"),
    "met": ("good", "met"),
    "unmet": ("bad", "not met"),
    "very-similar": ("good", "very similar"),
    "similar": ("part", "similar"),
    "different": ("bad", "different"),
    "very-different": ("bad", "very different"),
}
"""Tone and word of a judgment on a nugget, by label in lower case."""


def tone(judgment: Judgment) -> Tone:
    """Return how a judgment looks; a citation of no document is missing, even with a label."""
    if judgment.failure is not None:
        return "unjudged"
    if judgment.exists is False and judgment.citation is not None:
        return "missing"
    if judgment.contradicts:
        return "good" if judgment.label == CONTRADICTED else "bad"
    if (known := _of_nugget(judgment)) is not None:
        return known[0]
    return TONES.get((judgment.label or "").lower(), "plain")


def word(judgment: Judgment) -> str:
    """Return a judgment in a word or two."""
    found = tone(judgment)
    if found in ("missing", "unjudged"):
        return MEANINGS[found]
    if (known := _of_nugget(judgment)) is not None:
        return known[1]
    label = judgment.label or ""
    if label.isdigit():
        return f"grade {label}"
    return label if label in (FULL, PARTIAL, NONE) else label.replace("_", " ")


def _of_nugget(judgment: Judgment) -> tuple[Tone, str] | None:
    if judgment.nugget is None:
        return None
    return NUGGET_LABELS.get((judgment.label or "").lower())


def together(tones: Iterable[Tone]) -> Tone:
    """Return the tone of a sentence with several judgments.

    All good is good; some good, or some in part, is in part. What is unjudged adds nothing: it
    stands only where nothing was judged. Plain where there is no judgment at all.
    """
    # What is unjudged must not darken or brighten a sentence: it has a sign of its own.
    every = set(tones)
    found: Collection[Tone] = every - {"plain", "unjudged"}
    if not found:
        return "unjudged" if "unjudged" in every else "plain"
    for only in ("good", "missing"):
        if found == {only}:
            return only
    return "part" if {"good", "part"} & set(found) else "bad"


@dataclass(frozen=True, slots=True)
class SentenceMarks:
    """The signs beside the sentences, for one judge.

    `tones` has the tone of each judged sentence, `open` the sentences of which the judge left
    something unjudged while the rest has a tone.
    """

    tones: Mapping[int, Tone]
    open: Sequence[int]


def marks_of(judgments: Iterable[Judgment]) -> dict[str, SentenceMarks]:
    """Return the marks of a response's sentences, by judge.

    A sentence that states a nugget need not be right: judgments on nuggets give it no mark.
    """
    found: dict[str, dict[int, list[Tone]]] = {}
    for judgment in judgments:
        by_sentence = found.setdefault(judgment.judge, {})
        if judgment.sentence_index is not None and judgment.nugget is None:
            by_sentence.setdefault(judgment.sentence_index, []).append(tone(judgment))
    return {judge: _marks(dict(sorted(every.items()))) for judge, every in found.items()}


def _marks(every: Mapping[int, list[Tone]]) -> SentenceMarks:
    tones = {index: together(found) for index, found in every.items()}
    left = [i for i, found in every.items() if "unjudged" in found and tones[i] != "unjudged"]
    return SentenceMarks(tones, left)


# ARGUE's way to a verdict on each sentence: its questions in words, a line, and for the page.
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


GROUPS: Final[Mapping[Tone, str]] = {
    "good": "stated",
    "part": "stated in part",
    "against": "contradicted",
    "bad": "not stated",
    "unjudged": "unjudged",
    "plain": "not decided by label",
}
"""The tones of nuggets in the order in which they are shown, and what they mean."""
IMPORTANCE: Final[Mapping[str, int]] = {"vital": 0, "A": 0, "okay": 1, "B": 1, "C": 2}
"""What comes first; a nugget without importance, or of an unknown one, comes last."""
_SURE: Final[Sequence[Tone]] = ("good", "part", "unjudged", "against", "bad", "plain")
"""Which of several judgments on sentences counts for the nugget: stated once is stated."""
_SAYS: Final = ("good", "part", "against")

Where = tuple[int, int, int]
"""(sentence_index, start, end): the passage in the sentence, 0 and 0 for all of it."""


@dataclass(slots=True)
class Stating:
    """What a response says of a nugget, as one judge decided.

    `place` is that of the judgment among those of the response.
    """

    nugget: AskedNugget
    judge: str
    place: int
    tone: Tone
    where: list[Where] = field(default_factory=list)


def statings(response: Response, judgments: Sequence[Judgment]) -> list[Stating]:
    """Return what a response says of each nugget that was judged, in the order of the judgments.

    Judgments on a nugget and a sentence say where: they stand for the nugget only where none is on
    the whole response.
    """
    found: dict[tuple[str, str], Stating] = {}
    on_sentences: list[tuple[int, Judgment, AskedNugget]] = []
    for place, judgment in enumerate(judgments):
        if judgment.nugget is None:
            continue
        if judgment.sentence_index is not None:
            on_sentences.append((place, judgment, judgment.nugget))
            continue
        own = Stating(judgment.nugget, judgment.judge, place, tone(judgment))
        if own.tone in _SAYS and judgment.evidence and judgment.doc_id is None:
            own.where = list(sentences_of(response, judgment.evidence))
        found[judgment.judge, judgment.nugget.key] = own
    decided = dict(found)
    for place, judgment, nugget in on_sentences:
        _add(found, decided, place, judgment, nugget)
    return list(found.values())


def _add(
    found: dict[tuple[str, str], Stating],
    decided: Mapping[tuple[str, str], Stating],
    place: int,
    judgment: Judgment,
    nugget: AskedNugget,
) -> None:
    key, of_all = (judgment.judge, nugget.key), AskedNugget(nugget.nugget_id, "").key
    own = decided.get(key) or decided.get((judgment.judge, of_all))
    if own is None:
        own = found.setdefault(key, Stating(nugget, judgment.judge, place, tone(judgment)))
        if _SURE.index(made := tone(judgment)) < _SURE.index(own.tone):
            own.place, own.tone = place, made
    here = (judgment.sentence_index or 0, 0, 0)
    if tone(judgment) in _SAYS and here not in own.where:
        own.where.append(here)


def sentences_of(response: Response, evidence: Evidence) -> Iterator[Where]:
    """Yield the sentences that a passage of `Response.text` lies in."""
    begin = 0
    for sentence in response.sentences:
        length = len(sentence.text)
        start, end = max(0, evidence.start - begin), min(length, evidence.end - begin)
        if start < end:
            yield sentence.index, start, end
        begin += length + 1  # sentences are joined by a space


def by_tone(every: Iterable[Stating]) -> dict[Tone, list[Stating]]:
    """Return them by tone, in the order in which they are shown, what is vital first."""
    groups: dict[Tone, list[Stating]] = {name: [] for name in GROUPS}
    for one in every:
        groups[one.tone].append(one)
    last = len(IMPORTANCE)
    return {
        name: sorted(own, key=lambda one: IMPORTANCE.get(one.nugget.importance, last))
        for name, own in groups.items()
        if own
    }

"""DRAGUN's scores of a response, and a rubric compared with it by words.

Source: the track's score.py, TREC DRAGUN 2025. Other than there, what has no label stays in every
denominator: a label that is missing can lower a score, and never raise it. Weighted criteria as
in Sharma et al., ResearchRubrics (arXiv 2511.07685), and Arora et al., HealthBench (arXiv
2505.08775).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from trecjudge import Judgment, MeasureSpec, Nugget, Response
from trecjudge.judging.claims.by_words import contradiction
from trecjudge.judging.nuggets import PARTLY, STATED, stated
from trecjudge.judging.offline.relevance import mean_cosine, vector_of, weighed_forms
from trecjudge.measures import share_measure
from trecjudge.records import AskedNugget, GoldAnswer
from trecjudge.records.nuggets import OKAY, VITAL

SUPPORTS, IN_PART, CONTRADICTS, NOTHING = "supports", "partial", "contradicts", "none"
# DRAGUN's scores of a response, from the labels of a rubric's answers or of a run's questions.
ASSESSMENTS = (SUPPORTS, IN_PART, CONTRADICTS, NOTHING)
MET, UNMET = "met", "unmet"
VERDICTS = (MET, IN_PART, UNMET)
COMPOUND, SINGLE = "compound", "not-compound"
FORMS = (COMPOUND, SINGLE)
VERY_SIMILAR, SIMILAR, DIFFERENT, VERY_DIFFERENT = (
    "very-similar",
    "similar",
    "different",
    "very-different",
)
ALIGNMENTS = (VERY_SIMILAR, SIMILAR, DIFFERENT, VERY_DIFFERENT)
NO_RUBRIC = "NO_RUBRIC"
WEIGHTS: Mapping[str, float] = {"A": 4.0, VITAL: 4.0, "B": 2.0, OKAY: 2.0}
"""Of a question by its importance; of any other, and of none, 1."""
SUPPORT: Mapping[str, float] = {SUPPORTS: 1.0, MET: 1.0, IN_PART: 0.5}
CONTRADICTION: Mapping[str, float] = {CONTRADICTS: 1.0}
LIKENESS: Mapping[str, float] = {VERY_SIMILAR: 1.0, SIMILAR: 0.5}


NO_WEIGHT = "no criterion of it has a weight above 0"
"""Why a topic has no score."""


def supportive(
    response: Response, judgments: Sequence[Judgment], axis: str | None = None
) -> float | None:
    """Return the weighted mean over questions of the share of their answers that is supported.

    0 to 1; an answer that is supported in part counts half. Of weighted criteria: the sum of the
    weights of those that are met, half of them in part, over the sum of the positive weights, and 0
    for less. None where nothing is judged, or no weight is positive. `axis` takes only its own.
    """
    if axis is not None:  # of a response of which nothing is known no axis is known either
        wanted = plain_axis(axis)
        on = (
            j
            for j in judgments
            if j.nugget and (j.nugget == UNKNOWN or plain_axis(j.nugget.group) == wanted)
        )
        judgments = list(on)
    return _over_questions(judgments, lambda labels: _share(labels, SUPPORT))


def contradictory(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the same of answers that are contradicted, each of which counts 1.

    Criteria are no answers: of them there is none.
    """
    answers = [j for j in judgments if j.nugget is None or j.nugget.weight is None]
    return _over_questions(answers, lambda labels: _share(labels, CONTRADICTION))


def aligned_share(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the weighted mean over rubric questions of their best match among a run's questions.

    0 to 1; a compound question matches nothing. None where nothing is judged.
    """
    single = {j.sentence_index for j in judgments if j.nugget is None and j.label == SINGLE}
    counted = [
        replace(j, label=None) if j.nugget and j.sentence_index not in single else j
        for j in judgments
    ]
    return _over_questions(counted, lambda labels: max(LIKENESS.get(x or "", 0.0) for x in labels))


def _over_questions(
    judgments: Iterable[Judgment], worth: Callable[[Sequence[str | None]], float]
) -> float | None:
    """Return sum of weight x worth of the questions / sum of positive weights, 0 for less.

    A fault that nobody could judge counts as there: what is unjudged never raises a score.
    """
    labels: dict[str, list[str | None]] = {}
    weights: dict[str, float] = {}
    judged = False
    for judgment in judgments:
        if (nugget := judgment.nugget) is not None:
            weight = nugget.weight or WEIGHTS.get(nugget.importance, 1.0)
            label = MET if weight < 0 and not judgment.judged else judgment.label
            labels.setdefault(nugget.nugget_id, []).append(label)
            weights[nugget.nugget_id] = weight
        judged = judged or (judgment.judged and judgment.label != NO_RUBRIC)
    whole = math.fsum(weight for weight in weights.values() if weight > 0)
    if not (judged and whole):
        return None
    part = math.fsum(weights[name] * worth(found) for name, found in labels.items())
    return max(0.0, part / whole)


def _share(labels: Sequence[str | None], worth: Mapping[str, float]) -> float:
    return math.fsum(worth.get(label or "", 0.0) for label in labels) / len(labels)


QUESTION_SCORE = share_measure(
    "QUESTION_SCORE",
    aligned_share,
    "How well the best matching question of the run fits each question of the rubric, weighed by"
    " importance.",
    default_if_undefined=False,
)
SUPPORTIVE_SCORE = share_measure(
    "SUPPORTIVE_SCORE",
    supportive,
    "Share of the answers of the rubric that the report supports, weighed by importance; in part"
    " counts half. Of weighted criteria: the weights of those that it meets, over the positive"
    " ones.",
    default_if_undefined=False,
    undefined=NO_WEIGHT,
)
CONTRADICTORY_SCORE = share_measure(
    "CONTRADICTORY_SCORE",
    contradictory,
    "Share of the answers of the rubric that the report contradicts, weighed by importance;"
    " criteria are none.",
    lower_is_better=True,
    default_if_undefined=False,
    undefined="its rubric has no answers",
)


def axes_in(nuggets: Iterable[Nugget]) -> list[str]:
    """Return the axes of weighted criteria, sorted, each once whatever its case and spaces."""
    every = sorted({n.group for n in nuggets if n.weight is not None and n.group.strip()})
    return sorted({plain_axis(axis): axis for axis in reversed(every)}.values())


def plain_axis(axis: str) -> str:
    """Return what tells an axis from others: its letters, whatever their case and spaces."""
    return " ".join(axis.casefold().split())


def axis_measures(axes: Sequence[str]) -> list[MeasureSpec]:
    """Return a measure for each axis: `AXIS_` and its name in capitals."""
    found: dict[str, MeasureSpec] = {}
    for number, axis in enumerate(axes, 1):
        letters = unicodedata.normalize("NFKD", axis).encode("ascii", "ignore").decode()
        name = f"AXIS_{re.sub('[^A-Z0-9]+', '_', letters.upper()).strip('_') or number}"
        if name in found:  # two axes that differ in what a name cannot have
            name = f"{name}_{number}"
        found[name] = MeasureSpec(
            name,
            partial(supportive, axis=axis),
            default_if_undefined=False,
            description=f"SUPPORTIVE_SCORE, but only of the criteria of axis {axis!r}.",
            undefined=NO_WEIGHT,
        )
    return list(found.values())


UNKNOWN = AskedNugget("", "", "A")
"""Stands for the answers of a response of which nothing is known."""


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged answer at its best, supported, or at its worst, contradicted.

    A criterion at its best is met, or unmet where it is a fault.
    """
    nugget = judgment.nugget or UNKNOWN
    label = SUPPORTS if best else CONTRADICTS
    if nugget.weight is not None:
        label = MET if best == (nugget.weight > 0) else UNMET
    return replace(judgment, nugget=nugget, label=label, failure=None)


def best_or_worst_question(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged question of a run, or match of two, at its best or its worst."""
    if judgment.nugget is None and judgment.sentence_index is not None:
        return replace(judgment, label=SINGLE if best else COMPOUND, failure=None)
    label = VERY_SIMILAR if best else VERY_DIFFERENT
    return replace(judgment, nugget=judgment.nugget or UNKNOWN, label=label, failure=None)


VERY_LIKE, LIKE, UNLIKE = 0.75, 0.45, 0.1
"""Cosines from which on two questions are very similar, similar, different."""
# A rubric compared by words: short answers with a report, questions with questions.
_ASKING = "who|whom|whose|what|when|where|why|how|which"
_HELPING = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should"
_SEVERAL = re.compile(
    rf"\?.*\?|(?:[,;]|\band\b|\bor\b)\s+(?:also\s+)?(?:{_ASKING}|{_HELPING})\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKED_FOR = re.compile(rf"\b(?:{_ASKING})\b", re.IGNORECASE)
_SAME = {"which": "what", "whom": "who"}


def assess_answer(report: str, question: Nugget, answer: GoldAnswer) -> tuple[str, str]:
    """Return (label, reason): whether a report supports a short answer, as far as words show it."""
    claim = f"{question.text} {answer.text}" if question.is_question else answer.text
    for statement in dict.fromkeys((claim, answer.text)):
        # What contradicts counts, also where another sentence supports the answer.
        if against := contradiction(statement, report):
            return CONTRADICTS, against
    found = stated(report, question, answer)
    return {STATED: SUPPORTS, PARTLY: IN_PART}.get(found.label, NOTHING), found.reason


def check_criterion(report: str, criterion: Nugget, answer: GoldAnswer) -> tuple[str, str]:
    """Return (label, reason): whether a report meets a criterion, as far as words show it."""
    label, reason = assess_answer(report, criterion, answer)
    return {SUPPORTS: MET, IN_PART: IN_PART}.get(label, UNMET), reason


def form_of_question(question: str) -> tuple[str, str]:
    """Return (label, reason): whether a question is several in one, as far as words show it."""
    several = _SEVERAL.search(question.strip())
    if several is None:
        return SINGLE, "it asks once"
    return COMPOUND, "it asks more than once"


def compare_questions(rubric_question: str, question: str) -> tuple[str, str]:
    """Return (label, reason): how like two questions are, as far as words show it."""
    vectors = [vector_of(weighed_forms(text)) for text in (rubric_question, question)]
    cosine = mean_cosine(vectors)
    reason = f"cosine of their words {cosine:.2f}"
    first, second = (_asked_for(text) for text in (rubric_question, question))
    if cosine >= LIKE and first and second and first != second:
        return DIFFERENT, f"{reason}, but one asks {first!r} and the other {second!r}"
    label = VERY_SIMILAR if cosine >= VERY_LIKE else SIMILAR if cosine >= LIKE else DIFFERENT
    return (label if cosine >= UNLIKE else VERY_DIFFERENT), reason


def _asked_for(question: str) -> str:
    """Return the word that a question asks by, such as `when`; empty where it has none."""
    found = _ASKED_FOR.search(question)
    word = found[0].casefold() if found else ""
    return _SAME.get(word, word)

"""Nuggets: how many of the facts that a good answer has a response states (AutoNuggetizer).

Source of the scores: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track
(arXiv 2411.09607); the weighted form as in ir_axioms.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Nugget,
    Program,
    ReplyLength,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.errors import NOT_GIVEN
from trecjudge.inputs.labels.vocabulary import label_among
from trecjudge.judging.attest import AttesterName
from trecjudge.judging.judge import ask_together, asks_model, charge_first, unjudged
from trecjudge.judging.nuggets import NOT_STATED, PARTLY, STATED, Match, nuggets_given, stated
from trecjudge.measures import mean_of, share_measure
from trecjudge.records import AskedNugget, Evidence, Usage
from trecjudge.records.nuggets import OKAY, VITAL, plain_name
from trecjudge.settings.fields import check_ranges, ranged

ASSIGN = Program(
    "assign_nuggets",
    f"{__package__}.program:AssignNuggets",
    "nuggets",
    ReplyLength(fixed=15, each=25),
)
FAILED = "failed"
"""The label that AutoNuggetizer gives where its model gave none."""
ORDER = {NOT_STATED: 0, PARTLY: 1, STATED: 2}
NO_NUGGETS = "NO_NUGGETS"
NO_VITAL, NO_NUGGET = "no nugget of the bank is vital", "the bank has no nuggets"
WEIGHTS = {VITAL: 1.0, "A": 1.0, OKAY: 0.5, "B": 0.5, "C": 0.25}
"""By importance; a nugget without one counts as an okay one, or, where none has one, as vital."""
UNKNOWN = AskedNugget("", "", VITAL)
"""Stands for the nuggets of a response of which nothing is known."""
Weigh = Callable[[AskedNugget, bool], float]


@dataclass(frozen=True, slots=True)
class NuggetsJudge:
    """Which nuggets of the topic's bank a response states: in full, in part, or not.

    `assigner` is who decides: `lexical`, `llm`, or `auto`: the model where one is used. A model is
    asked about `window` nuggets at a time, with the whole response. `groups` is whether the banks
    map nuggets to sub-narratives, whose coverage is a measure then; a job finds it out.
    """

    assigner: AttesterName = "auto"
    window: int = ranged(10, 1)
    groups: bool = False
    programs: ClassVar[tuple[Program, ...]] = (ASSIGN,)
    needs: ClassVar[tuple[str, ...]] = ("nuggets",)

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.assigner == "llm"

    def fitted(self, nuggets: Sequence[Nugget], cited: object) -> NuggetsJudge:
        """Return the judge, which knows whether the banks map nuggets to sub-narratives."""
        return replace(self, groups=self.groups or any(nugget.group for nugget in nuggets))

    @property
    def measures(self) -> LeaderboardSpec:
        """The six scores, ranked by STRICT_VITAL_SCORE, the track's primary measure.

        Where banks map nuggets to sub-narratives, the coverage of these too.
        """
        columns = (
            *_scores("STRICT_", partly=0.0, counts="nothing"),
            *_scores("", partly=0.5, counts="half"),
            *((SUB_NARRATIVE_COVERAGE,) if self.groups else ()),
        )
        return LeaderboardSpec(columns, sort_by="STRICT_VITAL_SCORE", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on each nugget. Raises JudgmentFailed where the topic has no bank."""
        assert isinstance(item, WholeResponse)
        nuggets = answerable(item.topic)
        if not nuggets:
            return [judgment_of(item, label=NO_NUGGETS, reason="the topic's bank has no nuggets")]
        if not item.has_text:  # asked about nothing, a model believes anything
            return [
                nugget_judgment(item, n, NOT_STATED, "the response is empty", "") for n in nuggets
            ]
        if asks_model(self.assigner, model):
            return await self._ask_model(item, nuggets, model)
        return [by_words(item, nugget) for nugget in nuggets]

    def asked(self, item: Item) -> list[tuple[int | None, AskedNugget | None]]:
        """Return the nuggets that are labelled, each on the whole response.

        Raises JudgmentFailed where the topic has no bank.
        """
        return [(None, as_asked(nugget)) for nugget in answerable(item.topic)]

    def given_nugget(self, item: Item, nugget: AskedNugget | None, label: str) -> Judgment:
        """Return the judgment that somebody else's assignment makes.

        Raises JudgmentFailed for `failed`, and for what is none of the three labels.
        """
        plain = label_among(label, (*ORDER, FAILED))
        if plain == FAILED:
            raise JudgmentFailed(NOT_GIVEN, "its assignment failed")
        if plain is None:
            raise JudgmentFailed("parse", f"label {label!r} is none of {', '.join(ORDER)}")
        return judgment_of(item, label=plain, attester="given", nugget=nugget)

    async def _ask_model(
        self, item: WholeResponse, nuggets: Sequence[Nugget], model: Model
    ) -> list[Judgment]:
        async def ask(part: Sequence[Nugget]) -> tuple[Sequence[Any], Usage]:
            texts = [statement_of(nugget) for nugget in part]
            prediction = await model.predict(
                ASSIGN, query=item.topic.title, response=item.text, nuggets=texts
            )
            return prediction.fields["assignments"], prediction.call.usage

        found = []
        for part, answers, usage in await ask_together(nuggets, self.window, ask):
            pairs = zip(part, answers, strict=True)
            found += charge_first([_by_model(item, *pair) for pair in pairs], usage)
        return found


def _scores(form: str, partly: float, counts: str) -> Iterator[MeasureSpec]:
    """Yield the scores in which a nugget that is stated in part counts `partly`."""
    for name, weigh, counted, undefined in (
        ("VITAL_SCORE", vital_weight, "vital nuggets", NO_VITAL),
        ("ALL_SCORE", equal_weight, "nuggets", NO_NUGGET),
        ("WEIGHTED_SCORE", graded_weight, "nuggets, an okay one weighing half,", NO_NUGGET),
    ):
        yield share_measure(
            f"{form}{name}",
            partial(score, weigh=weigh, partly=partly),
            f"Share of the {counted} that the response states; stated in part counts {counts}.",
            default_if_undefined=False,
            undefined=undefined,
        )


def score(
    response: Response, judgments: Sequence[Judgment], weigh: Weigh, partly: float
) -> float | None:
    """Return sum of weight x s / sum of weights of the judged nuggets, 0 to 1; None without any.

    s is 1 for a nugget that is stated, `partly` for one in part.
    """
    worth = {STATED: 1.0, PARTLY: partly}
    labelled = any(j.nugget.importance for j in judgments if j.nugget)
    found = [
        (weigh(j.nugget, labelled), worth.get(j.label or "", 0.0))
        for j in judgments
        if j.nugget and j.judged
    ]
    whole = math.fsum(weight for weight, _ in found)
    return math.fsum(weight * worth for weight, worth in found) / whole if whole else None


def equal_weight(nugget: AskedNugget, labelled: bool) -> float:
    """Return 1: all nuggets count the same."""
    return 1.0


def vital_weight(nugget: AskedNugget, labelled: bool) -> float:
    """Return 1 for a nugget that a good answer must have, else 0."""
    return float(nugget.importance in (VITAL, "A"))


def graded_weight(nugget: AskedNugget, labelled: bool) -> float:
    """Return the weight by importance; 1 where no nugget of the response is `labelled` with one."""
    return WEIGHTS.get(nugget.importance, 0.5) if labelled else 1.0


def sub_narratives_covered(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return sub-narratives with a vital nugget stated in full / those that have a vital nugget.

    0 to 1. One of which no such nugget is known to be stated, and one is unjudged, is in neither
    count. None where none is left.
    """
    labels: dict[str, set[str | None]] = defaultdict(set)
    for judgment in judgments:
        nugget = judgment.nugget
        if nugget and vital_weight(nugget, True) and (nugget.group or nugget == UNKNOWN):
            labels[plain_name(nugget.group)].add(judgment.label)
    decided = (found for found in labels.values() if STATED in found or None not in found)
    return mean_of(STATED in found for found in decided)


SUB_NARRATIVE_COVERAGE = share_measure(
    "SUB_NARRATIVE_COVERAGE",
    sub_narratives_covered,
    "Share of the topic's sub-narratives of which the response states a vital nugget in full;"
    " those without a vital nugget do not count.",
    default_if_undefined=False,
    undefined="no vital nugget of the bank is mapped to a sub-narrative",
)


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged nugget at its best or at its worst."""
    label = STATED if best else NOT_STATED
    return replace(judgment, nugget=judgment.nugget or UNKNOWN, label=label, failure=None)


def _by_model(item: WholeResponse, nugget: Nugget, given: Any) -> Judgment:
    """Return the judgment that an answer makes; where it stands, words show."""
    if isinstance(given, JudgmentFailed):
        return replace(unjudged(item, given), nugget=as_asked(nugget))
    where = None if given.label == NOT_STATED else by_words(item, nugget).evidence
    return nugget_judgment(item, nugget, given.label, given.reason, "llm", where)


def answerable(topic: Topic) -> list[Nugget]:
    """Return the nuggets that a response can state. Raises JudgmentFailed without a bank."""
    # A question that nobody can answer is stated by no response.
    return [nugget for nugget in nuggets_given(topic) if nugget.answerable]


def by_words(item: WholeResponse, nugget: Nugget) -> Judgment:
    """Return whether the response states a nugget, as far as words show it.

    Of a question one answer will do, or all of them where the bank wants them together.
    """
    matches = [stated(item.text, nugget, answer) for answer in nugget.gold_answers]
    best = max(matches, key=lambda match: ORDER[match.label])
    if nugget.together:
        count = sum(match.label == STATED for match in matches)
        label = STATED if count == len(matches) else PARTLY if count else best.label
        if label == STATED and count < len(matches):
            label = PARTLY
        reason = f"{count} of {len(matches)} answers"
        return nugget_judgment(item, nugget, label, reason, "lexical", passage(item, best))
    return nugget_judgment(item, nugget, best.label, best.reason, "lexical", passage(item, best))


def passage(item: WholeResponse, match: Match) -> Evidence | None:
    """Return the passage of the response that states something; None where none is known."""
    if match.label == NOT_STATED or match.start >= match.end:
        return None
    return Evidence(match.start, match.end, item.text[match.start : match.end])


def nugget_judgment(
    item: Item, nugget: Nugget, label: str, reason: str, by: str, evidence: Evidence | None = None
) -> Judgment:
    """Return the judgment on a nugget; `evidence` is the passage of the response."""
    fields = {"label": label, "reason": reason, "attester": by, "evidence": evidence}
    return judgment_of(item, nugget=as_asked(nugget), **fields)


def as_asked(nugget: Nugget) -> AskedNugget:
    """Return what a judgment keeps of its nugget."""
    named = nugget.nugget_id, statement_of(nugget), nugget.importance
    return AskedNugget(*named, group=nugget.group)


def statement_of(nugget: Nugget) -> str:
    """Return a nugget as a model is asked about it: itself, or its question with its answers."""
    if not nugget.is_question:
        return nugget.text
    answers = [answer.text for answer in nugget.answers]
    return f"{nugget.text} {('; ' if nugget.together else ' / ').join(answers)}"

"""AutoJudge: runs a judge that was written for AutoJudge, whose scores become ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    PluginError,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.errors import NOT_GIVEN, PLANNED
from trecjudge.judging.judge import AllResponses

from .outcome import NUGGETS, Outcome, column_of, measure_names, outcome_of

GRADE = "grade"
"""The label of a judgment that is a row of their qrels."""
COUNTED = "How many nuggets were made for the topic. From 0 up; it is no score of the response."


@dataclass(slots=True)
class _State:
    """What their judge gave, once it ran."""

    outcome: Outcome | None = None


@dataclass(frozen=True)
class AutoJudgeJudge:
    """The scores of a judge that was written for AutoJudge, by response and measure.

    Settings are named as in AutoJudge's workflow.yml, which `--workflow` reads as well; see
    docs/judges.md. Its measures are `measures_wanted`, else those of `measures_file`, else of a
    LeaderboardSpec that its module has. With `scores` False only banks of nuggets are made, and
    the one measure is how many nuggets a topic has.
    """

    judge_class: str = ""
    nugget_class: str = ""
    qrels_class: str = ""
    measures_wanted: str | list[str] = ""
    measures_file: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    judge_settings: dict[str, Any] = field(default_factory=dict)
    nugget_settings: dict[str, Any] = field(default_factory=dict)
    qrels_settings: dict[str, Any] = field(default_factory=dict)
    override: dict[str, Any] = field(default_factory=dict)
    nugget_input: str = ""
    qrels_input: str = ""
    corpus: str = ""
    create_nuggets: bool | None = None
    create_qrels: bool | None = None
    judge_uses_nuggets: bool = True
    judge_uses_qrels: bool = True
    qrels_uses_nuggets: bool = True
    nugget_depends_on_responses: bool = True
    documents: bool = True
    scores: bool = True
    failures_unknown: ClassVar[bool] = True
    _state: _State = field(default_factory=_State, init=False, repr=False, compare=False)

    @property
    def names(self) -> list[str]:
        """The names of the measures that are wanted, as theirs are called."""
        given = self.measures_wanted
        listed = given.split(",") if isinstance(given, str) else given
        return [name.strip() for name in listed if name.strip()]

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by the first one; none as long as they are not known."""
        columns = (
            MeasureSpec(
                column_of(name),
                partial(value_of, name),
                default_if_undefined=False,
                description="" if self.scores else COUNTED,
                neutral=not self.scores,
            )
            for name in self.names
        )
        return LeaderboardSpec(tuple(columns), pooled_qrels=True)

    @property
    def main_class(self) -> str:
        """The class that scores, else the one that makes banks."""
        return self.judge_class if self.scores else self.nugget_class or self.judge_class

    def resolved(self) -> AutoJudgeJudge:
        """Return the judge with the names of its measures, looked up in their module."""
        if not self.scores:
            return replace(self, measures_wanted=[NUGGETS])
        if not self.judge_class:
            raise PluginError("which? give judge_class=package.module:Class")
        names = self.names or measure_names(self.judge_class, self.measures_file)
        return replace(self, measures_wanted=names)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def prepare(self, responses: AllResponses) -> None:
        """Run theirs on all responses."""
        self._state.outcome = None  # one object may judge several jobs
        self._state.outcome = await outcome_of(self, responses)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return what theirs gave for a response: a judgment a measure, and one a graded document.

        Raises JudgmentFailed where it gave nothing.
        """
        outcome = self._state.outcome
        if outcome is None:
            raise JudgmentFailed(PLANNED, "the calls of others are not known before they are made")
        if outcome.failed:
            raise JudgmentFailed(outcome.failure, outcome.failed)
        key = item.run_id, item.topic.topic_id
        values = outcome.values.get(key)
        if values is None:
            raise JudgmentFailed(NOT_GIVEN, f"{self.main_class} gave no score for this response")
        found = {"attester": self.main_class, "reason": outcome.reason}
        judgments = [
            judgment_of(item, label=name, value=values[name], **found)
            for name in self.names
            if name in values
        ]
        judgments += [
            judgment_of(item, label=GRADE, doc_id=doc_id, grade=grade, **found)
            for doc_id, grade in outcome.grades.get(key, ())
        ]
        if not judgments:
            wanted = ", ".join(self.names)
            raise JudgmentFailed(NOT_GIVEN, f"{self.main_class} gave none of {wanted}")
        return judgments


def value_of(name: str, response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the value of a measure; None where theirs gave none."""
    return next((j.value for j in judgments if j.label == name and j.doc_id is None), None)

"""The audit itself: labelled items judged as the job would judge them, compared with labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from trecjudge.errors import InputError, JudgeUnfit, ModelError
from trecjudge.findings import Finding, OnFinding, counted
from trecjudge.job.audit.items import AllResponses, AuditItems, are_pairs, of_pairs, of_runs
from trecjudge.job.audit.rules import JUDGED, AuditRules
from trecjudge.judging.judge import AllResponses as ShownResponses
from trecjudge.judging.panel import Panel, panel_settings
from trecjudge.judging.runner import JudgedResponse, Runner
from trecjudge.models.model import Model
from trecjudge.records import Judgment, Place
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs

if TYPE_CHECKING:
    from trecjudge.evaluation.agreement import Agreement


@dataclass(frozen=True, slots=True)
class Audit:
    """How far a judge agrees with people on the labelled items, and the bounds it breaks.

    `figures` are by name; `intervals` are over topics, of 95 %.
    """

    judge: str
    labels: str
    items: int
    topics: int
    unjudged: int
    figures: dict[str, float | None]
    intervals: dict[str, list[float]]
    broken: Sequence[str]
    agreement: Agreement = field(repr=False)

    def check(self) -> None:
        """Raise JudgeUnfit where a bound is broken."""
        if self.broken:
            on = f"{counted(self.items, 'item')} of {counted(self.topics, 'topic')}"
            raise JudgeUnfit(
                f"audit: judge {self.judge} on {on} of {self.labels}: {'; '.join(self.broken)};"
                " nothing else was judged"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values, for the config file and the log."""
        return {
            "judge": self.judge,
            "labels": self.labels,
            "items": self.items,
            "topics": self.topics,
            "unjudged": self.unjudged,
            "figures": self.figures,
            "intervals": self.intervals,
            "broken": list(self.broken),
        }


@dataclass(frozen=True, slots=True)
class Auditor:
    """Judges the labelled items by the one judge of a panel that the rules try.

    `judging` is the panel as it judges: with voters, these in place of each judge.
    """

    panel: Panel
    judging: Panel
    rules: AuditRules
    report: OnFinding
    notify: Callable[[str], None]

    @property
    def _place(self) -> int:
        return self.rules.tried(self.panel)

    def items(self, responses: Callable[[], AllResponses]) -> AuditItems:
        """Return the labelled items; of labels without texts, those of `responses`."""
        path = Path(self.rules.labels)
        if are_pairs(path):
            return of_pairs(path, self.report)
        return of_runs(path, responses(), self.rules.map)

    async def judged(
        self, items: AuditItems, model: Model, outputs: Outputs
    ) -> list[JudgedResponse]:
        """Return the items judged; this asks the model.

        A judge that is shown all responses first may put what it makes of them beside `outputs`.
        """
        topics = {topic.topic_id: topic for topic, _ in items.responses}
        runner = Runner([self.judging[self._place]], model)
        beside = outputs.folder / outputs.name
        shown = partial(iter, items.responses)
        await runner.prepare(ShownResponses(shown, topics, model, beside, self.notify))
        return [judged async for judged in runner.run(items.responses)]

    def compared(self, items: AuditItems, judged: Sequence[JudgedResponse]) -> Audit:
        """Return how far the judgments agree with the labels.

        Raises ModelError where nothing could be judged, InputError where no judgment is on a
        labelled item.
        """
        judgments = [judgment for response in judged for judgment in response.judgments]
        decided = sum(judgment.judged for judgment in judgments)
        if judgments and not decided:
            raise ModelError(f"audit: none of {len(judgments)} items was judged: {_why(judgments)}")
        found = self._agreement(items, judged)
        figures: dict[str, float | None] = {JUDGED: decided / max(1, len(judgments))}
        figures |= {figure.name: figure.pooled for figure in found.figures}
        bounds = {f.name: (f.interval.low, f.interval.high) for f in found.figures}
        intervals = {
            name: [low, high]
            for name, (low, high) in bounds.items()
            if low is not None and high is not None
        }
        return Audit(
            judge=self.panel[self._place].name,
            labels=self.rules.labels,
            items=found.items,
            topics=found.topics,
            unjudged=len(judgments) - decided,
            figures=figures,
            intervals=intervals,
            broken=self.rules.broken(figures),
            agreement=found,
        )

    def _agreement(self, items: AuditItems, judged: Sequence[JudgedResponse]) -> Agreement:
        from trecjudge.evaluation.agreement import agree  # numpy: not in every job

        name, truth = self.panel[self._place].name, Path(self.rules.labels)
        with TemporaryDirectory(prefix="trecjudge-audit-") as folder:
            made = Path(folder) / f"{name.replace('/', '_')}.judgments.jsonl"
            with made.open("wb") as file:
                writer = JudgmentsWriter(file)
                writer.header(Header(judges={name: panel_settings(self.panel)[name]}))
                for one in judged:
                    writer.response(one.response, [(name, each) for each in one.judgments])
                writer.end()
            if items.labels:
                truth = Path(folder) / "labels.jsonl"
                truth.write_bytes(b"".join(items.labels))

            def report(finding: Finding) -> None:
                own = items.labels and finding.place.path == str(truth)
                self.report(replace(finding, place=Place(self.rules.labels)) if own else finding)

            try:
                return agree(truth, made, report, words=self.rules.map)
            except InputError as error:
                reason = str(error).replace(str(made), f"the judgments of {name}")
                reason = reason.replace(str(truth), self.rules.labels)
                raise InputError(f"audit: {reason}") from error


def _why(judgments: Sequence[Judgment]) -> str:
    failure = next(judgment.failure for judgment in judgments if judgment.failure is not None)
    return f"{failure.kind}: {failure.message}"

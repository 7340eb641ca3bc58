"""The judges that one could buy, tried on the same labelled items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.errors import WorkflowError
from trecjudge.evaluation.trust.buying import Option, TriedOption, compare_options, cost_of
from trecjudge.findings import OnFinding, ignore
from trecjudge.job.audit.auditing import LabelledJudgments
from trecjudge.job.audit.rules import AuditRules
from trecjudge.job.judges import read_voters
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.judging.voting import sureness
from trecjudge.models.model import Voter
from trecjudge.records import BY_MODEL, Judgment

WORDS, MODEL = "words", "model"
"""The judges where the workflow has no voters: the offline attester, and the model."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The ways to judge that were compared, on how many labelled items, and what it cost.

    `options` is empty where it was only planned. `models` are the settings of each model by name.
    """

    options: Sequence[Option]
    items: int
    models: dict[str, dict[str, Any]]
    spent: dict[str, Any]


def compare_judges(
    job: Job, rules: AuditRules, most: int | None, report: OnFinding, notify: Notify
) -> Choices:
    """Return what each way to judge is worth on labelled items; all ask about every item.

    The judges are the voters of the workflow, else words and the model. Raises a TrecJudgeError for
    what the user can put right, Interrupted for an interrupt.
    """
    voters = _voters(job)

    async def compare() -> Choices:
        async with open_session(job, report, notify, voters=voters) as session:
            session.inputs.check_documents(report)
            tried = [await _try(session, rules, most, voter) for voter in voters]
            items = max(len(one.items) for one in tried)
            options = [] if job.model.plan else compare_options(tried)
            models = {one.name: dict(one.llm) for one in voters if not one.offline}
            return Choices(options, items, models, session.model.spent())

    return run_session(job, compare())


def _voters(job: Job) -> list[Voter]:
    """Return the judges to compare. Raises WorkflowError where no model is asked."""
    if not job.model.use:
        raise WorkflowError("this compares a judge by words with a model: add --use-env-llm")
    found = read_voters(replace(job.workflow, vote=""))
    if any(voter.sample for voter in found):
        raise WorkflowError(f"{job.workflow.where('voters')}: samples are not compared; leave out")
    words = [] if any(voter.offline for voter in found) else [Voter(WORDS, offline=True)]
    models = found or [Voter(MODEL, job.workflow.llm, job.workflow.prompts)]
    return [*words, *models]


async def _try(session: Session, rules: AuditRules, most: int | None, voter: Voter) -> TriedOption:
    """Return what one judge says of the labelled items; what people say is reported once."""
    labelled = await LabelledJudgments.make(session, rules, most, voter)
    judgments = [one for response in labelled.judged for one in response.judgments]
    if session.job.model.plan:
        return TriedOption(voter.name, (), voter.offline)
    scored = _scored(labelled, sureness if voter.offline else is_asked)
    if not voter.offline:
        scored = replace(scored, session=replace(session, report=ignore))
    items = list(scored.compare().agreement.shared_items())
    if voter.offline:
        return TriedOption(voter.name, items, offline=True)
    # Of items that were asked together, the first has the call.
    calls = [one.usage for one in judgments if one.usage.prompt_tokens or one.usage.cached]
    paid = [usage.cost for usage in calls if not usage.cached]
    asked = max(1.0, sum(map(is_asked, judgments)))
    each, cost = len(calls) / asked, cost_of(paid)
    return TriedOption(voter.name, items, False, each, None if cost is None else each * cost)


def is_asked(found: Judgment) -> float:
    """Return 1 where a model was asked about an item, 0 where a rule decided."""
    return float(found.attester == BY_MODEL or not found.judged)


def _scored(labelled: LabelledJudgments, of: Callable[[Judgment], float]) -> LabelledJudgments:
    """Return the judgments with a score of each in the place of its own."""

    def score(one: Judgment) -> Judgment:
        return replace(one, value=of(one)) if one.judged else one

    judged = [
        replace(
            response,
            items=[replace(i, judgments=list(map(score, i.judgments))) for i in response.items],
        )
        for response in labelled.judged
    ]
    return replace(labelled, judged=judged)

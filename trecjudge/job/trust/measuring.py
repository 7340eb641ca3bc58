"""One judge tried in every way, in one session: with people, again, changed, and on nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trecjudge.errors import InputError, WorkflowError
from trecjudge.evaluation.perturbation import Perturbation
from trecjudge.evaluation.trust.card import JudgeCard
from trecjudge.evaluation.trust.probes import USUAL, probes_of
from trecjudge.files import fixed_time
from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.job.audit.auditing import LabelledJudgments
from trecjudge.job.audit.rules import AuditRules
from trecjudge.job.config import config_head
from trecjudge.job.inputs import drawn_responses, response_digest
from trecjudge.job.process import Interrupted
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.job.stability import (
    Answer,
    StabilityTest,
    sampled_answers,
    sampling_voters,
)
from trecjudge.job.trust.figures import TriedJudge
from trecjudge.judging.judge import summary_of
from trecjudge.records import Response, Topic

AGAIN = "again"
"""The voter that is asked the same question a second time."""


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """How a judge is tried.

    `most` responses are drawn, and `most_labelled` of those with labels; None is all. With
    `against`, the responses are those of that card, and a model is asked again whatever is cached.
    `dark` is whether the judge is asked where there is nothing to find.
    """

    most: int = 100
    samples: int = 3
    changes: Sequence[Perturbation] = USUAL
    dark: bool = True
    labels: AuditRules | None = None
    most_labelled: int | None = None
    against: JudgeCard | None = None


def measure_trust(
    job: Job, wanted: TrustRequest, report: OnFinding, notify: Notify
) -> tuple[JudgeCard | None, dict[str, Any]]:
    """Return the card of the one judge of a job, None where it is only planned, and what it cost.

    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """
    if len(job.judges) != 1:
        raise WorkflowError(f"a card is of one judge, not of {', '.join(job.judges)}: give one")
    if wanted.against is None or not job.model.use:
        return run_session(job, _measure(job, wanted, report, notify))
    if job.model.offline:
        raise WorkflowError("--against asks the same items again: not with --offline")
    # A cache of its own: a cached reply is no new answer, and jobs keep the replies they have.
    with TemporaryDirectory(prefix="trecjudge-again-") as folder:
        job = replace(job, model=replace(job.model, cache_folder=Path(folder), cache_from=()))
        try:
            return run_session(job, _measure(job, wanted, report, notify))
        except Interrupted:
            raise Interrupted("kept: nothing: all items are asked again") from None


async def _measure(
    job: Job, wanted: TrustRequest, report: OnFinding, notify: Notify
) -> tuple[JudgeCard | None, dict[str, Any]]:
    voters = sampling_voters(job, wanted.samples)
    again = replace(voters[0], name=AGAIN, sample=1)
    async with open_session(job, report, notify, voters=[*voters, again]) as session:
        session.inputs.check_documents(report)
        labelled = None
        if wanted.labels is not None:  # first: of a budget that ends, people's labels get most
            labelled = await LabelledJudgments.make(session, wanted.labels, wanted.most_labelled)
        answers = _answers(session, wanted)
        probes = probes_of([response for _, response, _ in answers]) if wanted.dark else []
        test = StabilityTest(session, answers, voters, keeps=True)
        tested = await test.run([*wanted.changes, *probes])
        second = None
        if session.model.available:
            second = await test.judge(session.panel, answers, again)
        if job.model.plan:
            return None, session.model.spent() | {"items": tested.items}
        assert tested.first is not None
        tried = TriedJudge(answers, tested, tested.first, second)
        if labelled is not None:
            judgments = [one for response in labelled.judged for one in response.judgments]
            agreement = labelled.compare().agreement
            tried = replace(tried, agreement=agreement, labelled=judgments)
        labels = Path(wanted.labels.labels).name if wanted.labels is not None else ""
        card = JudgeCard(_about(session, tried, labels), tried.figures(), tried.fixed)
        return card, session.model.spent()


def _answers(session: Session, wanted: TrustRequest) -> list[Answer]:
    """Return the responses to judge: drawn ones, or those of an earlier card. Raises InputError."""
    if wanted.against is None:
        return sampled_answers(session.inputs, wanted.most)
    known = set(wanted.against.fixed.responses)

    def is_known(pair: tuple[Topic, Response]) -> bool:
        return response_digest(pair[1]) in known

    found = drawn_responses(filter(is_known, session.inputs.responses()), len(known))
    if not found:
        raise InputError("none of the responses of the earlier card is in these runs: give those")
    return [(t, r, [sentence.index for sentence in r.sentences]) for t, r in found]


def _about(session: Session, tried: TriedJudge, labels: str) -> Mapping[str, Any]:
    """Return what the judge is, what it was tried on, and when."""
    head = config_head(session, Checksums())
    ((name, settings),) = head["judges"].items()
    record = head["model"] or {}
    models = [one or {} for one in (record.get("voters") or {"": record}).values()]
    model = dict(models[0])
    prompts = model.pop("prompts_sha256", {})
    model.pop("prompts", None)  # demonstrations hold texts of documents
    model.pop("served", None)
    coverage = tried.coverage
    return {
        "judge": name,
        "purpose": summary_of(name),
        "settings": settings,
        "measures": list(tried.tested.leading),
        "model": model,
        "served": sorted({name for own in models for name in own.get("served", ())}),
        "prompts": prompts,
        "versions": head["versions"],
        "written": fixed_time() or datetime.now(UTC).isoformat(timespec="seconds"),
        "responses": tried.tested.responses,
        "topics": tried.tested.topics,
        "items": tried.tested.items,
        "labels": labels,
        "languages": coverage.languages,
        "uncalibrated": coverage.withheld,
        "unjudged": coverage.failures,
        "calls": session.model.spent(),
    }

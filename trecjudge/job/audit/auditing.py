"""A judge tried on labelled items, as the job would judge them, and compared with the labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import orjson

from trecjudge.errors import InputError, JudgeUnfit, ModelError
from trecjudge.evaluation.pairs.reading import bare_pairs, by_texts, pair_as_response, pair_of
from trecjudge.findings import Finding, OnFinding, ignore, plural
from trecjudge.inputs.labels import LabelledItem, read_labels
from trecjudge.inputs.labels.vocabulary import Words
from trecjudge.inputs.sources.values import objects
from trecjudge.job.audit.rules import JUDGED, AuditRules
from trecjudge.job.inputs import drawn_responses
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.judging.judge import AllResponses
from trecjudge.judging.panel import panel_settings
from trecjudge.judging.runner import JudgedResponse, Runner
from trecjudge.models.model import Voter, VoterModel
from trecjudge.records import Judgment, Place, Response, Sentence, Topic
from trecjudge.results.judgments import Header, JudgmentsWriter

if TYPE_CHECKING:
    from trecjudge.evaluation.agreement import Agreement

MOST = (1 << 63) - 1
"""The largest whole number that JSON of ours holds."""
RUN = "audit"
"""The run_id of bare pairs, and the topic of those without one."""
Responses = Iterable[tuple[Topic, Response]]


@dataclass(frozen=True, slots=True)
class AuditItems:
    """Responses with nothing but labelled parts, and the file of the labels on them.

    `labels` are lines to write where the file itself names no items, as that of bare pairs.
    """

    responses: Sequence[tuple[Topic, Response]]
    labels: Sequence[bytes] = ()


def are_pairs(path: Path) -> bool:
    """Return whether a file's first record is a sentence with a document."""
    for _, record in objects(path, ignore):
        return pair_of(record, Place(str(path))) is not None
    return False


def items_of_pairs(path: Path, report: OnFinding) -> AuditItems:
    """Return bare pairs as responses; one without a label is passed over. Raises InputError."""
    labelled = (pair for pair in bare_pairs([path], report) if pair.labels)
    responses: list[tuple[Topic, Response]] = []
    labels: list[bytes] = []
    for place, records in enumerate(by_texts(labelled)):
        # Numbered: two pairs of a topic are two responses, and those need two runs.
        numbered = replace(records[0], pair_id=str(place))
        topic, response = pair_as_response(numbered, f"{RUN}-{place}", RUN)
        responses.append((topic, response))
        labels.append(_label(response, [label for one in records for label in one.labels]))
    if not responses:
        raise InputError(f"{path}: no labelled pair in it; each needs a label")
    return AuditItems(responses, labels)


def _label(response: Response, said: Sequence[object]) -> bytes:
    (doc_id,) = response.documents
    record = {
        "topic_id": response.topic_id,
        "run_id": response.run_id,
        "sentence_index": 0,
        "doc_id": doc_id,
        # No label is so large a number: as text it is told among those that are not known.
        "labels": [str(one) if isinstance(one, int) and abs(one) > MOST else one for one in said],
    }
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def items_of_runs(path: Path, responses: Responses, words: Words | None = None) -> AuditItems:
    """Return the labelled parts of responses. Raises InputError where none is labelled."""
    # What they are called is reported where they are compared; here it is what they are on.
    labels = read_labels(path, ignore, words)
    groups = set(labels.rows)
    found = []
    for topic, response in responses:
        if (response.topic_id, response.run_id) in groups:
            items = labels.of((response.topic_id, response.run_id))
            found.append((topic, _labelled_part(response, items)))
    if not found:
        example = next(iter(groups))
        raise InputError(
            f"{path}: no label is on a response of these runs: there topic {example[0]!r},"
            f" run {example[1]!r}"
        )
    return AuditItems(found)


def _labelled_part(response: Response, items: Iterable[LabelledItem]) -> Response:
    """Return the response with only its labelled sentences, and of those the labelled citations.

    It stays whole where a label is on no sentence of it.
    """
    wanted: dict[int, set[str | None]] = {}
    for index, doc_id, *_ in items:
        if index is None:
            return response
        wanted.setdefault(index, set()).add(doc_id)
    return replace(response, sentences=tuple(_labelled_sentences(response.sentences, wanted)))


def _labelled_sentences(
    sentences: Sequence[Sentence], wanted: dict[int, set[str | None]]
) -> Iterator[Sentence]:
    for sentence in sentences:
        if (cited := wanted.get(sentence.index)) is None:
            continue
        kept = tuple(c for c in sentence.citations if None in cited or c.doc_id in cited)
        yield replace(sentence, citations=kept)


@dataclass(frozen=True, slots=True)
class AuditReport:
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
            on = f"{plural(self.items, 'item')} of {plural(self.topics, 'topic')}"
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


def audit_judge(
    job: Job, rules: AuditRules, report: OnFinding, notify: Notify
) -> tuple[AuditReport | None, dict[str, Any]]:
    """Return the audit of one judge of a job, None where it is only planned, and what it cost.

    The runs of the job are read only where labels have no texts. Raises a TrecJudgeError for what
    the user can put right, Interrupted for an interrupt.
    """

    async def audit() -> tuple[AuditReport | None, dict[str, Any]]:
        async with open_session(job, report, notify) as session:
            if not are_pairs(Path(rules.labels)):
                if not job.runs:
                    raise InputError(
                        f"{rules.labels}: its labels have no texts; give the runs that they are on"
                        " (--rag-responses), or labels with sentence and document"
                    )
                session.inputs.check_documents(report)
            audit = await LabelledJudgments.make(session, rules)
            spent = session.model.spent()
            if job.model.plan:
                return None, spent | {"items": sum(len(one.items) for one in audit.judged)}
            return audit.compare(), spent

    return run_session(job, audit())


@dataclass(frozen=True, slots=True)
class LabelledJudgments:
    """The labelled items of an audit as the judge that is tried judged them."""

    session: Session
    rules: AuditRules
    items: AuditItems
    judged: Sequence[JudgedResponse]

    @classmethod
    async def make(
        cls,
        session: Session,
        rules: AuditRules,
        most: int | None = None,
        voter: Voter | None = None,
    ) -> LabelledJudgments:
        """Return the judgments on the labelled items; this asks the model. Raises InputError.

        Of labels without texts, the items are those of the session's runs. Of more than `most`
        labelled responses so many are drawn. With a `voter` it is that one who judges.
        """
        path = Path(rules.labels)
        if are_pairs(path):
            items = items_of_pairs(path, session.report)
        else:
            items = items_of_runs(path, session.inputs.responses(), rules.map)
        if most is not None:
            items = replace(items, responses=drawn_responses(items.responses, most))
        topics = {topic.topic_id: topic for topic, _ in items.responses}
        model = session.model if voter is None else VoterModel(session.model, voter)
        panel = session.judging if voter is None else session.panel
        runner = Runner([panel[rules.judge_place(session.panel)]], model)
        # A judge that is shown all responses first may put what it makes of them beside the files.
        beside = session.job.outputs.folder / session.job.outputs.name
        shown = partial(iter, items.responses)
        await runner.prepare(AllResponses(shown, topics, model, beside, session.notify))
        judged = [judged async for judged in runner.run(items.responses)]
        return cls(session, rules, items, judged)

    @property
    def judge(self) -> str:
        """The name of the judge."""
        panel = self.session.panel
        return panel[self.rules.judge_place(panel)].name

    def compare(self) -> AuditReport:
        """Return how far the judgments agree with the labels.

        Raises ModelError where nothing could be judged, InputError where no judgment is on a
        labelled item.
        """
        judgments = [judgment for response in self.judged for judgment in response.judgments]
        decided = sum(judgment.judged for judgment in judgments)
        if judgments and not decided:
            raise ModelError(
                f"audit: none of {len(judgments)} items was judged: {_first_failure(judgments)}"
            )
        found = self._agreement()
        figures: dict[str, float | None] = {JUDGED: decided / max(1, len(judgments))}
        figures |= {figure.name: figure.pooled for figure in found.figures}
        bounds = {f.name: (f.interval.low, f.interval.high) for f in found.figures}
        return AuditReport(
            judge=self.judge,
            labels=self.rules.labels,
            items=found.items,
            topics=found.topics,
            unjudged=len(judgments) - decided,
            figures=figures,
            intervals={
                name: [low, high]
                for name, (low, high) in bounds.items()
                if low is not None and high is not None
            },
            broken=self.rules.broken_bounds(figures),
            agreement=found,
        )

    def _agreement(self) -> Agreement:
        # Imported late: it loads numpy, which not every job needs.
        from trecjudge.evaluation.agreement import AgreementOptions, agree

        given, truth = self.rules.labels, Path(self.rules.labels)
        # By way of files: `agree` reads what judges and people wrote, whoever they are.
        with TemporaryDirectory(prefix="trecjudge-audit-") as folder:
            made = Path(folder) / f"{self.judge.replace('/', '_')}.judgments.jsonl"
            self._write(made)
            if self.items.labels:
                truth = Path(folder) / "labels.jsonl"
                truth.write_bytes(b"".join(self.items.labels))

            def report_in_place(finding: Finding) -> None:
                own = self.items.labels and finding.place.path == str(truth)
                self.session.report(replace(finding, place=Place(given)) if own else finding)

            try:
                return agree(truth, made, report_in_place, AgreementOptions(words=self.rules.map))
            except InputError as error:
                reason = str(error).replace(str(made), f"the judgments of {self.judge}")
                raise InputError(f"audit: {reason.replace(str(truth), given)}") from error

    def _write(self, path: Path) -> None:
        name = self.judge
        with path.open("wb") as file:
            writer = JudgmentsWriter(file)
            writer.header(Header(judges={name: panel_settings(self.session.panel)[name]}))
            for one in self.judged:
                writer.response(one.response, [(name, each) for each in one.judgments])
            writer.end()


def _first_failure(judgments: Sequence[Judgment]) -> str:
    failure = next(judgment.failure for judgment in judgments if judgment.failure is not None)
    return f"{failure.kind}: {failure.message}"

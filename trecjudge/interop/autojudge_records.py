"""Reports, topics, banks and settings of AutoJudge as ours; our results as theirs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

import click
from autojudge_base import (
    Leaderboard,
    LeaderboardEntry,
    LeaderboardSpec,
    MeasureSpec,
    QrelRow,
    Qrels,
    Report,
    Request,
)
from autojudge_base.nugget_data import NuggetBank, NuggetBanks
from pydantic import PrivateAttr, model_validator

from trecjudge.api.result import Result
from trecjudge.errors import WorkflowError, unknown
from trecjudge.evaluation.banks.making import BankSettings, Kind
from trecjudge.findings import FindingLog, FirstFindings, ignore
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import bank_of, record_of
from trecjudge.inputs.nuggets.bank_formats import bank_format_named, bank_format_of
from trecjudge.job.banks import make_job_banks
from trecjudge.job.request import Job, model_options
from trecjudge.job.workflow import Workflow, names_in
from trecjudge.measures import UNJUDGED
from trecjudge.models.settings import BASE_URL, MODEL
from trecjudge.models.spending import Budget
from trecjudge.records import Place
from trecjudge.results.outputs import Outputs
from trecjudge.settings.fields import typed_fields
from trecjudge.text.credentials import public

COUNTS = "items that a row of {} lacks, since they could not be judged"


def tell(lines: Iterable[str]) -> None:
    """Print lines for the user of AutoJudge, without secrets."""
    for line in lines:
        click.echo(f"[trecjudge] {public(line)}", err=True)


def tell_missing(expected: Iterable[str] | None, known: Collection[str], what: str) -> None:
    """Print which topics lack something; `what` has a place for how many they are."""
    missing = sorted(set(expected or ()) - set(known))
    if missing:
        few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        tell([f"{what.format(len(missing))}: {few}"])


class PooledQrels(Qrels):
    """Qrels in which a topic may lack rows: where nobody cites, nothing is graded."""

    def verify(self, expected_topic_ids: Any, warn: bool | None = False) -> None:
        """Tell which topics have no rows; that is no error."""
        graded = {row.topic_id for row in self.rows}
        tell_missing(expected_topic_ids, graded, "no document is graded on {} topics")


def topic_record(topic: Request) -> dict[str, Any]:
    """Return a topic as a line of a topic file."""
    return dict(topic.model_dump(mode="json", exclude_none=True))


def run_record(report: Report) -> dict[str, Any]:
    """Return a report as a line of a run file: its sentences once, as they were written."""
    sentences = report.responses if report.responses is not None else report.answer
    record: dict[str, Any] = {
        "is_ragtime": True,  # the format that takes citations by id, by index and with scores
        "metadata": report.metadata.model_dump(mode="json", exclude_none=True),
        "responses": [_sentence(sentence) for sentence in sentences or ()],
    }
    if report.references is not None:
        record["references"] = list(report.references)
    if report.documents is not None:
        record["documents"] = {
            doc_id: document.model_dump(mode="json", exclude_none=True)
            for doc_id, document in report.documents.items()
        }
    return record


def _sentence(sentence: Any) -> dict[str, Any]:
    cited = {} if sentence.citations is None else {"citations": sentence.citations}
    return {"text": sentence.text} | cited


def leaderboard_of(result: Result) -> Leaderboard:
    """Return the leaderboard that our job wrote, row by row: nothing is averaged again."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    names: dict[str, None] = dict.fromkeys(result.measures)
    for run_id, topic_id, measure, value in _columns(result.files["leaderboard"]):
        values.setdefault((run_id, topic_id), {})[measure] = float(value)
        names.setdefault(measure)
    spec = LeaderboardSpec(tuple(MeasureSpec(name, float, _description(name)) for name in names))
    entries = (LeaderboardEntry(*both, values=found) for both, found in values.items())
    return Leaderboard(measures=tuple(names), spec=spec, entries=tuple(entries))


def _description(name: str) -> str:
    return COUNTS.format(name.removesuffix(UNJUDGED)) if name.endswith(UNJUDGED) else ""


def qrels_of(result: Result) -> Qrels | None:
    """Return the pooled qrels that our job wrote; None where no document is graded.

    Of several judges, theirs takes the grades of one: the first one by name that has any.
    """
    written = (path for what, path in result.files.items() if what.partition(".")[0] == "qrels")
    rows = [
        QrelRow(topic_id=topic_id, doc_id=doc_id, grade=int(grade))
        for path in islice(written, 1)
        for topic_id, _, doc_id, grade in _columns(path)
    ]
    return PooledQrels(rows=rows) if rows else None


def _columns(path: Path) -> Iterator[list[str]]:
    """Yield the columns of each line as written: ids with white space stay encoded."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield line.split()


# Banks of nuggets of AutoJudge: read in any of our formats, made by words or a model, written.

THEIRS = "autoargue"
"""The format of their banks, by our name."""


class AnyBank(NuggetBank):
    """A bank of theirs, read from a record of any format of ours, which it keeps."""

    _record: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _of_any_format(cls, value: Any, made: Any) -> Any:
        format_ = bank_format_of(value) if isinstance(value, Mapping) else None
        if format_ is None or format_.NAME == THEIRS:
            return made(value)
        read = bank_of(format_, value, Place("nuggets"), ignore)
        weighted = read is not None and any(n.weight is not None for n in read.nuggets)
        if read is None or weighted:  # it names no topic, or is of criteria: theirs says so
            return made(value)
        bank = made(record_of(read, bank_format_named(THEIRS)))
        bank._record = dict(value)
        return bank


class Banks(NuggetBanks):
    """Banks of theirs in which a topic may lack a bank: that is told, and no error."""

    @classmethod
    def get_bank_model(cls) -> type[NuggetBank]:
        """Return the class that reads a bank."""
        return AnyBank

    @classmethod
    def of(cls, banks: list[Bank]) -> Banks:
        """Return banks of ours as theirs."""
        format_ = bank_format_named(THEIRS)
        made = [AnyBank.model_validate(record_of(bank, format_)) for bank in banks]
        return cls(banks={str(bank.query_id): bank for bank in made})

    def verify(self, expected_topic_ids: Any, warn: bool = False) -> None:
        """Tell which topics have no bank."""
        tell_missing(expected_topic_ids, self.banks, "{} topics have no bank")


def written_banks(banks: Any) -> Iterator[dict[str, Any]]:
    """Yield each bank as a record: the one that it was read from, where it keeps that."""
    for bank in getattr(banks, "banks", {}).values():
        kept = getattr(bank, "_record", None)
        yield kept or bank.model_dump(mode="json", exclude_none=True)


def make_their_banks(
    settings: Settings,
    llm: Mapping[str, str],
    topics: Path,
    runs: Sequence[Path],
    documents: Sequence[Path],
) -> tuple[Banks, list[str]]:
    """Return a bank for each topic that one could be made for, and lines for the user.

    Raises InputError for what cannot be made.
    """
    making = BankSettings([cast(Kind, kind) for kind in settings.makes], settings.most_nuggets)
    making.check(settings.use_env_llm)
    budget = Budget(settings.max_calls, settings.max_tokens, settings.max_cost)
    cache = Path(settings.cache_dir) if settings.cache_dir else None
    options = model_options(settings.use_env_llm, budget, cache)
    lines: list[str] = []
    first = FirstFindings()
    findings = FindingLog([lambda found: lines.append(str(found)) if first.take(found) else None])
    job = Job(
        runs=runs,
        outputs=Outputs(Path(), "nuggets"),
        workflow=Workflow(llm=dict(llm)),
        topics=topics,
        documents=documents,
        model=options,
    )
    made, _ = make_job_banks(job, making, findings, ignore)
    found = [one.bank for one in made if one.drafts]
    count = sum(len(bank.nuggets) for bank in found)
    by = "a model" if options.use else "words"
    lines += [*first.rest(), f"{count} nuggets for {len(found)} topics, by {by}"]
    return Banks.of(found), lines


# What a workflow of AutoJudge can set for our judges.

KINDS = ("documents", "runs", "topic")


@dataclass(frozen=True)
class Settings:
    """The settings of a call: the flags of our own command, by their names.

    `set` are the settings of the judges, flat for one, by judge for several. `make_nuggets` says
    from what banks are made: `documents`, `runs`, `topic`. `description` is for readers only.
    """

    judge: str | list[str] = ""
    workflow: str = ""
    variant: str = ""
    set: dict[str, Any] = field(default_factory=dict)
    documents: str | list[str] = ""
    own_documents: bool = False
    qrels: str = ""
    nuggets: str | list[str] = ""
    use_env_llm: bool = False
    cache_dir: str = ""
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    make_nuggets: str | list[str] = ""
    most_nuggets: int = 20
    description: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Return the settings. Raises WorkflowError for an unknown key or a wrong value."""
        made = cls(**typed_fields(cls, given, "settings of trecjudge"))
        for kind in made.makes:
            if kind not in KINDS:
                raise WorkflowError(f"make_nuggets: {unknown('source', kind, KINDS)}")
        return made

    @property
    def judges(self) -> list[str]:
        """The names of the judges; none where a workflow of ours names them."""
        return _names_in(self.judge)

    @property
    def makes(self) -> list[str]:
        """What banks of nuggets are made from."""
        return _names_in(self.make_nuggets)

    @staticmethod
    def paths(given: str | list[str]) -> list[Path]:
        """Return one path or several."""
        return [Path(path) for path in ([given] if isinstance(given, str) else given) if path]


def llm_given(config: Any) -> dict[str, str]:
    """Return what their configuration knows of the endpoint and the environment does not."""
    found: dict[str, str] = {}
    if not os.environ.get(MODEL) and getattr(config, "model", None):
        found["model"] = str(config.model)
    if not any(map(os.environ.get, BASE_URL)) and getattr(config, "base_url", None):
        found["base_url"] = str(config.base_url)
    return found


def _names_in(given: str | list[str]) -> list[str]:
    return names_in(given if isinstance(given, str) else ",".join(given))

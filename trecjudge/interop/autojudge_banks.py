"""Banks of nuggets of AutoJudge: read in any of our formats, made by words or a model, written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from autojudge_base.nugget_data import NuggetBank, NuggetBanks
from pydantic import PrivateAttr, model_validator

from trecjudge.evaluation.banks.making import BankSettings, Kind
from trecjudge.findings import FindingLog, FirstFindings, ignore
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import bank_of, record_of
from trecjudge.inputs.nuggets.bank_formats import bank_format_named, bank_format_of
from trecjudge.interop.autojudge_records import tell_missing
from trecjudge.interop.autojudge_settings import Settings
from trecjudge.job.banks import make_job_banks
from trecjudge.job.request import Job, model_options
from trecjudge.job.workflow import Workflow
from trecjudge.models.spending import Budget
from trecjudge.records import Place
from trecjudge.results.outputs import Outputs

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

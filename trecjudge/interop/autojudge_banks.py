"""Banks of nuggets of AutoJudge: read in any format that we read, written as theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
from autojudge_base.nugget_data import NuggetBank, NuggetBanks
from pydantic import PrivateAttr, model_validator

from trecjudge.findings import unreported
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.reading import bank_of
from trecjudge.inputs.nuggets.registry import bank_format_named, bank_format_of
from trecjudge.inputs.nuggets.writing import record_of
from trecjudge.records import Place

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
        read = bank_of(format_, value, Place("nuggets"), unreported)
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
        missing = sorted(set(expected_topic_ids or ()) - set(self.banks))
        if missing:
            few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            click.echo(f"[trecjudge] {len(missing)} topics have no bank: {few}", err=True)


def written_banks(banks: Any) -> Iterator[dict[str, Any]]:
    """Yield each bank as a record: the one that it was read from, where it keeps that."""
    for bank in getattr(banks, "banks", {}).values():
        kept = getattr(bank, "_record", None)
        yield kept or bank.model_dump(mode="json", exclude_none=True)

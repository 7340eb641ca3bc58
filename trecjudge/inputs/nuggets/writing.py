"""Banks written in any of the formats: one file, or a folder with a file for each topic."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.reading import bank_of
from trecjudge.inputs.nuggets.registry import BankFormat, bank_format_named
from trecjudge.records import Nugget, Place, Topic

LINES = (".jsonl", ".jsonl.gz")
INDENT = 1


def record_of(bank: Bank, format_: BankFormat) -> dict[str, Any]:
    """Return the record of a bank; where nothing changed, the one that it was read from."""
    if bank.format == format_.NAME:
        raw = dict(bank.raw)
        again = bank_of(format_, raw, bank.place or Place(""), ignore)
        if again is not None and again.nuggets == bank.nuggets:
            return raw
    return format_.record(bank)


def nuggets_record(topic: Topic, name: str) -> dict[str, Any] | None:
    """Return the nuggets of a topic as a record of the format `name`; None where it has no bank.

    Raises InputError for weighted criteria: as nuggets, faults would count as good.
    """
    if topic.nuggets is None:
        return None
    if any(nugget.weight is not None for nugget in topic.nuggets):
        message = "has a bank of weighted criteria, which only judge rubric takes"
        raise InputError(f"topic {topic.topic_id!r} {message}")
    return bank_format_named(name).record(Bank(topic.topic_id, topic.nuggets, topic.title))


def fields_lost(bank: Bank, format_: BankFormat) -> list[str]:
    """Return the names of the bank's fields that a record of this format does not keep."""
    again = bank_of(format_, record_of(bank, format_), Place(""), ignore)
    if again is None or len(again.nuggets) != len(bank.nuggets):
        return ["nuggets"] if bank.nuggets else []
    by_text = {nugget.text: nugget for nugget in again.nuggets}
    pairs = [(nugget, by_text.get(nugget.text)) for nugget in bank.nuggets]
    return [
        name
        for name, part in PARTS.items()
        if any(part(one) and (other is None or part(other) != part(one)) for one, other in pairs)
    ]


def report_lost(
    banks: Iterable[Bank], format_: BankFormat, place: str, report: OnFinding, more: str = ""
) -> None:
    """Report the fields of the banks that a format does not keep; `more` ends the message."""
    lost = dict.fromkeys(name for bank in banks for name in fields_lost(bank, format_))
    if lost:
        message = f"{format_.NAME} keeps no {', no '.join(lost)} of nuggets{more}"
        report(Finding("nugget_field_lost", Place(place), message))


def _documents(nugget: Nugget) -> frozenset[str]:
    """Return the documents of a nugget and of its answers: formats keep them at either."""
    answered = (doc_id for answer in nugget.gold_answers for doc_id in answer.documents)
    return frozenset((*nugget.documents, *answered))


PARTS: Mapping[str, Callable[[Nugget], object]] = {
    "importance": lambda nugget: nugget.importance,
    "answers": lambda nugget: [answer.text for answer in nugget.answers],
    "aggregator": lambda nugget: nugget.together,
    "documents": _documents,
    "group": lambda nugget: nugget.group,
    "source": lambda nugget: nugget.source,
    "weight": lambda nugget: nugget.weight,
}
"""The fields of a nugget beside its text and its id."""


def write_in_place(banks: Sequence[Bank], before: Sequence[Bank]) -> list[Path]:
    """Write the files in which a bank changed again, and return them.

    `before` are the banks as they were read. Raises OutputError.
    """
    by_file: dict[str, list[tuple[Bank, Bank]]] = {}
    for bank, old in zip(banks, before, strict=True):
        by_file.setdefault(old.place.path if old.place else "", []).append((bank, old))
    written = []
    for name, pairs in by_file.items():
        if all(bank.nuggets == old.nuggets for bank, old in pairs):
            continue
        records = [record_of(bank, bank_format_named(bank.format)) for bank, _ in pairs]
        path = Path(name)
        if path.name.endswith(LINES) or len(records) > 1:
            lines = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
            written.append(_write_file(path, "".join(lines)))
        else:
            written.append(
                _write_file(path, json.dumps(records[0], ensure_ascii=False, indent=INDENT))
            )
    return written


def write_banks(banks: Iterable[Bank], target: Path, format_: BankFormat) -> list[Path]:
    """Write banks to one file of lines, or to one file a topic in a folder; return the files.

    `target` is a file where its name ends in .jsonl or .jsonl.gz, else a folder. Raises OutputError
    if they cannot be written.
    """
    records = ((bank.topic_id, record_of(bank, format_)) for bank in banks)
    if target.name.endswith(LINES):
        text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for _, record in records)
        return [_write_file(target, text)]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{target}: cannot be made: {why(error)}; give another folder") from error
    files = []
    for topic_id, record in records:
        path = target / format_.FILE_NAME.format(topic=_file_part(topic_id))
        files.append(_write_file(path, json.dumps(record, ensure_ascii=False, indent=INDENT)))
    return files


def _file_part(topic_id: str) -> str:
    """Return a topic's id as a part of a file's name: different for each id, and never hidden."""
    name = quote(topic_id, safe=" ")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _write_file(path: Path, text: str) -> Path:
    packed = text.encode()
    if path.suffix == ".gz":
        packed = gzip.compress(packed, mtime=0)
    with whole(path) as file:
        file.write(packed)
    return path

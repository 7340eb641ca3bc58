"""Files and folders of nugget banks, read and written in any of the formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.nuggets.bank import Bank, BankRecord, Raw
from trecjudge.inputs.nuggets.bank_formats import (
    BankFormat,
    bank_format_named,
    bank_format_of,
    bank_formats,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.paths import files_below, own_record
from trecjudge.inputs.sources.values import Room, as_id, as_text, estimate_memory, objects
from trecjudge.records import Nugget, Place, Topic

OF_A_BANK, OF_THE_RECORD = 1000, 2
"""Bytes that a bank takes in any case, and how many times what its record does."""
# Files and folders of nugget banks, in any of the formats, as banks by topic.
OTHER_TOPIC_KEYS = ("topic_id", "query_id", "qid", "request_id", "narrative_id")


def read_banks(paths: Sequence[Path], report: OnFinding) -> dict[str, Bank]:
    """Return the banks of files and folders by topic; unusable records are reported.

    Of two banks of a topic in one format the nuggets of both count, if the records are of several
    facets; else the first bank does. Raises InputError if there is no bank at all.
    """
    banks: dict[str, Bank] = {}
    room = Room(report)
    for bank in banks_in(paths, report):
        assert bank.place is not None
        if not room.takes(bank.place, OF_A_BANK + OF_THE_RECORD * estimate_memory((bank.raw,))):
            break
        before = banks.setdefault(bank.topic_id, bank)
        if before is bank:
            continue
        if bank.format == before.format == "exam":
            banks[bank.topic_id] = replace(before, nuggets=_join_nuggets(before, bank))
        else:
            message = f"topic {bank.topic_id!r} has a bank at {before.place}: the first counts"
            report(Finding("nugget_bank_repeated", bank.place, message, topic_id=bank.topic_id))
    if not banks:
        named = ", ".join(map(str, paths))
        formats = "; ".join(format_.SUMMARY for format_ in bank_formats())
        raise InputError(f"{named}: no bank of nuggets in it. The formats are {formats}")
    _report_without_importance(list(banks.values()), report)
    return banks


def _report_without_importance(banks: Sequence[Bank], report: OnFinding) -> None:
    """Report once how many banks have no nugget with an importance or a weight."""
    bare = [b for b in banks if not any(n.importance or n.weight for n in b.nuggets)]
    if bare := [bank for bank in bare if bank.nuggets]:
        which = "the bank has" if len(banks) == 1 else f"{len(bare)} of {len(banks)} banks have"
        message = f"{which} no importance: topic {', '.join(b.topic_id for b in bare[:3])}"
        more = ", …" if len(bare) > 3 else ""
        report(Finding("nugget_importance_missing", bare[0].place or Place(""), message + more))


def banks_in(paths: Sequence[Path], report: OnFinding) -> Iterator[Bank]:
    """Yield the bank of every record that is one, in order; other records are reported."""
    for file in (file for path in paths for file in files_below(path)):
        opened = Opened(file)
        for number, record in objects(opened, report):
            place = Place(str(file), number)
            if format_ := bank_format_of(record):
                bank = bank_of(format_, record, place, report)
                if bank is not None:
                    yield bank
            elif own := own_record(record):
                report(Finding("own_output", place, f"is {own}, no bank; passed over"))
            else:
                message = "is of no known format of nugget banks"
                report(Finding("nugget_bank_unknown", place, message, brief(sorted(record))))


def bank_of(format_: BankFormat, record: Raw, place: Place, report: OnFinding) -> Bank | None:
    """Return the bank of a record; None, with a finding, where it names no topic."""
    holder: Raw = format_.holder(record)
    topic_id = _topic_of(format_, record, holder)
    if not topic_id:
        wanted = " or ".join(format_.TOPIC_KEYS)
        message = f"is a bank of format {format_.NAME} that names no topic: no {wanted}"
        report(Finding("nugget_bank_topicless", place, message))
        return None
    entry = BankRecord(record, place, report, topic_id)
    value = next((holder.get(key) for key in format_.TOPIC_KEYS), None)
    if format_.NAME != "dragun_rubric":  # whose own files have numbers
        entry.id(value, "the topic")
    found = tuple(filter(None, format_.nuggets(entry)))
    if not found:
        entry.complain("nugget_bank_empty", "the bank has no nuggets")
    _report_repeated(found, entry)
    title = as_text(record.get(format_.TITLE_KEY))
    return Bank(topic_id, found, title, format_.NAME, record, entry.raw_nuggets, place)


def _topic_of(format_: BankFormat, record: Raw, holder: Raw) -> str:
    """Return the topic's id by the format's key, else by any other that names one."""
    metadata = record.get("metadata")
    inner: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    places = [holder[key] for key in format_.TOPIC_KEYS if key in holder]
    others = [where[key] for where in (record, inner) for key in OTHER_TOPIC_KEYS if key in where]
    return next((found for value in (*places, *others) if (found := as_id(value))), "")


def _report_repeated(nuggets: Iterable[Nugget], entry: BankRecord) -> None:
    seen: set[str] = set()
    for nugget in nuggets:
        plain = " ".join(nugget.text.split()).casefold()
        if plain in seen:
            entry.complain("nugget_repeated", f"has nugget {nugget.text!r} twice: both count")
        seen.add(plain)


def _join_nuggets(first: Bank, second: Bank) -> tuple[Nugget, ...]:
    """Return the nuggets of two records of one topic, each with an id of its own."""
    taken = {nugget.nugget_id for nugget in first.nuggets}
    fresh = []
    for nugget in second.nuggets:
        name, number = nugget.nugget_id, 1
        while name in taken:
            number += 1
            name = f"{nugget.nugget_id}-{number}"
        taken.add(name)
        fresh.append(replace(nugget, nugget_id=name))
    return (*first.nuggets, *fresh)


def report_unmatched(
    banks: Mapping[str, Bank], topics: Iterable[str], wanted: Iterable[str], report: OnFinding
) -> None:
    """Report banks of topics that are not known, and wanted topics without a bank."""
    known = set(topics)
    for topic_id, bank in banks.items():
        if topic_id not in known and bank.place is not None:
            message = f"is a bank of topic {topic_id!r}, which is not in the topic file"
            report(Finding("nugget_topic_unknown", bank.place, message, topic_id=topic_id))
    for topic_id in wanted:
        if topic_id not in banks:
            message = f"there is no bank of topic {topic_id!r}"
            place = Place("--nuggets")
            report(Finding("nugget_bank_missing", place, message, topic_id=topic_id))


# Banks written in any of the formats: one file, or a folder with a file for each topic.
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

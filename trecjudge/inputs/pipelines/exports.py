"""Files of tools that are neither JSON nor tables: promptfoo's YAML, inspect_ai's logs."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import orjson

from trecjudge.errors import InputError, why
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.sources.values import loads_leniently, too_large
from trecjudge.records import Place
from trecjudge.settings.limits import limits
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, yaml_text

YAML = (".yaml", ".yml")
LOG = ".eval"
"""The ending of inspect_ai's logs: a zip archive with a file for each sample."""
BEGINS = {**dict.fromkeys(YAML, re.compile(rb"(?m)^(?:evalId|results):")), LOG: re.compile(rb"PK")}
"""How such a file begins; other YAML, as that of a workflow, is no run."""
LOOKED_AT = 1 << 12
SAMPLE = re.compile(r"samples/.+\.json")
ASK_FOR_JSONL = "promptfoo also writes `-o results.jsonl`, which has no such limit"
Row = tuple[int, dict[str, Any]]


def is_export(path: Path) -> bool:
    """Return whether a file is one of these, by its ending and its first bytes."""
    begins = BEGINS.get(path.suffix.casefold())
    if begins is None:
        return False
    try:
        with open_regular(path) as file:
            return begins.search(file.read(LOOKED_AT)) is not None
    except OSError:
        return False  # reported where the file is read


def exported_objects(path: Path, report: OnFinding) -> Iterator[Row]:
    """Yield (number, object) of such a file. Raises InputError where it cannot be read."""
    return _samples(path, report) if path.suffix.casefold() == LOG else _of_yaml(path)


def _of_yaml(path: Path) -> Iterator[Row]:
    try:
        found = read_yaml(yaml_text(path))
    except YamlFault as fault:
        raise InputError(f"{path}:{fault.line or 1}: {fault}; {ASK_FOR_JSONL}") from fault
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    if isinstance(found.value, dict):
        yield 1, found.value


def _samples(path: Path, report: OnFinding) -> Iterator[Row]:
    """Yield the samples of a log, one unpacked at a time; one that cannot be read is reported."""
    most = limits()
    try:
        with open_regular(path) as file, ZipFile(file) as log:
            names = sorted(filter(SAMPLE.fullmatch, log.namelist()))
            for number, name in enumerate(names, 1):
                place = Place(str(path), number)
                with log.open(name) as sample:
                    text = sample.read(most.record + 1)  # what the archive says of its size may lie
                excess = most.too_long if len(text) > most.record else most.excess_of_text(text)
                if excess:
                    report(too_large(place, excess))
                    continue
                yield from _sample(place, text, report)
    except (OSError, BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read as a log of inspect_ai: {why(error)}") from error


def _sample(place: Place, text: bytes, report: OnFinding) -> Iterator[Row]:
    try:
        found = loads_leniently(text)
    except orjson.JSONDecodeError as error:
        report(Finding("line_not_json", place, f"is not JSON: {error}"))
        return
    if excess := limits().excess(found):
        report(too_large(place, excess))
    elif isinstance(found, dict):
        yield place.line or 0, found

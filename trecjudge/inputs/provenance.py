"""Where the sentences of a run are from: `NAME.provenance.jsonl` beside the run's file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.retrieved import ENDING as RETRIEVED
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import Place, ProvenanceLine, Response
from trecjudge.settings.fields import adapter_of
from trecjudge.text.quotes import find_quote_span

MASKS = ("EMAIL", "PHONE", "CARD", "IBAN", "IP", "ID")
"""What a quote has in brackets where personal data was masked."""
MASK = re.compile(rf"\[(?:{'|'.join(MASKS)})\]")
ENDING = ".provenance.jsonl"
IDS = ("run_id", "topic_id", "doc_id")
LATER: dict[str, Any] = {
    **dict.fromkeys(("retriever", "document_version", "document_digest"), ""),
    **dict.fromkeys(("index", "index_version", "time"), ""),
    **dict.fromkeys(("start", "end", "rank"), 0),
    "score": 0.0,
}
"""Fields that may be missing, and what stands for them."""
LARGEST = 1 << 53

ByResponse = Mapping[tuple[str, str], tuple[ProvenanceLine, ...]]
"""The lines of a file by (run_id, topic_id), as written."""


def provenance_path(run: Path) -> Path:
    """Return where the provenance of a run file is: beside `a.jsonl.gz` in `a.provenance.jsonl`."""
    return run.with_name(f"{bare_name(run)}{ENDING}")


def is_beside_a_run(file: Path, others: Sequence[Path]) -> bool:
    """Return whether a file is the provenance of one of the others, or what it retrieved."""
    path_of = next((of for end, of in BESIDE.items() if file.name.endswith(end)), None)
    if path_of is None:
        return False
    return any(path_of(other) == file for other in others if other.parent == file.parent)


BESIDE = {ENDING: provenance_path, RETRIEVED: retrieved_path}
"""What may lie beside a run, and where, by how its name ends."""


def provenance_files(paths: Sequence[Path]) -> list[Path]:
    """Return the provenance of runs, given by themselves, by their runs or by folders.

    Raises InputError where there is none.
    """
    below = (file for path in paths for file in files_below(path))
    named = (file if file.name.endswith(ENDING) else provenance_path(file) for file in below)
    found = [file for file in dict.fromkeys(named) if file.is_file()]
    if not found:
        where = ", ".join(map(str, paths))
        raise InputError(f"{where}: no NAME{ENDING} is there, or beside a run")
    return found


def read_provenance(path: Path, report: OnFinding) -> Iterator[tuple[Place, ProvenanceLine]]:
    """Yield the lines of a file with their places; a line that is none is reported and left out.

    Raises InputError if the file cannot be read.
    """
    for number, record in objects(path, partial(_unusable, report)):
        place = Place(str(path), number)
        try:
            yield place, _line(record)
        except (ValueError, TypeError) as error:
            message = f"is no line of provenance: {error}"
            report(Finding("provenance_unusable", place, message, brief(record)))


def provenance_beside(run: Path, report: OnFinding) -> ByResponse:
    """Return the provenance that lies beside a run file; empty where none does."""
    path = provenance_path(run)
    if not path.is_file():
        return {}
    found: dict[tuple[str, str], list[ProvenanceLine]] = {}
    try:
        for _, line in read_provenance(path, report):
            found.setdefault((line.run_id, line.topic_id), []).append(line)
    except InputError as error:  # the run itself can be judged all the same
        message = str(error).removeprefix(f"{path}: ")
        report(Finding("provenance_unusable", Place(str(path)), message))
    return {key: tuple(lines) for key, lines in found.items()}


def with_provenance(
    response: Response, lines: Sequence[ProvenanceLine], report: OnFinding
) -> Response:
    """Return a response with its lines; quotes that are not in their documents are reported."""
    known = {sentence.index for sentence in response.sentences}
    about = response.run_id, response.topic_id
    own = tuple(line for line in lines if line.sentence_index in known)
    for line in own:
        document = response.documents.get(line.doc_id)
        if document is None or not document.has_text:
            continue
        if quote_span(document.full_text, line) is None:
            message = f"its provenance quotes {brief(line.quote)}, which is not in {line.doc_id!r}"
            index = line.sentence_index
            report(Finding("quote_missing", response.place, message, line.quote, index, *about))
    if len(own) < len(lines):
        message = f"its provenance has {len(lines) - len(own)} lines on sentences it does not have"
        report(Finding("provenance_unusable", response.place, message, "", None, *about))
    return replace(response, provenance=own)


def quote_span(text: str, line: ProvenanceLine) -> tuple[int, int] | None:
    """Return where the quote of a line stands in a text: at its offsets, else anywhere, else None.

    White space, case and kinds of quotation marks do not matter. A mask of personal data, such as
    `[EMAIL]`, stands for any words.
    """
    if line.quote and text[line.start : line.end] == line.quote:
        return line.start, line.end
    found = find_quote_span(text, line.quote)
    is_masked = found is None and MASK.search(line.quote)
    return find_quote_span(text, MASK.sub("…", line.quote)) if is_masked else found


def _line(record: dict[str, Any]) -> ProvenanceLine:
    """Return the line of a record. Raises ValueError."""
    given = LATER | record
    if None in record.values():
        given = LATER | {name: value for name, value in record.items() if value is not None}
    for name in IDS:
        given[name] = as_id(record.get(name))
    try:
        line: ProvenanceLine = adapter_of(ProvenanceLine).validate_python(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        raise ValueError(f"{where}: {wrong['msg']}") from None
    # What is larger, or no number, could be written to no file.
    if line.sentence_index < 0 or not 0 <= line.start <= line.end < LARGEST:
        raise ValueError("sentence_index, start and end must count up from 0")
    if not math.isfinite(line.score) or abs(line.rank) >= LARGEST:
        raise ValueError("score and rank must be finite")
    return line


def _unusable(report: OnFinding, finding: Finding) -> None:
    """Report a line that cannot be read as one of provenance: no response is lost with it."""
    report(replace(finding, kind="provenance_unusable"))

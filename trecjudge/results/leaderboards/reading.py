"""Reads leaderboard files of any format."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.exports import exported_objects, is_export
from trecjudge.inputs.pipelines.parts import ANSWERS, CONTEXTS, QUESTIONS, SAMPLES, parts_of
from trecjudge.inputs.pipelines.reading import split_columns
from trecjudge.inputs.pipelines.spans import is_span
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, delimiter_of
from trecjudge.inputs.sources.containers import ENDINGS, bare_name, chunks, first_line, lines
from trecjudge.inputs.sources.paths import own_record
from trecjudge.inputs.sources.values import as_id, decoded_lines, objects
from trecjudge.measures import UNJUDGED
from trecjudge.records import Place
from trecjudge.results.leaderboards.tools import scored_records
from trecjudge.results.leaderboards.writing import (
    COLUMN_NAMES,
    MEASURE,
    RUN,
    TOPIC,
    VALUE,
    LeaderboardLayout,
    csv_cells,
    header_columns,
    layout_named,
    layout_of,
)
from trecjudge.results.trec import (
    ALL,
    LONGEST_ROW,
    RESERVED_ALL,
    RESERVED_MEASURES,
    RUN_NAME_ROW,
    LeaderboardRow,
    companion,
    decode,
    is_row,
    number_of,
    topic_of_json,
)
from trecjudge.settings.limits import limits

OVERALL = frozenset(("all", "mean", "overall", "average", "avg"))
"""What the row of the means has in place of a topic."""
NO_MEASURES = frozenset(
    (
        *(*QUESTIONS, *ANSWERS, *CONTEXTS, *SAMPLES, "topic", "run", "system", "reference"),
        *("", "value", "index", "unnamed0", "rank", "seed", "number", "responselength"),
    )
)
AN_ID = re.compile(r"(?:^|[^a-z]|doc|p)id$|[a-z]I[dD]$")
OF_A_RUN = frozenset(("responses", "references"))
EMPTY = frozenset(("", "nan", "none", "null", "na", "n/a", "-"))
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d{1,300},\d{1,300}\s*", re.ASCII)
Scored = tuple[Place, Mapping[str, Any]]


def score_of(value: object) -> float | None:
    """Return the number that a cell holds, also with a decimal comma; None where it is none."""
    text = str(value) if isinstance(value, str | int | float) else ""
    return number_of(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text)


def is_wide_header(cells: Sequence[str]) -> bool:
    """Return whether a first line names a run or topics, and may name measures beside them."""
    columns = [_column(cell) for cell in cells]
    unlike = MEASURE in columns or any(score_of(cell) is not None for cell in cells)
    ids = {RUN, TOPIC}.intersection(columns) or any(plain(cell) in QUESTIONS for cell in cells)
    return bool(ids) and not unlike and len(set(cells)) == len(cells) > 1 and "all" not in cells


def is_wide(record: Mapping[str, Any]) -> bool:
    """Return whether a JSON object has a measure a key, and is no response or record of ours."""
    if any(plain(key) in OF_A_RUN or _column(key) == MEASURE for key in record):
        return False
    return not own_record(record) and any(
        isinstance(value, int | float) and _can_be_measure(key) for key, value in record.items()
    )


def wide_rows(path: Path, scored: Sequence[Scored]) -> Iterator[tuple[Place, LeaderboardRow]]:
    """Yield the rows of a file with a measure a column; its run is named after it, or in a column.

    A topic's cell that is empty is unjudged, which a companion row counts.
    """
    names = dict.fromkeys(name for _, record in scored for name in record)
    measures = [name for name in names if _can_be_measure(name) and _are_scores(name, scored)]
    ids = [(_id(record, RUN) or bare_name(path), _topic(record)) for _, record in scored]
    one_each = len(dict(ids)) == len(ids)
    for number, ((place, record), (run_id, topic_id)) in enumerate(zip(scored, ids, strict=True)):
        is_all = topic_id.casefold() in OVERALL or (one_each and not topic_id)
        for measure in measures:
            topic = None if is_all else topic_id or str(number + 1)
            row = LeaderboardRow(run_id, topic, measure, 0.0)
            if (value := score_of(record.get(measure))) is not None:
                yield place, row._replace(value=value)
            elif topic is not None:
                yield place, companion(row, 1)


def _column(name: str) -> str:
    known = name.strip().lower()
    return TOPIC if known in ("id", "question_id") else COLUMN_NAMES.get(known, "")


def _can_be_measure(name: str) -> bool:
    is_id = AN_ID.search(name.strip()) or _column(name) not in ("", VALUE)
    return plain(name) not in NO_MEASURES and not is_id


def _are_scores(name: str, scored: Sequence[Scored]) -> bool:
    values = [record.get(name) for _, record in scored]
    filled = [v for v in values if v is not None and str(v).strip().lower() not in EMPTY]
    return bool(filled) and all(score_of(value) is not None for value in filled)


def _id(record: Mapping[str, Any], column: str) -> str:
    """Return the id in a column, none where it is rather a text."""
    found = (as_id(value) or "" for name, value in record.items() if _column(name) == column)
    return next((one for one in found if one and (column == RUN or len(one.split()) == 1)), "")


def _topic(record: Mapping[str, Any]) -> str:
    """Return the id of the topic of a row, made from its question as for runs; empty if none."""
    parts = parts_of({"answer": "", "contexts": "", **record})
    return _id(record, TOPIC) or (parts.topic_id if parts else "")


Placed = tuple[Place, LeaderboardRow]
FEWEST_COLUMNS = 3


def read_rows(
    path: Path, report: OnFinding, format_name: str = "auto", shared: Collection[str] = ()
) -> Iterator[Placed]:
    """Yield (place, row) of a leaderboard file of any format; unusable rows are reported.

    A header is recognised by its names. A run is named after its file if the name in its `runid`
    row is `shared` with other files. Raises InputError where the file cannot be read, or its format
    is not clear.
    """
    most = limits()
    for number, (place, row) in enumerate(_any_rows(path, report, format_name, shared), 1):
        if number > most.rows:
            raise InputError(f"{place}: {most.too_many_rows}")
        if _counts_nothing(row):
            report(_bad(place, f"has {row.value:g} as {row.measure}, not a number of items", row))
        else:
            yield place, row


def _counts_nothing(row: LeaderboardRow) -> bool:
    """Return whether a row has the name of a count of unjudged items, but cannot be one."""
    if not row.measure.endswith(UNJUDGED):
        return False
    return row.measure == UNJUDGED or row.value < 0 or row.value % 1 != 0


def _any_rows(
    path: Path, report: OnFinding, format_name: str, shared: Collection[str]
) -> Iterator[Placed]:
    if is_export(path):
        yield from _of_objects(path, report)
        return
    layout, first = layout_named(format_name), first_line(path)
    # An id may begin like JSON, or hold commas like a header: tabs and a number tell rows.
    if is_row(first, b"\t", (3, 4)) and (layout is None or layout.name != "jsonl"):
        yield from _of_lines(path, report, layout, shared, "")
    elif (layout.name == "jsonl") if layout else first.lstrip()[:1] in (b"{", b"["):
        yield from _of_objects(path, report)
    elif layout is None and (delimiter := _wide_delimiter(first)):
        yield from wide_rows(path, list(_limit_cells(_of_cells(path, delimiter, report))))
    else:
        yield from _of_lines(path, report, layout, shared, None)


def _wide_delimiter(first: bytes) -> str | None:
    return delimiter_of(first.decode(errors="replace"), is_wide_header)


def _of_cells(path: Path, delimiter: str, report: OnFinding) -> Iterator[Scored]:
    """Yield (place, cells by column) of each row of a table with a header."""
    try:
        for line, cells in csv_records(decoded_lines(path, report), delimiter):
            yield Place(str(path), line), cells
    except BrokenCsv as error:
        report(_bad(Place(str(path), error.line), f"is not CSV from here on: {error}", ""))


def _limit_cells(scored: Iterable[Scored]) -> Iterator[Scored]:
    """Yield rows of many measures. Raises InputError where their cells are too many to hold."""
    cells, most = 0, limits()
    for place, record in scored:
        cells += len(record)
        if cells > most.rows:
            raise InputError(f"{place}: {most.too_many_rows}")
        yield place, record


def _of_objects(path: Path, report: OnFinding) -> Iterator[Placed]:
    wide: list[Scored] = []
    cells, most = 0, limits()
    given = exported_objects(path, report) if is_export(path) else objects(path, report)
    for line, record in given:
        place = Place(str(path), line)
        found = scored_records(record) or filter(is_wide, split_columns(record, ignore))
        if found := list(found):
            wide += [(place, one) for one in found]
            cells += sum(map(len, found))
            if cells > most.rows:
                raise InputError(f"{place}: {most.too_many_rows}")
            continue
        if is_span(record):  # a trace that nobody has scored
            continue
        named = {COLUMN_NAMES[key]: value for key, value in record.items() if key in COLUMN_NAMES}
        if TOPIC not in named and "mean" in record:  # of a NAME.leaderboard.jsonl
            named[TOPIC] = ALL
            yield from _companions(place, record, named)
            if record["mean"] is None:
                continue
        missing = {RUN, TOPIC, MEASURE, VALUE} - set(named)
        if missing:
            report(_bad(place, f"has no {', '.join(sorted(missing))}", record))
            continue
        ids = [as_id(named[column]) for column in (RUN, TOPIC, MEASURE)]
        value = named[VALUE]
        number = score_of(value)
        if None in ids:
            report(_bad(place, f"has ids {brief(ids)}", named))
        elif number is None:
            report(_no_number(place, value))
        else:
            run_id, topic_id, measure = map(str, ids)
            yield place, LeaderboardRow(run_id, topic_of_json(topic_id), measure, number)
    yield from wide_rows(path, wide)


def _companions(
    place: Place, record: Mapping[str, Any], named: Mapping[str, Any]
) -> Iterator[Placed]:
    """Yield the companion row of a line of statistics that counts unjudged items."""
    judged, expected = record.get("judged"), record.get("expected")
    ids = [as_id(named.get(column)) for column in (RUN, MEASURE)]
    counted = isinstance(judged, int) and isinstance(expected, int) and judged < expected
    if counted and None not in ids:
        row = LeaderboardRow(str(ids[0]), None, str(ids[1]), 0.0)
        yield place, companion(row, record["expected"] - record["judged"])


def _can_be_row(cells: Sequence[str]) -> bool:
    """Return whether cells can be a row of a leaderboard, even if the value is no number."""
    if len(cells) < FEWEST_COLUMNS:
        return False
    is_mean = len(cells) == FEWEST_COLUMNS + 1 and ALL in cells[:FEWEST_COLUMNS]
    return is_mean or any(score_of(cell) is not None for cell in reversed(cells))


def _refuse_other_texts(
    path: Path, rows: Iterable[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows; raise InputError after a text that holds some of a leaderboard, mainly others."""
    fit = count = 0
    for line, cells in rows:
        count += 1
        fit += _can_be_row(cells)
        yield line, cells
    if 2 * fit < count:
        raise InputError(
            f"{path}: is no leaderboard: only {fit} of its {count} lines can be rows of one;"
            " give a job or a leaderboard"
        )


def _of_lines(
    path: Path,
    report: OnFinding,
    layout: LeaderboardLayout | None,
    shared: Collection[str],
    delimiter: str | None,
) -> Iterator[Placed]:
    """Yield the rows of lines, whose `delimiter` the first one shows where it is None.

    The lines are read again instead of held: their layout may be shown only by a later one, the
    first `all` row, and which names are encoded, if any are, by all of them.
    """
    first = next((text for _, text in decoded_lines(path, ignore)), "")
    if delimiter is None:
        delimiter = _csv_delimiter(first)
        if layout and not (layout.separator and delimiter):
            delimiter = layout.separator or ""

    def rows(told: OnFinding) -> Iterator[tuple[int, list[str]]]:
        return ((number, _split(text, delimiter)) for number, text in decoded_lines(path, told))

    columns = header_columns(_split(first, delimiter)) if first else None
    begin = int(columns is not None)
    if first and columns is None:
        columns = (
            layout or layout_of(str(path), _refuse_other_texts(path, rows(ignore)), report)
        ).columns
    named = unquote(_unpacked_name(path))  # in a file's name more is encoded than in a column
    at = {column: place for place, column in enumerate(columns or ())}
    width = len(columns or ())
    ids: dict[str, dict[str, str]] = {c: {} for c in (RUN, TOPIC, MEASURE) if c in at}
    if any(b"%" in piece for piece in chunks(path)):
        texts: dict[str, set[str]] = {column: set() for column in ids}
        for _, cells in islice(rows(ignore), begin, None):
            if len(cells) == width:
                for column, found in texts.items():
                    found.add(cells[at[column]])
        ids = {column: _ids(found, column) for column, found in texts.items()}
    for line, cells in islice(rows(report), begin, None):
        place = Place(str(path), line)
        if len(cells) != width or not cells:
            message = f"has {len(cells)} columns, not {width}"
            report(_bad(place, message, " ".join(cells)))
            continue
        topic_id, measure, value = cells[at[TOPIC]], cells[at[MEASURE]], cells[at[VALUE]]
        if RUN not in at and measure == RUN_NAME_ROW:
            named = named if value in shared else decode(value, RESERVED_ALL)
            continue
        run_id = ids[RUN].get(cells[at[RUN]], cells[at[RUN]]) if RUN in at else named
        number = score_of(value)
        if number is None:
            report(_no_number(place, value))
        elif not all(cells[at[column]] for column in ids):
            report(_bad(place, "has a column that is empty", ",".join(cells)))
        else:
            topic = None if topic_id == ALL else ids[TOPIC].get(topic_id, topic_id)
            yield place, LeaderboardRow(run_id, topic, ids[MEASURE].get(measure, measure), number)


def _ids(there: set[str], column: str) -> dict[str, str]:
    """Return the id of each text in a column that is encoded.

    One that would become another text there, which stands for itself, is of another tool: it is
    unchanged.
    """
    reserved = RESERVED_MEASURES if column == MEASURE else RESERVED_ALL
    found = {text: decode(text, reserved) for text in there}
    taken = {text for text in there if found[text] == text and (text, column) != (ALL, TOPIC)}
    return {text: own for text, own in found.items() if own != text and own not in taken}


def _unpacked_name(path: Path) -> str:
    """Return a file's name without the ending of a container: the name of a run of trec_eval."""
    ending = next((e for e in ENDINGS if path.name.endswith(e)), "")
    return path.name.removesuffix(ending)


def _csv_delimiter(text: str) -> str:
    """Return what separates the columns of a first line of CSV: a header, or four columns."""
    for delimiter in ",;":
        cells = csv_cells(text, delimiter)
        # An id may hold commas too: only four columns that end in a number are CSV.
        ends_in_number = len(cells) == 4 and score_of(cells[3]) is not None
        if ends_in_number or header_columns(cells) is not None:
            return delimiter
    return ""


def _split(text: str, delimiter: str) -> list[str]:
    """Return the columns of a line: of CSV, by tabs where they make columns, else by space."""
    if delimiter:
        return csv_cells(text, delimiter)
    # Tabs first: a measure or a run may have blanks in its name.
    by_tabs = [c.strip() for c in text.split("\t", LONGEST_ROW)] if "\t" in text else []
    return (
        by_tabs
        if len(by_tabs) >= FEWEST_COLUMNS and all(by_tabs)
        else text.split(None, LONGEST_ROW)
    )


def _no_number(place: Place, value: object) -> Finding:
    return _bad(place, f"has value {brief(value)}, not a number", value)


def _bad(place: Place, message: str, value: object) -> Finding:
    return Finding("row_unreadable", place, message, brief(value))


def read_all(
    paths: Sequence[Path], report: OnFinding, format_name: str = "auto"
) -> Iterator[Placed]:
    """Yield the rows of several files of one leaderboard, one after another.

    Where files of one run each have the same name in their `runid` rows, runs are named after
    files.
    """
    shared: dict[str, list[str]] = {}
    # Many tools write the same runid into every file, such as their own name.
    for path in paths if len(paths) > 1 else ():
        name = _run_name(path)
        if name:
            shared.setdefault(name, []).append(_unpacked_name(path))
    shared = {name: files for name, files in shared.items() if len(files) > 1}
    for name, files in shared.items():
        message = f"{len(files)} files have the runid {name!r}: runs are named after files, {files}"
        report(Finding("run_id_shared", Place(str(paths[0].parent)), message, name))
    for path in paths:
        yield from read_rows(path, report, format_name, shared)


def _run_name(path: Path) -> str | None:
    """Return the name in the `runid` row of trec_eval; None where there is no such row."""
    for _, line in lines(path):
        cells = line.split()
        if len(cells) == FEWEST_COLUMNS and cells[0] == RUN_NAME_ROW.encode():
            return cells[2].decode(errors="replace")
    return None

"""Scores with a measure a column: a row for each topic of a run, or for each run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.parts import ANSWERS, CONTEXTS, QUESTIONS, SAMPLES, parts_of
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.inputs.sources.own import own_record
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place
from trecjudge.results.leaderboards.layouts import COLUMN_NAMES, MEASURE, RUN, TOPIC, VALUE
from trecjudge.results.trec import LeaderboardRow, companion, number_of

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

"""Reports and topics of AutoJudge as records that we read; our results as theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

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

from trecjudge.api.result import Result
from trecjudge.measures import UNJUDGED
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

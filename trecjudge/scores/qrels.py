"""The qrels of judged responses: of each document its best grade, by run or pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trecjudge.records import Judgment, Response
from trecjudge.results.trec import NO_RUN, QrelsRow


def response_qrels(response: Response, judgments: Sequence[Judgment]) -> list[QrelsRow]:
    """Return a run's grades of documents on a topic: of each document its best sentence's."""
    best = best_grades(judgments)
    rows = ((doc_id, grade) for (_, doc_id), grade in sorted(best.items()))
    run_id = response.run_id
    named = run_id in NO_RUN
    return [QrelsRow(response.topic_id, run_id, *row, named) for row in rows]


def best_grades(
    judgments: Sequence[Judgment], best: dict[tuple[str, str], int] | None = None
) -> dict[tuple[str, str], int]:
    """Return the highest grade by (topic_id, doc_id), added to `best` if given.

    Unjudged items and citations of no document give no grade.
    """
    best = {} if best is None else best  # added to in place: a pool of all runs is large
    for judgment in judgments:
        if judgment.grade is not None and judgment.doc_id is not None:
            key = (judgment.topic_id, judgment.doc_id)
            best[key] = max(best.get(key, judgment.grade), judgment.grade)
    return best


def pooled_qrels(best: dict[tuple[str, str], int]) -> Iterator[QrelsRow]:
    """Yield classic qrels, sorted by topic and document."""
    for (topic_id, doc_id), grade in sorted(best.items()):
        yield QrelsRow(topic_id, "0", doc_id, grade)

"""Labels of a human or of another tool in the place of a judge's own decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.errors import InputError, JudgmentFailed, PluginError
from trecjudge.findings import Finding, Report, shown
from trecjudge.judge import Judge
from trecjudge.llm.model import Model
from trecjudge.measures import LeaderboardSpec
from trecjudge.panel import Panel, Seat
from trecjudge.records import Item, Judgment, Place, Response, Topic
from trecjudge.sources.values import as_id, objects

Key = tuple[str, str, int | None, str | None]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document."""


@runtime_checkable
class TakesLabels(Protocol):
    """A judge that can take a label from somebody else."""

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that a label makes. Raises JudgmentFailed for an unknown one."""


@dataclass(frozen=True, slots=True)
class GivenJudge:
    """A judge whose every decision is looked up; an item without a label is unjudged."""

    inner: Judge
    labels: Mapping[Key, str]

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return the judgment that the item's label makes."""
        doc_id = item.citation.doc_id if item.citation else None
        doc_id = item.document.doc_id if item.document and doc_id is None else doc_id
        key = (item.topic.topic_id, item.run_id, item.sentence_index, doc_id)
        label = self.labels.get(key)
        if label is None and item.exists is False:
            return await self._without_label(item, model)
        if label is None:
            raise JudgmentFailed("not_given", f"no label is given for {key}")
        assert isinstance(self.inner, TakesLabels)
        return self.inner.given(item, label)

    async def _without_label(self, item: Item, model: Model) -> Judgment:
        """Return what the judge makes of a citation of no document, which nobody can label."""
        found = await self.inner.judge(item, model)
        assert isinstance(found, Judgment)
        return found


def with_labels(panel: Panel, labels: Mapping[Key, str]) -> list[Seat]:
    """Return the panel with decisions taken from labels by the judges that can take them.

    Raises PluginError if none can.
    """
    if not any(isinstance(seat.judge, TakesLabels) for seat in panel):
        names = ", ".join(repr(seat.name) for seat in panel)
        raise PluginError(f"judge {names} takes no labels of others (--judgments-from)")
    return [
        Seat(seat.name, GivenJudge(seat.judge, labels))
        if isinstance(seat.judge, TakesLabels)
        else seat
        for seat in panel
    ]


def read_labels(path: Path, report: Report) -> dict[Key, str]:
    """Return the labels of a JSONL file of topic_id, run_id, sentence_index, doc_id, label.

    The first label of an item counts. Raises InputError if there is none.
    """
    labels: dict[Key, str] = {}
    for number, record in objects(path, report):
        place = Place(str(path), number)
        entry = _entry(record)
        if entry is None:
            message = "needs topic_id, run_id and label (and sentence_index, doc_id of a citation)"
            report(Finding("label_unusable", place, message, shown(record)))
        elif labels.setdefault(entry[0], entry[1]) != entry[1]:
            message = f"labels {entry[0]} a second time, otherwise"
            report(Finding("label_duplicate", place, message, entry[1]))
    if not labels:
        raise InputError(f"{path}: no labels in it; give JSONL of topic_id, run_id, label, …")
    return labels


def _entry(record: Mapping[str, Any]) -> tuple[Key, str] | None:
    """Return (key, label) of a record, or None if it is not enough."""
    ids = [as_id(record.get(name)) for name in ("topic_id", "run_id", "label")]
    index = record.get("sentence_index")
    if None in ids or not (index is None or (isinstance(index, int | float) and index % 1 == 0)):
        return None
    topic_id, run_id, label = map(str, ids)
    return (
        topic_id,
        run_id,
        None if index is None else int(index),
        as_id(record.get("doc_id")),
    ), label

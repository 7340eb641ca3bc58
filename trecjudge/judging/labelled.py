"""Labels of people or of another tool in place of a judge's own decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trecjudge.errors import NOT_GIVEN, JudgmentFailed, PluginError
from trecjudge.inputs.labels import DecidesSome, ItemKey, TakesLabels
from trecjudge.judging.judge import Judge
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model
from trecjudge.records import Item, Judgment, Response, Topic


@dataclass(frozen=True, slots=True)
class GivenJudge:
    """A judge whose decisions are looked up; an item without a label is unjudged."""

    inner: Judge
    labels: Mapping[ItemKey, str]

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Return the judgment that the item's label makes.

        What a judge of several kinds of items says nobody can label, it decides itself.
        """
        if isinstance(self.inner, DecidesSome) and self.inner.decides_itself(item):
            return await self.inner.judge(item, model)
        doc_id = item.citation.doc_id if item.citation else None
        doc_id = item.document.doc_id if item.document and doc_id is None else doc_id
        key = (item.topic.topic_id, item.run_id, item.sentence_index, doc_id)
        label = self.labels.get(key)
        # A citation of no document needs no label: that is the system's fault, not a gap.
        if label is None and item.exists is False:
            return await self._without_label(item, model)
        if label is None:
            raise JudgmentFailed(NOT_GIVEN, f"no label is given for {key}")
        assert isinstance(self.inner, TakesLabels)
        return self.inner.given(item, label)

    async def _without_label(self, item: Item, model: Model) -> Judgment:
        """Return what the judge makes of a citation of no document, which nobody can label."""
        found = await self.inner.judge(item, model)
        assert isinstance(found, Judgment)
        return found


def with_labels(panel: Panel, labels: Mapping[ItemKey, str]) -> list[NamedJudge]:
    """Return the panel with decisions taken from labels by the judges that can take them.

    Raises PluginError if none can.
    """
    check_takes_labels(panel, "--judgments-from")
    return [
        NamedJudge(named.name, GivenJudge(named.judge, labels))
        if isinstance(named.judge, TakesLabels)
        else named
        for named in panel
    ]


def check_takes_labels(panel: Panel, flag: str) -> None:
    """Raise PluginError if no judge can take labels of others."""
    if not any(isinstance(named.judge, TakesLabels) for named in panel):
        names = ", ".join(repr(named.name) for named in panel)
        raise PluginError(f"judge {names} takes no labels of others ({flag})")

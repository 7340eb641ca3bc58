"""Labels of people or of another tool in place of a judge's own decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from trecjudge.errors import NOT_GIVEN, JudgmentFailed, PluginError
from trecjudge.inputs.labels import (
    DecidesSome,
    ItemKey,
    TakesLabels,
    TakesNuggetLabels,
    label_of,
    takes_labels,
)
from trecjudge.judging.judge import Judge, unjudged
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model
from trecjudge.records import AskedNugget, Item, Judgment, Response, Topic, judgment_of


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
        """Return the judgment that the item's label makes, or those of its nuggets' labels.

        Where a judge says that nobody can label an item, it decides on it itself.
        """
        if isinstance(self.inner, DecidesSome) and self.inner.decides_itself(item):
            return await self.inner.judge(item, model)
        if isinstance(self.inner, TakesNuggetLabels):
            asked = self.inner.asked(item)
            # A response without text states nothing, whatever a label says: the judge decides.
            if not (asked and item.has_text):
                return await self.inner.judge(item, model)
            return [self._on_nugget(item, *each) for each in asked]
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

    def _on_nugget(self, item: Item, sentence: int | None, nugget: AskedNugget | None) -> Judgment:
        """Return the judgment that the label of a nugget makes; unjudged where there is none."""
        assert isinstance(self.inner, TakesNuggetLabels)
        on = judgment_of(item, sentence_index=sentence, nugget=nugget)
        key, label = label_of(self.labels, on)
        try:
            if label is None:
                raise JudgmentFailed(NOT_GIVEN, f"no label is given for {key}")
            made = self.inner.given_nugget(item, nugget, label)
        except JudgmentFailed as failed:
            made = unjudged(item, failed)
        return replace(made, sentence_index=sentence, nugget=nugget)

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
        if takes_labels(named.judge)
        else named
        for named in panel
    ]


def check_takes_labels(panel: Panel, flag: str) -> None:
    """Raise PluginError if no judge can take labels of others."""
    if not any(takes_labels(named.judge) for named in panel):
        names = ", ".join(repr(named.name) for named in panel)
        raise PluginError(f"judge {names} takes no labels of others ({flag})")

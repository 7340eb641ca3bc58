"""What an item has beyond the inputs of a judge: inputs that a prompt may ask for by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trecjudge.models.compiled import ITEM_INPUTS
from trecjudge.records import Item, Response


@dataclass(frozen=True, slots=True)
class PromptContext(Mapping[str, str]):
    """The inputs of an item, by the names of `ITEM_INPUTS`; made only when one is read."""

    item: Item
    response: Response

    def __getitem__(self, name: str) -> str:
        topic = self.item.topic
        if name == "topic":
            return topic.title
        if name == "narrative":
            parts = (topic.problem_statement, topic.background)
            return "\n\n".join(part for part in parts if part)
        if name == "response":
            return self.response.text
        return self._beside({"before": -1, "after": 1}[name])

    def __iter__(self) -> Iterator[str]:
        return iter(ITEM_INPUTS)

    def __len__(self) -> int:
        return len(ITEM_INPUTS)

    def _beside(self, step: int) -> str:
        """Return the text of the sentence before or after the item's, empty without one."""
        sentences, index = self.response.sentences, self.item.sentence_index
        places = [place for place, one in enumerate(sentences) if one.index == index]
        if not places or not 0 <= (place := places[0] + step) < len(sentences):
            return ""
        return sentences[place].text

"""Length: the smallest judge there is, and the one to copy."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trecjudge import (
    Item,
    Judgment,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Response,
    Topic,
    judgment_of,
)


@dataclass(frozen=True, slots=True)
class LengthJudge:
    """How long each response is, and whether it keeps a limit.

    `unit` is `words` (split at white space) or `characters`, both after NFKC. `limit` is the
    largest length allowed, 0 for none, or `topic` for the limit that each topic names.
    """

    unit: Literal["words", "characters"] = "words"
    limit: int | Literal["topic"] = 0

    @property
    def measures(self) -> LeaderboardSpec:
        """LENGTH, in units, and FITS, whether it is within the limit."""
        return LeaderboardSpec(
            (
                MeasureSpec(
                    "LENGTH",
                    length,
                    neutral=True,
                    description="How long the response is, in words or characters. From 0 up;"
                    " neither longer nor shorter is better.",
                ),
                MeasureSpec(
                    "FITS",
                    fits,
                    "mean_of_bools",
                    description="Share of the responses that keep the length limit. From 0 to 1;"
                    " higher is better.",
                ),
            )
        )

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield Item(topic, response.run_id, response.shown)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return the length as the judgment's value."""
        text = unicodedata.normalize("NFKC", item.text)
        size = len(text.split()) if self.unit == "words" else len(text)
        limit = item.topic.limit or 0 if self.limit == "topic" else self.limit
        label = "too_long" if limit and size > limit else "fits"
        return judgment_of(item, label=label, value=float(size))


def length(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the length of the response."""
    return judgments[0].value


def fits(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether the response is within the limit."""
    return judgments[0].label == "fits" if judgments[0].judged else None

"""Length: the smallest judge there is, and the one to copy."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trecjudge.llm.model import Model
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import Item, Judgment, Response, Topic, judgment_of


@dataclass(frozen=True, slots=True)
class LengthJudge:
    """How long a response is, in words (NFKC, split at white space), and whether it fits a limit.

    `limit` is the most words allowed; 0 for none.
    """

    limit: int = 0

    @property
    def measures(self) -> LeaderboardSpec:
        """WORDS, and FITS: whether the words are within the limit."""
        return LeaderboardSpec(
            (MeasureSpec("WORDS", words), MeasureSpec("FITS", fits, "mean_of_bools"))
        )

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield Item(topic, response.run_id, response.text)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return the number of words as the judgment's value."""
        count = len(unicodedata.normalize("NFKC", item.text).split())
        within = not self.limit or count <= self.limit
        return judgment_of(item, label="fits" if within else "too_long", value=float(count))


def words(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the number of words."""
    return judgments[0].value


def fits(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether the response is within the limit."""
    return judgments[0].label == "fits" if judgments[0].judged else None

"""What a response says of each nugget, as judgments have it: stated, in part, or lacking; where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trecjudge.records import AskedNugget, Evidence, Judgment, Response
from trecjudge.show.tones import Tone, tone

GROUPS: Final[Mapping[Tone, str]] = {
    "good": "stated",
    "part": "stated in part",
    "against": "contradicted",
    "bad": "not stated",
    "unjudged": "unjudged",
    "plain": "not decided by label",
}
"""The tones of nuggets in the order in which they are shown, and what they mean."""
IMPORTANCE: Final[Mapping[str, int]] = {"vital": 0, "A": 0, "okay": 1, "B": 1, "C": 2}
"""What comes first; a nugget without importance, or of an unknown one, comes last."""
_SURE: Final[Sequence[Tone]] = ("good", "part", "unjudged", "against", "bad", "plain")
"""Which of several judgments on sentences counts for the nugget: stated once is stated."""
_SAYS: Final = ("good", "part", "against")

Where = tuple[int, int, int]
"""(sentence_index, start, end): the passage in the sentence, 0 and 0 for all of it."""


@dataclass(slots=True)
class Stating:
    """What a response says of a nugget, as one judge decided.

    `place` is that of the judgment among those of the response.
    """

    nugget: AskedNugget
    judge: str
    place: int
    tone: Tone
    where: list[Where] = field(default_factory=list)


def statings(response: Response, judgments: Sequence[Judgment]) -> list[Stating]:
    """Return what a response says of each nugget that was judged, in the order of the judgments.

    Judgments on a nugget and a sentence say where: they stand for the nugget only where none is on
    the whole response.
    """
    found: dict[tuple[str, str], Stating] = {}
    on_sentences: list[tuple[int, Judgment, AskedNugget]] = []
    for place, judgment in enumerate(judgments):
        if judgment.nugget is None:
            continue
        if judgment.sentence_index is not None:
            on_sentences.append((place, judgment, judgment.nugget))
            continue
        own = Stating(judgment.nugget, judgment.judge, place, tone(judgment))
        if own.tone in _SAYS and judgment.evidence and judgment.doc_id is None:
            own.where = list(sentences_of(response, judgment.evidence))
        found[judgment.judge, judgment.nugget.key] = own
    decided = dict(found)
    for place, judgment, nugget in on_sentences:
        _add(found, decided, place, judgment, nugget)
    return list(found.values())


def _add(
    found: dict[tuple[str, str], Stating],
    decided: Mapping[tuple[str, str], Stating],
    place: int,
    judgment: Judgment,
    nugget: AskedNugget,
) -> None:
    """Add a judgment on a nugget and a sentence."""
    key, of_all = (judgment.judge, nugget.key), AskedNugget(nugget.nugget_id, "").key
    own = decided.get(key) or decided.get((judgment.judge, of_all))
    if own is None:
        own = found.setdefault(key, Stating(nugget, judgment.judge, place, tone(judgment)))
        if _SURE.index(made := tone(judgment)) < _SURE.index(own.tone):
            own.place, own.tone = place, made
    here = (judgment.sentence_index or 0, 0, 0)
    if tone(judgment) in _SAYS and here not in own.where:
        own.where.append(here)


def sentences_of(response: Response, evidence: Evidence) -> Iterator[Where]:
    """Yield the sentences that a passage of `Response.text` lies in."""
    begin = 0
    for sentence in response.sentences:
        length = len(sentence.text)
        start, end = max(0, evidence.start - begin), min(length, evidence.end - begin)
        if start < end:
            yield sentence.index, start, end
        begin += length + 1  # sentences are joined by a space


def by_tone(every: Iterable[Stating]) -> dict[Tone, list[Stating]]:
    """Return them by tone, in the order in which they are shown, what is vital first."""
    groups: dict[Tone, list[Stating]] = {name: [] for name in GROUPS}
    for one in every:
        groups[one.tone].append(one)
    last = len(IMPORTANCE)
    return {
        name: sorted(own, key=lambda one: IMPORTANCE.get(one.nugget.importance, last))
        for name, own in groups.items()
        if own
    }

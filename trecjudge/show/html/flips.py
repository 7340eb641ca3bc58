"""Two outputs compared: which judgments flipped, and how runs moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trecjudge.inputs.packed import PackedRows
from trecjudge.records import Judgment, Response
from trecjudge.results.judgments import JudgmentsReader, without_text
from trecjudge.scores.leaderboard import Leaderboard, mean_for_page, sure_places
from trecjudge.scores.scoring import spec_of
from trecjudge.show.tones import tone, word

ItemKey = tuple[str, int | None, str | None, str | None, str]
"""judge, sentence, document, citation, claim, nugget or what is measured: what is judged."""


HEIGHTS = {"good": 1.0, "part": 0.5, "bad": 0.0, "missing": 0.0, "against": -0.5}
"""How high a tone stands among labels."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one output decided on an item: enough to see a flip."""

    tone: str
    word: str
    grade: int | None
    value: float | None
    reason: str = ""

    def differs(self, other: Decision) -> bool:
        """Return whether the two decide differently; reasons may differ."""
        ours = (self.word, self.grade, self.value)
        return ours != (other.word, other.grade, other.value)

    def distance(self, other: Decision) -> float:
        """Return how far two decisions are apart, 1 between the ends of a scale of labels."""
        if self.value is not None and other.value is not None:
            return abs(self.value - other.value)
        heights = HEIGHTS.get(self.tone), HEIGHTS.get(other.tone)
        if heights[0] is not None and heights[1] is not None:
            # Labels of one tone may differ in grade, which counts less than another tone.
            return abs(heights[0] - heights[1]) + 0.01 * self._grades_apart(other)
        return float(self._grades_apart(other))

    def _grades_apart(self, other: Decision) -> int:
        if self.grade is None or other.grade is None:
            return 0
        return abs(self.grade - other.grade)

    @property
    def judged(self) -> bool:
        """Whether there is a decision; False where the item is unjudged."""
        return self.tone != "unjudged"

    @property
    def shown(self) -> dict[str, str]:
        """The decision as the page shows it."""
        value = "" if self.value is None else f" {self.value:.3f}"
        return {"tone": self.tone, "word": f"{self.word}{value}", "reason": self.reason}


@dataclass(slots=True)
class Other:
    """Another output of the same runs: its leaderboard and its decisions.

    `renamed` maps our judges to its own. Where none is common, the first of both are compared.
    Without `document_text` no reason that may quote a document is kept, of either output.
    """

    name: str
    reader: JudgmentsReader
    board: Leaderboard
    document_text: bool = True
    renamed: dict[str, str] = field(default_factory=dict)
    decisions: PackedRows = field(default_factory=PackedRows)
    """(key, tone, word, grade, value, place) of each item, by (run_id, topic_id)."""
    pairs: Counter[tuple[tuple[str, str], tuple[str, str]]] = field(default_factory=Counter)
    """How often (tone and word here, tone and word there), where both sides decided."""
    unjudged: Counter[str] = field(default_factory=Counter)
    """How many common items are unjudged `here`, `there` or on `both` sides."""
    only_here: int = 0
    common: int = 0
    """Items that both outputs have, judged or not."""

    def flips(self, response: Response, judgments: Iterable[Judgment]) -> list[dict[str, Any]]:
        """Count judgments by the other output's decision, and return those that differ.

        An item that one side left unjudged is no flip: it is counted apart.
        """
        group = response.run_id, response.topic_id
        decisions = {
            key: (Decision(*fields), place) for key, *fields, place in self.decisions.rows(group)
        }
        flipped: list[tuple[int, Judgment, int]] = []
        common: set[ItemKey] = set()
        for at, judgment in enumerate(judgments):
            key = _key(judgment, self.renamed.get(judgment.judge))
            if key not in decisions:
                self.only_here += 1
                continue
            common.add(key)
            (other, place), ours = decisions[key], self.decision(judgment)
            if not (ours.judged and other.judged):
                self.unjudged["there" if ours.judged else "here" if other.judged else "both"] += 1
                continue
            self.pairs[(ours.tone, ours.word), (other.tone, other.word)] += 1
            if ours.differs(other):
                flipped.append((at, judgment, place))
        self.common += len(common)
        texts = {sentence.index: sentence.shown for sentence in response.sentences}
        return [self._flip(texts, *flip) for flip in self._read_again(group, flipped)]

    def _read_again(
        self, group: tuple[str, str], flipped: Sequence[tuple[int, Judgment, int]]
    ) -> Iterator[tuple[int, Judgment, Judgment]]:
        """Yield the judgments that flipped with their place, each with that of the other output."""
        if not flipped:
            return
        _, theirs = self.reader.again(*group, [place for *_, place in flipped])
        for (at, ours, _), other in zip(flipped, theirs, strict=True):
            yield at, ours, other

    def _flip(
        self, texts: Mapping[int, str], at: int, ours: Judgment, theirs: Judgment
    ) -> dict[str, Any]:
        here, there = self.decision(ours), self.decision(theirs)
        sentence = "" if ours.sentence_index is None else texts.get(ours.sentence_index, "")
        return {
            "at": at,
            "run": ours.run_id,
            "topic": ours.topic_id,
            "judge": ours.judge,
            "sentence_index": ours.sentence_index,
            "doc_id": ours.doc_id or ours.citation,
            "claim": ours.claim.index if ours.claim else None,
            "nugget": ours.about if ours.nugget else None,
            "text": ours.claim.text if ours.claim else sentence,
            "size": here.distance(there),
            "here": here.shown,
            "there": there.shown,
        }

    def decision(self, judgment: Judgment) -> Decision:
        """Return what is kept of a judgment, of ours or of the other output's."""
        shown = judgment if self.document_text else without_text(judgment)
        fields = tone(shown), word(shown), shown.grade, shown.value
        return Decision(*fields, shown.reason)

    def as_dict(self, ours: Leaderboard) -> dict[str, Any]:
        """Return counts, and how each measure that both have moved for each run."""
        pairs = [{"here": a, "there": b, "count": n} for (a, b), n in sorted(self.pairs.items())]
        return {
            "name": self.name,
            "met": self.pairs.total(),
            "unjudged": {where: self.unjudged[where] for where in ("here", "there", "both")},
            "only_here": self.only_here,
            "only_there": self.decisions.size - self.common,
            "pairs": pairs,
            "moves": list(_moves(ours, self.board)),
        }


def read_other(
    name: str,
    reader: JudgmentsReader,
    ours: Sequence[str],
    document_text: bool = True,
    trust: bool = False,
) -> Other:
    """Return another output, to compare with one of the judges `ours`; `trust` as in `Wanted`."""
    theirs = list(reader.header.judges)
    common = {judge: judge for judge in ours if judge in theirs}
    board = Leaderboard(spec_of(reader, trust), reader.header.topics)
    other = Other(name, reader, board, document_text, renamed=common or {ours[0]: theirs[0]})
    compared = set(other.renamed.values())
    for response, judgments in reader:
        _add(other, response, judgments, compared)
    board.finish()
    return other


def _add(
    other: Other, response: Response, judgments: Sequence[Judgment], compared: set[str]
) -> None:
    other.board.add(response, judgments)
    own: dict[ItemKey, tuple[Any, ...]] = {}
    for place, judgment in enumerate(judgments):
        if judgment.judge in compared:
            made = other.decision(judgment)
            fields = made.tone, made.word, made.grade, made.value, place
            own[_key(judgment, judgment.judge)] = fields
    group = response.run_id, response.topic_id
    other.decisions.put(group, ((key, *fields) for key, fields in own.items()))


def _key(judgment: Judgment, judge: str | None) -> ItemKey:
    place = judge or "", judgment.sentence_index
    if judgment.identity:
        # The document is part of the decision: a claim may be found elsewhere, or nowhere.
        return *place, None, None, judgment.identity
    measured = judgment.label or "" if judgment.value is not None else ""
    return *place, judgment.doc_id, judgment.citation, measured


def _moves(ours: Leaderboard, theirs: Leaderboard) -> Iterator[dict[str, Any]]:
    """Yield the mean and the place of each run here and there by a measure, for each they share."""
    named = {measure.name: measure for measure in theirs.spec.measures}
    for measure in ours.spec.measures:
        if measure.name not in named:
            continue
        there = named[measure.name]
        places_here, places_there = sure_places(ours, measure), sure_places(theirs, there)
        for run_id in ours.ranking():
            if run_id in theirs.scores:
                yield {
                    "run": run_id,
                    "measure": measure.name,
                    "here": mean_for_page(ours, run_id, measure),
                    "there": mean_for_page(theirs, run_id, there),
                    "place_here": places_here[run_id],
                    "place_there": places_there[run_id],
                }

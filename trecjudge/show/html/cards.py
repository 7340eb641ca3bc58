"""The card of a run: place, labels, signs, worst sentences, topics behind the median."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.records import Judgment, Response
from trecjudge.results.statistics import RunScore
from trecjudge.scores.leaderboard import Leaderboard, mean_for_page, sure_places
from trecjudge.show.formats import rank_bounds
from trecjudge.show.html.entries import HEIGHTS
from trecjudge.show.judgments import sentence_texts
from trecjudge.show.tones import MEANINGS, Tone, tone, word

WORST, MOST_BEHIND = 10, 5
"""Sentences that a card names as the worst, and topics where the run is furthest behind."""
MOST_NOWHERE = 20
"""Citations of no document that a card names; all are counted."""
OF_WORST = "height", "weight", "topic", "sentence", "at", "text"
"""What a card says of a sentence: see `RunFacts.worst`."""
LONGEST_SENTENCE = 300
"""Characters of a sentence that a card has."""


@dataclass(slots=True)
class RunFacts:
    """What the judgments of one run come to; only what the judge that ranks says is in `worst`."""

    judge: str = ""
    labels: dict[str, Counter[tuple[Tone, str]]] = field(default_factory=dict)
    """How often each (tone, word), by judge."""
    nowhere: int = 0
    """Citations whose document is not there."""
    cited: int = 0
    missing: list[dict[str, Any]] = field(default_factory=list)
    worst: list[tuple[float, float, str, int, int, str]] = field(default_factory=list)
    """(height of its labels, weight, topic, sentence, place of a judgment, text), lowest first."""

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Count one response."""
        citations: dict[tuple[int | None, str], bool | None] = {}
        for judgment in judgments:
            found = self.labels.setdefault(judgment.judge, Counter())
            found[tone(judgment), outcome_word(judgment)] += 1
            if judgment.citation is not None:
                citations[judgment.sentence_index, judgment.citation] = judgment.exists
        lost = [place for place, exists in citations.items() if exists is False]
        self.cited, self.nowhere = self.cited + len(citations), self.nowhere + len(lost)
        named = [{"topic": response.topic_id, "sentence": s, "citation": c} for s, c in lost]
        self.missing += named[: MOST_NOWHERE - len(self.missing)]
        self.worst = sorted([*self.worst, *self._sentences(response, judgments)])[:WORST]

    def _sentences(
        self, response: Response, judgments: Sequence[Judgment]
    ) -> Iterator[tuple[float, float, str, int, int, str]]:
        """Yield the sentences that something is wrong with, as `worst` has them."""
        by_sentence: dict[int, list[tuple[int, Judgment]]] = {}
        for at, one in enumerate(judgments):
            counts = one.judge == self.judge or not self.judge
            if counts and one.sentence_index is not None and not one.nugget and _height(one) >= -1:
                by_sentence.setdefault(one.sentence_index, []).append((at, one))
        texts = sentence_texts(response)
        for index, own in by_sentence.items():
            heights = [_height(one) for _, one in own]
            if (height := fmean(heights)) < 1:
                weight = fmean(h if one.expected is None else one.expected
                               for h, (_, one) in zip(heights, own, strict=True))  # fmt: skip
                at = own[heights.index(min(heights))][0]
                yield (
                    height,
                    weight,
                    response.topic_id,
                    index,
                    at,
                    texts.get(index, "")[:LONGEST_SENTENCE],
                )


def outcome_word(judgment: Judgment) -> str:
    """Return what became of a judgment: its label in words, or that it is unjudged, and why."""
    if judgment.failure is not None:
        return f"{MEANINGS['unjudged']}: {judgment.failure.kind}"
    return word(judgment)


def _height(judgment: Judgment) -> float:
    """Return how high a judgment's tone stands, as HEIGHTS; -2 where it says nothing."""
    return HEIGHTS.get(tone(judgment), -2)


def of_all_runs(board: Leaderboard) -> list[list[list[float] | None]]:
    """Return [best, median, worst] of all runs, by measure and topic; None where none has a value.

    A response that is missing counts as it does in a mean; one that is unjudged counts in none.
    """
    return [[_three(found, m.lower_is_better) for found in _by_topic(board, m)]
            for m in board.spec.measures]  # fmt: skip


def _by_topic(board: Leaderboard, measure: MeasureSpec) -> Iterator[tuple[float | None, ...]]:
    if measure.sums is not None:  # it has a value of whole runs only
        return iter([()] * len(board.expected))
    return zip(*(board.values(run, measure) for run in board.scores), strict=True)


def _three(values: Iterable[float | None], lower: bool) -> list[float] | None:
    known = sorted((v for v in values if v is not None), reverse=not lower)
    found = [known[0], median(known), known[-1]] if known else []
    return [round(value, DIGITS) for value in found] or None


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of `runs`, which are all those of the board or a team's own among them."""

    board: Leaderboard
    runs: Sequence[str]
    facts: Mapping[str, RunFacts]
    others: Sequence[Sequence[Sequence[float] | None]]
    known: Mapping[tuple[str, str], RunScore]
    """The statistics, which have the interval of a run's rank."""

    def cards(self) -> list[dict[str, Any]]:
        """Return a card for each of the runs, the best first."""
        places = sure_places(self.board, self.board.ranking_measure)
        middle = self._median()
        return [
            self._card(run) | {"place": places[run], "median": middle}
            for run in self.board.ranking()
            if run in self.runs
        ]

    def _median(self) -> float | None:
        """Return the median of the means of all runs of the board."""
        means = (self.board.mean(run, self.board.ranking_measure).mean for run in self.board.scores)
        known = [mean for mean in means if mean is not None]
        return round(median(known), DIGITS) if known else None

    def _card(self, run: str) -> dict[str, Any]:
        board, facts = self.board, self.facts[run]
        ranked, coverage = board.ranking_measure, board.coverage[run]
        judged, expected = board.counts(run, ranked)
        score = self.known.get((run, ranked.name), RunScore(run, ranked.name))
        labels = [
            {"judge": judge, "tone": t, "word": w or MEANINGS[t], "count": count}
            for judge, found in sorted(facts.labels.items())
            for (t, w), count in found.most_common()
        ]
        return {
            "run": run,
            "interval": [score.rank_low, score.rank_high] if rank_bounds(score) else None,
            "of": len(board.scores),
            "measure": ranked.name,
            "mean": mean_for_page(board, run, ranked),
            "responses": coverage.responses,
            "expected_responses": coverage.expected_responses,
            "judged": judged,
            "expected": expected,
            "labels": labels,
            "signs": {name: share for name in coverage.signs if (share := coverage.share(name))},
            "citations": facts.cited,
            "nowhere": facts.nowhere,
            "citations_of_no_document": facts.missing,
            "worst_sentences": [dict(zip(OF_WORST, one, strict=True)) for one in facts.worst],
            "lost_most": self._lost(run),
        }

    def _lost(self, run: str) -> list[dict[str, Any]]:
        """Return the topics on which a run is furthest behind the median of all runs."""
        ranked = self.board.ranking_measure
        if ranked.sums is not None:
            return []
        of_all = self.others[self.board.spec.measures.index(ranked)]
        own = [None if v is None else round(v, DIGITS) for v in self.board.values(run, ranked)]
        sign = -1 if ranked.lower_is_better else 1
        behind: list[dict[str, Any]] = [
            {"topic": topic, "value": value, "median": three[1]}
            for topic, value, three in zip(self.board.expected, own, of_all, strict=True)
            if value is not None and three is not None and sign * (three[1] - value) > 0
        ]
        return sorted(behind, key=lambda one: -abs(one["median"] - one["value"]))[:MOST_BEHIND]

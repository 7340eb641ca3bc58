"""The sheet of a team: what it is told of its own runs, and of all others three values a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.records import Judgment, Response
from trecjudge.results.outputs import Outputs, replace_unsafe
from trecjudge.results.statistics import RunScore
from trecjudge.scores.leaderboard import Leaderboard, mean_for_page, sure_places
from trecjudge.show.formats import rank_bounds
from trecjudge.show.html.entries import HEIGHTS
from trecjudge.show.judgments import sentence_texts
from trecjudge.show.tones import MEANINGS, Tone, tone, word

WORST = 5
"""Sentences and topics that a sheet names as the worst."""
MOST_NOWHERE = 20
"""Citations of no document that a sheet names; all are counted."""
LONGEST_NAME = 40
"""Characters of a run_id that are in the name of its file."""


@dataclass(slots=True)
class OwnFacts:
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
            found[tone(judgment), word(judgment)] += 1
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
                yield height, weight, response.topic_id, index, at, texts.get(index, "")


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
class Sheet:
    """The values of a sheet: `runs` are the team's own among all those of the board."""

    board: Leaderboard
    runs: Sequence[str]
    facts: Mapping[str, OwnFacts]
    others: Sequence[Sequence[Sequence[float] | None]]
    known: Mapping[tuple[str, str], RunScore]
    """The statistics, which have the interval of a run's rank."""

    def cards(self) -> list[dict[str, Any]]:
        """Return a card for each of the team's runs, the best first."""
        return [self._card(run) for run in self.board.ranking() if run in self.runs]

    def _card(self, run: str) -> dict[str, Any]:
        board, facts = self.board, self.facts[run]
        ranked, coverage = board.ranking_measure, board.coverage[run]
        score = self.known.get((run, ranked.name), RunScore(run, ranked.name))
        labels = [
            {"judge": judge, "tone": t, "word": w or MEANINGS[t], "count": count}
            for judge, found in sorted(facts.labels.items())
            for (t, w), count in found.most_common()
        ]
        return {
            "run": run,
            "place": sure_places(board, ranked)[run],
            "interval": [score.rank_low, score.rank_high] if rank_bounds(score) else None,
            "of": len(board.scores),
            "measure": ranked.name,
            "mean": mean_for_page(board, run, ranked),
            "responses": coverage.responses,
            "expected_responses": coverage.expected_responses,
            "judged": coverage.judged,
            "expected": coverage.expected,
            "labels": labels,
            "citations": facts.cited,
            "nowhere": facts.nowhere,
            "citations_of_no_document": facts.missing,
            "worst_sentences": [
                {"topic": topic, "sentence": index, "at": at, "text": text}
                for _, _, topic, index, at, text in facts.worst
            ],
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
        return sorted(behind, key=lambda one: -abs(one["median"] - one["value"]))[:WORST]

    def as_dict(self, job: str, scores: Sequence[Sequence[Sequence[Any]]]) -> dict[str, Any]:
        """Return the sheet as JSON values; `scores` as the page has them."""
        topics = [
            {
                "topic": topic,
                "measure": measure.name,
                "own": {run: scores[m][r][t] for r, run in enumerate(self.own)},
                "best": three[0],
                "median": three[1],
                "worst": three[2],
            }
            for m, measure in enumerate(self.board.spec.measures)
            for t, topic in enumerate(self.board.expected)
            if (three := self.others[m][t]) is not None
        ]
        return {"job": job, "runs": self.cards(), "topics": topics}

    @property
    def own(self) -> list[str]:
        """The team's runs in the order of the page."""
        return [run for run in self.board.ranking() if run in self.runs]


def sheet_paths(
    outputs: Outputs, every: Collection[str], runs: Sequence[str], folder: Path | None
) -> dict[Path, Sequence[str]]:
    """Return the page of each sheet with its runs: one for `runs`, in a `folder` one for each run.

    Raises InputError for a run that the job does not have.
    """
    for run in runs:
        if run not in every:
            raise InputError(f"--for-run {run!r}: {unknown('run', run, every)}")
    if folder is not None:
        names = _file_names(runs or sorted(every))
        return {folder / f"{name}.sheet.html": [run] for run, name in names.items()}
    own = list(dict.fromkeys(runs))
    more = f"+{len(own) - 1}" if len(own) > 1 else ""
    name = _file_names(sorted(every))[own[0]]
    return {outputs.folder / f"{outputs.name}.{name}{more}.sheet.html": own}


def _file_names(runs: Iterable[str]) -> dict[str, str]:
    """Return a name that every file system takes for each run, no two of them alike."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for run in runs:
        name = replace_unsafe(run).lstrip("._+-")[:LONGEST_NAME] or "run"
        while name.casefold() in taken:  # some file systems know no case
            name += "+"
        taken.add(name.casefold())
        found[run] = name
    return found

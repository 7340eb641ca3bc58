"""From judgments to scores: rows, means, places, coverage, and the qrels grades."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from trecjudge.errors import InputError
from trecjudge.judging.claims.kinds import kind_not_stated
from trecjudge.measures import DIGITS, LeaderboardSpec, MeasureSpec, ranks
from trecjudge.records import Judgment, Response
from trecjudge.records.signs import ANY, SIGN_KINDS, SignCount
from trecjudge.results.statistics import MeanKey, RunScore
from trecjudge.results.trec import LeaderboardRow, companion
from trecjudge.scores.response_scores import (
    BoundedSums,
    ResponseScores,
    Score,
    Value,
    bounded_sums,
    compute_measure,
    mean_of_samples,
    sums_of_topic,
    value_of_sums,
)
from trecjudge.settings.limits import limits
from trecjudge.text.languages import ENGLISH, UNKNOWN, language_of

_LACKING = 0.5
"""The share of a topic's words up to which a response is counted among those that lack them."""


# How much of a run there is, how much of it could be judged, and the signs that it has.
@dataclass(slots=True)
class Coverage:
    """Coverage of a run: responses of expected topics, items judged of expected.

    `samples` are the ids of further responses to a topic, by topic. They are no `responses`: three
    samples of one topic are one of one.
    """

    responses: int = 0
    expected_responses: int = 0
    judged: int = 0
    expected: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    """The first item that failed in each way, and why."""
    samples: dict[str, list[str]] = field(default_factory=dict)
    by_judge: dict[str, list[int]] = field(default_factory=dict)
    """[judged, expected] of each judge."""
    signs: dict[str, SignCount] = field(default_factory=dict)
    """The sentences that have each sign; empty where no document has text."""
    languages: dict[str, int] = field(default_factory=dict)
    """Responses by language, as `language_of` has it."""
    withheld: dict[str, int] = field(default_factory=dict)
    """Judgments without a weight to be expected, by the language that has no calibration."""
    questions: dict[str, list[int]] = field(default_factory=dict)
    """[responses whose documents lack half of the topic's words, responses] by kind of question."""
    missing: dict[str, int] = field(default_factory=dict)
    """Responses whose documents lack a word of the topic, by that word in lower case."""
    weighed: dict[str, bool] = field(default_factory=dict)
    """Whether all items of support that a judge decided are `weighed`; by judge."""
    not_stated: dict[str, dict[str, int]] = field(default_factory=dict)
    """Claims that no document states, by judge, then by what they are about."""
    confidence: dict[str, float | None] = field(default_factory=dict)
    """What the system states of its responses, 0 to 1, by topic; None for another value."""

    def counts(self, judge: str) -> tuple[int, int]:
        """Return how many items a judge judged, and how many there are; "" is all of them."""
        judged, expected = (
            self.by_judge.get(judge, (0, 0)) if judge else (self.judged, self.expected)
        )
        return judged, expected

    def share(self, sign: str) -> float | None:
        """Return the share of the sentences with a sign, 0 to 1; None where it is not known."""
        return self.signs[sign].share if sign in self.signs else None

    def shows(self, sign: str) -> bool:
        """Return whether so many sentences have a sign that the run is named for it."""
        if sign == ANY and any(self.shows(other) for other in SIGN_KINDS if other != ANY):
            return False
        return (self.share(sign) or 0.0) > SIGN_KINDS[sign].most

    @property
    def is_foreign(self) -> bool:
        """Whether some response is in another language than English."""
        return not self.languages.keys() <= {ENGLISH, UNKNOWN}

    @property
    def sample_counts(self) -> dict[str, int]:
        """How many topics have several samples, and how many samples these are."""
        further = sum(map(len, self.samples.values()))
        return {"topics": len(self.samples), "samples": len(self.samples) + further}

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Count one response with its judgments."""
        if response.sample:
            self.samples.setdefault(response.topic_asked, []).append(response.topic_id)
        else:
            self.responses += 1
        for name, sign in response.signs.items():
            self.signs.setdefault(name, SignCount()).add(len(sign.at), sign.of)
        if (stated := response.said.get("confidence")) is not None:
            self.confidence[response.topic_id] = _chance(stated)
        language = language_of(response.text)
        self.languages[language] = self.languages.get(language, 0) + 1
        self.expected += len(judgments)
        for judgment in judgments:
            if language := judgment.uncalibrated:
                self.withheld[language] = self.withheld.get(language, 0) + 1
            if judgment.question:
                self._add_question(judgment)
            counts = self.by_judge.setdefault(judgment.judge, [0, 0])
            counts[1] += 1
            if kind := kind_not_stated(judgment):
                kinds = self.not_stated.setdefault(judgment.judge, {})
                kinds[kind] = kinds.get(kind, 0) + 1
            if judgment.failure is None:
                self.judged += 1
                counts[0] += 1
            else:
                failure = judgment.failure.kind
                self.failures[failure] = self.failures.get(failure, 0) + 1
                self.examples.setdefault(failure, failure_text(judgment))

    def _add_question(self, judgment: Judgment) -> None:
        counts = self.questions.setdefault(judgment.question, [0, 0])
        counts[0] += judgment.value is not None and judgment.value <= _LACKING
        counts[1] += 1
        for word in {word.lower() for word in judgment.missing}:
            self.missing[word] = self.missing.get(word, 0) + 1

    def weigh(self, found: Iterable[tuple[str, bool | None]]) -> None:
        """Note of items, by judge, whether they are `weighed`."""
        for judge, weighed in found:
            if weighed is not None:
                self.weighed[judge] = weighed and self.weighed.get(judge, True)

    def take(self, other: Coverage) -> None:
        """Add what was counted apart, of later responses."""
        self.responses += other.responses
        for topic_id, ids in other.samples.items():
            self.samples.setdefault(topic_id, []).extend(ids)
        for name, found in other.signs.items():
            self.signs.setdefault(name, SignCount()).add(found.sentences, found.of)
        self.judged += other.judged
        self.expected += other.expected
        for own, more in (
            (self.failures, other.failures),
            (self.languages, other.languages),
            (self.withheld, other.withheld),
            (self.missing, other.missing),
            *((self.not_stated.setdefault(j, {}), own) for j, own in other.not_stated.items()),
        ):
            for name, count in more.items():
                own[name] = own.get(name, 0) + count
        self.confidence |= other.confidence
        for kind, text in other.examples.items():
            self.examples.setdefault(kind, text)
        for counted, more_pairs in (
            (self.by_judge, other.by_judge),
            (self.questions, other.questions),
        ):
            for name, (first, second) in more_pairs.items():
                counts = counted.setdefault(name, [0, 0])
                counts[0] += first
                counts[1] += second
        self.weigh(other.weighed.items())


def _chance(stated: Any) -> float | None:
    """Return what a system states, 0 to 1, as a number or written as one; None for other values."""
    try:
        number = float(stated) if isinstance(stated, int | float | str) else -1.0
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 and not isinstance(stated, bool) else None


def judged_by_judge(runs: Iterable[Coverage], judges: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return how many items each judge judged in all runs, and how many there are."""
    found = dict.fromkeys(judges, (0, 0))
    for run in runs:
        for judge, (judged, expected) in found.items():
            more, of = run.counts(judge)
            found[judge] = (judged + more, expected + of)
    return found


def failure_text(judgment: Judgment) -> str:
    """Return which item is unjudged, and why."""
    index = judgment.sentence_index
    sentence = "" if index is None else f", sentence {index + 1}"
    nugget = "" if judgment.nugget is None else f", nugget {judgment.nugget.nugget_id!r}"
    message = judgment.failure.message if judgment.failure else ""
    return f"run {judgment.run_id}, topic {judgment.topic_id}{sentence}{nugget}: {message}"


# From judgments to scores: a row per run, topic and measure, then `all`, and the qrels grades.
@dataclass(slots=True)
class Leaderboard:
    """Collects responses with their judgments; hands out sorted rows, means and coverage.

    `topics` are the expected ones; None takes those that any run answered.
    """

    spec: LeaderboardSpec
    topics: Sequence[str] | None = None
    scores: dict[str, dict[str, ResponseScores]] = field(default_factory=dict)
    """run_id -> topic_id -> measure -> score"""
    coverage: dict[str, Coverage] = field(default_factory=lambda: defaultdict(Coverage))
    expected: list[str] = field(default_factory=list)
    """The topics that every run is expected to answer, sorted; known once `finish` has run."""
    means: dict[MeanKey, RunScore] = field(default_factory=dict)
    """Means not yet ranked, with all their digits; known once `finish` has run."""
    spreads: dict[tuple[str, str], float] = field(default_factory=dict)
    """(run_id, measure) -> standard deviation over the samples of a topic, averaged over topics."""
    undefined: set[tuple[str, str]] = field(default_factory=set)
    """(topic_id, measure) where the topic itself has no value; known once `finish` has run."""
    fitted: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """(run_id, topic_id, measure) -> what a fit says of a response that is missing."""
    remarks: list[str] = field(default_factory=list)
    """What fits have to say; known once `finish` has run."""
    passed_over: MeasureSpec | None = None
    """The measure that was to rank the runs, where no run has a value of it."""
    computed: tuple[str, ...] = field(init=False, repr=False)
    """The names of all measures; of the optional ones `spec` has those with a value at the end."""
    _known: Counter[str] = field(init=False, repr=False, default_factory=Counter)
    """How many runs have a value, by measure."""

    def __post_init__(self) -> None:
        self.computed = tuple(measure.name for measure in self.spec.measures)

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Score one response."""
        scores = {m.name: self._score(m, response, judgments) for m in self.spec.measures}
        own = self.scores.setdefault(response.run_id, {})
        own[response.topic_id] = ResponseScores.of(self.computed, scores)
        coverage = self.coverage[response.run_id]
        coverage.add(response, judgments)
        if self.spec.expected:
            coverage.weigh((judgment.judge, judgment.weighed) for judgment in judgments)

    def take(
        self,
        scores: Mapping[str, Mapping[str, ResponseScores]],
        coverage: Mapping[str, Coverage],
    ) -> None:
        """Add responses that were scored apart, by the same measures."""
        for run_id, topics in scores.items():
            self.scores.setdefault(run_id, {}).update(topics)
        for run_id, counts in coverage.items():
            self.coverage[run_id].take(counts)

    def _score(
        self, measure: MeasureSpec, response: Response, judgments: Sequence[Judgment]
    ) -> Score:
        if measure.judge:
            judgments = [j for j in judgments if j.judge == measure.judge]
        fill = self.spec.fill
        failures = [judgment.failure for judgment in judgments if judgment.failure is not None]
        unjudged, failure = len(failures), failures[0] if failures else None
        if measure.fit is not None:
            record = measure.fit.record(response, judgments)
            return Score(None, None, None, not failures, unjudged, failure, record=record)
        if measure.sums is not None:
            sums = bounded_sums(measure, measure.sums, response, judgments, fill)
            return Score(None, None, None, not failures, unjudged, failure, sums)
        value = compute_measure(measure, response, judgments)
        # Without unjudged items the bounds are the value: most responses need one computation.
        if fill is None or not unjudged:
            return Score(value, value, value, not unjudged, unjudged, failure)

        def fill_all(best: bool) -> Value:
            whole = [j if j.judged else fill(j, best) for j in judgments]
            return compute_measure(measure, response, whole)

        lowest, highest = fill_all(best=False), fill_all(best=True)
        if lowest is not None and highest is not None:  # of some measures less is better
            lowest, highest = min(lowest, highest), max(lowest, highest)
        return Score(value, lowest, highest, judged=False, unjudged=unjudged, failure=failure)

    def finish(self) -> None:
        """Fix which topics are expected, the means over them, and the measure that ranks.

        Several samples of a topic become its one score: they are no topics of their own. Raises
        InputError for a gap under `on_missing: error`, and for runs and topics too many to score.
        """
        self._fit()
        for run_id, coverage in self.coverage.items():
            self._join_samples(run_id, coverage.samples)
        answered = {topic for topics in self.scores.values() for topic in topics}
        self.expected = sorted(answered if self.topics is None else self.topics)
        limits().check_table(
            "the scores", len(self.scores), len(self.expected), len(self.spec.measures)
        )
        for run_id, coverage in self.coverage.items():
            coverage.expected_responses = len(self.expected)
            missing = [topic for topic in self.expected if topic not in self.scores[run_id]]
            if missing and self.spec.on_missing == "error":
                raise InputError(
                    f"run {run_id!r} has no response on {', '.join(missing[:5])}"
                    " (on_missing: error)"
                )
        self.undefined = set(self._find_undefined())
        self.means = {
            (run_id, measure.name): self._mean(run_id, measure)
            for run_id in self.scores
            for measure in self.spec.measures
        }
        wanted = self.ranking_measure
        self._known = Counter(name for (_, name), one in self.means.items() if one.mean is not None)
        ranking = self.choose_defined(self.spec.ranked_by_of(self._known, len(self.scores)))
        if ranking != wanted.name:
            self.passed_over = wanted
        kept = {name for (_, name), one in self.means.items() if one.highest is not None}
        kept.add(self.spec.ranked_by)
        columns = tuple(m for m in self.spec.measures if not m.optional or m.name in kept)
        self.spec = replace(self.spec, measures=columns, expected=tuple(self._expected_to_rank()))
        self.spec = replace(self.spec, sort_by=self.spec.in_place_of(ranking))

    def _fit(self) -> None:
        """Put the values that fits give in the place of the records that they are fitted to."""
        for measure in self.spec.measures:
            if measure.fit is None:
                continue
            every = (s[measure.name].record for own in self.scores.values() for s in own.values())
            found = measure.fit.fit(record for record in every if record is not None)
            self.remarks += found.remarks
            for (run_id, topic_id), (value, low, high) in found.values.items():
                scores = self.scores.get(run_id, {}).get(topic_id)
                if scores is None:
                    self.fitted[run_id, topic_id, measure.name] = value
                    continue
                own = replace(
                    scores[measure.name], value=value, lowest=low, highest=high, record=None
                )
                self.scores[run_id][topic_id] = scores.changed(measure.name, own)

    def _expected_to_rank(self) -> Iterator[str]:
        """Yield the measures of expected weights where all that was decided is `weighed`."""
        found = Coverage()
        for run in self.coverage.values():
            found.weigh(run.weighed.items())
        for measure in self.spec.measures:
            own = [w for judge, w in found.weighed.items() if measure.judge in ("", judge)]
            if measure.name in self.spec.expected and own and all(own):
                yield measure.name

    def _find_undefined(self) -> Iterator[tuple[str, str]]:
        """Yield topics on which a measure has no value in any response, all of them judged."""
        for measure in (m for m in self.spec.measures if m.undefined):
            by_topic = defaultdict[str, list[Score]](list)
            for topic_id, scores in (each for own in self.scores.values() for each in own.items()):
                by_topic[topic_id].append(scores[measure.name])
            every = [score for found in by_topic.values() for score in found]
            for topic_id in self.expected:
                # Of a topic that nobody answered nothing is known but what is so everywhere.
                if all(s.judged and s.value is None for s in by_topic.get(topic_id) or every):
                    yield topic_id, measure.name

    def choose_defined(self, measure: str) -> str:
        """Return a measure, or what `LeaderboardSpec.choose_defined` takes for it.

        Where unjudged items leave it open in every run, it stays: what is not known is defined.
        """
        if not self.is_undefined(measure):
            return measure
        return self.spec.choose_defined(measure, self._known)

    def is_undefined(self, measure: str) -> bool:
        """Return whether no run has a value of a measure, and not for unjudged items in each."""
        is_open = all(self.means[run_id, measure].is_open for run_id in self.scores)
        return not self.has_value(measure) and not is_open

    def has_value(self, measure: str) -> bool:
        """Return whether a run has a value of a measure."""
        return self._known[measure] > 0

    def _join_samples(self, run_id: str, further: Mapping[str, Sequence[str]]) -> None:
        """Put in place of a topic's samples their mean; keep how far they differ."""
        own, apart = self.scores.get(run_id, {}), defaultdict[str, list[float]](list)
        for topic_id, ids in further.items():
            found = [own.pop(one) for one in (topic_id, *ids) if one in own]
            if not found:
                continue
            joined = {}
            for measure in self.spec.measures:
                default = measure.default if measure.default_if_undefined else None
                scores = [scores[measure.name] for scores in found]
                joined[measure.name], spread = mean_of_samples(scores, default)
                if spread is not None:
                    apart[measure.name].append(spread)
            own[topic_id] = ResponseScores.of(self.computed, joined)
        self.spreads |= {(run_id, name): fmean(known) for name, known in apart.items()}

    def mean(self, run_id: str, measure: MeasureSpec) -> RunScore:
        """Return the `all` value of a measure, with what unjudged items could make of it."""
        return self.means[run_id, measure.name]

    def _mean(self, run_id: str, measure: MeasureSpec) -> RunScore:
        """Work out a mean.

        Where not one item of the run was judged for the measure, or not one of its responses has a
        value, a value that depends on them is not given.
        """
        own = self.scores[run_id]
        judged, expected = self.counts(run_id, measure)
        if measure.sums is not None:
            value, lowest, highest = value_of_sums(measure.sums, self.sums(run_id, measure))
            answered = (self._sums(run_id, topic_id, measure) for topic_id in own)
            is_known = any(any(sums[0]) for sums in answered if sums is not None)
        else:
            value = self._aggregate(run_id, measure, lambda score: score.value)
            lowest = self._aggregate(run_id, measure, lambda score: score.lowest)
            highest = self._aggregate(run_id, measure, lambda score: score.highest)
            values = (scores[measure.name].value for scores in own.values())
            is_known = bool(judged) and any(found is not None for found in values)
        return RunScore(
            run_id,
            measure.name,
            value if is_known or lowest == highest else None,
            judged=judged,
            expected=expected,
            lowest=lowest,
            highest=highest,
            lower_is_better=measure.lower_is_better,
            aggregate=measure.aggregate_name,
        )

    def values_by_response(self) -> Iterator[tuple[str, str, str, Value]]:
        """Yield (run_id, topic_id, measure, value) of all responses; None is no value."""
        names = {measure.name for measure in self.spec.measures}  # without optional ones unused
        for run_id in sorted(self.scores):
            for topic_id, scores in self.scores[run_id].items():
                for measure, score in scores.items():
                    shown = None if score.value is None else round(score.value, DIGITS)
                    if measure in names:
                        yield run_id, topic_id, measure, shown

    def values(
        self,
        run_id: str,
        measure: MeasureSpec,
        part: Callable[[Score], Value] = lambda score: score.value,
    ) -> list[Value]:
        """Return a value for each expected topic as it enters the mean, None where none does."""
        values = []
        for topic_id in self.expected:
            scores = self.scores[run_id].get(topic_id)
            score = None if scores is None else scores[measure.name]
            value = None if score is None else part(score)
            # Missing counts as the measure's default; unjudged is not missing, and enters no mean.
            if score is None or (score.judged and value is None and measure.default_if_undefined):
                value = self.default(measure, topic_id, run_id)
            values.append(value)
        return values

    def default(self, measure: MeasureSpec, topic_id: str, run_id: str) -> Value:
        """Return the value of a missing response: none where the topic itself has none."""
        if (topic_id, measure.name) in self.undefined:
            return None
        return self.fitted.get((run_id, topic_id, measure.name), measure.default)

    def _aggregate(
        self, run_id: str, measure: MeasureSpec, part: Callable[[Score], Value]
    ) -> Value:
        known = (value for value in self.values(run_id, measure, part) if value is not None)
        return measure.aggregated(known)

    def sums(self, run_id: str, measure: MeasureSpec) -> list[BoundedSums]:
        """Return the counts of each expected topic, as far as they are known."""
        assert measure.sums is not None
        found: list[BoundedSums] = []
        for topic_id in self.expected:
            if own := self._sums(run_id, topic_id, measure):
                found.append(own)
                continue
            others = (self._sums(run, topic_id, measure) for run in self.scores)
            if known := [sums for sums in others if sums is not None]:
                found.append(sums_of_topic(measure.sums, known))
        return found

    def _sums(self, run_id: str, topic_id: str, measure: MeasureSpec) -> BoundedSums | None:
        scores = self.scores[run_id].get(topic_id)
        return None if scores is None else scores[measure.name].sums

    def counts(self, run_id: str, measure: MeasureSpec) -> tuple[int, int]:
        """Return how many items of a run were judged for a measure, and how many there are."""
        return self.coverage[run_id].counts(measure.judge)

    def only(self, runs: Collection[str]) -> Leaderboard:
        """Return a finished one with only these runs; what ranks, and the topics, stay."""
        made = copy(self)
        made.scores = {run: own for run, own in self.scores.items() if run in runs}
        made.coverage = {run: own for run, own in self.coverage.items() if run in runs}
        return made

    def ranking(self) -> list[str]:
        """Return run ids, the best first; runs without a value last, ties by run id."""
        return list(self.ranks(self.ranking_measure))

    def ranks(self, measure: MeasureSpec) -> dict[str, int | None]:
        """Return the rank of each run by a measure, the best first, as `measures.ranks` has it."""
        means = {run_id: self.mean(run_id, measure).mean for run_id in self.scores}
        return ranks(means, measure.lower_is_better)

    @property
    def ranking_measure(self) -> MeasureSpec:
        """The measure that ranks the runs."""
        return next(m for m in self.spec.measures if m.name == self.spec.ranked_by)

    @property
    def ranks_for(self) -> str:
        """The measure of labels in whose place the ranking one stands; empty where in none's."""
        ranking = self.ranking_measure
        return ranking.expected_of if ranking.name in self.spec.expected else ""

    def rows(self) -> Iterator[LeaderboardRow]:
        """Yield every row: runs and topics sorted, measures in their order, `all` rows last.

        A row from which items are missing is followed by its companion row; where there is no
        value, there is only the companion.
        """
        # Sorted, so that equal judgments write equal bytes whatever the order of the runs.
        for run_id in sorted(self.scores):
            for topic_id in self.expected:
                yield from self._topic_rows(run_id, topic_id)
            for measure in self.spec.measures:
                score = self.mean(run_id, measure)
                unjudged = score.gaps.items
                yield from _row_and_companion(run_id, None, measure, score.mean, unjudged)

    def _topic_rows(self, run_id: str, topic_id: str) -> Iterator[LeaderboardRow]:
        scores = self.scores[run_id].get(topic_id)
        for measure in self.spec.measures:
            if measure.sums is not None:
                continue
            unjudged = 0
            if scores is not None:
                value, unjudged = scores[measure.name].value, scores[measure.name].unjudged
            else:
                written = self.spec.on_missing != "fix_aggregate"
                value = self.default(measure, topic_id, run_id) if written else None
            yield from _row_and_companion(run_id, topic_id, measure, value, unjudged)


def _row_and_companion(
    run_id: str, topic_id: str | None, measure: MeasureSpec, value: Value, unjudged: int
) -> Iterator[LeaderboardRow]:
    row = LeaderboardRow(run_id, topic_id, measure.name, value or 0.0)
    if value is not None:  # what is not known is no row: 0 would be read as a score
        yield row
    if unjudged:
        yield companion(row, unjudged)


# What can be said of places: ranks that hold, means with bounds, too few topics for a test.
def sure_places(board: Leaderboard, measure: MeasureSpec) -> dict[str, int | None]:
    """Return the rank of each run; None without a mean, or where unjudged items leave it open."""
    return {
        run_id: None if board.mean(run_id, measure).is_open else rank
        for run_id, rank in board.ranks(measure).items()
    }


def too_few_topics(runs: int, topics: int, test: str) -> str:
    """Return why a test of groups could find no difference between runs; no text if it could."""
    if runs < 2:
        return ""
    pairs, by_deals = runs * (runs - 1) / 2, test.startswith("tukey")
    # The smallest p: the two runs on the best and the worst place in each topic; Holm multiplies
    # that of sign flips by the pairs.
    least = (2 * pairs) ** (1.0 - topics) if by_deals else pairs * 2.0 ** (1 - topics)
    if least < 0.05:
        return ""
    name = "Tukey's test" if by_deals else "a paired test with Holm's correction"
    return f"{topics} topics are too few for {name} to tell any of {runs} runs apart"


def mean_for_page(board: Leaderboard, run_id: str, measure: MeasureSpec) -> dict[str, Any]:
    """Return a mean as the page takes it: its value, and the bounds that unjudged items leave.

    `unjudged` is whether the value is missing because of unjudged items, not undefined.
    """
    found = board.mean(run_id, measure)
    own = (scores[measure.name] for scores in board.scores[run_id].values())
    failed = any(score.value is None and not score.judged for score in own)
    return {
        "value": found.mean,
        "lowest": found.lowest,
        "highest": found.highest,
        "unjudged": found.mean is None and (failed or found.is_open),
    }

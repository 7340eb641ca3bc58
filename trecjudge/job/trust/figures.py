"""The figures of a judge's card, each from what the tests of the judge found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trecjudge.evaluation.agreement import Agreement, SharedItem
from trecjudge.evaluation.people import Likeness
from trecjudge.evaluation.perturbation import (
    DARK,
    GAME,
    JudgedSample,
    LabelFlips,
    ResponseKey,
    Shift,
    count_flips,
    mean_by_topic,
)
from trecjudge.evaluation.trust.card import CardFigure, FixedAnswers
from trecjudge.evaluation.trust.probes import USUAL
from trecjudge.job.inputs import response_digest, short_digest
from trecjudge.job.stability import Answer, StabilityReport
from trecjudge.judging.offline.signs import signs_in
from trecjudge.measures import DIGITS
from trecjudge.records import Judgment, Response, Usage
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.scores.leaderboard import Coverage
from trecjudge.stats.agreement import calibration_error_figure
from trecjudge.stats.resampling import (
    NO_INTERVAL,
    grouped_interval,
    mean_intervals,
    share_interval,
)

SAMPLE, PEOPLE, CALIBRATION = "The sample", "Agreement with people", "Calibration"
AGAIN, POSITION, LENGTH = "The same item again", "Order and position", "Length"
STYLE, NOTHING, GAMES = "Style", "Dark current", "Writing for the judge"
COST, UNJUDGED = "Cost and time an item", "Unjudged"
ORDER = (
    *(SAMPLE, PEOPLE, CALIBRATION, AGAIN, POSITION, LENGTH, STYLE, NOTHING, GAMES, COST, UNJUDGED),
)
KINDS = {"position": POSITION, "length": LENGTH, "style": STYLE, DARK: NOTHING, GAME: GAMES}
"""The section of a change, by its kind."""
SECTIONS = {"order": POSITION} | {one.name: KINDS[one.kind] for one in USUAL}
"""The section of what is tested, by its name; others are in that of AGAIN."""
Counted = tuple[str, int, int]
"""(topic_id, how many items have it, of how many)."""
OF_AGREEMENT = ("accuracy", "kappa", "kappa_linear", "alpha_ordinal", "auc")
SPENT: Mapping[str, Callable[[Usage], float | None]] = {
    "tokens in": lambda usage: usage.prompt_tokens,
    "tokens out": lambda usage: usage.completion_tokens,
    "cost": lambda usage: usage.cost,
    "seconds": lambda usage: usage.seconds,
}
"""What a call of a model takes."""


@dataclass(frozen=True)
class TriedJudge:
    """All that the tests of a judge found, and the figures of it.

    `again` are the answers to the same questions, asked a second time; None without a model.
    `agreement` is that with people, None without labels, and `labelled` the judgments behind it.
    """

    answers: Sequence[Answer]
    tested: StabilityReport
    first: JudgedSample
    again: JudgedSample | None = None
    agreement: Agreement | None = None
    labelled: Sequence[Judgment] = ()

    def figures(self) -> list[CardFigure]:
        """Return the figures, section by section."""
        return sorted(self._figures(), key=lambda figure: ORDER.index(figure.section))

    def _figures(self) -> Iterator[CardFigure]:
        for measure in self.tested.leading:
            yield self._mean(SAMPLE, measure, self.first.values.get(measure, {}))
        yield from people_figures(self.agreement)
        yield from self._stability()
        yield from self._dark()
        yield from self._signs()
        yield from self._games()
        yield from self._costs()
        yield self._unjudged()

    @cached_property
    def coverage(self) -> Coverage:
        """The languages of the responses, and what was left unjudged by kind of failure."""
        found = Coverage()
        for response, judgments in self._judged:
            found.add(response, judgments)
        return found

    @cached_property
    def fixed(self) -> FixedAnswers:
        """The answers and values that can be paired with those of another time."""
        again = self.again.labels if self.again is not None else {}
        answers = {}
        for response, judgments in self._judged:
            for one in (one for one in judgments if one.label is not None and one.judged):
                key = (one.run_id, one.topic_id, one.sentence_index, one.doc_id, one.citation)
                second = again.get((*key, one.identity, one.judge))
                answers[item_digest(response, one)] = str(one.label), second
        names = {(r.run_id, r.topic_id): response_digest(r) for _, r, _ in self.answers}
        return FixedAnswers(list(names.values()), answers, dict(self._values(names)))

    def _values(
        self, names: Mapping[ResponseKey, str]
    ) -> Iterator[tuple[str, Mapping[str, float]]]:
        failed = {
            (response.run_id, response.topic_id): sum(not one.judged for one in judgments)
            / len(judgments)
            for response, judgments in self._judged
            if judgments
        }
        named: dict[str, Mapping[ResponseKey, float]] = {"unjudged": failed}
        for measure in self.tested.leading:
            named[measure] = self.first.values.get(measure, {})
            for one in self.tested.dark:
                named[f"{one.probe.name}: {measure}"] = one.values.get(measure, {})
        for name, values in named.items():
            yield name, {names[key]: round(value, DIGITS) for key, value in values.items()}
        if self.agreement is not None:
            items = self.agreement.shared_items()
            right = {
                short_digest(*i.group, *map(str, i.item)): float(i.truth == i.predicted)
                for i in items
            }
            yield "same label as people", right

    @property
    def _judged(self) -> Sequence[tuple[Response, Sequence[Judgment]]]:
        return self.first.kept or ()

    def _mean(
        self, section: str, name: str, values: Mapping[ResponseKey, float], note: str = ""
    ) -> CardFigure:
        if not values:
            return CardFigure.not_measured(section, name, note or "no response has a value")
        means = mean_by_topic(sorted(values), values)
        (interval,) = mean_intervals(means[None, :])
        value = float(means.mean())
        return CardFigure(section, name, value, interval, len(values), "responses", note)

    def _stability(self) -> Iterator[CardFigure]:
        if self.again is not None:
            yield flip_figure(AGAIN, count_flips("asked twice", [self.first, self.again]))
        else:
            why = "no model is asked: words give one answer each time"
            yield CardFigure.not_measured(AGAIN, "asked twice", why)
        for flips in self.tested.flips:
            yield flip_figure(SECTIONS.get(flips.name, AGAIN), flips)
        for one in (one for one in self.tested.shifts if one.measure in self.tested.leading):
            note = f"more than chance (p {one.holm:.4f})" if one.is_bias else ""
            name = f"{one.change}: shift of {one.measure}"
            yield shift_figure(KINDS[one.kind], name, one, note)
        for why in self.tested.not_tested:
            name, _, reason = why.partition(": ")
            section = SECTIONS.get(name, KINDS.get(name.partition(":")[0], AGAIN))
            yield CardFigure.not_measured(section, name, reason)

    def _dark(self) -> Iterator[CardFigure]:
        for one in self.tested.dark:
            said = ", ".join(f"{label} {n}" for label, n in one.labels.most_common())
            left = f"{one.unjudged} unjudged" if one.unjudged else ""
            note = "; ".join(filter(None, (said, left)))
            name = one.probe.name.partition(":")[2]
            if one.positive:
                counted = ((topic, hits, of) for topic, (hits, of) in one.positive.items())
                graded = share_of_items(NOTHING, f"{name}: grade above 0", counted, "items")
                yield replace(graded, note=note)
            for measure in self.tested.leading:
                values = one.values.get(measure, {})
                yield self._mean(
                    NOTHING, f"{name}: {measure}", values, "" if one.positive else note
                )
        if not self.tested.dark:
            yield CardFigure.not_measured(NOTHING, "probes", "left out by --change")

    def _signs(self) -> Iterator[CardFigure]:
        titles = {(r.run_id, r.topic_id): topic.title for topic, r, _ in self.answers}
        counts: dict[str, list[Counted]] = {}
        for response, judgments in self._judged:
            title = titles[response.run_id, response.topic_id]
            for name, sign in signs_in(response, title, judgments).items():
                counts.setdefault(name, []).append((response.topic_id, len(sign.at), sign.of))
        for name, counted in counts.items():
            figure = share_of_items(GAMES, f"sign {name}", counted, "sentences")
            yield replace(figure, note=SIGN_KINDS[name].sentence)
        if not counts:
            yield CardFigure.not_measured(GAMES, "signs", "no document has text")

    def _games(self) -> Iterator[CardFigure]:
        lifts = [(g, s) for g in self.tested.games for s in g.shifts]
        for game, one in lifts:
            if one.measure in self.tested.leading:
                name = f"{game.way.name}: lift of {one.measure}"
                yield shift_figure(GAMES, name, one, game.way.what)
        if not lifts:
            yield CardFigure.not_measured(GAMES, "lifts", "no game was played: --change game")

    def _costs(self) -> Iterator[CardFigure]:
        judgments = [one for _, own in self._judged for one in own]
        if self.again is None:
            items = len(judgments)
            each = self.first.seconds / items if items else None
            yield CardFigure(COST, "seconds", each, n=items, unit="items", note="no model is asked")
            return
        every = (*self.labelled, *judgments)
        paid = [one for one in every if one.usage.prompt_tokens and not one.usage.cached]
        if not paid:
            why = "all replies were in the cache (--refresh)"
            yield CardFigure.not_measured(COST, "calls", why)
            return
        for name, of in SPENT.items():
            spent = [(one.topic_id, value) for one in paid if (value := of(one.usage)) is not None]
            if not spent:
                yield CardFigure.not_measured(COST, name, "no prices are known (llm.prices)")
                continue
            by_topic: dict[str, list[float]] = {}
            for topic_id, value in spent:
                by_topic.setdefault(topic_id, []).append(value)
            means = np.array([np.mean(own) for own in by_topic.values()])
            mean = float(np.mean([value for _, value in spent]))
            (interval,) = mean_intervals(means[None, :])
            yield CardFigure(COST, name, mean, interval, len(spent), "items asked")

    def _unjudged(self) -> CardFigure:
        counted = (
            (response.topic_id, sum(not one.judged for one in judgments), len(judgments))
            for response, judgments in self._judged
        )
        why = ", ".join(f"{kind} {n}" for kind, n in sorted(self.coverage.failures.items()))
        return replace(share_of_items(UNJUDGED, "share", counted, "items"), note=why)


def item_digest(response: Response, judgment: Judgment) -> str:
    """Return what an item is known by: where it stands, and the texts that are judged."""
    texts = {sentence.index: sentence.text for sentence in response.sentences}
    index, document = judgment.sentence_index, response.documents.get(judgment.doc_id or "")
    said = response.text if index is None else texts.get(index, "")
    place = (judgment.run_id, judgment.topic_id, str(index), judgment.doc_id, judgment.citation)
    texts_of = (judgment.identity, said, document.full_text if document else None)
    return short_digest(*place, *texts_of)


def flip_figure(section: str, flips: LabelFlips) -> CardFigure:
    """Return a flip rate."""
    name = f"{flips.name}: labels that flip"
    if not flips.items:
        return CardFigure.not_measured(section, name, "no item was judged each time")
    return CardFigure(section, name, flips.rate, flips.interval, flips.items, "items")


def shift_figure(section: str, name: str, one: Shift, note: str) -> CardFigure:
    """Return by how much a change moves a measure."""
    return CardFigure(section, name, one.shift, one.interval, one.responses, "responses", note)


def share_of_items(section: str, name: str, counted: Iterable[Counted], unit: str) -> CardFigure:
    """Return a share of items; counts of one topic are added up."""
    by_topic: dict[str, list[int]] = {}
    for topic_id, hits_here, of_here in counted:
        own = by_topic.setdefault(topic_id, [0, 0])
        own[0] += hits_here
        own[1] += of_here
    hits, of = np.array(list(by_topic.values()), dtype=float).reshape(-1, 2).T
    n = int(of.sum())
    if not n:
        return CardFigure.not_measured(section, name, f"there are no {unit}")
    return CardFigure(section, name, float(hits.sum()) / n, share_interval(hits, of), n, unit)


# Agreement with people: figures of all labels, of each label, of a second assessor, calibration.
def people_figures(found: Agreement | None) -> Iterator[CardFigure]:
    """Yield how far a judge and people say the same, and how far its chances hold."""
    if found is None:
        yield CardFigure.not_measured(PEOPLE, "accuracy", "no labels of people: --labels")
        yield CardFigure.not_measured(CALIBRATION, "calibration error", "no labels of people")
        return
    for figure in (f for f in found.figures if f.name in OF_AGREEMENT):
        numbers = (figure.pooled, figure.interval, found.items)
        yield CardFigure(PEOPLE, figure.name, *numbers, "labelled items")
    items = list(found.shared_items())
    for label in found.labels:
        yield _of_label(f"{label}: found of people's", label, items, lambda i: i.truth)
        yield _of_label(f"{label}: right of the judge's", label, items, lambda i: i.predicted)
    yield from _second_assessor(found)
    yield _calibration(found, items)


def _of_label(
    name: str, label: str, items: Iterable[SharedItem], side: Callable[[SharedItem], str]
) -> CardFigure:
    """Return the share of same labels among the items with a label on one side."""
    counted = ((i.group[0], int(i.truth == i.predicted), 1) for i in items if side(i) == label)
    return share_of_items(PEOPLE, name, counted, "labelled items")


def _second_assessor(found: Agreement) -> Iterator[CardFigure]:
    """Yield how far two people say the same, and the judge beside them on the same items."""
    people = found.people
    if people is None or not people.pairs:
        why = "no item is labelled by two people with names"
        yield CardFigure.not_measured(PEOPLE, "second assessor", why)
        return
    one, other, both = max(people.pairs, key=lambda pair: pair[2].items)
    yield from _likeness("second assessor", both)
    for person in people.persons:
        if person.name in (one, other):
            note = "without those on which they are divided"
            yield from _likeness("judge beside one of them", person.with_judge, note)
            return


def _likeness(name: str, both: Likeness, note: str = "") -> Iterator[CardFigure]:
    if both.accuracy is None:
        return
    right = round(both.accuracy * both.items)
    hits = np.array([1.0] * right + [0.0] * (both.items - right))
    interval = share_interval(hits, np.ones(both.items))
    of = both.items, "items labelled twice"
    yield CardFigure(PEOPLE, f"{name}: accuracy", both.accuracy, interval, *of, note)
    yield CardFigure(PEOPLE, f"{name}: kappa", both.kappa, NO_INTERVAL, *of, note)


def _calibration(found: Agreement, items: Sequence[SharedItem]) -> CardFigure:
    name, most = "calibration error", len(found.labels) - 1
    known = [item for item in items if item.score is not None and 0 <= item.score <= 1]
    if 2 * len(known) < len(items) or not most:
        return CardFigure.not_measured(CALIBRATION, name, "the judge gives no probabilities")
    weights = {label: place / most for place, label in enumerate(found.labels)}
    chances = np.array([item.score for item in known], dtype=float)
    truth = np.array([weights[item.truth] for item in known])
    figure = calibration_error_figure(chances, truth)
    topics = [item.group[0] for item in known]
    interval = grouped_interval(figure, topics, np.column_stack([truth, chances]))
    value = float(figure(np.ones((1, len(known))))[0])
    note = "of the weight to be expected: 1 for the highest label, 0 for the lowest"
    return CardFigure(CALIBRATION, name, value, interval, len(known), "labelled items", note)

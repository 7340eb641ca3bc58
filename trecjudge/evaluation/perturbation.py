"""What a change to answers does to a judge: texts said otherwise by rules, shifts of scores."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import Any, Final, Literal

import numpy as np

from trecjudge.measures import LeaderboardSpec
from trecjudge.records import Judgment, Response
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.stats.paired import ALPHA, holm, sign_flip
from trecjudge.stats.resampling import Array, Interval, mean_intervals, share_interval

NEUTRAL = "This is worth noting."
"""A sentence that says nothing about any subject."""
SPELLINGS = (
    *("behaviour/behavior", "centre/center", "colour/color", "defence/defense", "fibre/fiber"),
    *("favour/favor", "harbour/harbor", "honour/honor", "humour/humor", "labour/labor"),
    *("litre/liter", "metre/meter", "neighbour/neighbor", "programme/program", "rumour/rumor"),
    *("theatre/theater", "tumour/tumor", "catalogue/catalog", "dialogue/dialog", "grey/gray"),
    *("analyse/analyze", "organise/organize", "organisation/organization", "realise/realize"),
    *("recognise/recognize", "minimise/minimize", "maximise/maximize", "emphasise/emphasize"),
    *("prioritise/prioritize", "stabilise/stabilize", "utilise/utilize", "criticise/criticize"),
    *("behavioural/behavioral", "travelling/traveling", "modelling/modeling", "ageing/aging"),
    *("labelled/labeled", "cancelled/canceled", "paediatric/pediatric", "anaemia/anemia"),
    *("organised/organized", "recognised/recognized", "analysed/analyzed", "sceptical/skeptical"),
)
"""British and American spellings of one word."""
SHORT_FORMS = (
    *("do not/don't", "does not/doesn't", "did not/didn't", "is not/isn't", "are not/aren't"),
    *("was not/wasn't", "were not/weren't", "cannot/can't", "could not/couldn't"),
    *("would not/wouldn't", "should not/shouldn't", "has not/hasn't", "have not/haven't"),
    *("had not/hadn't", "will not/won't", "it is/it's", "they are/they're", "there is/there's"),
    *("we are/we're", "that is/that's"),
)
"""Long and short forms."""
SYNONYMS = (
    *("big/large", "begin/start", "begins/starts", "began/started", "about/approximately"),
    *("also/additionally", "often/frequently", "however/nevertheless", "many/numerous"),
    *("important/significant", "help/assist", "helps/assists", "show/demonstrate", "use/employ"),
    *("shows/demonstrates", "showed/demonstrated", "need/require", "needs/requires"),
    *("buy/purchase", "but/yet", "although/though", "because/since", "such as/like"),
    *("for example/for instance", "enough/sufficient", "whole/entire", "quick/rapid"),
    *("quickly/rapidly", "near/close to", "various/several", "while/whereas"),
)
"""Words and phrases of one meaning, in the same form."""


@cache
def _swaps(pairs: tuple[str, ...]) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return an expression for either side of pairs, and what each side becomes."""
    found: dict[str, str] = {}
    for one, other in (pair.split("/") for pair in pairs):
        found |= {one: other, other: one}
    sides = "|".join(map(re.escape, sorted(found, key=len, reverse=True)))
    return re.compile(rf"\b({sides})\b", re.IGNORECASE), found


def swap_pairs(text: str, pairs: Iterable[str]) -> str:
    """Return a text with each side of `one/other` pairs replaced by the other side.

    A capital at the beginning is kept; text in capitals stays as it is.
    """
    expression, others = _swaps(tuple(pairs))

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if word.isupper() and len(word) > 1:
            return word
        made = others[word.lower()]
        return made[0].upper() + made[1:] if word[0].isupper() else made

    return expression.sub(other, text)


def other_spelling(text: str) -> str:
    """Return a text in American spelling where it is British, and the reverse."""
    return swap_pairs(text, SPELLINGS)


def other_forms(text: str) -> str:
    """Return a text with short forms for long ones (`do not`: `don't`), and the reverse."""
    return swap_pairs(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), SHORT_FORMS)


def other_words(text: str) -> str:
    """Return a text with some words replaced by others of the same meaning."""
    return swap_pairs(text, SYNONYMS)


def pad_text(text: str) -> str:
    """Return a text with a sentence behind it that says nothing."""
    return f"{text.rstrip()} {NEUTRAL}" if text.strip() else text


def repeat_text(text: str) -> str:
    """Return a text that says the same twice."""
    return f"{text.rstrip()} {text.strip()}" if text.strip() else text


def in_bold(text: str) -> str:
    """Return a text in Markdown's bold."""
    return f"**{text.strip()}**" if text.strip() else text


def as_bullet(text: str) -> str:
    """Return a text as a bullet of a Markdown list."""
    return f"- {text.strip()}\n" if text.strip() else text


# The same answer said otherwise: its sentences in another order, padded, or restated by rules.
Kind = Literal["position", "length", "style", "game", "dark"]
GAME: Final = "game"
"""The kind of a change that writes for the judge: see `gaming`."""
DARK: Final = "dark"
"""The kind of a change after which there is nothing to find: see `probes`."""
Order = list[int]
"""The former place of each sentence."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to say an answer otherwise, and which bias it shows.

    `make` takes a response and the title of its topic. It returns the changed response and the
    former index of each of its sentences; where the sentences are others, as of a game, the new
    one.
    """

    name: str
    kind: Kind
    what: str
    make: Callable[[Response, str], tuple[Response, Order]]


def random_of(response: Response) -> random.Random:
    """Return a source of random numbers that is the same each time for a run and a topic."""
    name = f"{response.run_id}\0{response.topic_id}"
    return random.Random(int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:8]))


def shuffle_sentences(response: Response, title: str) -> tuple[Response, Order]:
    """Return a response with its sentences in an order drawn by run and topic."""
    order = list(range(len(response.sentences)))
    random_of(response).shuffle(order)
    if order == sorted(order):  # the same as before: no change at all
        order.reverse()
    moved = (replace(response.sentences[old], index=new) for new, old in enumerate(order))
    return replace(response, sentences=tuple(moved)), [
        response.sentences[old].index for old in order
    ]


def restate(rule: Callable[[str], str], response: Response, title: str) -> tuple[Response, Order]:
    """Return a response with a rule applied to the text of each sentence."""
    made = tuple(replace(s, text=rule(s.text)) for s in response.sentences)
    return replace(response, sentences=made), [s.index for s in response.sentences]


def _by(rule: Callable[[str], str]) -> Callable[[Response, str], tuple[Response, Order]]:
    return partial(restate, rule)


CHANGES = (
    Perturbation("shuffled", "position", "its sentences in another order", shuffle_sentences),
    Perturbation(
        "padded",
        "length",
        "each sentence followed by one that says nothing",
        _by(pad_text),
    ),
    Perturbation("repeated", "length", "each sentence said twice", _by(repeat_text)),
    Perturbation(
        "spelling",
        "style",
        "British spelling for American, and the reverse",
        _by(other_spelling),
    ),
    Perturbation("forms", "style", "short forms for long ones, and the reverse", _by(other_forms)),
    Perturbation("words", "style", "some words replaced by synonyms", _by(other_words)),
    Perturbation("bold", "style", "each sentence in bold (Markdown)", _by(in_bold)),
    Perturbation("bullets", "style", "each sentence as a bullet (Markdown)", _by(as_bullet)),
)
"""All changes; each keeps what an answer says, and what it cites."""


# What a change does to a judge: shifts of measures, paired over topics, and flipped labels.
DIGITS = 4
ResponseKey = tuple[str, str]
"""(run_id, topic_id)"""
ItemKey = tuple[str, str, int | None, str | None, str | None, str, str]
"""(run_id, topic_id, former sentence, doc_id, citation, claim or nugget, judge)"""


@dataclass(slots=True)
class JudgedSample:
    """What a judge said of some responses: the value of each measure, the label of each item."""

    spec: LeaderboardSpec
    values: dict[str, dict[ResponseKey, float]] = field(default_factory=lambda: defaultdict(dict))
    labels: dict[ItemKey, str] = field(default_factory=dict)
    items: int = 0
    failures: int = 0
    seconds: float = 0.0
    """How long it took to judge them."""
    positive: dict[str, list[int]] = field(default_factory=dict)
    """[items with a grade above 0, items with a grade] of each topic."""
    kept: list[tuple[Response, Sequence[Judgment]]] | None = None
    """The responses with their judgments, where these are wanted."""

    def add(self, response: Response, judgments: Sequence[Judgment], order: Order) -> None:
        """Add a judged response; `order` has the former index of each of its sentences.

        A measure counts only where all items of the response are judged.
        """
        board = Leaderboard(self.spec)
        board.add(response, judgments)
        key = response.run_id, response.topic_id
        if self.kept is not None:
            self.kept.append((response, judgments))
        for measure, score in board.scores[key[0]][key[1]].items():
            if score.judged and score.value is not None:
                self.values[measure][key] = float(score.value)
        former = dict(zip((s.index for s in response.sentences), order, strict=True))
        for one in judgments:
            self.items += 1
            self.failures += not one.judged
            if one.grade is not None:
                counts = self.positive.setdefault(key[1], [0, 0])
                counts[0] += one.grade > 0
                counts[1] += 1
            if one.label is not None:
                index = former.get(one.sentence_index) if one.sentence_index is not None else None
                part = (index, one.doc_id, one.citation, one.identity, one.judge)
                self.labels[*key, *part] = one.label


@dataclass(frozen=True, slots=True)
class LabelFlips:
    """How many of the items that were judged each time did not get one label each time."""

    name: str
    items: int
    flips: int
    by_topic: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """(flips, items) of each topic."""

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the rate over topics."""
        counts = np.array(sorted(self.by_topic.values()), dtype=float).reshape(-1, 2)
        return share_interval(counts[:, 0], counts[:, 1])

    @property
    def rate(self) -> float | None:
        """The flip rate; None without items."""
        return round(self.flips / self.items, DIGITS) if self.items else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"kind": self.name, "items": self.items, "flips": self.flips, "rate": self.rate}


def count_flips(name: str, sides: Sequence[JudgedSample]) -> LabelFlips:
    """Return the flips between several judgments of the same items."""
    first, *others = sides
    shared = [key for key in first.labels if all(key in side.labels for side in others)]
    by_topic: dict[str, tuple[int, int]] = {}
    for key in shared:
        flips, items = by_topic.get(key[1], (0, 0))
        flips += any(side.labels[key] != first.labels[key] for side in others)
        by_topic[key[1]] = flips, items + 1
    return LabelFlips(name, len(shared), sum(flips for flips, _ in by_topic.values()), by_topic)


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much a change moves a measure: after minus before, over the changed responses.

    `interval` is the 95 % bootstrap interval over topics, `p` that of the paired sign-flip test
    over topics, `holm` the same corrected for the changes of this kind by this measure.
    """

    change: str
    kind: str
    measure: str
    responses: int
    topics: int
    before: float
    after: float
    interval: Interval
    p: float
    holm: float = 1.0

    @property
    def shift(self) -> float:
        """After minus before."""
        return round(self.after - self.before, DIGITS)

    @property
    def is_bias(self) -> bool:
        """Whether the shift is more than chance."""
        return self.holm < ALPHA

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        interval = {"interval": list(self.interval.round_to(DIGITS))}
        found = {name: value for name, value in asdict(self).items() if name != "interval"}
        return found | interval | {"shift": self.shift, "bias": self.is_bias}


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What a way to write for the judge changed: how many responses, and each measure over them."""

    way: Perturbation
    changed: int
    shifts: Sequence[Shift]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values; a lift is the mean after minus the mean before."""
        measures = [
            {
                "measure": one.measure,
                "responses": one.responses,
                "topics": one.topics,
                "before": one.before,
                "after": one.after,
                "lift": one.shift,
                "interval": list(one.interval.round_to(DIGITS)),
            }
            for one in self.shifts
        ]
        way = self.way
        return {
            "way": way.name,
            "what": way.what,
            "changed": self.changed,
            "measures": measures,
        }


@dataclass(frozen=True, slots=True)
class DarkReading:
    """What a judge says where there is nothing to find: labels, and the value of each measure.

    `changed` counts the responses that the probe did change. `positive` are (items with a grade
    above 0, items with a grade) of each topic.
    """

    probe: Perturbation
    changed: int
    labels: Counter[str]
    unjudged: int
    positive: Mapping[str, Sequence[int]]
    values: Mapping[str, Mapping[ResponseKey, float]]


def measure_shifts(
    change: str,
    kind: str,
    before: JudgedSample,
    after: JudgedSample,
    changed: Iterable[ResponseKey],
) -> list[Shift]:
    """Return the shift of each measure over the responses that a change did change."""
    wanted = set(changed)
    found = []
    for measure in before.values:
        old, new = before.values[measure], after.values.get(measure, {})
        shared = sorted(key for key in wanted if key in old and key in new)
        if not shared:
            continue
        means = mean_by_topic(shared, old), mean_by_topic(shared, new)
        gaps = (means[1] - means[0])[None, :]
        found.append(
            Shift(
                change,
                kind,
                measure,
                len(shared),
                gaps.shape[1],
                round(float(means[0].mean()), DIGITS),
                round(float(means[1].mean()), DIGITS),
                mean_intervals(gaps)[0],
                round(float(sign_flip(gaps)[0]), DIGITS + 2),
            )
        )
    return found


def correct_p_values(found: Sequence[Shift]) -> list[Shift]:
    """Return the shifts with their p corrected for the changes of one kind by one measure.

    Position, length and style are three questions: each has a correction of its own.
    """
    p: dict[tuple[str, str], list[float]] = {}
    for one in found:
        p.setdefault((one.measure, one.kind), []).append(one.p)
    left = {family: iter(holm(np.array(own)).tolist()) for family, own in p.items()}
    return [
        replace(one, holm=round(next(left[one.measure, one.kind]), DIGITS + 2)) for one in found
    ]


def untestable(found: Sequence[Shift]) -> list[str]:
    """Return the kinds of bias that so few topics could not show, however large it were."""
    kinds: dict[str, list[Shift]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    # The smallest p of a sign-flip test is that of all topics moving one way.
    return [
        kind
        for kind, own in kinds.items()
        if len({s.change for s in own}) * 2.0 ** (1 - max(s.topics for s in own)) >= ALPHA
    ]


def mean_by_topic(keys: Iterable[ResponseKey], values: Mapping[ResponseKey, float]) -> Array:
    """Return the mean of the values at these keys on each topic: (topics,)."""
    by_topic: dict[str, list[float]] = {}
    for key in keys:
        by_topic.setdefault(key[1], []).append(values[key])
    return np.array([np.mean(by_topic[topic]) for topic in sorted(by_topic)])

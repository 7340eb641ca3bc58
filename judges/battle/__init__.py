"""Battles: which of two runs' answers to a topic is better, and the board that follows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, Literal

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Program,
    ReplyLength,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.attest import AttesterName
from trecjudge.judging.battles import battle_of, battles_of, distinct_battles
from trecjudge.judging.judge import AllResponses, asks_model, judge_or_fail
from trecjudge.measures import FitSpec, Fitted, share_measure
from trecjudge.models.model import has_offline_voter
from trecjudge.records import Opponent
from trecjudge.records.battles import LOSS, OUTCOMES, REVERSED, TIE, WIN, Battle
from trecjudge.settings.fields import check_ranges, ranged
from trecjudge.stats.pairings import RIGHT, Pairing, draw, pairings, pairings_of_new

from ..direct_prompt import parts_of, topic_text
from .answers import Answer, evidence_of, support_of
from .scoring import win_or_loss, win_rate

COMPARE = Program("battle", f"{__package__}.program:Compare", length=ReplyLength(fixed=60))
WITH_EVIDENCE = replace(
    COMPARE, name="battle_evidence", reference=f"{__package__}.program:CompareWithEvidence"
)
Key = tuple[str, str]
"""(topic_id, run_id)"""
Enough = float | Literal["", "groups"]
"""The widest interval of a score, in points, or that groups do not change; empty for neither."""
ROUNDS = (1 / 8, 1 / 4, 1 / 2)
"""The shares of all battles after which it is looked whether there are enough."""
UNCLEAR = 0.05
"""How near to one half a probability is a tie."""


@dataclass(slots=True)
class _State:
    """What `prepare` found: the answers, and whom each run meets on a topic."""

    asks: bool = False
    """Whether a model is asked: only then it matters whose answer is shown first."""
    answers: dict[Key, Answer] = field(default_factory=dict)
    asked: dict[str, Topic] = field(default_factory=dict)
    labelled: list[Pairing] | None = None
    """The battles that people decided, where their labels stand in the place of the judge."""
    opponents: dict[Key, list[Opponent]] = field(default_factory=dict)
    runs: int = 0
    topics: int = 0
    battles: int = 0


@dataclass(frozen=True)
class BattleJudge:
    """Which of two runs' answers to a topic is better: Bradley-Terry scores from battles.

    Every run meets `opponents` others on each topic or, where that is not 0, there are `battles` in
    all. Who meets whom, and who is shown first, is random by `seed`; `twice` is the share of
    battles that are asked again in the other order, to measure position bias. `new` are runs that
    come to an existing board: the others meet as they did without them. `enough` ends asking early:
    `groups` when they do not change any more, a number when no interval of a score is wider.
    `right` is how often the better answer wins, for `--plan`. `evidence` shows what
    answers cite. `adjust_length` takes out of the scores what longer answers gain. `attester` is
    `lexical`, `llm`, or `auto`: the model where one is used, else lexical: then a battle is decided
    by the support of citations that words tell, with its probability.
    """

    battles: int = ranged(0, 0)
    opponents: int = ranged(4, 1)
    seed: int = 1
    twice: float = ranged(0.05, 0.0, 1.0)
    new: str | list[str] = ""
    enough: Enough = ""
    right: float = ranged(RIGHT, 0.5, 1.0)
    evidence: bool = False
    adjust_length: bool = False
    attester: AttesterName = "auto"
    programs: ClassVar[tuple[Program, ...]] = (COMPARE, WITH_EVIDENCE)
    label_names: ClassVar[Sequence[str]] = OUTCOMES
    _state: _State = field(default_factory=_State, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs beside the runs."""
        kinds = {"llm": ("topic_text",), "lexical": ("document_text",)}
        return kinds.get(self.attester, ())

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.attester == "llm"

    @property
    def prepares_alike(self) -> bool:
        """Whether its preparation asks nothing, so that shards and workers can do it too."""
        return not self.enough

    @property
    def newcomers(self) -> list[str]:
        """The runs that come to an existing board."""
        given = self.new.split(",") if isinstance(self.new, str) else self.new
        return [name.strip() for name in given if name.strip()]

    @property
    def measures(self) -> LeaderboardSpec:
        """BRADLEY_TERRY, which ranks, and WIN_RATE."""
        fit = FitSpec(battles_of, self._fit)
        columns = (
            MeasureSpec(
                "BRADLEY_TERRY",
                lambda response, judgments: None,
                default=None,
                default_if_undefined=False,
                description="Strength in battles, by the model of Bradley and Terry. From 0 up as"
                " a rule, 1000 for an average run; of two runs that are 400 apart, the better one"
                " wins 10 times for each time that it loses; higher is better.",
                fit=fit,
            ),
            share_measure(
                "WIN_RATE",
                win_rate,
                "Share of its battles that a run wins, ties as one half.",
                default_if_undefined=False,
            ),
        )
        return LeaderboardSpec(columns, "BRADLEY_TERRY", fill=win_or_loss)

    def _fit(self, records: Iterable[Iterable[Battle]]) -> Fitted:
        from .fitting import fit_records  # numpy: not for `judges list`

        return fit_records(records, self.adjust_length)

    async def prepare(self, responses: AllResponses) -> None:
        """Keep the answers, and decide who meets whom."""
        state, asks = self._state, asks_model(self.attester, responses.model)
        state.asks = asks
        by_words = not asks or has_offline_voter(responses.model)
        state.answers.clear()
        state.asked.clear()
        for topic, response in responses:
            if response.sample:
                continue  # a run has one answer to a topic: its first
            answer = Answer(response.text, evidence_of(response) if self.evidence else "")
            if by_words:
                answer = replace(answer, support=await support_of(topic, response))
            state.answers[response.topic_id, response.run_id] = answer
            state.asked[response.topic_id] = topic
        topics = list(responses.topics or state.asked)
        if not (self.enough and asks and await self._ask_in_rounds(topics, responses.model)):
            self._plan(topics)

    async def _ask_in_rounds(self, topics: Sequence[str], model: Model) -> bool:
        """Plan and ask a growing part of all battles; return whether there are enough of them."""
        from .rounds import StopRule  # numpy, as above

        rule = StopRule(self.enough)
        for share in ROUNDS:
            self._plan(topics, share)
            if rule.is_met(await self._ask_planned(model)):
                return True
        return False

    async def _ask_planned(self, model: Model) -> list[Battle]:
        """Return all planned battles, asked now; what the job asks again later, a cache answers."""
        state = self._state
        items = [
            Item(state.asked[topic_id], run_id, "", opponent=opponent)
            for (topic_id, run_id), met in state.opponents.items()
            for opponent in met
            if (topic_id, run_id) in state.answers and run_id < opponent.run_id
        ]
        work = (judge_or_fail(item, self.judge(item, model)) for item in items)
        found = await asyncio.gather(*work)
        words = (state.answers[one.topic_id, one.run_id].words for one in found)
        return distinct_battles([list(map(battle_of, words, found))])

    def meeting(self, labels: Iterable[Sequence[Any]]) -> BattleJudge:
        """Return the judge with the battles that labels are on, in the place of planned ones."""
        made = replace(self, twice=0.0)
        keys = (key for key in labels if len(key) == 4 and key[2] is None and key[3])
        made._state.labelled = [Pairing(key[0], key[1], key[3], "") for key in keys]
        return made

    def _plan(self, topics: Sequence[str], share: float = 1.0) -> None:
        state = self._state
        runs = sorted({run for _, run in state.answers})
        state.runs, state.topics, state.battles = len(runs), len(topics), 0
        state.opponents.clear()
        for pairing in self._chosen(runs, topics, share):
            if any((pairing.topic_id, run) in state.answers for run in pairing[1:3]):
                state.battles += 1
                self._add(pairing)

    def _chosen(
        self, runs: Sequence[str], topics: Sequence[str], share: float
    ) -> Iterator[Pairing]:
        """Yield who meets whom: the board's own battles, and a share of those of new runs.

        Without new runs it is a share of all.
        """
        if self._state.labelled is not None:
            yield from self._state.labelled
            return
        new = [run for run in self.newcomers if run in runs]
        old = sorted({*runs} - {*new})
        size = self.size(len(old), len(topics))
        own = size if new else round(share * size)
        yield from islice(pairings(old, topics, self.seed), own)
        each = 2 * size / max(1, len(old))
        theirs = pairings_of_new(old, topics, self.seed, new)
        yield from islice(theirs, round(share * each * len(new)))

    def size(self, runs: int, topics: int) -> int:
        """Return how many battles so many runs have on so many topics."""
        return self.battles or -(-topics * runs * self.opponents // 2)

    def _add(self, pairing: Pairing) -> None:
        topic, a, b, shown = pairing
        again = draw(self.seed, "twice", topic, a, b) < self.twice * 2**64
        for own, other in ((a, b), (b, a)):
            theirs, words = self._state.answers.get((topic, other)), None
            first: bool | None = None
            if theirs is not None:
                words = theirs.words
                if self._state.asks and (topic, own) in self._state.answers:
                    first = (shown == "a") == (own == a)
            against = Opponent(other, first, words=words)
            listed = self._state.opponents.setdefault((topic, own), [])
            listed.append(against)
            if again and first is not None:
                listed.append(replace(against, first=not first, again=True))

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the battles of a response."""
        if response.sample:
            return
        for opponent in self._state.opponents.get((response.topic_id, response.run_id), ()):
            whole = WholeResponse.of(topic, response)
            yield replace(whole, opponent=opponent)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return the outcome for the item's run.

        A response that is not there, or has no text, loses against one that has; the same text
        twice is a tie. Raises
        JudgmentFailed where nothing is known of the topic or of what answers cite.
        """
        ours, theirs = self._answers_of(item)
        if theirs is None or theirs.is_blank or ours.is_blank or ours.text == theirs.text:
            return _without_asking(item, ours, theirs)
        if asks_model(self.attester, model):
            return await self._by_model(item, ours, theirs, model)
        return _by_support(item, ours, theirs)

    def _answers_of(self, item: Item) -> tuple[Answer, Answer | None]:
        answers, opponent = self._state.answers, item.opponent
        topic_id = item.topic.topic_id
        if opponent is None or (topic_id, item.run_id) not in answers:
            raise JudgmentFailed("no_battle", "who meets whom is not known: nothing is prepared")
        return answers[topic_id, item.run_id], answers.get((topic_id, opponent.run_id))

    async def _by_model(self, item: Item, ours: Answer, theirs: Answer, model: Model) -> Judgment:
        if not parts_of(item.topic):
            raise JudgmentFailed("no_topic_text", "nothing is known of the topic: --rag-topics")
        first = item.opponent is not None and bool(item.opponent.first)
        a, b = (ours, theirs) if first else (theirs, ours)
        inputs = {"topic": topic_text(item.topic), "answer_a": a.text, "answer_b": b.text}
        if self.evidence:
            inputs |= {"evidence_a": a.evidence, "evidence_b": b.evidence}
        found = await model.predict(WITH_EVIDENCE if self.evidence else COMPARE, **inputs)
        said = {"A": WIN, "B": LOSS}.get(found.fields["better"], TIE)
        label = said if first else REVERSED[said]
        reason, usage = found.fields["reason"], found.call.usage
        return judgment_of(item, label=label, reason=reason, attester="llm", usage=usage)

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that a label makes. Raises JudgmentFailed for what is no outcome."""
        if label not in OUTCOMES:
            raise JudgmentFailed("parse", f"label {label!r} is none of {', '.join(OUTCOMES)}")
        return judgment_of(item, label=label, attester="given")

    def planned(self) -> Mapping[str, Any]:
        """Return what is planned, and what it is worth, once it is prepared.

        `said` has it in words, a line each.
        """
        from .rounds import worth_lines, worth_of  # numpy, as above

        sizes = (self._state.runs, self._state.topics, self._state.battles)
        worth = worth_of(*sizes, self.right)
        figures = dict(zip(("runs", "topics", "battles"), sizes, strict=True))
        said = list(worth_lines(sizes, worth, self.right))
        if self.enough:
            said.append("these are the most: asking ends before, where there are enough")
        expected = [{"battles": battles, "tau": tau} for battles, tau in worth.items()]
        return {**figures, "worth": expected, "said": said}


def _without_asking(item: Item, ours: Answer, theirs: Answer | None) -> Judgment:
    if ours.is_blank and (theirs is None or theirs.is_blank):
        return judgment_of(item, label=TIE, reason="neither response has text")
    if theirs is None:
        return judgment_of(item, label=WIN, reason="the other run has no response")
    if ours.text == theirs.text:
        return judgment_of(item, label=TIE, reason="both responses have the same text")
    own, other = (LOSS, "its own") if ours.is_blank else (WIN, "the other")
    return judgment_of(item, label=own, reason=f"{other} response has no text")


def _by_support(item: Item, ours: Answer, theirs: Answer) -> Judgment:
    """Return what the support of citations decides, with the probability that it is right."""
    for side in (ours.support, theirs.support):
        if side.failed is not None:
            raise JudgmentFailed(side.failed.kind, side.failed.message)
    chance = ours.support.chance_above(theirs.support)
    label = TIE if abs(chance - 0.5) <= UNCLEAR else WIN if chance > 0.5 else LOSS
    said = f"support by words {ours.support.mean:.2f} against {theirs.support.mean:.2f}"
    reason = f"{said}: better with probability {chance:.2f}"
    sure = {"expected": chance, "confidence": max(chance, 1 - chance)}
    return judgment_of(item, label=label, reason=reason, attester="lexical", **sure)

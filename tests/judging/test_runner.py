"""Order, bounded look-ahead, and failures that become unjudged judgments."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import ScriptedModel, always, judgment, response
from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.judging.judge import AllResponses
from trecjudge.judging.panel import NamedJudge
from trecjudge.judging.runner import (
    FIRST,
    IN_A_ROW,
    LOOK_AHEAD,
    JudgedResponse,
    Runner,
    _by_document,
)
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model, NoModel, Program
from trecjudge.records import (
    Claim,
    Document,
    Fact,
    Failure,
    Item,
    Judgment,
    Response,
    Topic,
    judgment_of,
)

NO_MEASURES = LeaderboardSpec(())
PROGRAM = Program("p", "nowhere:P")


@dataclass
class Asking:
    """A judge that asks a model about every sentence, or does `act`."""

    act: Callable[[Item], Any] | None = None
    measures: LeaderboardSpec = NO_MEASURES

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        for sentence in response.sentences:
            yield Item(topic, response.run_id, sentence.text, sentence.index)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        if self.act is not None:
            found: Judgment | list[Judgment] = self.act(item)
            return found
        prediction = await model.predict(PROGRAM, sentence=item.text)
        return judgment_of(item, label=prediction.fields["label"])


def judged(judge: Asking, *responses: Response, model: Model | None = None) -> list[JudgedResponse]:
    async def collect() -> list[JudgedResponse]:
        pairs = ((Topic(r.topic_id), r) for r in responses)
        return [
            found
            async for found in Runner([NamedJudge("asking", judge)], model or NoModel()).run(pairs)
        ]

    return asyncio.run(collect())


def raising(error: Exception) -> Callable[[Item], Any]:
    def act(item: Item) -> Any:
        raise error

    return act


def test_judgments_leave_in_input_order_whatever_finishes_first() -> None:
    class Slow(ScriptedModel):
        async def predict(self, program: Program, **inputs: str) -> Any:
            await asyncio.sleep(0.002 * (9 - int(inputs["sentence"])))
            return await super().predict(program, **inputs)

    pool = [response(*((str(i + 3 * r), []) for i in range(3)), run_id=str(r)) for r in range(3)]
    found = judged(Asking(), *pool, model=Slow(lambda inputs: {"label": inputs["sentence"]}))
    assert [j.label for r in found for j in r.judgments] == [str(i) for i in range(9)]


def test_look_ahead_is_bounded() -> None:
    begun = 0

    def responses() -> Iterator[tuple[Topic, Response]]:
        nonlocal begun
        for _ in range(100):
            begun += 1
            yield Topic("t1"), response(("s", []))

    async def first() -> None:
        runner = Runner([NamedJudge("asking", Asking())], always("x"))
        async for _ in runner.run(responses()):
            break

    asyncio.run(first())
    assert begun <= LOOK_AHEAD * 4 + 2


def test_look_ahead_is_full_until_the_last_response_is_begun() -> None:
    begun, ahead = 0, []

    def responses() -> Iterator[tuple[Topic, Response]]:
        nonlocal begun
        for _ in range(100):
            begun += 1
            yield Topic("t1"), response(("s", []))

    async def every() -> None:
        runner = Runner([NamedJudge("asking", Asking())], always("x"))
        handed_out = 0
        async for _ in runner.run(responses()):
            handed_out += 1
            if begun < 100:
                ahead.append(begun - handed_out)

    asyncio.run(every())
    assert set(ahead) == {LOOK_AHEAD * 4}


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (JudgmentFailed("cut", "too long", 3), "cut", "too long"),
        (ValueError("odd"), "bug", r"ValueError: odd \(.*test_runner.py:\d+\)"),
        (TimeoutError(), "bug", r"TimeoutError \(.*test_runner.py:\d+\)"),
        (JudgmentFailed("no verb"), "undecided", "no verb"),
    ],
)
def test_a_failure_is_a_record(error: Exception, kind: str, message: str) -> None:
    (found,) = judged(Asking(raising(error)), response(("One.", []), ("Two.", [])))
    assert [j.judged for j in found.judgments] == [False, False]
    failure = found.judgments[0].failure
    assert failure is not None
    assert failure.kind == kind
    assert re.fullmatch(message, failure.message)


def test_a_pool_that_breaks_is_one_unjudged_item() -> None:
    class Broken(Asking):
        def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
            raise KeyError("k")

    (found,) = judged(Broken(), response(("One.", [])))
    (judgment,) = found.judgments
    assert judgment.failure is not None
    assert judgment.failure.kind == "bug"


@pytest.mark.parametrize("model", [NoModel(), always("x")], ids=["offline", "model"])
def test_an_endpoint_that_cannot_be_used_ends_the_run(model: Model) -> None:
    with pytest.raises(ModelError):
        judged(Asking(raising(ModelError("401"))), response(("One.", [])), model=model)


def test_several_judgments_of_one_item_and_its_calls() -> None:
    def twice(item: Item) -> list[Judgment]:
        return [judgment_of(item, label="a"), judgment_of(item, label="b")]

    (found,) = judged(Asking(twice), response(("One.", [])))
    assert [j.label for j in found.judgments] == ["a", "b"]
    (asked,) = judged(Asking(), response(("One.", [])), model=always("x"))
    assert [call.program for call in asked.items[0].calls] == ["p"]


def test_items_of_one_document_are_begun_together() -> None:
    one, two = Document("d1", "x"), Document("d2", "y")
    pool = [Item(Topic("t"), "r", "s", document=d) for d in (one, two, None, one, two)]
    assert _by_document(pool) == [0, 3, 1, 4, 2]


def test_judgments_of_several_judges_stand_judge_by_judge() -> None:
    async def collect() -> list[JudgedResponse]:
        panel = [NamedJudge("a", Asking()), NamedJudge("b", Asking())]
        pairs = [(Topic("t1"), response(("One.", []), ("Two.", [])))]
        return [found async for found in Runner(panel, always("x")).run(pairs)]

    (found,) = asyncio.run(collect())
    assert [(item.named_judge.name, item.judgments[0].sentence_index) for item in found.items] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run_id": "other"}, "pool gave an item on 'other', '"),
        ({"topic": Topic("t9")}, "', 't9', not on this response"),
        ({"sentence_index": "1"}, "sentence_index is '1', not a whole number or None"),
        ({"sentence_index": 1.0}, "sentence_index is 1.0, not a whole number or None"),
        ({"text": 5}, "pool gave an item whose text is 5"),
    ],
    ids=["run", "topic", "index", "float", "text"],
)
def test_an_item_of_another_response_is_a_bug_before_it_is_asked_about(
    change: dict[str, Any], message: str
) -> None:
    class Elsewhere(Asking):
        def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
            return (replace(item, **change) for item in super().pool(topic, response))

    asked: list[Item] = []
    (found,) = judged(Elsewhere(asked.append), response(("One.", [])))
    failure = found.judgments[0].failure
    assert failure is not None and message in failure.message and failure.kind == "bug"
    assert asked == []


def test_the_message_of_a_bug_is_one_line() -> None:
    (found,) = judged(Asking(raising(ValueError("two\n  lines"))), response(("One.", [])))
    failure = found.judgments[0].failure
    assert failure is not None and failure.message.startswith("ValueError: two lines (")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "the judge returned None, not a Judgment"),
        ([], "the judge returned no judgment"),
        ([None], "the judge returned None, not a Judgment"),
        (judgment(value=float("nan")), "value is nan, not a number"),
        (judgment(value=float("inf")), "value is inf, not a number"),
        (judgment(expected=1.5), "expected is 1.5, not a weight of 0 to 1"),
        (judgment(grade=1.5), "grade is 1.5, not a whole number"),
        (judgment(grade=10**30), "not a whole number"),
        (judgment(topic_id="t2"), "the judgment is on 'r', 't2'"),
        (judgment(reason="\ud800"), "surrogates not allowed"),
        (judgment(claim=Claim(0, "\ud800", 0)), "surrogates not allowed"),
        (judgment(facts=(Fact(5, 0, 1),)), "5 is not text"),  # type: ignore[arg-type]
        (judgment(sentence_index="1"), "sentence_index is '1', not a whole number or None"),
        (judgment(citation=7), "7 is not text"),
    ],
    ids=range(14),
)
def test_what_is_no_judgment_on_the_item_is_unjudged(returned: Any, message: str) -> None:
    (found,) = judged(Asking(lambda item: returned), response(("One.", [])))
    (only,) = found.judgments
    assert only.failure is not None
    assert only.failure.kind == "bug"
    assert message in only.failure.message


@pytest.mark.parametrize(
    "error",
    [SystemExit(0), GeneratorExit(), asyncio.CancelledError(), ValueError("\ud800")],
    ids=lambda error: type(error).__name__,
)
def test_a_judge_cannot_end_the_run(error: Any) -> None:
    (found,) = judged(Asking(raising(error)), response(("One.", [])))
    assert [j.judged for j in found.judgments] == [False]


def test_a_pool_of_what_is_no_item_is_unjudged() -> None:
    class Odd(Asking):
        def pool(self, topic: Topic, response: Response) -> Any:
            return [None]

    (found,) = judged(Odd(), response(("One.", [])))
    assert [j.judged for j in found.judgments] == [False]


@dataclass
class Faulty(Asking):
    """A judge that asks, and then has a bug on every item but those in `sound`."""

    sound: Container[int] = ()

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        found = await super().judge(item, model)
        return [{}["label"]] if item.sentence_index not in self.sound else found


@pytest.mark.parametrize(
    ("sound", "most", "bugs"),
    [
        pytest.param((), FIRST, FIRST, id="nothing is judged"),
        pytest.param((0,), IN_A_ROW + 32, IN_A_ROW, id="only the first is"),
        pytest.param(range(0, 300, 10), 300, 270, id="now and then one is"),
    ],
)
@pytest.mark.parametrize("offline", [False, True], ids=["model", "offline"])
def test_a_bug_on_item_after_item_stops_judging(
    sound: Container[int], most: int, bugs: int, offline: bool
) -> None:
    class Waits(ScriptedModel):
        places = asyncio.Semaphore(32)
        stopped = ""

        def call_off(self, why: str) -> None:
            self.stopped = why

        async def predict(self, program: Program, **inputs: str) -> Any:
            async with self.places:
                if self.stopped:
                    raise JudgmentFailed("stopped", self.stopped)
                # A turn of the loop, not a time: those begun together then end together.
                await asyncio.sleep(0)
                return await super().predict(program, **inputs)

    model = Waits(lambda inputs: {"label": "x"}, available=not offline, in_flight=32)
    given = response(*(("s", []) for _ in range(300)))
    (found,) = judged(Faulty(sound=sound), given, model=model)
    assert len(model.asked) <= most
    assert len(found.judgments) == 300
    kinds = Counter(j.failure.kind for j in found.judgments if j.failure)
    assert kinds["bug"] >= bugs
    assert kinds["bug"] + kinds["stopped"] + sum(j.judged for j in found.judgments) == 300
    assert (kinds["stopped"] > 0) == (most < 300)


def test_a_judge_that_goes_through_is_given_all_items_at_once() -> None:
    at_once: list[int] = []

    class Counting(ScriptedModel):
        async def predict(self, program: Program, **inputs: str) -> Any:
            at_once.append(at_once[-1] + 1 if at_once else 1)
            await asyncio.sleep(0.001)
            at_once.append(at_once[-1] - 1)
            return await super().predict(program, **inputs)

    model = Counting(lambda inputs: {"label": "x"}, in_flight=32)
    (found,) = judged(Asking(), response(*(("s", []) for _ in range(64))), model=model)
    assert at_once[FIRST - 1 : FIRST + 1] == [FIRST, FIRST - 1]
    assert max(at_once) >= 32
    assert all(j.judged for j in found.judgments)


@dataclass
class Comparing(Asking):
    """A judge that looks at all responses before it judges the first."""

    fault: BaseException | None = None
    seen: list[str] = field(default_factory=list)

    async def prepare(self, responses: AllResponses) -> None:
        """Keep the ids, twice over."""
        self.seen += [r.run_id for _, r in responses] + [t.topic_id for t, _ in responses]
        if self.fault is not None:
            raise self.fault


def compared(judge: Comparing) -> list[JudgedResponse]:
    pool = [response(("a", []), ("b", []), run_id=run) for run in "xy"]

    async def collect() -> list[JudgedResponse]:
        def read() -> Iterator[tuple[Topic, Response]]:
            return ((Topic(r.topic_id), r) for r in pool)

        other = Asking(lambda item: judgment_of(item, label="other"))
        runner = Runner([NamedJudge("comparing", judge), NamedJudge("other", other)], NoModel())
        await runner.prepare(AllResponses(read, None, NoModel(), Path("x"), lambda message: None))
        return [found async for found in runner.run(read())]

    return asyncio.run(collect())


def test_all_responses_are_shown_before_the_first_is_judged() -> None:
    judge = Comparing()
    judge.act = lambda item: judgment_of(item, label=",".join(judge.seen))
    labels = [j.label for found in compared(judge) for j in found.judgments]
    assert labels == ["x,y,t1,t1", "x,y,t1,t1", "other", "other"] * 2


UNPREPARED = {
    "an error": (ValueError("no luck"), Failure("bug", "ValueError: no luck")),
    "an exit": (SystemExit("no luck"), Failure("bug", "SystemExit: no luck")),
    "a failure that it names": (JudgmentFailed("parse", "odd"), Failure("parse", "odd")),
    "work of its own that is cancelled": (
        asyncio.CancelledError("over"),
        Failure("bug", "CancelledError: over"),
    ),
}


@pytest.mark.parametrize(("error", "failure"), UNPREPARED.values(), ids=UNPREPARED)
def test_a_judge_that_cannot_prepare_judges_nothing_and_the_others_do(
    error: BaseException, failure: Failure
) -> None:
    for found in compared(Comparing(fault=error)):
        first, *others = [j.failure for j in found.judgments]
        assert first is not None
        assert (first.kind, first.message.partition(" (")[0]) == (failure.kind, failure.message)
        assert others == [None, None]


def test_what_the_user_can_put_right_ends_the_preparation() -> None:
    with pytest.raises(ModelError, match="no key"):
        compared(Comparing(fault=ModelError("no key")))

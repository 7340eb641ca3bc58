"""Which runs meet on which topics, in an order of which any first part is balanced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from trecjudge.records.battles import Shown

RIGHT = 0.76
"""How often the better answer wins, where nothing else is known."""


class Pairing(NamedTuple):
    """Two runs that meet on a topic, and whose answer is shown first."""

    topic_id: str
    run_a: str
    run_b: str
    first: Shown


def draw(seed: int, *names: str) -> int:
    """Return a number of 64 bits that depends only on the seed and the names."""
    text = "\0".join((str(seed), *names)).encode(errors="backslashreplace")
    return int.from_bytes(sha256(text).digest()[:8])


def pairings(
    runs: Sequence[str], topics: Sequence[str], seed: int, new: Sequence[str] = ()
) -> Iterator[Pairing]:
    """Yield all pairings of runs on topics, each once, so that any first part is balanced.

    In each round every run meets one other on each topic, by a circle of the runs in an order that
    is random for each topic; pairs of a round come topic by topic, so that no topic is ahead by
    more than one. The order, and who is shown first, depend only on names and the seed. `new` runs
    meet all others only after these have met each other: they change nothing of what was before.
    """
    old = sorted(set(runs) - set(new))
    orders = {topic: _shuffled(old, seed, topic) for topic in _shuffled(topics, seed)}
    rounds = len(old) - 1 + len(old) % 2
    for number in range(rounds):
        met = {topic: _round(order, number) for topic, order in orders.items()}
        yield from _in_turn(met, seed)
    yield from pairings_of_new(old, topics, seed, new)


def pairings_of_new(
    old: Sequence[str], topics: Sequence[str], seed: int, new: Sequence[str]
) -> Iterator[Pairing]:
    """Yield the pairings of new runs with all others, each once, topic by topic."""
    for place, run in enumerate(sorted(new)):
        others = [*old, *sorted(new)[:place]]
        met = {
            topic: [(run, other) for other in _shuffled(others, seed, topic, run)]
            for topic in _shuffled(topics, seed)
        }
        yield from _in_turn(met, seed)


def _shuffled(names: Sequence[str], seed: int, *salt: str) -> list[str]:
    return sorted(names, key=lambda name: (draw(seed, *salt, name), name))


def _round(order: Sequence[str], number: int) -> list[tuple[str, str]]:
    """Return who meets in a round of the circle method; with an odd number of runs one pauses."""
    circle: list[str | None] = [*order, None] if len(order) % 2 else [*order]
    turned = [
        circle[0],
        *(circle[1 + (i + number) % (len(circle) - 1)] for i in range(len(circle) - 1)),
    ]
    half = len(turned) // 2
    pairs = zip(turned[:half], turned[: half - 1 : -1], strict=True)
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def _in_turn(met: Mapping[str, Sequence[tuple[str, str]]], seed: int) -> Iterator[Pairing]:
    most = max(map(len, met.values()), default=0)
    for place in range(most):
        for topic, pairs in met.items():
            if place < len(pairs):
                a, b = sorted(pairs[place])
                yield Pairing(topic, a, b, "a" if draw(seed, "first", topic, a, b) % 2 else "b")


def possible_battles(runs: int, topics: int) -> int:
    """Return how many battles there can be, each asked in one order."""
    return topics * runs * (runs - 1) // 2

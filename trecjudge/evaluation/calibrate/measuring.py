"""Measurements of pairs with word frequencies from the other topics only, as for a new topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.judging.offline.features import Measurements, find
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.wording import read_wording
from trecjudge.text.frequencies import Frequencies, count_frequencies

Table = Callable[[int, Mapping[str, int]], Frequencies]
"""Makes frequencies of the number of passages, and of how many each word is in."""


def measure_apart(
    pairs: Sequence[LabelledPair], groups: Sequence[str], table: Table
) -> tuple[list[Measurements], Frequencies]:
    """Return the measurements of pairs by the table of all other groups; the table of them all.

    The words of a topic are common in its own passages: by a table that has these they would weigh
    less than they do where the weights are used.
    """
    texts: dict[str, dict[str, None]] = {}
    for pair, group in zip(pairs, groups, strict=True):
        texts.setdefault(group, {})[pair.text] = None
    counted = {group: count_frequencies(found) for group, found in texts.items()}
    passages = sum(number for number, _ in counted.values())
    counts: Counter[str] = Counter()
    for _, own in counted.values():
        counts.update(own)
    apart = {g: table(passages - number, counts - own) for g, (number, own) in counted.items()}
    found = measure(pairs, [apart[group] for group in groups])
    return found, table(passages, counts)


def measure(pairs: Sequence[LabelledPair], tables: Sequence[Frequencies]) -> list[Measurements]:
    """Return the measurements of pairs, each by a table; a document is prepared once."""
    prepared = cache(prepare)  # of this call only: the documents may be many
    return [
        find(read_wording(pair.sentence, frequencies), prepared(pair.text))
        for pair, frequencies in zip(pairs, tables, strict=True)
    ]

"""What the first view says: how much was judged, what failed, and where to look next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import fmean, stdev
from typing import Any

from trecjudge.findings import plural
from trecjudge.show.charts import quartiles
from trecjudge.show.formats import share_text
from trecjudge.show.html.figures import Figure, figure_text
from trecjudge.show.tones import SIGNS, Tone

FIRST, NEXT = 10, 5
"""Runs of the order that are shown first; entries of each list of what to look at next."""
FAILING: Sequence[Tone] = ("bad", "against", "part", "missing", "unjudged")
"""Tones of what failed, the system's first."""
COUNTED = "document_missing", "response_missing"
"""Kinds of findings that are counted among the items and responses."""
MOST_KINDS = 4
"""Kinds of findings that are named."""

Card = Mapping[str, Any]


def home_shown(head: Mapping[str, Any], cards: Sequence[Card]) -> dict[str, Any]:
    """Return what the first view shows of a page's `head` and of the cards of its runs."""
    judge = head["ranking_judge"]
    labels = [_labels(card, judge) for card in cards]
    every = sum(labels, Counter())
    total = every.total()
    order = sorted(every, key=lambda label: (list(SIGNS).index(label[0]), -every[label]))
    shown = [
        {"tone": t, "word": w, "count": every[t, w], "share": every[t, w] / total} for t, w in order
    ]
    return {
        "responses": sum(card["responses"] for card in cards),
        "expected_responses": sum(card["expected_responses"] for card in cards),
        # Values without a label would be one grey bar.
        "labels": shown if any(one["tone"] != "plain" for one in shown) else [],
        "mix": mix(every),
        "mixes": [mix(found) for found in labels[:FIRST]],
        "failed": sorted(
            (one for one in shown if one["tone"] in FAILING),
            key=lambda one: FAILING.index(one["tone"]),
        ),
        "silent": [card["run"] for card in cards if card["responses"] < card["expected_responses"]],
        "findings": [
            kind
            for kind in head["findings"]
            if kind["severity"] != "note" and kind["kind"] not in COUNTED
        ][:MOST_KINDS],
        "worst": worst_sentences(cards),
        "write_to": runs_to_write_to(cards, head["runs"]),
        "topics": deciding_topics(head),
    }


def _labels(card: Card, judge: str) -> Counter[tuple[Tone, str]]:
    """Return how often each (tone, word) is among the labels of a judge; "" is all of them."""
    own = (one for one in card["labels"] if not judge or one["judge"] == judge)
    found: Counter[tuple[Tone, str]] = Counter()
    for one in own:
        found[one["tone"], one["word"]] += one["count"]
    return found


def mix(labels: Mapping[tuple[Tone, str], int]) -> list[tuple[Tone, float, float]]:
    """Return the parts of a bar of labels: tone, begin and length, in percent of its length."""
    counts = [sum(n for (tone, _), n in labels.items() if tone == each) for each in SIGNS]
    total = sum(counts) or 1
    begins = [0, *accumulate(counts)]
    return [
        (tone, round(100 * begin / total, 2), round(100 * count / total, 2))
        for tone, begin, count in zip(SIGNS, begins, counts, strict=False)
        if count
    ]


def worst_sentences(cards: Iterable[Card]) -> list[dict[str, Any]]:
    """Return the worst sentence of each run that has one, the worst first, the first few."""
    firsts = [
        {"run": card["run"], **card["worst_sentences"][0]}
        for card in cards
        if card["worst_sentences"]
    ]
    return sorted(firsts, key=lambda one: (one["height"], one["weight"]))[:NEXT]


def runs_to_write_to(
    cards: Iterable[Card], runs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the runs that there is most to tell, with the reasons, the first few.

    Reasons are topics without a response, citations that lead nowhere, and signs.
    """
    found = [
        (_urgency(card, run), {"run": card["run"], "reasons": list(_reasons(card, run))})
        for card, run in zip(cards, runs, strict=True)
    ]
    told = [pair for pair in found if pair[1]["reasons"]]
    return [shown for _, shown in sorted(told, key=lambda pair: -pair[0])][:NEXT]


def _urgency(card: Card, run: Mapping[str, Any]) -> float:
    """Return how much there is to tell, from 0: the shares of what is missing, and of signs."""
    silent = 1 - card["responses"] / (card["expected_responses"] or 1)
    nowhere = card["nowhere"] / (card["citations"] or 1)
    return float(silent + nowhere + sum(run["signs"].get(name) or 0 for name in run["shows"]))


def _reasons(card: Card, run: Mapping[str, Any]) -> Iterator[str]:
    if silent := card["expected_responses"] - card["responses"]:
        yield f"no response on {plural(silent, 'topic')}"
    if card["nowhere"]:
        yield f"{card['nowhere']} of {plural(card['citations'], 'citation')} lead nowhere"
    for name in run["shows"]:
        yield f"{share_text(run['signs'].get(name))} of sentences: {name.replace('_', ' ')}"


def deciding_topics(head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the topics on which the runs differ most by the measure that ranks, the first few."""
    names = [measure["name"] for measure in head["measures"]]
    scores = head["scores"][names.index(head["ranked_by"])]
    found = [
        _topic(topic, [row[t] for row in scores if isinstance(row[t], (int, float))])
        for t, topic in enumerate(head["topics"])
    ]
    spread = [one for one in found if one["spread"]]
    return sorted(spread, key=lambda one: -one["spread"])[:NEXT]


def _topic(topic: Mapping[str, str], values: Sequence[float]) -> dict[str, Any]:
    if len(values) < 2:
        return {"spread": None}
    first, _, third = quartiles(sorted(values))
    spread = {"mean": fmean(values), "spread": stdev(values), "low": first, "high": third}
    return {"topic": topic["id"], "title": topic["title"], **spread}


def agreement_lines(
    name: str,
    figures: Mapping[str, Sequence[Figure]],
    ranked: str,
    labels: Mapping[str, Any] | None,
) -> Iterator[str]:
    """Yield how the labels and the order of the runs agree with another side, each in one line."""
    if labels and labels["figures"]:
        told = "; ".join(map(figure_text, labels["figures"][:2]))
        yield f"Labels of {plural(labels['items'], 'item')}, with {name}: {told}"
    measure = ranked if ranked in figures else next(iter(figures), "")
    if measure:
        yield f"Order of the runs by {measure}, with {name}: {figure_text(figures[measure][0])}"

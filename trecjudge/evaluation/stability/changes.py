"""The same answer said otherwise: its sentences in another order, padded, or restated by rules."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from trecjudge.records import Response
from trecjudge.text import restating

Kind = Literal["position", "length", "style"]
Order = list[int]
"""The former place of each sentence."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to say an answer otherwise, and which bias it shows.

    `make` returns the changed response and the former index of each of its sentences.
    """

    name: str
    kind: Kind
    what: str
    make: Callable[[Response], tuple[Response, Order]]


def shuffle_sentences(response: Response) -> tuple[Response, Order]:
    """Return a response with its sentences in an order drawn by run and topic."""
    name = f"{response.run_id}\0{response.topic_id}"
    seed = int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:8])
    order = list(range(len(response.sentences)))
    random.Random(seed).shuffle(order)
    if order == sorted(order):  # the same as before: no change at all
        order.reverse()
    moved = (replace(response.sentences[old], index=new) for new, old in enumerate(order))
    return replace(response, sentences=tuple(moved)), [
        response.sentences[old].index for old in order
    ]


def restate(rule: Callable[[str], str], response: Response) -> tuple[Response, Order]:
    """Return a response with a rule applied to the text of each sentence."""
    made = tuple(replace(s, text=rule(s.text)) for s in response.sentences)
    return replace(response, sentences=made), [s.index for s in response.sentences]


def _by(rule: Callable[[str], str]) -> Callable[[Response], tuple[Response, Order]]:
    return partial(restate, rule)


CHANGES = (
    Perturbation("shuffled", "position", "its sentences in another order", shuffle_sentences),
    Perturbation(
        "padded",
        "length",
        "each sentence followed by one that says nothing",
        _by(restating.pad_text),
    ),
    Perturbation("repeated", "length", "each sentence said twice", _by(restating.repeat_text)),
    Perturbation(
        "spelling",
        "style",
        "British spelling for American, and the reverse",
        _by(restating.other_spelling),
    ),
    Perturbation(
        "forms", "style", "short forms for long ones, and the reverse", _by(restating.other_forms)
    ),
    Perturbation("words", "style", "some words replaced by synonyms", _by(restating.other_words)),
    Perturbation("bold", "style", "each sentence in bold (Markdown)", _by(restating.in_bold)),
    Perturbation(
        "bullets", "style", "each sentence as a bullet (Markdown)", _by(restating.as_bullet)
    ),
)
"""All changes; each keeps what an answer says, and what it cites."""

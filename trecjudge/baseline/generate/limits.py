"""How much an answer may hold by the rules of its track: words or characters, citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trecjudge.baseline.records import AnswerSentence, Support
from trecjudge.check.parts import length, longest
from trecjudge.check.rules import LengthRule, Track
from trecjudge.records import Topic

MOST_CITED = 3
"""Documents that a sentence cites, where its track allows more or says nothing."""
WITHOUT_LIMIT = 2000
"""Characters of a report whose topic gives no limit: the lower one of RAGTIME's topics."""
WORDS = LengthRule("words", 400, nfkc=True)
"""The length of an answer whose track has no rule."""


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The most that an answer to one topic may hold.

    `most` is in the unit of `rule`; `words` is a further limit, None for none. A sentence cites
    `citations` documents at most, the whole answer `references`.
    """

    rule: LengthRule
    most: int
    words: int | None = None
    citations: int = MOST_CITED
    references: int | None = None

    def fit(self, texts: Sequence[str]) -> bool:
        """Return whether sentences are short enough together, counted as the track counts."""
        if length(texts, self.rule) > self.most:
            return False
        return self.words is None or sum(len(text.split()) for text in texts) <= self.words

    @property
    def in_words(self) -> str:
        """The length in words for a model: `at most 400 words`."""
        both = [f"{self.most} {self.rule.unit}"]
        if self.words is not None:
            words_are_all = self.rule.unit == "words"
            both = [f"{min(self.words, self.most) if words_are_all else self.words} words"]
            both += [] if words_are_all else [f"{self.most} {self.rule.unit}"]
        return f"at most {' and '.join(both)}"


def answer_limits(track: Track, topic: Topic, most_words: int | None = None) -> AnswerLimits:
    """Return what an answer to this topic may hold on this track, and in `most_words` if given."""
    rule = track.length or WORDS
    most = longest(rule, topic)
    given = track.citations.maximum
    return AnswerLimits(
        rule,
        WITHOUT_LIMIT if most is None else most,
        most_words,
        MOST_CITED if given is None else min(given, MOST_CITED),
        track.references.maximum if track.references else None,
    )


def cut_to_limits(
    sentences: Sequence[AnswerSentence], limits: AnswerLimits
) -> tuple[tuple[AnswerSentence, ...], int]:
    """Return the sentences that fit, and how many were left out: from the end, and whole ones.

    A citation that is one too many goes; a sentence goes with the last of its citations.
    """
    kept = [sentence for sentence in _cited_within(sentences, limits) if sentence.support]
    while kept and not limits.fit([sentence.text for sentence in kept]):
        kept.pop()
    return tuple(kept), len(sentences) - len(kept)


def _cited_within(
    sentences: Sequence[AnswerSentence], limits: AnswerLimits
) -> list[AnswerSentence]:
    """Return sentences with one citation for each document, and no more than there may be."""
    known: set[str] = set()
    found = []
    for sentence in sentences:
        support: dict[str, Support] = {}
        for one in sentence.support:
            doc_id = one.passage.chunk.doc_id
            has_room = limits.references is None or len(known) < limits.references
            may_be_cited = len(support) < limits.citations and (doc_id in known or has_room)
            if may_be_cited and doc_id not in support:
                support[doc_id] = one
                known.add(doc_id)
        found.append(replace(sentence, support=tuple(support.values())))
    return found

"""Citation support as the track scores it, and as ALCE does: together, alone, and the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge import Citation, Document, Item, Judgment, Response, Sentence, Topic
from trecjudge.judging.attest import best_or_worst, citation_item
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, PARTIAL

AssessedCitations = Literal["first", "all", "best"]
CitationKey = tuple[int | None, str | None, str | None]
"""(sentence_index, doc_id, citation as written): one judgment of a response."""

WEIGHTED: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.5, NONE: 0.0}
HARD: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.0, NONE: 0.0}


@dataclass(frozen=True, slots=True)
class Weighing:
    """Precision and recall of the citations that `rule` selects; w is the weight of a label."""

    rule: AssessedCitations
    weights: Mapping[str, float]

    def precision(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return sum of w / assessed citations, 0 to 1.

        With `best` a sentence has one assessed citation, its best. 0 without citations, None if
        none is judged.
        """
        return mean(
            [w for assessed in self._assessed_weights(response, judgments) for w in assessed]
        )

    def recall(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return sum of w of sentences / sentences, 0 to 1.

        A sentence's w is that of its assessed citation, with `all` the mean over its citations, and
        0 without citations. It leaves the sums while one of these is unjudged. 0 without sentences,
        None if no citation is judged.
        """
        assessed = self._assessed_weights(response, judgments)
        if mean([w for weights in assessed for w in weights]) is None:
            return None
        return mean([None if None in weights else mean(weights) for weights in assessed])

    def _assessed_weights(
        self, response: Response, judgments: Sequence[Judgment]
    ) -> list[list[float | None]]:
        """Return for each sentence the w of its assessed citations, None for an unjudged one.

        A citation on a sentence that states nothing is not assessed.
        """
        found = by_citation(judgments)
        return [self._weights(sentence, found) for sentence in response.sentences]

    def _weights(
        self, sentence: Sentence, found: Mapping[CitationKey, Judgment]
    ) -> list[float | None]:
        if not sentence.citations:
            return []
        wanted = (strongest(sentence),) if self.rule == "first" else sentence.citations
        labels = [label_at(found, citation_key(sentence, citation)) for citation in wanted]
        weights = [
            None if label is None else self.weights[label]
            for label in labels
            if label != NOTHING_TO_CHECK
        ]
        if not weights:
            return []
        return [self._best(weights)] if self.rule == "best" else weights

    def _best(self, weights: list[float | None]) -> float | None:
        """Return the highest w; None while an unjudged one could be higher."""
        # Full support cannot be exceeded: then it does not matter what is unjudged.
        known = max((w for w in weights if w is not None), default=0.0)
        return None if None in weights and known < self.weights[FULL] else known


def strongest(sentence: Sentence) -> Citation:
    """Return the citation of the highest score; the first one of equals, and where none is given.

    The sentence has citations.
    """
    return max(sentence.citations, key=lambda c: -math.inf if c.score is None else c.score)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the known values; 0 if there are no values, None if none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return None if values else 0.0
    # Exact sums: the order of citations must not change the last digit.
    return math.fsum(known) / len(known)


def by_citation(judgments: Sequence[Judgment]) -> dict[CitationKey, Judgment]:
    """Return the judgments by their citation."""
    return {(j.sentence_index, j.doc_id, j.citation): j for j in judgments}


def citation_key(sentence: Sentence, citation: Citation) -> CitationKey:
    """Return the key of the judgment on a citation."""
    return sentence.index, citation.doc_id, citation.value


def label_at(found: Mapping[CitationKey, Judgment], key: CitationKey) -> str | None:
    """Return the label of a judgment; None if it is unjudged or was not asked for."""
    judgment = found.get(key)
    return None if judgment is None else judgment.label


TOGETHER: Final = "all"
WITHOUT: Final = "without:"
"""Values of `citation` in a judgment on several documents, which has no doc_id."""


@dataclass(frozen=True, slots=True)
class Together(Item):
    """A sentence with several of its citations as one: `document` is all their text.

    `parts` are its citations, each as an item.
    """

    parts: tuple[Item, ...] = ()


def cited_together(topic: Topic, response: Response, sentence: Sentence) -> Item:
    """Return a cited sentence with all its documents; with a single citation that is the citation.

    As in ALCE, a sentence that cites a document that is not there has none that entails it.
    """
    parts = tuple(citation_item(topic, response, sentence, c) for c in sentence.citations)
    return parts[0] if len(parts) == 1 else _together(parts, TOGETHER)


def without(item: Together, left_out: Item) -> Together:
    """Return the sentence with all its documents but one."""
    assert left_out.citation is not None
    rest = tuple(each for each in item.parts if each is not left_out)
    return _together(rest, _without(left_out.citation))


def _without(citation: Citation) -> str:
    return WITHOUT + (citation.doc_id or citation.value)


def _together(parts: tuple[Item, ...], name: str) -> Together:
    # One document that is not there decides for all; one that is not known leaves them open.
    existing = [each.exists for each in parts]
    unread = (each.citation.unread for each in parts if each.citation)
    known = None if None in existing else True
    return Together(
        topic=parts[0].topic,
        run_id=parts[0].run_id,
        text=parts[0].text,
        sentence_index=parts[0].sentence_index,
        citation=Citation(None, name, unread=next(filter(None, unread), "")),
        document=_join_documents(parts, name),
        exists=False if False in existing else known,
        parts=parts,
    )


def _join_documents(items: Sequence[Item], name: str) -> Document | None:
    """Return the texts of all documents as one; None if the text of one is not known.

    One that the run carries without text adds nothing.
    """
    documents = [item.document for item in items if item.document]
    known = [document for document in documents if document.has_text or document.hollow]
    in_part = [document for document in documents if not document.complete]
    if unread := [document for document in in_part if not document.has_text]:
        return unread[0]
    if len(known) < len(items):
        return None
    texts = (document.full_text for document in known if document.has_text)
    return Document(name, "\n\n".join(texts), own=True, complete=not in_part)


def alce_recall(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return sentences entailed by all their documents together / sentences, 0 to 1.

    An uncited sentence is not entailed. 0 without sentences, None if no citation is judged.
    """
    found = by_citation(judgments)
    outcomes = [_is_entailed(sentence, found) for sentence in response.sentences]
    cited = [o for s, o in zip(response.sentences, outcomes, strict=True) if s.citations]
    return None if mean(cited) is None else mean(outcomes)


def alce_precision(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return precise citations / citations, 0 to 1.

    A citation is precise if its sentence is entailed by all its documents together, and it entails
    the sentence by itself or the rest without it does not. 0 without citations, None if none is
    judged.
    """
    found = by_citation(judgments)
    return mean([p for s in response.sentences for p in _precise(s, found)])


def _is_entailed(sentence: Sentence, found: Mapping[CitationKey, Judgment]) -> bool | None:
    """Return whether all documents together entail the sentence; None if that is unjudged."""
    if not sentence.citations:
        return False
    if len(sentence.citations) == 1:
        return _full(found, citation_key(sentence, sentence.citations[0]))
    return _full(found, (sentence.index, None, TOGETHER))


def _precise(sentence: Sentence, found: Mapping[CitationKey, Judgment]) -> Iterator[bool | None]:
    """Yield for each citation whether it is precise; None if that is unjudged."""
    if any(label_at(found, key) == NOTHING_TO_CHECK for key in _keys(sentence)):
        return
    entailed = _is_entailed(sentence, found)
    for citation in sentence.citations:
        if not entailed or len(sentence.citations) == 1:
            yield entailed
            continue
        entails = _full(found, citation_key(sentence, citation))
        suffices = _full(found, (sentence.index, None, _without(citation)))
        if entails or suffices is False:
            yield True
        else:
            yield None if None in (entails, suffices) else False


def _keys(sentence: Sentence) -> tuple[CitationKey, ...]:
    """Return the keys of the judgments on a sentence as a whole."""
    alone = (citation_key(sentence, c) for c in sentence.citations[:1])
    return (*alone, (sentence.index, None, TOGETHER))


def _full(found: Mapping[CitationKey, Judgment], key: CitationKey) -> bool | None:
    label = label_at(found, key)
    return None if label is None else label == FULL


def best_or_worst_together(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment as the best or the worst that it could have been.

    That the rest without a citation suffices is the worst for that citation.
    """
    rest = judgment.doc_id is None and (judgment.citation or "").startswith(WITHOUT)
    return best_or_worst(judgment, best != rest)

"""ALCE's view of citations: together, each by itself, and the rest without it.

Source: Gao et al., Enabling Large Language Models to Generate Text with Citations (EMNLP 2023,
arXiv 2305.14627), section 3. Entailed means `full_support`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trecjudge import (
    FULL,
    NOTHING_TO_CHECK,
    Citation,
    Document,
    Item,
    Judgment,
    Response,
    Sentence,
    Topic,
    best_or_worst,
    citation_item,
)

from .weighing import CitationKey, by_citation, citation_key, label_at, mean

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

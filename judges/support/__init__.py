"""Citation support as the TREC RAG track scores it, and as ALCE and Auto-ARGUE would."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from trecjudge import (
    Citation,
    Document,
    Item,
    Judgment,
    LeaderboardSpec,
    Model,
    Program,
    Response,
    Sentence,
    Topic,
    judgment_of,
)
from trecjudge.judging.attest import Attesting, best_or_worst, citation_item
from trecjudge.judging.judge import judge_or_fail
from trecjudge.measures import expected_weight, share_measure
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, PARTIAL

from ..citation import ATTEST, ATTEST_GROUP, sentence_support

# The track's precision and recall: which citations of a sentence are assessed, and their weights.
AssessedCitations = Literal["first", "all", "best"]
CitationKey = tuple[int | None, str | None, str | None]
"""(sentence_index, doc_id, citation as written): one judgment of a response."""

WEIGHTED: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.5, NONE: 0.0}
HARD: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.0, NONE: 0.0}


@dataclass(frozen=True, slots=True)
class SupportJudge(Attesting):
    """How well sentences are supported by what they cite (TREC RAG track's support evaluation).

    `citations` is which citations of a sentence are assessed: the strongest (`first`), all of
    them, or all with the best one counting. `compat` adds Auto-ARGUE's measures (`argue`), or asks
    ALCE's questions and takes its measures in place of the track's (`alce`).
    """

    citations: AssessedCitations = "first"
    compat: Literal["none", "alce", "argue"] = "none"
    # The citation judge's own programs: an equal question of both judges is one model call.
    programs: ClassVar[tuple[Program, ...]] = (ATTEST, ATTEST_GROUP)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by WEIGHTED_PRECISION; with `alce` ALCE's, ranked by its recall."""
        if self.compat == "alce":
            return LeaderboardSpec(ALCE, sort_by="ALCE_RECALL", fill=best_or_worst_together)
        weighted, hard = Weighing(self.citations, WEIGHTED), Weighing(self.citations, HARD)
        expected = Weighing(self.citations, WEIGHTED, expected=True)
        columns = (
            share_measure(
                "WEIGHTED_PRECISION",
                weighted.precision,
                "Mean support of the assessed citations: 1 for full_support, 0.5 for"
                " partial_support, 0 for no_support.",
            ),
            share_measure(
                "WEIGHTED_RECALL",
                weighted.recall,
                "Mean support over all sentences: 1 for full_support, 0.5 for partial_support, 0"
                " for no_support or no citation.",
            ),
            share_measure(
                "HARD_PRECISION",
                hard.precision,
                "Share of the assessed citations that fully support their sentence.",
            ),
            share_measure(
                "HARD_RECALL",
                hard.recall,
                "Share of all sentences that a cited document fully supports.",
            ),
            share_measure(
                "EXPECTED_PRECISION",
                expected.precision,
                "WEIGHTED_PRECISION with the support that a person would be expected to find in"
                " place of labels.",
                expected_of="WEIGHTED_PRECISION",
            ),
            share_measure(
                "EXPECTED_RECALL",
                expected.recall,
                "WEIGHTED_RECALL with the support that a person would be expected to find in place"
                " of labels.",
                expected_of="WEIGHTED_RECALL",
            ),
        )
        more = ARGUE if self.compat == "argue" else ()
        return LeaderboardSpec((*columns, *more), sort_by="WEIGHTED_PRECISION", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield what the measures need: with `alce` cited sentences, else citations."""
        only_strongest = self.citations == "first" and self.compat == "none"
        for sentence in response.sentences:
            if not sentence.citations:
                continue
            if self.compat == "alce":
                yield cited_together(topic, response, sentence)
                continue
            for citation in (strongest(sentence),) if only_strongest else sentence.citations:
                yield citation_item(topic, response, sentence, citation)

    async def judge(  # type: ignore[override]  # a judge may return a list, its base never does
        self, item: Item, model: Model
    ) -> Judgment | list[Judgment]:
        """Return full, partial or no support; of citations together, all that ALCE's rules need."""
        if not isinstance(item, Together) or item.exists is False:
            return drop_grade(item, await Attesting.judge(self, item, model))
        whole = drop_grade(item, await self._attempt(item, model))
        if whole.failure is not None:
            # Its citations are listed as unjudged too, so that the bounds know of them.
            return [whole, *(judgment_of(each, failure=whole.failure) for each in item.parts)]
        if whole.label != FULL:
            return [whole]
        return [whole, *await self._each(item, model)]

    def group_of(self, item: Item) -> str | None:
        """Return the document that a model would be asked about; None for several together."""
        return None if isinstance(item, Together) else Attesting.group_of(self, item)

    async def _each(self, item: Together, model: Model) -> list[Judgment]:
        """Judge each citation by itself and, where it does not suffice, the rest without it."""
        found = []
        for each in item.parts:
            found.append(await self._attempt(each, model))
            if found[-1].label != FULL:
                rest = leave_out(item, each)
                found.append(drop_grade(rest, await self._attempt(rest, model)))
        return found

    async def _attempt(self, item: Item, model: Model) -> Judgment:
        return await judge_or_fail(item, Attesting.judge(self, item, model))


def drop_grade(item: Item, judgment: Judgment) -> Judgment:
    """Return the judgment, without a grade for qrels if it is on several documents."""
    return replace(judgment, grade=None) if isinstance(item, Together) else judgment


# Precision and recall of the track as in Thakur et al., Support Evaluation for the TREC 2024 RAG
# Track (arXiv 2504.15205).
@dataclass(frozen=True, slots=True)
class Weighing:
    """Precision and recall of the citations that `rule` selects; w is the weight of a label.

    `expected`: w is the weight that a person would give on average.
    """

    rule: AssessedCitations
    weights: Mapping[str, float]
    expected: bool = False

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
        judged = (found.get(citation_key(sentence, citation)) for citation in wanted)
        weights = [
            None if one is None or one.label is None else self._weight(one, one.label)
            for one in judged
            if one is None or one.label != NOTHING_TO_CHECK
        ]
        if not weights:
            return []
        return [self._best(weights)] if self.rule == "best" else weights

    def _weight(self, judgment: Judgment, label: str) -> float:
        return expected_weight(judgment, self.weights) if self.expected else self.weights[label]

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


# ALCE's view of citations: Gao et al., Enabling Large Language Models to Generate Text with
# Citations (EMNLP 2023, arXiv 2305.14627), section 3. Entailed means `full_support`.
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


def leave_out(item: Together, left_out: Item) -> Together:
    """Return the sentence with all its documents but one."""
    assert left_out.citation is not None
    rest = tuple(each for each in item.parts if each is not left_out)
    return _together(rest, _name_without(left_out.citation))


def _name_without(citation: Citation) -> str:
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
        suffices = _full(found, (sentence.index, None, _name_without(citation)))
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


ALCE = (
    share_measure(
        "ALCE_RECALL",
        alce_recall,
        "Share of all sentences that their cited documents, taken together, fully support.",
    ),
    share_measure(
        "ALCE_PRECISION",
        alce_precision,
        "Share of the citations that are needed: they support the sentence themselves, or the"
        " others do not suffice without them.",
    ),
)
ARGUE = (
    share_measure(
        "ARGUE_CITATION_SUPPORT",
        Weighing("all", HARD).precision,
        "Share of all citations that fully support their sentence.",
    ),
    share_measure(
        "ARGUE_SENTENCE_SUPPORT",
        sentence_support,
        "Share of the sentences with citations in which every citation fully supports the"
        " sentence.",
    ),
)

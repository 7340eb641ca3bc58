"""Judging citations by attestation: the base of judges that ask whether a document supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from trecjudge.errors import JudgmentFailed
from trecjudge.inputs.labels.vocabulary import SUPPORT, support_label
from trecjudge.judging.attest.attesters import (
    HOLLOW,
    Attestation,
    CitationAttesterName,
    ModelAttester,
    attester_for,
    citation_not_read,
    known_in_part,
    require_text,
)
from trecjudge.judging.judge import unjudged
from trecjudge.models.model import Model, Program
from trecjudge.records import (
    FULL,
    GRADES,
    NONE,
    PARTIAL,
    Citation,
    Item,
    Judgment,
    Response,
    Sentence,
    Topic,
    judgment_of,
)
from trecjudge.settings.fields import ranged


@dataclass(frozen=True, slots=True)
class Attesting:
    """A judge of citations: every citation of every sentence is attested by its document or not.

    `attester` is `lexical`, `strict` (full support or none, by words), `llm`, or `auto`: the model
    where one is used, else lexical. `group` sentences of a response that cite one document are put
    to the model in one request.
    `calibration` is a file of `calibrate` for the lexical attester. `programs` are the questions
    for one sentence and for a group.
    """

    attester: CitationAttesterName = "auto"
    group: int = ranged(1, 1)
    calibration: str = ""
    programs: ClassVar[tuple[Program, ...]] = ()
    label_names: ClassVar[Sequence[str]] = SUPPORT
    needs: ClassVar[tuple[str, ...]] = ("document_text",)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.attester == "llm"

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield one item for each citation of each sentence."""
        for sentence in response.sentences:
            for citation in sentence.citations:
                yield citation_item(topic, response, sentence, citation)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return full, partial or no support.

        A document that is not there supports nothing, nor does one that the run itself carries
        without text; where nobody gave text, raises JudgmentFailed: that is no fault of
        the system.
        """
        if item.citation is not None and item.citation.unread:
            raise citation_not_read(item.citation)
        # In this order: what the run itself did is decided before anything can be unjudged.
        if item.exists is False:
            return _unsupported_judgment(item, "no such document")
        require_text(item.document)
        assert item.document is not None
        if item.document.hollow:
            return _unsupported_judgment(item, HOLLOW)
        if not item.has_text:
            return _unsupported_judgment(item, "the sentence has no text")
        attester = attester_for(self.attester, model, self.programs[0], self.calibration)
        return _attestation_judgment(item, await attester.attest(item.text, item.document))

    def group_of(self, item: Item) -> str | None:
        """Return the document that a model would be asked about, or None."""
        asked = item.document is not None and item.document.has_text and item.has_text
        return item.document.doc_id if item.document and asked else None

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Put several sentences on one document to the model; singly where that fails."""
        attester = attester_for(self.attester, model, self.programs[0], self.calibration)
        document = items[0].document
        if isinstance(attester, ModelAttester) and document is not None:
            sentences = [item.text for item in items]
            try:
                found = await attester.attest_group(self.programs[1], sentences, document)
                return [_attestation_judgment(*pair) for pair in zip(items, found, strict=True)]
            except JudgmentFailed as failed:
                # One sentence may get a reply that can be read; an outage is the same for all.
                if failed.kind not in ("parse", "cut"):
                    raise
        return [await self.judge(item, model) for item in items]

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that somebody else's label makes.

        Raises JudgmentFailed for what is no label of support.
        """
        known = support_label(label)
        if known is None:
            raise JudgmentFailed("parse", f"label {label!r} is none of full, partial, none")
        return judgment_of(item, label=known, grade=GRADES[known], attester="given")


def citation_item(topic: Topic, response: Response, sentence: Sentence, citation: Citation) -> Item:
    """Return a citation as an item, with its document where that is there."""
    document = response.documents.get(citation.doc_id) if citation.doc_id else None
    return Item(
        topic=topic,
        run_id=response.run_id,
        text=sentence.text,
        sentence_index=sentence.index,
        citation=citation,
        document=document,
        exists=None if citation.unread else response.has(citation.doc_id),
    )


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment with the best or the worst label that it could have had."""
    exists = best if judgment.exists is None else judgment.exists
    label = FULL if best else NONE
    return replace(judgment, label=label, grade=GRADES[label], exists=exists, failure=None)


def _attestation_judgment(item: Item, found: Attestation) -> Judgment:
    """Return the judgment; what a part of a document does not say in full is unjudged."""
    if item.document and not item.document.complete and found.label in (NONE, PARTIAL):
        return replace(unjudged(item, known_in_part(item.document)), usage=found.usage)
    return judgment_of(
        item,
        label=found.label,
        grade=GRADES.get(found.label),
        expected=found.expected,
        reason=found.reason,
        evidence=found.evidence,
        attester=found.attester,
        usage=found.usage,
    )


def _unsupported_judgment(item: Item, reason: str) -> Judgment:
    return judgment_of(item, label=NONE, grade=GRADES[NONE], reason=reason)

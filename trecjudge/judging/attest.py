"""Attestation: whether a document supports a sentence, by words or by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final, Literal, Protocol, TypeVar

from trecjudge.errors import JudgmentFailed, PluginError, WorkflowError
from trecjudge.findings import brief
from trecjudge.inputs.labels.vocabulary import SUPPORT, support_label
from trecjudge.judging.judge import asks_model, unjudged
from trecjudge.judging.offline.prepared import prepared_text, scripts_of
from trecjudge.judging.offline.support import calibration_at, compare
from trecjudge.models.model import Model, Program
from trecjudge.records import (
    FULL,
    GRADES,
    NONE,
    NOTHING_SPENT,
    NOTHING_TO_CHECK,
    PARTIAL,
    Citation,
    Document,
    Evidence,
    Item,
    Judgment,
    Response,
    Sentence,
    Topic,
    Usage,
    judgment_of,
)
from trecjudge.settings.fields import check_ranges, ranged
from trecjudge.text.embeddings import ENCODER_EXTRA, Encoder, encoder
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.sentences import states_nothing
from trecjudge.text.tokens import comparable, scripts

Found = TypeVar("Found")

# Attesters: whether a document supports a sentence, by words or by a model, one protocol.
NO_TEXT: Final = "no_document_text"
CITATION_NOT_READ: Final = "citation_not_read"
NOT_READ: Final = "not_read"
EXCERPT_CUT: Final = "excerpt_cut"
_FEW = 3
"""Ids that a message lists."""
STRICT_CUT: Final = 0.5
"""P(fully supported) from which `strict` says so; best are 0.35 on TREC's labels, 0.55 on WiCE."""
_STATES_NOTHING = "the sentence states nothing that a document could support"
HOLLOW: Final = "the run carries this document without text"
"""Why such a document supports nothing."""

AttesterName = Literal["auto", "lexical", "llm"]
CitationAttesterName = Literal["auto", "lexical", "strict", "encoder", "llm"]
"""`strict` is the lexical attester that asks only whether a sentence is fully supported, `encoder`
the one that also asks a small sentence encoder."""


@dataclass(frozen=True, slots=True)
class Attestation:
    """The label of one (sentence, document) pair, why, and the passage that shows it.

    `expected` is the weight (1 full, 0.5 partial, 0 none) to be expected of a person, `p_full` is
    P(full), both 0 to 1, where the attester has them. Where it has no calibration for the language
    that is `uncalibrated`: there `expected` is None, and `p_full` only orders. `missing` are the
    content words of the sentence that the document lacks, where words were compared.
    """

    label: str
    reason: str
    attester: str
    evidence: Evidence | None = None
    usage: Usage = NOTHING_SPENT
    expected: float | None = None
    p_full: float | None = None
    uncalibrated: str = ""
    missing: tuple[str, ...] = ()


class Attester(Protocol):
    """Decides whether a document supports a sentence. Raises JudgmentFailed where it cannot."""

    async def attest(self, sentence: str, document: Document) -> Attestation:
        """Return full, partial or no support of `sentence` by `document`."""


@dataclass(frozen=True, slots=True)
class LexicalAttester:
    """Word overlap, calibrated on human labels: see `judging/offline`. No model, no network.

    `calibration` is a file that `calibrate` wrote; without one the package's own is used. `strict`:
    full support or none, by P(full). With an `encoder` meaning counts beside words.
    """

    calibration: str = ""
    strict: bool = False
    encoder: Encoder | None = None

    async def attest(self, sentence: str, document: Document) -> Attestation:
        """Return the label. Raises JudgmentFailed if the two are in different scripts.

        A sentence that states nothing has a label of its own: no document could support it.
        """
        if states_nothing(sentence):
            return Attestation(NOTHING_TO_CHECK, _STATES_NOTHING, "lexical")
        text = document.full_text
        require_shared_script("sentence", scripts(sentence), "document", scripts_of(text))
        found = _compare_cached(sentence, text, self.calibration, self.encoder)
        return _strictly(found) if self.strict else found


# The judges of one pass ask the same about a response one after another: it is compared once.
@lru_cache(maxsize=1024)
def _compare_cached(
    sentence: str, text: str, calibration: str, encoder: Encoder | None
) -> Attestation:
    found = compare(sentence, prepared_text(text), calibration_at(calibration), encoder)
    evidence = evidence_at(text, found.start, found.end)
    return Attestation(
        *(found.label, found.reason, "encoder" if encoder else "lexical", evidence),
        expected=found.expected,
        p_full=found.p_full,
        uncalibrated=found.uncalibrated,
        missing=found.missing,
    )


def _strictly(given: Attestation) -> Attestation:
    """Return full support or none: whether P(full) reaches the cut."""
    full = given.p_full or 0.0
    if given.label == (label := FULL if full >= STRICT_CUT else NONE):
        return replace(given, attester="strict")
    chance = "" if given.uncalibrated else f"; P(fully supported) is {full:.2f}"
    return replace(given, label=label, reason=f"{given.reason}{chance}", attester="strict")


def require_shared_script(
    what: str, ours: frozenset[str], other: str, theirs: frozenset[str]
) -> None:
    """Raise JudgmentFailed if two texts, called `what` and `other`, share none of their scripts.

    A text without letters is in no script and can be compared with any.
    """
    if comparable(ours, theirs):
        return
    ours_named, theirs_named = (" and ".join(sorted(found)) for found in (ours, theirs))
    message = (
        f"the {what} is in {ours_named}, the {other} in {theirs_named}:"
        " words cannot be compared, a model can (--use-env-llm)"
    )
    raise JudgmentFailed("script", message)


def text_missing(*doc_ids: str) -> JudgmentFailed:
    """Return the failure of what depends on documents without text; without ids none was given."""
    few = ", ".join(doc_ids[:_FEW])
    what = f"no text of {len(doc_ids)} documents ({few})" if doc_ids else "no text of any document"
    if len(doc_ids) == 1:
        what = f"no text of document {few}"
    return JudgmentFailed(NO_TEXT, f"{what}; supply it with --documents")


def citation_not_read(citation: Citation) -> JudgmentFailed:
    """Return the failure of a citation of which the reader does not know what it means."""
    return JudgmentFailed(CITATION_NOT_READ, f"{brief(citation.value)}: {citation.unread}")


def known_in_part(*documents: Document) -> JudgmentFailed:
    """Return the failure of what documents that are not complete do not say."""
    unread = [document for document in documents if not document.has_text]
    few = ", ".join([document.doc_id for document in unread or documents][:_FEW])
    if unread:
        what_to_do = "name its field `text`" if unread[0].own else "the job's findings say why"
        return JudgmentFailed(NOT_READ, f"the text of {few} could not be read; {what_to_do}")
    return JudgmentFailed(EXCERPT_CUT, f"the excerpt of {few} is cut, and the rest may say it")


def require_text(document: Document | None) -> None:
    """Raise JudgmentFailed if there is no text of a document, and that is not the run's doing."""
    if document is not None and not (document.complete or document.has_text):
        raise known_in_part(document)
    if document is None or not (document.has_text or document.hollow):
        raise text_missing(*([document.doc_id] if document else []))


@dataclass(frozen=True, slots=True)
class ModelAttester:
    """Asks a model. `program` has inputs `document`, `sentence`; outputs `label`, `evidence`."""

    model: Model
    program: Program

    async def attest(self, sentence: str, document: Document) -> Attestation:
        """Return the label that the model gives, with its quote where the document has it."""
        text = document.full_text
        prediction = await self.model.predict(self.program, document=text, sentence=sentence)
        fields = prediction.fields
        return _by_model(text, fields["label"], fields["evidence"], prediction.call.usage)

    async def attest_group(
        self, program: Program, sentences: list[str], document: Document
    ) -> list[Attestation]:
        """Return an attestation for each sentence by one request; the first has its cost.

        `program` has inputs `document`, `sentences`; output `verdicts`, each with `label` and
        `evidence`.
        """
        text = document.full_text
        prediction = await self.model.predict(program, document=text, sentences=sentences)
        usages = [prediction.call.usage, *(NOTHING_SPENT for _ in sentences[1:])]
        verdicts = zip(prediction.fields["verdicts"], usages, strict=True)
        return [_by_model(text, v.label, v.evidence, usage) for v, usage in verdicts]


def _by_model(text: str, label: str, quote: str, usage: Usage) -> Attestation:
    """Return the model's label, with its quote where the document has it."""
    evidence = find_quote(text, quote)
    lost = quote.strip() and evidence is None
    reason = "the model's quote is not in the document" if lost else ""
    return Attestation(label, reason, "llm", evidence, usage)


def attester_for(
    name: CitationAttesterName, model: Model, program: Program, calibration: str = ""
) -> Attester:
    """Return the attester of that name; `auto` takes the model where there is one."""
    if name == "strict":
        return LexicalAttester(calibration, strict=True)
    if name == "encoder":
        return LexicalAttester(encoder=required_encoder())
    if asks_model(name, model):
        return ModelAttester(model, program)
    return LexicalAttester(calibration)


def require_extra(found: Found | None, setting: str, extra: str) -> Found:
    """Return what an extra brings. Raises PluginError where it is not installed."""
    if found is None:
        raise PluginError(f"`{setting}` needs an extra: pip install 'trecjudge[{extra}]'")
    return found


def required_encoder() -> Encoder:
    """Return the encoder. Raises PluginError where the extra is not installed."""
    return require_extra(encoder(), "encoder", ENCODER_EXTRA)


def evidence_at(text: str, start: int, end: int) -> Evidence | None:
    """Return the passage `text[start:end]` as evidence; None if it is empty."""
    return Evidence(start, end, text[start:end]) if end > start else None


def find_quote(text: str, quote: str) -> Evidence | None:
    """Return where `quote` stands in `text`, as evidence with the text's own words."""
    span = find_quote_span(text, quote)
    return evidence_at(text, *span) if span else None


# Judging citations by attestation: the base of judges that ask whether a document supports.
@dataclass(frozen=True, slots=True)
class Attesting:
    """A judge of citations: every citation of every sentence is attested by its document or not.

    `attester` is `lexical`, `strict` (full support or none, by words), `encoder` (by words and a
    small sentence encoder), `llm`, or `auto`: the model where one is used, else lexical. `group`
    sentences of a response that cite one document are put to the model in one request.
    `calibration` is a file of `calibrate` for the lexical attester. `programs` are the questions
    for one sentence and for a group.
    """

    attester: CitationAttesterName = "auto"
    group: int = ranged(1, 1)
    calibration: str = ""
    programs: ClassVar[tuple[Program, ...]] = ()
    label_names: ClassVar[Sequence[str]] = SUPPORT
    needs: ClassVar[tuple[str, ...]] = ("document_text",)

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.attester == "encoder":
            if self.calibration:
                rule = "the weights of `encoder` are for the package's own calibration"
                raise WorkflowError(f"calibration is {self.calibration}: {rule}; leave one out")
            required_encoder()

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


def citation_item(
    topic: Topic,
    response: Response,
    sentence: Sentence,
    citation: Citation,
    contradicts: bool = False,
) -> Item:
    """Return a citation as an item, with its document where that is there.

    `contradicts` is whether the sentence cites it as contradicting.
    """
    document = response.documents.get(citation.doc_id) if citation.doc_id else None
    return Item(
        topic=topic,
        run_id=response.run_id,
        text=sentence.text,
        sentence_index=sentence.index,
        citation=citation,
        document=document,
        exists=None if citation.unread else response.has(citation.doc_id),
        contradicts=contradicts,
    )


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment with the best or the worst label that it could have had."""
    exists = best if judgment.exists is None else judgment.exists
    label = FULL if best else NONE
    return replace(
        judgment,
        label=label,
        grade=GRADES[label],
        exists=exists,
        failure=None,
        expected=None,
        p_full=None,
    )


def _attestation_judgment(item: Item, found: Attestation) -> Judgment:
    """Return the judgment; what a part of a document does not say in full is unjudged."""
    if item.document and not item.document.complete and found.label in (NONE, PARTIAL):
        return replace(unjudged(item, known_in_part(item.document)), usage=found.usage)
    return judgment_of(
        item,
        label=found.label,
        grade=GRADES.get(found.label),
        expected=found.expected,
        p_full=None if found.uncalibrated else found.p_full,
        uncalibrated=found.uncalibrated,
        reason=found.reason,
        evidence=found.evidence,
        attester=found.attester,
        missing=found.missing,
        usage=found.usage,
    )


def _unsupported_judgment(item: Item, reason: str) -> Judgment:
    return judgment_of(item, label=NONE, grade=GRADES[NONE], reason=reason)

"""The base of judges that check claims, with their rates and the documents' facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

from trecjudge.errors import PLANNED, JudgmentFailed, WorkflowError
from trecjudge.judging.attest import require_extra, require_text
from trecjudge.judging.claims.by_model import ATTRIBUTE, Cascade, Detector, ModelDetector
from trecjudge.judging.claims.by_words import LexicalDetector, SemanticDetector
from trecjudge.judging.claims.search import ATTRIBUTED, CONTRADICTED, Library, Verdict
from trecjudge.judging.claims.statements import (
    SPLIT,
    Extractor,
    abstains,
    bare,
    claims_by_model,
    claims_by_rules,
    no_claim,
)
from trecjudge.judging.judge import asks_model, await_all, judge_or_fail, unjudged
from trecjudge.measures import Fill, expected_weight
from trecjudge.models.model import Model, Program
from trecjudge.records import (
    ABSTAINED,
    Claim,
    Document,
    Evidence,
    Fact,
    Item,
    Judgment,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.settings.fields import check_ranges, ranged
from trecjudge.text.embeddings import EXTRA, Embedder, embedder
from trecjudge.text.sentences import sentence_spans


# The facts of a document: what it states, by rules, and whether a response states it too.
def facts_of(document: Document) -> tuple[Fact, ...]:
    """Return the facts of a document, to its end: its sentences that claim something."""
    return _facts(document.text, len(document.full_text) - len(document.text))


@lru_cache(maxsize=1024)
def _facts(text: str, offset: int) -> tuple[Fact, ...]:
    """Return the facts of a text that begins at `offset` of its document's full text."""
    return tuple(
        Fact(bare(text[start:end]), start + offset, end + offset)
        for start, end in sentence_spans(text)
        if no_claim(text[start:end]) is None
    )


def facts_found(
    document: Document,
    response: Response,
    detector: LexicalDetector,
    quoted: Sequence[Evidence] = (),
) -> list[Fact]:
    """Return the facts of a document, each with whether the response states it.

    `quoted` are passages of the document that a model gave as the source of what the response
    states: a fact of which they have at least half is stated. Others are looked for by `detector`.
    """
    stated = Library([Document("", response.text)]) if response.has_text else Library([])
    return [
        replace(fact, found=_is_quoted(fact, quoted) or detector.states(fact.text, stated))
        for fact in facts_of(document)
    ]


def _is_quoted(fact: Fact, quoted: Sequence[Evidence]) -> bool:
    """Return whether one of the passages has at least half of a fact."""
    shared = (min(fact.end, one.end) - max(fact.start, one.start) for one in quoted)
    return any(2 * common >= fact.end - fact.start for common in shared)


# Rates over the judged claims of a response, for the measures of several judges.
UNKNOWN = {True: Claim(-1, "", 0, ("",)), False: Claim(-1, "", 0)}
"""Stands for the unknown claims of a response: at their best (True) and at their worst."""

Weight = Callable[[Claim], float]
Rate = Callable[[Response, Sequence[Judgment]], float | None]


def is_silent(response: Response, judgments: Sequence[Judgment]) -> bool:
    """Return whether a judged response has no text, and does not say that it abstains."""
    if response.has_text or not judgments:
        return False
    return all(judgment.label != ABSTAINED for judgment in judgments)


def complement(share: Rate) -> Rate:
    """Return the measure: 1 - another one, and not defined where that is not."""

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the rest, 0 to 1; None where the share is not defined."""
        value = share(response, judgments)
        return None if value is None else 1 - value

    return computed


def rate(
    labels: Collection[str],
    weight: Weight = lambda claim: 1.0,
    empty: float | None = 0.0,
) -> Rate:
    """Return the measure: the weight of the claims with such a label / that of all judged ones.

    `empty` is the value of a response that is silent, which is as good as none.
    """

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the share, 0 to 1; None where no claim is judged."""
        if is_silent(response, judgments):
            return empty
        judged = [(j.label, weight(j.claim)) for j in judgments if j.claim and j.judged]
        whole = sum(weight for _, weight in judged)
        return sum(weight for label, weight in judged if label in labels) / whole if whole else None

    return computed


EXPECTED = (
    "Support that a person would be expected to find, averaged over the claims: 1 for full, 0.5 for"
    " in part."
)


def expected_rate(weights: Mapping[str, float]) -> Rate:
    """Return the measure: the mean weight to be expected of the judged claims, 0 to 1.

    A claim without calibrated probabilities counts what its label does in `weights`, else 0. A
    response that is silent has 0.
    """

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the mean; None where no claim is judged."""
        if is_silent(response, judgments):
            return 0.0
        found = [expected_weight(j, weights) for j in judgments if j.claim and j.judged]
        return math.fsum(found) / len(found) if found else None

    return computed


def filling(best: str, worst: str) -> Fill:
    """Return what gives an unjudged claim its best or worst label.

    A response whose claims are not known counts as one claim.
    """

    def best_or_worst(judgment: Judgment, is_best: bool) -> Judgment:
        claim = judgment.claim or UNKNOWN[is_best]
        return replace(judgment, claim=claim, label=best if is_best else worst, failure=None)

    return best_or_worst


# Judging claims: the base of judges that check the claims of a response against documents.
DetectorName = Literal["auto", "lexical", "semantic", "llm"]
ANSWERED, NO_CLAIMS = "ANSWERED", "NO_CLAIMS"


@dataclass(frozen=True, slots=True)
class ClaimJudging:
    """A judge of claims: each claim of a response is checked against all of its documents.

    `claims` is what finds them: `rules`, `llm`, or `auto`: the model where one is used.
    `detector` is `lexical`, `semantic`, `llm`, or `auto`: the model where one is used, else
    lexical; `cascade` is a list of detectors in its place, each of which leaves what it is not
    sure of to the next. The lexical one asks the calibrated attester, by the weights of the file
    `calibration` or the package's own; with `overlap` it asks for more than this share of a claim's
    weight in one passage instead. `similarity` is what the semantic one asks for; `characters` and
    `rounds` what a model reads at a time, and how often. Passages for it are looked for by words
    and, where the extra `semantic` is installed, by meaning.
    """

    claims: Extractor = "auto"
    detector: DetectorName = "auto"
    cascade: list[DetectorName] = field(default_factory=list)
    overlap: float | None = ranged(None, 0.0, 1.0)
    similarity: float = ranged(0.85, 0.0, 1.0)
    characters: int = ranged(8000, 500)
    rounds: int = ranged(3, 1)
    calibration: str = ""
    programs: ClassVar[tuple[Program, ...]] = (SPLIT, ATTRIBUTE)
    needs: ClassVar[tuple[str, ...]] = ("document_text",)

    def __post_init__(self) -> None:
        check_ranges(self)
        repeated = len(set(self.cascade)) < len(self.cascade)
        if repeated or "auto" in self.cascade or "llm" in self.cascade[:-1]:
            rule = "name lexical, semantic, llm at most once each, llm last"
            raise WorkflowError(f"cascade is {', '.join(self.cascade)}: {rule}")
        if "semantic" in (self.detector, *self.cascade):
            required_embedder()

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return "llm" in (self.claims, self.detector, *self.cascade)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on each claim; one on the response where it makes none."""
        assert isinstance(item, WholeResponse)
        claims = await self.claims_of(item.response, model)
        if not claims:
            return [_without_claims(item)]
        # After the claims: without document text each of them is listed as unjudged.
        try:
            library = Library.of(item.response)
        except JudgmentFailed as failed:
            return [replace(unjudged(item, failed), **on_claim(claim)) for claim in claims]
        return await self.judge_claims(item, claims, library, model)

    async def judge_claims(
        self, item: WholeResponse, claims: Sequence[Claim], library: Library, model: Model
    ) -> list[Judgment]:
        """Return a judgment on each claim, in order."""
        detector = self.detector_for(model)

        async def decide(claim: Claim) -> Judgment:
            verdict = await detector.verdict(claim.text, library.of_claim(claim))
            return judgment_on(item, claim, verdict)

        work = [judge_or_fail(item, decide(claim), **on_claim(claim)) for claim in claims]
        return await await_all(work, model)

    async def claims_of(self, response: Response, model: Model) -> list[Claim]:
        """Return the claims of a response. Raises JudgmentFailed if the model gives none."""
        if not response.documents_given or not asks_model(self.claims, model):
            return claims_by_rules(response)  # nothing is paid for where nothing can be judged
        try:
            return await claims_by_model(response, model)
        except JudgmentFailed as failed:
            if failed.kind != PLANNED:
                raise
            return claims_by_rules(response)  # about as many: for a plan

    def detector_for(self, model: Model) -> Detector:
        """Return the detector of the settings."""
        last = self._detector((self.cascade or [self.detector])[-1], model)
        cheap = self.before_the_last()  # the last decides everything: a single one needs no cascade
        return Cascade(cheap, last) if cheap else last

    def before_the_last(self) -> list[LexicalDetector]:
        """Return the detectors of the cascade before its last one."""
        return [self._offline(name) for name in self.cascade[:-1]]

    def _detector(self, name: DetectorName, model: Model) -> Detector:
        if not asks_model(name, model):
            return self._offline(name)
        return ModelDetector(
            model, characters=self.characters, rounds=self.rounds, embedder=embedder()
        )

    def _offline(self, name: DetectorName) -> LexicalDetector:
        if name == "semantic":
            return SemanticDetector(self.similarity, embedder=required_embedder())
        return self.by_words()

    def without_model(self, model: Model) -> LexicalDetector:
        """Return the detector for what no model is asked: that of the settings, else by words."""
        name = (self.cascade or [self.detector])[-1]
        return self.by_words() if asks_model(name, model) else self._offline(name)

    def by_words(self) -> LexicalDetector:
        """Return the lexical detector of the settings."""
        return LexicalDetector(self.overlap, calibration=self.calibration)


def _without_claims(item: WholeResponse) -> Judgment:
    """Return the judgment on a response that claims nothing: whether it declines to answer.

    It does where its words or its system say so. That it is not said is no proof against words.
    """
    if abstains(item.response.text, agreed=True):
        return judgment_of(item, label=ABSTAINED, reason="it makes no claim")
    if item.response.abstained:
        return judgment_of(item, label=ABSTAINED, reason="it makes no claim, and says it abstains")
    return judgment_of(item, label=NO_CLAIMS, reason="it makes no claim")


def judgment_on(item: Item, claim: Claim, verdict: Verdict) -> Judgment:
    """Return the judgment that a verdict makes; documents that decide it are its evidence."""
    decides = verdict.label in (ATTRIBUTED, CONTRADICTED) and bool(verdict.sources)
    source = verdict.sources[0] if decides else None
    return judgment_of(
        item,
        label=verdict.label,
        reason=verdict.reason,
        doc_id=source.doc_id if source else None,
        evidence=source.evidence if source else None,
        attester=verdict.detector,
        match=verdict.match,
        sources=verdict.sources,
        usage=verdict.usage,
        expected=verdict.expected,
        confidence=verdict.confidence,
        uncalibrated=verdict.uncalibrated,
        **on_claim(claim),
    )


def without_text(item: Item, document: Document) -> Judgment | None:
    """Return the unjudged judgment on a document of which nobody gave text; else None."""
    try:
        require_text(document)
    except JudgmentFailed as failed:
        return replace(unjudged(item, failed), doc_id=document.doc_id)
    return None


def on_claim(claim: Claim) -> dict[str, Any]:
    """Return the fields of a judgment that name its claim."""
    return {"claim": claim, "sentence_index": claim.sentence_index}


def required_embedder() -> Embedder:
    """Return the embedder. Raises PluginError where the extra is not installed."""
    return require_extra(embedder(), "semantic", EXTRA)

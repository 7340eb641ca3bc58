"""Evidence search: passages most likely to hold a claim; verdicts with sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal

from trecjudge.errors import JudgmentFailed
from trecjudge.judging.attest import known_in_part, text_missing
from trecjudge.judging.offline.prepared import (
    LENGTH,
    Prepared,
    best_passage,
    passage_weights,
    prepared_text,
    scripts_of,
)
from trecjudge.judging.offline.support import (
    Calibration,
    SupportComparison,
    compare,
    compare_if_full,
)
from trecjudge.judging.offline.wording import weighted_forms
from trecjudge.records import NOTHING_SPENT, Claim, Document, Evidence, Response, Source, Usage
from trecjudge.text.embeddings import Embedder
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.tokens import comparable, scripts

# Evidence search: passages of a response's documents that are most likely to hold a claim.
_LIKELY_OVERLAP = 0.3
_LIKELY_COSINE = 0.6
"""A passage above either is read before a claim is called unattributed."""
_UNCOMPARED = 24
"""Segments in a part of a document that words cannot be looked for in."""
# A document that has less of a claim cannot hold it; of these the nearest few are compared, to
# find the most that may be said for it.
_HOLDS_FROM = 0.4
NEAREST = 3
"""Documents that are compared in any case, and passages listed that do not hold a claim."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document: character offsets into its full text, and how like a claim it is.

    `overlap` is the share of the claim's weight that it has, 0 to 1; `cosine` that of their
    embeddings, None where those are not looked at. `support` is that of the claim by the whole
    document, None where that is not asked.
    """

    document: Document
    start: int
    end: int
    overlap: float
    cosine: float | None = None
    support: SupportComparison | None = None

    @property
    def text(self) -> str:
        """The passage itself."""
        return self.document.full_text[self.start : self.end]

    @property
    def likeness(self) -> float:
        """The better of overlap and cosine: what passages are ranked by."""
        return max(self.overlap, self.cosine or 0.0)

    @property
    def likely(self) -> bool:
        """Whether it may hold the claim, and must be read before that is unattributed."""
        return self.overlap >= _LIKELY_OVERLAP or (self.cosine or 0.0) >= _LIKELY_COSINE

    @property
    def source(self) -> Source:
        """The passage with what is known of its document."""
        d = self.document
        similarity = round(self.likeness if self.cosine is None else self.cosine, 4)
        return source_of(d, Evidence(self.start, self.end, self.text), similarity)


def _evidence(document: Document, support: SupportComparison) -> Passage | None:
    """Return the passage that a comparison found; None where it found nothing."""
    if support.end <= support.start:
        return None
    share = min(1.0, support.share)
    return Passage(document, support.start, support.end, share, support=support)


def by_support(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages whose support is known, the best supported first."""
    return sorted(passages, key=lambda p: -(p.support.score if p.support else 0.0))


def source_of(document: Document, evidence: Evidence, similarity: float | None = None) -> Source:
    """Return where evidence stands, with what is known of its document."""
    return Source(
        document.doc_id,
        evidence.start,
        evidence.end,
        evidence.quote,
        similarity,
        title=document.title,
        url=document.url,
        date=document.date,
        version=document.version,
    )


@dataclass(frozen=True, slots=True)
class Library:
    """The documents of a response. With an `embedder` they are searched by meaning too.

    `unread` are the ids of those without text, `hollow` of those that the run carries so. `cited`
    are the documents of the sentence that a claim is from, None where that is not known: only
    they may leave the claim open. Other documents that a run adds cannot keep a claim open.
    `in_part` are the documents that are not complete: they leave a claim open that cites nothing.
    `texts` are the full texts of the documents.
    """

    documents: Sequence[Document]
    unread: Sequence[str] = ()
    embedder: Embedder | None = None
    hollow: Sequence[str] = ()
    cited: Collection[str] | None = None
    in_part: Sequence[Document] = ()
    texts: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        # Once for all claims: to join titles and texts anew takes as long as to look into them.
        if not self.texts:
            object.__setattr__(self, "texts", [d.full_text for d in self.documents])

    @classmethod
    def of(cls, response: Response) -> Library:
        """Return the documents that a response is from.

        Raises JudgmentFailed where no document text was given at all.
        """
        if not response.documents_given:
            raise text_missing()
        every = response.sources.values()
        with_text = [document for document in every if document.has_text]
        hollow = [document.doc_id for document in every if document.hollow]
        unread = [d.doc_id for d in every if not (d.has_text or d.hollow)]
        if response.documents_lost:
            cited = response.cited_ids()
            unread += dict.fromkeys(i for i in cited if response.has(i) is None)
        in_part = [document for document in every if not document.complete]
        return cls(with_text, unread, hollow=hollow, in_part=in_part)

    def of_claim(self, claim: Claim) -> Library:
        """Return the same documents, with what the sentence of a claim cites."""
        return replace(self, cited=claim.cited)

    def by_meaning(self, embedder: Embedder | None) -> Library:
        """Return the same documents, searched by embeddings too; itself without an embedder."""
        return self if embedder is None else replace(self, embedder=embedder)

    def best(self, claim: str) -> list[Passage]:
        """Return the best passage of every document that has one, the most alike first."""
        found = [self._best_in(document, text, claim) for document, text in self._read(claim)]
        return sorted(filter(None, found), key=lambda p: -p.likeness)

    def compare_claim(
        self, claim: str, calibration: Calibration, known: Sequence[Passage] = ()
    ) -> list[Passage]:
        """Return the evidence for a claim in every document that may hold it, with its support.

        The best supported comes first. Documents that have too little of the claim to hold it are
        left out, but for the nearest. `known` is what `supports` has found before.
        """
        before = {id(passage.document): passage for passage in known}
        found = [
            before.get(id(document)) or _evidence(document, compare(claim, prepared, calibration))
            for document, prepared in self._likely(claim)
        ]
        return by_support(filter(None, found))

    def supports(
        self, claim: str, calibration: Calibration, nearest: int = NEAREST
    ) -> Iterator[Passage]:
        """Yield the evidence of every document that may support a claim in full, with its support.

        They come as they are found, from the document with most of the claim.
        """
        for document, prepared in self._likely(claim, nearest):
            support = compare_if_full(claim, prepared, calibration)
            if support and (found := _evidence(document, support)):
                yield found

    def _likely(self, claim: str, nearest: int = NEAREST) -> Iterator[tuple[Document, Prepared]]:
        """Yield the documents that have enough of a claim to be compared, the most first."""
        wanted = weighted_forms(claim)
        shares = []
        for document, text in self._read(claim):
            prepared = prepared_text(text)
            share = wanted.weight_in(prepared.segments_of) / wanted.total
            if nearest or share >= _HOLDS_FROM:
                shares.append((share, document, prepared))
        shares.sort(key=lambda found: -found[0])
        for place, (share, document, prepared) in enumerate(shares):
            if place < nearest or share >= _HOLDS_FROM:
                yield document, prepared

    def forms_of(self, claim: str) -> set[str]:
        """Return the forms of a claim that some document has."""
        wanted = set(weighted_forms(claim).forms)
        found: set[str] = set()
        for _, text in self._read(claim):
            found |= wanted.intersection(prepared_text(text).segments_of)
        return found

    def passages(self, claim: str) -> list[Passage]:
        """Return passages that do not overlap, of all documents to their ends, best first.

        Those that have nothing of the claim are left out, but for documents in another script,
        which words cannot be looked for in: all of these is likely, those that the sentence does
        not cite less than any passage that is.
        """
        readable = {id(document) for document in self.readable(claim)}
        found: list[Passage] = []
        for document in self.documents:
            if id(document) in readable:
                found += self._passages_in(document, claim)
            else:
                likely = 0.5 if self.bears_on(document.doc_id) else _LIKELY_OVERLAP
                spans = prepared_text(document.full_text).spans
                parts = (spans[i : i + _UNCOMPARED] for i in range(0, len(spans), _UNCOMPARED))
                found += [Passage(document, part[0][0], part[-1][1], likely) for part in parts]
        return sorted(found, key=lambda p: (-p.likeness, id(p.document) not in readable))

    def readable(self, claim: str) -> Iterator[Document]:
        """Yield the documents that share a script with the claim, or have no letters."""
        return (document for document, _ in self._read(claim))

    def _read(self, claim: str) -> Iterator[tuple[Document, str]]:
        """Yield these documents with their texts."""
        ours = scripts(claim)
        for document, text in zip(self.documents, self.texts, strict=True):
            if comparable(ours, scripts_of(text)):
                yield document, text

    def bears_on(self, doc_id: str) -> bool:
        """Return whether the claim is open while this document cannot be read."""
        return self.cited is None or doc_id in self.cited

    @property
    def missing(self) -> list[str]:
        """The documents whose text is missing for the claim: all, where no document has any."""
        return [i for i in self.unread if self.bears_on(i) or not self.documents]

    def must_be_read(self, claim: str, document: Document) -> bool:
        """Return whether a document must be read to its end before a claim is unattributed."""
        same = comparable(scripts(claim), scripts_of(document.full_text))
        return same or self.bears_on(document.doc_id)

    def require_read(self, claim: str) -> None:
        """Raise JudgmentFailed if a document that matters to a claim could not be read or compared.

        For a claim that was found nowhere: it may be in such a document.
        """
        self.require_text()
        readable = {id(document) for document in self.readable(claim)}
        foreign = [d for d in self.documents if id(d) not in readable and self.bears_on(d.doc_id)]
        if foreign:
            message = f"{len(foreign)} documents are in another script than the claim"
            raise JudgmentFailed("script", f"{message}: a model can read them (--use-env-llm)")

    @property
    def gap(self) -> JudgmentFailed | None:
        """Why a claim that was not found may be there: some text that matters to it is not."""
        alone = not (self.cited and self.documents)
        if in_part := [d for d in self.in_part if alone or self.bears_on(d.doc_id)]:
            return known_in_part(*in_part)
        return text_missing(*self.missing) if self.missing else None

    def require_text(self) -> None:
        """Raise JudgmentFailed if text that matters to the claim is missing."""
        if self.gap:
            raise self.gap

    def what_was_read(self, nothing: str) -> str:
        """Return the reason where no passage is near a claim, with the documents without text."""
        hollow = [doc_id for doc_id in self.hollow if self.bears_on(doc_id)]
        return f"{nothing}; carried without text: {', '.join(hollow[:3])}" if hollow else nothing

    def _best_in(self, document: Document, text: str, claim: str) -> Passage | None:
        # A meaning is in no index of words: every passage is compared.
        if self.embedder is not None:
            return max(self._passages_in(document, claim), key=lambda p: p.likeness, default=None)
        prepared = prepared_text(text)
        wanted = weighted_forms(claim)
        present = wanted.present_in(prepared.segments_of)
        if not present:
            return None
        best = best_passage(present, prepared)
        return Passage(document, best.start, best.end, min(1.0, best.weight / wanted.total))

    def _passages_in(self, document: Document, claim: str) -> Iterator[Passage]:
        """Yield the passages of a document that do not overlap, the most alike first."""
        prepared = prepared_text(document.full_text)
        wanted = weighted_forms(claim)
        total = wanted.total
        weights = passage_weights(wanted.present_in(prepared.segments_of), prepared)
        cosines = self._cosines(document, claim)
        likeness = [max(w / total, c) for w, c in zip(weights, cosines, strict=True)]
        taken: set[int] = set()
        for first in sorted(range(len(weights)), key=lambda i: (-likeness[i], i)):
            last = min(first + LENGTH, len(weights)) - 1
            if likeness[first] <= 0 or not taken.isdisjoint((first, last)):
                continue
            taken.update(range(first, last + 1))
            start, end = prepared.spans[first][0], prepared.spans[last][1]
            cosine = round(cosines[first], 6) if self.embedder is not None else None
            yield Passage(document, start, end, min(1.0, weights[first] / total), cosine)

    def _cosines(self, document: Document, claim: str) -> list[float]:
        """Return the cosine of the claim with each passage, or with a segment of it, if higher."""
        spans = prepared_text(document.full_text).spans
        if self.embedder is None:
            return [0.0] * len(spans)
        by_row = _vectors_of(self.embedder, document.full_text)
        found: list[float] = (by_row @ _vector_of(self.embedder, claim)).tolist()
        segments, passages = found[: len(spans)], found[len(spans) :]
        return [max(c, *segments[i : i + LENGTH]) for i, c in enumerate(passages)]


@lru_cache(maxsize=256)
def _vector_of(embedder: Embedder, claim: str) -> Any:
    return embedder.vectors([claim])[0]


@lru_cache(maxsize=1024)
def _vectors_of(embedder: Embedder, text: str) -> Any:
    """Return the vectors of a text's segments, then of its passages by their first segment."""
    spans = prepared_text(text).spans
    ends = [spans[min(i + LENGTH, len(spans)) - 1][1] for i in range(len(spans))]
    segments = [text[start:end] for start, end in spans]
    passages = [text[s[0] : end] for s, end in zip(spans, ends, strict=True)]
    return embedder.vectors([*segments, *passages])


# Verdicts on claims: attributed, unattributed, contradicted or ambiguous, with their sources.
ATTRIBUTED: Final = "ATTRIBUTED"
UNATTRIBUTED: Final = "UNATTRIBUTED"
CONTRADICTED: Final = "CONTRADICTED"
AMBIGUOUS: Final = "AMBIGUOUS"
Label = Literal["ATTRIBUTED", "UNATTRIBUTED", "CONTRADICTED", "AMBIGUOUS"]

EXACT: Final = "EXACT"
PARAPHRASE: Final = "PARAPHRASE"
INFERENCE: Final = "INFERENCE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision on a claim, why, and the passages behind it, the most important first.

    `expected` is the weight (1 full, 0.5 partial, 0 none) to be expected of a person, where the
    detector has calibrated probabilities, `confidence` P(`label`), None where a rule decided;
    `uncalibrated` is the language where it has none.
    """

    label: Label
    reason: str
    detector: str
    sources: tuple[Source, ...] = ()
    match: str = ""
    usage: Usage = NOTHING_SPENT
    expected: float | None = None
    uncalibrated: str = ""
    confidence: float | None = None


def sources_of(passages: Sequence[Passage]) -> tuple[Source, ...]:
    """Return the passages with what is known of their documents."""
    return tuple(passage.source for passage in passages)


def match_of(claim: str, sources: Sequence[Source]) -> str:
    """Return how a claim follows: word for word, from one passage, or from several documents."""
    bare = claim.rstrip(" .!。！")
    if any(find_quote_span(source.excerpt, bare) for source in sources):
        return EXACT
    return INFERENCE if len({source.doc_id for source in sources}) > 1 else PARAPHRASE


def locate_quote(quote: str, passages: Sequence[Passage]) -> Source | None:
    """Return where a quote stands: in the passages, else anywhere in their documents."""
    documents = {p.document.doc_id: p.document for p in passages}
    for passage in passages:
        if span := find_quote_span(passage.text, quote):
            start, end = passage.start + span[0], passage.start + span[1]
            text = passage.document.full_text
            evidence = Evidence(start, end, text[start:end])
            return source_of(passage.document, evidence, round(passage.likeness, 4))
    for document in documents.values():
        if span := find_quote_span(document.full_text, quote):
            return source_of(document, Evidence(*span, document.full_text[slice(*span)]))
    return None

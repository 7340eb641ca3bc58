"""The records of the field, frozen: readers return them, judges return judgments on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trecjudge.records.battles import Opponent
from trecjudge.records.nuggets import AskedNugget, GoldAnswer, Nugget
from trecjudge.records.signs import Sign
from trecjudge.text.visible import is_blank


@dataclass(frozen=True, slots=True)
class Vote:
    """The decision of one voter; `failure` says why there is none, as `kind: message`."""

    voter: str
    label: str | None = None
    grade: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ProvenanceLine:
    """Where one citation of one sentence is from.

    `sentence_index` counts from 0, as in judgments. `start` and `end` are offsets of `quote` in the
    title and text of the document. `document_digest` is the sha256 of that text when it was read;
    `document_version` is the document's own, where it has one. `time` is UTC, ISO 8601, no
    text where the line names none.
    """

    run_id: str
    topic_id: str
    sentence_index: int
    doc_id: str
    start: int
    end: int
    quote: str
    score: float
    rank: int
    retriever: str
    document_version: str
    document_digest: str
    index: str
    index_version: str
    time: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a judgment cost: not part of the judgment itself, since a repeated run costs less."""

    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    spared: int = 0
    """Questions to a model that a cheaper detector made unnecessary."""
    cost: float | None = None
    """What the tokens cost, where prices are known."""
    program: str = ""
    """The program whose reply it was."""


NOTHING_SPENT: Final = Usage()


def sum_usage(spent: Sequence[Usage], program: str) -> Usage:
    """Return what several calls took together; `cached` where no request was sent for any."""
    costs = [usage.cost for usage in spent if usage.cost is not None]
    return Usage(
        cached=all(usage.cached for usage in spent),
        prompt_tokens=sum(usage.prompt_tokens for usage in spent),
        completion_tokens=sum(usage.completion_tokens for usage in spent),
        seconds=sum(usage.seconds for usage in spent),
        cost=sum(costs) if costs else None,
        program=program,
    )


TokenChances = tuple[tuple[int, float], ...]
"""For each token of a text: the byte behind it, counted in UTF-8, and its log-probability, <= 0."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One exchange with a model, word for word, for the debug log.

    `usage.cached`: no request was sent for it. `shared`: this command sent an equal request, whose
    reply is used here too.
    """

    program: str
    messages: list[dict[str, Any]]
    reply: str
    usage: Usage
    tries: int = 1
    """How many requests for this reply counted as tries; 0 where nothing was asked."""
    error: str = ""
    reasoning: str = ""
    """The model's reasoning, where the endpoint gives it separately from the reply."""
    earlier: tuple[ModelCall, ...] = ()
    """The requests before it that gave no reply of use; some were paid for too."""
    source: str = ""
    """The cache that the reply came from, unless it is the job's own."""
    failure: str = ""
    """The kind of what went wrong, as in `errors.JudgmentFailed`; empty for a good reply."""
    cut: bool = False
    """Whether the reply was cut, and what it had before that is used."""
    turned_away: bool = False
    """Whether the endpoint had no time for the request: that is neither a call nor a try."""
    shared: bool = False
    number: int = 1
    """Which request for this reply it was, counted from 1; 0 where none was sent."""
    voter: str = ""
    """The voter that asked, where a judge has several."""
    logprobs: TokenChances = ()
    """Those of the reply, where they were asked for and given."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of a document: character offsets into `Document.full_text`, and the passage."""

    start: int
    end: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """An atomic statement of a response; `index` counts the response's claims from 0.

    `cited` are the ids of the documents that its sentence cites. `importance` is its weight: 1
    for what is vital to the answer, 0.5 for a detail, or what a file or a model says, >= 0; None
    where that is not known.
    """

    index: int
    text: str
    sentence_index: int
    cited: tuple[str, ...] = ()
    importance: float | None = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where something comes from: a passage of a document, and what is known of the document.

    `start` and `end` are character offsets into `Document.full_text`, `excerpt` the passage.
    `similarity` is how similar passage and claim are, 0 to 1, as the detector measures it.
    """

    doc_id: str
    start: int
    end: int
    excerpt: str = ""
    similarity: float | None = None
    title: str = ""
    url: str = ""
    date: str = ""
    version: str = ""

    @property
    def evidence(self) -> Evidence:
        """Only the passage."""
        return Evidence(self.start, self.end, self.excerpt)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a document: character offsets into `Document.full_text`, and its text.

    `found` is whether the response states it too; None where that was not asked.
    """

    text: str
    start: int
    end: int
    found: bool | None = None


__all__ = [
    "NOTHING_SPENT",
    "AskedNugget",
    "Claim",
    "Evidence",
    "Fact",
    "GoldAnswer",
    "ModelCall",
    "Nugget",
    "Opponent",
    "ProvenanceLine",
    "Sign",
    "Source",
    "Usage",
    "Vote",
]

FULL: Final = "full_support"
PARTIAL: Final = "partial_support"
NONE: Final = "no_support"
GRADES: Final[Mapping[str, int]] = {NONE: 0, PARTIAL: 1, FULL: 2}
"""The grades of the support labels in qrels."""
CONTRADICTED: Final = "contradicted"
NOT_CONTRADICTED: Final = "not_contradicted"
"""The labels of a citation of a document as contradicting its sentence; they have no grade."""
NOTHING_TO_CHECK: Final = "nothing_to_check"
"""The label of a citation whose sentence states nothing: it has no grade and is in no measure."""
BY_MODEL: Final = "llm"
"""The attester of what a model decided."""


LEFT_OUT: Final = "[left out: it holds document text]"

ABSTAINED: Final = "ABSTAINED"
"""The label of a response that declines to answer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was read: a file and, where it has one, a line counted from 1."""

    path: str
    line: int | None = None

    def __post_init__(self) -> None:
        if not self.path.isascii():  # a file name may not be UTF-8, but every output must be
            path = self.path.encode(errors="backslashreplace").decode()
            object.__setattr__(self, "path", path)

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need. `body` is the article that a DRAGUN topic asks about.

    `qrels` are given grades of documents, by doc_id; `nuggets` are what a good answer says. Each is
    None where none were given.
    """

    topic_id: str
    title: str = ""
    problem_statement: str = ""
    background: str = ""
    body: str = ""
    url: str = ""
    limit: int | None = None
    qrels: Mapping[str, int] | None = field(default=None, hash=False)
    nuggets: tuple[Nugget, ...] | None = None
    question: str = ""
    """Its kind of question, as the topic file names it."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document or segment that a citation can point to; `text` is empty where none is known.

    `url`, `date` and `version` are the document's own, as written; empty where it has none. `own`
    is whether the text is the one that the run itself carries. `complete` is False where only a
    part of its text is known, or none, and that is not the system's fault: an excerpt that is cut,
    or a text that could not be read. What it does not say is unjudged then.
    """

    doc_id: str
    text: str = ""
    title: str = ""
    url: str = ""
    date: str = ""
    version: str = ""
    own: bool = field(default=False, compare=False)
    complete: bool = True

    @property
    def has_text(self) -> bool:
        """Whether its text has a visible character; a title does not count."""
        return not is_blank(self.text)

    @property
    def hollow(self) -> bool:
        """Whether the run itself carries it without text: then it supports nothing.

        A document from elsewhere that has no text is not the run's fault.
        """
        return self.own and self.complete and not self.has_text

    @property
    def full_text(self) -> str:
        """The title, where there is one, on a line of its own before the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation of a sentence, resolved by the reader.

    `doc_id` is None where the value as written (`value`) can mean no document at all, such as an
    index out of range. `score` is the strength that the system gave it, where it gave one. `unread`
    is why the reader does not know what it means; empty where it does. Such a citation is unjudged.
    """

    doc_id: str | None
    value: str
    score: float | None = None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a response; `index` counts from 0 and is the position in the file's list.

    `text` is what is judged. `written` is how the response has it, with the marks of its citations
    and its layout; empty where that is the same. `contradicting` are citations of documents that,
    so the response says, contradict the sentence: they are among no `citations`, which support it.
    """

    index: int
    text: str
    citations: tuple[Citation, ...] = ()
    written: str = ""
    contradicting: tuple[Citation, ...] = ()

    @property
    def shown(self) -> str:
        """The sentence as a person is shown it: as written."""
        return self.written or self.text

    @property
    def has_text(self) -> bool:
        """Whether its text has a visible character."""
        return not is_blank(self.text)


@dataclass(frozen=True, slots=True)
class Response:
    """The response of one run on one topic.

    `documents` holds the documents that it cites, refers to or carries, as far as they are there,
    in that order. A cited id that is not among them is the system's fault, with three exceptions.
    Without `documents_given`, nothing could supply documents. With `documents_lost`, some of those
    given beside the runs could not be read or have no known id. With `documents_unnamed`, no
    document that the response carries has an id. `signs` are known once it is judged;
    `provenance` is what the run says of its sentences' origin, unverified.

    `background` is what was said before, where the response is one of several of a conversation.
    `sample` names it among several responses to one topic; empty for the only, or the first one.
    `retrieved` are the ids of what its system retrieved, the best first; None where that is not
    known. `retrieved_documents` have the passages of them that a file beside the run has; they are
    not among `documents`, since only retrieval is judged by them. `abstained` is whether its system
    says that it declined to answer; None where it does not say. `said` holds what else the system
    says of its answer, such as its own confidence.
    """

    run_id: str
    topic_id: str
    sentences: tuple[Sentence, ...]
    team_id: str = ""
    references: tuple[str, ...] = ()
    documents: Mapping[str, Document] = field(default_factory=dict)
    documents_given: bool = True
    documents_lost: bool = False
    documents_unnamed: bool = False
    place: Place = Place("")
    signs: Mapping[str, Sign] = field(default_factory=dict)
    provenance: tuple[ProvenanceLine, ...] = ()
    background: str = ""
    sample: str = ""
    retrieved: tuple[str, ...] | None = None
    retrieved_documents: Mapping[str, Document] = field(default_factory=dict, compare=False)
    abstained: bool | None = None
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def topic_asked(self) -> str:
        """The topic that it answers: of a further sample, its id without the sample's name."""
        return self.topic_id.removesuffix(f"~{self.sample}") if self.sample else self.topic_id

    def as_sample(self, name: str) -> Response:
        """Return it, as it was read, with the id of a further sample; without a name as the first.

        Everything that is kept by run and topic keeps samples apart by it.
        """
        return replace(
            self, topic_id=f"{self.topic_id}~{name}" if name else self.topic_id, sample=name
        )

    @property
    def text(self) -> str:
        """All sentences, joined by single spaces."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def shown(self) -> str:
        """All sentences as written, joined by single spaces."""
        return " ".join(sentence.shown for sentence in self.sentences)

    @property
    def has_text(self) -> bool:
        """Whether one of its sentences has a visible character."""
        return any(sentence.has_text for sentence in self.sentences)

    def cited_ids(self) -> Iterator[str]:
        """Yield the id of each citation that names a document, as often as it is cited."""
        for sentence in self.sentences:
            yield from (c.doc_id for c in sentence.citations if c.doc_id is not None)

    def named_ids(self) -> Iterator[str]:
        """Yield the same, and then the ids of documents that are said to contradict a sentence."""
        yield from self.cited_ids()
        for sentence in self.sentences:
            yield from (c.doc_id for c in sentence.contradicting if c.doc_id is not None)

    @property
    def sources(self) -> Mapping[str, Document]:
        """The documents, but those that it only says to contradict one of its sentences."""
        if not any(sentence.contradicting for sentence in self.sentences):
            return self.documents
        against = set(self.named_ids()).difference(self.cited_ids(), self.references)
        return {i: document for i, document in self.documents.items() if i not in against}

    def has(self, doc_id: str | None) -> bool | None:
        """Return whether a cited document is there; None where that cannot be known."""
        if doc_id is None or doc_id in self.documents:
            return doc_id is not None
        # Never conflate "not there" with "not known": only the first is the system's fault.
        unknown = not self.documents_given or self.documents_lost or self.documents_unnamed
        return None if unknown else False


@dataclass(frozen=True, slots=True)
class Item:
    """What is judged at a time: a text, its topic and, where there is one, the document.

    `exists` is whether the cited document is there; None where that is unknown or no document is
    involved. `opponent` is the other side of a battle. `contradicts` is whether it is cited as
    contradicting the text.
    """

    topic: Topic
    run_id: str
    text: str
    sentence_index: int | None = None
    citation: Citation | None = None
    document: Document | None = None
    exists: bool | None = None
    opponent: Opponent | None = None
    contradicts: bool = False

    @property
    def has_text(self) -> bool:
        """Whether the text to judge has a visible character."""
        return not is_blank(self.text)


@dataclass(frozen=True, slots=True)
class WholeResponse(Item):
    """A response as one item, for a judge that looks at all of it at once."""

    response: Response = field(kw_only=True)

    @classmethod
    def of(cls, topic: Topic, response: Response) -> WholeResponse:
        """Return a response, with its topic, as an item."""
        return cls(topic, response.run_id, response.text, response=response)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an item is unjudged; kinds as in `errors.JudgmentFailed`."""

    kind: str
    message: str
    tries: int = 0
    program: str = field(default="", compare=False)
    """The program whose call failed, if one did; only the log has it."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's decision on one item; where the item is unjudged, `failure` is the reason.

    `label` is None where unjudged, `grade` is the integer grade for qrels, `value` a number for
    judges that measure rather than grade. `expected` is the weight (1 full, 0.5 partial, 0 none)
    that a person would give on average, where an attester has calibrated probabilities; `p_full` of
    a citation is P(full), so that P(partial) = 2 (expected - p_full) may count another weight.
    `confidence` of a claim is P(`label`), calibrated too; None where a model or a rule decided.
    `uncalibrated` is the language where an attester that has some has none. `judge` is the name of
    the judge, set where judgments are read back from their file. `contradicts` is whether it is on
    a citation of a document as contradicting the sentence, which no measure of support counts.

    A judgment on a claim has the `claim`. Its `sources` are the passages that the claim was
    compared with, the strongest evidence first. Its `match` is how the claim follows from them:
    EXACT, PARAPHRASE, INFERENCE. A judgment on a document may have its `facts`. One on a nugget has
    the `nugget`; without a document, its `evidence` is the passage of `Response.text` that states
    it.
    """

    run_id: str
    topic_id: str
    sentence_index: int | None = None
    doc_id: str | None = None
    citation: str | None = None
    exists: bool | None = None
    label: str | None = None
    grade: int | None = None
    value: float | None = None
    reason: str = ""
    evidence: Evidence | None = None
    attester: str = ""
    judge: str = ""
    failure: Failure | None = None
    claim: Claim | None = None
    match: str = ""
    sources: tuple[Source, ...] = ()
    facts: tuple[Fact, ...] = ()
    expected: float | None = None
    p_full: float | None = None
    confidence: float | None = None
    uncalibrated: str = ""
    nugget: AskedNugget | None = None
    votes: tuple[Vote, ...] = ()
    """What each voter said, where several made it."""
    question: str = ""
    """The kind of question of the topic, of a judgment on what the topic asks for."""
    missing: tuple[str, ...] = ()
    """Words of the sentence, or of the topic, that were looked for and not found."""
    opponent: Opponent | None = None
    """What the response was compared with, of a judgment on a battle."""
    contradicts: bool = False
    usage: Usage = field(default=Usage(), compare=False)

    @property
    def judged(self) -> bool:
        """Whether the judge decided; False is our failure, never the system's."""
        return self.failure is None

    @property
    def weighed(self) -> bool | None:
        """Whether words decided an item of support, so that its weight is known: `expected`.

        Of what a model, voters or people decided only the label is known: False. None is neither:
        unjudged, no item of support, or decided by a rule, such as that no document is no support.
        """
        of_support = self.claim is not None or self.citation is not None
        if not (of_support and self.attester and self.judged) or self.contradicts:
            return None
        if self.label == NOTHING_TO_CHECK:
            return None
        return self.expected is not None and self.attester != BY_MODEL and not self.votes

    @property
    def about(self) -> str:
        """The text of the claim, or of the nugget and its answer, that it is on; else empty."""
        if self.claim is not None:
            return self.claim.text
        return "" if self.nugget is None else f"{self.nugget.text} {self.nugget.answer}".strip()

    @property
    def identity(self) -> str:
        """What distinguishes it from others on its sentence and document: its claim or nugget.

        Nuggets are compared by id, since judges may word the same one in different ways.
        """
        return self.about if self.nugget is None else self.nugget.key


def judgment_of(item: Item, **decision: Any) -> Judgment:
    """Return the judgment that `decision` (fields of Judgment) makes on `item`."""
    citation = item.citation
    decision.setdefault("exists", item.exists)
    decision.setdefault("contradicts", item.contradicts)
    decision.setdefault("sentence_index", item.sentence_index)
    decision.setdefault("doc_id", citation.doc_id if citation else None)
    decision.setdefault("opponent", item.opponent)
    return Judgment(
        run_id=item.run_id,
        topic_id=item.topic.topic_id,
        citation=citation.value if citation else None,
        **decision,
    )

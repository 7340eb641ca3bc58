"""Answers as records of runs: one function for each shape, one entry for each track."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.baseline.masking import mask_personal_data
from trecjudge.baseline.records import Answer, AnswerSentence, Chunk, Support
from trecjudge.check.outcome import length, longest
from trecjudge.check.rules import LengthRule, Track, track_named
from trecjudge.errors import InputError, unknown
from trecjudge.records import Topic

Record = dict[str, Any]
NEUCLIR = ("neuclir/1/zho", "neuclir/1/rus", "neuclir/1/fas")
"""The collections of NeuCLIR 2024; a topic does not say which of them it is about."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What all records of a run say: who made it, its name, and how it was made, in a sentence.

    `document` looks up a whole document by id, where the records shall carry what they cite. Its
    provenance names the index, and the time (UTC) if there is one. With `mask` no file of the run
    has personal data of a known form.
    """

    run_id: str
    team_id: str
    description: str
    document: Callable[[str], Chunk | None] | None = None
    index: str = ""
    time: str = ""
    mask: bool = False

    def hide(self, text: str) -> str:
        """Return a text as a file of the run may have it."""
        return mask_personal_data(text).text if self.mask else text


@dataclass(frozen=True, slots=True)
class RunFormat:
    """A format of runs: the track whose rules it keeps, and what makes a record of an answer."""

    track_name: str
    make: Callable[[Answer, RunFacts], Record]

    @property
    def track(self) -> Track:
        """The rules of its track."""
        return track_named(self.track_name)

    def check(self, facts: RunFacts) -> None:
        """Raise InputError for a run_id that the track would refuse."""
        most = self.track.run_id.maximum
        if not facts.run_id.strip() or (most is not None and len(facts.run_id) > most):
            bound = "" if most is None else f", at most {most}"
            raise InputError(f"--run-id {facts.run_id!r}: {len(facts.run_id)} characters{bound}")

    def record(self, answer: Answer, facts: RunFacts) -> Record:
        """Return the record of an answer; with the documents that it cites, if they are wanted.

        One that declines says so: without it, it would be as good as one that was left out.
        """
        record = self.make(answer, facts)
        if answer.abstained and answer.failure is None:
            record["abstained"] = True
        if facts.document is not None:
            found = {doc_id: facts.document(doc_id) for doc_id in references(answer)}
            record["documents"] = {d: document_record(chunk) for d, chunk in found.items() if chunk}
        return record


def format_for(name: str) -> RunFormat:
    """Return a format by the name of its track, or by the short name of the newest one.

    Raises InputError with the choices.
    """
    found = FORMATS.get(NEWEST.get(name, name))
    if found is None:
        raise InputError(unknown("format", name, [*FORMATS, *NEWEST]))
    return found


def references(answer: Answer) -> list[str]:
    """Return the documents that an answer cites, each once, in the order of its citations."""
    return list(dict.fromkeys(doc_id for s in answer.sentences for doc_id in cited_by(s)))


def cited_by(sentence: AnswerSentence) -> list[str]:
    """Return the documents that a sentence cites, the strongest first."""
    return [support.passage.chunk.doc_id for support in sentence.support]


def document_record(chunk: Chunk) -> Record:
    """Return a whole document as a run, or a file of documents, has it."""
    title = chunk.document.title
    text = chunk.text.removeprefix(f"{title}\n") if title else chunk.text
    return {"docid": chunk.doc_id, "title": title, "text": text}


def _by_index(answer: Answer) -> list[Record]:
    places = {doc_id: place for place, doc_id in enumerate(references(answer))}
    return [
        {"text": s.text, "citations": [places[doc_id] for doc_id in cited_by(s)]}
        for s in answer.sentences
    ]


def _by_id(answer: Answer) -> list[Record]:
    return [{"text": s.text, "citations": cited_by(s)} for s in answer.sentences]


def _rag24(answer: Answer, facts: RunFacts) -> Record:
    entries, rule = _by_index(answer), track_named("rag24").length
    return {
        "run_id": facts.run_id,
        "topic_id": answer.topic.topic_id,
        "topic": answer.topic.title,
        "references": references(answer),
        "response_length": length(entries, rule) if rule else 0,
        "answer": entries,
    }


def _rag25(answer: Answer, facts: RunFacts) -> Record:
    described = {"prompt": facts.description, "run_desc": facts.description}
    metadata = {"team_id": facts.team_id, "run_id": facts.run_id, "type": "automatic"}
    return _of_narrative(answer, metadata | _narrative(answer) | described)


def _rag26(answer: Answer, facts: RunFacts) -> Record:
    # Further keys are refused.
    last = {"run_id": facts.run_id, "run_desc": facts.description}
    return _of_narrative(answer, {"team_id": facts.team_id} | _narrative(answer) | last)


def _narrative(answer: Answer) -> Record:
    return {"narrative_id": answer.topic.topic_id, "narrative": answer.topic.title}


def _of_narrative(answer: Answer, metadata: Record) -> Record:
    return {"metadata": metadata, "references": references(answer), "answer": _by_index(answer)}


def _ragtime(described_as: str) -> Callable[[Answer, RunFacts], Record]:
    def record(answer: Answer, facts: RunFacts) -> Record:
        metadata = {**_names(answer, facts), described_as: facts.description}
        cited = {"responses": _by_id(answer), "references": references(answer)}
        return {"metadata": metadata} | cited

    return record


def _names(answer: Answer, facts: RunFacts) -> Record:
    names = {"team_id": facts.team_id, "run_id": facts.run_id}
    return names | {"topic_id": answer.topic.topic_id}


def _dragun(answer: Answer, facts: RunFacts) -> Record:
    # Further keys are refused, so only the run's name can say how it was made.
    metadata = {**_names(answer, facts), "type": "automatic", "use_starter_kit": 0}
    return {"metadata": metadata, "responses": _by_id(answer)}


def _neuclir(answer: Answer, facts: RunFacts) -> Record:
    return {
        "request_id": answer.topic.topic_id,
        "run_id": facts.run_id,
        "collection_ids": list(NEUCLIR),
        "sentences": _by_id(answer),
    }


def _biogen(answer: Answer, facts: RunFacts) -> Record:
    # A record without citations would pass for one of RAGTIME 2026, if it had a `run_desc`.
    metadata = {**_names(answer, facts), "description": facts.description}
    return {"metadata": metadata, "responses": _by_id(answer)}


def _ikat(answer: Answer, facts: RunFacts) -> Record:
    scores: dict[str, float] = {}
    for sentence in answer.sentences:
        for one in sentence.support:
            scores.setdefault(one.passage.chunk.doc_id, one.passage.score)
    responses = [
        {"text": s.text, "citations": {d: scores[d] for d in cited_by(s)}, "ptkb_provenance": []}
        for s in answer.sentences
    ]
    metadata = {"team_id": facts.team_id, "run_id": facts.run_id, "run_type": "automatic"}
    return {
        "metadata": metadata | {"run_desc": facts.description},
        "turn_id": answer.topic.topic_id,
        "references": scores,
        "responses": responses,
    }


_RECORDS: Mapping[str, Callable[[Answer, RunFacts], Record]] = {
    "rag24": _rag24,
    "rag25": _rag25,
    "rag26": _rag26,
    "longeval26": _rag25,
    # `run_desc` is what a record of 2026 is known by.
    "ragtime25": _ragtime("description"),
    "ragtime26": _ragtime("run_desc"),
    "dragun25": _dragun,
    "neuclir24": _neuclir,
    "biogen25": _biogen,
    "ikat25": _ikat,
}
FORMATS: Mapping[str, RunFormat] = {n: RunFormat(n, make) for n, make in _RECORDS.items()}
"""The formats by the name of their track."""
NEWEST: Mapping[str, str] = {name.rstrip("0123456789"): name for name in FORMATS}
"""The newest format of a track, by the name without a year: the last one above."""


# How much an answer may hold by the rules of its track: words or characters, citations.

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

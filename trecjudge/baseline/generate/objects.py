"""The answer to a topic as one object: answer, sources, confidence, grounded, abstained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trecjudge.baseline.generate.confidence import AnswerConfidence
from trecjudge.baseline.generate.formats import RunFacts, cited_by, document_record
from trecjudge.baseline.masking import mask_personal_data
from trecjudge.baseline.records import Answer, AnswerSentence, Support


def answer_object(answer: Answer, facts: RunFacts, mask: bool = False) -> dict[str, Any]:
    """Return an answer as one JSON object, which is read back as a record of a run.

    `answer` lists the sentences with the ids that they cite; `sources` the cited documents in the
    order of their citations, with the passage as `excerpt` (a part: `truncated`), or the whole
    text where the run carries documents. `confidence` is 0 to 1, and `confidence_from` says what
    of; both are None where that is not known. `grounded` is None where nothing is answered. With
    `mask` no excerpt has personal data of a known form.
    """
    found = AnswerConfidence.of(answer)
    sentences = [{"text": s.text, "citations": cited_by(s)} for s in answer.sentences]
    return {
        "run_id": facts.run_id,
        "topic_id": answer.topic.topic_id,
        "question": answer.topic.title,
        "answer": sentences or "",
        "sources": list(_sources(answer.sentences, facts, mask)),
        "confidence": found.value,
        "confidence_from": found.source,
        "grounded": found.grounded,
        "abstained": not answer.sentences,
    }


def _sources(
    sentences: Iterable[AnswerSentence], facts: RunFacts, mask: bool
) -> Iterable[dict[str, Any]]:
    first: dict[str, Support] = {}
    for one in (one for sentence in sentences for one in sentence.support):
        first.setdefault(one.passage.chunk.doc_id, one)
    for doc_id, one in first.items():
        chunk = one.passage.chunk
        about = chunk.document
        whole = facts.document(doc_id) if facts.document is not None else None
        excerpt = document_record(whole)["text"] if whole is not None else chunk.text
        source = {
            "id": doc_id,
            "title": about.title,
            "excerpt": mask_personal_data(excerpt).text if mask else excerpt,
            "truncated": whole is None,
            "url": about.url,
            "score": one.passage.score,
            "version": about.version,
            "time": about.date,
        }
        yield {name: value for name, value in source.items() if value not in ("", None)}

"""Judgments without the text of documents, for files that must not hold any."""

from __future__ import annotations

from dataclasses import replace

from trecjudge.records import LEFT_OUT, Judgment, Response


def without_text(judgment: Judgment) -> Judgment:
    """Return a judgment without the text of documents; the positions of passages are kept.

    Reasons of a model and messages on unreadable replies may quote a document: they are left out.
    """
    evidence, failure = judgment.evidence, judgment.failure
    if failure is not None and failure.kind == "parse" and failure.tries:
        failure = replace(failure, message=LEFT_OUT)
    return replace(
        judgment,
        reason=LEFT_OUT if judgment.attester == "llm" and judgment.reason else judgment.reason,
        evidence=replace(evidence, quote="") if evidence else None,
        failure=failure,
        sources=tuple(replace(source, excerpt="", title="") for source in judgment.sources),
        facts=tuple(replace(fact, text="") for fact in judgment.facts),
        votes=tuple(replace(v, failure=v.failure.partition(":")[0]) for v in judgment.votes),
    )


def without_quotes(response: Response) -> Response:
    """Return a response whose provenance has no text of documents; its positions are kept."""
    if not response.provenance:
        return response
    lines = (replace(line, quote="") for line in response.provenance)
    return replace(response, provenance=tuple(lines))

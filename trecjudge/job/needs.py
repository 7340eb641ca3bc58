"""What judges need and nobody gave, said before anything is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.collections.schemes.registry import usual_scheme
from trecjudge.job.job import JobInputs
from trecjudge.judging.judge import NEEDS, Need, needs_of
from trecjudge.judging.panel import Panel
from trecjudge.records import Place, Response, Topic
from trecjudge.text.visible import is_blank

MOST_READ = 200
"""Responses looked at for what they might carry themselves; the first one as a rule has it."""
FLAGS: Mapping[Need, str] = {
    "nuggets": "--nuggets",
    "topic_text": "--rag-topics",
    "document_text": "--documents",
}


def report_lacking(panel: Panel, inputs: JobInputs, report: OnFinding) -> None:
    """Report each need of the judges for which there is nothing at all, in one line.

    Where only some topics or documents lack it, their own findings say so.
    """
    if inputs.job.labels is not None:  # labels are given in place of judging
        return
    for need, lacks in LACKING.items():
        names = [named.name for named in panel if need in needs_of(named.judge)]
        if names and (why := lacks(inputs)):
            who = (
                f"judge {names[0]} needs" if len(names) == 1 else f"judges {', '.join(names)} need"
            )
            message = f"{who} {NEEDS[need]}: {why}; what depends on it will be unjudged"
            report(Finding("input_lacking", Place(FLAGS[need]), message))


def _lacks_nuggets(inputs: JobInputs) -> str:
    banks, topics = inputs.banks, inputs.topics
    if banks is None:
        return "none is given"
    if not topics or any(topic_id in banks for topic_id in topics):
        return ""
    first, other = next(iter(banks)), next(iter(topics))
    return f"those given are of other topics, such as {first!r}; asked for are such as {other!r}"


def _lacks_topics(inputs: JobInputs) -> str:
    if inputs.topics is not None:
        return "" if any(map(_has_text, inputs.topics.values())) else "the topics have none"
    found = (_has_text(topic) for topic, _ in _first(inputs))
    return "" if any(found) else "no topics are given, and the runs carry none"


def _lacks_documents(inputs: JobInputs) -> str:
    if inputs.store is not None:  # `check_documents` has looked at it
        return ""
    cited: list[str | None] = []
    for _, response in _first(inputs):
        if any(document.has_text or document.own for document in response.documents.values()):
            return ""
        cited += (c.doc_id for sentence in response.sentences for c in sentence.citations)
    if not cited:
        return ""
    scheme = usual_scheme(doc_id for doc_id in cited if doc_id is not None)
    advice = f"; these are ids of {scheme.NAME}: {scheme.HOW}" if scheme else ""
    return f"none are given, and the runs carry none{advice}"


LACKING: Mapping[Need, Callable[[JobInputs], str]] = {
    "nuggets": _lacks_nuggets,
    "topic_text": _lacks_topics,
    "document_text": _lacks_documents,
}
"""Why there is nothing at all of what a judge needs; empty where there is something."""


def _first(inputs: JobInputs) -> Iterable[tuple[Topic, Response]]:
    return islice(inputs.responses(), MOST_READ)


def _has_text(topic: Topic) -> bool:
    texts = (topic.title, topic.problem_statement, topic.background, topic.body)
    return not all(map(is_blank, texts))

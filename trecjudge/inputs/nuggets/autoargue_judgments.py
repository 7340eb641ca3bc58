"""Auto-ARGUE's judgments of a report: which cited documents attest which sentences, as labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.bank import Raw
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import FULL, NONE, Place
from trecjudge.records.nuggets import plain_name

CitationKey = tuple[str, str, int | None, str | None]
"""(topic_id, run_id, sentence_index, doc_id)."""
ATTESTED = "SENTENCE_ATTESTED"
"""The type of judgments that are labels; the others are on nuggets, which have no label each."""


def is_judged_report(record: Raw) -> bool:
    """Return whether a record is a report with the judgments on its sentences."""
    return isinstance(record.get("report"), dict) and isinstance(record.get("judgments"), list)


def read_attestations(
    record: Raw, place: Place, report: OnFinding
) -> Iterator[tuple[CitationKey, str]]:
    """Yield (key, label) of every citation that was judged; what cannot be used is reported.

    A sentence that is not judged, as where the judging failed, has no label.
    """
    judged: dict[str, Any] = record["report"]
    named = judged.get("metadata")
    ids = named if isinstance(named, dict) else judged
    topic_id, run_id = as_id(ids.get("topic_id")), as_id(ids.get("run_id"))
    if not (topic_id and run_id):
        message = "has judgments on a report, whose metadata needs topic_id and run_id"
        report(Finding("label_unusable", place, message, brief(ids)))
        return
    segments = [one for one in record["judgments"] if isinstance(one, dict)]
    for index, segment in _place_segments(segments, _sentences(judged)):
        for one in _judgments(segment):
            label, doc_id = _label(one), _document(one)
            if index is not None and label and doc_id:
                yield (topic_id, run_id, index, doc_id), label
                continue
            message = (
                "a sentence that the report does not have"
                if index is None
                else (f"a judgment {ATTESTED} without is_attested or doc_id")
            )
            report(Finding("label_unusable", place, message, brief(one), None, run_id, topic_id))


def _sentences(judged: Raw) -> list[str]:
    """Return the texts of a report's sentences, none where it does not have them."""
    given = judged.get("responses") or judged.get("answer") or ()
    return [_plain(one) for one in given if isinstance(one, dict)]


def _plain(sentence: Raw) -> str:
    return plain_name(as_text(sentence.get("text")) or "")


def _place_segments(
    segments: Sequence[Raw], sentences: Sequence[str]
) -> Iterator[tuple[int | None, Raw]]:
    """Yield each judged sentence with its place in the report; None for one that is not there."""
    start = 0
    for number, segment in enumerate(segments):
        if not sentences:
            yield number, segment
            continue
        text = _plain(segment)
        # By text, from the last one on: sentences that were not judged may be left out.
        index = next((i for i in range(start, len(sentences)) if sentences[i] == text), None)
        start = start if index is None else index + 1
        yield index, segment


def _judgments(segment: Raw) -> Iterator[Raw]:
    given = segment.get("judgments")
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and one.get("judgment_type_id") == ATTESTED:
            yield one


def _label(judgment: Raw) -> str | None:
    response = judgment.get("response")
    attested = response.get("is_attested") if isinstance(response, dict) else None
    return {True: FULL, False: NONE}.get(attested) if isinstance(attested, bool) else None


def _document(judgment: Raw) -> str | None:
    for name in ("provenance", "response"):
        held = judgment.get(name)
        if isinstance(held, dict) and (doc_id := as_id(held.get("doc_id"))):
            return doc_id
    return None

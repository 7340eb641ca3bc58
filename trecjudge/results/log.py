"""The debug log: one JSON object a line, for `jq .event`."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from copy import copy
from typing import Any, BinaryIO, Literal

import orjson
import structlog
from structlog.typing import FilteringBoundLogger

from trecjudge.findings import Finding
from trecjudge.records import (
    BY_MODEL,
    FULL,
    LEFT_OUT,
    NOTHING_TO_CHECK,
    Item,
    Judgment,
    ModelCall,
    Response,
)
from trecjudge.text.credentials import public, shareable

LogKind = Literal["full", "lean", "none"]
"""How much a job logs: all, not what its judgments file holds too, or nothing."""
FIRST = ("event", "timestamp")
"""The fields that stand first in each line."""
COST_DECIMALS = 12
"""Decimals of a cost: a token may cost a ten-millionth, and sums over a million calls be right."""


def _in_order(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Return an event with its name and time first, as a reader of raw lines expects."""
    return {key: event.pop(key) for key in FIRST} | dict(event)


class DebugLog:
    """Writes events to an open file; without `document_text` no text of a document gets into it.

    A `lean` log lacks what a judge was given and decided where it asked no model: that is in the
    judgments file.
    What an event is about is bound to its logger: the run, the topic, the judge and the place in
    the response stand in every event of a judged item.
    """

    def __init__(self, file: BinaryIO, document_text: bool = True, lean: bool = False) -> None:
        self._keep, self._lean = document_text, lean
        self._log: FilteringBoundLogger = structlog.wrap_logger(
            structlog.BytesLogger(file),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                _in_order,
                structlog.processors.JSONRenderer(serializer=orjson.dumps),
            ],
        ).bind()

    @property
    def of_audit(self) -> DebugLog:
        """The same log for items that are judged to try the judge: `audit` is in every event."""
        found = copy(self)
        found._lean = False  # no file has the judgments on these items
        found._log = self._log.bind(audit=True)
        return found

    def event(self, name: str, **fields: Any) -> None:
        """Write one event, without secrets."""
        self._log.info(name, **shareable(fields))

    def finding(self, finding: Finding) -> None:
        """Write a finding with its place and value."""
        message, value = finding.message, finding.value
        if not self._keep and finding.kind == "instruction_like_text":  # it may quote a document
            message = value = LEFT_OUT
        # Only what may hold a secret is looked at: a file may have a million of them.
        self._log.info(
            "FINDING",
            kind=finding.kind,
            place=shareable(str(finding.place)),
            message=shareable(message),
            value=shareable(value),
            sentence=finding.sentence,
            run_id=shareable(finding.run_id),
            topic_id=shareable(finding.topic_id),
            severity=finding.severity,
        )

    def log_uncited(self, response: Response) -> None:
        """Write an event for each sentence that cites nothing; no judge of citations has it.

        A lean log has none: the judgments file holds the responses.
        """
        if self._lean:
            return
        for sentence in response.sentences:
            if not sentence.citations and sentence.text.strip():
                self._log.info(
                    "UNCITED_SENTENCE",
                    run_id=response.run_id,
                    topic_id=response.topic_id,
                    sentence_index=sentence.index,
                    sentence=sentence.text,
                )

    def log_scores(self, scores: Iterable[tuple[str, str, str, float | None]]) -> None:
        """Write an event for each (run, topic, measure, value); a lean log has none."""
        for run_id, topic_id, measure, value in () if self._lean else scores:
            self._log.info(
                "RESPONSE_SCORE", run_id=run_id, topic_id=topic_id, measure=measure, value=value
            )

    def log_judgments(
        self,
        judge: str,
        item: Item,
        judgments: Sequence[Judgment],
        calls: Sequence[ModelCall],
        group: int = 1,
        shared: Sequence[ModelCall] = (),
        trace: str = "",
    ) -> None:
        """Write what a judge was given, the model calls it made, and what it decided.

        The judge's events begin with its name in capitals: `CITATION` for `citation` and for
        `mine:Citation`. Where one request is on a `group` of items, the first item has the calls,
        and the others give them as `shared`. `trace` is the traceback of a bug in the judge.
        """
        name = judge.rpartition(":")[2].upper()
        log = self._log.bind(
            run_id=item.run_id, topic_id=item.topic.topic_id, judge=judge, **_place(item)
        )
        told = not self._lean or bool(calls or shared or trace)
        if told:
            log.info(f"{name}_INPUT", **_text(item))
        for call in calls:
            self._call(log, call, group)
        sentence = {} if item.sentence_index is None else _text(item)
        programs = {call.program for call in shared or calls}
        program = programs.pop() if len(programs) == 1 else ""
        mate = {"shared": True} if shared else {}
        for judgment in judgments:
            of_one = log.bind(**_citation_fields(judgment))
            asked = _program(judgment, program)
            if told:
                decided = _output(judgment)
                of_one.info(f"{name}_OUTPUT", **asked, **mate, **sentence, **decided)
            if failure := judgment.failure:
                asked = {"program": failure.program} if failure.program else asked
                fields = {"kind": failure.kind, "message": failure.message, "tries": failure.tries}
                of_one.info("FAILURE", **asked, **fields)
        if trace:
            log.info("BUG", traceback=public(trace))

    def _call(self, log: FilteringBoundLogger, call: ModelCall, group: int) -> None:
        for earlier in call.earlier:
            self._call(log, earlier, group)
        messages, reply, usage = call.messages, call.reply, call.usage
        if not self._keep:
            messages = [message | {"content": LEFT_OUT} for message in messages]
            reply = LEFT_OUT
        thought = call.reasoning if self._keep or not call.reasoning else LEFT_OUT
        paid = (0, 0) if usage.cached else (usage.prompt_tokens, usage.completion_tokens)
        log.info(
            "MODEL_CALL",
            program=call.program,
            **({"voter": call.voter} if call.voter else {}),
            messages=messages,
            reply=reply,
            **({"reasoning": thought} if thought else {}),
            **{"try": call.number},
            cached=usage.cached,
            shared=call.shared,
            turned_away=call.turned_away,
            **({"source": call.source} if call.source else {}),
            **({"group": group} if group > 1 else {}),
            prompt_tokens=paid[0],
            completion_tokens=paid[1],
            tokens=sum(paid),
            cost=None if usage.cost is None else round(usage.cost, COST_DECIMALS),
            seconds=round(usage.seconds, 4),
            failure=call.failure or None,
            error=call.error if self._keep or not call.error else LEFT_OUT,
        )


def _program(judgment: Judgment, only: str) -> dict[str, str]:
    """Return the program behind a judgment, if known; `only` is the one that was asked, if one."""
    found = judgment.usage.program or ("" if judgment.attester not in ("", BY_MODEL) else only)
    return {"program": found} if found else {}


def _output(judgment: Judgment) -> dict[str, Any]:
    decided = judgment.judged and judgment.label != NOTHING_TO_CHECK
    supports = judgment.label == FULL if decided else None
    cited = {} if judgment.citation is None else {"citation_supports": supports}
    of_claim = {"claim": judgment.claim, "match": judgment.match} if judgment.claim else {}
    of_nugget = {"nugget": judgment.nugget} if judgment.nugget else {}
    chances = {n: getattr(judgment, n) for n in ("expected", "p_full", "confidence")}
    expected = {name: found for name, found in chances.items() if found is not None}
    votes = {"votes": judgment.votes} if judgment.votes else {}
    missing = {"missing": judgment.missing} if judgment.missing else {}
    return (
        cited
        | of_claim
        | of_nugget
        | expected
        | votes
        | missing
        | {
            "label": judgment.label,
            "grade": judgment.grade,
            "value": judgment.value,
            "reason": judgment.reason,
            "evidence": judgment.evidence,
            "sources": judgment.sources,
            "attester": judgment.attester,
        }
    )


def _citation_fields(judgment: Judgment) -> dict[str, Any]:
    """Return which citation a judgment is on: an item of several has one judgment on each."""
    if judgment.citation is None:
        return {}
    cited = judgment.doc_id or judgment.citation
    return {"citation_id": cited, "citation_exists": judgment.exists}


def _text(item: Item) -> dict[str, str]:
    """Return the text to judge, empty for a document: its id is in the event already."""
    if item.sentence_index is not None:
        return {"sentence": item.text}
    document = item.document
    is_document = document is not None and item.text in ("", document.text, document.full_text)
    return {} if is_document else {"text": item.text}


def _place(item: Item) -> dict[str, Any]:
    fields: dict[str, Any] = {"sentence_index": item.sentence_index}
    if item.citation is not None:
        fields["citation_id"] = item.citation.doc_id or item.citation.value
        fields["citation_exists"] = item.exists
    return fields

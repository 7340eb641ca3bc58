"""Judged responses into a job's files: the judgments, and the log of how they came about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.judging.copies import copies_in
from trecjudge.judging.runner import JudgedItem, JudgedResponse
from trecjudge.records import Judgment
from trecjudge.results.judgments import JudgmentsWriter
from trecjudge.results.log import DebugLog
from trecjudge.results.redaction import without_quotes, without_text


@dataclass(slots=True)
class Recording:
    """Writes judged responses; without `document_text` no file gets a quote of a document.

    `log` is None where a job has none. `spared` counts the questions to the model that cheaper
    detectors made needless.
    """

    log: DebugLog | None = None
    document_text: bool = True
    spared: int = 0

    def write(self, writer: JudgmentsWriter, judged: JudgedResponse) -> None:
        """Write a judged response to the log and to a judgments file."""
        judgments = []
        for entry in judged.items:
            shown = [self._shown(judgment) for judgment in entry.judgments]
            judgments += [(entry.named_judge.name, judgment) for judgment in shown]
            self.spared += sum(judgment.usage.spared for judgment in shown)
            self._log_item(self.log, entry, shown)
        response = replace(judged.response, copies=copies_in(judged.response))
        writer.response(response if self.document_text else without_quotes(response), judgments)

    def tried(self, judged: Iterable[JudgedResponse]) -> None:
        """Write to the log what was judged only to try the judge."""
        log = None if self.log is None else self.log.of_audit
        for entry in (entry for response in judged for entry in response.items):
            self._log_item(log, entry, map(self._shown, entry.judgments))

    def event(self, name: str, **fields: Any) -> None:
        """Write an event to the log."""
        if self.log is not None:
            self.log.event(name, **fields)

    def _log_item(self, log: DebugLog | None, entry: JudgedItem, shown: Iterable[Judgment]) -> None:
        if log is not None:
            name, more = entry.named_judge.name, (entry.group, entry.shared, entry.trace)
            log.judged(name, entry.item, list(shown), entry.calls, *more)

    def _shown(self, judgment: Judgment) -> Judgment:
        return judgment if self.document_text else without_text(judgment)

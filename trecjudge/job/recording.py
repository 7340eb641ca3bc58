"""Judged responses recorded in a job's files, and measured at once to find measures that fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from trecjudge.errors import PluginError
from trecjudge.job.request import Job
from trecjudge.judging.offline.signs import signs_in
from trecjudge.judging.runner import FIRST, JudgedItem, JudgedResponse, Stop
from trecjudge.measures import LeaderboardSpec
from trecjudge.records import Judgment
from trecjudge.results.judgments import JudgmentsWriter, without_quotes, without_text
from trecjudge.results.log import DebugLog
from trecjudge.scores.leaderboard import Leaderboard


@dataclass(slots=True)
class JudgmentRecorder:
    """Writes judged responses; without `document_text` no file gets a quote of a document.

    `lean`: the log leaves out what the judgments hold. `spared` counts the questions to the model
    that cheaper detectors made needless, `unjudged` the judgments without a label.
    """

    document_text: bool
    lean: bool
    log: DebugLog | None = None
    spared: int = 0
    unjudged: int = 0

    @classmethod
    def of(cls, job: Job) -> JudgmentRecorder:
        """Return what writes the judged responses of a job; it has no log yet."""
        return cls(job.document_text, lean=job.log == "lean")

    def log_to(self, file: BinaryIO) -> DebugLog:
        """Write the log to an open file from now on; return the log."""
        self.log = DebugLog(file, self.document_text, self.lean)
        return self.log

    def write(self, writer: JudgmentsWriter, judged: JudgedResponse) -> None:
        """Write a judged response to the log and to a judgments file."""
        judgments = []
        for entry in judged.items:
            shown = [self._redact(judgment) for judgment in entry.judgments]
            judgments += [(entry.named_judge.name, judgment) for judgment in shown]
            self.spared += sum(judgment.usage.spared for judgment in shown)
            self.unjudged += sum(not judgment.judged for judgment in shown)
            self._log_item(self.log, entry, shown)
        if self.log is not None:
            self.log.log_uncited(judged.response)
        title = judged.items[0].item.topic.title if judged.items else ""
        found = signs_in(judged.response, title, judged.judgments)
        response = replace(judged.response, signs=found)
        writer.response(response if self.document_text else without_quotes(response), judgments)

    def log_audit(self, judged: Iterable[JudgedResponse]) -> None:
        """Write to the log what was judged only to try the judge."""
        log = None if self.log is None else self.log.of_audit
        for entry in (entry for response in judged for entry in response.items):
            self._log_item(log, entry, map(self._redact, entry.judgments))

    def event(self, name: str, **fields: Any) -> None:
        """Write an event to the log."""
        if self.log is not None:
            self.log.event(name, **fields)

    def _log_item(self, log: DebugLog | None, entry: JudgedItem, shown: Iterable[Judgment]) -> None:
        if log is not None:
            name, more = entry.named_judge.name, (entry.group, entry.shared, entry.trace)
            log.log_judgments(name, entry.item, list(shown), entry.calls, *more)

    def _redact(self, judgment: Judgment) -> Judgment:
        return judgment if self.document_text else without_text(judgment)


@dataclass(slots=True)
class MeasureTrial:
    """Scores each response as soon as it is judged, and stops the job where a measure fails.

    Unless a model is paid for (`pays`), only the first few responses are tried.
    """

    spec: LeaderboardSpec
    stop: Stop
    pays: bool
    error: PluginError | None = None
    _tried: int = 0

    def add(self, judged: JudgedResponse) -> None:
        """Try all measures on a response."""
        if self.stop.why or (self._tried >= FIRST and not self.pays):
            return
        self._tried += 1
        judgments = [
            replace(judgment, judge=entry.named_judge.name)
            for entry in judged.items
            for judgment in entry.judgments
        ]
        try:
            # Without documents, as in the end: scores are made from the judgments file.
            Leaderboard(self.spec).add(replace(judged.response, documents={}), judgments)
        except PluginError as error:
            self.error = error
            self.stop.now(str(error))

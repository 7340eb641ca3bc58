"""Measures tried while responses are judged: one that fails stops a job before all is paid for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trecjudge.errors import PluginError
from trecjudge.judging.bugs import FIRST, Stop
from trecjudge.judging.runner import JudgedResponse
from trecjudge.measures import LeaderboardSpec
from trecjudge.scores.leaderboard import Leaderboard


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

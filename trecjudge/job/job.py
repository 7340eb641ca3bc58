"""A request to judge: one set of settings of the judges, on one input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.job.workflow import Workflow
from trecjudge.judging.judge import Judge
from trecjudge.models.opening import ModelOptions
from trecjudge.results.log import LogKind
from trecjudge.results.outputs import Outputs

NO_MODEL = ModelOptions()
Notify = Callable[[str], None]


def ignore_message(message: str) -> None:
    """Ignore a message: the default of `notify`."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request to judge runs. `settings` are those of the judges, all overrides applied.

    `chosen` says which variant or point of a sweep it is, `idle` what only a model would use.
    `made` are judges that exist as objects already, by name. `topics` None takes the topics that
    the runs answer. `workers` is how many processes judge, or `cluster` the address of a scheduler.
    `shard` is which part of the responses is judged: (number from 1, of how many).
    """

    runs: Sequence[Path]
    outputs: Outputs
    judges: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    workflow: Workflow = field(default_factory=Workflow)
    chosen: Mapping[str, str] = field(default_factory=dict)
    idle: Sequence[str] = ()
    made: Mapping[str, Judge] = field(default_factory=dict)
    topics: Path | None = None
    documents: Sequence[Path] = ()
    own_documents: bool = False
    qrels: Path | None = None
    nuggets: Sequence[Path] = ()
    dataset: str = "auto"
    model: ModelOptions = NO_MODEL
    max_topics: int | None = None
    max_runs: int | None = None
    only_topics: Sequence[str] = ()
    only_runs: Sequence[str] = ()
    log: LogKind = "full"
    document_text: bool = True
    qrels_pool: bool = False
    check: bool = True
    strict: bool = False
    labels: Path | None = None
    calibration: Path | None = None
    human: Path | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    cluster: str = ""
    shard: tuple[int, int] | None = None
    command_line: Sequence[str] = ()

    @property
    def debug_log(self) -> bool:
        """Whether it writes a log."""
        return self.log != "none"

    @property
    def filters(self) -> dict[str, Any]:
        """Which runs and topics are judged, where these are not all."""
        topics, runs = sorted(self.only_topics), sorted(self.only_runs)
        given = {"topics": topics, "runs": runs, "max_topics": self.max_topics}
        given |= {"max_runs": self.max_runs}
        return {name: value for name, value in given.items() if value}

    @property
    def in_parts(self) -> bool:
        """Whether several workers judge it."""
        return self.workers > 1 or bool(self.cluster)

    @property
    def workers_ask(self) -> bool:
        """Whether several workers ask a model before all is judged from the cache."""
        return self.in_parts and self.model.asks and self.labels is None

"""One run of a judge for AutoJudge on all responses, and what it gave."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trecjudge import AllResponses, InputError, PluginError, Relay, keyless, relayed

from .measures import base, class_at, refresh
from .reports import Given, banks_at, banks_of
from .running import in_a_thread, redirect_prints

if TYPE_CHECKING:
    from . import AutoJudgeJudge

NAME = "default"
"""What `{_name}` in a setting `filebase` stands for."""
UNKNOWN = "failures unknown: it does not tell what failed"
ALL = "all"
CLOSE = 1e-6
Key = tuple[str, str]
"""(run_id, topic_id)"""


@dataclass(slots=True)
class Outcome:
    """What theirs gave: values and grades by response, and its own `all` rows by run.

    `failed` is why nothing of it counts, `reason` what every judgment of it has as its reason.
    """

    values: dict[Key, dict[str, float]] = field(default_factory=dict)
    grades: dict[Key, list[tuple[str, int]]] = field(default_factory=dict)
    means: dict[str, dict[str, float]] = field(default_factory=dict)
    failed: str = ""
    reason: str = UNKNOWN


async def outcome_of(judge: AutoJudgeJudge, responses: AllResponses) -> Outcome:
    """Run theirs and return what it gave. Raises TheirError, or a TrecJudgeError."""
    given = Given.of(responses, judge.documents)
    folder = responses.beside.with_name(f"{responses.beside.name}.autojudge")
    call = _Call(judge, given, folder)
    call.check()
    log = folder / "output.log"
    count = len(given.reports)
    responses.notify(f"{judge.judge_class} is given {count} responses; what it prints is in {log}")
    async with relayed(responses.model) as relay:
        with keyless(relay), redirect_prints(log):
            leaderboard, qrels = await in_a_thread(call.run)
    outcome = _read(judge, given, leaderboard, qrels)
    for note in _notes(judge, given, outcome, relay):
        responses.notify(note)
    return outcome


@dataclass(frozen=True, slots=True)
class _Call:
    """The three calls of AutoJudge's protocol, in its order."""

    judge: AutoJudgeJudge
    given: Given
    folder: Path

    def check(self) -> None:
        """Raise a TrecJudgeError for classes or files that are not there, and a topic `all`."""
        if any(topic_id == ALL for _, topic_id in self.given.keys):
            message = f"a topic is called {ALL!r}, as the row of means is in AutoJudge"
            raise InputError(f"{self.judge.judge_class}: {message}; rename the topic")
        for name in ("judge_class", "nugget_class", "qrels_class"):
            if reference := getattr(self.judge, name):
                refresh(class_at(reference))
        for name in ("nugget_input", "qrels_input"):
            path = getattr(self.judge, name)
            if path and not Path(path).exists():
                raise InputError(f"{name} {path}: no such file")

    def run(self) -> tuple[Any, Any]:
        """Return their leaderboard, and their qrels where they make any."""
        own, made = self.judge, _Instances()
        judging = made.of(own.judge_class)
        making = made.of(own.nugget_class or own.judge_class)
        grading = made.of(own.qrels_class or own.judge_class)
        config = base().LlmConfigBase.from_env()
        banks = self._banks(making)
        wants_nuggets = _either(own.create_nuggets, own.judge_uses_nuggets, own.qrels_uses_nuggets)
        if wants_nuggets and hasattr(making, "create_nuggets"):
            reports = self.given.reports if own.nugget_depends_on_responses else None
            call = self._arguments(own.nugget_settings, config, reports, banks)
            banks = _call_method(making.create_nuggets, call) or banks
        qrels = self._qrels()
        if _either(own.create_qrels, own.judge_uses_qrels) and hasattr(grading, "create_qrels"):
            used = banks if own.qrels_uses_nuggets else None
            call = self._arguments(own.qrels_settings, config, self.given.reports, used)
            qrels = _call_method(grading.create_qrels, call) or qrels
        used = banks if own.judge_uses_nuggets else None
        call = self._arguments(own.judge_settings, config, self.given.reports, used)
        call["qrels"] = qrels if own.judge_uses_qrels else None
        call["filebase"] = str(self.folder / NAME)
        found = _call_method(judging.judge, call)
        # An older form of the protocol gives the qrels beside the leaderboard.
        return found if isinstance(found, tuple) else (found, qrels)

    def _arguments(
        self, phase: Mapping[str, Any], config: Any, reports: Any, banks: Any
    ) -> dict[str, Any]:
        settings = {**self.judge.settings, **phase, **self.judge.override}
        if isinstance(settings.get("filebase"), str):
            settings["filebase"] = settings["filebase"].replace("{_name}", NAME)
        given = {"rag_responses": reports, "rag_topics": self.given.requests, "llm_config": config}
        beside = {"nugget_banks": banks, "corpus": self.judge.corpus or None}
        return given | beside | settings | {"outdir": self.folder}

    def _banks(self, making: Any) -> Any:
        kind = getattr(making, "nugget_banks_type", None) or base().NuggetBanks
        if self.judge.nugget_input:
            return banks_at(self.judge.nugget_input, kind)
        return banks_of(self.given.topics.values(), kind)

    def _qrels(self) -> Any:
        from autojudge_base.qrels.qrels import read_qrel_file

        return read_qrel_file(self.judge.qrels_input) if self.judge.qrels_input else None


class _Instances:
    """One object of each class, however many of the three calls it takes."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def of(self, reference: str) -> Any:
        """Return the object of a class."""
        if reference not in self._made:
            self._made[reference] = class_at(reference)()
        return self._made[reference]


def _either(asked: bool | None, *uses: bool) -> bool:
    """Return whether something is made: as asked for, else where anything uses it."""
    return any(uses) if asked is None else asked


def _call_method(method: Any, arguments: dict[str, Any]) -> Any:
    """Call a method; `corpus` is newer than some of them."""
    parameters = inspect.signature(method).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if not takes_all and "corpus" not in parameters:
        arguments = {name: value for name, value in arguments.items() if name != "corpus"}
    return method(**arguments)


def _read(judge: AutoJudgeJudge, given: Given, leaderboard: Any, qrels: Any) -> Outcome:
    """Return the rows of their leaderboard and qrels that are of responses of the job."""
    if not hasattr(leaderboard, "entries"):
        kind = type(leaderboard).__name__
        raise PluginError(f"{judge.judge_class}.judge returned {kind}, not a Leaderboard")
    outcome, known, wanted = Outcome(), set(given.keys), set(judge.names)
    whole = getattr(leaderboard, "all_topic_id", ALL)
    for entry in leaderboard.entries:
        key = str(entry.run_id), str(entry.topic_id)
        numbers = {name: _number(v) for name, v in entry.values.items() if name in wanted}
        values = {name: value for name, value in numbers.items() if value is not None}
        if key in known:
            if values or not numbers:
                outcome.values.setdefault(key, {}).update(values)
        elif entry.topic_id == whole:
            outcome.means[key[0]] = values
    best: dict[Key, int] = {}
    for row in getattr(qrels, "rows", ()):
        both = str(row.topic_id), str(row.doc_id)
        best[both] = max(int(row.grade), best.get(both, int(row.grade)))
    # Their grades are of documents, whatever run cites them: the first run on a topic has them.
    for (topic_id, doc_id), grade in best.items():
        if topic_id in given.first:
            key = given.first[topic_id], topic_id
            outcome.grades.setdefault(key, []).append((doc_id, grade))
    return outcome


def _number(value: Any) -> float | None:
    """Return a value as a number, None where it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _notes(
    judge: AutoJudgeJudge, given: Given, outcome: Outcome, relay: Relay | None
) -> Sequence[str]:
    """Return what the user has to know; where every call failed, the outcome says so."""
    name, notes = judge.judge_class, []
    if relay is not None and relay.calls:
        notes.append(f"{name} made {relay.calls} calls, of which {relay.failed} failed")
        outcome.reason = f"{UNKNOWN}; {relay.failed} of {relay.calls} calls failed"
        if relay.failed == relay.calls:
            why = f"all {relay.calls} calls of {name} to the model failed; the first: {relay.first}"
            outcome.failed = why
        elif relay.failed:
            notes[-1] += f"; the first: {relay.first}"
    given_names = {measure for values in outcome.values.values() for measure in values}
    if lacking := [n for n in judge.names if n not in given_names]:
        notes.append(f"{name} gave no value of {', '.join(lacking)}")
    if differ := _differing(judge, given, outcome):
        notes.append(
            f"{name}: its own means of {len(differ)} runs differ, such as that of {differ[0]}: here"
            " a response that is missing counts 0, and one without a value is left out"
        )
    return notes


def _differing(judge: AutoJudgeJudge, given: Given, outcome: Outcome) -> list[str]:
    """Return the runs of which their own mean is another one than ours."""
    answered: dict[str, set[str]] = {}
    for run_id, topic_id in given.keys:
        answered.setdefault(run_id, set()).add(topic_id)
    found = []
    for run_id, means in outcome.means.items():
        topics = answered.get(run_id, set())
        for name, mean in means.items():
            values = [outcome.values.get((run_id, t), {}).get(name) for t in topics]
            numbers = [value for value in values if value is not None]
            count = len(numbers) + len(given.topics) - len(topics)
            if count and abs(math.fsum(numbers) / count - mean) > CLOSE:
                found.append(run_id)
                break
    return found

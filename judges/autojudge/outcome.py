"""One run of a judge for AutoJudge: our records as it has them, its measures, what it gave."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import importlib
import inspect
import io
import math
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeVar

from trecjudge import Document, InputError, PluginError, Response, Topic
from trecjudge.errors import unknown
from trecjudge.files import open_target
from trecjudge.findings import plural
from trecjudge.inputs.nuggets.bank_files import nuggets_record
from trecjudge.judging.judge import AllResponses
from trecjudge.models.relay import Relay, keyless, relayed
from trecjudge.settings.strict_yaml import read_yaml_file

if TYPE_CHECKING:
    from . import AutoJudgeJudge


# What a judge for AutoJudge measures, before it ran; and its classes, imported.
NUMBERS = ("float", "int")
HINT = "give measures_wanted=A,B, or measures_file: the .measures.yml of an earlier run"
NLTK_HINT = "it needs NLTK's data (punkt, stopwords): set NLTK_DATA to a folder that has them"
NOT_THEIRS = frozenset({"trecjudge", "autojudge_base", *sys.stdlib_module_names})
PLAIN = (list, dict, set, int, float, str, bool, type(None))
_first: dict[Any, dict[str, Any]] = {}
"""The plain values of classes and modules of judges, as they were before the first job."""


def measure_names(judge_class: str, measures_file: str = "") -> list[str]:
    """Return the names of a judge's numeric measures. Raises PluginError or InputError."""
    if measures_file:
        return _measure_names(measures_file)
    found = class_at(judge_class)
    specs = {tuple(_numeric(spec)) for spec in _specs(found)}
    if len(specs) != 1 or not next(iter(specs)):
        several = "; ".join(", ".join(names) for names in sorted(specs))
        why = f"there are several: {several}" if several else "its module has no LeaderboardSpec"
        raise PluginError(
            f"the measures of {judge_class} are not known before it ran: {why}; {HINT}"
        )
    return list(next(iter(specs)))


def column_of(name: str) -> str:
    """Return the name of a measure as a column can have it: without white space."""
    return re.sub(r"[^!-~]+", "_", name)


def class_at(reference: str) -> Any:
    """Return the class at `package.module:Class` or `package.module.Class`. Raises PluginError."""
    import_base()
    module, _, name = reference.partition(":") if ":" in reference else reference.rpartition(".")
    if not module or not name:
        raise PluginError(f"{reference!r}: give package.module:Class")
    try:
        if module not in sys.modules:  # what a module finds while it is imported, it may keep
            with keyless(None):
                importlib.import_module(module)
        found = getattr(sys.modules[module], name, None)
    except (Exception, SystemExit) as error:  # importing runs the code of others
        why = f"{type(error).__name__}: {error}"
        raise PluginError(f"{reference!r} cannot be imported: {why}") from error
    if found is None:
        classes = [n for n, c in vars(sys.modules[module]).items() if inspect.isclass(c)]
        raise PluginError(f"{module}: {unknown('class', name, classes)}")
    return found


def import_base() -> Any:
    """Return the package autojudge_base. Raises PluginError where it cannot be imported."""
    quiet = io.StringIO()  # it looks for data of NLTK, and tells what it cannot download
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            return importlib.import_module("autojudge_base")
    except ImportError as error:
        message = "autojudge-base is not installed: pip install 'trecjudge[autojudge]'"
        raise PluginError(f"{message} ({error})") from error
    except LookupError as error:
        raise PluginError(f"autojudge-base cannot be imported: {NLTK_HINT}") from error


def reset_class(found: Any) -> None:
    """Give a class, and its module, the plain values back that they had when first seen here.

    What a class keeps of one job must not reach the next one in the same process.
    """
    for owner in (*found.__mro__, sys.modules.get(found.__module__)):
        name = str(getattr(owner, "__module__", None) or getattr(owner, "__name__", ""))
        if owner is None or name.partition(".")[0] in NOT_THEIRS:
            continue
        plain = {n: v for n, v in vars(owner).items() if isinstance(v, PLAIN) and n[:2] != "__"}
        first = _first.setdefault(owner, copy.deepcopy(plain))
        if inspect.isclass(owner):
            for added in plain.keys() - first.keys():
                delattr(owner, added)
        for name, value in first.items():
            setattr(owner, name, copy.deepcopy(value))


def _specs(found: Any) -> Iterator[Any]:
    """Yield the specs of a class, else those of its module."""
    kind = import_base().LeaderboardSpec
    own = [value for value in vars(found).values() if isinstance(value, kind)]
    module = vars(sys.modules[found.__module__])
    yield from own or (value for value in module.values() if isinstance(value, kind))


def _numeric(spec: Any) -> Iterator[str]:
    return (m.name for m in spec.measures if getattr(m, "dtype", float) is not str)


def _measure_names(path: str) -> list[str]:
    """Return the numeric measures of a file that `auto-judge run` wrote."""
    try:
        listed = read_yaml_file(Path(path), "list of measures").value["measures"]
        names = [str(m["name"]) for m in listed if m.get("dtype", "float") in NUMBERS]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: is no list of measures, as `auto-judge run` writes it"
        ) from error
    if not names:
        raise InputError(f"{path}: has no measure that is a number")
    return names


# Our responses, topics and nuggets as AutoJudge has them.
BANK_FORMATS = {"NuggetizerNuggetBank": "nuggetizer", "Ragtime26NuggetBank": "ragtime26"}


@dataclass(slots=True)
class Given:
    """What theirs is given: all reports, and the topics; `first` is the first run on a topic."""

    reports: list[Any] = field(default_factory=list)
    topics: dict[str, Topic] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    keys: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, responses: AllResponses, with_documents: bool) -> Given:
        """Return all responses of a job as reports; each text of a document is held once."""
        given = cls(topics=dict(responses.topics or {}))
        documents: dict[Document, Any] = {}
        for topic, response in responses:
            given.topics[topic.topic_id] = topic
            given.first.setdefault(topic.topic_id, response.run_id)
            given.keys.append((response.run_id, topic.topic_id))
            given.reports.append(_report(response, documents if with_documents else None))
        return given

    @property
    def requests(self) -> list[Any]:
        """The topics as theirs."""
        return [_request(topic) for topic in self.topics.values()]


def _report(response: Response, documents: dict[Document, Any] | None) -> Any:
    metadata = {"team_id": response.team_id, "run_id": response.run_id}
    record: dict[str, Any] = {
        "metadata": metadata | {"topic_id": response.topic_id},
        "responses": list(_sentences(response)),
        "references": list(response.references),
    }
    if documents is not None:
        record["documents"] = {
            doc_id: documents.get(document) or _document(document, documents)
            for doc_id, document in response.documents.items()
            if document.has_text
        }
    return import_base().Report.model_validate(record)


def _sentences(response: Response) -> Iterator[dict[str, Any]]:
    """Yield sentences with citations by id; with their scores where the run gave them to all."""
    cited = [c for s in response.sentences for c in s.citations if c.doc_id is not None]
    scored = bool(cited) and all(c.score is not None for c in cited)
    for sentence in response.sentences:
        usable = [c for c in sentence.citations if c.doc_id is not None]
        ids: Any = {c.doc_id: c.score for c in usable} if scored else [c.doc_id for c in usable]
        yield {"text": sentence.text, "citations": ids}


def _document(document: Document, made: dict[Document, Any]) -> Any:
    from autojudge_base.document import Document as Theirs

    named = {"id": document.doc_id, "text": document.text, "title": document.title or None}
    made[document] = Theirs(**named, url=document.url or None)
    return made[document]


def _request(topic: Topic) -> Any:
    return import_base().Request(
        request_id=topic.topic_id,
        title=topic.title,
        background=topic.background or None,
        problem_statement=topic.problem_statement or topic.body or None,
        limit=topic.limit,
    )


def banks_of(topics: Iterable[Topic], kind: Any) -> Any:
    """Return the nuggets of topics as banks of their kind; None where no topic has any."""
    model = kind.get_bank_model()
    format_ = BANK_FORMATS.get(model.__name__, "autoargue")
    records = [record for topic in topics if (record := nuggets_record(topic, format_))]
    return kind.from_banks_list([model.model_validate(r) for r in records]) if records else None


def banks_at(path: str, kind: Any) -> Any:
    """Return the banks of a file or folder, read by theirs. Raises InputError."""
    from autojudge_base.workflow.paths import load_nugget_banks_from_path

    try:
        return load_nugget_banks_from_path(Path(path), kind)
    except (OSError, ValueError) as error:
        raise InputError(f"nugget_input {path}: cannot be read: {error}") from error


# Code of others in a thread of its own, its output in a file.
T = TypeVar("T")


class TheirError(Exception):
    """What code of others raised; its cause has the traceback."""


class _ByThread(io.TextIOBase):
    """A stream that gives what threads write which were not there before to another stream."""

    def __init__(self, ours: TextIO, theirs: TextIO) -> None:
        self._ours, self._theirs = ours, theirs
        self._known = set(threading.enumerate())

    @property
    def _stream(self) -> TextIO:
        return self._ours if threading.current_thread() in self._known else self._theirs

    def write(self, text: str) -> int:
        """Write to the stream of this thread."""
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush the stream of this thread."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether this thread writes to a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the number of the file of this thread."""
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)


@contextmanager
def redirect_prints(path: Path) -> Iterator[None]:
    """Write to a file what threads print that begin meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    out, err = sys.stdout, sys.stderr
    path.unlink(missing_ok=True)  # in a shared folder it may be a link, which would be followed
    with path.open("x", encoding="utf-8", errors="backslashreplace", buffering=1) as file:
        sys.stdout, sys.stderr = _ByThread(out, file), _ByThread(err, file)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


async def run_in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, run in a thread of its own. Raises TheirError.

    An interrupt does not wait for it: nobody can stop a thread, and it ends with the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
            return
        wrapped = TheirError(f"{type(error).__name__}: {error}")
        wrapped.__cause__ = error
        future.set_exception(wrapped)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:  # whatever it raises, SystemExit too
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(give, result, failed)

    threading.Thread(target=run, daemon=True, name="autojudge").start()
    return await future


# One run of a judge for AutoJudge on all responses, and what it gave.
NAME = "default"
"""What `{_name}` in a setting `filebase` stands for."""
UNKNOWN = "failures unknown: it does not tell what failed"
ALL = "all"
NUGGETS = "NUGGETS"
"""The measure of a workflow that makes banks of nuggets and no scores."""
CLOSE = 1e-6
Key = tuple[str, str]
"""(run_id, topic_id)"""


@dataclass(slots=True)
class Outcome:
    """What theirs gave: values and grades by response, and its own `all` rows by run.

    `failed` is why nothing of it counts, and `failure` of what kind that is. `reason` is what every
    judgment of it has as its reason.
    """

    values: dict[Key, dict[str, float]] = field(default_factory=dict)
    grades: dict[Key, list[tuple[str, int]]] = field(default_factory=dict)
    means: dict[str, dict[str, float]] = field(default_factory=dict)
    failed: str = ""
    failure: Literal["transport", "not_given"] = "transport"
    reason: str = UNKNOWN


async def outcome_of(judge: AutoJudgeJudge, responses: AllResponses) -> Outcome:
    """Run theirs and return what it gave. Raises TheirError, or a TrecJudgeError."""
    given = Given.of(responses, judge.documents)
    folder = responses.beside.with_name(f"{responses.beside.name}.autojudge")
    call = _Call(judge, given, folder)
    call.check()
    log = folder / "output.log"
    count = len(given.reports)
    responses.notify(f"{judge.main_class} is given {count} responses; what it prints is in {log}")
    async with relayed(responses.model) as relay:
        with keyless(relay), redirect_prints(log):
            made = await run_in_thread(call.run)
    path = responses.beside.with_name(f"{responses.beside.name}.nuggets.jsonl")
    if made.written:
        write_banks(made.banks, path)
        responses.notify(f"{plural(len(made.banks.banks), 'bank')} of nuggets: {path}")
    if made.fault:
        return Outcome(failed=made.fault, failure="not_given")
    if not judge.scores:
        return Outcome({key: {NUGGETS: _count(made.banks, key[1])} for key in given.keys})
    outcome = _read(judge, given, made.leaderboard, made.qrels)
    for note in _notes(judge, given, outcome, relay):
        responses.notify(note)
    return outcome


def write_banks(banks: Any, path: Path) -> None:
    """Write banks of theirs in their own format, a bank a line. Raises OutputError."""
    with open_target(path) as file:
        lines = (bank.model_dump_json(exclude_none=True) for bank in banks.banks.values())
        file.writelines(f"{line}\n".encode() for line in lines)


def _count(banks: Any, topic_id: str) -> float:
    bank = getattr(banks, "banks", {}).get(topic_id)
    if bank is None:
        return 0.0
    # Banks of nuggetizer have a list, all others a method.
    return float(len(bank.nuggets_as_list() if hasattr(bank, "nuggets_as_list") else bank.nuggets))


@dataclass(slots=True)
class _Made:
    """What the calls of theirs returned: `written` is whether the banks are new, and sound.

    `fault` is what their own verification says of the banks, empty where they are sound.
    """

    banks: Any = None
    written: bool = False
    fault: str = ""
    leaderboard: Any = None
    qrels: Any = None


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
            raise InputError(f"{self.judge.main_class}: {message}; rename the topic")
        for name in ("judge_class", "nugget_class", "qrels_class"):
            if reference := getattr(self.judge, name):
                reset_class(class_at(reference))
        if not (self.judge.scores or hasattr(class_at(self.judge.main_class), "create_nuggets")):
            raise PluginError(f"{self.judge.main_class} has no create_nuggets: it makes no banks")
        for name in ("nugget_input", "qrels_input"):
            path = getattr(self.judge, name)
            if path and not Path(path).exists():
                raise InputError(f"{name} {path}: no such file")

    def run(self) -> _Made:
        """Return their banks, and their leaderboard and qrels where they make any."""
        own, found = self.judge, _Made()
        # One object of each class, however many of the three calls it takes.
        made = cache(lambda reference: class_at(reference)())
        making = made(own.nugget_class or own.judge_class)
        config = import_base().LlmConfigBase.from_env()
        banks = self._banks(making)
        wants_nuggets = _either(own.create_nuggets, own.judge_uses_nuggets, own.qrels_uses_nuggets)
        if wants_nuggets and hasattr(making, "create_nuggets"):
            reports = self.given.reports if own.nugget_depends_on_responses else None
            call = self._arguments(own.nugget_settings, config, reports, banks)
            created = _call_method(making.create_nuggets, call)
            if (created is not None or not own.scores) and (fault := self._fault_of(created)):
                return _Made(fault=fault)
            found.written, banks = created is not None, created or banks
        found.banks = banks
        if own.scores:
            self._score(made, config, found)
        return found

    def _fault_of(self, banks: Any) -> str:
        """Return what their own verification says of banks; empty where they are sound."""
        maker = self.judge.nugget_class or self.judge.judge_class
        if banks is None:
            return f"{maker} made no banks"
        try:
            banks.verify([topic.request_id for topic in self.given.requests])
        except Exception as error:  # theirs may raise anything
            return f"the banks of {maker} are refused: {type(error).__name__}: {error}"
        return ""

    def _score(self, made: Callable[[str], Any], config: Any, found: _Made) -> None:
        """Make the qrels, where they are wanted, and the leaderboard."""
        own, banks = self.judge, found.banks
        judging, grading = made(own.judge_class), made(own.qrels_class or own.judge_class)
        qrels = self._qrels()
        if _either(own.create_qrels, own.judge_uses_qrels) and hasattr(grading, "create_qrels"):
            used = banks if own.qrels_uses_nuggets else None
            call = self._arguments(own.qrels_settings, config, self.given.reports, used)
            qrels = _call_method(grading.create_qrels, call) or qrels
        used = banks if own.judge_uses_nuggets else None
        call = self._arguments(own.judge_settings, config, self.given.reports, used)
        call["qrels"] = qrels if own.judge_uses_qrels else None
        call["filebase"] = str(self.folder / NAME)
        board = _call_method(judging.judge, call)
        # An older form of the protocol gives the qrels beside the leaderboard.
        found.leaderboard, found.qrels = board if isinstance(board, tuple) else (board, qrels)

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
        kind = getattr(making, "nugget_banks_type", None) or import_base().NuggetBanks
        if self.judge.nugget_input:
            return banks_at(self.judge.nugget_input, kind)
        return banks_of(self.given.topics.values(), kind)

    def _qrels(self) -> Any:
        from autojudge_base.qrels.qrels import read_qrel_file

        return read_qrel_file(self.judge.qrels_input) if self.judge.qrels_input else None


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

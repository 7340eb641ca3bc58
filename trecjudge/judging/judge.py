"""The Judge protocol, and finding judges: folders in `judges/`, entry points, `module:Class`."""

from __future__ import annotations

import ast
import asyncio
import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar, cast, get_args, runtime_checkable

import orjson

from trecjudge.errors import JudgmentFailed, PluginError, TrecJudgeError, unknown
from trecjudge.findings import brief
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model, Program, Prompted
from trecjudge.records import (
    NOTHING_SPENT,
    Failure,
    Item,
    Judgment,
    Nugget,
    Response,
    Topic,
    Usage,
    judgment_of,
)
from trecjudge.settings.fields import typed_fields
from trecjudge.settings.plugins import JUDGES, import_named, is_own, judge_folders, module_of_others

GROUP = "trecjudge.judges"
T = TypeVar("T")
Ask = Callable[[Sequence[T]], Awaitable[tuple[Sequence[Any], Usage]]]
"""Asks about several things by one request: returns an answer to each, and what it cost."""
Need = Literal["nuggets", "topic_text", "document_text"]
NEEDS: Mapping[Need, str] = {
    "nuggets": "banks of nuggets",
    "topic_text": "the text of topics",
    "document_text": "the text of documents",
}
"""What a judge may need beside the runs, in words."""


class Judge(Protocol):
    """A frozen dataclass whose fields are its settings; see `judges/length` for the smallest one.

    It may also have `programs` (the DSPy signatures that it runs, see `programs_of`),
    `needs_model` (whether its settings ask for one) and `needs` (what it needs beside the runs, as
    keys of NEEDS, so that a job without it says so at once), and judge several items at once (see
    `GroupingJudge`). It may be shown all responses before the first is judged (see
    `PreparingJudge`, and `prepares_alike`), look something up before a job (see `resolved`), and
    say that it cannot tell what failed (`failures_unknown`). Its measures may depend on the banks
    (see `FittingJudge`).
    """

    @property
    def measures(self) -> LeaderboardSpec:
        """The columns of its leaderboard."""

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the items of a response that are to be judged."""

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Judge one item. Any exception makes it unjudged."""


@runtime_checkable
class GroupingJudge(Judge, Protocol):
    """A judge that can judge up to `group` items of one kind by one request."""

    @property
    def group(self) -> int:
        """The most items in a group; 1 for none."""

    def group_of(self, item: Item) -> Hashable | None:
        """Return what the items of a group have in common; None for an item on its own."""

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Return a judgment for each item, in order."""


@dataclass(frozen=True, slots=True)
class AllResponses:
    """All responses of a job with their topics, in the order in which they are judged.

    Each iteration reads them from the beginning, one by one; only one may be under way. `topics`
    are all that are asked for, None without a topic file. `model` is that of the job, `beside` the
    path of its files without their endings, `notify` shows the user a message.
    """

    read: Callable[[], Iterator[tuple[Topic, Response]]] = field(repr=False)
    topics: Mapping[str, Topic] | None
    model: Model
    beside: Path
    notify: Callable[[str], None]

    def __iter__(self) -> Iterator[tuple[Topic, Response]]:
        return self.read()


@runtime_checkable
class PreparingJudge(Protocol):
    """A judge that is shown all responses before the first is judged, to compare them."""

    async def prepare(self, responses: AllResponses) -> None:
        """Prepare to judge them; keep ids and text at most. Any exception makes all unjudged."""


@runtime_checkable
class ResolvingJudge(Protocol):
    """A judge that must look something up in code of others before its measures are known."""

    def resolved(self) -> Judge:
        """Return the judge with that among its settings. Called only by the job that judges."""


@runtime_checkable
class FittingJudge(Protocol):
    """A judge whose measures depend on the banks of nuggets that it is given."""

    def fitted(self, nuggets: Sequence[Nugget], cited: Callable[[], bool]) -> Judge:
        """Return the judge with what it has to know of them among its settings.

        `cited` returns whether a run cites one of their documents; it reads the runs for that.
        """


def unjudged(item: Item, failed: JudgmentFailed) -> Judgment:
    """Return the judgment on an item that could not be judged, with why."""
    failure = Failure(failed.kind, failed.message, failed.tries, failed.program)
    return judgment_of(item, failure=failure)


def asks_model(decider: str, model: Model) -> bool:
    """Return whether a setting asks for the model: `llm` does, and `auto` where there is one."""
    return decider == "llm" or (decider == "auto" and model.available)


async def await_all(work: Sequence[Awaitable[T]], model: Model) -> list[T]:
    """Await everything at once where a model is asked; else nothing waits, and tasks would cost."""
    return await asyncio.gather(*work) if model.available else [await one for one in work]


async def judge_or_fail(item: Item, work: Awaitable[Judgment], **about: Any) -> Judgment:
    """Return the judgment of some work, an unjudged one where that fails: others still count.

    `about` are fields of the unjudged one.
    """
    try:
        return await work
    except JudgmentFailed as failed:
        return replace(unjudged(item, failed), **about)


async def ask_together(
    asked: Sequence[T], window: int, ask: Ask[T]
) -> list[tuple[Sequence[T], Sequence[Any], Usage]]:
    """Ask about `window` things in one request and, where its reply does not fit them, one by one.

    Each request comes with what it asked about, an answer to each of these, or the JudgmentFailed
    that there is in its place, and its cost.
    """
    windows = [asked[i : i + window] for i in range(0, len(asked), window or 1)]
    found = await asyncio.gather(*(_ask_window(part, ask) for part in windows))
    return [request for requests in found for request in requests]


async def _ask_window(
    asked: Sequence[T], ask: Ask[T]
) -> list[tuple[Sequence[T], Sequence[Any], Usage]]:
    try:
        return [(asked, *await ask(asked))]
    except JudgmentFailed as failed:
        # One of them may get a reply that can be read; an outage is the same for all.
        if len(asked) > 1 and failed.kind in ("parse", "cut"):
            return await ask_together(asked, 1, ask)
        return [(asked, [failed] * len(asked), NOTHING_SPENT)]


def charge_first(judgments: Sequence[Judgment], usage: Usage) -> list[Judgment]:
    """Return the judgments, the first with what the request for them cost."""
    return [replace(judgments[0], usage=usage), *judgments[1:]] if judgments else []


def judge_names() -> list[str]:
    """Return the names of all judges found, sorted, without importing them."""
    return sorted({*judge_folders(), *_entry_points()})


def judge_class(name: str) -> type[Judge]:
    """Return the judge of that name, or at `module:Class`.

    Raises PluginError if there is none, or it cannot be imported or used.
    """
    if ":" in name:  # no folder or entry point is called so
        return _check_judge(name, _attribute(name))
    # Folders before entry points: no installed package can replace a judge of ours.
    if name in judge_folders():
        return _check_judge(name, _class_in(_import(name, f"{JUDGES}.{name}")))
    if name in _entry_points():
        return _check_judge(name, _attribute(_entry_points()[name]))
    raise PluginError(unknown("judge", name, judge_names()))


def code_of_others(name: str) -> str:
    """Return where the code of a judge lies, as `judge_class` finds it; "" if ours or installed."""
    if ":" in name:
        module = module_of_others(name)
        return f"the module {module}" if module else ""
    folder = judge_folders().get(name)
    return f"the folder {folder}" if folder is not None and is_own(folder) else ""


def make_judge(name: str, settings: Mapping[str, Any]) -> Judge:
    """Return a judge with its settings checked. Raises PluginError or WorkflowError."""
    found = judge_class(name)
    make = cast(Callable[..., Judge], found)
    try:
        return make(**typed_fields(found, settings, f"settings of judge {name}"))
    except TrecJudgeError:
        raise
    except Exception as error:  # a judge can refuse its settings in any way
        raise PluginError(f"judge {name!r} cannot be used: {error}") from error


def resolved(judge: Judge) -> Judge:
    """Return a judge with all that it has to look up. Raises PluginError where it cannot."""
    if not isinstance(judge, ResolvingJudge):
        return judge
    try:
        return judge.resolved()
    except TrecJudgeError:
        raise
    except (Exception, SystemExit) as error:  # it imports code of others
        raise PluginError(f"{type(error).__name__}: {error}") from error


def measures_of(judge: Judge) -> LeaderboardSpec:
    """Return the measures of a judge. Raises PluginError if it has none."""
    try:
        spec = judge.measures
    except TrecJudgeError:
        raise
    except Exception as error:  # as above
        raise PluginError(f"its measures: {type(error).__name__}: {error}") from error
    if not isinstance(spec, LeaderboardSpec):
        raise PluginError(f"its measures are {spec!r}, not a LeaderboardSpec")
    return spec


def settings_of(judge: Judge) -> dict[str, Any]:
    """Return the resolved settings of a judge by name."""
    return {f.name: getattr(judge, f.name) for f in fields(cast(Any, judge)) if f.init}


def needs_model(judge: Judge) -> bool:
    """Return whether a judge, as it is set, can judge nothing without a model."""
    return bool(getattr(judge, "needs_model", False))


def needs_of(judge: Judge) -> tuple[Need, ...]:
    """Return what a judge, as it is set, needs beside the runs."""
    needs = getattr(judge, "needs", ())
    return tuple(need for need in get_args(Need) if need in needs)


def prepares_alike(judge: object) -> bool:
    """Return whether what a judge prepares asks nothing, and is the same in any process."""
    return bool(getattr(judge, "prepares_alike", False))


def planned_of(judge: object) -> Mapping[str, Any] | None:
    """Return what a prepared judge has to say of a plan; None where it plans nothing."""
    planned = getattr(judge, "planned", None)
    return planned() if callable(planned) else None


def preparing(judge: Judge) -> PreparingJudge | None:
    """Return the judge that is to be shown all responses: itself, or the one inside; else None."""
    inner = getattr(judge, "inner", None)
    if inner is not None:
        return preparing(inner)
    return judge if isinstance(judge, PreparingJudge) else None


def hides_failures(judge: Judge) -> bool:
    """Return whether a judge cannot tell what failed from what is worth nothing."""
    return bool(getattr(judge, "failures_unknown", False))


def programs_of(judge: Judge) -> dict[str, Program]:
    """Return the DSPy programs that a judge runs, by name."""
    programs: tuple[Program, ...] = getattr(judge, "programs", ())
    return {program.name: program for program in programs}


def asked_singly(judge: Judge, model: Model) -> str:
    """Return why a model's prompts let a judge not ask about several items at once; else ""."""
    if not isinstance(model, Prompted) or not isinstance(judge, GroupingJudge) or judge.group < 2:
        return ""
    found = (model.prompts.asked_singly(program) for program in programs_of(judge).values())
    return next((why for why in found if why), "")


def group_size(judge: Judge, singly: str = "") -> int:
    """Return how many items a judge may be given at once; `singly` is why only one, else empty."""
    return judge.group if not singly and isinstance(judge, GroupingJudge) else 1


def summary_of(name: str) -> str:
    """Return the first line of a judge's docstring. Raises PluginError as `judge_class` does.

    What lies in the working directory is read and not imported: it may not be a judge.
    """
    folder = judge_folders().get(name)
    if folder is not None and is_own(folder):
        return _first_line(_read_docstring(name, folder / "__init__.py"))
    return _first_line(inspect.getdoc(judge_class(name)))


def name_of(judge: Judge) -> str:
    """Return the name of a judge object: that of its folder, else `module:Class`.

    Raises PluginError for what is not a judge, or has settings that no file can hold.
    """
    found = type(judge)
    reference = f"{found.__module__}:{found.__qualname__}"
    if isinstance(judge, type):
        raise PluginError(f"{judge.__name__} is a class: give a judge of it, {judge.__name__}()")
    _check_judge(reference, found)
    for setting, value in settings_of(judge).items():
        try:
            orjson.dumps(value)
        except TypeError as error:
            message = f"judge {reference!r}: its setting {setting} is {brief(value)}"
            raise PluginError(f"{message}, which no judgments file can hold: {error}") from error
    folder = found.__module__.rpartition(".")[2]
    if folder in judge_folders() and judge_class(folder) is found:
        return folder
    named = (name for name, value in _entry_points().items() if value == reference)
    return next(named, reference)


def _first_line(docstring: str | None) -> str:
    return (docstring or "").partition("\n")[0]


def _read_docstring(name: str, path: Path) -> str | None:
    """Return the docstring of the class in a file that looks most like a judge, or the file's."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise PluginError(f"judge {name!r} cannot be read: {error}") from error
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    judging = [node for node in classes if {"pool", "judge"} & _methods(node)]
    return ast.get_docstring((judging or classes)[-1] if classes else tree)


def _methods(node: ast.ClassDef) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {part.name for part in node.body if isinstance(part, functions)}


def _entry_points() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=GROUP)}


def _import(name: str, module: str) -> ModuleType:
    try:
        return import_named(module)
    except (Exception, SystemExit) as error:  # a plug-in can fail in any way while it is imported
        why = f"{type(error).__name__}: {error}"
        raise PluginError(f"judge {name!r} cannot be imported: {why}") from error


def _attribute(reference: str) -> Any:
    module, _, name = reference.partition(":")
    found = getattr(_import(reference, module), name, None)
    if found is None:
        raise PluginError(f"judge {reference!r}: {module} has no {name!r}")
    return found


def _class_in(module: ModuleType) -> Any:
    """Return the one class of a judge's module that can pool and judge."""
    own = [
        c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__
    ]
    found = [c for c in own if hasattr(c, "pool") and hasattr(c, "judge")]
    if len(found) != 1:
        names = ", ".join(c.__name__ for c in found) or "none"
        message = f"{module.__name__} must define one class with pool and judge; it has: {names}"
        raise PluginError(message)
    return found[0]


def _check_judge(name: str, found: Any) -> type[Judge]:
    lacks = [part for part in ("measures", "pool", "judge") if not hasattr(found, part)]
    if not isinstance(found, type) or not is_dataclass(found) or lacks:
        why = f"it lacks {', '.join(lacks)}" if lacks else "it is no dataclass"
        raise PluginError(f"judge {name!r} cannot be used: {why}")
    return cast(type[Judge], found)

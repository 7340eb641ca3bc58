"""Opens the model that a job uses, or none: without one no model library is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trecjudge.errors import ModelError
from trecjudge.files import default_folder, tell_if_open
from trecjudge.models.model import Model, NoModel, Program, Voter, VotersModel
from trecjudge.models.spending import Budget, Spending, listed_context

if TYPE_CHECKING:
    from trecjudge.models.cache.store import CachedReply
    from trecjudge.models.requests import Replies
    from trecjudge.models.settings import LlmSettings


MAKE_ROOM = "what is on its way is judged; make room, and run the same command again"


@dataclass(slots=True)
class CommandState:
    """What the jobs of one command share: the budget, and the requests asked or planned.

    `spent` is what each of them spent, `held` replies that could not be kept. `refused` is why what
    is paid for cannot be kept any more, for the user, who is told unless it is `untold`; `asking`
    are called then, with why. `fetched` is whether documents of services were asked for.
    """

    budget: Budget = field(default_factory=Budget)
    spent: list[Spending] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    held: dict[str, CachedReply] = field(default_factory=dict)
    refused: str = ""
    untold: bool = False
    fetched: bool = False
    asking: list[Callable[[str], None]] = field(default_factory=list)

    def refuse(self, notify: Callable[[str], None], why: str) -> None:
        """Ask nothing from now on, in any job; replies that are on their way are still used."""
        if self.refused:
            return
        kept = sum(one.kept for one in self.spent)
        self.refused = f"{why}; nothing more is asked: {kept} replies are kept, {MAKE_ROOM}"
        for call_off in self.asking:
            call_off(why)
        if not self.untold:
            notify(self.refused)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Whether and how a job may use a model.

    `refresh` ignores cached replies and asks again; `offline` uses only cached replies; `plan`
    asks nothing at all and counts. `cache_from` are folders of read-only caches behind the one in
    `cache_folder`. `command` is what all jobs of a command share.
    """

    use: bool = False
    cache_folder: Path | None = None
    cache_from: Sequence[Path] = ()
    refresh: bool = False
    offline: bool = False
    plan: bool = False
    command: CommandState = field(default_factory=CommandState)

    @property
    def asks(self) -> bool:
        """Whether an endpoint may be asked."""
        return self.use and not (self.offline or self.plan)


@asynccontextmanager
async def open_model(
    options: ModelOptions,
    given: Mapping[str, Any],
    texts: Mapping[str, str],
    programs: Iterable[Program],
    notify: Callable[[str], None],
    sample: int = 0,
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Model]:
    """Yield the model; its prompts are made first, so that one that misfits costs no call.

    `given` are the settings of `llm:`, `texts` prompts by the name of their program, `sample` which
    of several replies to a request is asked for; `environment` has address, model and key.
    Raises ModelError for a missing setting, WorkflowError for a prompt that misfits, InputError for
    a cache that is not there.
    """
    if not options.use:
        yield NoModel()
        return
    # Imported late: these load slowly, and many jobs need no model.
    from trecjudge.models import client, dspy_lm, plan, settings

    chosen = settings.llm_settings(given, environment, key_needed=options.asks)
    # Prompts are made here, before the client opens: one that misfits costs no call.
    replies = _replies(options, chosen, texts, programs, notify)
    replies.requests.sample = sample
    # Before any item: what a judge runs in a thread, or in tasks of its own, has it from here. A
    # judge of DSPy modules has imported DSPy; for others it is not.
    fenced = dspy_lm.fencing_modules() if "dspy" in sys.modules else nullcontext()
    try:
        prices = replies.requests.settings.pricing
        if options.command.budget.max_cost is not None and prices is None:
            model = replies.requests.settings.model
            raise ModelError(f"--max cost=N: no prices are known for {model!r}; set llm.prices")
        if options.plan:
            with fenced:
                yield plan.Planner(replies, prices, seen=options.command.asked)
            return
        spending = Spending(options.command.budget, prices)
        options.command.spent.append(spending)
        asking = client.Client(replies, spending, options.offline, notify)
        options.command.asking.append(asking.call_off)
        if options.command.refused:
            asking.call_off(options.command.refused)
        async with asking as opened:
            with fenced:
                yield opened
    finally:
        replies.cache.close()


@asynccontextmanager
async def open_voters(
    options: ModelOptions,
    voters: Sequence[Voter],
    programs: Sequence[Program],
    notify: Callable[[str], None],
) -> AsyncIterator[Model]:
    """Yield the models of voters as one: they share the cache and the command's budget.

    Raises what `open_model` does.
    """
    async with AsyncExitStack() as stack:
        models: dict[str, Model] = {}
        for voter in voters:
            if voter.offline:
                models[voter.name] = NoModel()
                continue
            prefixed = partial(_notify_for, notify, voter.name)
            own = (voter.llm, voter.prompts, programs, prefixed, voter.sample)
            models[voter.name] = await stack.enter_async_context(open_model(options, *own))
        yield VotersModel(models)


def _notify_for(notify: Callable[[str], None], name: str, message: str) -> None:
    notify(f"voter {name}: {message}")


def _replies(
    options: ModelOptions,
    settings: LlmSettings,
    texts: Mapping[str, str],
    programs: Iterable[Program],
    notify: Callable[[str], None],
) -> Replies:
    """Return the cache with the requests that it is asked for."""
    from trecjudge.models import prompt, requests
    from trecjudge.models.cache.store import ReplyCache

    prompts = prompt.Prompts(texts, settings.adapter, listed_context(settings.model))
    for program in programs:
        prompts.prepare(program)
    folder = options.cache_folder or default_folder()
    cache = ReplyCache(folder, notify, options.cache_from, writes=options.asks)
    if options.asks and not options.command.untold:
        tell_if_open(folder, notify)
    cache.held = options.command.held
    cache.on_refused = partial(options.command.refuse, notify)
    asked = set() if options.plan else options.command.asked
    made = requests.Requests(settings, prompts)
    return requests.Replies(made, cache, options.refresh, asked)

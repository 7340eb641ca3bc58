"""What a judge sees of a model: programs, predictions, and several voters as one model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from trecjudge.errors import JudgmentFailed, unknown
from trecjudge.records import ModelCall


# What a judge sees of a model: programs to run, predictions to read.
@dataclass(frozen=True, slots=True)
class ReplyLength:
    """About how many tokens a reply has, for estimates of what calls cost.

    `fixed` tokens for any inputs, `each` for each entry of the list that it is aligned with, and
    `share` for each token of the input `of`; in all, no more than `most`.
    """

    fixed: int = 60
    each: int = 0
    share: float = 0.0
    of: str = ""
    most: int = 4000


@dataclass(frozen=True, slots=True)
class Wording:
    """How a DSPy module words one request: all that it may change from call to call.

    `demos` are worked examples, `sampling` is added to the request body, and a `rollout` is one of
    several samples of a request: each is asked for, and kept, on its own. A `signature` of None is
    the program's own, as the workflow words it.
    """

    signature: Any
    demos: tuple[Mapping[str, Any], ...] = ()
    sampling: Mapping[str, Any] = field(default_factory=dict)
    rollout: int | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A DSPy signature or module by name and by where it is: `module:Name`, imported when it runs.

    A module, of a class or made, declares its `signature`, and gives its fields.

    `aligned_with` names an input that is a list: every list of the reply must be as long.
    `length` is about how long a reply is. `each` is the program for one entry of that list: where
    a workflow overrides its prompt only, this one's follows. `voter` is
    who is asked, of several. `in_part`: what a reply has before it is cut can be used. `wording`
    is that of a module; a digest of it is in the `reference`.
    """

    name: str
    reference: str
    aligned_with: str = ""
    length: ReplyLength = field(default=ReplyLength(), compare=False)
    each: Program | None = None
    voter: str = field(default="", compare=False)
    in_part: bool = field(default=False, compare=False)
    wording: Wording | None = field(default=None, compare=False, repr=False)

    @property
    def asked_by_module(self) -> bool:
        """Whether a DSPy module words the request."""
        return self.wording is not None and self.wording.signature is not None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The output fields of a program, typed as in its signature, and the call that gave them.

    A field can be read as an attribute: `prediction.label` is `prediction.fields["label"]`. One
    called `fields`, `call` or `calls` is only in `fields`. Where a module answered, `calls` are
    those that it made, and the usage of `call` is that of all; else None.
    """

    fields: Mapping[str, Any]
    call: ModelCall
    calls: tuple[ModelCall, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        """Return an output field. Raises AttributeError with the names of those that there are."""
        # Copying and pickling look up names before `fields` is set: that would never end.
        if name.startswith("__") or name in self.__slots__:
            raise AttributeError(name)
        if name not in self.fields:
            raise AttributeError(unknown("field of the prediction", name, self.fields))
        return self.fields[name]

    def __dir__(self) -> Iterable[str]:
        return [*object.__dir__(self), *self.fields]


class Model(Protocol):
    """What a judge asks a model through; `available` is False where no model was asked for."""

    @property
    def available(self) -> bool:
        """Whether `predict` can be called."""

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once."""

    @property
    def lm(self) -> Any:
        """A `dspy.LM` that asks as `predict` does: `with dspy.context(lm=model.lm)`, in any module.

        To be taken in the event loop of the judge. Modules are awaited there (`acall`), or run in a
        thread (`dspy.asyncify`). They raise what `predict` does.
        """

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Run a program. Raises JudgmentFailed for this item, ModelError for all."""

    def spent(self) -> dict[str, Any]:
        """Return what was spent so far: calls, cached, ... by name; empty without a model."""

    def record(self) -> dict[str, Any] | None:
        """Return what makes it repeatable, the key left out; None without a model."""


@runtime_checkable
class CallingOff(Protocol):
    """A model whose requests may wait for their turn, and can be called off while they do."""

    def call_off(self, why: str) -> None:
        """Ask nothing from now on: what waits fails with `stopped`."""


class PromptChoices(Protocol):
    """The prompts of a model, which may be a user's own: they may ask for more, or singly."""

    def more_inputs(self, program: Program) -> tuple[str, ...]:
        """Return the names of inputs that a program's prompt asks for beyond its own."""

    def asked_singly(self, program: Program) -> str:
        """Return why a program for several inputs is not asked, but that for one; else ""."""

    def record(self, form_of: Callable[[Program], Any]) -> Mapping[str, Any]:
        """Return, as `prompts_sha256`, a digest of each prompt in a form by program, and more."""


@runtime_checkable
class Prompted(Protocol):
    """A model that asks by prompts that can be chosen."""

    @property
    def prompts(self) -> PromptChoices:
        """The prompts."""


class NoModel:
    """The model where none was asked for."""

    available = False
    in_flight = 1

    @property
    def lm(self) -> Any:
        """Raise JudgmentFailed: a module needs a model."""
        raise JudgmentFailed("no_model", "a DSPy module needs a model: add --use-env-llm")

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Raise JudgmentFailed: this judge needs a model."""
        raise JudgmentFailed("no_model", f"{program.name} needs a model: add --use-env-llm")

    def spent(self) -> dict[str, Any]:
        """Return an empty dict: nothing is spent."""
        return {}

    def record(self) -> dict[str, Any] | None:
        """Return None."""
        return None


class ModelWrapper:
    """A model through which another is asked: what it is, and spends, is that one's."""

    __slots__ = ()
    model: Model

    @property
    def available(self) -> bool:
        """Whether `predict` can be called."""
        return self.model.available

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once."""
        return self.model.in_flight

    @property
    def lm(self) -> Any:
        """A `dspy.LM` that asks through this wrapper."""
        return self.model.lm.through(self)

    def spent(self) -> dict[str, Any]:
        """Return what the model spent so far."""
        return self.model.spent()

    def record(self) -> dict[str, Any] | None:
        """Return what makes the model repeatable."""
        return self.model.record()


@dataclass(slots=True)
class Recorder(ModelWrapper):
    """A model that keeps the calls made through it.

    `about` are further inputs that a prompt may ask for, by name.
    """

    model: Model
    calls: list[ModelCall] = field(default_factory=list)
    about: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0
    """How many predictions were asked for."""
    _under_way: int = 0
    _over: asyncio.Event | None = None

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Run a program and keep its calls, a failed one too."""
        # Only where it is asked for: the inputs are in the key of the cache. By `getattr`, since
        # `isinstance` with a Protocol would take longer than all else here.
        prompts: PromptChoices | None = getattr(self.model, "prompts", None)
        if prompts is not None:
            for name in prompts.more_inputs(program):
                inputs[name] = self.about.get(name, "")
        self.asked += 1
        self._under_way += 1
        try:
            prediction = await self.model.predict(program, **inputs)
        except JudgmentFailed as failed:
            failed.program = program.name
            if isinstance(failed.call, ModelCall):
                self.calls.append(failed.call)
            raise
        finally:
            self._under_way -= 1
            if self._over is not None:
                self._over.set()
        self.calls += (prediction.call,) if prediction.calls is None else prediction.calls
        return prediction

    async def wait_until_idle(self) -> None:
        """Return when nothing is asked any more.

        A judge that gives up at the first of several failures leaves the others under way: they
        are paid for, and kept.
        """
        while self._under_way:
            if self._over is None or self._over.is_set():
                self._over = asyncio.Event()
            await self._over.wait()
            await asyncio.sleep(0)  # the caller that waited for it may ask again


# Several models behind one: a program that names a voter is run by that voter's own model.
@dataclass(frozen=True, slots=True)
class Voter:
    """Who votes: a model with its settings of `llm:` and its prompts by program, or words only.

    `sample` tells votes of one model apart: each is a reply of its own to the same request. Of the
    first voter of a cascade, `sure` is how sure it must be, 0 to 1, for nobody else to be asked,
    and `audit` the share of what it is sure of that the last one is asked nevertheless.
    """

    name: str
    llm: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    offline: bool = False
    sample: int = 0
    sure: float | None = None
    audit: float = 0.0


@dataclass(frozen=True, slots=True)
class VotersModel:
    """The models of all voters by name, as one. What no voter asks goes to the first model."""

    models: Mapping[str, Model]
    available: bool = True

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once, by each voter."""
        return max(model.in_flight for model in self.models.values())

    @property
    def lm(self) -> Any:
        """A `dspy.LM` that asks the model of what no voter asks."""
        return next(self._asking).lm.through(self)

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Run a program by its voter's model; the call, a failed one too, has the voter's name."""
        voter = program.voter or next(name for name, m in self.models.items() if m.available)
        # The voter's own model knows the program without a voter: equal models share replies.
        try:
            found = await self.models[voter].predict(replace(program, voter=""), **inputs)
        except JudgmentFailed as failed:
            if isinstance(failed.call, ModelCall):
                failed.call = by_voter(failed.call, voter)
            raise
        calls = found.calls and tuple(by_voter(call, voter) for call in found.calls)
        return replace(found, call=by_voter(found.call, voter), calls=calls)

    def call_off(self, why: str) -> None:
        """Ask nothing from now on."""
        for model in self.models.values():
            if isinstance(model, CallingOff):
                model.call_off(why)

    def spent(self) -> dict[str, Any]:
        """Return what all spent; the cost only where that of each is known."""
        first, *others = [model.spent() for model in self._asking]
        shared = [name for name in first if all(name in own for own in others)]
        return {name: _sum([own[name] for own in (first, *others)]) for name in shared}

    def record(self) -> dict[str, Any] | None:
        """Return what makes each voter repeatable, by name; None stands for words only."""
        return {"voters": {name: model.record() for name, model in self.models.items()}}

    @property
    def _asking(self) -> Iterator[Model]:
        return (model for model in self.models.values() if model.available)


def has_offline_voter(model: Model) -> bool:
    """Return whether one of several voters judges by words."""
    return isinstance(model, VotersModel) and not all(m.available for m in model.models.values())


def _sum(values: list[Any]) -> Any:
    """Return the sum; None where a part is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def by_voter(call: ModelCall, voter: str) -> ModelCall:
    """Return a call, and those before it, with the name of the voter."""
    earlier = tuple(replace(one, voter=voter) for one in call.earlier)
    return replace(call, voter=voter, earlier=earlier)


def wordings(model: Model) -> dict[str, str]:
    """Return a digest of each prompt by its program, in one form whatever an endpoint takes."""
    if isinstance(model, VotersModel):
        voters = model.models.items()
        return {f"{name}:{p}": d for name, own in voters for p, d in wordings(own).items()}
    if not isinstance(model, Prompted):
        return {}
    # What modules ask depends on what they are told: shards of one job need not ask the same.
    found = model.prompts.record(lambda program: "none" if program.wording else "chat")
    return dict(found["prompts_sha256"])


@dataclass(frozen=True, slots=True)
class VoterModel(ModelWrapper):
    """The model as one voter has it: what a judge asks is asked in the voter's name."""

    model: Model
    voter: Voter

    @property
    def available(self) -> bool:
        """Whether the voter has a model."""
        return self.model.available and not self.voter.offline

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Run a program in the voter's name. Raises JudgmentFailed where it has no model."""
        if not self.available:
            return await NoModel().predict(program, **inputs)
        return await self.model.predict(replace(program, voter=self.voter.name), **inputs)

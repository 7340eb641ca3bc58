"""Several models behind one: a program that names a voter is run by that voter's own model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.errors import JudgmentFailed
from trecjudge.models.model import (
    CallingOff,
    Model,
    ModelWrapper,
    NoModel,
    Prediction,
    Program,
    Prompted,
)
from trecjudge.records import ModelCall


@dataclass(frozen=True, slots=True)
class Voter:
    """Who votes: a model with its settings of `llm:` and its prompts by program, or words only.

    `sample` tells votes of one model apart: each is a reply of its own to the same request.
    """

    name: str
    llm: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    offline: bool = False
    sample: int = 0


@dataclass(frozen=True, slots=True)
class VotersModel:
    """The models of all voters by name, as one. What no voter asks goes to the first model."""

    models: Mapping[str, Model]
    available: bool = True

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once, by each voter."""
        return max(model.in_flight for model in self.models.values())

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
        return replace(found, call=by_voter(found.call, voter))

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
    return dict(model.prompts.record(lambda program: "chat")["prompts_sha256"])


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

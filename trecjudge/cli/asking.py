"""How a command may use a model, by its flags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from trecjudge.job.choice import model_options
from trecjudge.models.opening import ModelOptions
from trecjudge.models.spending import Budget


class ModelFlags(Protocol):
    """The flags on the model that every command has which may ask one."""

    @property
    def use_env_llm(self) -> bool:
        """Whether a model is asked."""

    @property
    def cache_dir(self) -> Path | None:
        """The folder of cached replies."""

    @property
    def cache_from(self) -> Sequence[Path] | None:
        """Folders of other caches."""

    @property
    def offline(self) -> bool:
        """Whether only cached replies are used."""

    @property
    def max_calls(self) -> int | None:
        """The most calls."""

    @property
    def max_tokens(self) -> int | None:
        """The most tokens."""

    @property
    def max_cost(self) -> float | None:
        """The most that they may cost."""


def options_of(
    flags: ModelFlags, refresh: bool = False, plan: bool = False, documents: Sequence[Path] = ()
) -> ModelOptions:
    """Return how a command may use a model; not every command can ask again, or only count.

    `documents` may be of a service, which can be asked without a model.

    A new budget each time: a command takes it once. Raises WorkflowError for flags that need a
    model.
    """
    budget = Budget(flags.max_calls, flags.max_tokens, flags.max_cost)
    caches = (flags.cache_dir, flags.cache_from or ())
    asked = (refresh, flags.offline, plan)
    return model_options(flags.use_env_llm, budget, *caches, *asked, documents)

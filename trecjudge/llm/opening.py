"""Opening the door to a model, or none: nothing of a model is imported where none is asked for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from trecjudge.cache import ReplyCache, default_folder
from trecjudge.llm.model import Model, NoModel, Program
from trecjudge.workflow import Workflow


class Asked(Protocol):
    """What is asked of a model: the part of a job that bears on it."""

    @property
    def use_model(self) -> bool:
        """Whether a model is to be used at all."""

    @property
    def workflow(self) -> Workflow:
        """The workflow, for `llm` and `prompts`."""

    @property
    def cache_folder(self) -> Path | None:
        """Where replies are kept, if not in the default place."""


@asynccontextmanager
async def open_model(
    asked: Asked, programs: Iterable[Program], say: Callable[[str], None]
) -> AsyncIterator[Model]:
    """Yield the model; its prompts are made first, so that one that misfits costs no call.

    Raises ModelError for a missing setting, WorkflowError for a prompt that misfits.
    """
    if not asked.use_model:
        yield NoModel()
        return
    from trecjudge.llm.settings import llm_settings

    settings = llm_settings(asked.workflow.llm, os.environ)
    from trecjudge.llm.door import Door
    from trecjudge.llm.prompt import Prompts

    prompts = Prompts(asked.workflow.prompts)
    for program in programs:
        prompts.prepare(program)
    cache = ReplyCache(asked.cache_folder or default_folder(), say)
    try:
        async with Door(settings, prompts, cache) as door:
            yield door
    finally:
        cache.close()

"""What a workflow of AutoJudge can set for our judges."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.errors import WorkflowError, unknown
from trecjudge.job.workflow import names_in
from trecjudge.models.settings import BASE_URL, MODEL
from trecjudge.settings.fields import typed_fields

KINDS = ("documents", "runs", "topic")


@dataclass(frozen=True)
class Settings:
    """The settings of a call: the flags of our own command, by their names.

    `set` are the settings of the judges, flat for one, by judge for several. `make_nuggets` says
    from what banks are made: `documents`, `runs`, `topic`. `description` is for readers only.
    """

    judge: str | list[str] = ""
    workflow: str = ""
    variant: str = ""
    set: dict[str, Any] = field(default_factory=dict)
    documents: str | list[str] = ""
    own_documents: bool = False
    qrels: str = ""
    nuggets: str | list[str] = ""
    use_env_llm: bool = False
    cache_dir: str = ""
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    make_nuggets: str | list[str] = ""
    most_nuggets: int = 20
    description: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Return the settings. Raises WorkflowError for an unknown key or a wrong value."""
        made = cls(**typed_fields(cls, given, "settings of trecjudge"))
        for kind in made.makes:
            if kind not in KINDS:
                raise WorkflowError(f"make_nuggets: {unknown('source', kind, KINDS)}")
        return made

    @property
    def judges(self) -> list[str]:
        """The names of the judges; none where a workflow of ours names them."""
        return _names_in(self.judge)

    @property
    def makes(self) -> list[str]:
        """What banks of nuggets are made from."""
        return _names_in(self.make_nuggets)

    @staticmethod
    def paths(given: str | list[str]) -> list[Path]:
        """Return one path or several."""
        return [Path(path) for path in ([given] if isinstance(given, str) else given) if path]


def llm_given(config: Any) -> dict[str, str]:
    """Return what their configuration knows of the endpoint and the environment does not."""
    found: dict[str, str] = {}
    if not os.environ.get(MODEL) and getattr(config, "model", None):
        found["model"] = str(config.model)
    if not any(map(os.environ.get, BASE_URL)) and getattr(config, "base_url", None):
        found["base_url"] = str(config.base_url)
    return found


def _names_in(given: str | list[str]) -> list[str]:
    return names_in(given if isinstance(given, str) else ",".join(given))

"""Where the model is and how it is asked: `llm:` of a workflow over the OPENAI_* environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from trecjudge.errors import ModelError, WorkflowError, unknown
from trecjudge.typed import typed_fields

BASE_URL = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
MODEL = "OPENAI_MODEL"
KEY = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Settings of the model door.

    `timeout` is in seconds and for one try; `tries` counts the first; `in_flight` bounds the
    requests under way. `give_up_after` failed items in a row end the run: the endpoint is dead.
    `temperature` null sends none.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 512
    timeout: float = 120.0
    in_flight: int = 32
    tries: int = 3
    give_up_after: int = 50
    extra_body: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address that requests are posted to."""
        return f"{self.base_url.rstrip('/')}/chat/completions"

    def public(self) -> dict[str, Any]:
        """Return the settings without the key."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "api_key"}


def llm_settings(workflow: Mapping[str, Any], environment: Mapping[str, str]) -> LlmSettings:
    """Return the settings; the workflow's values win over the environment's.

    Raises WorkflowError for an unknown key or a value of the wrong type, ModelError for a missing
    address, model or key.
    """
    known = [f.name for f in fields(LlmSettings) if f.name != "api_key"]
    for key in workflow:
        if key not in known:
            raise WorkflowError(f"llm: {unknown('key', key, known)}")
    values = dict(workflow)
    values.setdefault(
        "base_url", next((environment[n] for n in BASE_URL if environment.get(n)), "")
    )
    values.setdefault("model", environment.get(MODEL, ""))
    for name, variable in (("base_url", BASE_URL[0]), ("model", MODEL)):
        if not values[name]:
            raise ModelError(f"no {name}: set {variable}, or llm.{name} in the workflow")
    key = environment.get(KEY, "")
    if not key:
        raise ModelError(f"no key: set {KEY} (to any text if the endpoint asks for none)")
    typed = typed_fields(LlmSettings, values, "llm")
    return LlmSettings(**typed | {"api_key": key})

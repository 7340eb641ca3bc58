"""What an endpoint is asked for: where it is posted to, what sets it up, how answers are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trecjudge.models.envelope import Reply, reply_in

BASE_URL = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
MODEL = "OPENAI_MODEL"
KEY = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class EndpointService:
    """One service of an endpoint.

    `path` follows the base URL. `section` is its part of a workflow. `base_urls`, `models` and
    `keys` are variables of the environment, the first that is set counts. `reads` returns the reply
    in an answer, None where the answer is none.
    """

    section: str
    path: str
    base_urls: tuple[str, ...]
    models: tuple[str, ...]
    keys: tuple[str, ...]
    reads: Callable[[Any], Reply | None]

    def advice(self, status: int) -> str:
        """Return what to check after an answer of this status, as the end of a message."""
        address, model, key = self.base_urls[0], self.models[0], self.keys[0]
        known = {401: key, 403: key, 405: address}
        known |= dict.fromkeys((404, 410), f"{address} and {model}")
        return f"; check {known[status]}" if status in known else ""


CHAT = EndpointService("llm", "/chat/completions", BASE_URL, (MODEL,), (KEY,), reply_in)
"""A chat model's completions."""

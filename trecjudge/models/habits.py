"""What an endpoint and its model accept, learned from answers: forms, limits, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import orjson

from trecjudge.models.faults import ParameterFault
from trecjudge.models.frames import FORMS, Form

LIMITS = ("max_tokens", "max_completion_tokens")
LEAST_LIMIT = 16
"""The lowest limit of tokens that is learned: with less, no reply would fit."""


@dataclass(slots=True)
class Habits:
    """What is known of one model at one endpoint.

    `forms` and `limits` (of tokens) are by the name of the program. `without` are parameters that
    are left out. `other_limit`: the limit is sent under its other name. `no_system`: there is no
    system role. `ceiling` is the largest limit that is taken.
    """

    forms: dict[str, Form] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)
    other_limit: bool = False
    no_system: bool = False
    ceiling: int | None = None

    @classmethod
    def read(cls, kept: str | None) -> Habits:
        """Return the habits that `text` wrote; empty ones where it cannot be read."""
        try:
            found = orjson.loads(kept or "{}")
            known = {f.name for f in fields(cls)}
            habits = cls(**{name: value for name, value in found.items() if name in known})
            habits.forms = {name: form for name, form in habits.forms.items() if form in FORMS}
            habits.limits = {name: int(limit) for name, limit in habits.limits.items()}
        except (ValueError, TypeError, AttributeError):
            return cls()
        return habits

    def record(self) -> dict[str, Any]:
        """Return what was learned, for the config file; nothing that is usual anyway."""
        return {name: value for name, value in asdict(self).items() if value}

    def text(self) -> str:
        """Return the habits as JSON, for `read`."""
        return orjson.dumps(asdict(self)).decode()

    def learn(self, fault: ParameterFault, sent: dict[str, Any]) -> str:
        """Note what an endpoint does not take; return it in words, "" if that was known already."""
        limit = next((sent[name] for name in LIMITS if name in sent), None)
        if fault.parameter == "limit" and limit is not None:
            # Always below what was refused, or the same request would be sent again.
            most = max(LEAST_LIMIT, min(fault.most or limit, limit - 1))
            is_larger = fault.most is not None and fault.most > limit
            if is_larger or (self.ceiling is not None and self.ceiling <= most):
                return ""
            self.ceiling = most
            return f"replies are limited to {most} tokens"
        if fault.parameter == "max_tokens" and not self.other_limit:
            self.other_limit = True
            return "the token limit is sent under its other name"
        if fault.parameter == "system" and not self.no_system:
            self.no_system = True
            return "the instructions go into the user's message"
        if fault.parameter in sent and fault.parameter not in self.without:
            self.without.append(fault.parameter)
            return f"{fault.parameter} is not sent any more"
        return ""

    def applied(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request body as this endpoint takes it."""
        if not (self.without or self.other_limit or self.no_system or self.ceiling):
            return body
        body = {name: value for name, value in body.items() if name not in self.without}
        for name in LIMITS:
            if name in body and self.ceiling is not None:
                body[name] = min(body[name], self.ceiling)
        if self.other_limit:
            swapped = dict(zip(LIMITS, reversed(LIMITS), strict=True))
            body = {swapped.get(name, name): value for name, value in body.items()}
        if self.no_system:
            body["messages"] = _without_system(body["messages"])
        return body


def shared_habits(each: Sequence[Habits]) -> Habits:
    """Return the habits of equal models at several endpoints: forms and limits that fit all."""
    shared = Habits()
    for habits in each:
        for name, limit in habits.limits.items():
            shared.limits[name] = max(limit, shared.limits.get(name, 0))
        for name, form in habits.forms.items():
            # Markers work anywhere; a schema only where every endpoint has taken it.
            if form == "chat" or all(name in other.forms for other in each):
                shared.forms[name] = "chat" if shared.forms.get(name) == "chat" else form
    return shared


def _without_system(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with system texts moved to the head of the first user message."""
    texts = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if texts and others:
        others[0]["content"] = "\n\n".join([*texts, others[0]["content"]])
    return others

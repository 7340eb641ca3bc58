"""What is known of an endpoint: what it accepts, and whether it is in order; the choice of one."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import orjson

from trecjudge.models.access.access import accesses
from trecjudge.models.adapters import FORMS, Form
from trecjudge.models.faults import (
    AccountFault,
    Busy,
    ConfigurationFault,
    Fault,
    ParameterFault,
    Unreachable,
)
from trecjudge.models.pace import OUTAGE_FROM, Watchdog, growing_pause
from trecjudge.models.settings import LlmSettings
from trecjudge.models.transport import TOO_MANY, AnyTransport, Transport

LIMITS = ("max_tokens", "max_completion_tokens")
LEAST_LIMIT = 16
"""The lowest limit of tokens that is learned: with less, no reply would fit."""


@dataclass(slots=True)
class EndpointCapabilities:
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
    def read(cls, kept: str | None) -> EndpointCapabilities:
        """Return the capabilities that `text` wrote; empty ones where it cannot be read."""
        try:
            found = orjson.loads(kept or "{}")
            known = {f.name for f in fields(cls)}
            read = cls(**{name: value for name, value in found.items() if name in known})
            read.forms = {name: form for name, form in read.forms.items() if form in FORMS}
            read.limits = {name: int(limit) for name, limit in read.limits.items()}
        except (ValueError, TypeError, AttributeError):
            return cls()
        return read

    def record(self) -> dict[str, Any]:
        """Return what was learned, for the config file; nothing that is usual anyway."""
        return {name: value for name, value in asdict(self).items() if value}

    def text(self) -> str:
        """Return the capabilities as JSON, for `read`."""
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

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
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


def shared_capabilities(each: Sequence[EndpointCapabilities]) -> EndpointCapabilities:
    """Return what equal models at several endpoints have in common: forms, and limits for all."""
    shared = EndpointCapabilities()
    for capabilities in each:
        for name, limit in capabilities.limits.items():
            shared.limits[name] = max(limit, shared.limits.get(name, 0))
        for name, form in capabilities.forms.items():
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


LEAST_SLACK = 4
"""Requests added to each queue when queues are compared; or an endpoint's share, if larger."""
OVERLOADED = 2.0
"""How many times the shortest wait a request may have to wait, to stay with its document."""
FORBIDDEN = 403
START = 4096
"""Characters of a document by which it is recognised."""


@dataclass(slots=True, eq=False)
class Endpoint:
    """One endpoint: how it is asked, what it takes, and whether it is in order.

    `closed` is why nothing is asked of it any more; `out` that it failed and is tried with one
    request at a time. `no_schema` are programs whose JSON schema it refused.
    """

    url: str
    transport: AnyTransport
    capabilities: EndpointCapabilities
    closed: str = ""
    out: bool = False
    pauses: int = 0
    no_schema: set[str] = field(default_factory=set)
    _failed: set[int] = field(default_factory=set)
    _forbidden: set[int] = field(default_factory=set)

    @property
    def under_way(self) -> int:
        """How many requests are sent or wait for their turn."""
        return self.transport.pace.in_flight + self.transport.pace.waiting

    @property
    def is_ready(self) -> bool:
        """Whether it may be asked: one that is out of order with one request, after a pause."""
        if self.closed:
            return False
        return not self.out or (self.transport.pace.seconds_held <= 0 and self.under_way == 0)

    def wait(self, otherwise: float, slack: float = 0.0) -> float:
        """Return roughly how many seconds a further request would take."""
        busy = (self.under_way + slack) * self.transport.load.seconds(otherwise)
        return busy + self.transport.pace.seconds_held

    def note_answer(self) -> None:
        """Note that it is in order."""
        if self.pauses or self._failed or self._forbidden:
            self.out, self.pauses = False, 0
            self._failed.clear()
            self._forbidden.clear()

    def note_fault(self, fault: Fault, mark: int) -> bool:
        """Note a fault of its own, on an item; return whether it went out of order by it."""
        if isinstance(fault, AccountFault | ConfigurationFault):
            # A 403 may be about this item only; if two different items get one, it is the key.
            self._forbidden.add(mark)
            if fault.status != FORBIDDEN or len(self._forbidden) > 1:
                self.closed = str(fault)
            return bool(self.closed)
        pace = self.transport.pace
        if fault.status == TOO_MANY:
            pace.turn_away()
            return False
        # By item: one bad item must not put an endpoint out of order.
        self._failed.add(mark)
        if not isinstance(fault, Busy | Unreachable) and len(self._failed) < OUTAGE_FROM:
            return False
        was, self.out = self.out, True
        if pace.seconds_held <= 0:  # else another request of the same moment has paused it
            self.pauses += 1
            asked = fault.after if isinstance(fault, Busy) else 0.0
            pace.pause(asked or growing_pause(self.pauses))
        pace.turn_away()
        return not was


class Endpoints:
    """The endpoints of a client; with one of them there is nothing to choose."""

    def __init__(
        self,
        settings: LlmSettings,
        capabilities: Sequence[EndpointCapabilities],
        notify: Callable[[str], None],
        offline: bool = False,
    ) -> None:
        # Offline no request is sent: variables that headers name need not be set.
        asked = replace(settings, headers={}, query={}) if offline else settings
        found = zip(settings.urls, accesses(asked, os.environ), capabilities, strict=True)
        # At least two timeouts: one item that hangs does not show that the endpoint is silent.
        least, patience = 2 * settings.timeout, settings.patience
        first = max(least, min(patience, settings.first_answer))
        self.silence = Watchdog(first, max(least, patience))
        self.all = [
            Endpoint(url, Transport(settings, access, self.silence), own)
            for url, access, own in found
        ]
        self.several = len(self.all) > 1
        self._slack = max(LEAST_SLACK, settings.in_flight / len(self.all))
        self._places = asyncio.Semaphore(settings.in_flight)
        self._notify = notify

    @property
    def in_flight(self) -> int:
        """How many requests are under way."""
        return sum(endpoint.transport.pace.in_flight for endpoint in self.all)

    @property
    def throttled(self) -> int:
        """How many requests were refused as one too many (429)."""
        return sum(endpoint.transport.pace.throttled for endpoint in self.all)

    def cap(self, most: float) -> None:
        """Ask at most so many at a time, until the cap is lifted."""
        for endpoint in self.all:
            endpoint.transport.pace.cap = most

    def release(self) -> None:
        """Let all waiting requests through: they will not be sent."""
        for endpoint in self.all:
            endpoint.transport.pace.release()

    def hurry(self) -> None:
        """Wait for no large reply any more."""
        for endpoint in self.all:
            endpoint.transport.hurry()

    async def enter(self, document: str, avoided: Collection[Endpoint]) -> Endpoint:
        """Return the endpoint for a request, when there is a place; `leave` gives it back."""
        if not self.several:
            return self.all[0]
        await self._places.acquire()
        return self.choose(document, avoided)

    def leave(self) -> None:
        """Give the place back."""
        if self.several:
            self._places.release()

    def choose(self, document: str, avoided: Collection[Endpoint] = ()) -> Endpoint:
        """Return the endpoint that has this document, unless it is out of order or overloaded."""
        # If all are closed, the request goes to one of them, and fails with its reason.
        open_ = [endpoint for endpoint in self.all if not endpoint.closed] or self.all
        ready = [endpoint for endpoint in open_ if endpoint.is_ready]
        fresh = [endpoint for endpoint in ready if endpoint not in avoided]
        known = [mean for e in self.all if (mean := e.transport.load.mean) is not None]
        typical = sum(known) / len(known) if known else 1.0
        if not ready:
            return min(open_, key=lambda endpoint: endpoint.wait(typical))
        # The slack keeps short queues equal: a few requests more are no reason to lose a cache.
        waits = {endpoint: endpoint.wait(typical, self._slack) for endpoint in fresh or ready}
        most = OVERLOADED * min(waits.values())
        fit = [endpoint for endpoint, wait in waits.items() if wait <= most]
        start = document[:START]
        return max(fit, key=lambda endpoint: _rank(endpoint.url, start))

    def moves_on(self, endpoint: Endpoint, fault: Fault, mark: int, avoided: set[Endpoint]) -> bool:
        """Note a fault of an endpoint; return whether another one is to be asked at once."""
        if not self.several or not _is_of_an_endpoint(fault):
            return False
        if endpoint.note_fault(fault, mark):
            goes_on = "it is not asked any more" if endpoint.closed else "it is tried again later"
            self._notify(f"{endpoint.url}: {fault}; {goes_on}, the others are asked")
        if all(other.closed for other in self.all):
            return False
        avoided.add(endpoint)
        if any(other.is_ready and other not in avoided for other in self.all):
            return True
        # All of them failed: this counts as one failure, and each may be asked again.
        avoided.clear()
        return False

    async def close(self) -> None:
        """Close the sessions."""
        self.silence.close()
        for endpoint in self.all:
            await endpoint.transport.close()


def _is_of_an_endpoint(fault: Fault) -> bool:
    if isinstance(fault, AccountFault | Busy | ConfigurationFault | Unreachable):
        return True
    return type(fault) is Fault and fault.kind == "transport"


def _rank(url: str, document: str) -> bytes:
    """Return the rank of an endpoint for a document, independent of the other endpoints."""
    # Rendezvous hashing: a document stays where its prefix is cached when endpoints come or go.
    text = f"{url}\n{document}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=8).digest()

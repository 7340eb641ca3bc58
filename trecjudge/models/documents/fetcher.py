"""Asking a service for documents: a few requests at a time, patiently, and what replies mean."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlsplit

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, brief, plural
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.progress import CollectionProgress, report_progress
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.documents.collection import field_guessed
from trecjudge.inputs.documents.names import NESTED, plain
from trecjudge.inputs.documents.record import Tell, document_of, ids_of, names_text
from trecjudge.inputs.pipelines.parts import parse_json_text
from trecjudge.models.access.access import Access
from trecjudge.models.access.addresses import VARIABLE, substitute_variables
from trecjudge.models.documents.service import HEADERS, NAMED, DocumentApi, address_of
from trecjudge.models.faults import Busy, ConfigurationFault, Fault, Unreachable, problem_in
from trecjudge.models.faults import plain as text_of_page
from trecjudge.models.pace import OutageTracker, Watchdog, growing_pause
from trecjudge.models.settings import EndpointService as ServiceOfEndpoint
from trecjudge.models.settings import LlmSettings
from trecjudge.models.transport import PROXY_DENIES, SHORTEST_SECRET, TOO_MANY, Transport
from trecjudge.records import Document, Place
from trecjudge.settings.limits import limits

Mask = Callable[[str], str]
PAUSES = (1.0, 60.0)
"""The first and the longest pause, in seconds, while a service is out of order."""
FIRST_ANSWER = 60.0
"""Seconds for which the first answer of all is waited for."""
TRIES, AT_FIRST = 5, 2
"""How often one document is asked for; and requests at once until there is an answer."""
FEW, MANY = 10, 200
"""Documents in a row that may be refused, before and after one has come."""
MOST_ABSENT, MOST_FORBIDDEN = 1000, 3
"""Documents that may be missing, or closed, while none comes: then it is address or token."""
BATCH, PROOFS = 200, 3
"""Documents asked for before those are settled that are not there; and how many may prove it."""
NOBODY, FORBIDDEN, ABSENT = ("401", str(PROXY_DENIES)), "403", "404"
"""Kinds of causes: nobody is let in, a document is closed, or it is not there."""
KEPT, REDIRECTED = "kept", "redirected"
"""It is not there, but was before; or it is not there where a redirect led."""
IS_IT_RIGHT = "is the address right?"
SHOWN = 3
"""Ids that a message shows."""


class NotTaken(Exception):
    """A reply that is not the document that was asked for."""


def document_in(payload: bytes, doc_id: str, path: str, tell: Tell, mask: Mask = str) -> Document:
    """Return the document of a reply, which is JSON: an object, or its text.

    `path` is the dotted path to the text, empty where it is found as in any document. `tell` is
    called with a field that is the text by guess, `mask` hides secrets. Raises NotTaken.
    """
    try:
        value = _load(payload)
    except orjson.JSONDecodeError:
        words = " ".join(mask(text_of_page(payload.decode(errors="replace"))).split())
        raise NotTaken(f"is not JSON: {brief(words)}") from None
    record = _mask_texts(value, mask)
    if isinstance(record, dict):
        record = {k: _load_object(v) if plain(k) in NESTED else v for k, v in record.items()}
    ids = [*ids_of(record)[0]] if isinstance(record, Mapping) else []
    if ids and doc_id not in ids:
        raise NotTaken(f"is of another document: {brief(ids[0])}")
    # Without an id it may be a message: the one long field of that is no text.
    document = document_of(record, doc_id, tell=tell if ids and not path else None)
    if document is None:
        raise NotTaken(f"holds no document: {brief(record)}")
    if path:
        named = document_of({"text": _text_at(record, path)}, doc_id)
        return replace(document, text=named.text if named else "")
    if not document.has_text and isinstance(record, Mapping):
        if error := next((record[key] for key in ("error", "errors") if record.get(key)), None):
            raise NotTaken(f"is an error: {brief(error)}")
        if not names_text(record):
            raise NotTaken(f"has no text under a known name: keys {brief(sorted(record))}")
    return document


def names_document(doc_id: str, payload: bytes, words: str) -> bool:
    """Return whether an object of JSON has this id in its `words`, and not in an address only.

    Only the service itself says so that a document is not there; a gateway may quote the address.
    """
    is_object = payload.lstrip().startswith(b"{")
    return is_object and bool(re.search(rf"(?<![\w/=]){re.escape(doc_id)}(?!\w)", words))


def _load(payload: bytes) -> Any:
    """Return what JSON holds. Raises NotTaken beyond a limit, JSONDecodeError."""
    most = limits()
    if excess := most.excess_of_text(payload):
        raise NotTaken(excess)
    value = orjson.loads(payload)
    if excess := most.excess(value):
        raise NotTaken(excess)
    return value


def _mask_texts(value: Any, mask: Mask) -> Any:
    """Return a value without secrets. Before a message quotes a part of it: half a key is one."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(key): _mask_texts(inner, mask) for key, inner in value.items()}
    return [_mask_texts(inner, mask) for inner in value] if isinstance(value, list) else value


def _load_object(value: Any) -> Any:
    """Return the object that a text of JSON holds, and any other value as it is."""
    found = parse_json_text(value.lstrip()) if isinstance(value, str) else value
    return found if isinstance(found, dict) else value


def _text_at(record: Any, path: str) -> Any:
    """Return the text at a dotted path. Raises NotTaken where there is none."""
    value = record
    for name in path.split("."):
        value = _load_object(value)
        if not isinstance(value, dict) or name not in value:
            keys = f"keys {brief(sorted(value))}" if isinstance(value, dict) else brief(value)
            raise NotTaken(f"has no {path!r} (`text` of the service): {name!r} is not in {keys}")
        value = value[name]
    if not (isinstance(value, str) or value is None or isinstance(value, list)):
        raise NotTaken(f"has no text at {path!r} (`text` of the service): {brief(value)}")
    return value


@dataclass(frozen=True)
class _Settings(LlmSettings):
    service: ClassVar[ServiceOfEndpoint] = ServiceOfEndpoint(
        "documents", "", ("--documents",), ("",), (HEADERS,), lambda answer: None
    )


class _Ended(Exception):
    """Nothing more is asked; the message is why."""


@dataclass(slots=True)
class Fetcher:
    """Asks for documents, and keeps what comes.

    Of `total` documents, `done` are settled. `unknown` are those that could not be fetched, by kind
    of cause: also those that are not there, until a document that is known to be there has come
    after them: one that came before, or one of `proofs`. `causes` has the first of each kind in
    words. `ended` is why nothing more is asked. With `refresh` what is kept is asked for, too.
    Jobs of another `seed` ask in another order: each leaves out what others have kept meanwhile.
    """

    service: DocumentApi
    kept: KeptDocuments
    notify: Callable[[str], None]
    proofs: Sequence[str] = ()
    refresh: bool = False
    seed: str = ""
    unknown: dict[str, list[str]] = field(default_factory=dict)
    causes: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    found: int = 0
    done: int = 0
    total: int = 0
    _guessed: dict[str, None] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    _came: list[str] = field(default_factory=list)
    _proof: str = ""
    _began: float = 0.0
    _access: Access = field(init=False)
    _mask: Callable[[str], str] = field(init=False)
    _transport: Transport = field(init=False)
    _patience: OutageTracker = field(init=False)

    async def run(self, ids: Sequence[str]) -> None:
        """Ask for documents by these ids. Raises InputError, ModelError."""
        self.total, self._began = len(ids), _now()
        self._open()
        # As if by chance: a run with wrong ids is no row of them.
        left = sorted(ids, key=lambda i: hashlib.sha256(f"{self.seed}{i}".encode()).digest())
        try:
            for start in range(0, len(left), BATCH):
                await self._ask_all(left[start : start + BATCH])
                await self._settle_absent()
        except _Ended as end:
            self.ended = str(end)
        finally:
            self._patience.close()
            await self._transport.close()
            self._tell(ended=True)
        if self.unknown.keys() == {FORBIDDEN} and not self._came:
            raise self._denial(self.causes[FORBIDDEN])

    def _open(self) -> None:
        service = self.service
        self._access = access_to(service, os.environ)
        # A word of a few letters is no secret, and masking it would mangle documents.
        long = tuple(secret for secret in self._access.secrets if len(secret) >= SHORTEST_SECRET)
        self._mask = replace(self._access, secrets=long).mask
        settings = _Settings(
            self._access.url,
            "",
            timeout=service.timeout,
            in_flight=service.at_once,
            most_bytes=limits().record,
        )
        self._transport = Transport(settings, self._access, Watchdog(math.inf, math.inf))
        first = min(service.patience, FIRST_ANSWER)
        self._patience = OutageTracker(first, FEW, 1, self.notify, service.name, pauses=PAUSES)
        pace = self._transport.pace
        pace.longest, pace.on_hold = self._patience.seconds_left, self._patience.note_hold
        # A wrong token costs no more requests; with one alone, a slow document would hold up all.
        pace.cap = AT_FIRST

    async def _ask_all(self, ids: Sequence[str]) -> None:
        queue = iter(ids)
        workers = [asyncio.create_task(self._work(queue)) for _ in range(self.service.at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, queue: Iterator[str]) -> None:
        for doc_id in queue:
            state = self.kept.state_of(doc_id)
            if self.refresh or state == "not looked for":
                await self._settle(doc_id)
            else:
                self.done += 1
                self.found += state == "found"
            self._tell()

    async def _settle_absent(self) -> None:
        """Settle what is not there, if what is known to be there comes. Raises _Ended, InputError.

        A reply that names the document is the service's own: one document that came is enough. Any
        other may be a gateway's: it is asked for once more, and proven anew.
        """
        if self._came and (absent := self.unknown.pop(ABSENT, [])):
            self.kept.not_there(i for i in absent if i in self._named)
            if others := [i for i in absent if i not in self._named]:
                self.unknown[ABSENT] = others
        for is_second in (False, True):
            absent = self.unknown.get(ABSENT, [])
            if not absent or not await self._proves():
                break
            del self.unknown[ABSENT]
            self.kept.not_there(i for i in absent if is_second or i in self._named)
            if not is_second and (again := [i for i in absent if i not in self._named]):
                self.done -= len(again)
                await self._ask_all(again)
        if len(self.unknown.get(ABSENT, ())) >= MOST_ABSENT:
            raise _Ended(f"{MOST_ABSENT:,} are not there, and no document comes; {IS_IT_RIGHT}")

    async def _proves(self) -> bool:
        known = dict.fromkeys([*self._came, *self.kept.some_ids(PROOFS), *self.proofs])
        comes = False
        for self._proof in [i for i in known if i not in self.unknown[ABSENT]][:PROOFS]:
            comes = comes or await self._settle(self._proof)
        self._proof = ""
        return comes

    async def _settle(self, doc_id: str) -> bool:
        """Ask for a document until it is settled; return whether it came.

        Raises _Ended, InputError.
        """
        tries, since = 0, _now()
        while True:
            wait = 0.0
            await self._transport.pace.enter(0)
            try:
                return await self._ask(doc_id)
            except NotTaken as reply:
                words = f"the reply {self._access.mask(str(reply))}"
                self._note_refusal(doc_id, words.partition(":")[0], words)
                return False
            except Fault as fault:
                words = self._describe(fault)
                if isinstance(fault, ConfigurationFault) and not fault.status:
                    raise InputError(f"{self.service.name}: {words}") from None
                # Other faults are of this very request: to ask again would not help.
                if not (type(fault) is Fault or isinstance(fault, Busy | Unreachable)):
                    self._note_refusal(doc_id, str(fault.status), words)
                    return False
                if self._is_outage(doc_id, fault):
                    self._wait(fault, words)
                else:
                    tries += 1
                    wait = growing_pause(tries, *PAUSES)
                if tries >= TRIES or _now() - since > self.service.patience:
                    self._note_unknown(doc_id, str(fault.status), words)
                    return False
            finally:
                self._transport.pace.leave()
            await asyncio.sleep(wait)

    async def _ask(self, doc_id: str) -> bool:
        """Ask once, and keep what comes; return whether it came. Raises NotTaken, Fault, _Ended."""
        transport, url = self._transport, address_of(self._access.url, doc_id)
        status, headers, payload, _, there = await transport.follow_redirects("GET", url)
        transport.pace.learn(headers)
        if status not in (200, 404, 410):
            raise transport.failure(status, headers, payload)
        self._note_answer()
        if status != 200:
            is_elsewhere = there.partition(":")[2] != url.partition(":")[2]
            self._note_absent(doc_id, status, payload, is_elsewhere)
            return False
        path, tell_guess = self.service.text, self._guessed.setdefault
        document = document_in(payload, doc_id, path, tell_guess, self._mask)
        with self.kept.change():
            self.kept.add([FoundDocument(document, source=self.service.public_address(doc_id))])
            self.kept.sample([doc_id])
        self.found += doc_id != self._proof
        self.done += doc_id != self._proof
        self._came = [doc_id]
        self._patience.note_success()
        self._patience.give_up_after = MANY
        return True

    def _note_answer(self) -> None:
        patience, pace = self._patience, self._transport.pace
        patience.seconds = self.service.patience
        patience.note_answer()
        if pace.cap == AT_FIRST:
            pace.cap = math.inf
        pace.note_success()

    def _note_absent(self, doc_id: str, status: int, payload: bytes, is_elsewhere: bool) -> None:
        """Note that a document is not there, or not where a redirect led. Raises _Ended."""
        problem = problem_in(status, payload, self._access.mask)
        words, kind = str(problem).rstrip(": "), ABSENT
        if is_elsewhere:
            words = f"{words}, where a redirect led; give the address that has the documents"
            self._note_refusal(doc_id, REDIRECTED, words)
            return
        if names_document(doc_id, payload, problem.words):
            self._named.add(doc_id)
        elif self.kept.state_of(doc_id) == "found":
            words, kind = f"{words}; the text that is kept stays", KEPT
        self._note_unknown(doc_id, kind, words)

    def _is_outage(self, doc_id: str, fault: Fault) -> bool:
        """Return whether a fault is the service's, not this document's; note one that is not."""
        mark = hash(doc_id)
        # A service may fail by 503 for one document; whoever asks to wait means everybody.
        asks = isinstance(fault, Busy) and (fault.after > 0 or fault.status == TOO_MANY)
        if asks or isinstance(fault, Unreachable) or self._patience.is_outage(fault.kind, mark):
            return True
        self._patience.note_failure(fault.kind, mark)
        return False

    def _wait(self, fault: Fault, words: str) -> None:
        """Hold all requests back until the service may be in order. Raises _Ended."""
        patience, pace = self._patience, self._transport.pace
        if patience.note_wait(words):
            advice = "run the same command again to go on"
            raise _Ended(f"waited for {patience.seconds:g} s in vain: {words}; {advice}")
        asked = fault.after if isinstance(fault, Busy) else 0.0
        pause = min(asked or patience.pause(), patience.seconds_left())
        if fault.status == TOO_MANY:
            pace.hold(pause)
        else:
            pace.pause(pause)

    def _describe(self, fault: Fault) -> str:
        if fault.kind == "too_large":
            return f"the reply {limits().too_long}"
        words = str(fault).rstrip(": ")
        late = f"no whole reply within {self.service.timeout:g} s (timeout)"
        return late if words == TimeoutError.__name__ else words

    def _note_refusal(self, doc_id: str, kind: str, words: str) -> None:
        """Note an answer of no use; `kind` is its status, or what is wrong with it.

        Raises InputError where the service lets nobody in, _Ended after too many in a row.
        """
        if kind in NOBODY:
            raise self._denial(words)
        self._note_answer()
        self._note_unknown(doc_id, kind, words)
        # Some may be closed to all; so many, and no other answer, show that it is the token.
        closed = len(self.unknown.get(FORBIDDEN, ())) >= MOST_FORBIDDEN
        if closed and not (self._came or ABSENT in self.unknown):
            raise self._denial(words)
        if self._patience.note_failure(kind, hash(doc_id)):
            row = f"{self._patience.in_a_row} in a row were refused"
            raise _Ended(f"{row}: {words}; {IS_IT_RIGHT}")

    def _note_unknown(self, doc_id: str, kind: str, words: str) -> None:
        """Note a document of which it is not known whether it is there."""
        if doc_id == self._proof:  # it is not asked for itself
            return
        self.done += 1
        self.unknown.setdefault(kind, []).append(doc_id)
        self.causes.setdefault(kind, words)

    def _denial(self, words: str) -> InputError:
        """Return the error of a service that lets nobody in, and ask no more."""
        self._transport.pace.cap = 0
        named = {name: VARIABLE.findall(str(v)) for name, v in self.service.headers.items()}
        given = [f"{', '.join(found)} (header {name})" for name, found in named.items() if found]
        hint = f"check {', '.join(given)}" if given else f"set {HEADERS} to {NAMED}, for its token"
        return InputError(f"{self.service.name}: {words}; {hint}")

    def findings(self) -> Iterator[Finding]:
        """Yield what could not be fetched, a finding for each kind of cause."""
        place = Place(self.service.name)
        for name in self._guessed:
            yield field_guessed(place, name)
        for kind, ids in self.unknown.items():
            why = self.causes[kind]
            if kind == ABSENT:
                came = "came after it" if self._came else "at all was there"
                why = f"{why}; no document {came}: {IS_IT_RIGHT}"
            some = ", ".join(map(brief, ids[:SHOWN])) + (", …" if len(ids) > SHOWN else "")
            message = f"{plural(len(ids), 'document')} not fetched ({some}): {why}"
            yield Finding("documents_not_fetched", place, message, some)
        if self.ended:
            number = plural(self.total - self.done, "document")
            message = f"{number} not fetched: {self.ended}"
            yield Finding("documents_not_fetched", place, message)

    def _tell(self, ended: bool = False) -> None:
        counts = self.done, self.total, self.found, self.total
        report_progress(
            CollectionProgress(self.service.name, *counts, _now() - self._began, False, ended)
        )


def access_to(service: DocumentApi, environment: Mapping[str, str]) -> Access:
    """Return how a service is reached, with all that must be hidden. Raises ModelError."""
    taken: list[str] = []
    sent = substitute_variables(f"{service.name}: headers", service.headers, environment, taken)
    values = {name: f"${{{name}}}" for name in VARIABLE.findall(service.url)}
    values = substitute_variables(f"{service.name}", values, environment, taken)
    url = VARIABLE.sub(lambda found: quote(values[found[1]], safe=":"), service.url)
    # A variable may hold `Bearer` itself.
    sent = {name: value.replace("Bearer Bearer ", "Bearer ") for name, value in sent.items()}
    password = urlsplit(url).password or ""
    secrets = [*taken, *(value.split()[-1] for value in taken), password, unquote(password)]
    secrets += [quote(value, safe=":") for value in taken]
    return Access.at(url, {"Accept": "application/json"} | sent, secrets, environment)


def _now() -> float:
    return asyncio.get_running_loop().time()

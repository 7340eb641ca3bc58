"""HTTP transport: sends a request to an endpoint, reads the answer within limits, times it."""

from __future__ import annotations

import asyncio
import math
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from errno import ECONNREFUSED as REFUSED
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urljoin

import orjson

from trecjudge.errors import JudgmentFailed
from trecjudge.findings import brief
from trecjudge.models.access.access import Access
from trecjudge.models.access.addresses import same_origin
from trecjudge.models.envelope import Reply, answer_in
from trecjudge.models.faults import (
    Busy,
    ConfigurationFault,
    Fault,
    ItemFault,
    Unreachable,
    fault_of,
    is_error,
    plain,
    problem_in,
    status_of,
)
from trecjudge.models.pace import Pace, Watchdog, seconds_of
from trecjudge.models.settings import LlmSettings
from trecjudge.settings.limits import shown_bytes

if TYPE_CHECKING:
    import aiohttp

# The bodies of answers, read and unpacked only as far as the limits go.
CODINGS = "gzip, deflate"
"""How an answer may be packed."""
PLAIN = frozenset({"", "identity"})
OF_AN_ERROR = 1 << 16
"""Bytes that are read of an answer that is an error."""
OF_A_FILE = 4 << 30
"""Bytes of a file of answers, which is kept on disk."""
LARGE = 1 << 18
"""Bytes from which on an answer is not waited for any more once the user has interrupted."""
CHUNK = 1 << 16
_ZLIB = 8
"""The lower half of the first byte of deflated data that have a header."""


async def body_of(
    response: aiohttp.ClientResponse,
    most: int,
    hurried: Callable[[], bool],
    still: float | None = None,
) -> bytes:
    """Return the body of an answer; of an error the beginning.

    Raises ItemFault where it has more than `most` bytes, packed or not, JudgmentFailed where it is
    large and `hurried`, TimeoutError where nothing comes for `still` seconds.
    """
    found = bytearray()
    is_error = response.status >= 400
    async for piece in pieces_of(response, still):
        found += piece
        if is_error and len(found) >= OF_AN_ERROR:
            response.close()
            return bytes(found[:OF_AN_ERROR])
        if len(found) > most:
            response.close()
            raise too_large(most)
        if len(found) > LARGE and hurried():
            response.close()
            raise JudgmentFailed("interrupted", "a large reply was not waited for")
    return bytes(found)


async def keep_body(
    response: aiohttp.ClientResponse, into: IO[bytes], most: int, still: float | None = None
) -> None:
    """Write the body of an answer to a file, from its beginning on; of one too large, a part.

    Such a part is longer than `most`. Raises TimeoutError as `body_of`.
    """
    into.seek(0)
    into.truncate()
    async for piece in pieces_of(response, still):
        into.write(piece)
        if into.tell() > most:
            response.close()
            return


def too_large(most: int) -> ItemFault:
    """Return the fault of a reply of more than `most` bytes."""
    size = shown_bytes(most)
    return ItemFault("too_large", f"the reply is larger than {size} (llm.most_bytes)")


async def pieces_of(
    response: aiohttp.ClientResponse, still: float | None = None
) -> AsyncIterator[bytes]:
    """Yield the body of an answer, unpacked, in small pieces.

    Raises Fault on nonsense, TimeoutError where nothing comes for `still` seconds.
    """
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    unpacker: Any = None
    while packed := await _next_piece(response.content, still):
        if coding in PLAIN:
            yield packed
            continue
        unpacker = unpacker or _unpacker(coding, packed)
        left = packed
        try:
            while left and not unpacker.eof:
                yield unpacker.decompress(left, CHUNK)
                left = unpacker.unconsumed_tail
        except zlib.error as error:
            raise Fault("transport", f"the answer cannot be unpacked: {error}") from error
    if unpacker is not None and not unpacker.eof:
        raise Fault("transport", "the answer cannot be unpacked: it breaks off")


async def _next_piece(content: aiohttp.StreamReader, still: float | None) -> bytes:
    """Return what has come of a body since the last piece, empty at its end."""
    if still is None:
        return await content.readany()
    # The session's own limit does not hold where a head comes before the request is sent.
    async with asyncio.timeout(still):
        return await content.readany()


def _unpacker(coding: str, first: bytes) -> Any:
    if coding in ("gzip", "x-gzip"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if coding == "deflate":  # some leave out the header
        return zlib.decompressobj(zlib.MAX_WBITS if first[0] & 0xF == _ZLIB else -zlib.MAX_WBITS)
    raise Fault("transport", f"the answer is packed as {coding!r}: only {CODINGS} are read")


# HTTP transport: sends one request at a time to an endpoint, reads its answer, times it.
NEWEST = 0.2
"""How much the newest answer counts in the mean."""


@dataclass(slots=True)
class Load:
    """The mean seconds of an answer, None before the first, and the requests under way."""

    mean: float | None = None
    _number: int = 0
    _under_way: dict[int, float] = field(default_factory=dict)

    def begin(self) -> int:
        """Note a request that is sent; return its number."""
        self._number += 1
        self._under_way[self._number] = asyncio.get_running_loop().time()
        return self._number

    def end(self, number: int, answered: bool) -> None:
        """Note that a request is over; one that failed is not measured."""
        took = asyncio.get_running_loop().time() - self._under_way.pop(number)
        if answered:
            self.mean = took if self.mean is None else self.mean + NEWEST * (took - self.mean)

    def seconds(self, otherwise: float) -> float:
        """Return the seconds to expect: at least as many as the oldest request has waited for."""
        mean = otherwise if self.mean is None else self.mean
        if not self._under_way:
            return mean
        # The mean lags where an endpoint hangs: its oldest request shows that sooner.
        oldest = next(iter(self._under_way.values()))
        return max(mean, asyncio.get_running_loop().time() - oldest)


T = TypeVar("T")
TOO_MANY = 429
PROXY_DENIES = 407
# Shorter keys (`none`, `test`) are no secret, and masking them would mangle replies.
SHORTEST_SECRET = 16
LONGEST_CONNECT = 30.0
"""Seconds in which a connection must stand: only the reply may take longer."""
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 307, 308})
MOVED_FOR_GOOD = frozenset({301, 308})
LAST_WAIT = 15.0
"""Seconds to wait, after an interrupt, for replies that are on their way."""
_TRY_AGAIN = re.compile(
    r"(?:try again|retry|wait)\D{0,20}?"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|[smh]|seconds?|minutes?|hours?)(?![a-z])\s?)+)"
)


class AnyTransport(Protocol):
    """How the requests of a client reach the model: one by one, or in batches."""

    pace: Pace
    load: Load
    last_wait: float
    """Seconds that it is worth to wait, after an interrupt, for replies on their way."""

    @property
    def at_once(self) -> int:
        """How many replies come at the same moment: fewer failures than that are no row."""

    async def post(
        self,
        body: dict[str, Any],
        tokens: int,
        admit: Callable[[], None],
        keep: Callable[[Reply], Awaitable[T]],
        key: str = "",
    ) -> T:
        """Send one request when its turn comes; return what `keep` makes of the reply."""

    def hurry(self) -> None:
        """Wait for no large reply any more: the user has interrupted."""

    async def close(self) -> None:
        """Close what is open."""


class Transport:
    """A keep-alive session whose requests keep to a pace."""

    at_once = 1

    def __init__(self, settings: LlmSettings, access: Access, silence: Watchdog) -> None:
        self._silence = silence
        self.last_wait = min(LAST_WAIT, settings.timeout)
        self.pace = Pace.of(settings.in_flight, settings.rpm, settings.tpm)
        self.load = Load()
        self._most_bytes = settings.most_bytes
        self._hurried = False
        self._service = settings.service
        self._masked = access.mask
        self._url = access.url
        self._secrets = [secret for secret in access.secrets if len(secret) >= SHORTEST_SECRET]
        self._sent = _through(access)
        self._in_flight, self._timeout, self._tls = settings.in_flight, settings.timeout, access.tls
        self._session: aiohttp.ClientSession | None = None

    @property
    def address(self) -> str:
        """The address of completions; secrets may stand in it."""
        return self._url

    def _open_session(self) -> aiohttp.ClientSession:
        """Return the connections, made for the first request."""
        if self._session is None:
            import aiohttp  # it loads slowly, and a job whose replies are all kept needs none of it

            connect = min(self._timeout, LONGEST_CONNECT)
            # No header is its own: aiohttp would send those to a proxy too, the key as well.
            self._session = aiohttp.ClientSession(
                # As many connections as requests: aiohttp's own limit of 100 would be a hidden one.
                connector=aiohttp.TCPConnector(limit=self._in_flight, ssl=self._tls or True),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=connect),
                # Else aiohttp unpacks a whole chunk at once: a megabyte may become a gigabyte.
                auto_decompress=False,
            )
        return self._session

    async def post(
        self,
        body: dict[str, Any],
        tokens: int,
        admit: Callable[[], None],
        keep: Callable[[Reply], Awaitable[T]],
        key: str = "",
    ) -> T:
        """Send one request when its turn comes; return what `keep` makes of the reply.

        `tokens` is an estimate of what it will cost. `admit` is called when its turn has come, and
        may raise. The place is held until `keep` is done, so that a killed process loses at most
        the replies in flight. Raises a Fault.
        """
        self._open_session()  # now, so that the first answer is not timed with what this loads
        await self.pace.enter(tokens)
        try:
            admit()
            return await keep(await self._reply(body))
        finally:
            self.pace.leave()

    async def _reply(self, body: dict[str, Any]) -> Reply:
        number, status = self.load.begin(), 0
        try:
            answer = self._silence.watch(self._post_following(orjson.dumps(body)))
            status, headers, payload = await answer
        finally:
            self.load.end(number, status == 200)
        return self.read(status, headers, payload)

    def read(self, status: int, headers: Mapping[str, str], payload: bytes) -> Reply:
        """Return the reply in an answer. Raises a Fault where there is none."""
        self.pace.learn(headers)
        if status != 200:
            raise self.failure(status, headers, payload)
        answer = answer_in(payload)
        reply = self._service.reads(answer)
        if reply is None:
            if isinstance(answer, Mapping) and is_error(answer):
                raise self.failure(status, headers, payload)
            found = brief(self._masked(plain(payload.decode(errors="replace"))).strip())
            message = f"the answer is not a completion: {found}"
            if answer is None and payload.lstrip().startswith(b"<"):  # a page, not an endpoint
                raise Unreachable("transport", message, status)
            raise Fault("transport", message)
        self.pace.note_success()
        # Masked, since replies are logged and kept; a key of a few letters is no secret.
        written = reply.text + reply.reasoning
        if not any(secret in written for secret in self._secrets):
            return reply
        text, thought = self._masked(reply.text), self._masked(reply.reasoning)
        return replace(reply, text=text, reasoning=thought)

    async def _post_following(self, body: bytes) -> tuple[int, Any, bytes]:
        status, headers, payload, self._url, _ = await self.follow_redirects(
            "POST", self._url, body
        )
        return status, headers, payload

    async def follow_redirects(
        self, method: str, url: str, body: bytes | None = None
    ) -> tuple[int, Any, bytes, str, str]:
        """Return the answer as `exchange` does, the address for later, and that which answered.

        A redirect is followed only on the same host, because of the key.
        """
        moved, lasting = True, url
        for _ in range(MOST_REDIRECTS):
            status, headers, payload = await self.exchange(method, url, body)
            if status not in REDIRECTS:
                break
            there = urljoin(url, headers.get("Location", ""))
            if there == url or not same_origin(url, there):
                break
            # One temporary step makes the whole way temporary.
            moved = moved and status in MOVED_FOR_GOOD
            url = there
            if moved:
                lasting = url
        return status, headers, payload, lasting, url

    async def exchange(
        self,
        method: str,
        url: str,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        into: IO[bytes] | None = None,
        most: int = OF_A_FILE,
        **more: Any,
    ) -> tuple[int, Any, bytes]:
        """Return status, headers and body of the answer to a request.

        The body of a 200 is written to `into`, if given: not much more than `most` bytes of it.
        Raises a Fault.
        """
        import aiohttp
        from yarl import URL

        address, still = URL(url, encoded=True), getattr(more.get("timeout"), "sock_read", None)
        try:
            asked = self._open_session().request(
                method,
                address,
                data=data,
                allow_redirects=False,
                **(self._sent_with(headers) if headers else self._sent),
                **more,
            )
            async with asked as response:
                if into is not None and response.status == 200:
                    await keep_body(response, into, most, still)
                    return response.status, response.headers, b""
                body = await body_of(response, self._most_bytes, lambda: self._hurried, still)
                return response.status, response.headers, body
        except aiohttp.ClientHttpProxyError as error:
            return error.status, error.headers or {}, f"the proxy: {error.message}".encode()
        except aiohttp.ClientConnectorCertificateError as error:
            why = getattr(error.certificate_error, "verify_message", "")
            words = f"the certificate of {error.host} is not trusted ({why}); SSL_CERT_FILE"
            words += " may name a file of those that are"
            fault: Fault = ConfigurationFault("refused", words)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            fault = Unreachable("transport", self._masked(_no_connection(error)))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            broken = f"{type(error).__name__}: {error}".rstrip(": ")
            fault = Fault("transport", self._masked(broken))
        # Raised out here, since aiohttp's own exception may hold the headers, and so the key.
        raise fault

    def _sent_with(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return what goes with a request, with headers in place of those of the same name."""
        return self._sent | {"headers": self._sent["headers"] | dict(headers)}

    def failure(self, status: int, headers: Any, payload: bytes) -> Fault:
        """Return the fault of an answer that is no completion; slow down after a 429."""
        if 300 <= status < 400:
            where = brief(self._masked(headers.get("Location", "")))
            message = f"HTTP {status}: redirects to {where}; set {self._service.base_urls[0]} to it"
            return ConfigurationFault("refused", message, status)
        problem = problem_in(status, payload, self._masked)
        if status == PROXY_DENIES:
            return ConfigurationFault("refused", f"{problem}; check HTTP(S)_PROXY", status)
        # Some servers wrap an error into a 200: its words have to stand for the status.
        if status == 200:
            problem = replace(problem, status=status_of(problem))
        fault = fault_of(problem, _asked_to_wait(headers, problem.words))
        if isinstance(fault, Busy) and problem.status == TOO_MANY:
            self.pace.slow_down(fault.after)
        return fault

    def hurry(self) -> None:
        """Wait for no large reply any more: the user has interrupted."""
        self._hurried = True

    async def close(self) -> None:
        """Close the session, if there is one."""
        if self._session is not None:
            await self._session.close()


def _through(access: Access) -> dict[str, Any]:
    """Return the headers of all requests, and what leads them through a proxy."""
    proxy, headers = access.proxy, {"Accept-Encoding": CODINGS} | access.headers
    if proxy is None:
        return {"headers": headers}
    allowed = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
    if access.url.startswith("https:"):  # only the proxy reads these
        return {"headers": headers, "proxy": proxy.url, "proxy_headers": allowed}
    return {"headers": headers | allowed, "proxy": proxy.url}


def _asked_to_wait(headers: Mapping[str, str], words: str) -> float:
    """Return the seconds that an answer asks to wait, by header or in words; 0 if it does not."""
    if seconds := _seconds(headers.get("Retry-After", "")):
        return seconds
    if seconds := seconds_of(f"{headers.get('retry-after-ms', '')}ms"):
        return seconds
    if seconds := _until(headers.get("x-ratelimit-reset", "")):
        return seconds
    found = _TRY_AGAIN.search(words.lower())
    return seconds_of(found[1].replace(" ", "")) if found else 0.0


def _until(reset: str) -> float:
    """Return the seconds until a reset: given in seconds, or as seconds or milliseconds of time."""
    seconds = seconds_of(reset)
    # Some give the time of the reset, in milliseconds or seconds since 1970, not the time left.
    if seconds > 1e12:
        seconds /= 1000
    return max(0.0, seconds - datetime.now(UTC).timestamp()) if seconds > 1e9 else seconds


def _seconds(retry_after: str) -> float:
    """Return a Retry-After header, seconds or a date, as seconds from now; 0 for nonsense."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            then = parsedate_to_datetime(retry_after)
        except (ValueError, OverflowError):
            return 0.0
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _no_connection(error: Exception) -> str:
    """Return why no connection came about, in plain words where they are known."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the name {error.host!r} is not known here (no address for it)"
    if isinstance(error, aiohttp.ClientConnectorError) and error.os_error.errno == REFUSED:
        return f"nothing listens at {error.host}:{error.port} (connection refused)"
    return f"{type(error).__name__}: {error}".rstrip(": ")

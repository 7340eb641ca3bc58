"""The bodies of answers, read and unpacked only as far as the limits go."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from typing import IO, Any

import aiohttp

from trecjudge.errors import JudgmentFailed
from trecjudge.models.faults import Fault, ItemFault
from trecjudge.settings.limits import shown_bytes

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

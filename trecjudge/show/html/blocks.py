"""Blocks: JSON arrays deflated while they grow, decoded by the page when they are looked at."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zlib
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trecjudge.errors import OutputError, why
from trecjudge.files import remove_left_parts, whole

LEVEL = 6  # zlib's own default: higher levels take much longer and save little
MOST_WAITING = 4_000_000
"""Bytes of entries of all blocks that wait to be deflated: few, yet many for each of 100 topics."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A closed block as base64, made while it is iterated over; `len` is its size in bytes."""

    spool: BinaryIO
    pieces: Sequence[int]
    """Where the deflated bytes lie in the spool: begin and size of each piece in turn."""

    def __len__(self) -> int:
        return 4 * -(-sum(self.pieces[1::2]) // 3)

    def entries(self) -> Any:
        """Return the entries of the block again."""
        packed = base64.b64decode(b"".join(self))
        return orjson.loads(zlib.decompress(packed, -zlib.MAX_WBITS))

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for begin, size in zip(self.pieces[::2], self.pieces[1::2], strict=True):
            self.spool.seek(begin)
            piece = rest + self.spool.read(size)
            whole = len(piece) - len(piece) % 3  # base64 takes three bytes at a time
            rest = piece[whole:]
            yield base64.b64encode(piece[:whole])
        yield base64.b64encode(rest)


@dataclass(slots=True)
class Block:
    """A JSON array that is deflated piece by piece (raw deflate, RFC 1951), into a spool.

    Several blocks may share one. Between pieces a block holds no state of zlib, which takes 260 KB.
    """

    spool: BinaryIO = field(default_factory=io.BytesIO)
    size: int = 0
    """Entries so far."""
    # One array, not a list of what orjson returns: those take many times their length.
    _waiting: bytearray = field(default_factory=bytearray)
    _pieces: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def waiting(self) -> int:
        """Bytes of entries that are not deflated yet."""
        return len(self._waiting)

    def add(self, entry: Any) -> int:
        """Append one entry; return how many bytes it takes as JSON."""
        before = self.waiting
        self._waiting += b"," if self.size else b"["
        self._waiting += orjson.dumps(entry, option=orjson.OPT_NON_STR_KEYS)
        self.size += 1
        return self.waiting - before

    def deflate(self, end: int = zlib.Z_SYNC_FLUSH) -> int:
        """Put what waits into the spool; return how many bytes it took as JSON."""
        # A piece that ends with a flush ends at a byte: all pieces together are one stream.
        packing = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        piece = packing.compress(self._waiting) + packing.flush(end)
        self._pieces.extend((self.spool.seek(0, io.SEEK_END), len(piece)))
        self.spool.write(piece)
        done = self.waiting
        self._waiting = bytearray()
        return done

    def pack(self) -> Packed:
        """Close the array and return it."""
        self._waiting += b"]" if self.size else b"[]"
        self.deflate(zlib.Z_FINISH)
        return Packed(self.spool, self._pieces)


@dataclass(slots=True)
class Blocks:
    """The blocks of a page: one for each kind and topic, named by kind and number of the topic.

    Entries come run by run, so that every topic's block grows until the end.
    """

    topics: Sequence[str]
    spool: BinaryIO = field(default_factory=io.BytesIO)
    """The file that holds the deflated bytes until the page is written."""
    most: int = MOST_WAITING
    """Bytes that may wait: of several pages, each has a share."""
    _open: dict[str, Block] = field(default_factory=dict)
    _places: dict[tuple[str, str], dict[Hashable, int]] = field(default_factory=dict)
    _waiting: int = 0
    _numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = {topic_id: number for number, topic_id in enumerate(self.topics)}

    def add(self, kind: str, topic_id: str | None, entry: Any) -> None:
        """Append an entry to the block of a kind and topic; `None` is the block of no topic.

        An entry on a topic that the page does not have is left out.
        """
        if topic_id is None:
            name = kind
        elif topic_id in self._numbers:
            name = f"{kind}-{self._numbers[topic_id]}"
        else:
            return
        if name not in self._open:
            self._open[name] = Block(self.spool)
        self._waiting += self._open[name].add(entry)
        if self._waiting > self.most:
            self._deflate()

    def add_once(
        self, kind: str, topic_id: str, key: Hashable, make: Callable[[], Mapping[str, Any]]
    ) -> int:
        """Append an entry that others of the topic share, told apart by `key`; return its place."""
        places = self._places.setdefault((kind, topic_id), {})
        if key not in places:
            places[key] = len(places)
            self.add(kind, topic_id, make())
        return places[key]

    def pack(self) -> dict[str, Packed]:
        """Return every block by name; none can grow after that."""
        names = list(self._open)
        return {name: self._open.pop(name).pack() for name in names}

    def _deflate(self) -> None:
        """Deflate the blocks of which most waits, until half of it is gone."""
        # Long pieces pack better than short ones.
        for block in sorted(self._open.values(), key=lambda block: -block.waiting):
            if self._waiting <= self.most // 2:
                break
            self._waiting -= block.deflate()


# The folder beside a page: blocks as scripts, which a page from a disk may load too.
CALL = b'trecjudge("'
"""The beginning of each script: what the page calls it by."""
OURS = re.compile(r"[a-z]+(-\d+)?(\.[0-9a-f]{12})?\.js")
"""The name of a script: kind of block, number of the topic, digest."""


@contextmanager
def written_beside(page: Path, blocks: Mapping[str, Packed]) -> Iterator[dict[str, str]]:
    """Write blocks into the folder of a page's name, and yield the name of each script.

    The page is written meanwhile. Until then nothing of an earlier page is touched, then its
    scripts are removed; where the page was not written, the new ones are. Files of others stay.
    Raises OutputError.
    """
    folder, before = page.with_suffix(""), _identity(page)
    old, scripts = _scripts(folder), {name: f"{name}.{_digest(b)}.js" for name, b in blocks.items()}
    try:
        if blocks:
            _make(folder)
        for name, block in blocks.items():
            with whole(folder / scripts[name]) as file:
                file.write(CALL + b'%s", "' % name.encode())
                file.writelines(block)
                file.write(b'");\n')
        yield {name: script.removesuffix(".js") for name, script in scripts.items()}
    finally:
        _keep(folder, old if _identity(page) == before else {*scripts.values()})


def _digest(block: Packed) -> str:
    """Return a digest, so that no page takes the block of another for its own."""
    found = hashlib.blake2b(digest_size=6)
    for piece in block:
        found.update(piece)
    return found.hexdigest()


def _identity(page: Path) -> int | None:
    """Return what is another number once the page was written anew."""
    return page.stat().st_ino if page.exists() else None


def _make(folder: Path) -> None:
    try:
        if folder.is_symlink():  # nothing is written where somebody's link leads
            folder.unlink()
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {why(error)}; remove it") from error


def _scripts(folder: Path) -> set[str]:
    """Return the names of the scripts of pages in a folder, which nobody else wrote."""
    if folder.is_symlink() or not folder.is_dir():
        return set()
    return {path.name for path in folder.glob("*.js") if _is_ours(path)}


def _is_ours(path: Path) -> bool:
    if not OURS.fullmatch(path.name) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(CALL)) == CALL


def _keep(folder: Path, kept: set[str]) -> None:
    """Remove all scripts but these, and the folder where nothing is left."""
    for name in _scripts(folder) - kept:
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not folder.is_symlink():
        remove_left_parts(folder, "")
        with suppress(OSError):  # somebody has files there
            folder.rmdir()

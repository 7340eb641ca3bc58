"""Places in a gzip file from which it can be read on, kept so that it is read through only once."""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from trecjudge.errors import OutputError
from trecjudge.files import keep_private, remove_left_parts, whole_path

GZIP = b"\x1f\x8b"
SPACING = 16 << 20
"""Unpacked bytes from one place to the next; each takes 32 kB, so 10 GB take 20 MB."""
BUFFER = 1 << 18
"""Unpacked bytes that are taken at a time: each time it is read on from such a place."""
DIGEST = hashlib.sha256().digest_size


@contextmanager
def sought(file: BinaryIO, path: Path, places: int, last: int, folder: Path) -> Iterator[IO[bytes]]:
    """Yield a gzip file to be read at any place; `file` itself where that would not pay.

    It pays where `places` are few between the beginning and the `last` one. It needs the package
    `indexed_gzip`, an extra. What is learned of the file is kept in a folder, as far as it can be
    written; what is kept there and does not fit the file is made anew.
    """
    try:
        import indexed_gzip  # an extra
    except ImportError:
        indexed_gzip = None
    if indexed_gzip is None or places * SPACING > last:
        yield file
        return
    state = f"{path.resolve()}\0{os.fstat(file.fileno()).st_size}\0{path.stat().st_mtime_ns}"
    key = hashlib.sha256(os.fsencode(state)).digest()
    table = folder / f"gzip1-{key.hex()[:32]}.places"
    known = _read(table, key)
    options = {"spacing": SPACING, "buffer_size": BUFFER, "skip_crc_check": True}
    with indexed_gzip.IndexedGzipFile(fileobj=file, **options) as found:
        if known:
            found.import_index(fileobj=io.BytesIO(known))
        before = _count(found)
        yield cast(IO[bytes], found)
        if _count(found) > before:
            _write(table, key, found)


def _count(file: Any) -> int:
    return sum(1 for _ in file.seek_points())


def _read(table: Path, key: bytes) -> bytes:
    """Return what a table holds; nothing where it is damaged, or of another file."""
    try:
        written = table.read_bytes()
        text = zlib.decompress(written[DIGEST:])
    except (OSError, zlib.error):
        return b""
    return text if hashlib.sha256(key + text).digest() == written[:DIGEST] else b""


def _write(table: Path, key: bytes, file: Any) -> None:
    written = io.BytesIO()
    file.export_index(fileobj=written)
    text = written.getvalue()
    try:
        keep_private(table.parent)
        remove_left_parts(table.parent, "gzip1")
        with whole_path(table, private=True) as partial:
            partial.write_bytes(hashlib.sha256(key + text).digest() + zlib.compress(text, 1))
    except (OSError, OutputError):  # it is read through again
        return

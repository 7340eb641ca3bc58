"""The folder beside a page: blocks as scripts, which a page from a disk may load too."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from trecjudge.errors import OutputError, why
from trecjudge.files import remove_left_parts, whole
from trecjudge.show.html.blocks import Packed

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

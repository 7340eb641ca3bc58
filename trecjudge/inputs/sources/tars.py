"""The files in a tar archive, read one after another where they lie: none is ever extracted."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from trecjudge.errors import InputError, why
from trecjudge.files import open_regular
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.packing import (
    BEGINNING,
    CHUNK,
    UNREADABLE,
    Readable,
    Refused,
    is_tar,
    unpacking,
)

LONGEST_HEAD = 1 << 20
"""Bytes that describe a member, at most: they are held."""
AT_ONCE = 1 << 14
"""Bytes that are read of a member at a time: where an archive breaks off, they are lost."""
DESCRIBE = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""Kinds of members that only describe the next one, and are read into memory."""


class _MemberBytes:
    """The bytes of a member, a few at a time: what `Readable` needs of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read1(self, size: int) -> bytes:
        """Return some bytes, none at the end. Raises EOFError where the archive breaks off."""
        try:
            return self._file.read(min(size, AT_ONCE))
        except tarfile.TarError as error:
            raise EOFError(str(error)) from error


class Member(Opened):
    """A file in an archive, called `x.tar!name`, which is read before the next one."""

    def __init__(self, path: Path, file: IO[bytes], archive: io.BufferedReader) -> None:
        super().__init__(path)
        self._member = io.BufferedReader(Readable(_MemberBytes(file), archive), CHUNK)
        self._archive = archive

    @property
    def position(self) -> int:
        """How far the archive is read, in bytes as they lie on disk."""
        return self._archive.tell()

    def _file(self) -> io.BufferedReader[Any]:
        return self._member


class _Head(tarfile.TarInfo):
    """What describes a member; a description that fills memory is refused."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in DESCRIBE and self.size > LONGEST_HEAD:
            raise tarfile.ReadError("what describes a member is too long")
        found: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return found


def tar_members(path: Path) -> Iterator[Member] | None:
    """Return the files of an archive, in their order; None for what is no tar archive.

    Raises InputError where the archive cannot be read, after the members before that.
    """
    with ExitStack() as files:
        try:
            packed = files.enter_context(open_regular(path))
            unpacked = files.enter_context(unpacking(packed, archive=True))
            beginning = unpacked.peek(BEGINNING) if hasattr(unpacked, "peek") else b""
        except UNREADABLE:  # reported where it is read
            return None
        if is_tar(beginning):
            return _members(path, packed, unpacked, files.pop_all())
        try:
            files.close()
        except UNREADABLE:
            return None
    return None


def _members(
    path: Path, packed: io.BufferedReader, unpacked: object, files: ExitStack
) -> Iterator[Member]:
    name = ""
    try:
        with files, tarfile.open(fileobj=unpacked, mode="r|", tarinfo=_Head) as tar:  # type: ignore[call-overload]
            for head in tar:
                tar.members = []  # all heads would be held
                name = f"!{head.name}"
                hidden = any(part.startswith(".") for part in Path(head.name).parts)
                if head.isreg() and not hidden and (file := tar.extractfile(head)):
                    yield Member(Path(f"{path}{name}"), file, packed)
    except (*UNREADABLE, tarfile.TarError) as error:
        if isinstance(error, Refused):
            raise InputError(f"{path}: {error}") from error
        where = f" beyond {name[1:]!r}" if name else ""
        hint = "" if getattr(error, "errno", None) else "; it is cut or damaged: copy it again"
        raise InputError(f"{path}: cannot be read{where}: {why(error)}{hint}") from error

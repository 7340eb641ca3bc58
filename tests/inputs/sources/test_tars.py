"""Files in archives are read where they lie."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.inputs.documents.collection import documents_of
from trecjudge.inputs.sources.containers import Opened, tar_members


def archive(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            head = tarfile.TarInfo(name.replace("_", "/"))
            head.size = len(data)
            tar.addfile(head, io.BytesIO(data))
    return out.getvalue()


def whole(data: bytes) -> bytes:
    return data


@pytest.mark.parametrize("pack", [whole, gzip.compress, bz2.compress])
def test_members(pack: Callable[[bytes], bytes], write: Write) -> None:
    path = write(pack(archive(b_x=b"one", a=gzip.compress(b"two\n" * 99_999), c=b"")), "t.tar")
    members = tar_members(path)
    assert members is not None
    found = [(str(m.path).removeprefix(str(path)), b"".join(m.chunks())) for m in members]
    assert found == [("!b/x", b"one"), ("!a", b"two\n" * 99_999), ("!c", b"")]


def test_what_is_no_archive(write: Write, tmp_path: Path) -> None:
    paths = [write("{}", "a"), write(gzip.compress(b"{}"), "b"), write("", "c"), tmp_path / "gone"]
    paths.append(write(gzip.compress(b"{}" * 999)[:-9], "cut"))
    assert [tar_members(path) for path in paths] == [None] * 5


def test_an_archive_in_the_place_of_a_run_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="is a tar archive; unpack it"):
        list(Opened(write(archive(a=b"x"), "run")).lines())


def test_a_member_that_is_damaged(write: Write) -> None:
    path = write(archive(a=b"one\ntwo", b=b"x" * 100_000)[:-80_000], "t.tar")
    members = tar_members(path)
    assert members is not None
    assert next(members).first(2) == [b"one", b"two"]
    with pytest.raises(InputError, match=r"t\.tar!b: cannot be read: unexpected end of data"):
        list(next(members).chunks())
    with pytest.raises(InputError, match=r"t\.tar: cannot be read beyond 'b'"):
        next(members)


def test_documents_in_an_archive_are_read_with_all_others(write: Write) -> None:
    tar = archive(x_a=b'{"id": "a", "text": "T"}', x_b=b"b\tU\n", x_c=b"[]\n[]")
    paths = [write('{"id": "z", "text": "Z"}', "z"), write(gzip.compress(tar), "t.tgz")]
    findings: list[str] = []
    found = documents_of(paths, lambda finding: findings.append(str(finding)))
    places = [(path.name, line, document.doc_id) for path, line, document, _ in found]
    assert places == [("z", 1, "z"), ("a", 1, "a"), ("b", 1, "b")]
    assert "t.tgz!x/c:1" in findings[0] or "t.tgz!x/c:2" in findings[0]

"""Records are read at their bytes; gzip is read through once, and later from places on the way."""

from __future__ import annotations

import gzip
import io
import os
import random
import sys
from pathlib import Path

import pytest

from tests import made_collections as made
from trecjudge.errors import InputError
from trecjudge.findings import Finding, ignore
from trecjudge.inputs.collections import seeking
from trecjudge.inputs.collections.seeking import LinesFrom, documents_at
from trecjudge.inputs.collections.units import Unit
from trecjudge.inputs.sources.packing import unpacking
from trecjudge.records import Document, Place


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let places to read on from lie near one another."""
    monkeypatch.setattr(seeking, "SPACING", 1 << 16)


def packed(folder: Path) -> tuple[Path, list[Document]]:
    """Write a gzip file of many places; return it with its documents."""
    chance = random.Random(1)
    texts = [made.Text(chance.randbytes(1000).hex()) for _ in range(1000)]
    documents = made.msmarco(folder, texts, (0,))
    (path,) = folder.iterdir()
    return path, documents


def read(path: Path, documents: list[Document], tables: Path) -> list[Document]:
    """Return the documents that are found at their places."""
    places = [(int(d.doc_id.rpartition("_")[2]), d.doc_id) for d in documents]
    unit = Unit(path, places=places, tables=str(tables))
    return [found.document for found in documents_at(unit, ignore)]


@pytest.mark.usefixtures("near")
def test_gzip_is_read_on_from_places_that_are_kept(tmp_path: Path) -> None:
    path, documents = packed(tmp_path / "c")
    some, others = documents[300:900:150], documents[50:900:170]
    assert read(path, some, tmp_path / "t") == some
    (table,) = (tmp_path / "t").iterdir()
    assert table.stat().st_mode & 0o077 == 0
    written = table.stat().st_mtime_ns
    assert read(path, others, tmp_path / "t") == others
    assert table.stat().st_mtime_ns == written  # nothing new was met
    later = [documents[-1]]
    assert read(path, later, tmp_path / "t") == later
    assert table.stat().st_size > 0
    assert [one.name for one in (tmp_path / "t").iterdir()] == [table.name]


@pytest.mark.usefixtures("near")
def test_only_what_lies_behind_such_a_place_is_unpacked(tmp_path: Path) -> None:
    path, documents = packed(tmp_path / "c")
    some = documents[-2:]
    assert read(path, some, tmp_path / "t") == some
    state = path.stat()
    text = bytearray(path.read_bytes())
    text[1000:200_000] = bytes(199_000)  # what lies before is not looked at any more
    path.write_bytes(text)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert read(path, some, tmp_path / "t") == some


@pytest.mark.usefixtures("near")
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: b"", id="empty"),
        pytest.param(lambda text: b"x" * len(text), id="nothing of ours"),
        pytest.param(lambda text: text[:-9], id="cut"),
        pytest.param(lambda text: text[:60] + b"\0\0\0\0" + text[64:], id="damaged"),
    ],
)
def test_a_damaged_table_is_made_anew(spoil: object, tmp_path: Path) -> None:
    assert callable(spoil)
    path, documents = packed(tmp_path / "c")
    some = documents[300:900:150]
    read(path, some, tmp_path / "t")
    (table,) = (tmp_path / "t").iterdir()
    whole = table.read_bytes()
    table.write_bytes(spoil(whole))
    assert read(path, some, tmp_path / "t") == some
    assert table.read_bytes() == whole


@pytest.mark.usefixtures("near")
def test_the_table_of_another_file_is_not_used(tmp_path: Path) -> None:
    path, documents = packed(tmp_path / "c")
    other, theirs = tmp_path / "d" / "msmarco_v2.1_doc_01.json.gz", documents[300:900:150]
    read(path, theirs, tmp_path / "t")
    (table,) = (tmp_path / "t").iterdir()
    other.parent.mkdir()
    other.write_bytes(gzip.compress(b"\n" * 10 + gzip.decompress(path.read_bytes())))
    assert read(other, theirs, tmp_path / "t") == []
    (second,) = set((tmp_path / "t").iterdir()) - {table}
    second.write_bytes(table.read_bytes())
    assert read(other, theirs, tmp_path / "t") == []


@pytest.mark.usefixtures("near")
def test_where_no_table_can_be_kept_it_is_read_all_the_same(tmp_path: Path) -> None:
    path, documents = packed(tmp_path / "c")
    (tmp_path / "t").write_text("a file in the place of the folder")
    assert read(path, documents[300:900:150], tmp_path / "t") == documents[300:900:150]


@pytest.mark.usefixtures("near")
def test_before_the_place_where_a_file_is_cut_all_is_found(tmp_path: Path) -> None:
    path, documents = packed(tmp_path / "c")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    said: list[Finding] = []
    places = [(int(d.doc_id.rpartition("_")[2]), d.doc_id) for d in documents[::150]]
    unit = Unit(path, places=places, tables=str(tmp_path / "t"))
    found = [found.document for found in documents_at(unit, said.append)]
    assert found == documents[:500:150]
    assert [finding.kind for finding in said] == ["collection_unreadable"]


def test_a_plain_file_that_is_cut_is_not_taken_for_another_one(tmp_path: Path) -> None:
    documents = made.msmarco(tmp_path / "c", 9, (0,), packing="")
    (path,) = (tmp_path / "c").iterdir()
    places = [(int(d.doc_id.rpartition("_")[2]), d.doc_id) for d in documents]
    os.truncate(path, places[5][0] + 20)
    findings: list[Finding] = []
    found = documents_at(Unit(path, places=[places[2], places[7]]), findings.append)
    assert [one.document for one in found] == [documents[2]]
    message = "cannot be read to the end: it ends in the middle of a record; it is cut or damaged"
    assert findings == [Finding("collection_unreadable", Place(str(path)), message)]


@pytest.mark.usefixtures("near")
@pytest.mark.parametrize("tables", ["", "t"])
def test_no_more_is_unpacked_than_may_be(
    tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRECJUDGE_LIMITS", "unpacked=1m")
    path = tmp_path / "msmarco_v2.1_doc_00.json.gz"
    path.write_bytes(gzip.compress(b"\n" * (1 << 26)))
    unit = Unit(path, places=[(1 << 62, "x")], tables=tables and str(tmp_path / tables))
    with pytest.raises(InputError, match="--limit unpacked"):
        list(documents_at(unit, ignore))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(documents_at(Unit(tmp_path / "x.json", places=[(0, "x")]), ignore))


TEXT = b"ab\n\ncde\r\n" + b"x" * 40 + b"\nf\ng"


@pytest.mark.parametrize("seeks", [True, False])
def test_the_first_line_from_a_byte_on(seeks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRECJUDGE_LIMITS", "record=20")
    alone = [[place] for place in range(60)]
    for places in (*alone, list(range(60)), [1, 1, 5, 5, 99], [3, 10, 11, 52]):
        with unpacking(io.BufferedReader(io.BytesIO(gzip.compress(TEXT)))) as stream:
            lines = LinesFrom(io.BytesIO(TEXT) if seeks else stream, len(TEXT) if seeks else None)
            assert [place for place in places if not is_first_line(lines, place)] == []


def is_first_line(lines: LinesFrom, place: int) -> bool:
    """Return whether the line from a place on is that of the text."""
    begin, line = lines.at(place)
    if len(line) > 20:  # it does not say where that one begins, or ends
        return 4 < place < 50
    wanted = next((start for start in (0, 3, 4, 9, 50, 52) if start >= place), len(TEXT))
    if wanted == len(TEXT):
        return (line, lines.last()) == (b"", (52, b"g"))
    return (begin, line) == (wanted, TEXT[wanted:].partition(b"\n")[0] + b"\n" * (wanted < 52))


@pytest.mark.usefixtures("near")
def test_without_the_package_gzip_is_read_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, documents = packed(tmp_path / "c")
    monkeypatch.setitem(sys.modules, "indexed_gzip", None)
    assert read(path, documents[300:900:150], tmp_path / "t") == documents[300:900:150]
    assert not (tmp_path / "t").exists()

"""Documents are read where their ids say that they lie; what is not there is told from the rest."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests import made_collections as made
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.collections import lookup
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.lookup import CollectionLookup
from trecjudge.inputs.collections.progress import CollectionProgress, progress_to
from trecjudge.records import Document

Make = Callable[..., list[Document]]
DOC, SEGMENT, ROW = made.msmarco, made.segmented, made.climbmix


class Read:
    """What came of one reading by address."""

    def __init__(self, folder: Path, wanted: Sequence[str], cache: Path | None = None) -> None:
        self.files = sorted(path for path in folder.rglob("*") if path.is_file())
        self.kept = KeptDocuments.open(cache or folder.parent / "cache", str(folder))
        self.kept.wanted = wanted
        self.kept.begin(self.files)
        self.said: list[Finding] = []
        self.back = CollectionLookup(
            self.files, self.kept, self.said.append, folder.name
        ).find_by_address(wanted)
        self.wanted = wanted

    @property
    def states(self) -> list[str]:
        """What is known of each document: `+` found, `-` not there, `?` not known, `r` to read."""
        signs = {"found": "+", "not there": "-", "not looked for": "?"}
        return ["r" if i in self.back else signs[self.kept.state_of(i)] for i in self.wanted]

    @property
    def kinds(self) -> list[str]:
        """The kinds of findings that are kept, and that were reported."""
        return [finding.kind for finding in (*self.kept.findings(), *self.said)]


pytestmark = pytest.mark.usefixtures("one_core", "forked_readers")
SLOW = pytest.mark.slow("trecjudge/inputs/collections", "trecjudge/inputs/sources")
PACKED = pytest.param(".gz", marks=SLOW)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        pytest.param(DOC, {"packing": ""}, id="plain"),
        pytest.param(DOC, {}, id="gzip"),
        pytest.param(DOC, {"packing": ".zst"}, id="zstd"),
        pytest.param(SEGMENT, {"packing": ""}, id="segmented"),
        pytest.param(SEGMENT, {}, id="segmented, packed"),
        pytest.param(ROW, {}, id="Parquet"),
        pytest.param(ROW, {"rows_of_group": 300}, id="Parquet of one group"),
    ],
)
def test_each_is_found_at_its_place(make: Make, options: dict[str, object], tmp_path: Path) -> None:
    documents = make(tmp_path / "c", 700, (3, 12), **options)
    wanted = [document.doc_id for document in documents[::3]]
    read = Read(tmp_path / "c", wanted)
    assert (read.back, read.kinds) == ([], [])
    assert [read.kept.get(i) for i in wanted] == documents[::3]
    assert read.kept.state_of(documents[1].doc_id) == "not looked for"
    assert read.kept.source_of(wanted[0]).startswith(f"{read.files[0].name}@0")


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        pytest.param(DOC, "msmarco_v2.1_doc_03_{}", id="documents"),
        pytest.param(SEGMENT, "msmarco_v2.1_doc_03_0#0_{}", id="segmented"),
        pytest.param(ROW, "shard_00003_{}", id="Parquet"),
    ],
)
@pytest.mark.parametrize("packing", ["", PACKED])
def test_what_is_made_up_is_not_there(
    make: Make, wanted: str, packing: str, tmp_path: Path
) -> None:
    options = {} if make is ROW else {"packing": packing}
    documents = make(tmp_path / "c", 40, (3, 12), **options)
    places = ("17", "1000000", 10**30, "00", 10**199)
    strange = [
        "7",
        "",
        "msmarco_v2.1_doc_../../x",
        "msmarco_v2.1_doc_٠٣_0",
        "shard_00003_-1",
        "x\n",
    ]
    asked = [*(wanted.format(place) for place in places), *strange]
    if make is ROW:
        asked[0] = wanted.format(20)
    read = Read(tmp_path / "c", [documents[0].doc_id, *asked, documents[-1].doc_id])
    assert read.states == ["+", *"-" * len(asked), "+"]
    assert read.kinds == []
    again = Read(tmp_path / "c", read.wanted)
    assert again.states == read.states


def test_files_that_are_not_given_leave_it_open(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 60, (0, 1, 2, 3, 4, 5))
    for number in (1, 2, 3, 4):
        (tmp_path / "c" / f"msmarco_v2.1_doc_0{number}.json.gz").unlink()
    (tmp_path / "c" / "README.md").write_text("What this is.")
    read = Read(tmp_path / "c", [document.doc_id for document in documents])
    assert read.states == ["+"] * 10 + ["?"] * 40 + ["+"] * 10
    (said,) = read.said
    assert str(said) == (
        "c: 40 of the documents asked for lie in files that are not there:"
        " msmarco_v2.1_doc_01 (10), msmarco_v2.1_doc_02 (10), msmarco_v2.1_doc_03 (10) and 1 more"
    )
    assert read.kept.get(documents[15].doc_id) == Document(documents[15].doc_id, complete=False)
    DOC(tmp_path / "c", 60, (0, 1, 2, 3, 4, 5))
    assert Read(tmp_path / "c", read.wanted).states == ["+"] * 60


def test_ids_of_another_collection_are_not_there(tmp_path: Path) -> None:
    DOC(tmp_path / "c", 4)
    read = Read(tmp_path / "c", ["msmarco_v2.1_doc_00_0#0_0", "shard_00000_0", "anything"])
    assert (read.states, read.said) == (["-", "-", "-"], [])
    assert read.kept.some_ids(1) == ["msmarco_v2.1_doc_00_0"]


@pytest.mark.parametrize("packing", ["", PACKED])
@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(lambda lines: lines[1:], id="without the first"),
        pytest.param(lambda lines: [lines[0], *lines[5:]], id="the first one is at its place"),
        pytest.param(lambda lines: [*lines[:9], lines[-1]], id="only the last one is not"),
        pytest.param(
            lambda lines: [line.replace(b"doc_00", b"doc_01") for line in lines], id="ids"
        ),
        pytest.param(lambda lines: [b'{"x": 1}\n'], id="no documents"),
        pytest.param(lambda lines: [b"[\n", b",\n".join(lines), b"]"], id="an array"),
        pytest.param(lambda lines: [], id="empty"),
    ],
)
def test_files_that_are_others_are_read_through(
    kept: Callable[[list[bytes]], list[bytes]], packing: str, tmp_path: Path
) -> None:
    documents = DOC(tmp_path / "whole", 20, (0,), packing="")
    (whole,) = (tmp_path / "whole").iterdir()
    lines = kept(whole.read_bytes().splitlines(keepends=True))
    made.write(tmp_path / "c" / whole.name, lines, packing)
    read = Read(tmp_path / "c", [documents[8].doc_id, documents[19].doc_id, "x"])
    assert read.states[1] == "r"
    assert "-" not in read.states[:2]
    assert read.kinds == ["address_differs"]


@pytest.mark.parametrize("make", [DOC, SEGMENT])
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=SLOW) for seed in (2, 3))])
def test_what_a_pass_finds_is_found(make: Make, packing: str, seed: int, tmp_path: Path) -> None:
    """Some records are left out, or others put in; what is wanted is partly made up."""
    chance = random.Random(seed)
    documents = make(tmp_path / "whole", 60, (0, 1), packing="")
    text = b""
    for path in sorted((tmp_path / "whole").iterdir()):
        lines = path.read_bytes().splitlines(keepends=True)
        if seed:
            lines = [line for line in lines if chance.random() > 0.02 * seed]
        text += b"".join(lines)
        made.write(tmp_path / "c" / path.name, lines, packing)
    wanted = [document.doc_id for document in documents[::2]]
    wanted += [f"{doc_id[:-1]}{chance.randrange(10)}" for doc_id in wanted]
    read = Read(tmp_path / "c", list(dict.fromkeys(wanted)))
    if read.back:
        CollectionLookup(read.files, read.kept, read.said.append, "c", 1).find_in_pass(read.back)
    there = [f'"{doc_id}"'.encode() in text for doc_id in read.wanted]
    assert [read.kept.state_of(doc_id) == "found" for doc_id in read.wanted] == there
    assert "not looked for" not in map(read.kept.state_of, read.wanted)
    assert bool(read.back) == bool(seed)


def test_the_finding_says_what_stands_there(tmp_path: Path) -> None:
    DOC(tmp_path / "c", 4, (0,))
    path = tmp_path / "c" / "msmarco_v2.1_doc_00.json.gz"
    path.write_bytes(gzip.compress(b'{"docid": "x", "body": "y"}\n' * 3))
    (finding,) = Read(tmp_path / "c", ["msmarco_v2.1_doc_00_28"]).kept.findings()
    assert str(finding) == (
        f"{path}: has 'x' at 28: not the file of that name in which 'msmarco_v2.1_doc_00_28' lies;"
        " it is read through"
    )


def test_beside_other_files_nothing_is_surely_not_there(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 4, (0,))
    (tmp_path / "c" / "more.jsonl").write_text('{"docid": "x", "text": "y"}\n')
    wanted = [documents[1].doc_id, "x", "msmarco_v2.1_doc_00_1", "msmarco_v2.1_doc_33_0"]
    assert Read(tmp_path / "c", wanted).states == ["+", "r", "r", "r"]


def test_without_such_files_all_is_read_through(tmp_path: Path) -> None:
    documents = made.ragtime(tmp_path / "c", 4)
    wanted = [documents[1].doc_id, "msmarco_v2.1_doc_00_0"]
    assert Read(tmp_path / "c", wanted).back == wanted


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_names_in_capitals_and_what_is_not_packed(packing: str, tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 4, (0,), packing=packing)
    (path,) = (tmp_path / "c").iterdir()
    path.rename(tmp_path / "c" / "MSMARCO_V2.1_DOC_00.JSON.GZ")
    read = Read(tmp_path / "c", [document.doc_id for document in documents])
    assert (read.states, read.kinds) == (["+"] * 4, [])


def test_a_file_that_is_there_twice(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c" / "b", 20, (0,))
    shutil.copytree(tmp_path / "c" / "b", tmp_path / "c" / "c")
    first = DOC(tmp_path / "c" / "a", documents_cut(documents, 5), (0,))
    read = Read(tmp_path / "c", [document.doc_id for document in documents])
    assert read.states == ["+"] * 20
    sources = [row[0] for row in read.kept.database.execute("SELECT path FROM documents")]
    assert sum("/a/" in path for path in sources) == len(first)
    assert not any("/c/c/" in path for path in sources)


def documents_cut(documents: Sequence[Document], count: int) -> list[made.Text]:
    """Return the texts of the first few documents."""
    return [made.Text(document.text, document.title) for document in documents[:count]]


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_lines_that_end_as_on_windows(packing: str, tmp_path: Path) -> None:
    lines, ids = [], []
    for number in range(20):
        ids.append(f"msmarco_v2.1_doc_00_{sum(map(len, lines))}")
        line = made.line_of(made.page(Document(ids[-1], f"t{number}")))
        lines.append(line.replace(b"\n", b"\r\n"))
    made.write(tmp_path / "c" / "msmarco_v2.1_doc_00.json", lines, packing)
    assert Read(tmp_path / "c", [*ids, "msmarco_v2.1_doc_00_9"]).states == [*"+" * 20, "-"]


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_byte_order_mark(packing: str, tmp_path: Path) -> None:
    first = made.line_of(made.page(Document("msmarco_v2.1_doc_00_0", "a")))
    place = 3 + len(first)
    second = made.line_of(made.page(Document(f"msmarco_v2.1_doc_00_{place}", "b")))
    lines = [b"\xef\xbb\xbf", first, second]
    made.write(tmp_path / "c" / "msmarco_v2.1_doc_00.json", lines, packing)
    wanted = ["msmarco_v2.1_doc_00_0", f"msmarco_v2.1_doc_00_{place}", "msmarco_v2.1_doc_00_2"]
    assert Read(tmp_path / "c", wanted).states == ["+", "+", "-"]


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_what_cannot_be_read_is_not_known(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRECJUDGE_LIMITS", "record=2k")
    lines, ids = [], []
    for text in ("a", "b" * 9000, "c", "d", "e"):
        ids.append(f"msmarco_v2.1_doc_00_{sum(map(len, lines))}")
        lines.append(made.line_of(made.page(Document(ids[-1], text))))
    lines[3] = lines[3].replace(b"}", b"!")
    made.write(tmp_path / "c" / "msmarco_v2.1_doc_00.json", lines, packing)
    inside = f"msmarco_v2.1_doc_00_{len(lines[0]) + 99}"  # its line is too long to see its end
    read = Read(tmp_path / "c", [*ids, inside])
    assert read.states == ["+", "?", "+", "?", "+", "?"]
    assert sorted(read.kinds) == ["line_not_json", "record_too_large", "record_too_large"]
    assert read.kept.lost == 3


def test_packed_data_that_break_off(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 400, (0,))
    (path,) = (tmp_path / "c").iterdir()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    read = Read(tmp_path / "c", [*(document.doc_id for document in documents), "x"])
    found = read.states.index("?")
    assert 0 < found < 300
    assert read.states == ["+"] * found + ["?"] * (400 - found) + ["-"]
    assert read.kinds == ["collection_unreadable"]


@pytest.mark.parametrize("name", ["plain", "größe", os.fsdecode(b"\xff")])
def test_a_file_that_is_copied_again(name: str, tmp_path: Path) -> None:
    documents = DOC(tmp_path / name / "c", 40, (0,))
    (path,) = (tmp_path / name / "c").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    wanted = [document.doc_id for document in documents[::13]]
    cut = Read(tmp_path / name / "c", [*wanted, "msmarco_v2.1_doc_00_1"])
    assert (cut.states, cut.kinds) == (["+", "+", "?", "?", "?"], ["collection_unreadable"])
    path.write_bytes(whole)
    read = Read(tmp_path / name / "c", cut.wanted)
    assert (read.states, read.kinds) == (["+"] * 4 + ["-"], [])


@pytest.mark.parametrize(
    "column",
    [
        *("id", "Document-Id"),
        *(pytest.param(name, marks=SLOW) for name in ("docid", "doc_id", "warc_record_id")),
    ],
)
def test_the_ids_of_a_column_count(column: str, tmp_path: Path) -> None:
    documents = ROW(tmp_path / "c", 8, (0,), id_column=column)
    read = Read(tmp_path / "c", ["shard_00000_3", documents[3].doc_id])
    assert (read.states[0], read.kinds[-1]) == ("r", "address_differs")


def test_a_column_that_has_the_same_ids(tmp_path: Path) -> None:
    texts = made.made_texts(4)
    import pyarrow
    from pyarrow import parquet

    table = {"id": [f"shard_00000_{i}" for i in range(4)], "text": [text.text for text in texts]}
    (tmp_path / "c").mkdir()
    parquet.write_table(pyarrow.table(table), tmp_path / "c" / "shard_00000.parquet")
    read = Read(tmp_path / "c", ["shard_00000_3", "shard_00000_4"])
    assert (read.states, read.kinds) == (["+", "-"], [])


def test_parquet_that_is_damaged(tmp_path: Path) -> None:
    ROW(tmp_path / "c", 8, (0,))
    (path,) = (tmp_path / "c").iterdir()
    path.write_bytes(path.read_bytes()[:-30])
    read = Read(tmp_path / "c", ["shard_00000_3"])
    assert (read.states, read.kinds) == (["?"], ["collection_unreadable"])


def test_rows_of_what_is_no_parquet_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "shard_00000.jsonl").write_text('{"id": "shard_00000_0", "text": "a"}\n')
    assert Read(tmp_path / "c", ["shard_00000_0"]).back == ["shard_00000_0"]


def test_what_was_found_stays_where_it_is_interrupted(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 40, (0, 1), packing="")
    wanted = [document.doc_id for document in documents]

    def stop(progress: CollectionProgress) -> None:
        if progress.found:
            raise KeyboardInterrupt

    with progress_to(stop), pytest.raises(KeyboardInterrupt):
        Read(tmp_path / "c", wanted)
    kept = KeptDocuments.open(tmp_path / "cache", str(tmp_path / "c"))
    assert len(kept.select_unsettled(wanted)) < 40
    assert Read(tmp_path / "c", wanted).states == ["+"] * 40


def test_how_far_it_is_can_be_seen(tmp_path: Path) -> None:
    documents = DOC(tmp_path / "c", 40, (0, 1))
    told: list[CollectionProgress] = []
    with progress_to(told.append):
        Read(tmp_path / "c", [document.doc_id for document in documents])
    last = told[-1]
    assert (last.what, last.found, last.wanted, last.ended) == ("c", 40, 40, True)
    assert (last.done, last.total, last.in_bytes) == (40, 40, False)  # files are not read whole


def test_ids_of_real_runs(tmp_path: Path) -> None:
    ids = [
        "msmarco_v2.1_doc_16_1992489241#0_2215051056",
        "msmarco_v2.1_doc_16_1992489241#2_2215054467",
        "msmarco_v2.1_doc_04_420132660",
        "msmarco_v2.1_doc_53_99#0_4035449963",
    ]
    documents = made.at_real_places(ids, tmp_path / "c")
    read = Read(tmp_path / "c", ids)
    assert read.states == ["+"] * 4
    assert read.kept.get(ids[0]) in documents


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    documents = [*DOC(tmp_path / "c", 4, (0,)), *DOC(tmp_path / "c", 4, (1,))]
    read = Read(tmp_path / "c", [])
    read.files[0].unlink()
    ids = [document.doc_id for document in documents]
    assert CollectionLookup(read.files, read.kept, read.said.append, "c").find_by_address(ids) == []
    assert [read.kept.state_of(i) for i in ids] == ["not looked for"] * 4 + ["found"] * 4
    assert read.kinds == ["collection_unreadable"]


def test_without_the_package_for_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ROW(tmp_path / "c", 4, (0,))
    (tmp_path / "none" / "pyarrow").mkdir(parents=True)
    (tmp_path / "none" / "pyarrow" / "__init__.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "none")
    monkeypatch.setattr(lookup, "Popen", subprocess.Popen)  # another process imports it anew
    with pytest.raises(InputError, match=r"pip install 'trecjudge\[parquet\]'"):
        Read(tmp_path / "c", ["shard_00000_1"])

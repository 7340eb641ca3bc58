"""Files and folders, plain or packed, as JSON values with their line numbers."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.opens import counted_opens
from tests.reading import PLAIN, Write, fail, reading
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.runs import find_runs
from trecjudge.inputs.sources import paths
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_rows
from trecjudge.inputs.sources.containers import Opened, bare_name, lines
from trecjudge.inputs.sources.packing import taking_checksums
from trecjudge.inputs.sources.paths import backup_of, copy_of, files_below
from trecjudge.inputs.sources.values import as_id, as_text, first_objects, objects, values

PACKED = gzip.compress(b'{"a": 1}\n{"a": 2}\n')
CORRUPT = PACKED[:10] + b"\xff" * 20


def test_a_file_stands_for_itself(write: Write) -> None:
    path = write("", "one.jsonl")
    assert files_below(path) == [path]


def test_a_folder_is_read_at_any_depth_and_in_order(write: Write, tmp_path: Path) -> None:
    names = ["b.jsonl", "a/z.jsonl", "x.jsonl/inside", "a/b/c"]
    paths = [write("", name) for name in names]
    for hidden in (".hidden", ".git/config", "a/.DS_Store"):
        write("", hidden)
    assert files_below(tmp_path) == sorted(paths)


def test_a_hidden_folder_that_is_asked_for_is_read(write: Write, tmp_path: Path) -> None:
    path = write("", ".runs/a.jsonl")
    assert files_below(tmp_path / ".runs") == [path]


def test_linked_folders_are_read_and_loops_end(write: Write, tmp_path: Path) -> None:
    path = write("", "elsewhere/team/a.jsonl")
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "team").symlink_to(path.parent)
    (path.parent / "up").symlink_to(path.parent)
    assert files_below(runs) == [runs / "team" / "a.jsonl"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("gone", id="not there"),
        pytest.param("x" * 300, id="name too long for a file system"),
        pytest.param("a\0b", id="NUL in the name"),
    ],
)
def test_a_path_that_cannot_be_is_an_input_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name[:9]):
        files_below(tmp_path / name)
    with pytest.raises(InputError, match=name[:9]):
        list(lines(tmp_path / name))


def test_a_link_that_leads_nowhere_is_an_input_error(tmp_path: Path) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.jsonl"):
        files_below(loop)


def test_lines(write: Write) -> None:
    cases = {
        "LF": (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        "no LF at the end": (b"a\nb", [(1, b"a"), (2, b"b")]),
        "CRLF": (b"a\r\nb\r\n", [(1, b"a"), (2, b"b")]),
        "blank lines count": (b"a\n\n \t\nb\n", [(1, b"a"), (4, b"b")]),
        "byte order mark": (b"\xef\xbb\xbfa\nb\n", [(1, b"a"), (2, b"b")]),
        "byte order mark only": (b"\xef\xbb\xbf\na\n", [(2, b"a")]),
        "U+2028": ("a\u2028b\x85c\n".encode(), [(1, "a\u2028b\x85c".encode())]),
        "empty": (b"", []),
        "blank": (b"\n \n\t\n", []),
        "gzip": (gzip.compress(b"a\n\nb"), [(1, b"a"), (3, b"b")]),
        "byte order mark in gzip": (gzip.compress(b"\xef\xbb\xbfa"), [(1, b"a")]),
        "two gzips": (gzip.compress(b"a\n") + gzip.compress(b"b\n"), [(1, b"a"), (2, b"b")]),
        "empty gzip": (gzip.compress(b""), []),
    }
    wrong = {
        name: found
        for name, (text, wanted) in cases.items()
        if (found := list(lines(write(text)))) != wanted
    }
    assert not wrong


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(PACKED[:-9], id="breaks off"),
        pytest.param(PACKED[:2], id="two bytes"),
        pytest.param(PACKED[:-8] + bytes(8), id="wrong checksum"),
        pytest.param(PACKED + b"x", id="rest after the end"),
        pytest.param(CORRUPT, id="corrupt"),
    ],
)
def test_broken_gzip_is_an_input_error(packed: bytes, write: Write) -> None:
    with pytest.raises(InputError, match=r"run\.jsonl: cannot be read"):
        list(lines(write(packed)))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(lines(tmp_path))


@pytest.mark.parametrize("text", [b"a\n", PACKED, CORRUPT], ids=["plain", "gzip", "corrupt gzip"])
def test_no_file_stays_open(text: bytes, write: Write) -> None:
    path = write(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            list(lines(path))
        except Exception:
            del path
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param('{"a": 1}\n{"a": 2}\n', [(1, 1), (2, 2)], id="an object a line"),
        pytest.param('{"a": 1}{"a": 2}', [(1, 1), (1, 2)], id="two on a line"),
        pytest.param('{"a": 1} \t {"a": 2}\n{"a": 3}', [(1, 1), (1, 2), (2, 3)], id="spaced"),
        pytest.param('{"a": 1}\r{"a": 2}\r', [(1, 1), (1, 2)], id="lines end at CR"),
        pytest.param('[{"a": 1}, {"a": 2}]', [(1, 1), (1, 2)], id="array on a line"),
        pytest.param('[{"a": 1}]\n[{"a": 2}]', [(1, 1), (2, 2)], id="array a line"),
        pytest.param('[{"a": 1}][{"a": 2}]', [(1, 1), (1, 2)], id="two arrays on a line"),
        pytest.param("[]", [], id="empty array"),
        pytest.param('[\n {"a": 1},\n {"a": 2}\n]\n', [(2, 1), (3, 2)], id="pretty array"),
        pytest.param('{\n "a": 1\n}\n{\n "a": 2\n}\n', [(1, 1), (4, 2)], id="pretty objects"),
        pytest.param('\ufeff{\n "a": 1\n}', [(1, 1)], id="pretty after byte order mark"),
    ],
)
def test_values(text: str, wanted: list[tuple[int, int]], write: Write) -> None:
    found = list(values(write(text), fail))
    assert [(number, value["a"]) for number, value in found] == wanted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[{"a": 1},\n{"a": 2}]', id="array over lines"),
        pytest.param('\n[\n{"a": 1},\n{"a": 2}\n]', id="pretty array after a blank line"),
        pytest.param('[\n{"a": 1}\n]\n{"a": 2}', id="pretty array, then an object"),
        pytest.param('[ {\n"a": 1},\n{"a": 2}]', id="array that opens with its first object"),
    ],
)
def test_values_of_arrays_in_any_layout(text: str, write: Write) -> None:
    assert [value for _, value in values(write(text), fail)] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        pytest.param(b'{"a": 2', "line_not_json", id="cut"),
        pytest.param(b"{'a': 2}", "line_not_json", id="single quotes"),
        pytest.param(b'{"a": 2},', "line_not_json", id="comma at the end"),
        pytest.param(b"\x00", "line_not_json", id="NUL"),
        pytest.param(b'{"a": "\xff"}', "bad_utf8", id="bad bytes"),
        pytest.param(b'{"a": "\xed\xa0\x80"}', "bad_utf8", id="surrogate as bytes"),
        pytest.param(b"[" * 100_000, "record_too_large", id="nested too deep"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "line_not_json", id="5000 digits"),
    ],
)
def test_a_bad_line_is_found_and_the_others_are_read(bad: bytes, kind: str, write: Write) -> None:
    findings: list[Finding] = []
    found = list(values(write(b'{"a": 1}\n' + bad + b'\n{"a": 3}'), findings.append))
    assert {1, 3} <= {number for number, _ in found}
    assert [(f.kind, f.place.line) for f in findings] == [(kind, 2)]
    said = {"bad_utf8": "is not UTF-8", "record_too_large": "is nested more than 200 deep"}
    assert f"run.jsonl:2: {said.get(kind, 'is not JSON')}" in str(findings[0])


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\n{"a": NaN, "b": "NaN"}\n{"a": 3}',
        '[{"a": 1},\n{"a": -Infinity, "b": "NaN"}, {"a": 3}]',
        '[{"a": 1}, {"a": Infinity, "b": "NaN"}, {"a": 3}]',
        '{\n"a": 1}\n{\n"a": NaN, "b": "NaN"\n}\n{"a": 3}',
    ],
    ids=["lines", "an array over lines", "an array on one line", "objects over lines"],
)
def test_nan_and_infinity_are_null_with_a_finding(text: str, write: Write) -> None:
    findings: list[Finding] = []
    found = [value for _, value in values(write(text), findings.append)]
    assert found == [{"a": 1}, {"a": None, "b": "NaN"}, {"a": 3}]
    assert [finding.kind for finding in findings] == ["number_not_json"]


def test_what_is_whole_on_a_bad_line_is_read(write: Write) -> None:
    findings: list[Finding] = []
    assert list(values(write('{"a": 1} {"a": 2'), findings.append)) == [(1, {"a": 1})]
    assert findings[0].value == "'{\"a\": 2'"


def test_a_cut_array_is_found(write: Write) -> None:
    findings: list[Finding] = []
    list(values(write('[\n{"a": 1},\n{"a": '), findings.append))
    assert [finding.kind for finding in findings] == ["line_not_json"]


@pytest.mark.parametrize("value", ["1", "null", '"text"', "[[1]]", "true", "1.5"])
def test_a_value_that_is_no_object_is_found(value: str, write: Write) -> None:
    findings: list[Finding] = []
    text = f'{{"a": 1}}\n{value}\n{{"a": 3}}'
    assert [n for n, _ in objects(write(text), findings.append)] == [1, 3]
    assert [(f.kind, f.place.line) for f in findings] == [("record_not_an_object", 2)]


def test_a_long_line_is_read(write: Write) -> None:
    text = f'{{"a": "{"x" * 10_000_000}"}}'
    assert [len(value["a"]) for _, value in objects(write(text), fail)] == [10_000_000]


def test_as_id() -> None:
    cases = [
        ("7", "7"),
        (7, "7"),
        (" 7 ", "7"),
        ("007", "007"),
        ("a b", "a b"),
        (0, "0"),
        (-1, "-1"),
        ("", None),
        (" \t", None),
        (None, None),
        (True, None),
        (7.0, None),
        (["7"], None),
        ({"7": 1}, None),
    ]
    wrong = [(value, found) for value, wanted in cases if (found := as_id(value)) != wanted]
    assert not wrong


@pytest.mark.parametrize(("value", "wanted"), [(" a ", " a "), (None, ""), (5, ""), (["a"], "")])
def test_as_text(value: Any, wanted: str) -> None:
    assert as_text(value) == wanted


CONTAINERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
    (".zst", lambda data: zstandard.ZstdCompressor().compress(data)),
    ("", lambda data: data),
]


@pytest.mark.parametrize(("ending", "pack"), CONTAINERS, ids=[e or "plain" for e, _ in CONTAINERS])
def test_containers(ending: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / f"a.jsonl{ending}"
    path.write_bytes(pack(b'{"a": 1}\n') + pack(b'{"a": 2}\n'))
    assert list(lines(path)) == [(1, b'{"a": 1}'), (2, b'{"a": 2}')]
    assert bare_name(path) == "a"


@pytest.mark.parametrize(("ending", "pack"), CONTAINERS[:-1], ids=[e for e, _ in CONTAINERS[:-1]])
def test_packed_data_that_break_off(
    ending: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"a.jsonl{ending}"
    path.write_bytes(pack(b"".join(b"%d\n" % (i * i) for i in range(9999)))[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        list(lines(path))


def test_a_large_array_is_read_value_by_value(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        "[" + ",\n".join(f'{{"n": {n}, "t": "{"ä" * 999}"}}' for n in range(3000)) + "]"
    )
    found = [(line, value["n"]) for line, value in values(path, fail)]
    assert found == [(n + 1, n) for n in range(3000)]


def test_patterns_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (tmp_path / name).write_text("{}")
    found = files_below(tmp_path / "*.jsonl")
    assert [path.name for path in found] == ["a.jsonl", "b.jsonl"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 1}\n')))
    monkeypatch.setattr(paths, "_copies", {})
    (path,) = files_below(Path("-"))
    assert (path.name, path.read_bytes()) == ("stdin", b'{"a": 1}\n')


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": lambda data: bz2.compress(data, 1),  # in small blocks
    "xz": lambda data: lzma.compress(data, preset=0),  # the others take seconds
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}
RECORDS = 800
LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "lines": lambda noise: "".join(json.dumps(record) + "\n" for record in noise),
    "array": lambda noise: json.dumps(noise, indent=1),
    "values": lambda noise: "\n".join(json.dumps(record, indent=1) for record in noise),
}


@cache
def data_of(layout: str, packer: str | None) -> bytes:
    """Return the records in a layout, packed or plain; packing takes long."""
    if packer:
        return PACKERS[packer](data_of(layout, None))
    noise = [{"n": n, "x": random.Random(n).randbytes(700).hex()} for n in range(1, RECORDS + 1)]
    return LAYOUTS[layout](noise).encode()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packer", PACKERS)
def test_what_can_be_read_of_packed_data_that_break_off_is(
    packer: str, layout: str, tmp_path: Path
) -> None:
    packed = data_of(layout, packer)
    path, read = tmp_path / "run", list[Any]()
    path.write_bytes(packed[: len(packed) * 3 // 4])
    with pytest.raises(InputError, match=r"run: cannot be read beyond line (\d+): ") as raised:
        read.extend(value["n"] for _, value in values(path, lambda found: pytest.fail(str(found))))
    line = int(str(raised.value).split("line ")[1].partition(":")[0])
    assert read == list(range(1, len(read) + 1))
    assert len(read) > RECORDS * 0.6  # of three quarters: the last block is lost
    assert layout != "lines" or line == len(read)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_last_line_that_is_whole_is_read_though_the_data_break_off(
    end: str, tmp_path: Path
) -> None:
    path, read = tmp_path / "run", list[Any]()
    path.write_bytes(gzip.compress(b'{"n": 1}' + end.encode())[:-4])
    with pytest.raises(InputError, match="beyond line 1: "):
        read.extend(value for _, value in values(path, lambda found: pytest.fail(str(found))))
    assert (read, Opened(path).first(3)) == ([{"n": 1}], [b'{"n": 1}'])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("looks", [1, 5], ids=["one line is looked at", "five lines are"])
@pytest.mark.parametrize("packer", [None, *PACKERS], ids=lambda packer: packer or "plain")
def test_what_was_looked_at_is_read_again_and_the_file_opened_once(
    packer: str | None, looks: int, layout: str, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    path.write_bytes(data_of(layout, packer))
    with counted_opens(path) as opens:
        opened = Opened(path)
        assert opened.position == opened.held_bytes == 0
        assert opened.first(looks) == opened.first(looks)
        assert [o["n"] for o in first_objects(opened, 2)] == ([1, 2] if layout == "lines" else [1])
        read = [value["n"] for _, value in values(opened, lambda found: pytest.fail(str(found)))]
    assert (read, opens) == (list(range(1, RECORDS + 1)), [1])
    assert (opened.position, opened.read_bytes) == (path.stat().st_size, len(data_of(layout, None)))


def test_a_file_that_was_looked_at_and_closed_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(data_of("lines", None))
    opened = Opened(path)
    opened.first(3)
    opened.close()
    assert opened.held_bytes == 0
    assert len(list(opened.lines())) == len(list(opened.lines())) == RECORDS


@pytest.mark.parametrize("packer", [None, *PACKERS], ids=lambda packer: packer or "plain")
@pytest.mark.parametrize(
    ("read", "opens_wanted"),
    [
        pytest.param(lambda path: list(lines(path)), 1, id="read to the end"),
        pytest.param(lambda path: Opened(path).first(1), 2, id="only looked at"),
        pytest.param(lambda path: None, 1, id="not read"),
    ],
)
@pytest.mark.parametrize("cut", [0, 20], ids=["whole", "cut"])
def test_the_sha256_is_that_of_the_file_on_disk_and_taken_as_it_is_read(
    cut: int,
    read: Callable[[Path], Any],
    opens_wanted: int,
    packer: str | None,
    tmp_path: Path,
) -> None:
    path = tmp_path / "run"
    data = data_of("lines", packer) * 3  # more than is read at a look
    path.write_bytes(data[: len(data) - cut])
    with counted_opens(path) as opens, taking_checksums() as checksums:
        with suppress(InputError):
            read(path)
        found = checksums.of(path)
    assert found == hashlib.sha256(path.read_bytes()).hexdigest()
    assert opens == [opens_wanted]


def test_a_row_stands_at_the_line_where_it_ends() -> None:
    lines = [(1, "id,text"), (3, 'a,"The ferry'), (4, 'is blue."'), (7, "b,Late")]
    rows = [(1, ["id", "text"]), (4, ["a", "The ferry\nis blue."]), (7, ["b", "Late"])]
    assert list(csv_rows(lines)) == rows


def test_what_breaks_off_is_at_its_line() -> None:
    rows = csv_rows([(1, "a;1"), (5, "b\r2;x")], ";")
    assert next(rows) == (1, ["a", "1"])
    with pytest.raises(BrokenCsv, match="new-line character") as broken:
        next(rows)
    assert broken.value.line == 5


OLD = PLAIN.replace("S.", "Old.")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "r.bak",
            "r.jsonl.bak",
            "r.jsonl.BAK",
            "r.jsonl~",
            "r.jsonl.~1~",
            "r.jsonl.orig",
            "r.old",
        ),
        *(
            "r.jsonl.swp",
            "#r.jsonl#",
            "r.bak.gz",
            "r.jsonl.bak2",
            "r.backup",
            "r.bak.jsonl",
            "r.tmp",
        ),
        *("r.jsonl.gz.bak", "r.jsonl.save"),
    ],
)
@pytest.mark.parametrize("original", ["r.jsonl", "r.jsonl.gz", "r"])
def test_a_backup_is_passed_over_beside_its_original(
    name: str, original: str, write: Write, tmp_path: Path
) -> None:
    backup, path = write(OLD, f"runs/{name}"), write(PLAIN, f"runs/{original}")
    findings: list[Finding] = []
    assert find_runs([tmp_path / "runs"], findings.append) == [path]
    assert find_runs([tmp_path / "runs" / "*"], findings.append) == [path]
    (finding, _) = findings
    assert (finding.severity, str(finding)) == (
        "note",
        f"{backup}: is a backup of {original}; passed over",
    )


def test_a_backup_that_is_given_is_read_after_its_original(write: Write) -> None:
    backup, path = write(OLD, "r.bak"), write(PLAIN, "r.jsonl")
    assert find_runs([backup]) == [backup]
    found = reading(*find_runs([backup, path]))
    assert [(r.run_id, r.text) for r in found.responses] == [("r", "S."), ("r.bak/r", "Old.")]


def test_a_backup_whose_original_is_elsewhere_is_a_run(write: Write, tmp_path: Path) -> None:
    backup, _ = write(OLD, "runs/r.bak"), write(PLAIN, "runs/x/r.jsonl")
    assert backup in find_runs([tmp_path / "runs"])


@pytest.mark.parametrize(
    "name", ["r (1).jsonl", "r (copy).jsonl", "r - Copy.jsonl", "r copy 2.jsonl", "Copy of r.jsonl"]
)
def test_a_copy_comes_after_its_original(name: str, write: Write, tmp_path: Path) -> None:
    write(OLD, f"runs/{name}")
    path = write(PLAIN, "runs/r.jsonl")
    found = reading(*find_runs([tmp_path / "runs"]))
    assert find_runs([tmp_path / "runs"])[0] == path
    assert (found.responses[0].run_id, found.responses[0].text) == ("r", "S.")
    assert len({r.run_id for r in found.responses}) == 2


@pytest.mark.parametrize("name", ["old", "r-old.jsonl", "bak.jsonl", "tmp", "r.jsonl", "x~y", "##"])
def test_a_name_that_is_no_backup(name: str) -> None:
    assert backup_of(Path(name)) is None


def test_copies_need_a_name() -> None:
    assert (copy_of(Path("(1).jsonl")), copy_of(Path("r(1).jsonl"))) == (None, "r")

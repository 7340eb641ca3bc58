"""What is larger than the limits is passed over with its line, packed or plain."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.nuggets.bank_files import read_banks
from trecjudge.inputs.sources.containers import Opened, split_lines
from trecjudge.inputs.sources.values import values
from trecjudge.inputs.topics import read_topics
from trecjudge.settings.limits import SURELY_FEW, apply_limits
from trecjudge.settings.strict_yaml import MOST_NODES, YamlFault, read_yaml

LINES = b'{"a": 1}\n%s\n{"a": 3}\n'
READ = """
import sys
from trecjudge.inputs.sources.values import values
found = []
read = [line for line, _ in values(__import__("pathlib").Path(sys.argv[1]), found.append)]
print(read, [(f.kind, f.place.line) for f in found])
"""
ROOM = 128 << 20
LONG_TO_PACK = pytest.mark.slow("trecjudge/inputs/sources")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": partial(gzip.compress, compresslevel=1),
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(pack, id=name, marks=LONG_TO_PACK if name in ("bzip2", "xz") else ())
        for name, pack in PACKERS.items()
    ],
)
def test_a_line_that_fills_memory_is_passed_over(
    pack: Callable[[bytes], bytes], write: Write
) -> None:
    path = write(pack(LINES % (b'{"a": "' + b"x" * ROOM + b'"}')))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        env=os.environ | {"TRECJUDGE_LIMITS": "record=1MB"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
        check=True,
    )
    assert done.stdout == "[1, 3] [('record_too_large', 2)]\n"


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b'{"a": "' + b"x" * 3000 + b'"}', id="long"),
        pytest.param(b'{"a": ' + b"[" * 100_000, id="deep, not closed"),
        pytest.param(b'{"a": ' + b"[" * 30 + b"]" * 30 + b"}", id="deep"),
        pytest.param(b'{"a": [' + b"1," * 300 + b"1]}", id="many entries"),
        pytest.param(b"{}" * 300 + b"x", id="many values"),
    ],
)
def test_what_is_too_large_has_its_line(bad: bytes, write: Write) -> None:
    found: list[Finding] = []
    with apply_limits(["record=2k", "depth=20", "entries=200"]):
        read = [line for line, _ in values(write(LINES % bad), found.append)]
    assert {1, 3} <= set(read)
    assert {(f.kind, f.place.line) for f in found} == {("record_too_large", 2)}


@pytest.mark.parametrize("rest", ['"x\\"]}" ,[{}]', '{"b": "]"}', "1e9"], ids=["text", "{", "1"])
def test_an_entry_of_an_array_is_passed_over(rest: str, write: Write) -> None:
    found: list[Finding] = []
    text = f'[\n{{"a": 1}},\n{{"a": ["{"x" * 3000}", {rest}]}},\n{{"a": 3}}\n]'
    with apply_limits(["record=2k"]):
        read = [value["a"] for _, value in values(write(text), found.append)]
    assert (read, [(f.kind, f.place.line) for f in found]) == ([1, 3], [("record_too_large", 3)])


@pytest.mark.parametrize("layout", ['[\n{"a": 1},\n%s,\n{"a": 3}\n]', '{"a":\n1}\n%s\n{"a": 3}'])
def test_what_is_beside_a_value_of_too_many_entries_is_read(layout: str, write: Write) -> None:
    found: list[Finding] = []
    text = layout % ('{"a": [' + "1," * (SURELY_FEW // 2) + "1]}")
    with apply_limits(["entries=200"]):
        read = [value["a"] for _, value in values(write(text), found.append)]
    assert (read, [(f.kind, f.place.line) for f in found]) == ([1, 3], [("record_too_large", 3)])


BLANK = [b"\n" * 100_000, b" " * 100_000 + b"\n", b"\n \n\t\r\n" * 20_000, b"\t" * 70_000 + b"\n"]
BOMB_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("pack", BOMB_PACKERS.values(), ids=BOMB_PACKERS)
@pytest.mark.parametrize("blank", BLANK, ids=["newlines", "blanks", "mixed", "tabs"])
def test_blank_lines_cost_nothing(
    blank: bytes, pack: Callable[[bytes], bytes], write: Write
) -> None:
    text = blank * 20 + b'{"a": 1}\n' + blank * 20 + b'{"a": 2}'
    file = Opened(write(pack(text)))
    with apply_limits(["record=50k"]):
        assert len(file.first(5)) == 2
        assert file.held_bytes < 100_000
        found: list[Finding] = []
        read = list(file.lines(found.append))
    assert [number for number, _ in read] == [
        text[: text.index(record)].count(b"\n") + 1 for _, record in read
    ]
    assert not found


@pytest.mark.parametrize("most", [3, 100])
@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_lines_are_those_of_the_whole_text(size: int, most: int) -> None:
    text = b"\n\na b\n  \r\n\tc\n     \n abcd \n\0\n\n e"
    whole, wanted = 0, []
    for number, line in enumerate(io.BytesIO(text), 1):
        whole += len(line)
        if not line.isspace():
            wanted.append((number, whole, line if len(line.rstrip(b"\n")) <= most else None))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(split_lines(pieces, most)) == wanted


@pytest.mark.parametrize("pack", BOMB_PACKERS.values(), ids=BOMB_PACKERS)
def test_two_files_are_read_by_turns(pack: Callable[[bytes], bytes], write: Write) -> None:
    """Each of many frames, with what belongs to no other file."""
    read = []
    for name in "ab":
        frames = [pack(b"%d %a\n" % (i, name * 40_000)) for i in range(20)]
        read.append(Opened(write(b"".join(frames), f"{name}.jsonl")).lines())
    for i, (first, second) in enumerate(zip(*read, strict=True)):
        assert first == (i + 1, b"%d %a" % (i, "a" * 40_000))
        assert second == (i + 1, b"%d %a" % (i, "b" * 40_000))


@pytest.mark.parametrize("pack", list(BOMB_PACKERS.values())[1:], ids=list(BOMB_PACKERS)[1:])
def test_what_swells_is_read_up_to_the_limit(pack: Callable[[bytes], bytes], write: Write) -> None:
    file = write(pack(b'{"a": 1}\n' + b"\n" * (8 << 20) + b'{"a": 2}\n'))
    read = []
    with (
        apply_limits(["unpacked=2MB"]),
        pytest.raises(InputError, match="limit unpacked") as raised,
    ):
        read.extend(number for number, _ in Opened(file).lines())
    assert (read, str(raised.value).count("\n")) == ([], 0) or read == [1]
    with apply_limits(["unpacked=9MB"]):
        assert len(list(Opened(file).lines())) == 2


def test_honest_data_may_pack_as_well_as_they_like(write: Write) -> None:
    record = b'{"a": "%s"}\n' % (b"The same words. " * 60)
    file = write(zstandard.compress(record * 3000))
    with apply_limits(["unpacked=4MB"]):
        assert len(list(values(file, pytest.fail))) == 3000


def archive(kind: str) -> bytes:
    held = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(held, "w") as zipped:
            zipped.writestr("a.jsonl", "{}")
    else:
        with tarfile.open(fileobj=held, mode="w:gz" if kind == "tar.gz" else "w") as tar:
            tar.addfile(tarfile.TarInfo("a.jsonl"))
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (archive("zip"), "is a zip archive; unpack it"),
        (archive("tar"), "is a tar archive; unpack it"),
        (archive("tar.gz"), "is a tar archive; unpack it"),
        (gzip.compress(gzip.compress(b"{}")), "is packed twice; unpack it once"),
    ],
    ids=["zip", "tar", "tar.gz", "gzip in gzip"],
)
def test_an_archive_is_named(content: bytes, said: str, write: Write) -> None:
    with pytest.raises(InputError, match=said):
        list(Opened(write(content)).lines())


@pytest.mark.parametrize("inner", [b'{"a":', b'{"b": ['], ids=["objects", "lists"])
def test_nesting_counts_as_much_as_commas(inner: bytes, write: Write) -> None:
    bad = inner * 300_000
    found: list[Finding] = []
    with apply_limits(["entries=2000"]):
        list(values(write(b'{"a": 1}\n' + bad + b'\n{"a": 2}'), found.append))
    assert [(f.kind, f.place.line) for f in found] == [("record_too_large", 2)]
    assert "--limit entries" in found[0].message


def test_an_integer_of_a_million_digits_ends_no_array(write: Write) -> None:
    found: list[Finding] = []
    text = b'[\n{"a": 1},\n{"a": %s},\n{"a": 3}\n]' % (b"9" * 1_000_000)
    assert [value["a"] for _, value in values(write(text), found.append)] == [1, 3]
    assert [(f.kind, f.place.line) for f in found] == [("record_too_large", 3)]


TOPICS = "\n".join(json.dumps({"topic_id": f"{n}", "title": "Who?"}) for n in range(2000))
TURNS = json.dumps(
    {
        "topic_id": "1",
        "turns": [{"turn_id": n, "utterance": f"And what of the {n}?"} for n in range(2000)],
    }
)


@pytest.mark.parametrize("text", [TOPICS, TURNS], ids=["many", "turns that repeat all before"])
def test_topics_beyond_the_room_of_one_input_are_not_read(text: str, write: Write) -> None:
    found: list[Finding] = []
    with apply_limits(["held=500k"]):
        topics = read_topics(write(text), found.append)
    assert 50 < len(topics) < 1900
    (full,) = [f for f in found if f.kind == "record_too_large"]
    assert "--limit held); the rest is not read" in full.message


def test_labels_beyond_the_room_of_one_input_are_not_read(write: Write) -> None:
    rows = [f"1,r,{n},d,full_support,person {n}" for n in range(2000)]
    head = "topic_id,run_id,sentence_index,doc_id,label,annotator"
    found: list[Finding] = []
    with apply_limits(["held=500k"]):
        labels = read_labels(write("\n".join([head, *rows]), "l.csv"), found.append)
    assert 256 <= len(labels) < 1000
    assert [f.kind for f in found if "--limit held" in f.message] == ["record_too_large"]


def test_banks_beyond_the_room_of_one_input_are_not_read(write: Write) -> None:
    bank = '{"qid": "%d", "query": "q", "nuggets": [{"text": "a", "importance": "vital"}]}'
    found: list[Finding] = []
    with apply_limits(["held=500k"]):
        banks = read_banks([write("\n".join(bank % n for n in range(1000)))], found.append)
    assert 50 < len(banks) < 1000
    assert [f.kind for f in found if "--limit held" in f.message] == ["record_too_large"]


@pytest.mark.parametrize("text", ["- a\n", "a,", "{},"], ids=["block", "flow", "objects"])
def test_yaml_of_too_many_values_is_not_built(text: str) -> None:
    whole = text * 4 * MOST_NODES
    with pytest.raises(YamlFault, match="is too large"):
        read_yaml(whole if text.endswith("\n") else f"[{whole}")


def test_parquet_that_swells_is_read_up_to_the_limit(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from trecjudge.inputs.pipelines.reading import run_records

    path = tmp_path / "a.parquet"
    rows = {"question": ["Q?"] * 3, "answer": ["a" * 3_000_000] * 3}
    parquet.write_table(pyarrow.table(rows), path, compression="zstd")
    assert path.stat().st_size < 10_000
    found: list[Finding] = []
    with apply_limits(["record=2MB"]):
        assert not list(run_records(path, found.append))
    assert [(f.kind, f.place.line) for f in found] == [("record_too_large", n) for n in (1, 2, 3)]
    with (
        apply_limits(["unpacked=4MB"]),
        pytest.raises(InputError, match=r"beyond row [12]: becomes"),
    ):
        list(run_records(path, found.append))

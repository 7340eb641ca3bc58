"""What is larger than the limits: passed over with its line, in little memory, the rest read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest
import zstandard

from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.inputs.sources.values import values
from trecjudge.settings.limits import SURELY_FEW, apply_limits

LINES = b'{"a": 1}\n%s\n{"a": 3}\n'
READ = """
import sys
from trecjudge.inputs.sources.values import values
found = []
read = [line for line, _ in values(__import__("pathlib").Path(sys.argv[1]), found.append)]
print(read, [(f.kind, f.place.line) for f in found])
"""
ROOM = 128 << 20
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": partial(gzip.compress, compresslevel=1),
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
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

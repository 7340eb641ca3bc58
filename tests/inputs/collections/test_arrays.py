"""Whole pieces are looked through for what may be in them: nothing that is there is missed."""

from __future__ import annotations

import random

import pytest

from trecjudge.inputs.collections.arrays import Strings, all_lines_are


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 30])
@pytest.mark.parametrize("before", ["", "{", '{"id": ', '{"title": "N", "docid":'])
@pytest.mark.parametrize("after", ["", "}\n", ', "text": "T"}\n' * 30])
def test_a_string_that_is_there_is_found(before: str, size: int, after: str) -> None:
    string = ("0123456789é" * 3)[:size].encode()
    piece = f'{before}"'.encode() + string + f'"{after}'.encode()
    assert Strings([b"another", string, b"x" * 40]).may_be_in(piece)


def test_of_strings_that_are_not_there_few_are_looked_for() -> None:
    rng = random.Random(1)
    known = Strings(f"D{n}".encode() for n in range(1000))
    for _ in range(50):
        ids = (rng.randrange(1000, 9999) for _ in range(20))
        assert not known.may_be_in("".join(f'{{"id": "D{i}"}}\n' for i in ids).encode())
    assert not Strings([]).may_be_in(b'{"id": "a", "text": "b"}\n')


LINE = '{"docid": "a", "body": "T"}\n'


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (LINE * 9, True),
        (LINE * 4 + '{"docid": "b", "body": "cut\n' + LINE, False),
        (LINE * 4 + '{"docno": "b", "body": "T"}\n' + LINE, False),
        (LINE * 4 + ' {"docid": "b", "body": "T"}\n', False),
        (LINE * 4 + "\n" + LINE, False),
        (LINE * 4 + "x\n", False),
        ("\n" + LINE * 4, False),
        (LINE * 4 + LINE[:-1], False),
        (LINE.replace("\n", "\r\n") * 4, False),
        ("", False),
    ],
)
def test_lines_that_are_alike(text: str, alike: bool) -> None:
    assert all_lines_are(text.encode(), b'{"docid"', b"}") == alike
    assert all_lines_are(text.encode(), b'{"do', b'"}') in (alike, "docno" in text)


def test_lines_that_end_as_on_windows() -> None:
    piece = LINE.replace("\n", "\r\n").encode() * 3
    assert all_lines_are(piece, b'{"docid"', b"}\r")
    assert all_lines_are(piece, b'{"docid": "a", "body"', b"}\r")
    assert not all_lines_are(piece, b'{"docid": "a", "text"', b"}\r")

"""Lines that are as the others need not be looked at one by one."""

from __future__ import annotations

import pytest

from trecjudge.inputs.collections.lines import LineShape

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
    ],
)
def test_lines_that_are_alike(text: str, alike: bool) -> None:
    shape = LineShape.of([LINE[:-1].encode()] * 3)
    assert shape.is_regular(text.encode()) == alike


def test_lines_that_end_as_on_windows() -> None:
    piece = LINE.replace("\n", "\r\n").encode() * 3
    assert LineShape.of(piece.split(b"\n")[:-1]).is_regular(piece)
    assert not LineShape.of([LINE[:-1].encode()]).is_regular(piece)

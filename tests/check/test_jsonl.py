"""A run file is JSONL, or a track's checker cannot read it."""

from __future__ import annotations

import json

import pytest

from tests.check.samples import GOOD, Write, broken, lines
from trecjudge.check.checking import check

FIRST = GOOD["rag25"]
SECOND = json.loads(json.dumps(FIRST).replace('"narrative_id": 1', '"narrative_id": 2'))
ARRAY = {("file_not_jsonl", "refused")}
TWICE = ("response_duplicate", "refused")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (lines(FIRST, SECOND), set()),
        ("\n" + lines(FIRST, SECOND).replace("\n", "\r\n\r\n"), set()),
        (lines(FIRST, SECOND).rstrip("\n"), set()),
        ("\ufeff" + lines(FIRST, SECOND), ARRAY),
        (json.dumps([FIRST, SECOND]), ARRAY),
        (json.dumps([FIRST, SECOND], indent=2), ARRAY),
        (
            lines(FIRST) + json.dumps([SECOND, {**SECOND, "x": 1}]),
            {*ARRAY, TWICE},
        ),
        (json.dumps(FIRST, indent=2) + "\n" + json.dumps(SECOND, indent=2), ARRAY),
        (lines(FIRST, SECOND).replace("\n", " "), ARRAY),
    ],
    ids=[
        "lines",
        "blank lines and CR LF",
        "no line end at the end",
        "a byte order mark",
        "an array in a line",
        "an array over lines",
        "an array after a record",
        "records over lines",
        "records in one line",
    ],
)
def test_a_file_that_is_not_jsonl_is_refused_once(
    text: str, wanted: set[tuple[str, str]], write: Write
) -> None:
    report = check([write(text)])
    assert broken(report) == wanted
    assert report.counts.get("file_not_jsonl", 0) == len(wanted & ARRAY)
    assert report.runs[0].records >= 2


def test_tracks_and_tools_that_read_arrays(write: Write) -> None:
    for track in ("biogen25", "autojudge"):
        assert broken(check([write(json.dumps([GOOD[track]]))])) == set()

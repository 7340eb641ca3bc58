"""Verdicts of an earlier run: how their file is read, and which verdict a pair gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.earlier import EarlierVerdicts, VerdictLine, read_earlier
from trecjudge.evaluation.pairs.reading import BarePair
from trecjudge.evaluation.pairs.verdicts import PairVerdict, digest_texts
from trecjudge.findings import ignore
from trecjudge.records import Place


def line(
    pair_id: str = "1",
    digest: str = "",
    group: str = "",
    has_id: bool = False,
    labels: tuple[object, ...] = (),
    full: float = 0.5,
) -> VerdictLine:
    return VerdictLine(pair_id, group, has_id, digest, "full_support", full, 0.5, labels)


def found(own: VerdictLine, *others: VerdictLine) -> tuple[float | None, bool] | None:
    """Return P(full) of the verdict that a pair gets, and whether it is on the same texts."""
    one = EarlierVerdicts(Path("o"), others).find(own)
    return one and (one.verdict.full, one.same_texts)


@pytest.mark.parametrize(
    ("own", "others", "wanted"),
    [
        (line("5", "x"), [line("1", "y"), line("2", "x", full=0.9)], (0.9, True)),
        (line("5", "x"), [line("5", "y")], None),
        (line("a", "x", has_id=True), [line("a", "y", has_id=True)], (0.5, False)),
        (line("a", "x", has_id=True), [line("a", has_id=True)], (0.5, True)),
        (line("5", "x"), [line("5")], (0.5, True)),
        (line("5", "x", "g"), [line("5", group="h")], None),
        (line("5", "x", "g"), [line("1", "x", "h"), line("9", "x", "g", full=0.9)], (0.9, True)),
        (
            line("5", "x", labels=("NONE",)),
            [line("1", "x", labels=("FULL",)), line("2", "x", labels=("NONE",), full=0.9)],
            (0.9, True),
        ),
        (line("5", "x", "file"), [line("1", "x")], (0.5, True)),
    ],
    ids=[
        "by its texts, wherever they stand",
        "the same line of other texts is another pair",
        "the same id of other texts is said to be so",
        "by id where there is no digest",
        "by line where there is neither",
        "never by the line of another group",
        "among equal texts by group",
        "and by label",
        "though one file has no groups",
    ],
)
def test_the_verdict_on_a_pair(
    own: VerdictLine, others: list[VerdictLine], wanted: tuple[float, bool] | None
) -> None:
    assert found(own, *others) == wanted


def test_each_verdict_is_given_once() -> None:
    earlier = EarlierVerdicts(Path("o"), [line("1", "x", full=0.1), line("2", "x", full=0.2)])
    given = [earlier.find(line("9", "x")) for _ in range(3)]
    assert [one and one.verdict.full for one in given] == [0.1, 0.2, None]
    assert earlier.left == 0


def test_the_digest_tells_texts_apart_wherever_they_are_cut() -> None:
    texts = [("ab", "c"), ("a", "bc"), ("", "abc"), ("\ud800", "")]
    pairs = [BarePair(Place("p", 1), "1", "", *both, ()) for both in texts]
    assert len(set(map(digest_texts, pairs))) == 4


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


VERDICT = PairVerdict(
    BarePair(Place("p", 3), "3", "g", "s", "d", ("FULL",)), 1, "no_support", 0.1, 0.1, 0.2
)


def test_a_verdict_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "v.jsonl", VERDICT.as_dict())
    assert read_earlier(path, ignore).first == VerdictLine.of(VERDICT)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"sentence": "a", "document": "b"}, r":2: a pair to judge, not a verdict: first judge"),
        ({"topic_id": "t"}, r":2: no verdict of `judges pairs`: it lacks id, group, label, p_full"),
        (VERDICT.as_dict() | {"label": "ful_support"}, r":2: .*did you mean 'full_support'"),
        (VERDICT.as_dict() | {"p_full": 1.5}, r":2: p_full 1.5 is no number from 0 to 1"),
        (VERDICT.as_dict() | {"p_supported": True}, r":2: p_supported True is no number"),
    ],
)
def test_another_record_is_refused_with_its_line(
    record: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "v.jsonl", VERDICT.as_dict(), record)
    with pytest.raises(InputError, match=message):
        read_earlier(path, ignore)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="no verdicts in it; give what `judges pairs --output` wrote"
    ):
        read_earlier(write(tmp_path / "v.jsonl"), ignore)

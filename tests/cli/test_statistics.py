"""What the statistics commands share: choices that are those of the code, findings as they end."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from trecjudge.cli import agree, convert, gate, meta_evaluate
from trecjudge.cli.flags import Duplicates, FormatName
from trecjudge.cli.parameters import Flags
from trecjudge.cli.printing import FindingPrinter, write_jsonl
from trecjudge.errors import OutputError
from trecjudge.evaluation import agreement as agreeing
from trecjudge.findings import Finding
from trecjudge.inputs.nuggets.bank_formats import bank_formats
from trecjudge.records import Place
from trecjudge.results.leaderboards.writing import AUTO, LAYOUTS
from trecjudge.results.trec import WRITERS
from trecjudge.stats import alignment, scores


def choices(flags: type[Flags], name: str) -> tuple[str, ...]:
    """Return what a flag of a command takes."""
    return get_args(get_type_hints(flags)[name])


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (get_args(FormatName), (AUTO, *LAYOUTS)),
        (
            get_args(convert.Target),
            (
                *LAYOUTS,
                *convert.TABLES,
                convert.PARQUET,
                *(format_.NAME for format_ in bank_formats()),
                *WRITERS,
            ),
        ),
        (choices(meta_evaluate.MetaEvaluateFlags, "on_missing"), get_args(alignment.OneSidedRuns)),
        (choices(meta_evaluate.MetaEvaluateFlags, "all_rows"), get_args(alignment.AllRows)),
        (choices(gate.GateFlags, "all_rows"), get_args(alignment.AllRows)),
        (choices(agree.AgreeFlags, "on_missing"), get_args(agreeing.OneSidedItems)),
        (get_args(Duplicates), get_args(scores.Duplicates)),
    ],
)
def test_a_flag_offers_what_the_code_knows(
    offered: tuple[str, ...], known: tuple[str, ...]
) -> None:
    assert sorted(offered) == sorted(known)
    assert len(offered) > 1


def printed(*kinds: str) -> FindingPrinter:
    found = FindingPrinter()
    for number, kind in enumerate(kinds):
        found(Finding(kind, Place("f", number + 1), "is odd"))
    return found


@pytest.mark.parametrize(
    ("kinds", "status", "strict"),
    [
        ([], 0, 0),
        (["scores_tied"], 0, 0),
        (["all_row_differs"], 0, 1),
        (["row_unreadable", "scores_tied"], 3, 1),
    ],
)
def test_findings_make_the_exit_status(kinds: list[str], status: int, strict: int) -> None:
    found = printed(*kinds)
    assert (found.status(), found.status(strict=True)) == (status, strict)


def test_the_first_of_a_kind_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(*["row_unreadable"] * 7, "scores_tied")
    found(Finding("row_unreadable", Place("f", 1), "is odd"))  # printer of twice
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["not judged: f:1: is odd", "not judged: f:2: is odd"]
    assert lines[3:] == ["note: f:8: is odd"]
    found.close()
    assert capsys.readouterr().err.splitlines() == ["… 4 more of row_unreadable"]
    assert len(found.as_dicts()) == 8


def test_quiet_prints_only_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    found = FindingPrinter(quiet=True)
    for kind in ("scores_tied", "all_row_differs", "row_unreadable"):
        found(Finding(kind, Place("f"), "is odd"))
    found.close()
    assert capsys.readouterr().err == "not judged: f: is odd\n"


def test_lines_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [{"a": 1}, {"a": None}])
    assert path.read_text() == '{"a":1}\n{"a":null}\n'
    with pytest.raises(OutputError, match="cannot be written"):
        write_jsonl(tmp_path / "gone" / "x", [])

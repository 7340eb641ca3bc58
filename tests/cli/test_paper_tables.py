"""Tables for a paper by `convert`, `compare` and `meta-evaluate`, and by the Python API."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import trecjudge
from tests.cli.jobs import BAD, GOOD, job, partly_judged
from tests.commandline import command
from trecjudge.errors import InputError

FORMS = [("markdown", "markdown"), ("latex", "latex"), ("html", "html"), ("table-csv", "csv")]
HUMAN = "a all H 0.9\nb all H 0.7\nc all H 0.5\nd all H 0.3\ne all H 0.1\n"


@pytest.mark.parametrize(("to", "form"), FORMS)
def test_the_command_writes_what_python_returns(to: str, form: str, tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    done = command("job", "convert", path, tmp_path / "t", "--to", to)
    assert done.status == 0
    assert "'b' 4 of 6 (0.3333 to 1), 'e' 6 of 6" in done.err
    text = trecjudge.table(path, form, on_finding=lambda finding: None)  # type: ignore[arg-type]
    assert (tmp_path / "t").read_text() == text
    for mark in ("0.333", "6"):  # what is unjudged, and its bounds
        assert mark in text


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((), ["EXPECTED_CITATION_SUPPORT", "LENGTH"]),
        (("--measures", "FITS,LENGTH"), ["FITS", "LENGTH"]),
        (("--measures", "FITS", "--measures", " LENGTH "), ["FITS", "LENGTH"]),
    ],
)
def test_measures_are_chosen(options: tuple[str, ...], wanted: list[str], tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"a": [GOOD], "b": [BAD]}, "--judge", "citation,length")
    command("job", "convert", path, tmp_path / "t", "--to", "table-csv", *options)
    head = next(csv.reader((tmp_path / "t").open()))
    assert [name for name in head if f"{name}_lowest" in head] == wanted


def test_all_measures(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"a": [GOOD], "b": [BAD]})
    command("job", "convert", path, tmp_path / "t", "--to", "table-csv", "--all-measures")
    head = next(csv.reader((tmp_path / "t").open()))
    assert sum(f"{name}_lowest" in head for name in head) == 6


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("--to latex --measures CITATION_SUPORT", 1, "did you mean 'CITATION_SUPPORT'"),
        ("--to csv --measures CITATION_SUPPORT", 1, "are for markdown, latex, html, table-csv"),
        ("--to latex --lower-is-better X", 1, "unknown measure 'X'"),
        (
            "--to latex --digits 9",
            2,
            "9 is too large; give a whole number of at least 0 and at most 6",
        ),
    ],
)
def test_bad_choices(options: str, status: int, message: str, tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"a": [GOOD], "b": [BAD]})
    done = command("job", "convert", path, tmp_path / "t", *options.split())
    assert (done.status, (tmp_path / "t").exists()) == (status, False)
    assert message in " ".join(done.err.replace("│", " ").split())


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv"])
def test_compare_prints_a_table_or_writes_it(form: str, tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"a": [GOOD, BAD], "b": [BAD, GOOD]})
    printed = command("compare", path, "--to", form)
    command("compare", path, "--to", form, "--output", tmp_path / "t")
    assert (
        printed.out
        == (tmp_path / "t").read_text()
        == trecjudge.table(trecjudge.compare(path), form)
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv"])
def test_meta_evaluate_prints_a_table_or_writes_it(form: str, tmp_path: Path) -> None:
    (tmp_path / "h.txt").write_text(HUMAN)
    (tmp_path / "j.txt").write_text(HUMAN.replace("H", "J"))
    given = ("meta-evaluate", tmp_path / "j.txt", "--truth", tmp_path / "h.txt")
    printed = command(*given, "--to", form)
    command(*given, "--to", form, "--output", tmp_path / "t")
    assert printed.out == (tmp_path / "t").read_text()
    assert "pairwise" in printed.out and "1.000" in printed.out.replace(",1.0,", "1.000")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--output t", "--output needs --to: markdown, latex, html or csv"),
        ("--to latex --json", "give one of them"),
    ],
)
def test_bad_outputs_of_compare(options: str, message: str, tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"a": [GOOD], "b": [BAD]})
    done = command("compare", path, *options.split())
    assert (done.status, message in done.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((7,), "7: give a result, a path, a comparison or a meta-evaluation"),
        (("x", "latx"), "unknown form of a table 'latx'"),
    ],
)
def test_bad_arguments(
    arguments: tuple[object, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("a all M 0.5\n")
    with pytest.raises(InputError, match=message):
        trecjudge.table(*arguments)  # type: ignore[arg-type]


def test_digits_are_checked() -> None:
    with pytest.raises(InputError, match="digits is 7, must be 0 to 6"):
        trecjudge.table("x", digits=7)


def test_a_result_is_a_table_without_files(tmp_path: Path) -> None:
    records = [
        {"metadata": {"run_id": "mine", "topic_id": "1"}, "responses": [{"text": "A kettle."}]}
    ]
    result = trecjudge.judge(records, "length")
    assert trecjudge.table(result).splitlines()[2] == "| 1 | mine | **2.000** |"

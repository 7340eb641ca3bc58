"""The page of each command: what --help prints at eighty columns, and docs/cli.md."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli_page import PATH, commands, pages, text
from tests.commandline import command
from trecjudge.cli.examples import EXAMPLES, FIRST_FLAGS
from trecjudge.cli.pages import Page
from trecjudge.cli.parts import parts_of
from trecjudge.cli.reading import Reading

PAGES = {page.name: page for page in pages()}
PYTHON_TYPES = re.compile(r"<\w|list\[|\bbool\b|\bstr\b|int range")


def test_the_page_on_the_command_line_is_what_the_parser_gives() -> None:
    assert PATH.read_text(encoding="utf-8") == text(), "python -m tests.cli_page writes it"


@pytest.mark.parametrize("name", [*PAGES, "--help-all"])
def test_help_fits_eighty_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = command(*name.split(), *([] if name == "--help-all" else ["--help"])).out
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert PYTHON_TYPES.search(out) is None
    assert ("--show-completion" in out, "docs/cli.md" in out) == (False, True)


def test_the_help_of_the_main_job_fits_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = command("--help").out
    assert len(out.splitlines()) <= 71
    assert out.index("\nCommands") < out.index("\nExamples") < out.index("\nFlags")
    assert out.count("  # ") == 3


def test_all_flags_of_the_main_job_are_shown_when_they_are_asked_for() -> None:
    out = command("--help-all").out
    flags = {flag for part in PAGES[""].parts for flag in part.flags}
    assert [flag for flag in flags if flag not in out] == []
    assert set(FIRST_FLAGS) <= flags


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.name or "main job")
def test_each_command_is_described_and_has_an_example(page: Page) -> None:
    assert page.paragraphs
    assert page.examples
    assert [part.shown for part in page.parts if not part.help] == []


def test_a_switch_that_follows_the_job_shows_no_default() -> None:
    defaults = {flag: part.default for part in PAGES["report"].parts for flag in part.flags}
    assert (defaults["--document-text"], defaults["--max-size"]) == ("", "20")
    main = {flag: part.default for part in PAGES[""].parts for flag in part.flags}
    assert (main["--document-text"], main["--own-documents"]) == (
        "--document-text",
        "--no-own-documents",
    )


@pytest.mark.parametrize("words", [example.words for some in EXAMPLES.values() for example in some])
def test_examples_can_be_read(words: str) -> None:
    given, found = shlex.split(words), {p.name: p for p in PAGES.values()}
    name = max((n for n in found if words.startswith(n)), key=len)
    command_, context = next(
        (c, x) for (c, x), page in zip(commands(), PAGES.values(), strict=True) if page.name == name
    )
    own = given[len(name.split()) :]
    read = Reading(parts_of(command_, context), getattr(command_, "commands", ())).read(own)
    assert [word for word in read if word.startswith("--")] or read == own

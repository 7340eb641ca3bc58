"""The page of each command: what --help prints at eighty columns, and docs/cli.md."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli_page import PATH, commands, pages, shared_flags, text
from tests.commandline import command
from trecjudge.cli.commands import WordReader
from trecjudge.cli.help import FIRST_FLAGS, SCREEN, TOPICS, all_examples, help_text
from trecjudge.cli.parameters import options_of

PAGES = {page.name: page for page in pages()}
PYTHON_TYPES = re.compile(r"<\w|list\[|\bbool\b|\bstr\b|int range")


def test_the_page_on_the_command_line_is_what_the_parser_gives() -> None:
    assert PATH.read_text(encoding="utf-8") == text(), "python -m tests.cli_page writes it"


def test_help_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in PAGES:
        out = command(*name.split(), "--help").out
        assert [line for line in out.splitlines() if len(line) > 80] == [], name
        assert PYTHON_TYPES.search(out) is None, name
        assert "--show-completion" not in out, name


def test_the_help_of_the_main_job_fits_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = command("--help").out
    assert len(out.splitlines()) <= 40
    assert out.index("\nCommands") < out.index("\nFamilies") < out.index("\nExamples")
    assert out.count("  # ") == 3


def test_the_help_of_every_command_fits_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = {name: len(help_text(page).splitlines()) for name, page in PAGES.items()}
    assert {name: count for name, count in lines.items() if count > SCREEN} == {}


def test_everything_is_shown_when_it_is_asked_for() -> None:
    short, full = (command("gate", flag).out for flag in ("-h", "--help-all"))
    assert len(full) > len(short)
    assert command("help", "gate", "--help-all").out == full


@pytest.mark.parametrize("topic", TOPICS)
def test_flags_that_commands_share_are_explained_once(topic: str) -> None:
    done = command("help", topic)
    assert (done.status, done.err) == (0, "")
    explained = {option.flags[0] for option in shared_flags()[topic]}
    assert [flag for flag in explained if f"  {flag}" not in done.out] == []
    listed = {option.flags[0] for page in PAGES.values() for option in page.shared.get(topic, ())}
    assert listed <= explained


def test_there_are_not_too_many_flags_to_learn() -> None:
    flags = {o.flags[0] for page in PAGES.values() for o in page.options if o.flags}
    assert len(flags) <= 110


def test_all_flags_of_the_main_job_are_shown_when_they_are_asked_for() -> None:
    out = command("--help-all").out
    flags = {flag for option in PAGES[""].options for flag in option.flags}
    assert [flag for flag in flags if flag not in out] == []
    assert flags >= set(FIRST_FLAGS)


def test_each_command_is_described_and_has_an_example() -> None:
    bare = [p.name for p in PAGES.values() if not (p.paragraphs and p.examples)]
    unsaid = [(p.name, o.shown) for p in PAGES.values() for o in p.options if not o.help]
    assert (bare, unsaid) == ([], [])
    assert set(all_examples()) == set(PAGES)


def test_a_switch_that_follows_the_job_shows_no_default() -> None:
    defaults = {flag: option.default for option in PAGES["report"].options for flag in option.flags}
    assert (defaults["--document-text"], defaults["--max"]) == ("", "")
    main = {flag: option.default for option in PAGES[""].options for flag in option.flags}
    assert main["--document-text"] == "--document-text"
    assert main["--own-documents"] == "--no-own-documents"


def test_examples_can_be_read() -> None:
    known = {page.name: both for page, both in zip(PAGES.values(), commands(), strict=True)}
    for words in (words for examples in all_examples().values() for words in examples.values()):
        name = max((name for name in known if words.startswith(name)), key=len)
        command_, context = known[name]
        own = shlex.split(words)[len(name.split()) :]
        options = options_of(command_, context)
        read = WordReader(options, getattr(command_, "commands", ())).read(own)
        assert [word for word in read if word.startswith("--")] or read == own, words

"""The table of named prompts in docs/prompts.md: `python -m tests.prompts_page` writes it."""

from __future__ import annotations

from pathlib import Path

from trecjudge.cli.prompts import ListedPrompt, every_program, listed_prompts
from trecjudge.models.overrides import OWN

PAGE = Path(__file__).parent.parent / "docs" / "prompts.md"
HEAD = "| program | prompt | tokens | source | published agreement | how it differs from `own` |"
NOTHING = "none that could be checked"
BEFORE = "v0.9"
"""The name of the default of before, which every program has: the page says so once."""


def table() -> list[str]:
    """Return the rows: each prompt of a program that has named ones, in the form of a schema."""
    programs = [program for program in every_program() if program.each is None]
    found = [one for one in listed_prompts(programs) if one.about.name != BEFORE]
    named = {one.prompt.program.name for one in found if one.about.name != OWN}
    rows = [_row(one) for one in found if one.prompt.program.name in named]
    return [HEAD, "|---|---|---|---|---|---|", *rows]


def _row(listed: ListedPrompt) -> str:
    about, own = listed.about, listed.about.name == OWN
    source = f"[{about.source}]({about.reference})" if about.reference else about.source
    agreement = about.agreement or ("not measured yet" if own else NOTHING)
    cells = (f"`{listed.prompt.program.name}`", f"`{about.name}`", str(listed.tokens), source)
    return f"| {' | '.join((*cells, agreement, about.differs))} |".replace("|  |", "| |")


def written(text: str) -> str:
    """Return the page with the table as it should be."""
    before, rest = text.split(HEAD, 1)
    _, _, after = rest.partition("\n\n")
    return before + "\n".join(table()) + "\n\n" + after


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

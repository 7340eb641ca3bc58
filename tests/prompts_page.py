"""The table of named prompts in docs/workflows.md: `python -m tests.prompts_page` writes it."""

from __future__ import annotations

from pathlib import Path

from trecjudge.cli.prompts import ListedPrompt, every_program, listed_prompts
from trecjudge.models.overrides import OWN

PAGE = Path(__file__).parent.parent / "docs" / "workflows.md"
HEAD = "|program|prompt|how it differs from `own`|"
BEFORE = "v0.9"
"""The name of the default of before, which every program has: the page says so once."""


def table() -> list[str]:
    """Return the rows: each named prompt of a program, in the form of a schema."""
    programs = [program for program in every_program() if program.each is None]
    found = [one for one in listed_prompts(programs) if one.about.name not in (OWN, BEFORE)]
    return [HEAD, "|---|---|---|", *map(_row, found)]


def _row(listed: ListedPrompt) -> str:
    about, name = listed.about, f"`{listed.about.name}`"
    prompt = f"[{name}]({about.reference})" if about.reference else name
    return f"|`{listed.prompt.program.name}`|{prompt}|{about.differs}|"


def written(text: str) -> str:
    """Return the page with the table as it should be."""
    before, rest = text.split(HEAD, 1)
    _, _, after = rest.partition("\n\n")
    return before + "\n".join(table()) + "\n\n" + after


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

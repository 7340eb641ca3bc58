"""The prose of a page of Markdown, its sentences and their lengths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "sample_data" / "README.md",
    ROOT / "tests" / "benchmarks" / "README.md",
]

UNREAD = re.compile(
    r"^ *(```|~~~).*?^ *\1[^\n]*$|<!--.*?-->|^---\n.*?^---$", re.DOTALL | re.MULTILINE
)
TAKEN_APART = re.compile(r"^\s*(\||#|<|!\[|\[[^\]]+\]: |[=-]{3,}\s*$)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.) +")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
STANDS_FOR_CODE = "⟨code⟩"
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
END = re.compile(r"(?<=[.!?])[\"”')*_]*\s+(?=[\"“'(*_`]*[A-Z0-9⟨])")
NO_END = re.compile(r"\b(?:e\.g|i\.e|cf|vs|et al|Fig)\.$")


@dataclass(frozen=True)
class Prose:
    """The sentences of a page."""

    sentences: tuple[str, ...]

    @property
    def mean(self) -> float:
        return mean(map(words, self.sentences)) if self.sentences else 0.0

    @property
    def longest(self) -> str:
        return max(self.sentences, key=words, default="")


def words(sentence: str) -> int:
    """Return how many words a sentence has; what is written as code is one."""
    return len([w for w in sentence.split() if re.search(r"\w", w)])


def name_of(page: Path) -> str:
    """Return a page's path from the root of the repository."""
    return str(page.relative_to(ROOT))


def prose(text: str) -> Prose:
    """Return the sentences of a page, without code, tables, headings and the targets of links."""
    return Prose(tuple(s for p in paragraphs(text) for s in sentences(p)))


def paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs, and items of lists, as one line each."""
    lines: list[str] = []
    for line in UNREAD.sub("\n\n", text).splitlines():
        if not line.strip() or TAKEN_APART.match(line) or ITEM.match(line):
            yield " ".join(lines)
            lines = []
        if line.strip() and not TAKEN_APART.match(line):
            lines.append(ITEM.sub("", line).strip().removeprefix("> "))
    yield " ".join(lines)


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph: code is `⟨code⟩`, a link its text."""
    held = ""
    for part in END.split(LINK.sub(r"\1", CODE.sub(STANDS_FOR_CODE, paragraph)).strip()):
        held = f"{held} {part}".strip()
        if not NO_END.search(held):
            yield from [held] if words(held) else []
            held = ""
    if held:
        yield held


def table() -> str:
    """Return a line for each page: sentences, mean length, the longest."""
    rows = [f"{'page':34} sentences  mean  longest"]
    for page in PAGES:
        read = prose(page.read_text(encoding="utf-8"))
        rows.append(
            f"{name_of(page):34} {len(read.sentences):9} {read.mean:5.1f} {words(read.longest):8}"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())

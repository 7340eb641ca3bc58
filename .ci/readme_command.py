"""Print one of the README's marked commands: the code block below `<!-- command: NAME -->`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def command(name: str) -> str:
    """Return the command of that name as it stands in the README."""
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    block = re.search(rf"<!-- command: {name} -->\s*```\w*\n(.*?)```", readme, re.DOTALL)
    if block is None:
        raise SystemExit(f"README.md has no command {name!r}")
    return block[1].strip()


if __name__ == "__main__":
    print(command(sys.argv[1]))

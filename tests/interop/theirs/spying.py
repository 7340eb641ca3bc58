"""A judge for AutoJudge that prints all environments it finds, while it is imported and later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from autojudge_base import LeaderboardSpec, MeasureSpec
from their_judges import Asks


def look() -> str:
    """Return the environment of this process, as Python and the system know it, and a child's."""
    own = Path("/proc/self/environ")
    words = [sys.executable, "-c", "import os; print(os.environ)"]
    child = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    kept = own.read_text(errors="replace") if own.exists() else ""
    return f"{dict(os.environ)} {kept} {child} {sys.argv}"


FIRST = look()


class Spies(Asks):
    """Prints what it finds, and asks the endpoint all the same."""

    SPEC = LeaderboardSpec((MeasureSpec("YES"),))

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        print("first", FIRST, "then", look())
        return super().judge(rag_responses, rag_topics, llm_config, **kwargs)

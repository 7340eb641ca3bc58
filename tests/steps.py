"""Steps that reading a text takes: characters that expressions and methods of texts go over.

They are counted and not timed, so that a busy machine changes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

SHORT = frozenset(
    {"startswith", "endswith", "removeprefix", "removesuffix", "join", "index", "find"}
)
"""Methods that go over few characters, however long their text is."""


class Counted:
    """A compiled expression that counts the characters it goes over."""

    def __init__(self, pattern: re.Pattern[str], count: Callable[[int], None]) -> None:
        self.pattern, self.count = pattern, count

    def match(self, text: str, start: int = 0, *rest: int) -> re.Match[str] | None:
        """Count what is matched."""
        found = self.pattern.match(text, start, *rest)
        self.count(1 if found is None else found.end() - start)
        return found

    def search(self, text: str, start: int = 0, *rest: int) -> re.Match[str] | None:
        """Count up to the match, or the whole text."""
        found = self.pattern.search(text, start, *rest)
        self.count((len(text) if found is None else found.end()) - start)
        return found

    def finditer(self, text: str, *rest: int) -> Iterator[re.Match[str]]:
        """Count up to the last match that is asked for."""
        done = 0
        for found in self.pattern.finditer(text, *rest):
            self.count(found.end() - done)
            done = found.end()
            yield found
        self.count(len(text) - done)

    def __getattr__(self, name: str) -> Any:
        """Count the text that another method is given."""
        method = getattr(self.pattern, name)

        def counted(*given: Any) -> Any:
            self.count(sum(len(value) for value in given if isinstance(value, str)))
            return method(*given)

        return counted if callable(method) else method


def steps(read: Callable[[str], object], text: str, *modules: ModuleType) -> int:
    """Return how many steps `read(text)` takes, by the expressions of `modules` and by methods."""
    total = 0

    def count(characters: int) -> None:
        nonlocal total
        total += 1 + characters

    def called(_: object, event: str, found: Any) -> None:
        if event == "call":
            count(0)
        elif event == "c_call" and isinstance(found.__self__, str):
            count(0 if found.__name__ in SHORT else len(found.__self__))

    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for module in modules:
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    patch.setattr(module, name, Counted(value, count))
        sys.setprofile(called)
        stack.callback(sys.setprofile, None)
        read(text)
    return total

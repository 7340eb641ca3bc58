"""What a command prints, without the secrets that were typed or stand in the environment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, cast

from trecjudge.text.credentials import learn, public, without_typed


class _Hiding:
    """A stream that gives its texts to another one, without secrets."""

    def __init__(self, stream: TextIO, hide: Callable[[str], str]) -> None:
        self._stream, self._hide = stream, hide

    def write(self, text: str) -> int:
        """Write a text without its secrets; return the length of the text."""
        self._stream.write(self._hide(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def hiding(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    """Print no secret meanwhile: on standard error none at all, on standard output none of these.

    They are the secrets in the words of a command line and in the environment. What runs and
    documents say is printed on standard output as it is.
    """
    learn(words, environment)
    out, err = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, out and _Hiding(out, without_typed))
    sys.stderr = cast(TextIO, err and _Hiding(err, public))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err

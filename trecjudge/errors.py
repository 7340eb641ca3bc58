"""The errors that this project raises on purpose.

    TrecJudgeError              the user can put it right: one line, exit status 1
    ├── InputError              a topic, run, document or judgments file
    ├── WorkflowError           a workflow file, `--set`, `--variant`, `--sweep`
    ├── PluginError             a judge, format or measure that cannot be found or used
    ├── OutputError             the output folder
    ├── JudgeUnfit              a judge that agrees too little with the labels of its audit
    └── ModelError              the model endpoint: settings, key, no answer
    JudgmentFailed              one item could not be judged; the run goes on

Messages give place, value and choices: `runs/a.jsonl:17: sentence 3 cites 9, references has 5`.
"""

from __future__ import annotations

import difflib
import errno
import sys
from collections.abc import Iterable
from typing import overload

from trecjudge.text.credentials import clean, public

MOST_SHOWN, MOST_BESIDE = 30, 12
"""Choices listed in a message: a topic file may have thousands."""
FEW = 8
"""Choices that are listed although a page shows them."""
REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder, not a file",
    errno.ENOTDIR: "a file is where a folder would have to be",
    errno.EEXIST: "a file of this name is in its way",
    errno.EACCES: "this user may not do that (permission denied)",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "this user's share of the disk is used up",
    errno.EFBIG: "no file may be so large here (ulimit -f)",
    errno.EROFS: "the disk can only be read",
    errno.EIO: "the device fails, or is gone",
    errno.EBADF: "it is closed",
    errno.ENXIO: "it is a pipe that nobody reads, or no device",
}
"""What errors of the file system mean, in plain words."""
NOT_GIVEN = "not_given"
"""Failure kind where an input is missing, such as labels or a bank of nuggets."""
UNDECIDED = "undecided"
"""Failure kind of a judge that only says why it cannot decide."""
PLANNED = "planned"
"""Failure kind of calls that --plan counts without making them."""


class TrecJudgeError(Exception):
    """A problem that the user can put right: no secret is in its message, or in its causes."""

    def __init__(self, *given: object) -> None:
        clean(sys.exception())
        super().__init__(*(public(part) if isinstance(part, str) else part for part in given))


class InputError(TrecJudgeError):
    """A topic, run, document or judgments file that cannot be used."""


class WorkflowError(TrecJudgeError):
    """A workflow file or an override of it that cannot be used."""


class PluginError(TrecJudgeError):
    """A judge, format or measure that cannot be found or used."""


class OutputError(TrecJudgeError):
    """An output folder or file that cannot be written."""


class JudgeUnfit(TrecJudgeError):
    """A judge that agrees less with the labels of its audit than the workflow demands."""


class ModelError(TrecJudgeError):
    """A model endpoint that cannot be used at all: every other item would fail too."""


class JudgmentFailed(Exception):
    """One item could not be judged.

    The `kind` shows the cause. The model: `transport`, `too_long`, `filtered`, `refused`,
    `account`, `stopped`, `parse`, `cut`, `empty`, `too_large`, `mixed_up`, `budget`, `offline`,
    `interrupted`.
    The inputs of the judge: `no_model`, `no_document_text`, `no_topic_text`, `script`, `not_read`,
    `citation_not_read`, `excerpt_cut`, `not_given`. An error in its code: `bug`. A call that --plan
    only counts: `planned`.

    A judge may give a kind of its own, or only a reason: `JudgmentFailed("the sentence has no
    verb")` is of kind `undecided`. `call` is the exchange with the model that failed, and `program`
    names the program that was asked, for the debug log.
    """

    @overload
    def __init__(self, message: str, /) -> None: ...

    @overload
    def __init__(self, kind: str, message: str, tries: int = 0, call: object = None) -> None: ...

    def __init__(
        self, kind: str, message: str | None = None, tries: int = 0, call: object = None
    ) -> None:
        if message is None:
            kind, message = UNDECIDED, kind
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.tries = tries
        self.call = call
        self.program = ""


def why(error: Exception) -> str:
    """Return what is wrong with a file in plain words, without its name."""
    if isinstance(error, OSError) and error.errno is not None:
        return REASONS.get(error.errno) or (error.strerror or str(error)).lower()
    return str(error)


def unknown(what: str, value: object, known: Iterable[object], page: str = "") -> str:
    """Return the message `unknown WHAT 'VALUE'; did you mean 'X'? there are: X, Y, ...`.

    Where a `page` shows them, up to three near ones are named, and the page in place of a long
    list.
    """
    choices = sorted(map(str, known))
    if page and len(choices) > FEW:
        meant = " or ".join(map(repr, near_ones(str(value), choices)))
        hint = f"did you mean {meant}? " if meant else ""
        return f"unknown {what} {value!r}; {hint}{page} shows all"
    near = nearest(str(value), choices)
    hint = f"did you mean {near!r}? " if near else ""
    most = MOST_BESIDE if near else MOST_SHOWN
    shown = ", ".join(choices[:most]) or "none"
    rest = f", … ({len(choices)} in all)" if len(choices) > most else ""
    return f"unknown {what} {value!r}; {hint}there are: {shown}{rest}"


def nearest(value: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a value was probably meant to be; None if there is none."""
    return next(iter(near_ones(value, choices, 1)), None)


def near_ones(value: str, choices: Iterable[str], most: int = 3) -> list[str]:
    """Return choices that a value may have been meant to be: small or capital letters alike.

    A value that only one choice begins with is short for it.
    """
    folded = {choice.casefold().lstrip("-"): choice for choice in choices}
    wanted = value.casefold().lstrip("-")
    near = difflib.get_close_matches(wanted, folded, n=most)
    begun = [choice for choice in folded if wanted and choice.startswith(wanted)]
    if wanted in folded or (not near and len(begun) == 1):
        near = [wanted] if wanted in folded else begun
    return [folded[one] for one in near]

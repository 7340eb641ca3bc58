"""What each voter of a judge said on an item."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vote:
    """The decision of one voter; `failure` says why there is none, as `kind: message`."""

    voter: str
    label: str | None = None
    grade: int | None = None
    failure: str = ""

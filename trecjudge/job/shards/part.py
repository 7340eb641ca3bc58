"""One part of a job by a command of its own: which responses it judges, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any


@dataclass(frozen=True, slots=True)
class ShardSummary:
    """A part of a job, judged and written: its counts, and the findings on all of the input.

    `filters` are the runs and topics that were asked for, where these are not all. `sha256` are
    digests of the part's files, unpacked; parts of older versions have none.
    """

    number: int
    of: int
    responses: int
    judgments: int
    unjudged: int
    spared: int
    findings: Mapping[str, int] = field(default_factory=dict)
    findings_by_run: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lost: int = 0
    bug: str = ""
    filters: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """3 if something was left unjudged, else 0."""
        return 3 if self.unjudged or self.lost or self.bug else 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self)


def seal(config: str) -> str:
    """Return the text of a part's config with its own digest as the last line."""
    found = sha256(config.encode(errors="backslashreplace")).hexdigest()
    return f"{config}sha256: {found}\n"


def is_sealed(config: str) -> bool:
    """Return whether the text of a part's config is as it was written."""
    return config == seal(config[: config.rfind("sha256: ")])

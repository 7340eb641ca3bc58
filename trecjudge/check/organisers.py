"""Where the organisers' checker does something else than a track's rule says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trecjudge.check.rules import ORGANISERS, OrganisersVerdict, RuleVerdict

DOES = {"accepted": "accepts", "warned": "only warns of", "refused": "refuses"}
Rule = tuple[str, str]
"""(track, rule)."""


@dataclass(slots=True)
class Organisers:
    """How often each rule of a track is broken, and how often their verdict is another one."""

    counts: Counter[Rule] = field(default_factory=Counter)
    others: dict[Rule, Counter[OrganisersVerdict]] = field(default_factory=dict)

    def add(
        self, rule: Rule, ours: RuleVerdict, theirs: OrganisersVerdict | None, times: int
    ) -> None:
        """Count that a rule is broken, and that their verdict is another one; None is not known."""
        self.counts[rule] += times
        if theirs is not None and theirs != ours:
            self.others.setdefault(rule, Counter())[theirs] += times

    def as_dict(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        differences = [
            {"track": track, "rule": rule, "verdict": theirs, "count": count}
            for (track, rule), verdicts in self.others.items()
            for theirs, count in verdicts.items()
        ]
        return {"checker": ORGANISERS, "differences": differences}

    def lines(self) -> Iterator[str]:
        """Yield a line for each track and verdict that differs: what their checker will say."""
        said: dict[tuple[str, OrganisersVerdict], list[str]] = {}
        for (track, rule), verdicts in self.others.items():
            for theirs, count in verdicts.items():
                every = self.counts[track, rule]
                times = "" if count == every else f" ({count} of {every})"
                said.setdefault((track, theirs), []).append(f"{rule}{times}")
        for (track, theirs), rules in sorted(said.items()):
            listed = ", ".join(sorted(rules))
            yield f"{track}: the organisers' checker ({ORGANISERS}) {DOES[theirs]} this: {listed}"

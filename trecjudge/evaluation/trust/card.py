"""A judge's card: each figure with its n and interval, and its answers to fixed items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from trecjudge.errors import InputError
from trecjudge.files import read_text, whole
from trecjudge.stats.resampling import NO_INTERVAL, Interval
from trecjudge.text.credentials import shareable

RECORD: Final = "judge_card"
FORMAT: Final = 1
DECIMALS = 4
WANTED = "give a NAME.card.json that `judges trust` wrote"


@dataclass(frozen=True, slots=True)
class CardFigure:
    """One figure of a card; `value` is None where it was not measured, and `note` says why.

    `interval` is the 95 % interval, `n` how many of `unit` it is of.
    """

    section: str
    name: str
    value: float | None
    interval: Interval = NO_INTERVAL
    n: int = 0
    unit: str = ""
    note: str = ""

    @classmethod
    def not_measured(cls, section: str, name: str, why: str) -> CardFigure:
        """Return a figure that was not measured."""
        return cls(section, name, None, note=why)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        low, high = self.interval.round_to(DECIMALS)
        value = None if self.value is None else round(self.value, DECIMALS)
        named = {"section": self.section, "name": self.name, "value": value}
        return named | {"low": low, "high": high, "n": self.n, "unit": self.unit, "note": self.note}


@dataclass(frozen=True, slots=True)
class FixedAnswers:
    """What a judge says of the items that it can be asked again: digests and labels, no texts.

    `responses` are those that were judged. `answers` are by item: (label, label when the same was
    asked again, None where it was not). `values` are those of each figure by response or item, each
    of which can be paired with its own value at another time.
    """

    responses: Sequence[str] = ()
    answers: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """What is known of a judge. `about` says which judge, model, prompts and sample, and when."""

    about: Mapping[str, Any]
    figures: Sequence[CardFigure]
    fixed: FixedAnswers

    @property
    def judge(self) -> str:
        """The name of the judge."""
        return str(self.about.get("judge", ""))

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        fixed = self.fixed
        return {
            "record": RECORD,
            "format": FORMAT,
            "about": shareable(dict(self.about)),
            "figures": [figure.as_dict() for figure in self.figures],
            "fixed": {
                "responses": list(fixed.responses),
                "answers": {item: list(pair) for item, pair in fixed.answers.items()},
                "values": {name: dict(own) for name, own in fixed.values.items()},
            },
        }

    def write(self, path: Path) -> None:
        """Write it as a file. Raises OutputError."""
        with whole(path) as file:
            file.write(orjson.dumps(self.as_dict(), option=orjson.OPT_INDENT_2) + b"\n")


def read_card(path: Path) -> JudgeCard:
    """Return the card of a file. Raises InputError where it is none."""
    try:
        found = orjson.loads(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {WANTED}") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: is not JSON: {error.msg}; {WANTED}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8: {error.reason}; {WANTED}") from error
    if not isinstance(found, dict) or found.get("record") != RECORD:
        raise InputError(f"{path}: is no judge's card; {WANTED}")
    if found.get("format") != FORMAT:
        made = found.get("format")
        raise InputError(f"{path}: is a card of format {made!r}, not {FORMAT}; make it again")
    try:
        return _card(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: is a judge's card that was changed ({error}); {WANTED}"
        ) from error


def _card(found: Mapping[str, Any]) -> JudgeCard:
    fixed = found["fixed"]
    values = {
        str(name): {str(unit): float(value) for unit, value in own.items()}
        for name, own in fixed["values"].items()
    }
    answers = {str(item): _pair(*pair) for item, pair in fixed["answers"].items()}
    figures = [_figure(**one) for one in found["figures"]]
    responses = list(map(str, fixed["responses"]))
    return JudgeCard(dict(found["about"]), figures, FixedAnswers(responses, answers, values))


def _pair(label: str, again: str | None) -> tuple[str, str | None]:
    return str(label), None if again is None else str(again)


def _figure(
    section: str,
    name: str,
    value: float | None,
    low: float | None,
    high: float | None,
    n: int,
    unit: str,
    note: str,
) -> CardFigure:
    numbers = [None if one is None else float(one) for one in (value, low, high)]
    interval = Interval(*numbers[1:])
    return CardFigure(str(section), str(name), numbers[0], interval, int(n), str(unit), str(note))

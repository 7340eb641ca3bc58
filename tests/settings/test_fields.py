"""Values of YAML in typed fields: what a word means is what its field takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.settings.fields import ranged, typed_fields
from trecjudge.settings.strict_yaml import read_yaml


@dataclass(frozen=True)
class Fields:
    """One field of each type."""

    share: float = 0.0
    count: int = ranged(0, -5)
    part: float = ranged(0.0, 0.0, 1.0)
    kind: Literal["words", "model"] = "words"
    names: list[str] = field(default_factory=list)
    facts: bool = False
    path: str = ""
    limit: int | Literal["topic"] = 0
    seed: int | None = None
    body: dict[str, Any] = field(default_factory=dict)


def value_of(text: str) -> Any:
    (value,) = typed_fields(Fields, read_yaml(text).value, "w").values()
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("share: 1e-1", 0.1),
        ("share: 1", 1.0),
        ("share: .5", 0.5),
        ("count: 1e3", 1000),
        ("count: 1_000", 1000),
        ("count: 0o17", 15),
        ("facts: no", False),
        ("facts: On", True),
        ("path: no", "no"),
        ("path: 2024-01-01", "2024-01-01"),
        ("path: 1:30", "1:30"),
        ("path: 017", "017"),
        ("limit: topic", "topic"),
        ("limit: 4e2", 400),
        ("seed: null", None),
        ("body: {thinking: 'no', n: 1}", {"thinking": "no", "n": 1}),
    ],
)
def test_a_word_is_what_its_field_takes(text: str, value: Any) -> None:
    found = value_of(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("share: 1:30", "w: share: 1:30 is not a number; give a number$"),
        ("share: 2024-01-01", "share: 2024-01-01 is not a number"),
        ("count: 017", "count: 017 is not a whole number; give a whole number of at least -5$"),
        ("count: 1.5", "count: 1.5 is not a whole number"),
        ("count: yes", "count: yes is not a whole number"),
        ("share: on", "share: on is not a number"),
        ("facts: 'no'", "facts: 'no' in quotes is text; give true or false, without quotes"),
        ("facts: 1", "facts: 1 is not true or false; give true or false"),
        ("path: 1e5", "path: 100000.0 is not text; put text in quotes"),
        ("share: 1e400", "share is inf"),
        ("count: 1e30", "count is 1e\\+30: too large"),
        ("body: {thinking: no}", "body holds 'no', which versions of YAML read differently"),
        ("body: {a: [{b: 017}]}", "body holds '017'"),
        ("share: half", "w: share: half is not a number; give a number$"),
        ("share:", "share: nothing is not a number; give a number"),
        ("share: true", "share: true is not a number"),
        ("share: [1]", "share: \\[1\\] is not a number"),
        ("share: '0.5'", "share: '0.5' in quotes is text; give a number, without quotes"),
        ("count: -6", "w: count: -6 is too small; give a whole number of at least -5"),
        ("part: half", "part: half is not a number; give a number from 0 to 1"),
        ("part: 2", "w: part: 2 is too large; give a number from 0 to 1"),
        (
            "kind: wrods",
            "kind: unknown value 'wrods'; did you mean 'words'\\? there are: model, words",
        ),
        ("names: x", "names: x is not a list; give a list"),
        ("limit: half", "limit: half is not a whole number or topic; give a whole number or topic"),
        ("body: 3", "body: 3 is not a mapping; give a mapping"),
        ("shar: 1", "unknown key 'shar'; did you mean 'share'"),
    ],
)
def test_a_word_that_its_field_does_not_take(text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        value_of(text)

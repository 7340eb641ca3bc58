"""Values of YAML in typed fields: what a word means is what its field takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.settings.fields import typed_fields
from trecjudge.settings.strict_yaml import read_yaml


@dataclass(frozen=True)
class Fields:
    """One field of each type."""

    share: float = 0.0
    count: int = 0
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
        ("share: 1:30", "w: share is '1:30': Input should be a valid number"),
        ("share: 2024-01-01", "share is '2024-01-01'"),
        ("count: 017", "count is '017': Input should be a valid integer"),
        ("count: 1.5", "count is 1.5"),
        ("count: yes", "count is 'yes'"),
        ("share: on", "share is 'on'"),
        ("facts: 'no'", "facts is 'no': Input should be a valid boolean"),
        ("facts: 1", "facts is 1"),
        ("path: 1e5", "path is 100000.0: .*; put text in quotes"),
        ("share: 1e400", "share is inf"),
        ("count: 1e30", "count is 1e\\+30: too large"),
        ("body: {thinking: no}", "body holds 'no', which versions of YAML read differently"),
        ("body: {a: [{b: 017}]}", "body holds '017'"),
        ("shar: 1", "unknown key 'shar'; did you mean 'share'"),
    ],
)
def test_a_word_that_its_field_does_not_take(text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        value_of(text)

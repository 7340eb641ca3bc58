"""Every schema that is sent keeps the strict rule: no open object, every property required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from trecjudge.judging.judge import judge_class, judge_names
from trecjudge.models.model import Program
from trecjudge.models.prompt import Prompts

PROGRAMS = {
    program.name: program
    for name in judge_names()
    for program in getattr(judge_class(name), "programs", ())
}
ALLOWED = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "$ref", "$defs",
    "anyOf", "description", "title",
}  # fmt: skip


def parts(schema: Any, named: bool = False) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every object of a schema, and whether its keys are names that we gave."""
    if isinstance(schema, dict):
        yield schema, named
        for key, value in schema.items():
            yield from parts(value, not named and key in ("properties", "$defs"))
    elif isinstance(schema, list):
        for entry in schema:
            yield from parts(entry)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_schema_of_every_program_is_strict(program: Program) -> None:
    sent = Prompts().get(program, "schema").request["response_format"]["json_schema"]
    assert sent["strict"] is True
    for part, named in parts(sent["schema"]):
        assert named or part.keys() <= ALLOWED, part
        assert "$ref" not in part or part.keys() == {"$ref"}
        if part.get("type") == "object" and not named:
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])


def test_all_programs_are_there() -> None:
    assert {"attest", "attest_group", "grade", "claims", "attribute", "truths", "verify"} <= {
        *PROGRAMS
    }

"""Which programs of a judge decide on labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from trecjudge.errors import InputError, unknown
from trecjudge.judging.judge import GroupingJudge, Judge, programs_of
from trecjudge.models.model import Program
from trecjudge.models.signatures import load_signature

DECIDING = frozenset({"label", "verdict", "grade"})
"""Fields of a reply that are what a judgment is made of."""


def program_named(judge: Judge, name: str) -> Program:
    """Return a program of a judge; without a name the one that decides on labels.

    Of one for single items and one for groups, it is that which the judge as it is set asks. Raises
    InputError.
    """
    programs = programs_of(judge)
    if not programs:
        raise InputError("the judge has no prompt: it asks no model")
    if name:
        if name not in programs:
            raise InputError(f"--program: {unknown('program', name, programs)}")
        return programs[name]
    deciding = [program for program in programs.values() if decides(program)]
    grouped = isinstance(judge, GroupingJudge) and judge.group > 1
    fitting = [program for program in deciding if bool(program.aligned_with) == grouped]
    return next(iter(fitting or deciding or programs.values()))


def sibling(judge: Judge, program: Program) -> Program | None:
    """Return the program for single items of one for groups, or the reverse; None without one."""
    others = programs_of(judge).values()
    return program.each or next((other for other in others if other.each == program), None)


def decides(program: Program) -> bool:
    """Return whether a program's reply has a label, verdict or grade, or a list of such."""
    outputs = load_signature(program.reference).output_fields.items()
    return any(name in DECIDING or DECIDING & set(_inner(f.annotation)) for name, f in outputs)


def _inner(annotation: Any) -> Iterator[str]:
    """Yield the names of the fields that the entries of a list have."""
    if get_origin(annotation) is list:
        for entry in get_args(annotation):
            if isinstance(entry, type) and issubclass(entry, BaseModel):
                yield from entry.model_fields

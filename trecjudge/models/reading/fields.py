"""The output fields of a signature, and reading a reply into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

from trecjudge.models.reading.sets import (
    Contradiction,
    FieldSet,
    TooManyBraces,
    field_sets,
    tagged_sets,
    whole_set,
)
from trecjudge.models.reading.values import NOTHING, Unreadable, read_value
from trecjudge.text.reasoning import without_reasoning

LEAST_TIMES = 6
"""How often a text must be repeated: several claims may well have the same quote."""
LEAST_CHARACTERS = 300
"""Characters that the repeated texts must have together: 30 equal labels in a list have fewer."""
LOOKED_AT = 20_000
"""Characters at the end of a reply that are looked at."""
BROKEN = "\ufffd"
"""What a server makes of a character that was cut in half."""


def loop_at_end(reply: str) -> str:
    """Return the text that the end of a reply repeats, to its last character; "" if none.

    It is the shortest such text, and begins wherever the reply was cut. Lists whose entries differ
    in a number repeat nothing.
    """
    end = reply.rstrip(BROKEN)[-LOOKED_AT:]
    for period in range(1, len(end) // LEAST_TIMES + 1):
        length = max(LEAST_CHARACTERS, LEAST_TIMES * period)
        if len(end) >= length and end.endswith(end[-length:-period]):
            return end[-period:]
    return ""


OPENING = {"{": "}", "[": "]"}
CLOSING = frozenset(OPENING.values())


@dataclass(slots=True)
class _OpenBracket:
    """A bracket that is not closed yet: what closes it, and where its last whole object ends."""

    closing: str
    end: int = 0


def close_cut_list(reply: str) -> str | None:
    """Return a reply that was cut, up to the last whole object of its outermost list, and closed.

    None where nothing is open at its end, where that list has no whole object, and where brackets
    do not match.
    """
    inside: list[_OpenBracket] = []
    in_text = escaped = False
    for place, character in enumerate(reply):
        if in_text:
            if character == '"' and not escaped:
                in_text = False
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_text = bool(inside)  # outside of brackets it is prose
        elif character in OPENING:
            inside.append(_OpenBracket(OPENING[character]))
        elif character in CLOSING:
            if not inside or inside.pop().closing != character:
                return None
            if character == "}" and inside and inside[-1].closing == "]":
                inside[-1].end = place + 1
    for depth, bracket in enumerate(inside, 1):
        if bracket.closing == "]":
            rest = "".join(one.closing for one in reversed(inside[:depth]))
            return reply[: bracket.end] + rest if bracket.end else None
    return None


MOST_BEHIND = 2000
"""Lines after an answer that are searched for a second one; with more, a reply is refused."""
NUMBER = "number"
"""The field of a list's entries that holds the number of its input, counted from 1."""


class Unparsed(Exception):
    """A reply without exactly one distinct set of the fields that the signature asks for."""


@dataclass(frozen=True)
class Fields:
    """Output fields by name: their types, and the most entries that a list may have.

    A text beside fields of other types (evidence, a reason) may be missing; all else is required.
    `tagged`: they were asked for between tags.
    """

    types: Mapping[str, Any]
    most: Mapping[str, int]
    tagged: bool = False

    @classmethod
    def of(cls, signature: Any, tagged: bool = False) -> Fields:
        """Return the output fields of a DSPy signature."""
        outputs = signature.output_fields
        most = {name: bound for name, f in outputs.items() if (bound := _most_of(f)) is not None}
        return cls({name: f.annotation for name, f in outputs.items()}, most, tagged)

    @cached_property
    def required(self) -> frozenset[str]:
        """The fields that a reply must have."""
        decided = frozenset(name for name, found in self.types.items() if found is not str)
        return decided or frozenset(self.types)

    def read(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the fields of a reply; with `length`, its lists have an entry for each input.

        Entries that carry a `number` are put in its order. Raises Unparsed, saying what is wrong.
        """
        try:
            found = self._agree_on_fields(reply)
        except (Contradiction, TooManyBraces) as error:
            raise Unparsed(str(error)) from error
        except RecursionError as error:
            raise Unparsed("it is nested too deep.") from error
        lists = {name: entries for name, entries in found.items() if isinstance(entries, list)}
        for name, entries in lists.items():
            if length is not None:
                found[name] = _in_order(name, entries, length)
            elif name in self.most:
                found[name] = entries[: self.most[name]]
        return found

    def _agree_on_fields(self, reply: str) -> dict[str, Any]:
        """Return the one set of fields on which all sets in the reply agree."""
        sets = whole_set(reply, self.types)
        if not sets:
            answer = without_reasoning(reply)
            if answer is None:
                raise Unparsed("there is no answer after its reasoning.")
            sets = tagged_sets(answer, self.types) if self.tagged else []
            sets = sets or field_sets(answer, self.types) or self._bare(answer)
        complete = [found for found in sets if not self.required.isdisjoint(found)]
        if not complete:
            raise Unparsed(f"it does not have {_join_names(self.types)}.")
        # A reply may repeat its answer, but never contradict it: no rule picks one of two.
        first, *others = (self._type_fields(found) for found in complete)
        for other in others:
            first = _merge_sets(first, other)
        self._not_taken_back(first, reply)
        return first

    def _not_taken_back(self, found: Mapping[str, Any], reply: str) -> None:
        """Raise Unparsed where a line after an answer is another label, as in a correction."""
        behind = reply[max(reply.rfind("}"), reply.rfind("]]")) + 1 :]
        if behind.count("\n") > MOST_BEHIND:
            raise Unparsed("it goes on for too long behind its answer.")
        for name in self.required if behind.strip() else ():
            # Only labels: a number or a list in a comment is no second answer.
            if not isinstance(found[name], str) or get_origin(self.types[name]) is not Literal:
                continue
            for line in behind.splitlines():
                try:
                    label = read_value(self.types[name], line.rpartition(":")[2])
                except Unreadable:
                    continue
                if label != found[name]:
                    raise Unparsed(f"it gives several answers that differ in {name}.")

    def _type_fields(self, found: FieldSet) -> dict[str, Any]:
        if missing := self.required - found.keys():
            raise Unparsed(f"it lacks {_join_names(sorted(missing))}.")
        typed = {}
        for name, annotation in self.types.items():
            try:
                typed[name] = read_value(annotation, found.get(name), name)
            except Unreadable as error:
                raise Unparsed(f"{name}: {error}.") from error
        return typed

    def _bare(self, answer: str) -> list[FieldSet]:
        """Return the set of an answer that is only the one value asked for."""
        if len(self.required) != 1:
            return []
        name = next(iter(self.required))
        annotation = self.types[name]
        reader = getattr(annotation, "of_plain_text", None)
        if annotation is str or (reader and "{" in answer):
            return []
        value = reader(answer) if reader else answer
        try:
            read_value(annotation, value, name)
        except Unreadable:
            return []
        return [{name: value}]


def is_exact(fields: Mapping[str, str], reply: str) -> bool:
    """Return whether a JSON reply has no key twice, and no value that stands for "none"."""
    return all(
        reply.count(f'"{name}"') == 1 and value.casefold() not in NOTHING
        for name, value in fields.items()
    )


def _merge_sets(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the union of two sets that agree in all that both have. Raises Unparsed."""
    for name, value in one.items():
        if value != other[name] and value != "" and other[name] != "":
            raise Unparsed(f"it gives several answers that differ in {name}; give only one.")
    return {name: value if value != "" else other[name] for name, value in one.items()}


def _in_order(name: str, entries: list[Any], length: int) -> list[Any]:
    """Return an entry for each input, in their order. Raises Unparsed for another number."""
    if len(entries) != length:
        raise Unparsed(f"{name} has {len(entries)} entries, must have {length}.")
    if not all(hasattr(entry, NUMBER) for entry in entries):
        return entries
    numbers: list[int] = [getattr(entry, NUMBER) for entry in entries]
    if sorted(numbers) != list(range(1, length + 1)):
        raise Unparsed(f"the numbers of {name} must be 1 to {length}, each once.")
    return sorted(entries, key=lambda entry: int(getattr(entry, NUMBER)))


def _most_of(field: Any) -> int | None:
    """Return the most entries that a list field may have: its `max_length`, None without one."""
    if get_origin(field.annotation) is not list or not get_args(field.annotation):
        return None
    bounds = (getattr(bound, "max_length", None) for bound in field.metadata)
    return next((bound for bound in bounds if isinstance(bound, int)), None)


def _join_names(names: Iterable[str]) -> str:
    return " and ".join(map(repr, names))

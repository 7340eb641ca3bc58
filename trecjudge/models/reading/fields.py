"""The output fields of a signature, and reading a reply into them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal, get_args, get_origin

import json_repair
from pydantic import BaseModel

from trecjudge.models.reading.values import NOTHING, Unreadable, member, read_value
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


@dataclass(frozen=True, slots=True)
class BareReplies:
    """Metadata of a label field: what a reply of one word means that is none of its labels.

    It holds where nothing but the word is answered, and for the program's own prompt only.
    """

    labels: Mapping[str, str]


@dataclass(frozen=True)
class Fields:
    """Output fields by name: their types, and the most entries that a list may have.

    A text beside fields of other types (evidence, a reason) may be missing; all else is required.
    `tagged`: they were asked for between tags.
    """

    types: Mapping[str, Any]
    most: Mapping[str, int]
    tagged: bool = False
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What a reply may be that is only a label, beside the labels themselves, by field."""

    @classmethod
    def of(cls, signature: Any, tagged: bool = False, with_aliases: bool = False) -> Fields:
        """Return the output fields of a DSPy signature."""
        outputs = signature.output_fields
        most = {name: bound for name, f in outputs.items() if (bound := _most_of(f)) is not None}
        types = {name: f.annotation for name, f in outputs.items()}
        aliases = {
            name: bare.labels
            for name, f in outputs.items()
            for bare in f.metadata
            if with_aliases and isinstance(bare, BareReplies)
        }
        return cls(types, most, tagged, aliases)

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
        return self._in_bounds(found, length)

    def read_values(self, values: Mapping[str, Any], length: int | None = None) -> dict[str, Any]:
        """Return values by the types of their fields, as `read` does. Raises Unparsed."""
        return self._in_bounds(self._type_fields({**values}), length)

    def _in_bounds(self, found: dict[str, Any], length: int | None) -> dict[str, Any]:
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
        aliases = self.aliases.get(name, {})
        for kind in (annotation, Literal[tuple(aliases)]) if aliases else (annotation,):
            try:
                found = read_value(kind, value, name)
            except Unreadable:
                continue
            return [{name: value if kind is annotation else aliases[found]}]
        return []


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


# The sets of fields in a reply, from markers, JSON objects and tags, as they were written.

MOST_OPEN = 500
"""Braces at which an object is looked for: each try may read to the end of the reply."""

LONGEST_MENDED = 50_000
"""Characters of an object that is mended: longer ones take more than a second."""

_MARKER = re.compile(r"\[\[\s*##\s*(\w+)\s*##\s*\]\]")

FieldSet = dict[str, Any]
"""Values as written, texts or JSON values, by the name of their field."""


class Contradiction(ValueError):
    """A reply that gives a field of one set twice."""


class TooManyBraces(ValueError):
    """A reply that looks like no answer, and would take long to read."""


def field_sets(answer: str, names: Collection[str]) -> list[FieldSet]:
    """Return every set of fields in an answer, in its order; several may be equal.

    A set has at least one of the fields `names`. Raises Contradiction, TooManyBraces.
    """
    found, rest = _sets_by_markers(answer, names)
    found += _sets_of_objects(rest, names)
    if not found and (mended := _mend_object(answer, names)):
        found = [mended]
    return found


def whole_set(reply: str, names: Collection[str]) -> list[FieldSet]:
    """Return the set of a reply that is one JSON object and nothing else; else none.

    Markers or tags inside its texts are only text. Raises Contradiction.
    """
    reply = reply.strip()
    if not reply.startswith("{"):
        return []
    try:
        value, end = _DECODER.raw_decode(reply)
    except JSONDecodeError:
        return []
    return _sets_of(_inner(value, names), names) if end == len(reply) else []


def _sets_by_markers(answer: str, names: Collection[str]) -> tuple[list[FieldSet], str]:
    """Return the sets that markers make, and the text outside of their sections."""
    pieces = _MARKER.split(answer)
    sets: list[FieldSet] = []
    current: FieldSet = {}
    rest = [pieces[0]]
    by_plain = {name.casefold(): name for name in names}
    for marked, text in zip(pieces[1::2], pieces[2::2], strict=True):
        name = by_plain.get(marked.casefold())
        if name is None or name in current:
            sets.append(current)
            current = {}
        if name is None:
            rest.append(text)
        elif not _is_echo(text, name):
            current[name] = text
    return [found for found in (*sets, current) if found], "\n".join(rest)


def _is_echo(text: str, name: str) -> bool:
    """Return whether a section only repeats the form, as `{label}` and the words beside it."""
    return text.lstrip().startswith((f"{{{name}}}", f"<{name}>"))


def _sets_of_objects(text: str, names: Collection[str]) -> list[FieldSet]:
    """Return the sets that JSON objects of a text make, and those of values outside of them.

    A text that was quoted without escapes may end an object early, or contain one: the reply's own
    answer is then outside.
    """
    found: list[FieldSet] = []
    outside, at = [], 0
    for start, end, record in _records(text, names):
        outside.append(text[at:start])
        at = end
        found += _sets_of(record, names)
    return found + _sets_outside("\n".join([*outside, text[at:]]), names) if found else []


def _sets_outside(text: str, names: Collection[str]) -> list[FieldSet]:
    """Return the fields whose key and value are in no object, each as a set."""
    found: list[FieldSet] = []
    for name in names:
        for key in re.finditer(rf"[\"']{name}[\"']\s*:\s*", text, re.IGNORECASE):
            try:
                value, _ = _DECODER.raw_decode(text, key.end())
            except JSONDecodeError:  # as in a form that is repeated: {"label": ...}
                continue
            found.append({name: value})
    return found


def _records(text: str, names: Collection[str]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield (start, end, object) of the outermost JSON objects of a text.

    For an object that only wraps another by one key, the inner one is yielded.
    """
    at, tries = text.find("{"), 0
    while at >= 0:
        tries += 1
        if tries > MOST_OPEN:
            raise TooManyBraces("it has too many brackets.")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except JSONDecodeError:
            end = at + 1
        else:
            yield at, end, _inner(value, names)
        at = text.find("{", end)


def _inner(record: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    """Return the object that has the fields, without the objects of one key around it."""
    while len(record) == 1 and not any(member(record, name) for name in names):
        only = next(iter(record.values()))
        if isinstance(only, list) and len(only) == 1:
            only = only[0]
        if not isinstance(only, Mapping):
            break
        record = only
    return record


def _mend_object(answer: str, names: Collection[str]) -> FieldSet | None:
    """Return the set of one object that is not quite JSON: single quotes, a comma too many.

    Only where each field is named once, and every brace is closed: otherwise a mended reply could
    mean something else.
    """
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start or answer.count("{") != answer.count("}"):
        return None
    named = [len(re.findall(rf"\b{name}\b[\"'`]?\s*:", answer, re.IGNORECASE)) for name in names]
    if max(named) > 1 or not any(named) or answer.count("{") > MOST_OPEN:
        return None
    if end - start > LONGEST_MENDED:
        return None
    try:
        record = json_repair.loads(answer[start : end + 1])
    except (ValueError, RecursionError):  # nested too deep
        return None
    if not isinstance(record, dict):
        return None
    record = {str(key): value for key, value in record.items()}
    return next(iter(_sets_of(_inner(record, names), names)), None)


def _sets_of(record: Mapping[str, Any], names: Collection[str]) -> list[FieldSet]:
    """Return the set that an object makes, as a list; none where it has none of the fields."""
    values = {name: member(record, name) for name in names}
    for name, given in values.items():
        if any(other != given[0] for other in given[1:]):
            raise Contradiction(f"it gives {name!r} twice.")
    fields = {name: given[0] for name, given in values.items() if given}
    return [fields] if fields else []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of key and value pairs. Raises Contradiction for a key with two values."""
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record and record[key] != value:
            raise Contradiction(f"it gives {key!r} twice.")
        record[key] = value
    return record


_DECODER = JSONDecoder(object_pairs_hook=_once, strict=False)


ITEM = "item"
"""The tag of an entry of a list."""


def tagged_sets(answer: str, types: Mapping[str, Any]) -> list[FieldSet]:
    """Return the set of fields that the tags of an answer make, none where it has no such tag.

    A field that is repeated with another value raises Contradiction.
    """
    found: FieldSet = {}
    for name, text in _parts(answer, list(types)):
        value = _value(text, types[name])
        if name in found and found[name] != value:
            raise Contradiction(f"it gives several answers that differ in {name}; give only one.")
        found[name] = value
    return [found] if found else []


def _parts(text: str, names: list[str]) -> list[tuple[str, str]]:
    """Return (name, text) of the outermost elements of these names, in their order."""
    by_plain = {name.casefold(): name for name in names}
    opening = re.compile(rf"<({'|'.join(map(re.escape, names))})\s*>", re.IGNORECASE)
    closing = {n: re.compile(rf"</{re.escape(n)}\s*>", re.IGNORECASE) for n in names}
    nested = _ends_of_items(text) if ITEM in names else {}
    parts, at = [], 0
    while found := opening.search(text, at):
        at, name = found.end(), by_plain[found[1].casefold()]
        # A closing tag ends the element of its own name only: other tags inside are its text.
        end = nested.get(at) or (closing[name].search(text, at) if name in closing else None)
        if end is None:  # looked for once: many tags that nothing closes would take hours
            closing.pop(name, None)
            continue
        parts.append((name, text[at : end.start()]))
        at = end.end()
    return parts


def _ends_of_items(text: str) -> dict[int, re.Match[str]]:
    """Return the closing tag of each entry by where the entry begins: lists stand in entries."""
    opened: list[int] = []
    ends = {}
    for tag in re.finditer(rf"<(/?){ITEM}\s*>", text, re.IGNORECASE):
        if not tag[1]:
            opened.append(tag.end())
        elif opened:
            ends[opened.pop()] = tag
    return ends


def _value(text: str, annotation: Any) -> Any:
    """Return the text of an element, or the list or record that its elements make."""
    if get_origin(annotation) is list and get_args(annotation):
        entries = _parts(text, [ITEM])
        if entries or not text.strip():
            return [_value(entry, get_args(annotation)[0]) for _, entry in entries]
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        types = {name: field.annotation for name, field in annotation.model_fields.items()}
        sets = tagged_sets(text, types)
        return sets[0] if sets else text
    return unescape(text).strip()

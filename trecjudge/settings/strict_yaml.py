"""Strict YAML: no key twice, and no word that versions of YAML read differently.

Numbers, truth values and null are those of YAML 1.2, `1e-1` among them, and `1_000`. What YAML 1.1
takes for something else than text or another number (`no`, `017`, `1:30`, a date) stays as written,
an `AmbiguousScalar`: the field that it fills decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from trecjudge.errors import WorkflowError, why
from trecjudge.files import read_text

MOST_NODES = 20_000
MOST_TEXT = 1 << 20
"""Nodes, and characters, with aliases expanded: a few lines of them can stand for billions."""
MOST_DEEP = 100
"""Lists and mappings inside one another."""
MOST_WRITTEN = 8 << 20
"""Characters of the longest text that is read."""
TAG = "tag:yaml.org,2002:"
UNCLEAR = "!unclear"
KINDS = ("null", "bool", "int", "float", "str", "seq", "map")
PLAIN = (
    (f"{TAG}null", r"~|null|Null|NULL|"),
    (f"{TAG}bool", r"true|True|TRUE|false|False|FALSE"),
    (f"{TAG}int", r"[-+]?(?:0|[1-9](?:_?\d)*|0b[01](?:_?[01])*|0o[0-7]+|0x[\da-fA-F]+)"),
    (UNCLEAR, r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF"),
    (UNCLEAR, r"[-+]?(?:0[\d_]+|[\d_]+(?::[0-5]?\d)+(?:\.[\d_]*)?)"),
    (UNCLEAR, r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d[\d.:Zz \t+-]*)?"),
    (f"{TAG}float", r"[-+]?(?:\.\d+|\d(?:_?\d)*(?:\.\d*)?)(?:[eE][-+]?\d+)?"),
    (f"{TAG}float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
    (f"{TAG}merge", r"<<"),
)
"""The type of a word without quotes: the first pattern that fits."""

UNKNOWN = (0, 0)  # the size of a node while it is measured: one met again refers to itself


class AmbiguousScalar(str):
    """A word without quotes that versions of YAML read differently, as it is written."""


class YamlFault(ValueError):
    """A text that is not YAML, or has what is not read here; `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """What a YAML text holds, and the line of each key by its path."""

    value: Any
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)


def yaml_text(path: Path) -> str:
    """Return the text of a file, and no more of a longer one than `read_yaml` needs to refuse it.

    Raises OSError, UnicodeDecodeError.
    """
    return read_text(path, MOST_WRITTEN + 1)


def read_yaml(text: str) -> YamlDocument:
    """Return what a text holds. Raises YamlFault."""
    if len(text) > MOST_WRITTEN:
        raise YamlFault(f"is longer than {MOST_WRITTEN:,} characters")
    try:
        # Counted first: the nodes of a few megabytes take gigabytes.
        if (
            sum(1 for _ in islice(yaml.parse(text, _Loader), 2 * MOST_NODES + 3))
            > 2 * MOST_NODES + 2
        ):
            raise YamlFault("is too large")
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return YamlDocument(None)
            walk = _Walk()
            walk.size(root, (), 1)
            return YamlDocument(loader.construct_document(root), walk.lines)
        finally:
            loader.dispose()
    except RecursionError as error:
        raise YamlFault("is nested too deep") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = " ".join(str(getattr(error, "problem", None) or error).split())
        raise YamlFault(f"is not YAML: {why}", mark.line + 1 if mark else None) from error
    except YamlFault:
        raise
    except ValueError as error:  # a number of too many digits, half a character
        raise YamlFault(f"is not YAML: {error}") from error


def written_yaml(value: Any) -> str:
    """Return a value as YAML that every version of YAML reads alike."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


@dataclass(slots=True)
class _Walk:
    """Checks every node before it becomes a value: its keys, and its size with aliases."""

    lines: dict[tuple[str, ...], int] = field(default_factory=dict)
    _sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    def size(self, node: yaml.Node, path: tuple[str, ...], depth: int) -> tuple[int, int]:
        """Return how many nodes, and characters, there are below a node with all its aliases."""
        known = self._sizes.get(id(node))
        line = node.start_mark.line + 1
        if known == UNKNOWN:
            raise YamlFault("refers to itself", line)
        if known is not None:
            return known
        if depth > MOST_DEEP:
            raise YamlFault(f"is nested more than {MOST_DEEP} deep", line)
        self._sizes[id(node)] = UNKNOWN
        inner: list[tuple[int, int]] = []
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
            for key, value in node.value:
                below = (*path, str(key.value))
                self.lines.setdefault(below, key.start_mark.line + 1)
                inner += [self.size(key, path, depth + 1), self.size(value, below, depth + 1)]
        elif isinstance(node, yaml.SequenceNode):
            inner += [self.size(value, path, depth + 1) for value in node.value]
        size = 1 + sum(nodes for nodes, _ in inner)
        text = len(node.value) if isinstance(node, yaml.ScalarNode) else sum(t for _, t in inner)
        if size > MOST_NODES or text > MOST_TEXT:
            raise YamlFault("is too large with all that its aliases refer to", line)
        self._sizes[id(node)] = (size, text)
        return size, text

    def _check_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            # A list or mapping as a key fails later, with a message of its own.
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag == UNCLEAR:  # a key is always a name, so `on:` is clear
                key.tag = f"{TAG}str"
            name, line = (key.tag, key.value), key.start_mark.line + 1
            if name in lines:
                message = f"key {key.value!r} is given twice, first in line {lines[name]}"
                raise YamlFault(message, line)
            lines[name] = line


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The loader, in C where that is installed, which takes a tenth of the time."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would read as something else than text."""


_Loader.yaml_constructors = {
    **{f"{TAG}{kind}": yaml.SafeLoader.yaml_constructors[f"{TAG}{kind}"] for kind in KINDS},
    UNCLEAR: lambda loader, node: AmbiguousScalar(node.value),
    None: yaml.SafeLoader.yaml_constructors[None],
}
_Dumper.add_representer(AmbiguousScalar, yaml.SafeDumper.represent_str)
for _tag, _pattern in PLAIN:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z", re.ASCII), None)


# YAML files read strictly, with their place in every message.
def read_yaml_file(path: Path, what: str) -> YamlDocument:
    """Return what a file holds; `what` it should be, for messages. Raises WorkflowError."""
    try:
        text = yaml_text(path)
    except OSError as error:
        raise WorkflowError(f"{path}: cannot be read: {why(error)}") from error
    except UnicodeDecodeError as error:
        raise WorkflowError(f"{path}: is no {what}: not text in UTF-8") from error
    try:
        return read_yaml(text)
    except YamlFault as error:
        place = f"{path}:{error.line}" if error.line else path
        raise WorkflowError(f"{place}: {error}") from error

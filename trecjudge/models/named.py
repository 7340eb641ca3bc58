"""Named prompts: a file for each, in the folder `prompts/` beside the module of its program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from trecjudge.errors import WorkflowError, unknown, why
from trecjudge.models.model import Program
from trecjudge.models.signatures import Labels
from trecjudge.settings.plugins import import_named
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, yaml_text

OWN = "own"
"""The name of the prompt that a program has of itself."""
FOLDER = "prompts"
_LINE = "---\n"


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """A prompt with where it comes from.

    `reference` is where it was published, `agreement` what was published on its agreement with
    people, `differs` how it is unlike the program's own. `labels` say what its labels stand for.
    """

    name: str
    program: str
    source: str
    instructions: str = field(repr=False)
    reference: str = ""
    licence: str = ""
    agreement: str = ""
    differs: str = ""
    labels: Labels = field(default_factory=dict)


def named_prompts(program: Program) -> dict[str, NamedPrompt]:
    """Return the named prompts of a program, by name. Raises WorkflowError for a broken file."""
    found = (read_prompt(path) for path in _files(program))
    return {prompt.name: prompt for prompt in found if prompt.program == program.name}


def _files(program: Program) -> Iterator[Path]:
    file = import_named(program.reference.partition(":")[0]).__file__
    folder = Path(file).parent / FOLDER if file else None
    if folder is not None and folder.is_dir():
        yield from sorted(folder.glob("*.md"))


def read_prompt(path: Path) -> NamedPrompt:
    """Return the prompt of a file: YAML between two lines `---`, then the instructions.

    Raises WorkflowError with what is wrong.
    """
    try:
        text = yaml_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise WorkflowError(f"{path}: cannot be read: {why(error)}") from error
    start, head, body = (*text.split(_LINE, 2), "", "")[:3]
    if start or not body.strip():
        raise WorkflowError(f"{path}: must have --- , YAML, --- and the instructions")
    try:
        values = read_yaml(head).value
    except YamlFault as error:
        raise WorkflowError(f"{path}: {error}") from error
    return NamedPrompt(path.stem, instructions=body.strip(), **_check_values(path, values))


def _check_values(path: Path, values: Any) -> dict[str, Any]:
    known = {f.name for f in fields(NamedPrompt)} - {"name", "instructions"}
    if not isinstance(values, dict):
        raise WorkflowError(f"{path}: must be a mapping of {', '.join(sorted(known))}")
    for key, value in values.items():
        if key not in known:
            raise WorkflowError(f"{path}: {unknown('key', key, known)}")
        fits = _is_labels(value) if key == "labels" else isinstance(value, str)
        if not fits:
            raise WorkflowError(f"{path}: {key} must be {_WANTED.get(key, 'text')}")
    for key in ("program", "source"):
        if key not in values:
            raise WorkflowError(f"{path}: lacks {key}")
    return {key: v if key == "labels" else " ".join(v.split()) for key, v in values.items()}


_WANTED = {"labels": "a mapping, by field, of labels to what they stand for"}


def _is_labels(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(meanings, Mapping)
        and meanings
        and all(isinstance(text, str) for pair in meanings.items() for text in pair)
        for meanings in value.values()
    )

"""Compiled programs: what DSPy saved of a module, read as JSON only, as the prompt of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from trecjudge.errors import WorkflowError, why
from trecjudge.settings.limits import limits, read_json_file

ITEM_INPUTS: Final[Mapping[str, str]] = {
    "topic": "what the response is about",
    "narrative": "what is known of the need behind the topic, may be empty",
    "response": "the whole response",
    "before": "the sentence before it in the response, may be empty",
    "after": "the sentence after it in the response, may be empty",
}
"""Inputs that a prompt may ask for beyond its program's own, with what they hold."""
BESIDE = ("before", "after")
"""Those that differ between sentences of a response."""
SUFFIX = ".json"
MOST_BYTES = 16 << 20
"""The largest file that is read."""
MOST_FIELDS = 100
"""The most fields of a signature."""
MOST_DEMOS = 1000
"""The most demonstrations of a prompt."""
LONGEST_SHOWN = 500
"""Characters of the names of fields in a message."""
_UNSAID = "${"
"""How DSPy's description of a field begins where nobody gave one: `${label}`."""
_CODE = (".pkl", ".pickle", ".cloudpickle")
_FILE = re.compile(r"\.(?:json|pkl|pickle|cloudpickle|md|txt|py|ya?ml)", re.IGNORECASE)
_PATH = re.compile(r"\S*[/\\]\S*")


@dataclass(frozen=True, slots=True)
class SavedField:
    """A field of a saved signature: its name, and its description, empty where it has none."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """What DSPy saved of one predictor: instructions, fields in their order, demonstrations.

    A demonstration has values by the name of their field; fields may be missing.
    """

    name: str
    instructions: str
    fields: tuple[SavedField, ...]
    demos: tuple[Mapping[str, Any], ...] = ()

    def fits(self, own: Sequence[str]) -> bool:
        """Return whether it has all fields of a signature, in their order."""
        kept = [field.name for field in self.fields if field.name in own]
        return kept == list(own)

    def added_fields(self, own: Sequence[str]) -> list[str]:
        """Return the names of its fields that a signature does not have."""
        return [field.name for field in self.fields if field.name not in own]


def prompt_text(given: object) -> str:
    """Return a prompt of a workflow as text: a mapping, such as of `signature`, as JSON."""
    if not isinstance(given, Mapping):
        return str(given)
    return orjson.dumps(given, option=orjson.OPT_NON_STR_KEYS).decode()  # 1: full_support


def names_file(text: str) -> bool:
    """Return whether a text names a file or folder: one line, with no field of a prompt in it."""
    if "\n" in text or "{" in text or "`" in text:
        return False
    return bool(_FILE.fullmatch(Path(text).suffix) or _PATH.fullmatch(text))


def read_compiled(path: Path, fields: Sequence[str]) -> Compiled:
    """Return the predictor in a file of DSPy's `save` that has these fields, in their order.

    Pickles and folders are refused, since to load them runs code. Raises WorkflowError with what is
    wrong with the file.
    """
    found = [compiled for compiled, _ in read_states(path).values()]
    fit = [compiled for compiled in found if compiled.fits(fields)]
    if len(fit) == 1:
        return fit[0]
    if fit:
        names = ", ".join(compiled.name for compiled in fit)
        raise WorkflowError(f"{path}: several of its predictors fit: {names}; save only one")
    shown = "; ".join(", ".join(f.name for f in compiled.fields) for compiled in found)
    raise WorkflowError(
        f"{path}: its fields are {shown[:LONGEST_SHOWN]}; must be {', '.join(fields)}, in order"
    )


def read_states(path: Path) -> dict[str, tuple[Compiled, Mapping[str, Any]]]:
    """Return each predictor in a file of DSPy's `save` by name, checked, with its whole state.

    Raises WorkflowError as `read_compiled` does.
    """
    suffix = path.suffix.lower()
    if suffix not in (SUFFIX, *_CODE) and not path.is_dir():
        raise WorkflowError(f"{path}: must be a {SUFFIX} file, as DSPy saves a program")
    if suffix in _CODE or path.is_dir():
        message = "runs code where it is loaded; save the program as .json, its state only"
        raise WorkflowError(f"{path}: {message}")
    found = _states(path, _read(path))
    return {name: (_predictor(path, name, state), state) for name, state in found}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = read_json_file(path, MOST_BYTES)
    except OSError as error:
        raise WorkflowError(f"{path}: cannot be read: {why(error)}") from error
    except orjson.JSONDecodeError as error:
        raise WorkflowError(f"{path}: is no JSON: {error}") from error
    except ValueError as error:
        raise WorkflowError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise WorkflowError(f"{path}: {_NOT_SAVED}")
    return found


_NOT_SAVED = "is no program that DSPy saved: it has no predictor with signature and demos"


def _states(path: Path, content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, state) of each predictor: the file is one itself, or has them by name."""
    states = {"predict": content} if "signature" in content else content
    found = [(name, state) for name, state in states.items() if _is_state(state)]
    if not found:
        raise WorkflowError(f"{path}: {_NOT_SAVED}")
    yield from found


def _is_state(state: Any) -> bool:
    if not isinstance(state, dict) or not isinstance(state.get("signature"), dict):
        return False
    signature = state["signature"]
    return isinstance(signature.get("instructions"), str) and isinstance(
        signature.get("fields"), list
    )


def _predictor(path: Path, name: str, state: Mapping[str, Any]) -> Compiled:
    signature, demos = state["signature"], state.get("demos") or []
    if not isinstance(demos, list) or not all(isinstance(demo, dict) for demo in demos):
        raise WorkflowError(f"{path}: the demos of {name} must be a list of objects")
    for what, entries, most in (
        ("demonstrations", demos, MOST_DEMOS),
        ("fields", signature["fields"], MOST_FIELDS),
    ):
        if (count := len(entries)) > most:
            raise WorkflowError(f"{path}: has {count:,} {what}, must have at most {most:,}")
    if excess := limits().excess(demos):
        raise WorkflowError(f"{path}: a demonstration {excess}")
    fields = tuple(_field(path, name, field) for field in signature["fields"])
    return Compiled(name, signature["instructions"], fields, tuple(demos))


def _field(path: Path, name: str, field: Any) -> SavedField:
    """Return a field by its prefix, `Needs Citation:`, which DSPy makes of its name."""
    if not isinstance(field, dict) or not isinstance(field.get("prefix"), str):
        raise WorkflowError(f"{path}: a field of {name} has no prefix")
    description = str(field.get("description") or "")
    found = "_".join(field["prefix"].strip().rstrip(":").lower().split())
    return SavedField(found, "" if description.startswith(_UNSAID) else description)

"""DSPy modules in the place of a program: imported by name, with a state that DSPy saved."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import PluginError, WorkflowError
from trecjudge.models.adapters import (
    Labels,
    declared_signature,
    dspy_module,
    import_prompt,
    with_labels,
)
from trecjudge.models.compiled import ITEM_INPUTS, read_states

_KEPT = ("signature", "demos")
"""What of a predictor's state is used: not its model, nor whatever else a file may set."""


def load_module(reference: str) -> Any | None:
    """Return the DSPy module at `module:Name`, of a class a new one; None for what is no module.

    Raises PluginError for one that cannot be imported or made, or has no forward.
    """
    found, kind = import_prompt(reference), dspy_module().Module
    if isinstance(found, type) and issubclass(found, kind):
        try:
            found = found()
        except (Exception, SystemExit) as error:  # a class of others can fail in any way
            message = f"cannot be made: {error}; or name one that is made, NAME = {found.__name__}"
            raise PluginError(f"prompt {reference!r} {message}(...)") from error
    if not isinstance(found, kind):
        return None
    if not _forward(found)[0]:
        raise PluginError(f"prompt {reference!r} has no forward, and no aforward")
    return found


def is_async(module: Any) -> bool:
    """Return whether a module can be awaited; others are called in a thread."""
    return _forward(module)[0] == "aforward"


def _forward(module: Any) -> tuple[str, Any]:
    """Return the name and function of what a module does, ("", None) where it does nothing.

    It is that of the class nearest to its own, to be awaited where it can be.
    """
    for owner in type(module).__mro__:
        for name in ("aforward", "forward"):
            if name in vars(owner):
                return name, vars(owner)[name]  # DSPy warns of who takes it from the module
    return "", None


def with_state(where: str, module: Any, path: Path) -> Any:
    """Return a copy of a module with what DSPy saved of it: instructions and demonstrations.

    Raises WorkflowError where the file has other predictors, or other fields.
    """
    try:
        states, module = read_states(path), module.deepcopy()
    except WorkflowError as error:
        raise WorkflowError(f"{where}: {error}") from error
    predictors = dict(module.named_predictors())
    if list(predictors) == ["self"] and len(states) == 1:  # the module is its only predictor
        states = dict(zip(predictors, states.values(), strict=True))
    if set(states) != set(predictors):
        has, wanted = ", ".join(states), ", ".join(predictors) or "none"
        raise WorkflowError(f"{where}: {path}: its predictors are {has}; must be {wanted}")
    for name, predictor in predictors.items():
        compiled, state = states[name]
        own = list(predictor.signature.fields)
        if not compiled.fits(own):
            fields = ", ".join(field.name for field in compiled.fields)
            message = f"the fields of {name} are {fields}; must be {', '.join(own)}, in order"
            raise WorkflowError(f"{where}: {path}: {message}")
        kept = {key: state[key] for key in _KEPT if key in state}
        predictor.load_state(kept | {"lm": None})
    return module


def module_signature(where: str, own: Any, module: Any, labels: Labels, names: Any) -> Any:
    """Return what goes in and out of a module that stands for a program with the signature `own`.

    It is the signature that the module declares; else that of the program, with the module's
    `labels` in fields of its `names` for those of the program. Inputs of an item that its forward
    names come on top. Raises WorkflowError for a forward that does not take the inputs.
    """
    taken = inspect.signature(partial(_forward(module)[1], module))
    found = declared_signature(module)
    if found is None:
        found = _with_names(with_labels(own, {names[n]: labels[n] for n in labels}), names)
        for name, what in ITEM_INPUTS.items():
            if name in taken.parameters and name not in own.fields:
                found = found.append(name, dspy_module().InputField(desc=what), str)
    try:
        taken.bind(**dict.fromkeys(found.input_fields))
    except TypeError as error:
        given, wanted = ", ".join(taken.parameters), ", ".join(own.input_fields)
        message = f"its forward takes {given or 'nothing'}, must take {wanted}"
        raise WorkflowError(f"{where}: {message}; and may take {', '.join(ITEM_INPUTS)}") from error
    return found


def _with_names(signature: Any, names: Mapping[str, str]) -> Any:
    """Return a signature whose output fields have the names that a module gives them."""
    for theirs, ours in names.items():
        if theirs != ours:
            annotation = signature.output_fields[ours].annotation
            signature = signature.delete(ours)
            signature = signature.append(theirs, dspy_module().OutputField(), annotation)
    return signature


def module_digest(module: Any, meaning: object) -> str:
    """Return the sha256 of a module's class, its state, and what its labels stand for."""
    said = [type(module).__qualname__, module.dump_state(), meaning]
    return hashlib.sha256(orjson.dumps(said, default=str)).hexdigest()

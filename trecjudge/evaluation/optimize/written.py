"""An optimised prompt as DSPy saves it, and how it differs from the one before."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any

import orjson
from pydantic import BaseModel

from trecjudge.models.signatures import dspy_module


def saved_form(signature: Any, demos: Sequence[Mapping[str, Any]]) -> bytes:
    """Return what DSPy's `save` writes of a predictor: JSON, read by `load` and by `prompts:`."""
    dspy = dspy_module()
    predictor = dspy.Predict(signature)
    predictor.demos = [plain(demo) for demo in demos]
    state = predictor.dump_state()
    state["metadata"] = {"dependency_versions": {"dspy": dspy.__version__}}
    return orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def plain(value: Any) -> Any:
    """Return a value of a demonstration as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return str(value)
    return value


def difference(name: str, before: str, after: str) -> list[str]:
    """Return the unified diff of two instructions, line by line; empty where they are equal."""
    old, new = (cleandoc(text).splitlines() for text in (before, after))
    names = f"{name} (before)", f"{name} (after)"
    return list(difflib.unified_diff(old, new, *names, lineterm=""))

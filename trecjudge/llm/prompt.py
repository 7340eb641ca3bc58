"""DSPy signatures as prompts: messages out, output fields back. DSPy is imported here alone."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from trecjudge.errors import PluginError, WorkflowError, unknown
from trecjudge.llm.model import Program

REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
MENTION = re.compile(r"\{(\w+)\}")
MARKER = "[[ ##"
DEFUSED_MARKER = "[[ # #"


class Unparsed(Exception):
    """A reply without the fields that the signature asks for."""


@cache
def dspy_module() -> Any:
    """Import DSPy with its price list, its caches and its telemetry off."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    dspy = importlib.import_module("dspy")
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    return dspy


@dataclass(frozen=True, slots=True)
class Prompt:
    """One program ready to be sent: a signature and DSPy's adapter for it."""

    program: Program
    signature: Any
    adapter: Any = field(repr=False)

    def messages(self, inputs: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the chat messages; field markers inside the inputs are defused."""
        fenced = {key: text.replace(MARKER, DEFUSED_MARKER) for key, text in inputs.items()}
        messages: list[dict[str, Any]] = self.adapter.format(self.signature, [], fenced)
        return messages

    def parse(self, reply: str) -> dict[str, Any]:
        """Return the output fields. Raises Unparsed, saying what is wrong."""
        try:
            fields: dict[str, Any] = self.adapter.parse(self.signature, reply)
        except dspy_module().utils.exceptions.AdapterParseError as error:
            raise Unparsed(str(error).strip().splitlines()[-1].strip()) from error
        return fields

    @property
    def digest(self) -> str:
        """The sha256 of the prompt with its fields empty: changes when the wording does."""
        empty = dict.fromkeys(self.signature.input_fields, "")
        return hashlib.sha256(repr(self.messages(empty)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a job, those of the workflow in place of the judge's own.

    An override is either a text, which replaces the signature's instructions and may mention its
    fields as `{field}`, or `module:Signature`, whose fields must be those of the judge's own.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    _made: dict[Program, Prompt] = field(default_factory=dict)

    def __getitem__(self, program: Program) -> Prompt:
        """Return the prompt of a program, made once."""
        self.prepare(program)
        return self._made[program]

    def prepare(self, program: Program) -> None:
        """Make the prompt of a program. Raises WorkflowError for an override that misfits."""
        if program not in self._made:
            dspy = dspy_module()
            adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
            signature = self._overridden(program, load_signature(program.reference))
            self._made[program] = Prompt(program, signature, adapter)

    def digests(self) -> dict[str, str]:
        """Return the sha256 of each prompt by the name of its program."""
        return {program.name: prompt.digest for program, prompt in self._made.items()}

    def _overridden(self, program: Program, signature: Any) -> Any:
        override = self.overrides.get(program.name)
        if override is None:
            return signature
        if REFERENCE.fullmatch(override.strip()):
            return _same_fields(program, signature, load_signature(override.strip()))
        known = [*signature.input_fields, *signature.output_fields]
        for mention in MENTION.findall(override):
            if mention not in known:
                raise WorkflowError(f"prompts.{program.name}: {unknown('field', mention, known)}")
        return signature.with_instructions(MENTION.sub(r"`\1`", override))


def load_signature(reference: str) -> Any:
    """Import a DSPy signature by `module:Class`. Raises PluginError."""
    module, _, name = reference.partition(":")
    dspy = dspy_module()
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"prompt {reference!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, dspy.Signature)):
        raise PluginError(f"prompt {reference!r} is no dspy.Signature")
    return found


def _same_fields(program: Program, ours: Any, theirs: Any) -> Any:
    for side in ("input_fields", "output_fields"):
        wanted, given = list(getattr(ours, side)), list(getattr(theirs, side))
        if sorted(wanted) != sorted(given):
            message = f"prompts.{program.name}: its {side} are {given}, must be {wanted}"
            raise WorkflowError(message)
    return theirs

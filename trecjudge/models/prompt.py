"""DSPy signatures as prompts: messages out, output fields back. Only this module imports DSPy."""

from __future__ import annotations

import gc
import hashlib
import importlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel

from trecjudge.errors import PluginError, WorkflowError, unknown
from trecjudge.models.habits import FORMS, Form
from trecjudge.models.model import Program
from trecjudge.models.reading import Fields, is_exact
from trecjudge.models.schema import reply_schema
from trecjudge.settings.plugins import imported
from trecjudge.text.chat_tokens import broken

REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
MENTION = re.compile(r"\{(\w+)\}")
PLAIN = Program("module", "")


@cache
def dspy_module() -> Any:
    """Import DSPy with its price list, its caches and its telemetry off."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    dspy = importlib.import_module("dspy")
    # Its own caches would answer a retry with the same bad reply.
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    gc.freeze()  # it leaves a million objects that stay to the end: not to be looked at again
    return dspy


@dataclass(frozen=True)
class Prompt:
    """One program in one form, ready to be sent: a signature and DSPy's adapter for it."""

    program: Program
    form: Form
    signature: Any
    adapter: Any = field(repr=False)

    def messages(self, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the chat messages that the adapter writes, control tokens in the inputs broken."""
        fenced = {name: _fenced(value) for name, value in inputs.items()}
        if all(isinstance(value, str) for value in fenced.values()):
            return self._template.render(fenced)
        return self.formatted(fenced)

    def formatted(self, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages that the adapter itself makes of the inputs."""
        messages: list[dict[str, Any]] = self.adapter.format(self.signature, [], dict(inputs))
        return messages

    @cached_property
    def _template(self) -> Template:
        return Template.of(self)

    def parse(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the output fields; lists must have `length` entries, if it is given.

        Raises Unparsed, saying what is wrong.
        """
        return self._plain(reply) or self._fields.read(reply, length)

    @cached_property
    def _fields(self) -> Fields:
        return Fields.of(self.signature)

    def _plain(self, reply: str) -> dict[str, Any] | None:
        """Return the fields of a JSON reply that has exactly those asked for, else None.

        Each is a text or a label. Most replies are such, and this is many times faster than `read`.
        """
        try:
            fields = orjson.loads(reply)
        except orjson.JSONDecodeError:
            return None
        if not isinstance(fields, dict) or fields.keys() != self._allowed.keys():
            return None
        fit = all(
            isinstance(value, str)
            and ((allowed := self._allowed[name]) is None or value in allowed)
            for name, value in fields.items()
        )
        return fields if fit and is_exact(fields, reply) else None

    @cached_property
    def _allowed(self) -> dict[str, tuple[Any, ...] | None]:
        """The values that each output field may have: None for any text, () for what is neither."""
        outputs = self.signature.output_fields.items()
        return {name: _allowed_by(output.annotation) for name, output in outputs}

    @cached_property
    def request(self) -> dict[str, Any]:
        """What the form adds to a request body: the JSON schema of the reply, or nothing."""
        if self.form == "chat":
            return {}
        schema = {"name": self.program.name, "strict": True, "schema": reply_schema(self.signature)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    @cached_property
    def digest(self) -> str:
        """The sha256 of the prompt with its fields empty: changes when the wording does."""
        empty = dict.fromkeys(self.signature.input_fields, "")
        text = orjson.dumps([self.formatted(empty), self.request])
        return hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class PlainPrompt:
    """The prompt of a request that the caller wrote: any reply is a good one.

    It is for `dspy_lm`, which optimises prompts. `request` is added to the request body.
    """

    request: dict[str, Any] = field(default_factory=dict)
    program: Program = PLAIN
    digest: str = ""
    """Empty: its wording is not ours."""

    def parse(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the reply as it is."""
        return {"text": reply}


@dataclass(frozen=True, slots=True)
class Template:
    """An adapter's messages, rendered once, with places for the inputs: 100 times faster."""

    parts: tuple[tuple[str, str], ...]
    """(role, text with `%(name)s` for each input) of each message"""

    @classmethod
    def of(cls, prompt: Prompt) -> Template:
        """Return the template of a prompt: rendered once, with sentinels for the inputs."""
        names = list(prompt.signature.input_fields)
        # Control characters, since no prompt holds them.
        sentinels = {name: f"\x02{number}\x03" for number, name in enumerate(names)}
        parts = []
        for message in prompt.formatted(sentinels):
            # Doubled, since `render` formats by %.
            text = message["content"].replace("%", "%%")
            for name, sentinel in sentinels.items():
                text = text.replace(sentinel, f"%({name})s")
            parts.append((message["role"], text))
        return cls(tuple(parts))

    def render(self, inputs: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the messages with the inputs filled in."""
        return [{"role": role, "content": text % inputs} for role, text in self.parts]


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a job: the judges' own, unless the workflow overrides them.

    An override is either a text, which replaces the signature's instructions and may mention its
    fields as `{field}`, or `module:Signature`, whose fields must be those of the judge's own.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    _made: dict[tuple[Program, Form], Prompt] = field(default_factory=dict)

    def get(self, program: Program, form: Form) -> Prompt:
        """Return the prompt of a program in a form, made once."""
        found = self._made.get((program, form))
        if found is None:
            self.prepare(program)
            found = self._made[program, form]
        return found

    def prepare(self, program: Program) -> None:
        """Make the prompts of a program. Raises WorkflowError for an override that misfits."""
        dspy = dspy_module()
        signature = self._overridden(program, load_signature(program.reference))
        adapters = {
            "schema": dspy.JSONAdapter(),
            "chat": dspy.ChatAdapter(use_json_adapter_fallback=False),
        }
        for form in FORMS:
            self._made[program, form] = Prompt(program, form, signature, adapters[form])

    def digests(self, form_of: Callable[[Program], Form | None]) -> dict[str, str]:
        """Return the sha256 of each prompt, in the form of its program, by the program's name."""
        forms = {program: form_of(program) or "schema" for program, _ in self._made}
        return {p.name: prompt.digest for (p, f), prompt in self._made.items() if f == forms[p]}

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
        found = getattr(imported(module), name)
    except (Exception, SystemExit) as error:  # a module can fail in any way while it is imported
        raise PluginError(f"prompt {reference!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, dspy.Signature)):
        raise PluginError(f"prompt {reference!r} is no dspy.Signature")
    return found


# Kept, since questions about one document follow one another.
_broken = lru_cache(maxsize=32)(broken)


def _fenced(value: Any) -> Any:
    """Return an input that cannot pose as a field of the prompt or reply, nor end its turn."""
    if isinstance(value, str):
        return _broken(value)
    if isinstance(value, Mapping):
        return {_fenced(name): _fenced(entry) for name, entry in value.items()}
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _fenced(entry) for name, entry in value})
    return [_fenced(entry) for entry in value] if isinstance(value, list | tuple) else value


def _same_fields(program: Program, ours: Any, theirs: Any) -> Any:
    for side in ("input_fields", "output_fields"):
        wanted, given = list(getattr(ours, side)), list(getattr(theirs, side))
        if sorted(wanted) != sorted(given):
            message = f"prompts.{program.name}: its {side} are {given}, must be {wanted}"
            raise WorkflowError(message)
    return theirs


def _allowed_by(annotation: Any) -> tuple[Any, ...] | None:
    if annotation is str:
        return None
    return get_args(annotation) if get_origin(annotation) is Literal else ()

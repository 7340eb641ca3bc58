"""DSPy signatures as prompts: messages out, output fields back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import orjson
from pydantic import BaseModel, create_model

from trecjudge.errors import PluginError
from trecjudge.models.adapters import (
    FORMS,
    IN_TEXT,
    AdapterName,
    Form,
    adapter_for,
    all_fields,
    entries_of,
    is_open,
    labels_of,
    load_signature,
)
from trecjudge.models.model import Program, Wording
from trecjudge.models.modules import module_digest
from trecjudge.models.overrides import OWN, ResolvedPrompt, plain, resolve_prompt
from trecjudge.models.reading import Fields, is_exact
from trecjudge.text.chat_tokens import TOKENS_AND_FIELDS, Fence, neutralize

_STRICT = frozenset(
    ("type", "enum", "items", "anyOf", "description", "required", "additionalProperties")
)
"""Keywords that are sent with a value, beside its properties: titles only repeat its name."""


def reply_schema(signature: Any) -> dict[str, Any]:
    """Return the JSON schema of a signature's output fields, in their order, strict throughout."""
    outputs: Any = {name: (f.annotation, ...) for name, f in signature.output_fields.items()}
    model: type[BaseModel] = create_model(signature.__name__, **outputs)
    schema: dict[str, Any] = strict_schema(model.model_json_schema())
    return schema


def strict_schema(schema: Any) -> Any:
    """Return a JSON schema in the strict form of OpenAI and Azure: no object is open.

    Each requires all its properties and allows no other; keywords that the strict form does not
    know, such as bounds and defaults, are left out.
    """
    if isinstance(schema, list):
        return [strict_schema(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # nothing may stand beside it
    names = ("properties", "$defs")  # what these hold is named by the user, not by the schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in names:
            found[key] = {name: strict_schema(inner) for name, inner in value.items()}
        elif key in _STRICT:
            found[key] = strict_schema(value)
    # Strict schemas know no `const`.
    if "const" in schema:
        found["enum"] = [schema["const"]]
    if found.get("type") == "object":
        found |= {"required": list(found.get("properties", {})), "additionalProperties": False}
    return found


WORDS = 6
"""How many words of the line behind the inputs make it known."""

_WORD = re.compile(r"\w+|[^\w\s]")
LEAST_KEPT = 400
"""Characters of a text from which on it is most likely a document, which other prompts have too."""
# Few, since a document may be long: enough for the responses of some runs on the same topics.
_neutralize_document = lru_cache(maxsize=256)(neutralize)


def escape_delimiters(value: Any, fence: Fence) -> Any:
    """Return an input that cannot pose as a part of the prompt or reply, nor end its turn."""
    if isinstance(value, str):
        return (neutralize if len(value) < LEAST_KEPT else _neutralize_document)(value, fence)
    if isinstance(value, Mapping):
        return {
            escape_delimiters(name, fence): escape_delimiters(entry, fence)
            for name, entry in value.items()
        }
    if isinstance(value, BaseModel):
        return value.model_copy(
            update={name: escape_delimiters(entry, fence) for name, entry in value}
        )
    return (
        [escape_delimiters(entry, fence) for entry in value]
        if isinstance(value, list | tuple)
        else value
    )


def fence_of(tags: Sequence[str], closing: str) -> Fence:
    """Return the fence of a prompt whose inputs stand in `tags`, if any, before a `closing` line.

    Of a tag the opening bracket becomes round, of the line its first two words are put in brackets.
    """
    patterns = [TOKENS_AND_FIELDS.tokens.pattern]
    if tags:
        listed = "|".join(r"\s*".join(map(re.escape, tag)) for tag in [*tags, "item"])
        patterns.append(rf"<\s*/?\s*(?:{listed})\b")
    words = _WORD.findall(closing)[:WORDS]
    if len(words) > 1:
        first, second, *more = map(re.escape, words)
        rest = "".join(rf"\s*{word}" for word in more)
        patterns.append(rf"(?P<closing>{first}\s*{second})(?={rest})")
    return Fence(re.compile("|".join(patterns), re.IGNORECASE), "".join(words[:1]).lower())


MESSAGES = Program("module", "")
"""The program of requests whose messages the caller writes: it has no signature."""


def program_of(
    signature: Any,
    demos: Iterable[Mapping[str, Any]] = (),
    sampling: Mapping[str, Any] | None = None,
    rollout: int | None = None,
    base: Program = MESSAGES,
) -> Program:
    """Return the program of a DSPy module's own signature, or of one with the fields of `base`.

    Its name is that of `base`, else of the signature, else of its output fields. Equal ones are
    equal programs.
    """
    wording = Wording(signature, tuple(dict(demo) for demo in demos), sampling or {}, rollout)
    name = base.name
    if base is MESSAGES:
        own = signature.__name__ if signature.__name__ != "StringSignature" else ""
        name = _NO_NAME.sub("_", own or "_".join(signature.output_fields))[:LONGEST_NAME]
    types = [repr([f.annotation, entries_of(f.annotation)]) for f in signature.fields.values()]
    fields = [*signature.input_fields, "->", *signature.output_fields]
    said = [signature.dump_state(), fields, types, repr(wording.demos), wording.sampling, rollout]
    digest = hashlib.sha256(orjson.dumps(said)).hexdigest()
    return replace(base, name=name, reference=f"{base.reference}#{digest[:16]}", wording=wording)


def sampled_program(
    program: Program, sampling: Mapping[str, Any], rollout: int | None = None
) -> Program:
    """Return a program with further parameters in its requests, or one of several samples of it."""
    said = orjson.dumps([sampling, rollout], option=orjson.OPT_SORT_KEYS)
    reference = f"{program.reference}#{hashlib.sha256(said).hexdigest()[:16]}"
    return replace(program, reference=reference, wording=Wording(None, (), sampling, rollout))


_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")
LONGEST_NAME = 60
"""Characters of a program's name: a schema is sent with it, and endpoints take 64."""


@dataclass(frozen=True)
class Prompt:
    """One program in one form, ready to be sent: its wording, and DSPy's adapter for it.

    `own_inputs` are what the judge itself gives; the wording may ask for more.
    """

    program: Program
    form: Form
    worded: ResolvedPrompt
    own_inputs: tuple[str, ...]
    adapter_name: AdapterName = "auto"
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """What is added to the request body beside the form, such as a temperature."""
    rollout: int | None = None
    """Which of several samples of one request it is."""

    @property
    def wants_logprobs(self) -> bool:
        """Whether the log-probabilities of the reply's tokens are asked for."""
        return bool(self.sampling.get("logprobs"))

    @property
    def signature(self) -> Any:
        """The DSPy signature."""
        return self.worded.signature

    @cached_property
    def adapter(self) -> Any:
        """The DSPy adapter that writes the messages."""
        return adapter_for(self.adapter_name, self.form)

    @cached_property
    def is_open(self) -> bool:
        """Whether no strict schema can hold its reply, or a field is of a type of DSPy's own."""
        return is_open(self.signature)

    @cached_property
    def more_inputs(self) -> tuple[str, ...]:
        """The names of inputs that it asks for beyond those of the judge."""
        return tuple(n for n in self.signature.input_fields if n not in self.own_inputs)

    def messages(self, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the chat messages that the adapter writes, control tokens in the inputs broken."""
        safe = {
            name: self._as_text(name, escape_delimiters(value, self._fence))
            for name, value in inputs.items()
        }
        if all(isinstance(value, str) for value in safe.values()):
            return [{"role": role, "content": text % safe} for role, text in self._template]
        return self.format_messages(safe)

    def _as_text(self, name: str, value: Any) -> Any:
        """Return an input; of several texts in the place of one a text, as they are."""
        asked = self.signature.input_fields.get(name)
        is_one = asked is not None and asked.annotation is str
        return "\n\n".join(value) if is_one and isinstance(value, list) else value

    def format_messages(self, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages that the adapter itself makes of the inputs."""
        messages: list[dict[str, Any]] = self.adapter.format(
            self.signature, self._demos, dict(inputs)
        )
        return messages

    @cached_property
    def _demos(self) -> list[dict[str, Any]]:
        """The demonstrations: texts of documents stand in them too."""
        return [escape_delimiters(demo, self._fence) for demo in self.worded.demos]

    @cached_property
    def _fence(self) -> Fence:
        names = list(self.signature.input_fields)
        empty = self.adapter.format(self.signature, [], {name: f"{{{name}}}" for name in names})
        behind = str(empty[-1]["content"]).rpartition(f"{{{names[-1]}}}")[2] if names else ""
        tags = all_fields(self.signature) if self.adapter_name == "xml" else []
        return fence_of(tags, behind.strip().rpartition("\n")[2])

    @cached_property
    def _template(self) -> list[tuple[str, str]]:
        """(role, text with `%(name)s` for each input) of each message.

        The adapter writes them once, with sentinels for the inputs: 100 times faster than anew.
        """
        names = list(self.signature.input_fields)
        mark = _unused_mark(self.format_messages(dict.fromkeys(names, "")))
        sentinels = {name: f"{mark}{number}{mark}" for number, name in enumerate(names)}
        parts = []
        for message in self.format_messages(sentinels):
            # Doubled, since `messages` formats by %.
            text = message["content"].replace("%", "%%")
            for name, sentinel in sentinels.items():
                text = text.replace(sentinel, f"%({name})s")
            parts.append((message["role"], text))
        return parts

    def parse(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the output fields; lists must have `length` entries, if it is given.

        Raises Unparsed, saying what is wrong.
        """
        return self.worded.of_program(self._plain(reply) or self._fields.read(reply, length))

    def parse_values(self, values: Mapping[str, Any], length: int | None = None) -> dict[str, Any]:
        """Return the output fields that a DSPy module gave, as `parse` does those of a reply.

        Raises PluginError where one is missing, Unparsed for a value that is not of its type.
        """
        given = {name: plain(value) for name, value in values.items()}
        if not self._fields.required <= given.keys():
            wanted = ", ".join(n for n in self._fields.types if n in self._fields.required)
            message = f"gives {', '.join(given) or 'nothing'}; must give {wanted}"
            raise PluginError(f"prompts.{self.program.name}: {self.worded.origin} {message}")
        return self.worded.of_program(self._fields.read_values(given, length))

    @cached_property
    def _fields(self) -> Fields:
        is_own = self.worded.origin == OWN
        return Fields.of(self.signature, self.adapter_name == "xml", with_aliases=is_own)

    def _plain(self, reply: str) -> dict[str, Any] | None:
        """Return the fields of a JSON reply that has exactly those asked for, else None.

        Each is a text or a label. Most replies are such, and this is many times faster than `read`.
        """
        try:
            fields = orjson.loads(reply)
        except orjson.JSONDecodeError:
            return None
        if not isinstance(fields, dict) or fields.keys() != self._allowed_values.keys():
            return None
        fit = all(
            isinstance(value, str)
            and ((allowed := self._allowed_values[name]) is None or value in allowed)
            for name, value in fields.items()
        )
        return fields if fit and is_exact(fields, reply) else None

    @cached_property
    def _allowed_values(self) -> dict[str, tuple[Any, ...] | None]:
        """The values that each output field may have: None for any text, () for what is neither."""
        outputs = self.signature.output_fields.items()
        return {name: _allowed_by(output.annotation) for name, output in outputs}

    @cached_property
    def request(self) -> dict[str, Any]:
        """What is added to a request body: `sampling`, and in its form a schema of the reply."""
        if self.form == "chat":
            return dict(self.sampling)
        schema = {"name": self.program.name, "strict": True, "schema": reply_schema(self.signature)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}, **self.sampling}

    @cached_property
    def digest(self) -> str:
        """The sha256 of the prompt with its fields empty: changes when the wording does.

        So it does when labels of the prompt's own come to stand for others of the judge.
        """
        empty = dict.fromkeys(self.signature.input_fields, "")
        worded = self.worded
        meaning = [dict(found) for found in (worded.labels, worded.stands_for) if found]
        if worded.module is not None:
            return module_digest(worded.module, meaning)
        text = orjson.dumps([self.format_messages(empty), self.request, *meaning])
        return hashlib.sha256(text).hexdigest()

    def shown(self) -> dict[str, Any]:
        """Return where it is from, with its messages or, of a module, its instructions."""
        worded = self.worded
        if worded.module is None:
            return {"from": worded.origin, "messages": self.blank()}
        said = {n: p.signature.instructions for n, p in worded.module.named_predictors()}
        return {"from": worded.origin, "predictors": said}

    def blank(self) -> list[dict[str, Any]]:
        """Return the messages with `{name}` in the place of each input."""
        return self.format_messages({name: f"{{{name}}}" for name in self.signature.input_fields})


@dataclass(frozen=True, slots=True)
class PlainPrompt:
    """The prompt of a request that the caller wrote: any reply is a good one.

    It is for `dspy_lm`. `request` is added to the request body.
    """

    request: dict[str, Any] = field(default_factory=dict)
    program: Program = MESSAGES
    digest: str = ""
    """Empty: its wording is not ours."""
    rollout: int | None = None
    wants_logprobs: ClassVar[bool] = False

    def parse(self, reply: str, length: int | None = None) -> dict[str, Any]:
        """Return the reply as it is."""
        return {"text": reply}


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a job: the judges' own, unless the workflow overrides them.

    `overrides` are by the name of a program, each as `worded` reads it. `adapter` writes them all.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    adapter: AdapterName = "auto"
    room: int | None = None
    """The tokens of a prompt that the model takes, where that is known."""
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
        if program.wording is not None:
            self._prepare_module(program, program.wording)
            return
        wording = resolve_prompt(program, self.overrides)
        wording.check_size(program.name, self.room)
        own = tuple(load_signature(program.reference).input_fields)
        for form in FORMS:
            self._made[program, form] = Prompt(program, form, wording, own, self.adapter)

    def _prepare_module(self, program: Program, asked: Wording) -> None:
        """Make the prompts of a module: those of its program with what it changed, or its own."""
        base = replace(program, reference=program.reference.partition("#")[0], wording=None)
        if asked.signature is None:
            for form in FORMS:
                same = self.get(base, form)
                added = replace(same, sampling=asked.sampling, rollout=asked.rollout)
                self._made[program, form] = added
            return
        plain = ResolvedPrompt(asked.signature, origin=MESSAGES.name)
        inputs = tuple(asked.signature.input_fields)
        for form in FORMS:
            own = Prompt(base, form, plain, inputs, self.adapter)
            if base.reference:
                own = self.get(base, form)
            worded = replace(own.worded, signature=asked.signature, demos=asked.demos)
            self._made[program, form] = replace(
                own, worded=worded, sampling=asked.sampling, rollout=asked.rollout
            )

    def only_form(self, program: Program) -> Form | None:
        """Return the form of a program's replies, where its adapter or fields leave no choice."""
        in_text = self.adapter in IN_TEXT or not program.reference
        return "chat" if in_text or self.get(program, "chat").is_open else None

    def answered_by_module(self, program: Program) -> Prompt | None:
        """Return the prompt of a program that a DSPy module answers, None for one that is asked."""
        if not program.reference or program.asked_by_module:
            return None
        found = self.get(program, "chat")
        return found if found.worded.module is not None else None

    def asked_singly(self, program: Program) -> str:
        """Return why a program for several inputs is not asked, but that for one; else ""."""
        return self.get(program, "chat").worded.singly

    def more_inputs(self, program: Program) -> tuple[str, ...]:
        """Return the names of inputs that a program's prompt asks for beyond its own."""
        return self.get(program, "chat").more_inputs if program.reference else ()

    def record(self, form_of: Callable[[Program], Form | None]) -> dict[str, Any]:
        """Return the sha256 of each prompt by its program's name, in the form that is sent.

        Those that are not a judge's own stand there with where they are from, and as sent.
        """
        used = {prompt.program.name: prompt for prompt in self._used(form_of)}
        others = {
            name: prompt.shown() for name, prompt in used.items() if prompt.worded.origin != OWN
        }
        digests = {name: prompt.digest for name, prompt in used.items()}
        return {"prompts_sha256": digests} | ({"prompts": others} if others else {})

    def _used(self, form_of: Callable[[Program], Form | None]) -> list[Prompt]:
        forms = {program: form_of(program) or "schema" for program, _ in self._made}
        made = self._made.items()
        return [p for (program, form), p in made if form == forms[program] and not p.worded.singly]


def _unused_mark(messages: Iterable[Mapping[str, Any]]) -> str:
    """Return a character that no message holds: a control one, else one for private use."""
    text = "".join(message["content"] for message in messages)
    marks = map(chr, (*range(1, 9), *range(0xE000, 0xF900)))
    return next(mark for mark in marks if mark not in text)


def _allowed_by(annotation: Any) -> tuple[Any, ...] | None:
    return None if annotation is str else labels_of(annotation) or ()

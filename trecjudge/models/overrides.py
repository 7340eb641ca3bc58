"""Overrides of prompts: a name, a text, a signature, a module or a compiled program."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel

from trecjudge.errors import PluginError, WorkflowError, unknown, why
from trecjudge.models.adapters import (
    REFERENCE,
    Labels,
    description_of,
    dspy_module,
    label_fields,
    labels_of,
    load_signature,
    map_labels,
    with_labels,
)
from trecjudge.models.compiled import (
    BESIDE,
    ITEM_INPUTS,
    SUFFIX,
    Compiled,
    names_file,
    read_compiled,
)
from trecjudge.models.model import Program
from trecjudge.models.modules import load_module, module_signature, with_state
from trecjudge.models.reading.values import Unreadable, read_value
from trecjudge.models.spending import estimated_tokens
from trecjudge.settings.plugins import import_named
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, yaml_text

# Named prompts: files in the folder `prompts/` beside the module of their programs.
OWN = "own"
"""The name of the prompt that a program has of itself."""
FOLDER = "prompts"
_LINE = "---\n"
_NEXT = re.compile(r"^(?=---\nprogram:)", re.MULTILINE)
"""Where in a file the prompt of a further program begins."""


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """A prompt with where it comes from.

    `reference` is where it was published, `agreement` what was published on its agreement with
    people, `differs` how it is unlike the program's own. `labels` say what its labels stand for.
    `lists` names an input, a text of the program's own, that it gets as a JSON list.
    """

    name: str
    program: str
    source: str
    instructions: str = field(repr=False)
    reference: str = ""
    licence: str = ""
    agreement: str = ""
    differs: str = ""
    lists: str = ""
    labels: Labels = field(default_factory=dict)


def named_prompts(program: Program) -> dict[str, NamedPrompt]:
    """Return the named prompts of a program, by name. Raises WorkflowError for a broken file."""
    found = (prompt for path in _files(program) for prompt in read_prompts(path))
    return {prompt.name: prompt for prompt in found if prompt.program == program.name}


def _files(program: Program) -> Iterator[Path]:
    file = import_named(program.reference.partition(":")[0]).__file__
    folder = Path(file).parent / FOLDER if file else None
    if folder is not None and folder.is_dir():
        yield from sorted(folder.glob("*.md"))


def read_prompts(path: Path) -> Iterator[NamedPrompt]:
    """Yield the prompts of a file, one for each program that the name of the file is known to.

    Each is YAML between two lines `---`, then the instructions; all but the first begin with
    `program:`. Raises WorkflowError with what is wrong.
    """
    try:
        text = yaml_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise WorkflowError(f"{path}: cannot be read: {why(error)}") from error
    # An empty part is what stands before the first prompt.
    for part in [found for found in _NEXT.split(text) if found] or [""]:
        yield _read_prompt(path, part)


def _read_prompt(path: Path, text: str) -> NamedPrompt:
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
        and all(isinstance(label, str) and type(of) in (str, int) for label, of in meanings.items())
        for meanings in value.values()
    )


MENTION = re.compile(r"[{`](\w+)[}`]")
_BRACES = re.compile(r"\{(\w+)\}")
_NAME = re.compile(r"[\w.-]+")
MOST_CHARACTERS = 4_000_000
"""Characters of its instructions and demonstrations: no model of today takes so many."""
_ONE_BY_ONE = "is asked one by one"


@dataclass(frozen=True, slots=True)
class ResolvedPrompt:
    """How a program is worded: its signature, demonstrations, and what its labels stand for.

    `origin` is the name, file or reference that it was given by. `stands_for` says which field of
    the program each field of another name is, and `absent` are texts of the program that it lacks.
    `singly` is why a program for
    several inputs is not asked, but the one for a single input; empty where it is. `module` is a
    DSPy module that answers in place of a request, by fields of the signature.
    """

    signature: Any
    demos: tuple[Mapping[str, Any], ...] = ()
    labels: Labels = field(default_factory=dict)
    origin: str = OWN
    singly: str = ""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    module: Any = field(default=None, compare=False, repr=False)

    def of_program(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a reply as the program has them, labels as what they stand for."""
        if self.labels:
            found = map_labels(found, self.labels)
        if self.stands_for or self.absent:
            found = {self.stands_for.get(name, name): value for name, value in found.items()}
            found = dict.fromkeys(self.absent, "") | found
        return found

    def check_size(self, name: str, room: int | None) -> None:
        """Raise WorkflowError for more than any model takes, or `room` tokens where that is set."""
        texts = [self.signature.instructions, *map(description_of, self.signature.fields.values())]
        texts += [value for demo in self.demos for value in demo.values()]
        size, what = sum(map(len, map(str, texts))), "its instructions and demonstrations have"
        if size > MOST_CHARACTERS:
            most = f"{size:,} characters, must have at most {MOST_CHARACTERS:,}"
            raise WorkflowError(f"prompts.{name}: {what} {most}")
        # Compared only where it may be too much: to estimate tokens, all of it is looked at.
        tokens = sum(estimated_tokens(str(t)) for t in texts) if room and size > room else 0
        if room and tokens > room:
            raise WorkflowError(
                f"prompts.{name}: {what} {tokens:,} tokens, the model takes {room:,}"
            )


def resolve_prompt(program: Program, overrides: Mapping[str, str]) -> ResolvedPrompt:
    """Return how a program is worded. Raises WorkflowError, PluginError for one that misfits."""
    own = load_signature(program.reference)
    if (given := overrides.get(program.name)) is not None:
        found = _resolve_override(program, own, given.strip())
        _check_several(program, found.signature)
        return found
    if program.each is None or program.each.name not in overrides:
        return _own_prompt(program, own)
    return _for_several(program, own, resolve_prompt(program.each, overrides))


def _own_prompt(program: Program, own: Any) -> ResolvedPrompt:
    return ResolvedPrompt(own, module=load_module(program.reference))


def _check_several(program: Program, signature: Any) -> None:
    """Raise WorkflowError where a question about several sentences asks for one's neighbours."""
    beside = [name for name in BESIDE if name in signature.input_fields]
    if program.each is not None and beside:
        message = f"asks about several sentences at once, so for no {beside[0]!r}"
        raise WorkflowError(f"prompts.{program.name}: {message}")


def _for_several(program: Program, own: Any, each: ResolvedPrompt) -> ResolvedPrompt:
    """Return the wording of a program for several inputs, as the one for a single input has it."""
    if each.origin == OWN:
        return _own_prompt(program, own)
    # Whoever gives a prompt for one sentence means all of them, however many a request asks about.
    assert program.each is not None
    if each.origin in named_prompts(program):  # written for several, too
        return _resolve_override(program, own, each.origin)
    single = load_signature(program.each.reference)
    same = list(each.signature.fields) == list(single.fields)
    if each.demos or not same or REFERENCE.fullmatch(each.origin):
        what = "has demonstrations" if each.demos else "is for a single one"
        why = f"{program.name} {_ONE_BY_ONE}: {each.origin} {what}"
        return ResolvedPrompt(own, origin=each.origin, singly=why)
    several, replies = program.aligned_with, next(iter(own.output_fields))
    text = (
        f"Decide for each of the `{several}` on its own, as if it were the only one.\n\n"
        f"{each.signature.instructions}\n\n"
        f"Give one entry of `{replies}` for each of the `{several}`, with its number from 1."
    )
    signature = with_labels(own, each.labels).with_instructions(text)
    return ResolvedPrompt(signature, labels=each.labels, origin=each.origin)


def _resolve_override(program: Program, own: Any, given: str) -> ResolvedPrompt:
    if REFERENCE.fullmatch(given):
        module, where = load_module(given), f"prompts.{program.name}"
        if module is None:
            theirs = load_signature(given)
        else:
            theirs = module_signature(f"{where}: {given}", own, module, {}, {})
        return ResolvedPrompt(_fitting(program, own, theirs), origin=given, module=module)
    if (mapped := _mapped(program, own, given)) is not None:
        return mapped
    named = named_prompts(program)
    if given == OWN:
        return _own_prompt(program, own)
    if given in named:
        prompt = named[given]
        signature = with_labels(own, prompt.labels).with_instructions(prompt.instructions)
        if prompt.lists:
            signature = signature.with_updated_fields(prompt.lists, type_=list[str])
        return ResolvedPrompt(signature, labels=prompt.labels, origin=given)
    where = f"prompts.{program.name}"
    if names_file(given) or (_NAME.fullmatch(given) and Path(given).is_dir()):
        return _of_file(where, own, Path(given).expanduser())
    if _NAME.fullmatch(given):
        raise WorkflowError(f"{where}: {unknown('prompt', given, [OWN, *named])}")
    return ResolvedPrompt(
        own.with_instructions(_checked_text(where, own, given, named)), origin="text"
    )


def _mapped(program: Program, own: Any, given: str) -> ResolvedPrompt | None:
    """Return the wording by a mapping of a signature or a module; None for no such.

    A field of another name stands for the label field whose labels its own stand for.
    """
    try:
        values = orjson.loads(given) if given.startswith("{") else None
    except orjson.JSONDecodeError:
        return None  # a text may begin with a field
    if values is None:
        return None
    where = f"prompts.{program.name}"
    for key in values:
        if key not in _MAPPED:
            raise WorkflowError(f"{where}: {unknown('key', key, _MAPPED)}")
    key, labels = "module" if "module" in values else "signature", values.get("labels") or {}
    if "module" in values and "signature" in values:
        raise WorkflowError(f"{where}: give a signature or a module, one of the two")
    if not isinstance(reference := values.get(key), str) or not REFERENCE.fullmatch(reference):
        raise WorkflowError(f"{where}: {key} is {reference!r}, must be module:{key.title()}")
    if not isinstance(labels, Mapping) or not _is_labels(labels):
        raise WorkflowError(f"{where}: labels must be {_WANTED['labels']}")
    stands_for = {name: _label_field(where, own, name, labels[name]) for name in labels}
    module = _stated_module(where, reference, values) if key == "module" else None
    if module is None:
        signature = load_signature(reference)
    else:
        signature = module_signature(f"{where}: {reference}", own, module, labels, stands_for)
    for name, meanings in labels.items():
        signature = _offer_labels(f"{where}.labels", signature, name, meanings)
    renamed = {name: ours for name, ours in stands_for.items() if name != ours}
    outputs = {stands_for.get(name, name) for name in signature.output_fields}
    texts = [name for name in _texts(own) if name not in outputs]
    _check_fields(where, own, signature, outputs | set(texts), [*renamed, *_texts(signature)])
    return ResolvedPrompt(
        signature,
        labels=labels,
        origin=reference,
        stands_for=renamed,
        absent=tuple(texts),
        module=module,
    )


_MAPPED = ("signature", "module", "state", "labels")


def _stated_module(where: str, reference: str, values: Mapping[str, Any]) -> Any:
    """Return the module of a mapping, with the state that DSPy saved where the mapping has one."""
    module, state = load_module(reference), values.get("state")
    if module is None:
        raise PluginError(f"prompt {reference!r} is no dspy.Module")
    if state is None:
        return module
    if not isinstance(state, str):
        raise WorkflowError(f"{where}: state is {state!r}, must be a {SUFFIX} file")
    return with_state(f"{where}: state", module, Path(state).expanduser())


def _label_field(where: str, own: Any, name: str, meanings: Mapping[str, str | int]) -> str:
    """Return the field of a program that the labels of a prompt's field stand for.

    That of the entries of a list has its own name.
    """
    known = {f: ls for f, ls in label_fields(own) if f in own.output_fields or f == name}
    fits = [field for field, labels in known.items() if set(meanings.values()) <= set(labels)]
    if name in fits or len(fits) == 1:
        return name if name in fits else fits[0]
    if len(known) == 1:
        (labels,) = known.values()
        wrong = next(meaning for meaning in meanings.values() if meaning not in labels)
        raise WorkflowError(f"{where}: labels.{name}: {unknown('label', wrong, labels)}")
    which = "several of" if fits else "none of"
    fields = ", ".join(known) or "nothing: it has no labels"
    if entries := [field for field, _ in label_fields(own)] if not known else []:
        which, fields = "nothing:", f"the labels of its entries must be called {entries[0]}"
    raise WorkflowError(f"{where}: labels.{name} can stand for {which} {fields}")


def _offer_labels(where: str, signature: Any, name: str, meanings: Mapping[str, str | int]) -> Any:
    """Return a signature whose field offers just these labels, which are its own, if it has any."""
    output, own = signature.output_fields.get(name), dict(label_fields(signature)).get(name)
    if output is None and own is None:
        raise WorkflowError(f"{where}: {unknown('field', name, signature.output_fields)}")
    if own is None and output.annotation is not str:
        raise WorkflowError(f"{where}.{name}: the field must be a text or a Literal of labels")
    if own is not None and set(map(str, own)) != set(meanings):
        found = f"{', '.join(map(str, meanings))}, must be {', '.join(map(str, own))}"
        raise WorkflowError(f"{where}.{name}: its labels are {found}")
    if output is None:  # a field of the entries of a list, which offers them
        return signature
    return signature.with_updated_fields(name, type_=Literal[tuple(meanings)])


def _checked_text(where: str, own: Any, text: str, named: Mapping[str, Any]) -> str:
    """Return a text of the user's as instructions. Raises WorkflowError if it is no prompt."""
    known = list(own.fields)
    for mention in _BRACES.findall(text):
        if mention not in known:
            raise WorkflowError(f"{where}: {unknown('field', mention, known)}")
    if text.encode(errors="ignore") != text.encode(errors="surrogatepass"):
        raise WorkflowError(f"{where}: holds half of a surrogate pair, which cannot be sent")
    if not set(MENTION.findall(text)).intersection(known):
        fields, names = ", ".join(f"{{{name}}}" for name in known), ", ".join([OWN, *named])
        message = f"is a text without a field of the prompt; mention one of {fields}"
        raise WorkflowError(f"{where}: {message}, or give a name: {names}")
    return _BRACES.sub(r"`\1`", text)


def _of_file(where: str, own: Any, path: Path) -> ResolvedPrompt:
    try:
        compiled = read_compiled(path, list(own.fields))
    except WorkflowError as error:
        raise WorkflowError(f"{where}: {error}") from error
    signature = _compiled_signature(where, own, compiled)
    demos = tuple(_demos(where, signature, compiled))
    return ResolvedPrompt(signature, demos, origin=path.name)


def _compiled_signature(where: str, own: Any, compiled: Compiled) -> Any:
    """Return a signature with the instructions, descriptions and added fields of a program.

    The fields of a reply stand in its order, and so do the inputs that an item has.
    """
    signature, dspy = own.with_instructions(compiled.instructions), dspy_module()
    outputs = _outputs(own, compiled)
    for name in compiled.added_fields(list(own.fields)):
        if name in ITEM_INPUTS:
            signature = signature.append(name, dspy.InputField(desc=ITEM_INPUTS[name]), str)
        elif name in outputs:
            signature = signature.insert(outputs.index(name), name, dspy.OutputField(), str)
        else:
            raise WorkflowError(f"{where}: {unknown('input', name, _inputs(own))}")
    for saved in compiled.fields:
        if saved.description:
            signature = signature.with_updated_fields(saved.name, desc=saved.description)
    return signature


def _outputs(own: Any, compiled: Compiled) -> list[str]:
    """Return the fields behind all inputs, as outputs stand: a file does not say what they are."""
    names = [field.name for field in compiled.fields]
    last = max(names.index(known) for known in own.input_fields)
    return [name for name in names[last + 1 :] if name not in ITEM_INPUTS]


def _demos(where: str, signature: Any, compiled: Compiled) -> Iterator[Mapping[str, Any]]:
    """Yield the demonstrations, their values checked by the types of their fields."""
    for number, demo in enumerate(compiled.demos, 1):
        kept = {name: demo[name] for name in signature.fields if demo.get(name) is not None}
        for name in signature.output_fields.keys() & kept.keys():
            annotation = signature.output_fields[name].annotation
            try:
                kept[name] = plain(read_value(annotation, kept[name], name))
            except Unreadable as error:
                message = f"demonstration {number}: {name}: {error}"
                raise WorkflowError(f"{where}: {message}") from error
        yield kept


def plain(value: Any) -> Any:
    """Return a value with its records as JSON objects."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _inputs(own: Any) -> list[str]:
    return [*own.input_fields, *ITEM_INPUTS]


def _fitting(program: Program, own: Any, theirs: Any) -> Any:
    """Return a signature of the user's own if it can stand for the program's."""
    where = f"prompts.{program.name}"
    _check_fields(where, own, theirs, set(theirs.output_fields), _texts(theirs))
    ours = dict(label_fields(own))
    for name, output in theirs.output_fields.items():
        for label in labels_of(output.annotation) or ():
            if name in ours and label not in ours[name]:
                message = f"its {name}: {unknown('label', label, ours[name])}"
                raise WorkflowError(f"prompts.{program.name}: {message}")
    return theirs


def _check_fields(
    where: str, own: Any, theirs: Any, outputs: Collection[str], more: Sequence[str]
) -> None:
    """Raise WorkflowError where a signature lacks a field of the program's, or has a stray one.

    `outputs` are the program's fields that its reply comes to, `more` others that it may have.
    """
    for side, given, beside in (
        ("input_fields", theirs.input_fields, ITEM_INPUTS),
        ("output_fields", outputs, more),
    ):
        wanted = list(getattr(own, side))
        if not set(wanted) <= set(given) <= {*wanted, *beside}:
            shown = f", and may have {', '.join(beside)}" if beside is ITEM_INPUTS else ""
            message = f"its {side} are {list(getattr(theirs, side))}, must be {wanted}{shown}"
            if side == "output_fields":
                message += "; or say what they stand for: {signature: ..., labels: ...}"
            raise WorkflowError(f"{where}: {message}")


def _texts(signature: Any) -> list[str]:
    return [name for name, f in signature.output_fields.items() if f.annotation is str]

"""`prompts`: list the prompts that models are asked by, and show one as it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import typer

from trecjudge.baseline.retrieve.ranking import GRADE_PASSAGES
from trecjudge.cli.commands import CommandGroup, FlagCommand
from trecjudge.cli.exits import exit_status
from trecjudge.cli.parameters import Flags, argument, bind_flags, command_with, option, switch
from trecjudge.cli.printing import print_json, print_lines, print_listing
from trecjudge.errors import WorkflowError, unknown
from trecjudge.evaluation.banks.asking import PROGRAMS
from trecjudge.judging.judge import judge_class, judge_names
from trecjudge.models.adapters import AdapterName, Form
from trecjudge.models.model import Program
from trecjudge.models.overrides import OWN, NamedPrompt, named_prompts
from trecjudge.models.prompt import Prompt, Prompts
from trecjudge.models.spending import estimated_tokens
from trecjudge.settings.plugins import find_in_working_folder


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """A prompt as it is sent in a form; `about` is where it comes from."""

    about: NamedPrompt
    prompt: Prompt

    @property
    def tokens(self) -> int:
        """About how many tokens are sent beside the inputs, by an estimate from the text."""
        empty = dict.fromkeys(self.prompt.signature.input_fields, "")
        found = self.prompt.format_messages(empty)
        return sum(estimated_tokens(message["content"]) for message in found)

    @property
    def schema_tokens(self) -> int:
        """About how many tokens the schema of the reply is, 0 where none is sent."""
        request = self.prompt.request
        return estimated_tokens(orjson.dumps(request).decode()) if request else 0

    def record(self) -> dict[str, Any]:
        """Return it as JSON-ready data, with the messages as sent."""
        about = self.about
        return {
            "program": self.prompt.program.name,
            "name": about.name,
            "source": about.source,
            "reference": about.reference,
            "licence": about.licence,
            "agreement": about.agreement,
            "differs": about.differs,
            "labels": about.labels,
            "sha256": self.prompt.digest,
            "tokens_estimated": self.tokens,
            "schema_tokens_estimated": self.schema_tokens,
            "form": self.prompt.form,
            "messages": self.prompt.blank(),
            "request": self.prompt.request,
        }


def listed_prompts(
    programs: Iterable[Program], form: Form = "schema", adapter: AdapterName = "auto"
) -> Iterator[ListedPrompt]:
    """Yield the own prompt of each program, then its named ones."""
    for program in programs:
        known = named_prompts(program.each or program)
        for name in (OWN, *known):
            given = {} if name == OWN else {(program.each or program).name: name}
            prompt = Prompts(given, adapter).get(program, form)
            about = known.get(name) or _own(program, prompt)
            yield ListedPrompt(about, prompt)


def find_prompts(found: Iterable[ListedPrompt], name: str, program: str = "") -> list[ListedPrompt]:
    """Return the prompts of a name, of one program or of all. Raises WorkflowError for none."""
    every = list(found)
    programs = {listed.prompt.program.name for listed in every}
    if program and program not in programs:
        raise WorkflowError(unknown("program", program, programs))
    every = [one for one in every if program in ("", one.prompt.program.name)]
    fit = [listed for listed in every if listed.about.name == name]
    # The name of a program stands for its own prompt.
    fit = fit or [o for o in every if o.about.name == OWN and o.prompt.program.name == name]
    if not fit:
        names = {listed.about.name for listed in every} | {p for p in programs if not program}
        raise WorkflowError(unknown("prompt", name, names))
    return fit


def _own(program: Program, prompt: Prompt) -> NamedPrompt:
    text = prompt.signature.instructions
    return NamedPrompt(OWN, program.name, "trecjudge's default", text)


prompts_app = typer.Typer(
    cls=CommandGroup,
    help="List the prompts that a model is asked by; show one.",
    invoke_without_command=True,
    add_completion=False,
)


class PromptFlags(Flags):
    """Which prompts are listed, and how."""

    program: str = option("Only of this program.", "")
    form: Form = option("The form of the reply: a schema, or markers in a chat.", "schema")
    as_json: bool = switch("Print JSON, with the messages as sent.", "--json")


class ShownPromptFlags(PromptFlags):
    """Which prompt is shown."""

    name: str = argument("A prompt, or a program for its own one.")


@prompts_app.callback()
@bind_flags(PromptFlags)
def prompts(ctx: typer.Context, flags: PromptFlags) -> None:
    """List the prompts that a model is asked by; show one.

    Tokens are estimated from the text, and are those beside the inputs.
    """
    if ctx.invoked_subcommand is None:
        raise typer.Exit(exit_status(lambda: _list(flags)))


def _list(flags: PromptFlags) -> int:
    every = listed_prompts(every_program(), flags.form)
    found = [one for one in every if flags.program in ("", one.prompt.program.name)]
    if not found:
        find_prompts(listed_prompts(every_program(), flags.form), "own", flags.program)
    if flags.as_json:
        return _print(found)
    return print_listing([(_name(listed), _summary(listed)) for listed in found])


@prompts_app.command(name="show", cls=FlagCommand)
@command_with(ShownPromptFlags)
def show(flags: ShownPromptFlags) -> int:
    """Show a prompt as it is sent, with where it comes from."""
    every = listed_prompts(every_program(), flags.form)
    found = find_prompts(every, flags.name, flags.program)
    if flags.as_json:
        return _print(found)
    for number, listed in enumerate(found):
        print_lines([""] if number else [])
        print_lines(_prompt_lines(listed))
    return 0


def _print(found: Iterable[ListedPrompt]) -> int:
    print_json([{"prompts": [listed.record() for listed in found]}])
    return 0


def every_program() -> list[Program]:
    """Return the programs of all judges, those of banks, and that of `--rerank`, each once."""
    find_in_working_folder()
    found: dict[str, Program] = {}
    for name in judge_names():
        found |= {p.name: p for p in getattr(judge_class(name), "programs", ())}
    return [*(found | {p.name: p for p in (*PROGRAMS, GRADE_PASSAGES)}).values()]


def _name(listed: ListedPrompt) -> str:
    return f"{listed.prompt.program.name} {listed.about.name}"


def _summary(listed: ListedPrompt) -> str:
    digest = listed.prompt.digest[:12]
    return f"about {listed.tokens} tokens, sha256 {digest}: {listed.about.source}"


def _prompt_lines(listed: ListedPrompt) -> Iterator[str]:
    about = listed.about
    yield f"{_name(listed)}: {about.source}"
    for key in ("reference", "licence", "agreement", "differs"):
        if value := getattr(about, key):
            yield f"{key}: {value}"
    yield f"sha256: {listed.prompt.digest}"
    yield f"tokens, estimated: {listed.tokens}, and {listed.schema_tokens} of the schema"
    for message in listed.prompt.blank():
        yield f"\n--- {message['role']}"
        yield from str(message["content"]).splitlines()

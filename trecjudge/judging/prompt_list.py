"""All prompts that there are, by program and name: what `prompts` shows and the pages list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from trecjudge.errors import WorkflowError, unknown
from trecjudge.models.adapters import AdapterName, Form
from trecjudge.models.model import Program
from trecjudge.models.overrides import OWN, NamedPrompt, named_prompts
from trecjudge.models.prompt import Prompt, Prompts
from trecjudge.models.spending import estimated_tokens


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

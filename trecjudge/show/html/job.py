"""What a report says of its job: judges, model, prompts, inputs, counts, from config and log."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trecjudge.settings.strict_yaml import written_yaml
from trecjudge.show.closing import voter_lines
from trecjudge.text.credentials import public, shareable

FOLDERS = re.compile(r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?:[^/\\,]+[/\\])+")
"""The folders of an absolute path: a report goes to others."""

Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Names with their values under a title; `folded` where most readers want none of them."""

    title: str
    rows: Rows
    folded: bool = False


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt of the job: its program, the sha256 of it, and its words where the log has them."""

    program: str
    digest: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class JobShown:
    """All that the page says of its job; nothing where there was no config."""

    sections: Sequence[Section] = ()
    prompts: Sequence[SentPrompt] = ()


NOTHING_KNOWN = JobShown()


def job_shown(config: Mapping[str, Any], prompts: Mapping[str, str]) -> JobShown:
    """Return what a job's config says, as text, without keys and without folders of this machine.

    `prompts` are the words of each program's prompt, from the log.
    """
    if not config:
        return NOTHING_KNOWN
    config = shareable(config)
    sections = [section for section in _sections(config) if section.rows]
    digests = _digests(config)
    names = dict.fromkeys([*map(str, digests), *prompts])
    found = [SentPrompt(n, str(digests.get(n, "")), prompts.get(n, "")) for n in names]
    return JobShown(sections, found)


def _digests(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each prompt; those of voters have the voter's name."""
    model = _mapping(config.get("model"))
    found = dict(_mapping(model.get("prompts_sha256")))
    for voter, own in _mapping(model.get("voters")).items():
        digests = _mapping(_mapping(own).get("prompts_sha256"))
        found |= {f"{program} ({voter})": digest for program, digest in digests.items()}
    return found


def _of_model(config: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what the model was or, of several voters, what each was."""
    model = _mapping(config.get("model"))
    voters = _mapping(model.get("voters"))
    named = {f"Voter {name}": own for name, own in voters.items()} or {"Model": model}
    none = "none: it judges by words" if voters else "none: no model was asked"
    for title, own in named.items():
        rows = {name: v for name, v in _mapping(own).items() if name != "prompts_sha256"}
        # Only where each is from: demonstrations hold texts of documents.
        prompts = _mapping(rows.pop("prompts", None))
        rows["prompts"] = {name: str(_mapping(one).get("from")) for name, one in prompts.items()}
        yield Section(title, _rows(rows) or (("model", none),))


def _sections(config: Mapping[str, Any]) -> Iterator[Section]:
    counts = dict(_mapping(config.get("counts")))
    calls, voters = _mapping(counts.pop("model", None)), counts.pop("voters", None)
    written = moment(str(config.get("written") or ""))
    command = config.get("command_line") or []
    words = [without_folders(str(word)) for word in command] if isinstance(command, list) else []
    when = _rows({"written": written, "seconds": counts.pop("seconds", None)})
    how = [("command line", shlex.join(words))] if words else []
    yield Section("When and how", [*when, *how])
    for name, settings in _mapping(config.get("judges")).items():
        yield Section(f"Judge {name}", _rows(settings) or (("settings", "none"),))
    yield from _of_model(config)
    if isinstance(voters, list):
        lines = (line.strip().partition(": ") for line in voter_lines(voters))
        yield Section("Agreement of voters", [(who, what) for who, _, what in lines])
    yield Section("Calls and cost", _in_words(calls))
    yield Section("Counts", _in_words(counts))
    yield Section("Audit: the judge on labelled items", _rows(config.get("audit")))
    yield Section("Workflow", _rows(config.get("workflow")))
    yield Section("Versions", _rows(config.get("versions")))
    yield Section("Inputs", _rows(config.get("inputs")))
    digests = _mapping(config.get("inputs_sha256"))
    title = f"Files of the inputs with their sha256 ({len(digests)})"
    # A list: two folders may have a file of one name.
    files = [(without_folders(str(path)), str(digest)) for path, digest in digests.items()]
    yield Section(title, files, folded=True)


def without_folders(text: str) -> str:
    """Return a text with only the last name of each absolute path, and no secret."""
    return FOLDERS.sub(".../", public(text))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(values: object) -> Rows:
    """Return settings with their values as text; what is empty is left out."""
    return [
        (str(name), _show_value(value))
        for name, value in _mapping(values).items()
        if value not in (None, "", [], {})
    ]


def _in_words(counts: Mapping[str, Any]) -> Rows:
    """Return counts as rows, with words for the names that they have in files."""
    return [(name.replace("_", " "), text) for name, text in _rows(counts)]


def moment(written: str) -> str:
    """Return a time as people read it: 2026-01-31 12:30:00 UTC."""
    return written.replace("T", " ").replace("+00:00", " UTC")


def _show_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return without_folders(written_yaml(value).rstrip())
    if isinstance(value, list):
        return "\n".join(map(_show_value, value))
    return without_folders(str(value))

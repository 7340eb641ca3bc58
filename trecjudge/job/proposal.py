"""A workflow for what lies in a folder, with why, and the command that runs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from trecjudge.findings import plural
from trecjudge.job.found import FoundInputs, Kind
from trecjudge.job.schema import SCHEMA_FILE
from trecjudge.job.workflow import WORKFLOWS, read_workflow
from trecjudge.judging.judge import judge_class, make_judge, measures_of, settings_of, summary_of
from trecjudge.settings.strict_yaml import written_yaml

SCHEMA_LINE = "# yaml-language-server: $schema="
BANKS_OF = {
    **dict.fromkeys(("dragun_rubric", "criteria"), "rubric"),
    **dict.fromkeys(("nuggetizer", "rag25_nuggets"), "nuggets"),
}
"""The judge for each format of banks; for all others it is `argue`."""
FLAGS: dict[Kind, str] = {
    "run": "--rag-responses",
    "topics": "--rag-topics",
    "documents": "--documents",
    "nuggets": "--nuggets",
    "qrels": "--qrels",
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """The judge that fits a folder, and why."""

    folder: Path
    found: FoundInputs
    judge: str
    why: str

    def text(self, path: Path) -> str:
        """Return the text of the workflow's file, which is to lie at `path`."""
        settings, sort_by = self._settings()
        lines = [
            SCHEMA_LINE + _from(path.parent, SCHEMA_FILE),
            *(f"# {escape_unprintable(line)}" for line in self._found_lines()),
            f"# Judge {self.judge}: {summary_of(self.judge)}",
            f"# It fits since {self.why}.",
            f"judge: {self.judge}",
            "",
            "settings:",
            *(f"  {line}" for line in self._setting_lines(settings)),
            "",
            "leaderboard:",
            f"  sort_by: {sort_by}   # the measure that ranks the runs",
            "  on_missing: fix_aggregate   # a run without a response on a topic:"
            " fix_aggregate | default | warn | error",
            "",
            "# Hold back responses; exit status 4 where one is rejected:",
            f"# gate: {{reject_unless: {sort_by} >= 0.5}}",
            "# The model, where --use-env-llm asks one (OPENAI_BASE_URL, OPENAI_MODEL):",
            "# llm: {temperature: 0, max_tokens: 2048, in_flight: 32}",
        ]
        return "\n".join(lines) + "\n"

    def command(self, program: str, workflow: Path, name: str) -> str:
        """Return the command that runs it; `program` is how it was started."""
        words = [f"--workflow {quote_for_shell(workflow)}"]
        for kind, flag in FLAGS.items():
            paths = self.found.paths(kind)[: 1 if kind in ("topics", "qrels") else None]
            if paths and (kind != "qrels" or self.judge == "grounding"):
                words.append(f"{flag} {' '.join(map(quote_for_shell, paths))}")
        words.append(f"--out-dir out --name {name}")
        return " \\\n  ".join([program, *words])

    def _found_lines(self) -> Iterator[str]:
        found = self.found
        formats = ", ".join(f"{count} x {name}" for name, count in sorted(found.formats.items()))
        files = plural(len(found.of("run")), "run file")
        yield f"Written by `init` for {self.folder}: {files} ({formats}),"
        topics = plural(len(found.topic_ids), "topic")
        yield f"{plural(found.responses, 'response')} on {topics}. Beside them:"
        for kind in ("topics", "documents", "nuggets", "qrels", "labels"):
            paths = ", ".join(map(str, found.paths(kind)))
            more = "; --human FILE corrects the means by them" if kind == "labels" else ""
            yield f"  {kind}: {paths + more if paths else 'none found'}"
        if not found.of("documents") and not found.carries_text:
            yield "There is no text of documents: items that need it stay unjudged (--documents)."

    def _settings(self) -> tuple[dict[str, Any], str]:
        """Return settings and ranking measure: of the dataset's shipped workflow, else defaults."""
        own = WORKFLOWS / f"{self.judge}_{self.found.dataset}.yml"
        workflow = read_workflow(own) if own.is_file() else None
        judge = make_judge(self.judge, workflow.settings if workflow else {})
        chosen = workflow.leaderboard.get("sort_by") if workflow else None
        return settings_of(judge), chosen or measures_of(judge).ranked_by

    def _setting_lines(self, settings: dict[str, Any]) -> Iterator[str]:
        hints = get_type_hints(judge_class(self.judge))
        for key, value in settings.items():
            line = written_yaml({key: value}).strip()
            choices = " | ".join(map(str, _choices(hints[key])))
            yield f"{line}   # {choices}" if choices else line


def propose(folder: Path, found: FoundInputs) -> Proposal:
    """Return the judge for what was found; there are runs in it."""
    if found.banks:
        names = sorted(found.banks)
        judge = BANKS_OF.get(names[0], "argue")
        return Proposal(folder, found, judge, f"there are banks of nuggets ({', '.join(names)})")
    if not found.cited:
        why = "no response cites a document: its claims are looked for in all that it was given"
        return Proposal(folder, found, "grounding", why)
    if found.dataset == "rag":
        why = "the runs cite documents, and TREC RAG scores how well each sentence is supported"
        return Proposal(folder, found, "support", why)
    return Proposal(folder, found, "citation", "the runs cite documents")


def quote_for_shell(path: Path) -> str:
    """Return a path as a shell reads it: no flag, and one line whatever its name has in it."""
    name = str(path)
    word = f"./{name}" if name.startswith("-") else name
    if escape_unprintable(word) == word:
        return shlex.quote(word)
    data = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in "\\'" else f"\\x{byte:02x}"
        for byte in os.fsencode(word)
    )
    # What follows a hexadecimal escape is no digit of it in bash: it takes two at most.
    return f"$'{data}'"


def escape_unprintable(text: str) -> str:
    """Return a text as it can stand on one line of a file."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _choices(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(choice for part in get_args(hint) for choice in _choices(part))


def _from(folder: Path, file: Path) -> str:
    """Return the path of a file relative to a folder, or the full one where that is shorter."""
    try:
        near = os.path.relpath(file, folder.resolve())
    except ValueError:  # on another drive
        return file.as_posix()
    return min(near, str(file), key=len).replace(os.sep, "/")

"""What lies in a folder, by what files hold, and the workflow that is proposed for it."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from trecjudge.errors import InputError
from trecjudge.files import resolve_links
from trecjudge.findings import ignore, plural
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.formats.registry import format_named, format_of
from trecjudge.inputs.nuggets.bank_formats import bank_format_of
from trecjudge.inputs.pipelines.reading import first_records
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.sources.containers import Opened, first_line
from trecjudge.inputs.sources.paths import files_below, own_output
from trecjudge.inputs.sources.values import first_objects
from trecjudge.inputs.topics import read_topics
from trecjudge.inputs.topics.record import name_fields, topic_of
from trecjudge.job.schema import SCHEMA_FILE
from trecjudge.job.workflow import WORKFLOWS, datasets_in, read_workflow
from trecjudge.judging.judge import judge_class, make_judge, measures_of, settings_of, summary_of
from trecjudge.results.trec import is_json_qrels, read_grades
from trecjudge.settings.strict_yaml import written_yaml

# The runs, topics, documents, nuggets and labels of a folder, recognised by what files hold.
Kind = Literal["run", "topics", "documents", "nuggets", "qrels", "labels"]
LOOKED_AT = 200
"""Records of a file that are read to recognise what it holds."""
LABELS, QRELS = "a file of labels", "a qrels file"
"""Names in `own_output` of the kinds of files that other tools write too."""


@dataclass(slots=True)
class FoundInputs:
    """The files of a folder by what they hold, and what is known of its runs."""

    files: dict[Kind, list[Path]] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    """Run files by format."""
    banks: set[str] = field(default_factory=set)
    """The formats of the banks of nuggets."""
    topic_ids: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)
    responses: int = 0
    carries_text: bool = False
    """Whether the runs carry text of their documents."""

    @property
    def dataset(self) -> str:
        """The dataset of most runs, `any` where they are of none."""
        by_dataset: Counter[str] = Counter()
        for name, count in self.formats.items():
            by_dataset[format_named(name).DATASET] += count
        return by_dataset.most_common(1)[0][0] if by_dataset else "any"

    def of(self, kind: Kind) -> list[Path]:
        """Return the files of a kind."""
        return self.files.get(kind, [])

    def paths(self, kind: Kind) -> list[Path]:
        """Return the files of a kind; where they are all files of a folder, that folder instead."""
        return _by_folder(self.of(kind), [f for files in self.files.values() for f in files])


def discover(folder: Path) -> FoundInputs:
    """Return what lies in a folder. Raises InputError where there is no such folder."""
    found, others = FoundInputs(), []
    for path in files_below(folder):
        with suppress(OSError, InputError):  # what cannot be opened is not used
            kind = _kind_by_content(path)
            if kind is None:
                others.append(path)
            elif kind in ("run", "nuggets", "labels"):
                found.files.setdefault(kind, []).append(path)
    _read_runs(found)
    for path in found.of("nuggets"):
        for record in first_objects(path, 1):
            bank = bank_format_of(record)
            found.banks |= {bank.NAME} if bank else set()
    for path in others:
        with suppress(OSError, InputError):
            if kind := _kind_beside_runs(path, found):
                found.files.setdefault(kind, []).append(path)
    return found


def _kind_by_content(path: Path) -> Kind | Literal["ours"] | None:
    with closing(Opened(path)) as opened:
        own = own_output(opened)
        if own and own != QRELS:
            return "labels" if own == LABELS else "ours"
        if any(map(bank_format_of, first_objects(opened, 1))):
            return "nuggets"
        return "run" if any(map(format_of, first_records(opened, 1))) else None


def _read_runs(found: FoundInputs) -> None:
    if not found.of("run"):
        return
    # Without backups, as a job reads them.
    files = find_runs(found.of("run"))

    def taken(path: Path, format_name: str, why: str) -> None:
        found.formats[format_name] += 1

    for _, response in RunReader(files, ignore, taken=taken):
        found.responses += 1
        found.topic_ids.add(response.topic_id)
        found.cited.update(response.named_ids())
        found.carries_text |= any(document.has_text for document in response.documents.values())


def _kind_beside_runs(path: Path, found: FoundInputs) -> Kind | None:
    """Return the kind of a file by the topics that the runs answer; None where it is no input."""
    records = first_objects(path, LOOKED_AT)
    if is_json_qrels(path) or not records:
        return _table_kind(path, found)
    topics = {topic[0].topic_id for r in records if (topic := topic_of(name_fields(r)))}
    documents = [document for r in records if (document := document_of(r)) is not None]
    if topics & found.topic_ids:
        return "topics"
    # Not by what is cited: of a large collection hardly one of the first documents is.
    return "documents" if any(document.text for document in documents) else None


def _table_kind(path: Path, found: FoundInputs) -> Kind | None:
    columns = first_line(path).split()
    # Our own qrels have a run in the second column: they are outputs.
    if is_json_qrels(path) or (len(columns) == 4 and columns[1] in (b"0", b"Q0")):
        graded = read_grades(path, ignore)
        if set(graded) & found.topic_ids:
            return "qrels"
    return "topics" if set(read_topics(path, ignore)) & found.topic_ids else None


def _by_folder(files: Sequence[Path], every: Sequence[Path]) -> list[Path]:
    """Return the files; where a folder holds several of them and no others, the folder instead."""
    of_kind, in_all = _counts(files), _counts(every)
    folders = {
        folder
        for folder in {file.parent for file in files}
        if in_all[folder] > 1 and in_all[folder] == of_kind[folder] == len(files_below(folder))
    }
    return list(dict.fromkeys(f.parent if f.parent in folders else f for f in files))


def _counts(files: Sequence[Path]) -> Counter[Path]:
    return Counter(folder for file in set(files) for folder in file.parents)


# A workflow for what lies in a folder, with why, and the command that runs it.
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
        settings, sort_by, named = self._settings()
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
            f"  {'' if named else '# '}sort_by: {sort_by}   # the measure that ranks the runs",
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
            more = "; --labels FILE corrects the means by them" if kind == "labels" else ""
            yield f"  {kind}: {paths + more if paths else 'none found'}"
        if not found.of("documents") and not found.carries_text:
            yield "There is no text of documents: items that need it stay unjudged (--documents)."

    def _settings(self) -> tuple[dict[str, Any], str, bool]:
        """Return settings and ranking measure: of the dataset's shipped workflow, else defaults.

        The third is whether that workflow names the measure.
        """
        own, dataset = WORKFLOWS / f"{self.judge}.yml", self.found.dataset
        known = own.is_file() and dataset in datasets_in(own)
        workflow = read_workflow(own, dataset) if known else None
        judge = make_judge(self.judge, workflow.settings if workflow else {})
        chosen = workflow.leaderboard.get("sort_by") if workflow else None
        return settings_of(judge), chosen or measures_of(judge).ranked_by, bool(chosen)

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
        near = os.path.relpath(file, resolve_links(folder))
    except ValueError:  # on another drive
        return file.as_posix()
    return min(near, str(file), key=len).replace(os.sep, "/")

"""Parts of a job put together, byte for byte what one process would have written."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trecjudge.errors import InputError
from trecjudge.files import resolve_links, whole
from trecjudge.findings import KINDS
from trecjudge.inputs.sources.containers import chunks, lines
from trecjudge.job.shards.shard import digest_of_ids
from trecjudge.results.judgments import JudgmentsReader, JudgmentsWriter, end_line
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import DigestingFile, newest_form, open_output
from trecjudge.scores.summary import Summary, counts_of
from trecjudge.settings.fields import typed_fields
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, written_yaml, yaml_text
from trecjudge.text.credentials import shareable


# One part of a job by a command of its own: which responses it judges, and what it writes.
@dataclass(frozen=True, slots=True)
class ShardSummary:
    """A part of a job, judged and written: its counts, and the findings on all of the input.

    `filters` are the runs and topics that were asked for, where these are not all. `sha256` are
    digests of the part's files, unpacked; parts of older versions have none.
    """

    number: int
    of: int
    responses: int
    judgments: int
    unjudged: int
    spared: int
    findings: Mapping[str, int] = field(default_factory=dict)
    findings_by_run: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lost: int = 0
    bug: str = ""
    filters: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """3 if something was left unjudged, else 0."""
        return 3 if self.unjudged or self.lost or self.bug else 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self)


# Parts are carried from machine to machine, and people edit files: an edit must not pass for what a
# judge said. A digest shows mistakes, not forgery: whoever edits a file can write a new one.
def seal(config: str) -> str:
    """Return the text of a part's config with its own digest as the last line."""
    found = sha256(config.encode(errors="backslashreplace")).hexdigest()
    return f"{config}sha256: {found}\n"


def is_sealed(config: str) -> bool:
    """Return whether the text of a part's config is as it was written."""
    return config == seal(config[: config.rfind("sha256: ")])


# The files of shards put together, byte for byte what one process would have written.
RESPONSE = b'{"record":"response",'
"""How the line of a response begins."""


@dataclass(frozen=True, slots=True)
class JudgmentsPart:
    """A judgments file of a part, and what must be in it.

    `sha256` and `ids` are empty where they are not known: an older version wrote none. `ids` are a
    digest of the runs and topics of its responses.
    """

    path: Path
    responses: int
    judgments: int
    sha256: str = ""
    ids: str = ""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines but the last one. Raises InputError where the file is another one."""
        # Handed on before they are known to be right, since a file may be larger than the memory:
        # who writes them writes the whole, or nothing.
        found, ids, last = sha256(), [], b""
        for _, line in lines(self.path):
            if last:
                found.update(b"%b\n" % last)
                if self.ids and last.startswith(RESPONSE):
                    ids.append(_ids(last))
                yield last
            last = line
        end = end_line(self.responses, self.judgments, self.sha256)
        if last != end:
            was = f"its last line is not {end.decode()}"
            raise InputError(f"{self.path}: is cut or was changed: {was}")
        if self.sha256 and found.hexdigest() != self.sha256:
            raise self._edited_error(
                "its records are not those that were judged: their SHA-256 differs"
            )
        if self.ids and digest_of_ids(ids) != self.ids:
            raise self._edited_error("its responses are not those of this part")

    def _edited_error(self, why: str) -> InputError:
        return InputError(f"{self.path}: {why}; judge the part again")


def _ids(line: bytes) -> tuple[str, str]:
    try:
        record = orjson.loads(line)
        return str(record["run_id"]), str(record["topic_id"])
    except (orjson.JSONDecodeError, KeyError):
        return "", ""


def merge_judgments(file: BinaryIO, parts: Iterable[JudgmentsPart]) -> None:
    """Write a judgments file of the judgments of parts, in this order. Raises InputError."""
    writer = JudgmentsWriter(file)
    for number, part in enumerate(parts):
        body = part.lines()
        # All parts have the same header.
        writer.lines(islice(body, 1, None) if number else body)
        writer.responses += part.responses
        writer.judgments += part.judgments
    writer.end()


def append_files(paths: Iterable[Path], target: BinaryIO) -> str:
    """Append files, unpacked, to an open one; return the digest of what was added."""
    added = DigestingFile(target)
    for piece in (piece for path in paths for piece in chunks(path)):
        added.write(piece)
    target.flush()
    return added.sha256


# Parts that commands of their own wrote: do they belong together, and are all there?
CONFIG = re.compile(r"(?P<name>.+)\.shard-\d+-of-\d+\.config\.yml")
ASKED = (
    *("model", "temperature", "seed", "max_tokens", "most_tokens", "reasoning"),
    *("structured", "adapter", "extra_body"),
)
"""What decides the replies of a model; machines may ask it at other addresses."""
READ = ("dataset", "own_documents", "document_text", "keys")
"""How inputs are read."""


def _pick(*names: str) -> Callable[[Any], Any]:
    return lambda section: {name: section.get(name) for name in names}


ALIKE: Mapping[str, Callable[[Any], Any]] = {
    "versions": lambda value: value,
    "judges": lambda value: value,
    "workflow": _pick("ran"),
    "model": _pick(*ASKED),
    "inputs": _pick(*READ),
    "shard": _pick("filters"),
    # Machines may see the same files by other paths; in another order they are cut elsewhere.
    "inputs_sha256": lambda value: list(value.values()),
    "prompts": lambda value: value,
    "parts": lambda value: value,
}
"""Sections of the configs that must be alike, and what of them."""
OF_A_PART = ("shard", "prompts", "parts", "counts", "sha256")
"""Sections that the config of the whole does not take from one of its parts."""
CHANGED = "was changed since it was written"


@dataclass(frozen=True, slots=True)
class ShardOutput:
    """A part of a job on disk: its files, what its config says of it, and the whole config.

    It is `sealed` where its config is as it was written; None where that had no digest yet.
    """

    outputs: Outputs
    written: ShardSummary
    config: Mapping[str, Any]
    sealed: bool | None

    @property
    def judgments(self) -> Path:
        """Its judgments, packed or not."""
        return newest_form(self.outputs.judgments) or self.outputs.judgments

    @property
    def log(self) -> Path | None:
        """Its log, packed or not; None where it has none, or another job left one there."""
        own = "log" in self.written.sha256 or not self.written.sha256
        return newest_form(self.outputs.log) if own else None


def part_name(name: str, number: int, of: int) -> str:
    """Return what the files of a part are called."""
    return f"{name}.shard-{number}-of-{of}"


def read_parts(paths: Sequence[Path]) -> list[ShardOutput]:
    """Return the parts of folders, or of their files, in the order of the whole.

    Raises InputError where they are not all the parts of one job, each once.
    """
    found = (config for path in paths for config in _configs(path))
    configs = {resolve_links(config): config for config in found}
    parts = sorted(map(_part, configs.values()), key=lambda part: part.written.number)
    _check_all_there(parts, paths)
    for part in parts[1:]:
        _check_alike(part, parts[0])
    for part in parts:
        _check_sealed(part)
        _check_whole(part, parts[0])
    return parts


def missing_of_whole(parts: Sequence[ShardOutput]) -> Iterator[str]:
    """Yield why the whole has no log though some parts have one, and why edits are not seen."""
    without = [part for part in parts if part.log is None]
    if len(without) not in (0, len(parts)):
        few, name = f"{len(without)} of {len(parts)} parts", without[0].outputs.name
        yield f"no log is written: {few} have none, the first: {name}"
    if not any(part.written.sha256 for part in parts):
        yield "an older version wrote the parts: whether they were edited is not known"


def _configs(path: Path) -> Iterator[Path]:
    """Yield the configs that a path stands for: a folder, a config, or another file of a part."""
    if path.is_dir():
        yield from sorted(found for found in path.iterdir() if CONFIG.fullmatch(found.name))
        return
    stem = re.match(r"(.+\.shard-\d+-of-\d+)(\..*)?$", path.name)
    config = path.with_name(f"{stem[1]}.config.yml") if stem else path
    if stem is None or not config.is_file():
        raise InputError(
            f"{path}: is no finished part; give NAME.shard-I-of-N.config.yml, or its folder"
        )
    yield config


def _part(path: Path) -> ShardOutput:
    try:
        text = yaml_text(path)
        config = read_yaml(text).value
    except (OSError, UnicodeDecodeError, YamlFault) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    shard = config.get("shard") if isinstance(config, Mapping) else None
    if not isinstance(shard, Mapping):
        raise InputError(f"{path}: is the config of a whole job, of no part")
    try:
        written = ShardSummary(**typed_fields(ShardSummary, shard, f"{path}: shard"))
    except TypeError as error:
        raise InputError(f"{path}: shard: {error}") from error
    if odd := _odd_section(config, written):
        raise InputError(f"{path}: {odd} is not as a part has it; judge the part again")
    name = path.name.removesuffix(".config.yml")
    sealed = is_sealed(text) if "sha256" in config else None
    return ShardOutput(Outputs(path.parent, name), written, config, sealed)


def _odd_section(config: Mapping[str, Any], written: ShardSummary) -> str:
    """Return what in the config of a part is of another type than ours; "" if nothing is."""
    sections = (*(name for name in ALIKE if name not in ("prompts", "parts")), "counts")
    for name in sections:
        if not isinstance(config.get(name) or {}, Mapping):
            return name
    counts = config.get("counts") or {}
    if not all(map(_are_counts, ({"": counts.get("seconds", 0.0)}, counts.get("model") or {}))):
        return "counts"
    kinds = written.findings.keys() | written.findings_by_run.keys()
    return "findings" if kinds - KINDS.keys() else ""


def _are_counts(found: Any) -> bool:
    return isinstance(found, Mapping) and all(
        isinstance(number, int | float) and 0 <= number < math.inf for number in found.values()
    )


def _check_all_there(parts: Sequence[ShardOutput], paths: Iterable[Path]) -> None:
    if not parts:
        raise InputError(f"{', '.join(map(str, paths))}: no NAME.shard-I-of-N.config.yml there")
    of = parts[0].written.of
    if other := next((part for part in parts if part.written.of != of), None):
        raise InputError(
            f"{other.outputs.config}: is one of {other.written.of} parts,"
            f" {parts[0].outputs.config} one of {of}: give the parts of one job"
        )
    numbers = [part.written.number for part in parts]
    twice = {number for number in numbers if numbers.count(number) > 1}
    if twice:
        number = min(twice)
        both = [str(p.outputs.config) for p in parts if p.written.number == number]
        raise InputError(f"part {number} is there twice: {', '.join(both)}")
    if missing := sorted(set(range(1, of + 1)) - set(numbers)):
        few = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
        raise InputError(f"{len(missing)} of {of} parts are missing: {few}")
    # None has a digest where an older version wrote them; one that alone has none has lost it.
    bare = [part for part in parts if part.sealed is None or not part.written.sha256]
    if bare and any(part.written.sha256 for part in parts):
        path = bare[0].outputs.config
        raise InputError(f"{path}: {CHANGED}: its digest is missing; judge the part again")


def _check_alike(part: ShardOutput, first: ShardOutput) -> None:
    """Raise InputError where a part was judged in another way, or of other inputs."""
    for section, of in ALIKE.items():
        own, others = (of(one.config.get(section) or {}) for one in (part, first))
        if own != others:
            raise InputError(
                f"{part.outputs.config}: its {section}{_differing(own, others)} are not those of"
                f" {first.outputs.config}: they are no parts of one job"
            )


def _differing(own: Any, others: Any) -> str:
    """Return which keys of two sections differ, in brackets; "" for sections without keys."""
    if not isinstance(own, Mapping):
        return ""
    return f" ({', '.join(key for key in own | others if own.get(key) != others.get(key))})"


def _check_sealed(part: ShardOutput) -> None:
    """Raise InputError where the config of a part is not as it was written, or is another's."""
    own, path = part.written, part.outputs.config
    if part.sealed is False:
        raise InputError(f"{path}: {CHANGED}: its SHA-256 is another; judge the part again")
    if own.sha256 and not part.outputs.name.endswith(part_name("", own.number, own.of)):
        written = f"was written as part {own.number} of {own.of}"
        raise InputError(f"{path}: {written}: give its files the names that they had")


def _check_whole(part: ShardOutput, first: ShardOutput) -> None:
    """Raise InputError where the judgments of a part are of another header, or not there."""
    headers = [JudgmentsReader(one.judgments).header for one in (part, first)]
    if headers[0] != headers[1]:
        raise InputError(f"{part.judgments}: its header is not that of {first.judgments}")


def merge_parts(parts: Sequence[ShardOutput], outputs: Outputs) -> None:
    """Write the judgments and the log of the whole.

    Raises InputError, and writes neither, where a part has no file, or another one.
    """
    with ExitStack() as files:
        merge_judgments(
            files.enter_context(open_output(outputs.judgments)), map(_judgments_of, parts)
        )
        logs = {log: part.written.sha256.get("log") for part in parts if (log := part.log)}
        if len(logs) < len(parts):
            return
        whole_log = files.enter_context(open_output(outputs.log))
        for log, sha256 in logs.items():
            if append_files([log], whole_log) != sha256 and sha256:
                why = "is not the log that this part wrote: its SHA-256 is another"
                raise InputError(f"{log}: {why}; judge the part again")


def _judgments_of(part: ShardOutput) -> JudgmentsPart:
    own = part.written
    cut, sha256 = part.config.get("parts") or (), own.sha256.get("judgments", "")
    ids = str(cut[own.number - 1]) if len(cut) == own.of else ""
    return JudgmentsPart(part.judgments, own.responses, own.judgments, sha256, ids)


def complete_summary(parts: Sequence[ShardOutput], outputs: Outputs, summary: Summary) -> None:
    """Add to a summary what the parts found and spent, and write the config of the whole."""
    first = parts[0].written
    # Every part reads all runs: their findings are the same.
    found = Counter(summary.findings) + Counter(first.findings)
    summary.findings = dict(sorted(found.items()))
    summary.findings_by_run = {k: dict(v) for k, v in first.findings_by_run.items()}
    summary.lost = first.lost
    summary.bug = next((part.written.bug for part in parts if part.written.bug), "")
    summary.calls = _sum_spent(parts)
    summary.seconds = round(sum(_counts(part).get("seconds", 0.0) for part in parts), 3)
    for what in ("judgments", "log", "config"):
        path = getattr(outputs, what)
        if path.is_file() or what == "config":
            summary.files[what] = str(path)
    config = {k: v for k, v in parts[0].config.items() if k not in OF_A_PART}
    config["command_line"] = [part.config.get("command_line") for part in parts]
    text = written_yaml(shareable(config | {"counts": counts_of(summary)}))
    with whole(outputs.config) as file:
        file.write(text.encode(errors="backslashreplace"))


def _counts(part: ShardOutput) -> Mapping[str, Any]:
    return part.config.get("counts") or {}


def _sum_spent(parts: Sequence[ShardOutput]) -> dict[str, Any]:
    spent: dict[str, Any] = {}
    for part in parts:
        for name, number in (_counts(part).get("model") or {}).items():
            spent[name] = spent.get(name, 0) + number
    return spent

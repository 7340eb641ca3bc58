"""Codes in the place of the names of runs and teams, and the names back, byte by byte."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError, why
from trecjudge.files import make_folder, open_regular, read_text, whole, whole_path
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.sources.containers import bare_name, chunks
from trecjudge.records import Place
from trecjudge.settings.fields import adapter_of

CODE = re.compile(rb"(?:run|team)-[0-9a-f]{8}(?![0-9a-f])")
FIELDS = ("run_id", "team_id", "run", "team", "runtag", "run_tag", "system", "system_id")
FIELD = re.compile(
    rb'("(?:%s)"\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d+)' % "|".join(FIELDS).encode(), re.DOTALL
)
"""A field that names a run or a team, and its value."""
LETTERS = rb"A-Za-z0-9\x80-\xff"
IN_JSON = (".json", ".jsonl", ".log")
JUDGMENTS = ".judgments.jsonl"
"""The end of a file whose last line has the sha256 of those before it."""
NO_RUN = "has no run that can be read; names of others are replaced in it"
SHORT = 4
"""Shorter names may be a part of anything."""
PACKED = (".gz", ".zst", ".bz2", ".xz", ".parquet", ".zip")


@dataclass(slots=True)
class Key:
    """What leads from names to codes and back; who has it knows the names.

    `codes` are by kind and name, `run:NAME`; `files` where files lay, by their new names.
    `forms` are the places where a name was not written as usual, as with `\\u00e9`: the bytes
    there, by new file, code and number of the occurrence.
    """

    secret: str
    codes: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    forms: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, make: bool = False) -> Key:
        """Return the key of a file, a new one where `make` and there is none. Raises InputError."""
        if make and not path.exists():
            return cls(secrets.token_hex(16))
        try:
            found: Key = adapter_of(Key).validate_json(read_text(path), strict=True)
            bytes.fromhex(found.secret)
            return found
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {why(error)}") from error
        except ValueError as error:
            raise InputError(f"{path}: is no key, as `job anonymise` writes it") from error

    def write(self, path: Path) -> None:
        """Write it for this user only."""
        content = {name: getattr(self, name) for name in ("secret", "codes", "files", "forms")}
        with whole_path(path, private=True) as partial:
            partial.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))

    def code(self, kind: str, name: str, taken: set[str]) -> str:
        """Return the code of a run or a team: the same for the same secret, not among `taken`."""
        named, number = f"{kind}:{name}", 0
        while named not in self.codes:
            text = f"{named}:{number}".encode()
            digest = hmac.new(bytes.fromhex(self.secret), text, hashlib.sha256).hexdigest()
            code, number = f"{kind}-{digest[:8]}", number + 1
            if code not in taken and code not in self.codes.values():
                self.codes[named] = code
        return self.codes[named]


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The new files, and of names that may be words how often each stands in texts still."""

    files: Sequence[Path]
    left: Mapping[str, int]


def anonymise(
    runs: Sequence[Path], folder: Path, key: Key, words: Sequence[str], report: OnFinding = ignore
) -> Anonymised:
    """Write run files with codes in the place of the names of their runs and teams.

    In fields a name is always replaced; in texts and ids of documents only one that can be no word,
    such as `team-7b`, and those of `words`. What lies beside a run, such as what it retrieved, goes
    with it. Packed files are written unpacked. Raises InputError for what cannot be.
    """
    files = find_runs(runs, report)
    named = [(path, _names(path, report)) for path in files]
    taken = {code.decode() for path in files for line in _raw(path) for code in CODE.findall(line)}
    for _, (run_ids, teams) in named:
        for kind, names in (("run", run_ids), ("team", teams)):
            for name in names:
                key.code(kind, name, taken)
    swap = _Swap.of(key, words)
    written: list[Path] = []
    left = Counter[str]()
    make_folder(folder)
    top = os.path.commonpath([path.absolute().parent for path in files])
    new, old = set[str](), set[str]()
    for path, (run_ids, _) in named:
        stem = key.codes[f"run:{run_ids[0]}"] if len(run_ids) == 1 else f"runs-{len(written) + 1}"
        # Two teams may call a run, or a file, by one name.
        target = folder / _untaken(Path(f"{stem}.jsonl"), new)
        for source, to in _with_beside(path, target):
            below = source.absolute().relative_to(top).with_name(_unpacked_name(source))
            key.files[to.name] = str(_untaken(below, old))
            key.forms[to.name] = swap.write(source, to, left)
            written.append(to)
    return Anonymised(written, left)


def _untaken(path: Path, taken: set[str]) -> Path:
    """Return a path, with a number where it is among those `taken`; add it to them."""
    found, number = path, 2
    while str(found).casefold() in taken:  # some file systems know no case
        found, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    taken.add(str(found).casefold())
    return found


def _with_beside(path: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    yield path, target
    for beside in (retrieved_path, provenance_path):
        if (source := beside(path)).is_file():
            yield source, beside(target)


def _unpacked_name(path: Path) -> str:
    bare = bare_name(path)
    ending = next((s for s in path.suffixes if s not in PACKED), ".jsonl")
    return path.name if path.suffix not in PACKED else f"{bare}{ending}"


def _names(path: Path, report: OnFinding) -> tuple[list[str], list[str]]:
    reader = RunReader([path], ignore)
    for _ in reader:
        pass
    if not reader.runs:
        report(Finding("file_not_a_run", Place(str(path)), NO_RUN))
    return sorted(reader.runs) or [path.stem], sorted({t for t in reader.runs.values() if t})


def _raw(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file as they are, unpacked, each with its end."""
    if path.suffix not in PACKED:
        with open_regular(path) as file:
            yield from file
        return
    rest = b""
    for chunk in chunks(path):  # not as `lines`: blank lines and the last line's end are kept
        *ended, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in ended)
    if rest:
        yield rest


@dataclass(frozen=True)
class _Swap:
    """Puts codes for names into lines of JSON: in fields, and where a name can be no word."""

    codes: Mapping[str, str]
    """The code of a name in a field; that of a run where a team has the same name."""
    in_texts: re.Pattern[bytes] | None
    forms: Mapping[bytes, str]
    """The code of each way in which a name is written in JSON."""
    wordlike: re.Pattern[bytes] | None

    @classmethod
    def of(cls, key: Key, words: Sequence[str]) -> _Swap:
        codes: dict[str, str] = {}
        for named, code in sorted(key.codes.items()):
            codes.setdefault(named.partition(":")[2], code)
        clear = [name for name in codes if not _may_be_word(name) or name in words]
        forms = {form: codes[name] for name in clear for form in _written(name)}
        unclear = [form for name in codes if name not in clear for form in _written(name)]
        return cls(codes, _any_of(forms), forms, _any_of(unclear))

    def write(self, source: Path, target: Path, left: Counter[str]) -> dict[str, dict[str, str]]:
        """Write a file with codes; return the forms that are not the usual ones."""
        seen, odd = Counter[str](), dict[str, dict[str, str]]()

        def code_for(form: bytes, code: str, usual: bytes) -> bytes:
            if form != usual:
                odd.setdefault(code, {})[str(seen[code])] = form.decode("utf-8", "surrogateescape")
            seen[code] += 1
            return code.encode()

        def text(found: re.Match[bytes]) -> bytes:
            code = self.forms[found[0]]
            return code_for(found[0], code, self._usual[code])

        with whole(target) as file:
            for number, line in enumerate(_raw(source), 1):
                file.write(self._line(line, f"{source}:{number}", code_for, text, left))
        return odd

    @property
    def _usual(self) -> Mapping[str, bytes]:
        return {code: _json_form(name) for name, code in self.codes.items()}

    def _line(self, line: bytes, where: str, code_for: Any, text: Any, left: Counter[str]) -> bytes:
        """Return a line with codes, in the order in which they stand: fields and texts in turn."""
        parts, at = [], 0

        def between(part: bytes) -> bytes:
            if self.wordlike is not None:
                left.update(match.decode() for match in self.wordlike.findall(part))
            return self.in_texts.sub(text, part) if self.in_texts is not None else part

        for found in FIELD.finditer(line):
            value = found[2]
            try:
                name = json.loads(value) if value.startswith(b'"') else value.decode()
            except ValueError:  # such as bytes that are no UTF-8: no reader takes it for a name
                continue
            code = self.codes.get(str(name).strip())
            if code is None:
                continue
            if not value.startswith(b'"'):
                raise InputError(f"{where}: the name {name} is a number; put it in quotes")
            parts.append(between(line[at : found.start(2)]))
            parts.append(b'"%b"' % code_for(value[1:-1], code, _json_form(str(name).strip())))
            at = found.end(2)
        parts.append(between(line[at:]))
        return b"".join(parts)


def _may_be_word(name: str) -> bool:
    """Return whether a name is written as a word or a number may be: `combined`, `Auto`, `7`."""
    is_plain = name.isalpha() and not any(map(str.isupper, name[1:]))
    return is_plain or name.isdigit() or len(name) < SHORT


def _json_form(name: str) -> bytes:
    return orjson.dumps(name)[1:-1]


def _written(name: str) -> set[bytes]:
    return {_json_form(name), json.dumps(name)[1:-1].encode()}


def _any_of(forms: Sequence[bytes] | Mapping[bytes, str]) -> re.Pattern[bytes] | None:
    """Return a pattern of any of these, the longest first, with no letter or digit around it.

    A letter before it may be that of an escape, as of a new line.
    """
    if not forms:
        return None
    longest = b"|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))
    return re.compile(rb"(?:(?<![%b])|(?<=\\[nrtbf]))(?:%b)(?![%b])" % (LETTERS, longest, LETTERS))


def name_again(paths: Sequence[Path], folder: Path, key: Key) -> list[Path]:
    """Write files with the names in the place of the codes; return the new files.

    Run files that `anonymise` wrote become what they were, byte by byte. Files of a job may be
    given too, or folders. Raises InputError for a packed file.
    """
    names = {code: named.partition(":")[2] for named, code in key.codes.items()}
    written = []
    for path, below in _files_below(paths):
        if path.suffix in PACKED:
            raise InputError(f"{path}: is packed; unpack it first")
        target = folder / below.parent / key.files.get(below.name, below.name)
        if not target.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path}: its name in the key, {str(target)!r}, leads out of {folder}")
        make_folder(target.parent)
        forms = key.forms.get(path.name, {})
        with whole(target) as file:
            for line in signed(_lines_named(path, names, forms), path):
                file.write(line)
        written.append(target)
    return written


def _files_below(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield files, those of folders too, each with its place below what was given."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else []
        yield from ((one, one.relative_to(path)) for one in inside)
        if not path.is_dir():
            yield path, Path(path.name)


def _lines_named(
    path: Path, names: Mapping[str, str], forms: Mapping[str, Mapping[str, str]]
) -> Iterator[bytes]:
    seen = Counter[str]()

    def name(found: re.Match[bytes]) -> bytes:
        code = found[0].decode()
        if code not in names:
            return found[0]
        form = forms.get(code, {}).get(str(seen[code]))
        seen[code] += 1
        if form is not None:
            return form.encode("utf-8", "surrogateescape")
        if path.suffix in IN_JSON:
            return _json_form(names[code])
        plain = names[code]
        return (html.escape(plain) if path.suffix == ".html" else plain).encode()

    with open_regular(path) as file:
        for line in file:
            yield CODE.sub(name, line)


def signed(given: Iterator[bytes], path: Path) -> Iterator[bytes]:
    """Yield lines; of a job's judgments the last one has the sha256 of those before it again."""
    if not path.name.endswith(JUDGMENTS):
        yield from given
        return
    digest = hashlib.sha256()
    for line in given:
        if line.startswith(b'{"record":"end"'):
            end = orjson.loads(line)
            if "sha256" in end:
                end["sha256"] = digest.hexdigest()
            line = orjson.dumps(end, option=orjson.OPT_APPEND_NEWLINE)
        digest.update(line)
        yield line

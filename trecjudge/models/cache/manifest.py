"""The manifest of a published cache: what it holds, and the sha256 of its content."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.models.cache.foreign import ReadCache
from trecjudge.models.cache.rows import COLUMNS
from trecjudge.settings.json_files import read_json_file
from trecjudge.version import __version__

MANIFEST = "manifest.json"
FORMAT = 1
MOST_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Content:
    """What a cache holds; provenance that was never noted is left out.

    `sha256` is taken over lines of JSON arrays: every reply by its key, then what is known of
    endpoints. So equal content has the same one, even if the files differ.
    """

    sha256: str = ""
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_written: str = ""
    last_written: str = ""
    endpoints: dict[str, int] = field(default_factory=dict)
    models: dict[str, int] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)
    prompts_sha256: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)


def content_of(cache: ReadCache) -> Content:
    """Return what a cache holds. Raises InputError where it is damaged."""
    digest, counts, prompts = hashlib.sha256(), defaultdict[str, Counter[str]](Counter), set()
    found = Content()
    times: list[int] = []
    for row in cache.rows():
        digest.update(orjson.dumps(row[: len(COLUMNS)], option=orjson.OPT_APPEND_NEWLINE))
        _, _, tokens_in, tokens_out, endpoint, model, written, program, _, prompt, *more = row
        version, source, _ = more
        found.replies += 1
        found.prompt_tokens += tokens_in
        found.completion_tokens += tokens_out
        values = (endpoint, model, program, version, source)
        for name, value in zip(_COUNTED, values, strict=True):
            counts[name][value] += 1
        prompts.add((program, prompt))
        times = [min(times[0], written), max(times[1], written)] if times else [written, written]
    for ability in cache.abilities():
        digest.update(orjson.dumps(ability, option=orjson.OPT_APPEND_NEWLINE))
    for name in _COUNTED:
        setattr(found, name, {v: n for v, n in sorted(counts[name].items()) if v})
    for program, prompt in sorted(prompts):
        if prompt:
            found.prompts_sha256.setdefault(program, []).append(prompt)
    found.first_written, found.last_written = map(_time, times) if times else ("", "")
    found.sha256 = digest.hexdigest()
    return found


_COUNTED = ("endpoints", "models", "programs", "versions", "sources")


def _time(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def write_manifest(folder: Path) -> Content:
    """Write the manifest of the cache in a folder; return its content."""
    cache = ReadCache(folder)
    try:
        content = content_of(cache)
    finally:
        cache.close()
    record = {"format": FORMAT, "written_by": f"trecjudge {__version__}"} | asdict(content)
    with whole(folder / MANIFEST) as file:
        file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return content


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest beside a cache, None where there is none. Raises InputError."""
    path = folder / MANIFEST
    try:
        record = read_json_file(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is no manifest that can be read: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("sha256"), str):
        raise InputError(f"{path}: is no manifest: it has no sha256")
    if record.get("format") != FORMAT:
        message = f"{path}: has format {record.get('format')!r}; this trecjudge knows {FORMAT}"
        raise InputError(message)
    return record


def differences(manifest: dict[str, Any], content: Content) -> list[str]:
    """Return the differences between a cache and its manifest, in words."""
    found = asdict(content)
    return [
        f"{name} is {_short(found[name])}, the manifest says {_short(manifest.get(name))}"
        for name in found
        if found[name] != manifest.get(name)
    ]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def checked_digest(cache: ReadCache) -> str:
    """Return the sha256 of a cache by its manifest, "" where it has none.

    Raises InputError where the content differs.
    """
    manifest = read_manifest(cache.folder)
    if manifest is None:
        return ""
    skipped = cache.skipped.copy()
    different = differences(manifest, content_of(cache))
    cache.skipped = skipped
    if different:
        raise InputError(
            f"{cache.path}: is not what its {MANIFEST} says: {different[0]};"
            f" see `cache verify {cache.folder}`"
        )
    return str(manifest["sha256"])

"""The files of a job without the text of answers, documents and questions, for anybody."""

from __future__ import annotations

import glob
import hashlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.inputs.anonymous import signed
from trecjudge.inputs.sources.containers import lines
from trecjudge.results.config import read_config
from trecjudge.results.jobs import JudgedJob
from trecjudge.results.outputs import Outputs
from trecjudge.settings.strict_yaml import written_yaml

KEPT = frozenset(
    (
        *("record", "event", "timestamp", "kind", "severity", "place", "level", "sha256"),
        *("run_id", "topic_id", "team_id", "doc_id", "document_id", "citation_id", "nugget_id"),
        *("judge", "attester", "label", "verdict", "status", "importance", "measure"),
        *("ranked_by", "model", "program", "retriever", "rules", "references", "retrieved"),
        "uncalibrated",
    )
)
"""Keys whose texts are names, labels and the like."""
SHORT = frozenset(("value", "citation"))
"""Keys whose texts are kept where they can be no sentence: marks of citations, as `[2]`."""
TOLD_APART = frozenset(("nugget", "question", "text", *SHORT))
"""Keys whose texts tell items apart: a digest stays of each."""
WHOLE = ("header", "session_start", "session_end", "end")
"""Records on the job itself: only the prompts in them may hold text of others, as examples."""


def without_text(job: JudgedJob, folder: Path) -> list[Path]:
    """Write a job's judgments, log, review, leaderboards, qrels and config without any text.

    Ids, labels, numbers, positions and digests stay; reasons, evidence, sentences, claims and
    questions go, and what stands in a record of a kind that is not known. Raises InputError where
    the folder is that of the job.
    """
    outputs, target = job.outputs, Outputs(folder, job.outputs.name)
    if folder.resolve() == outputs.folder.resolve():
        raise InputError(f"{folder}: is the folder of the job; give another one")
    folder.mkdir(parents=True, exist_ok=True)
    stripped = {
        outputs.judgments: target.judgments,
        outputs.log: target.log,
        outputs.review: target.review,
    }
    written = []
    for source, path in stripped.items():
        if source.is_file():
            with whole(path) as file:
                for line in signed(_stripped_lines(source), path):
                    file.write(line)
            written.append(path)
    qrels = outputs.folder.glob(f"{glob.escape(outputs.name)}*.qrels")
    for source in (outputs.leaderboard, outputs.statistics, *sorted(qrels)):
        if source.is_file():
            written.append(Path(shutil.copyfile(source, folder / source.name)))
    if record := read_config(outputs.config).record:
        with whole(target.config) as file:
            file.write(written_yaml(_without_examples(record)).encode(errors="backslashreplace"))
        written.append(target.config)
    return written


def _stripped_lines(path: Path) -> Iterator[bytes]:
    for _, line in lines(path):
        record = orjson.loads(line)
        on_job = record.get("record", record.get("event")) in WHOLE
        record = _without_examples(record) if on_job else _stripped(record, "")
        yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _without_examples(value: Any) -> Any:
    """Return what is told of a job; of prompts not a judge's own only where they are from.

    As they were sent they hold demonstrations, which are texts of answers and documents.
    """
    if not isinstance(value, Mapping):
        return value
    found = {name: _without_examples(inner) for name, inner in value.items()}
    if isinstance(prompts := found.get("prompts"), Mapping):
        found["prompts"] = {n: _only_from(prompt) for n, prompt in prompts.items()}
    return found


def _only_from(prompt: Any) -> Any:
    return {"from": prompt.get("from")} if isinstance(prompt, Mapping) else prompt


def _is_mark(text: str) -> bool:
    """Return whether a text can be no sentence; in many scripts one has no blank."""
    return text.isascii() and len(text.split()) <= 1


def _stripped(value: Any, key: str) -> Any:
    """Return a value without texts that are not names: empty ones stand in their places."""
    if isinstance(value, dict):
        return {name: _stripped(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        kept = [_stripped(inner, key) for inner in value]
        return [inner for inner in kept if inner != ""]
    if not isinstance(value, str) or key in KEPT or (key in SHORT and _is_mark(value)):
        return value
    if key in TOLD_APART and value:
        return hashlib.sha256(value.encode()).hexdigest()[:16]
    return ""

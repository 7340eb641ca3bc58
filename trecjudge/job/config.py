"""The config file: all that is needed to repeat a job."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from trecjudge.files import fixed_time, whole
from trecjudge.inputs.pipelines.fields import record_keys
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.job.request import Job
from trecjudge.job.session import Session
from trecjudge.job.shards.merging import seal
from trecjudge.job.workflow import KEYS
from trecjudge.judging.panel import calibrations, importances, panel_settings
from trecjudge.models.documents.opening import source_name
from trecjudge.settings.strict_yaml import written_yaml
from trecjudge.text.credentials import shareable
from trecjudge.version import __version__

PACKAGES = ("dspy", "aiohttp", "PyStemmer", "wordllama")
"""Packages whose version can change a judgment."""
CHOSEN = ("variants", "sweeps", "datasets")
"""Sections of a workflow that a job takes one entry of."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a judgment."""
    found = {"python": platform.python_version(), "trecjudge": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def file_digest(path: Path, checksums: Checksums) -> str:
    """Return the sha256 of a file, as it lies on disk."""
    try:
        return checksums.of(path)
    except OSError as error:  # reported as a finding already
        return f"cannot be read: {error.strerror}"


def config_head(session: Session, checksums: Checksums) -> dict[str, Any]:
    """Return what is known of a job before it judges: versions, command line, judges, inputs."""
    job, settings = session.job, panel_settings(session.panel)
    return {
        "versions": versions(),
        "command_line": list(job.command_line),
        "judges": dict(settings),
        "workflow": _workflow_record(job, settings, checksums),
        "model": session.model.record(),
        "inputs": _inputs(job),
    }


def write_config(session: Session, checksums: Checksums, sections: Mapping[str, Any]) -> None:
    """Write the config of a finished job, with more sections and without secrets."""
    job = session.job
    inputs = [*session.inputs.paths, *calibrations(session.panel)]
    inputs += [Path(found.path) for found in importances(session.panel)]
    config = {
        "written": fixed_time() or datetime.now(UTC).isoformat(timespec="seconds"),
        **config_head(session, checksums),
        # They show later whether a repeated job had the same inputs.
        "inputs_sha256": {str(path): file_digest(path, checksums) for path in inputs},
        **sections,
    }
    text = written_yaml(shareable(config))
    if job.shard is not None:
        text = seal(text)
    with whole(job.outputs.config) as file:
        file.write(text.encode(errors="backslashreplace"))


def _inputs(job: Job) -> dict[str, Any]:
    """Return the inputs by kind, as given: the report reads topics and documents from there."""
    keys = record_keys()
    return {
        "topics": str(job.topics) if job.topics else None,
        "runs": list(map(str, job.runs)),
        "documents": list(map(source_name, job.documents)),
        "own_documents": job.own_documents,
        "dataset": job.dataset,
        **({"keys": dict(keys)} if keys else {}),
        "document_text": job.document_text,
    }


def _workflow_record(job: Job, settings: Mapping[str, Any], checksums: Checksums) -> dict[str, Any]:
    """Return the workflow's file, the variant or point that ran, and the workflow as it ran.

    The part `ran` can be run as a workflow: it has all settings of the judges, and no variants.
    """
    path, names = job.workflow.path, list(settings)
    whole = {
        "judge": names[0] if len(names) == 1 else names,
        "settings": dict(settings[names[0]] if len(names) == 1 else settings),
    }
    rest = {name: getattr(job.workflow, name) for name in KEYS if name not in (*whole, *CHOSEN)}
    return {
        "file": str(path) if path else None,
        "sha256": file_digest(path, checksums) if path else None,
        **({"dataset": job.workflow.dataset} if job.workflow.dataset else {}),
        **job.chosen,
        "ran": whole | {name: value for name, value in rest.items() if value},
    }

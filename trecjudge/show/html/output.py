"""The config and the log of a job, read again from disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.inputs.sources.containers import lines
from trecjudge.records import Place
from trecjudge.results.packed import newest_form
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, yaml_text


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """The input paths of a job, from which its texts can be read again.

    `document_text` allows text of documents in the files written, `own_documents` is whether the
    text that a run carries was judged where `documents` has one too. `keys` are those given for the
    parts of a record.
    """

    topics: Path | None = None
    runs: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    dataset: str = "auto"
    document_text: bool = True
    own_documents: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)

    def without_folders(self, text: str) -> str:
        """Return a text without the folders of the inputs: a report goes to others."""
        for path in filter(None, (self.topics, *self.runs, *self.documents)):
            if len(path.parts) > 1 and len(path.parent.name) > 0:
                text = text.replace(f"{path.parent}/", "")
        return text


@dataclass(frozen=True, slots=True)
class Config:
    """What a report shows of a job's config; empty where there is no config file."""

    written: str = ""
    model: str = ""
    inputs: ReportInputs = ReportInputs()
    findings: Mapping[str, int] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """All that the file holds."""


def read_config(path: Path) -> Config:
    """Return the contents of a config file. Raises InputError where it is none."""
    if not path.is_file():
        return Config()
    try:
        loaded = read_yaml(yaml_text(path)).value
        given, model = loaded.get("inputs") or {}, loaded.get("model") or {}
        inputs = ReportInputs(
            Path(given["topics"]) if given.get("topics") else None,
            tuple(map(Path, given.get("runs") or ())),
            tuple(map(Path, given.get("documents") or ())),
            given.get("dataset") or "auto",
            given.get("document_text") is not False,
            given.get("own_documents") is True,
            given.get("keys") or {},
        )
        findings = (loaded.get("counts") or {}).get("findings") or {}
        written, named = str(loaded.get("written", "")), str(model.get("model", ""))
        return Config(written, named, inputs, findings, loaded)
    except YamlFault as error:
        place = Place(str(path), error.line)
        raise InputError(f"{place}: is not the config of a job: {error}") from error
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: is not the config of a job: {error}") from error


def read_log(path: Path, handlers: Mapping[str, Callable[[dict[str, Any]], None]]) -> bool:
    """Pass each event of a log, packed or not, on to `handlers`; return False where there is none.

    Events of other names, most of a log, are not parsed, which saves most of the time. A line that
    cannot be read, as the last one of a job that broke off, is passed over. Raises InputError for a
    packed log that is cut.
    """
    found = newest_form(path)
    if found is None:
        return False
    heads = {b'{"event":"%s"' % name.encode(): handle for name, handle in handlers.items()}
    length = max(map(len, heads))
    for _, line in lines(found):
        handle = next((h for head, h in heads.items() if line[:length].startswith(head)), None)
        if handle is not None:
            try:
                event = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if not event.get("audit"):  # what was judged to try the judge is no part of the job
                handle(event)
    return True

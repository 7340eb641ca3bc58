"""The config file of a job, read again: which inputs it read, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.records import Place
from trecjudge.settings.strict_yaml import YamlFault, read_yaml, yaml_text


@dataclass(frozen=True, slots=True)
class RecordedInputs:
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

    @classmethod
    def given(
        cls,
        topics: Path | None,
        runs: Sequence[Path],
        documents: Sequence[Path],
        dataset: str,
    ) -> RecordedInputs | None:
        """Return the paths that somebody gives in the place of those of a job; None without any."""
        if not (topics or runs or documents):
            return None
        return cls(topics, tuple(runs), tuple(documents), dataset)

    def moved_to(self, given: RecordedInputs | None) -> RecordedInputs:
        """Return them with the paths that are given now; how the job read them stays."""
        if given is None:
            return self
        return replace(
            self,
            topics=given.topics or self.topics,
            runs=given.runs or self.runs,
            documents=given.documents or self.documents,
            dataset=given.dataset,
        )

    def without_folders(self, text: str) -> str:
        """Return a text without the folders of the inputs: a report goes to others."""
        for path in filter(None, (self.topics, *self.runs, *self.documents)):
            if len(path.parts) > 1 and len(path.parent.name) > 0:
                text = text.replace(f"{path.parent}/", "")
        return text


@dataclass(frozen=True, slots=True)
class Config:
    """What a job's config says; empty where there is no config file."""

    written: str = ""
    model: str = ""
    inputs: RecordedInputs = RecordedInputs()
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
        inputs = RecordedInputs(
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

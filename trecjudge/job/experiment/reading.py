"""Experiment files: what is varied, on which documents and topics, and who judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.generate.answers import PROGRAMS, AnswerSettings
from trecjudge.baseline.generate.formats import FORMATS, NEWEST, RunFormat, format_for
from trecjudge.baseline.records import Chosen
from trecjudge.baseline.retrieve.ranking import GRADE_PASSAGES
from trecjudge.baseline.retrieve.retriever import RetrieverSettings
from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.findings import brief
from trecjudge.inputs.documents.index_file import names_index
from trecjudge.job.request import load_workflow
from trecjudge.job.sweep import suffix_of
from trecjudge.job.workflow import Workflow, prompt_beside
from trecjudge.records import Place
from trecjudge.settings.fields import ranged, typed_fields
from trecjudge.settings.strict_yaml import read_yaml_file

Vectors = Literal["none", "semantic", "endpoint"]
OF_AN_INDEX = ("chunk_size", "chunk_overlap", "vectors")
"""Settings that decide what an index holds."""
PROMPTS = [program.name for program in (*PROGRAMS, GRADE_PASSAGES)]
"""The prompts that a variant may have of its own."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The settings of a variant; `chunk_overlap` None is 30, or half a chunk where that is less.

    `extractive` asks no model for the answers, even where there is one. `llm` and `prompts` stand
    above those of the workflow.
    """

    chunk_size: int = ranged(220, 10)
    chunk_overlap: int | None = None
    vectors: Vectors = "none"
    retriever: Chosen = "auto"
    min_score: float | None = None
    top: int = ranged(20, 1)
    recency: float = ranged(0.0, 0)
    rerank: int = ranged(0, 0)
    rerank_by: Literal["model", "endpoint"] = "model"
    max_words: int | None = ranged(None, 1)
    rounds: int = ranged(0, 0)
    mask_pii: bool = False
    extractive: bool = False
    llm: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str | dict[str, Any]] = field(default_factory=dict)

    @property
    def chunking(self) -> ChunkSettings:
        """How documents are cut. Raises InputError for an overlap that does not suit."""
        overlap = self.chunk_overlap
        usual = min(ChunkSettings().overlap, self.chunk_size // 2)
        return ChunkSettings(self.chunk_size, usual if overlap is None else overlap)

    @property
    def retrieving(self) -> RetrieverSettings:
        """How passages are found."""
        return RetrieverSettings(
            self.retriever,
            self.min_score,
            rerank=self.rerank,
            recency=self.recency,
            rerank_by=self.rerank_by,
        )

    @property
    def generating(self) -> AnswerSettings:
        """How answers are made."""
        return AnswerSettings(self.top, self.rounds, self.mask_pii, self.max_words)

    @property
    def index_name(self) -> str:
        """The name of the index that it needs: equal for variants that can share one."""
        chunking = self.chunking
        return f"{chunking.size}-{chunking.overlap}-{self.vectors}"

    def check(self, where: str, is_indexed: bool, with_model: bool) -> None:
        """Raise WorkflowError for settings that do not go together, or need what is not there.

        `is_indexed` is whether an index is given, `with_model` whether a model is.
        """
        try:
            self.generating.check(with_model and not self.extractive)
            _ = self.chunking
        except InputError as error:
            raise WorkflowError(f"{where}: {error}") from error
        for name in self.prompts:
            if name not in PROMPTS:
                raise WorkflowError(f"{where}: prompts: {unknown('prompt', name, PROMPTS)}")
        needs_vectors = self.retriever in ("dense", "hybrid")
        if not is_indexed and needs_vectors and self.vectors == "none":
            needs = "vectors: semantic, or vectors: endpoint"
            raise WorkflowError(f"{where}: retriever: {self.retriever} needs {needs}")
        if not with_model and (self.rerank or self.vectors == "endpoint"):
            key = "rerank" if self.rerank else "vectors: endpoint"
            raise WorkflowError(f"{where}: {key}: add --use-env-llm")
        if self.extractive and self.rerank and self.rerank_by == "model":
            raise WorkflowError(f"{where}: extractive asks no model, and rerank needs one")

    def as_dict(self) -> Mapping[str, Any]:
        """Return all settings, by which a run is known again."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "chunking": self.index_name
        }


@dataclass(frozen=True, slots=True)
class ExperimentFile:
    """The keys of an experiment file. `base` are settings of all variants."""

    topics: str
    format: str
    documents: list[str] = field(default_factory=list)
    index: str = ""
    judge: list[str] = field(default_factory=list)
    workflow: str = ""
    qrels: str = ""
    team_id: str = "trecjudge"
    base: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)


NEEDED = ("topics", "format", "variants")


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as read. Either `documents` are given or an `index`.

    `variants` are in the order of the file; the others are compared with the first. `files` are the
    names of their files, which are safe. `qrels` are grades of documents.
    """

    topics: Path
    format: RunFormat
    variants: Mapping[str, Variant]
    files: Mapping[str, str]
    documents: list[Path] = field(default_factory=list)
    index: str = ""
    judges: list[str] = field(default_factory=list)
    workflow: Workflow = field(default_factory=Workflow)
    team_id: str = "trecjudge"
    qrels: Path | None = None


@dataclass(frozen=True, slots=True)
class _YamlPlaces:
    path: Path
    lines: Mapping[tuple[str, ...], int]

    def where(self, *keys: str) -> str:
        """Return the place of a key, for a message: `e.yml:3: variants.short`."""
        known = (keys[:count] for count in range(len(keys), 0, -1) if keys[:count] in self.lines)
        place = Place(str(self.path), self.lines.get(next(known, ())))
        return f"{place}: {'.'.join(keys)}" if keys else str(place)

    def read_fields(self, owner: type, values: Mapping[str, Any], *above: str) -> dict[str, Any]:
        """Return values of the types that the fields of `owner` have. Raises WorkflowError."""
        typed: dict[str, Any] = {}
        self.check_names(values, *above)
        for key, value in values.items():
            # The line is that of the key; the path is that of what it stands in.
            line = self.where(*above, key).removesuffix(f": {'.'.join((*above, key))}")
            where = f"{line}: {'.'.join(above)}" if above else line
            typed |= typed_fields(owner, {key: value}, where)
        return typed

    def check_names(self, values: Any, *above: str) -> None:
        """Raise WorkflowError for a mapping with a key that is no text, such as 5."""
        for key in values if isinstance(values, dict) else ():
            if not isinstance(key, str):
                message = f"the key {brief(key)} must be a name: put it in quotes"
                raise WorkflowError(f"{self.where(*above)}: {message}")


def read_experiment(path: Path, with_model: bool) -> Experiment:
    """Return the experiment of a file, checked; `with_model` is whether a model may be asked.

    Paths in it count from its own folder or, where nothing is there, from the current one. Raises
    WorkflowError with file and line.
    """
    read = read_yaml_file(path, "experiment")
    if not isinstance(read.value, dict):
        raise WorkflowError(f"{path}: must be a mapping, with {', '.join(NEEDED)}")
    file = _YamlPlaces(path, read.lines)
    given = {key: value for key, value in read.value.items() if value is not None}
    if isinstance(given.get("variants"), dict):
        file.check_names(given["variants"], "variants")
        # A variant without settings may be only a name.
        given["variants"] = {name: own or {} for name, own in given["variants"].items()}
    typed = file.read_fields(ExperimentFile, given)
    for key in NEEDED:
        if not typed.get(key):
            raise WorkflowError(f"{path}: {key} is missing; needed are {', '.join(NEEDED)}")
    written = ExperimentFile(**typed)
    if len(written.documents) == 1 and names_index(_resolve_path(path, written.documents[0])):
        written = replace(written, documents=[], index=written.index or written.documents[0])
    if bool(written.documents) == bool(written.index):
        raise WorkflowError(f"{path}: give documents, or an index of them: one of the two")
    known = (*FORMATS, *NEWEST)
    if written.format not in known:
        where = file.where("format")
        raise WorkflowError(f"{where}: {unknown('format', written.format, known)}")
    variants = _variants(file, written, with_model)
    return Experiment(
        Path(_resolve_path(path, written.topics)),
        format_for(written.format),
        variants,
        _file_names(file, variants),
        [Path(_resolve_path(path, document)) for document in written.documents],
        _resolve_path(path, written.index) if written.index else "",
        written.judge,
        load_workflow(Path(_resolve_path(path, written.workflow)) if written.workflow else None),
        written.team_id,
        Path(_resolve_path(path, written.qrels)) if written.qrels else None,
    )


def _resolve_path(path: Path, written: str) -> str:
    """Return a path of the file: from its folder or, where nothing is there, from here."""
    near = path.parent / written
    return str(near) if near.exists() else written


def _variants(file: _YamlPlaces, written: ExperimentFile, with_model: bool) -> dict[str, Variant]:
    base = file.read_fields(Variant, written.base, "base")
    if len(written.variants) < 2:
        raise WorkflowError(f"{file.where('variants')}: give two or more, to be compared")
    found = {}
    for name, values in written.variants.items():
        own = file.read_fields(Variant, values, "variants", name)
        variant, where = Variant(**base | own), file.where("variants", name)
        if set_of_index := [key for key in OF_AN_INDEX if written.index and key in base | own]:
            raise WorkflowError(f"{where}: {', '.join(set_of_index)}: the index given decides that")
        variant.check(where, bool(written.index), with_model)
        prompts = {key: prompt_beside(file.path, given) for key, given in variant.prompts.items()}
        found[name] = replace(variant, prompts={**prompts})
    return found


def _file_names(file: _YamlPlaces, variants: Mapping[str, Variant]) -> dict[str, str]:
    """Return a name for the files of each variant: safe, and no two the same in any case."""
    owners: dict[str, str] = {}
    for name in variants:
        where, safe = file.where("variants", name), suffix_of(name).lstrip(".")
        if name != name.strip():  # it is the run's name, which no reader takes with them
            raise WorkflowError(f"{where}: {brief(name)}: give a name without blanks around it")
        if not any(map(str.isalnum, safe)):
            raise WorkflowError(f"{where}: {brief(name)} can be in no file name; give letters")
        if owner := owners.get(safe.casefold()):
            raise WorkflowError(f"{where}: has the files of {brief(owner)}; give another name")
        owners[safe.casefold()] = name
    return {name: suffix_of(name).lstrip(".") for name in variants}

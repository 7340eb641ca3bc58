"""A variant of an experiment: how documents are cut and found, and how answers are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trecjudge.baseline.chunking import Chunking
from trecjudge.baseline.generate.answering import Generating
from trecjudge.baseline.generate.grounded import PROGRAMS
from trecjudge.baseline.records import Method
from trecjudge.baseline.retrieve.model_ranks import GRADE_PASSAGES
from trecjudge.baseline.retrieve.retriever import RetrieverSettings
from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.settings.fields import ranged

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
    retriever: Method = "bm25"
    top: int = ranged(20, 1)
    recency: float = ranged(0.0, 0)
    rerank: int = ranged(0, 0)
    rerank_by: Literal["model", "endpoint"] = "model"
    max_words: int | None = ranged(None, 1)
    rounds: int = ranged(0, 0)
    mask_pii: bool = False
    extractive: bool = False
    llm: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)

    @property
    def chunking(self) -> Chunking:
        """How documents are cut. Raises InputError for an overlap that does not suit."""
        overlap = self.chunk_overlap
        usual = min(Chunking().overlap, self.chunk_size // 2)
        return Chunking(self.chunk_size, usual if overlap is None else overlap)

    @property
    def retrieving(self) -> RetrieverSettings:
        """How passages are found."""
        return RetrieverSettings(
            self.retriever, rerank=self.rerank, recency=self.recency, rerank_by=self.rerank_by
        )

    @property
    def generating(self) -> Generating:
        """How answers are made."""
        return Generating(self.top, self.rounds, self.mask_pii, self.max_words)

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
        if not is_indexed and self.retriever != "bm25" and self.vectors == "none":
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

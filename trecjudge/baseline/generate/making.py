"""A run from an index: everything is opened, every topic answered, the files written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from trecjudge.baseline.generate.answering import Answerer, Generating
from trecjudge.baseline.generate.formats import RunFacts, RunFormat
from trecjudge.baseline.generate.generating import Made, answers, ask_all, described, write_run
from trecjudge.baseline.generate.grounded import PROGRAMS, REPLY
from trecjudge.baseline.generate.hiding import hiding
from trecjudge.baseline.generate.provenance import Origin, index_name
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.opening import open_index
from trecjudge.baseline.retrieve.model_ranks import GRADE_PASSAGES
from trecjudge.baseline.retrieve.retriever import RetrieverSettings
from trecjudge.baseline.retrieve.retrieving import Retrieving
from trecjudge.findings import OnFinding
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions, open_model
from trecjudge.records import Topic
from trecjudge.settings.times import fixed_time

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunWanted:
    """A run to make in the file `path`; `index` names the index.

    `llm`, `prompts`, `embeddings` and `rerank` are sections of a workflow. `threshold` is as for
    `Retrieving`. `carries` puts the documents that are cited into the run.
    """

    index: str
    path: Path
    run_id: str
    format: RunFormat
    team_id: str = "trecjudge"
    retriever: RetrieverSettings = field(default_factory=RetrieverSettings)
    rerank_by: Literal["model", "endpoint"] = "model"
    threshold: Path | None = None
    generating: Generating = field(default_factory=Generating)
    carries: bool = False
    llm: Settings = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    embeddings: Settings = field(default_factory=dict)
    rerank: Settings = field(default_factory=dict)

    def facts(self, model: Model, index: Index) -> RunFacts:
        """Return what all records say of the run."""
        asked = (model.record() or {}).get("model", "") if model.available else ""
        by = self.retriever.method
        how = described(
            str(asked), f"{by}, reranked" if self.retriever.rerank else by, self.generating
        )
        carried = index.document if self.carries else None
        return RunFacts(self.run_id, self.team_id, how, carried)

    def retrieving(self, options: ModelOptions, warn: Callable[[str], None]) -> Retrieving:
        """Return how passages are found."""
        return Retrieving(
            self.index,
            self.retriever,
            options,
            warn,
            self.rerank_by,
            self.threshold,
            self.embeddings,
            self.rerank,
        )


async def make_run(
    wanted: RunWanted,
    topics: Sequence[Topic],
    options: ModelOptions,
    report: OnFinding,
    warn: Callable[[str], None],
    held: AbstractContextManager[None] | None = None,
) -> tuple[Made | None, dict[str, Any]]:
    """Write a run; return what it has, None where calls were only counted, and what was spent.

    `held` is what locks its files while they are written. Raises InputError, OutputError, and
    ModelError if no topic could be answered.
    """
    programs = (*PROGRAMS, GRADE_PASSAGES) if wanted.retriever.rerank else PROGRAMS
    names = {program.name for program in programs}
    prompts = {name: text for name, text in wanted.prompts.items() if name in names}
    with closing(open_index(wanted.index)) as index:
        async with (
            open_model(options, REPLY | dict(wanted.llm), prompts, programs, warn) as model,
            wanted.retrieving(options, warn).opened(index, model) as opened,
        ):
            retriever = hiding(opened) if wanted.generating.mask else opened
            track = wanted.format.track
            answerer = Answerer(retriever, model, track, report, wanted.generating)
            each = answers(topics, answerer.answer, model.in_flight)
            facts = wanted.facts(model, index)
            wanted.format.check(facts)
            if options.plan and options.use:
                await ask_all(each)
                return None, model.spent() | {"items": len(topics)}
            origin = Origin(facts.run_id, index_name(wanted.index), fixed_time())
            with held or nullcontext():
                made = await write_run(each, wanted.path, wanted.format, facts, origin)
            return made, model.spent()

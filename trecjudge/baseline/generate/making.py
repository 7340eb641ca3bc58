"""A run from an index: everything is opened, every topic answered, the files written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.baseline.generate.answering import Answerer, Generating
from trecjudge.baseline.generate.formats import RunFacts, RunFormat
from trecjudge.baseline.generate.generating import Made, answers, described, write_run
from trecjudge.baseline.generate.grounded import PROGRAMS, REPLY
from trecjudge.baseline.generate.provenance import Origin, index_name
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.opening import open_index
from trecjudge.baseline.retrieve.model_ranks import GRADE_PASSAGES, MaskedRanks
from trecjudge.baseline.retrieve.retriever import IndexRetriever, RetrieverSettings, open_retriever
from trecjudge.findings import OnFinding
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions, open_model
from trecjudge.records import Topic
from trecjudge.settings.times import fixed_time


@dataclass(frozen=True, slots=True)
class RunWanted:
    """A run to make in the file `path`; `index` names the index.

    `llm` and `prompts` are sections of a workflow. `carries` puts the documents that are cited into
    the run.
    """

    index: str
    path: Path
    run_id: str
    format: RunFormat
    team_id: str = "trecjudge"
    retriever: RetrieverSettings = field(default_factory=RetrieverSettings)
    generating: Generating = field(default_factory=Generating)
    carries: bool = False
    llm: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)

    def facts(self, model: Model, index: Index) -> RunFacts:
        """Return what all records say of the run."""
        asked = (model.record() or {}).get("model", "") if model.available else ""
        by = self.retriever.method
        how = described(
            str(asked), f"{by}, reranked" if self.retriever.rerank else by, self.generating
        )
        carried = index.document if self.carries else None
        return RunFacts(self.run_id, self.team_id, how, carried)


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
            open_retriever(
                wanted.index, index, wanted.retriever, model, options, warn
            ) as retriever,
        ):
            if wanted.generating.mask:
                retriever = _with_masks(retriever)
            track = wanted.format.track
            answerer = Answerer(retriever, model, track, report, wanted.generating)
            each = answers(topics, answerer.answer, model.in_flight)
            facts = wanted.facts(model, index)
            wanted.format.check(facts)
            if options.plan and options.use:
                async for _ in each:
                    pass  # only to count what they would ask
                return None, model.spent() | {"items": len(topics)}
            origin = Origin(facts.run_id, index_name(wanted.index), fixed_time())
            with held or nullcontext():
                made = await write_run(each, wanted.path, wanted.format, facts, origin)
            return made, model.spent()


def _with_masks(retriever: IndexRetriever) -> IndexRetriever:
    """Return a retriever whose reranking, if any, sees no personal data of a known form."""
    ranks = retriever.ranks
    return retriever if ranks is None else replace(retriever, ranks=MaskedRanks(ranks))

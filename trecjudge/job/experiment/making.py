"""The runs of an experiment: an index for each cutting, a run for each variant."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.baseline.generate.making import RunWanted, make_run
from trecjudge.baseline.index.building import build_index
from trecjudge.baseline.index.opening import is_address, open_index
from trecjudge.baseline.index.sources import Distinct, at_least_one, sources_in
from trecjudge.baseline.retrieve.threshold import threshold_path
from trecjudge.errors import InputError, JudgmentFailed, ModelError
from trecjudge.files import read_text, whole
from trecjudge.findings import OnFinding, shown
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.sources.checksums import Checksums
from trecjudge.job.experiment.reading import Experiment
from trecjudge.job.experiment.variants import Variant
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Topic
from trecjudge.results.outputs import Outputs
from trecjudge.version import __version__


@dataclass(frozen=True, slots=True)
class VariantRun:
    """The run of a variant; `counts` are those of `Made`, `failure` is why there is none.

    `reused` is whether it was there already, from the same inputs. `standing` is what the check by
    the track's rules says.
    """

    variant: str
    path: Path
    counts: Mapping[str, Any] = field(default_factory=dict)
    reused: bool = False
    spent: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    standing: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every topic has been answered, or an abstention."""
        return not self.failure and not self.counts.get("failed")

    def as_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        own = {"variant": self.variant, "run": str(self.path), "check": self.standing}
        made = {"reused": self.reused, "failure": self.failure, "calls": dict(self.spent)}
        return own | made | dict(self.counts)


@dataclass(frozen=True, slots=True)
class Making:
    """What all runs of an experiment are made with. `folder` is where indexes lie."""

    experiment: Experiment
    outputs: Outputs
    folder: Path
    topics: Sequence[Topic]
    options: ModelOptions
    report: OnFinding
    warn: Callable[[str], None]

    def options_of(self, variant: Variant) -> ModelOptions:
        """Return how a variant may use the model; all share one budget."""
        return replace(self.options, use=False) if variant.extractive else self.options

    def path_of(self, name: str) -> Path:
        """Return the file of a run."""
        runs = self.outputs.folder / f"{self.outputs.name}.runs"
        return runs / f"{self.experiment.files[name]}.jsonl"

    def wanted(self, name: str, variant: Variant, index: str) -> RunWanted:
        """Return the run of a variant as it is to be made."""
        workflow = self.experiment.workflow
        return RunWanted(
            index,
            self.path_of(name),
            name,
            self.experiment.format,
            self.experiment.team_id,
            replace(variant.retrieving, embeddings=workflow.embeddings, reranking=workflow.rerank),
            variant.generating,
            llm=workflow.llm | variant.llm,
            prompts=workflow.prompts | variant.prompts,
        )


async def make_runs(making: Making) -> list[VariantRun]:
    """Return the runs of all variants; one that fails does not keep the others from being made.

    With a plan nothing is written but indexes in `folder`. Raises InputError, OutputError.
    """
    indexes: dict[str, str] = {}
    runs = []
    for name, variant in making.experiment.variants.items():
        try:
            index = await _index(making, variant, indexes)
            runs.append(await _run(making, name, variant, index))
        except (ModelError, JudgmentFailed) as error:
            runs.append(VariantRun(name, making.path_of(name), failure=str(error)))
        except InputError as error:
            raise InputError(f"variant {shown(name)}: {error}") from error
    return runs


async def _index(making: Making, variant: Variant, made: dict[str, str]) -> str:
    """Return the index of a variant, which holds the documents as they are now."""
    experiment, name = making.experiment, variant.index_name
    if experiment.index:
        return experiment.index
    if name not in made:
        making.folder.mkdir(parents=True, exist_ok=True)
        where = str(making.folder / f"{name}.index")
        found = Distinct(making.report).of(sources_in(experiment.documents, making.report))
        sources = at_least_one(found, experiment.documents)
        embeddings = experiment.workflow.embeddings
        chosen = (variant.vectors, making.options, embeddings, making.warn)
        await build_index(where, variant.chunking, sources, *chosen)
        made[name] = where
    return made[name]


async def _run(making: Making, name: str, variant: Variant, index: str) -> VariantRun:
    """Return the run of a variant: the one that is there if it is of the same inputs, else anew."""
    options, path = making.options_of(variant), making.path_of(name)
    inputs = _fingerprint(making, name, variant, index)
    # What a model says is in its cache: such a run is written again, and costs nothing.
    if not options.use and (known := _known(path, inputs)) is not None:
        return VariantRun(name, path, known, reused=True)
    if not options.plan:
        path.parent.mkdir(parents=True, exist_ok=True)
        _note(path).unlink(missing_ok=True)
    elif not options.use:
        return VariantRun(name, path)
    wanted = making.wanted(name, variant, index)
    report, warn = making.report, _named(making.warn, name)
    made, spent = await make_run(wanted, making.topics, options, report, warn)
    counts = made.as_dict() if made is not None else {}
    if made is not None and not made.failed:
        record = {"inputs": inputs, "files": _digests(path), "counts": counts}
        with whole(_note(path)) as file:
            file.write(orjson.dumps(record))
    return VariantRun(name, path, counts, spent=spent)


def _named(warn: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda message: warn(f"{shown(name)}: {message}")


def _note(path: Path) -> Path:
    """Return the file that says what a run was made of."""
    return path.with_suffix(".made.json")


def _known(path: Path, inputs: str) -> Mapping[str, Any] | None:
    """Return the counts of a run that is there, unchanged and of these inputs; else None."""
    try:
        record = orjson.loads(read_text(_note(path), 1 << 20))
        same = record["inputs"] == inputs and record["files"] == _digests(path)
        counts: Mapping[str, Any] = record["counts"]
        return counts if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digests(path: Path) -> list[str]:
    """Return the sha256 of a run and of its provenance."""
    return [Checksums().of(one) for one in (path, provenance_path(path))]


def _fingerprint(making: Making, name: str, variant: Variant, index: str) -> str:
    """Return a digest of all that decides what a run without a model says."""
    experiment = making.experiment
    held = open_index(index)
    try:
        version = held.facts.version
    finally:
        held.close()
    line = None if is_address(index) else threshold_path(index)
    settings = {
        "trecjudge": __version__,
        "index": version,
        "threshold": Checksums().of(line) if line is not None and line.exists() else "",
        "topics": Checksums().of(experiment.topics),
        "run": [name, experiment.format.track_name, experiment.team_id],
        "variant": variant.as_dict(),
    }
    written = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).hexdigest()

"""The flags of the main job, gathered into one typed object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, get_type_hints

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag


@dataclass(frozen=True, slots=True)
class JobFlags:
    """What the command line asks for: a flag each."""

    responses: flag.Responses = None
    topics: flag.Topics = None
    documents: flag.Documents = None
    own_documents: flag.OwnDocuments = False
    qrels: flag.Qrels = None
    nuggets: flag.Nuggets = None
    dataset: flag.Dataset = "auto"
    keys: flag.RecordKeys = ""
    only_topics: flag.OnlyTopics = None
    only_runs: flag.OnlyRuns = None
    max_topics: flag.MaxTopics = None
    max_runs: flag.MaxRuns = None
    limit: flag.LimitFlag = None
    check: flag.Check = True
    strict: flag.Strict = False
    judge: flag.JudgeName = None
    also: flag.Also = None
    judgments_from: flag.JudgmentsFrom = None
    calibration: flag.CalibrationFile = None
    human: flag.Human = None
    mapped: flag.MapLabels = None
    workflow: flag.WorkflowFile = None
    settings: flag.Settings = None
    variant: flag.Variant = None
    all_variants: flag.AllVariants = False
    sweep: flag.Sweep = None
    workers: flag.Workers = "1"
    shard: flag.Shard = ""
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    out_dir: flag.OutDir = Path("out")
    name: flag.Name = "default"
    qrels_pool: flag.QrelsPool = False
    log: flag.Log = "full"
    debug_log: flag.DebugLogFlag = True
    document_text: flag.DocumentText = True
    compress: flag.Compress = False
    report: flag.Report = False
    measures: flag.MeasuresShown = None
    wide: flag.Wide = False
    all_runs: flag.AllRuns = False
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False
    version: flag.Version = False
    help_all: flag.HelpAll = False


class _Flags(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


F = TypeVar("F", bound=_Flags)


def taking(
    flags: type[F],
) -> Callable[[Callable[[typer.Context, F], None]], Callable[..., None]]:
    """Return a decorator that gives a function of a context and `flags` a flag for each field."""
    hints = get_type_hints(flags, include_extras=True)
    parameters = [
        Parameter(
            f.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if f.default is MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in fields(flags)
    ]
    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)

    def decorate(command: Callable[[typer.Context, F], None]) -> Callable[..., None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            command(ctx, flags(**given))

        # Typer reads flags from the signature, so the fields are written into it.
        run.__doc__ = command.__doc__
        run.__annotations__ = {"ctx": typer.Context} | hints
        run.__signature__ = Signature([context, *parameters])  # type: ignore[attr-defined]
        return run

    return decorate

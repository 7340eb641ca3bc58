"""Judge the output of retrieval-augmented generation systems in batch: the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trecjudge.pipeline import Job
    from trecjudge.summary import Summary

INTERRUPTED = 130
SEVERAL = ("--rag-responses", "--documents")
INPUTS, JUDGING, OUTPUTS = "Inputs", "Judging", "Outputs"


Responses = Annotated[
    list[Path] | None,
    typer.Option(
        "--rag-responses",
        help="Run files, or folders of them at any depth; several may follow.",
        rich_help_panel=INPUTS,
    ),
]
Topics = Annotated[
    Path | None,
    typer.Option(
        "--rag-topics",
        help="The topic file; without it the topics are those that the runs answer.",
        rich_help_panel=INPUTS,
    ),
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        help="JSONL of docid, title, text: document text that the runs lack.",
        rich_help_panel=INPUTS,
    ),
]
Dataset = Annotated[
    str,
    typer.Option("--dataset", help="rag, ragtime, dragun or auto.", rich_help_panel=INPUTS),
]
MaxTopics = Annotated[
    int | None,
    typer.Option(
        "--max-topics", min=1, help="Judge the first N topics alone.", rich_help_panel=INPUTS
    ),
]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", min=1, help="Judge the first N runs alone.", rich_help_panel=INPUTS),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop before judging if a finding bears on a score.",
        rich_help_panel=INPUTS,
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="A judge by name (see `judges`) or module:Class; else the workflow's, else citation.",
        rich_help_panel=JUDGING,
    ),
]
WorkflowFile = Annotated[
    Path | None,
    typer.Option("--workflow", help="A workflow file (YAML).", rich_help_panel=JUDGING),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a setting, llm.KEY or leaderboard.KEY; the value in YAML.",
        rich_help_panel=JUDGING,
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant", help="Judge with a variant of the workflow.", rich_help_panel=JUDGING
    ),
]
AllVariants = Annotated[
    bool,
    typer.Option(
        "--all-variants",
        help="Judge with every variant, each into files of its own.",
        rich_help_panel=JUDGING,
    ),
]
Sweep = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        help="Judge at every point of a sweep, each into files of its own.",
        rich_help_panel=JUDGING,
    ),
]
UseEnvLlm = Annotated[
    bool,
    typer.Option(
        "--use-env-llm",
        help="Ask the model at OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY.",
        rich_help_panel=JUDGING,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        help="Where model replies are kept; else TRECJUDGE_CACHE, else the user's cache folder.",
        rich_help_panel=JUDGING,
    ),
]
OutDir = Annotated[
    Path,
    typer.Option("--out-dir", help="The folder for all output files.", rich_help_panel=OUTPUTS),
]
Name = Annotated[
    str,
    typer.Option("--name", help="What the files are named after.", rich_help_panel=OUTPUTS),
]
QrelsPool = Annotated[
    bool,
    typer.Option(
        "--qrels-pool",
        help="Write classic qrels, `topic 0 doc grade`, over all runs.",
        rich_help_panel=OUTPUTS,
    ),
]
DebugLogFlag = Annotated[
    bool,
    typer.Option(
        "--debug-log/--no-debug-log",
        help="Write NAME.log, one JSON event a line.",
        rich_help_panel=OUTPUTS,
    ),
]
DocumentText = Annotated[
    bool,
    typer.Option(
        "--document-text/--no-document-text",
        help="Whether text of documents may stand in the log and in the evidence.",
        rich_help_panel=OUTPUTS,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors alone.", rich_help_panel=OUTPUTS)
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the closing table as one JSON object.",
        rich_help_panel=OUTPUTS,
    ),
]

app = typer.Typer(
    help="Judge RAG runs of TREC RAG, RAGTIME and DRAGUN, the way TREC does.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main(
    ctx: typer.Context,
    responses: Responses = None,
    topics: Topics = None,
    documents: Documents = None,
    dataset: Dataset = "auto",
    max_topics: MaxTopics = None,
    max_runs: MaxRuns = None,
    strict: Strict = False,
    judge: JudgeName = None,
    workflow: WorkflowFile = None,
    settings: Settings = None,
    variant: Variant = None,
    all_variants: AllVariants = False,
    sweep: Sweep = None,
    use_env_llm: UseEnvLlm = False,
    cache_dir: CacheDir = None,
    out_dir: OutDir = Path("out"),
    name: Name = "default",
    qrels_pool: QrelsPool = False,
    debug_log: DebugLogFlag = True,
    document_text: DocumentText = True,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge runs; write qrels, leaderboard, debug log, judgments and config."""
    if ctx.invoked_subcommand is not None:
        return
    if not responses:
        raise typer.BadParameter(
            "it is missing: give run files or folders, or a command (--help)",
            param_hint="--rag-responses",
        )
    raise typer.Exit(_guarded(lambda: _run(ctx.params)))


@app.command()
def judges() -> None:
    """List the judges."""
    raise typer.Exit(_guarded(_list_judges))


@app.command()
def formats() -> None:
    """List the run formats."""
    raise typer.Exit(_guarded(_list_formats))


@app.command()
def rescore(
    judgments: Annotated[Path, typer.Argument(help="A NAME.judgments.jsonl.")],
    out_dir: Annotated[
        Path | None, typer.Option(help="Where to write; else beside the judgments.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The name of the files; else as before.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write qrels and leaderboard anew from a judgments file, with no model."""

    def work() -> int:
        from trecjudge.judgments import JudgmentsReader
        from trecjudge.outputs import Outputs
        from trecjudge.scoring import score

        reader = JudgmentsReader(judgments)
        stem = name or judgments.name.removesuffix(".jsonl").removesuffix(".judgments")
        outputs = Outputs(out_dir or judgments.parent, stem)
        outputs.prepare()
        summary = score(reader, outputs)
        _print_summaries([summary], quiet, as_json)
        return summary.exit_status

    raise typer.Exit(_guarded(work))


def _run(options: dict[str, Any]) -> int:
    """Run the main job, once for each variant or sweep point; return the exit status."""
    from rich.console import Console

    from trecjudge.console import ConsoleWatcher
    from trecjudge.pipeline import run_job

    console = Console(stderr=True)
    summaries = []
    for job in _jobs(options):
        with ConsoleWatcher(console, quiet=options["quiet"]) as watcher:
            summaries.append(run_job(job, watcher))
    _print_summaries(summaries, options["quiet"], options["as_json"])
    return max(summary.exit_status for summary in summaries)


def _jobs(options: dict[str, Any]) -> list[Job]:
    """Return the jobs that the command line asks for."""
    from trecjudge.outputs import Outputs
    from trecjudge.pipeline import Job
    from trecjudge.workflow import Workflow, points, read_workflow, with_overrides

    path = options["workflow"]
    read = read_workflow(path) if path else Workflow()
    workflow, overrides = with_overrides(read, options["settings"] or [])
    chosen = points(
        workflow, overrides, options["variant"], options["all_variants"], options["sweep"]
    )
    same = {
        key: options[key]
        for key in (
            "topics",
            "dataset",
            "max_topics",
            "max_runs",
            "debug_log",
            "document_text",
            "qrels_pool",
            "strict",
        )
    }
    outputs = Outputs(options["out_dir"], options["name"])
    return [
        Job(
            judge=options["judge"] or workflow.judge,
            runs=options["responses"],
            documents=options["documents"] or (),
            outputs=outputs.of(point.suffix),
            workflow=workflow,
            point=point,
            use_model=options["use_env_llm"],
            cache_folder=options["cache_dir"],
            command_line=tuple(sys.argv),
            **same,
        )
        for point in chosen
    ]


def _print_summaries(summaries: list[Summary], quiet: bool, as_json: bool) -> None:
    """Print the closing tables, or one JSON object (a list of them under `jobs` if several)."""
    if as_json:
        import orjson

        records = [summary.as_dict() for summary in summaries]
        record = records[0] if len(records) == 1 else {"jobs": records}
        sys.stdout.write(orjson.dumps(record).decode() + "\n")
        return
    if quiet:
        return
    from rich.console import Console

    from trecjudge.console import closing_lines, ranking

    console = Console(width=None if sys.stdout.isatty() else 200)
    for summary in summaries:
        console.print(ranking(summary))
        for line in closing_lines(summary):
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def _list_judges() -> int:
    from trecjudge.errors import PluginError
    from trecjudge.judge import judge_class, judge_names, summary_of

    rows = []
    for name in judge_names():
        try:
            rows.append((name, summary_of(judge_class(name))))
        except PluginError as error:
            rows.append((name, f"broken: {error}"))
    return _print_listing(rows)


def _list_formats() -> int:
    from trecjudge.formats.registry import all_formats

    return _print_listing([(f.NAME, f"({f.DATASET}) {f.SUMMARY}") for f in all_formats()])


def _print_listing(rows: list[tuple[str, str]]) -> int:
    from rich.console import Console

    from trecjudge.console import listing

    Console(width=None if sys.stdout.isatty() else 200).print(listing(rows))
    return 0


def _guarded(work: Callable[[], int]) -> int:
    """Return the exit status of `work`: 1 with one line for what the user can put right."""
    from trecjudge.errors import TrecJudgeError

    try:
        return work()
    except TrecJudgeError as error:
        typer.echo(f"error: {error}", err=True)
        return 1
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again to go on", err=True)
        return INTERRUPTED


def cli() -> None:
    """Run the command line; one `--rag-responses` may be followed by several files."""
    app(list(_repeated(sys.argv[1:])))


def _repeated(args: list[str]) -> Iterator[str]:
    """Yield the arguments with the flag repeated before each further value."""
    flag, values = "", 0
    for arg in args:
        if arg.startswith("-"):
            flag, values = (arg if arg in SEVERAL else ""), 0
        elif flag:
            values += 1
            if values > 1:
                yield flag
        yield arg


if __name__ == "__main__":
    cli()

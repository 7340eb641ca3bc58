"""`gate`: fail where a run is not good enough, or worse than it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trecjudge import options as flag
from trecjudge.commands import statistics as common
from trecjudge.commands.ending import exits, print_json, print_lines

if TYPE_CHECKING:
    from trecjudge.leaderboards.outcomes import Outcome
    from trecjudge.stats.gating import Check, Rule
    from trecjudge.stats.scores import Scores

UNSEEN = "{place}: no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot be seen"


Leaderboard = Annotated[
    Path, typer.Argument(help="An output folder, FOLDER/NAME, or a leaderboard file.")
]
Minimum = Annotated[
    list[str] | None,
    typer.Option("--min", metavar="MEASURE=NUMBER", help="No run may be lower."),
]
Maximum = Annotated[
    list[str] | None,
    typer.Option("--max", metavar="MEASURE=NUMBER", help="No run may be higher."),
]
Baseline = Annotated[
    Path | None, typer.Option(help="The same of the release before, for --max-drop.")
]
MaxDrop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[MEASURE=]NUMBER",
        help="No run may fall by more than its baseline; alone it is for the measures of --min and"
        " --max, or for all.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="A drop counts even where it may be noise.")]
Junit = Annotated[Path | None, typer.Option(help="A file for JUnit XML.")]


@exits
def gate(
    leaderboard: Leaderboard,
    minimum: Minimum = None,
    maximum: Maximum = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = None,
    strict: Strict = False,
    junit: Junit = None,
    format_name: common.Format = "auto",
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Exit with 1, and one line for each broken rule, unless all runs keep all rules.

    A run whose unjudged items could change the answer does not pass. A drop counts if it is more
    than noise: if the paired test over topics finds it.
    """
    from trecjudge.evaluation.inputs import scores_at
    from trecjudge.leaderboards.outcomes import outcome
    from trecjudge.stats.gating import rule_of

    heard = common.Heard(quiet)
    found = outcome(leaderboard)
    scores = scores_at(found, heard, format_name)
    rules = [rule_of("min", text) for text in minimum or ()]
    rules += [rule_of("max", text) for text in maximum or ()]
    old = scores_at(outcome(baseline), heard, format_name) if baseline else None
    checks = _checks(found, scores, old, rules, max_drop or [], strict, heard)
    if junit is not None:
        _write_junit(junit, str(found.place), checks)
    broken = [check for check in checks if check.broken]
    status = 1 if broken or heard.status() else 0
    if as_json:
        print_json([{"passed": not status, "checks": checks, "findings": heard.as_dicts()}])
        return status
    heard.close()
    print_lines(map(str, broken))
    if not quiet:
        if found.statistics is None:
            print_lines([UNSEEN.format(place=found.place)])
        print_lines([f"gate: {len(checks) - len(broken)} of {len(checks)} rules kept"])
    return status


def _checks(
    found: Outcome,
    scores: Scores,
    old: Scores | None,
    rules: list[Rule],
    max_drop: list[str],
    strict: bool,
    heard: common.Heard,
) -> list[Check]:
    """Hold the runs against all rules. Raises WorkflowError where there is none."""
    from trecjudge.errors import WorkflowError
    from trecjudge.evaluation.inputs import figures_at
    from trecjudge.stats.gating import bounds, drops

    falling = _drop_rules(max_drop, rules, scores, old)
    if not rules and not falling:
        raise WorkflowError("give a rule: --min, --max, or --baseline with --max-drop")
    lower = {rule.measure for rule in rules if rule.kind == "max"}
    figures = figures_at(found, scores, heard, lower)
    checks = bounds(rules, scores, figures)
    if old is not None:
        checks += drops(falling, scores, old, figures, strict)
    return checks


def _drop_rules(
    texts: list[str], rules: list[Rule], scores: Scores, old: Scores | None
) -> list[Rule]:
    """Return the rules of --max-drop. Raises WorkflowError where it or the baseline is missing."""
    from trecjudge.errors import WorkflowError
    from trecjudge.stats.gating import rule_of

    if bool(texts) != (old is not None):
        raise WorkflowError("--baseline and --max-drop go together")
    measures = list(dict.fromkeys(rule.measure for rule in rules)) or [
        m for m in scores.measures if old and m in old.measures
    ]
    named = [f"{m}={text}" for text in texts if "=" not in text for m in measures]
    return [rule_of("drop", text) for text in (*named, *(t for t in texts if "=" in t))]


def _write_junit(path: Path, name: str, checks: list[Check]) -> None:
    from trecjudge.outputs import whole
    from trecjudge.stats.junit import junit

    with whole(path) as file:
        file.write(junit(name, checks))

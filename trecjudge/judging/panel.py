"""Several judges in one pass: settings, measures, labels in place of decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from trecjudge.errors import NOT_GIVEN, JudgmentFailed, PluginError, WorkflowError, unknown
from trecjudge.inputs.labels import (
    DecidesSome,
    ItemKey,
    TakesLabels,
    TakesNuggetLabels,
    label_of,
    takes_labels,
)
from trecjudge.judging.claims.importance import MODEL, Importance, importance_at
from trecjudge.judging.judge import (
    GroupingJudge,
    Judge,
    hides_failures,
    make_judge,
    measures_of,
    programs_of,
    resolved,
    settings_of,
    unjudged,
)
from trecjudge.judging.offline.support import calibration_at
from trecjudge.measures import LeaderboardSpec, MeasureSpec, leaderboard_spec
from trecjudge.models.model import Model, Program
from trecjudge.records import AskedNugget, Item, Judgment, Response, Topic, judgment_of


# Several judges in one pass: settings for each, and the measures of all in one leaderboard.
@dataclass(frozen=True, slots=True)
class NamedJudge:
    """A judge of a job and its name, which its judgments carry."""

    name: str
    judge: Judge


Panel = Sequence[NamedJudge]


def make_panel(
    names: Sequence[str], settings: Mapping[str, Any], made: Mapping[str, Judge] | None = None
) -> list[NamedJudge]:
    """Return the judges of a job with their settings; those `made` already are taken as they are.

    The settings of one judge are flat; those of several are given by judge. Raises PluginError for
    an unknown judge, WorkflowError for settings that a judge does not have.
    """
    by_judge, made = settings_by_judge(names, settings), made or {}
    for name in made.keys() & by_judge.keys():
        if by_judge[name]:
            given = ", ".join(by_judge[name])
            message = f"judge {name} is given as an object, which has its settings: {given}"
            raise WorkflowError(f"{message} cannot be set beside it")
    return [
        NamedJudge(name, made[name] if name in made else make_judge(name, by_judge[name]))
        for name in names
    ]


def resolved_panel(panel: Panel) -> list[NamedJudge]:
    """Return the judges with all that they have to look up before they judge.

    Raises PluginError, which names the judge.
    """
    found = []
    for named in panel:
        try:
            found.append(NamedJudge(named.name, resolved(named.judge)))
        except PluginError as error:
            raise PluginError(f"judge {named.name}: {error}") from error
    return found


def settings_by_judge(
    names: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the settings of each judge by name. Raises WorkflowError for a stray key."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise WorkflowError(f"judge {repeated[0]!r} is named twice")
    own = {name: settings[name] for name in names if isinstance(settings.get(name), dict)}
    rest = {key: value for key, value in settings.items() if key not in own}
    if len(names) == 1:
        return {names[0]: rest | own.get(names[0], {})}
    # Which judge a flat setting is meant for is open, even where only one has it.
    for key in rest:
        hint = "the settings of several judges are given by judge"
        raise WorkflowError(f"settings: {unknown('judge', key, names)}; {hint}")
    return {name: dict(own.get(name, {})) for name in names}


def panel_spec(
    panel: Panel,
    wanted: Mapping[str, Any] | None = None,
    references: Iterable[str] = (),
    by_expected: bool = True,
) -> LeaderboardSpec:
    """Return the measures of all judges as one leaderboard, with `leaderboard:` applied.

    A measure sees only its own judge's judgments. Where two judges have a measure of one name,
    both are named `JUDGE.MEASURE`, and MEASURE is the first one's; `judge.*` are all of a judge.
    Without `sort_by` the measure ranks that the first judge ranks by, or where most runs have no
    value of it, that of the next judge; `by_expected`, what is expected of it may rank in its
    place. Raises WorkflowError.
    """
    specs = {named.name: measures_of(named.judge) for named in panel}
    names = column_names(panel)
    columns: tuple[MeasureSpec, ...] = tuple(
        replace(
            m,
            name=names[judge, m.name],
            judge=judge,
            expected_of=names.get((judge, m.expected_of), ""),
        )
        for judge, spec in specs.items()
        for m in spec.measures
    )
    first = panel[0].name
    sort_by = names[first, specs[first].sort_by] if specs[first].sort_by else ""

    def fill(judgment: Judgment, best: bool) -> Judgment:
        own = specs[judgment.judge].fill
        return judgment if own is None else own(judgment, best)

    # The first judge's settings of the leaderboard hold for all.
    whole = replace(specs[first], measures=columns, sort_by=sort_by, fill=fill)
    spec = leaderboard_spec(whole, _name_columns(wanted or {}, names), references)
    if not by_expected:
        spec = replace(spec, expected=())
    for measure in spec.measures:
        if measure.judge and measure.judge not in specs:
            raise WorkflowError(f"measure {measure.name}: {unknown('judge', measure.judge, specs)}")
    if len(panel) == 1 or (wanted or {}).get("sort_by"):
        return spec
    # One judge that lacks its input must not leave the runs of all without an order.
    ranking = tuple(ranked_by_judge(panel, [measure.name for measure in spec.measures]).values())
    return replace(spec, sort_by=next(iter(ranking), spec.sort_by), then_by=ranking)


def ranked_by_judge(panel: Panel, columns: Collection[str]) -> dict[str, str]:
    """Return the measure that each judge ranks by, as the leaderboard of all calls it.

    A judge whose measure is in no column has none.
    """
    names = column_names(panel)
    found = {s.name: names[s.name, measures_of(s.judge).ranked_by] for s in panel}
    return {judge: name for judge, name in found.items() if name in columns}


def pooling_judges(panel: Panel) -> list[str]:
    """Return the judges whose qrels are classic ones, pooled over all runs."""
    return [named.name for named in panel if measures_of(named.judge).pooled_qrels]


def leading_measures(panel: Panel, spec: LeaderboardSpec) -> list[str]:
    """Return the measures to look at first: all of one judge, the ranking one of each of several.

    Of a judge whose ranking measure is no column, its first column is taken.
    """
    columns = [measure.name for measure in spec.measures]
    if len(panel) == 1:
        return columns
    # Backwards, so that of each judge its first column is left.
    first = {measure.judge: measure.name for measure in reversed(spec.measures)}
    ranking = first | ranked_by_judge(panel, columns)
    leading = {spec.ranked_by, *ranking.values(), *map(spec.in_place_of, ranking.values())}
    return [name for name in columns if name in leading]


def column_names(panel: Panel) -> dict[tuple[str, str], str]:
    """Return the name of each measure in the leaderboard by its judge and its own name."""
    every = [(named.name, m.name) for named in panel for m in measures_of(named.judge).measures]
    count = Counter(name for _, name in every)
    return {(j, name): name if count[name] == 1 else f"{j.upper()}.{name}" for j, name in every}


def column_of(name: str, names: Mapping[tuple[str, str], str]) -> str:
    """Return the column that a name stands for: its own, or that of the first judge that has it."""
    if name in names.values():
        return name
    return next((column for (_, own), column in names.items() if own == name), name)


def _name_columns(
    wanted: Mapping[str, Any], names: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Return `leaderboard:` with columns for the names of measures."""
    named = dict(wanted)
    if isinstance(sort_by := wanted.get("sort_by"), str):
        named["sort_by"] = column_of(sort_by, names)
    if isinstance(measures := wanted.get("measures"), list):
        found: dict[Any, None] = {}
        for name in map(str, measures):
            every = [column for (judge, _), column in names.items() if name == f"{judge}.*"]
            found |= dict.fromkeys(every or [column_of(name, names)])
        named["measures"] = list(found)
    return named


def with_calibration(panel: Panel, path: Path) -> list[NamedJudge]:
    """Return the panel with this calibration in every judge that takes one.

    Raises PluginError if none does.
    """
    if not any(_file_of(named.judge, "calibration") is not None for named in panel):
        names = ", ".join(repr(named.name) for named in panel)
        raise PluginError(f"judge {names} takes no calibration (--calibration)")
    return [
        named
        if _file_of(named.judge, "calibration") is None
        else NamedJudge(named.name, replace(cast(Any, named.judge), calibration=str(path)))
        for named in panel
    ]


def calibrations(panel: Panel) -> list[Path]:
    """Return the calibration files that the judges use. Raises InputError for another file."""
    paths = {path: None for named in panel if (path := _file_of(named.judge, "calibration"))}
    for path in paths:
        calibration_at(path)
    return list(map(Path, paths))


def importances(panel: Panel) -> list[Importance]:
    """Return the weights of claims that the judges use. Raises InputError for another file."""
    given = (_file_of(named.judge, "claim_weights") for named in panel)
    return [importance_at(path) for path in dict.fromkeys(given) if path and path != MODEL]


def _file_of(judge: Judge, setting: str) -> str | None:
    """Return a setting of a judge that names a file, None if it has no such setting."""
    found = getattr(judge, setting, None)
    return found if isinstance(found, str) else None


def panel_programs(panel: Panel) -> dict[str, Program]:
    """Return the DSPy programs that the judges run, by name."""
    return {name: p for named in panel for name, p in programs_of(named.judge).items()}


def panel_settings(panel: Panel) -> dict[str, dict[str, Any]]:
    """Return the resolved settings of each judge by name."""
    return {named.name: settings_of(named.judge) for named in panel}


def hiding_failures(panel: Panel) -> list[str]:
    """Return the names of the judges that cannot tell what failed from what is worth nothing."""
    return [named.name for named in panel if hides_failures(named.judge)]


# Labels of people or of another tool in place of a judge's own decisions.
@dataclass(frozen=True, slots=True)
class GivenJudge:
    """A judge whose decisions are looked up; an item without a label is unjudged."""

    inner: Judge
    labels: Mapping[ItemKey, str]

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Return the judgment that the item's label makes, or those of its nuggets' labels.

        Where a judge says that nobody can label an item, it decides on it itself.
        """
        if isinstance(self.inner, DecidesSome) and self.inner.decides_itself(item):
            return await self.inner.judge(item, model)
        if isinstance(self.inner, TakesNuggetLabels):
            asked = self.inner.asked(item)
            # A response without text states nothing, whatever a label says: the judge decides.
            if not (asked and item.has_text):
                return await self.inner.judge(item, model)
            return [self._on_nugget(item, *each) for each in asked]
        doc_id = item.citation.doc_id if item.citation else None
        doc_id = item.document.doc_id if item.document and doc_id is None else doc_id
        on = judgment_of(item, doc_id=doc_id)
        key, label = label_of(self.labels, on)
        # A citation of no document needs no label: that is the system's fault, not a gap.
        if label is None and item.exists is False:
            return await self._without_label(item, model)
        if label is None:
            raise JudgmentFailed(NOT_GIVEN, f"no label is given for {key}")
        assert isinstance(self.inner, TakesLabels)
        return self.inner.given(item, label)

    def _on_nugget(self, item: Item, sentence: int | None, nugget: AskedNugget | None) -> Judgment:
        """Return the judgment that the label of a nugget makes; unjudged where there is none."""
        assert isinstance(self.inner, TakesNuggetLabels)
        on = judgment_of(item, sentence_index=sentence, nugget=nugget)
        key, label = label_of(self.labels, on)
        try:
            if label is None:
                raise JudgmentFailed(NOT_GIVEN, f"no label is given for {key}")
            made = self.inner.given_nugget(item, nugget, label)
        except JudgmentFailed as failed:
            made = unjudged(item, failed)
        return replace(made, sentence_index=sentence, nugget=nugget)

    async def _without_label(self, item: Item, model: Model) -> Judgment:
        """Return what the judge makes of a citation of no document, which nobody can label."""
        found = await self.inner.judge(item, model)
        assert isinstance(found, Judgment)
        return found


def with_labels(panel: Panel, labels: Mapping[ItemKey, str]) -> list[NamedJudge]:
    """Return the panel with decisions taken from labels by the judges that can take them.

    Raises PluginError if none can.
    """
    check_takes_labels(panel, "--judgments-from")
    return [
        NamedJudge(named.name, GivenJudge(_meeting(named.judge, labels), labels))
        if takes_labels(named.judge)
        else named
        for named in panel
    ]


def _meeting(judge: Judge, labels: Mapping[ItemKey, str]) -> Judge:
    """Return a judge of battles with those that are labelled; any other one as it is."""
    meeting = getattr(judge, "meeting", None)
    return judge if meeting is None else cast(Judge, meeting(labels))


def check_takes_labels(panel: Panel, flag: str) -> None:
    """Raise PluginError if no judge can take labels of others."""
    if not any(takes_labels(named.judge) for named in panel):
        names = ", ".join(repr(named.name) for named in panel)
        raise PluginError(f"judge {names} takes no labels of others ({flag})")


# A judge whose groups are asked in reverse order: a test whether their order matters.
@dataclass(frozen=True, slots=True)
class ReversedGroups:
    """The judge itself, but the items of a group are put to the model in reverse order."""

    inner: GroupingJudge

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    @property
    def group(self) -> int:
        """The most items in a group."""
        return self.inner.group

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    def group_of(self, item: Item) -> Hashable | None:
        """Return what the items of a group have in common."""
        return self.inner.group_of(item)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Judge one item."""
        return await self.inner.judge(item, model)

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Return a judgment for each item, in the given order."""
        return (await self.inner.judge_group(items[::-1], model))[::-1]

"""Settings of judges, by judge, at one point or at several of a sweep; workflows checked."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import brief
from trecjudge.job.workflow import Workflow, check_leaderboard, names_in
from trecjudge.judging.judge import judge_class
from trecjudge.judging.panel import make_panel
from trecjudge.models.settings import LlmSettings
from trecjudge.results.outputs import replace_unsafe
from trecjudge.settings.fields import typed_fields
from trecjudge.settings.strict_yaml import YamlFault, read_yaml

SECTIONS = ("llm", "leaderboard")
MOST_POINTS = 1000
"""Points of a sweep; more are most likely a mistake, and each point is a whole job."""
LONGEST = 120
"""Bytes of a suffix; a longer one is cut, since file systems allow names of 255."""

Where = Callable[[tuple[str, ...]], str]
"""(path of a key) -> its place in the workflow, for a message."""


# `--set` beats the variant, which beats `settings`; a sweep and `--set` may not set the same key.
@dataclass(frozen=True, slots=True)
class Setting:
    """A value for a key of a judge, or of a section of the workflow; `where` is its place."""

    owner: str
    key: str
    value: Any
    where: str = field(compare=False)


Settings = dict[tuple[str, str], Setting]
"""Settings by owner and key."""
NO_SETTINGS: Settings = {}


@dataclass(frozen=True, slots=True)
class JudgeNames:
    """The judges of a job, by name, and the workflow that has their settings.

    `owner` is the judge that settings without a judge's name belong to; it is empty where they
    could be of any. `joined` are the judges that the workflow does not name.
    """

    workflow: Workflow
    judges: Sequence[str]
    owner: str = ""
    joined: Sequence[str] = ()

    @classmethod
    def of(cls, workflow: Workflow, chosen: Sequence[str], also: Sequence[str]) -> JudgeNames:
        """Return the judges: those chosen, else the workflow's, and those that judge beside them.

        Where a workflow names one judge, its settings are that judge's, even if others judge beside
        it. The workflow's own come first, each part by name: the order in which judges are named
        decides no figure. Raises WorkflowError where no judge is named.
        """
        first = names_in(",".join(chosen)) if chosen else workflow.judges
        if not first:
            raise WorkflowError("--judge names no judge")
        beside = [name for name in names_in(",".join(also)) if name not in first]
        ranking = workflow.judges if workflow.names_judges else ()
        judges = sorted(
            [*first, *dict.fromkeys(beside)], key=lambda name: (name not in ranking, name)
        )
        own = workflow.judges if workflow.names_judges else first
        single = [names[0] for names in (judges, own, first) if len(names) == 1]
        owner = next((name for name in single if name in judges), "")
        return cls(workflow, judges, owner, [name for name in judges if name not in own])

    def resolve(
        self, given: Mapping[str, Any], where: Where, sections: Sequence[str] = SECTIONS
    ) -> Settings:
        """Return settings by owner, from `key`, `judge.key` or `judge: {key: value}`.

        Raises WorkflowError for a key of no judge, or one that is given twice.
        """
        found: Settings = {}
        for key, value in given.items():
            for setting in self._settings(key, value, where, sections):
                both = (setting.owner, setting.key)
                if both in found:
                    message = f"{setting.key} of {setting.owner} is given twice"
                    raise WorkflowError(f"{setting.where}: {message}")
                found[both] = setting
        return found

    def _settings(
        self, key: str, value: Any, where: Where, sections: Sequence[str]
    ) -> Iterator[Setting]:
        known = [*self.judges, *sections]
        before = [name for name in known if key.startswith(f"{name}.")]
        here = where((key,))
        if key in known and isinstance(value, Mapping):
            for name, inner in value.items():
                if not isinstance(name, str):
                    message = f"{key} has the key {brief(name)}, must be a name"
                    raise WorkflowError(f"{here}: {message}")
                yield Setting(key, name, inner, where((key, name)))
        elif before:
            owner = max(before, key=len)  # a judge `a.b` before a judge `a`
            yield Setting(owner, key.removeprefix(f"{owner}."), value, here)
        elif key in sections or (key in known and not self.owner):
            message = f"{key} is {brief(value)}, must be a mapping of settings"
            raise WorkflowError(f"{here}: {message}")
        elif self.owner and "." not in key:
            yield Setting(self.owner, key, value, here)
        else:
            judge = key.rpartition(".")[0] or key
            hint = "" if self.owner else "; the settings of several judges are given by judge"
            raise WorkflowError(f"{here}: {unknown('judge', judge, known)}{hint}")


@dataclass(frozen=True, slots=True)
class SettingsPoint:
    """One set of settings to judge with; `suffix` is added to the names of its files.

    `settings` are flat for one judge, by judge for several. `workflow` has its sections `llm` and
    `leaderboard` as they are at this point.
    """

    suffix: str
    settings: dict[str, Any]
    workflow: Workflow
    chosen: Mapping[str, str] = field(default_factory=dict)
    """The variant, or the sweep and its point, by `variant`, `sweep` and `point`."""


def read_overrides(written: Sequence[str], names: JudgeNames) -> Settings:
    """Return what `--set` sets, each value read as YAML.

    Raises WorkflowError for what is no KEY=VALUE, and where two set one key differently.
    """
    found: Settings = {}
    for text in written:
        for key, setting in _override(text, names).items():
            before = found.setdefault(key, setting)
            if before.value != setting.value:
                raise WorkflowError(f"{before.where} and {setting.where}: give one")
    return found


def _override(written: str, names: JudgeNames) -> Settings:
    key, equals, text = written.partition("=")
    key = key.strip()
    if not equals or not key.rpartition(".")[2]:
        choices = "key=value, judge.key=value, llm.key=value or leaderboard.key=value"
        raise WorkflowError(f"--set {written!r}: give {choices}")
    try:
        value = read_yaml(text).value
    except YamlFault as error:
        raise WorkflowError(f"--set {written!r}: the value {error}") from error
    return names.resolve({key: value}, lambda _: f"--set {written}")


def sweep_points(
    names: JudgeNames,
    overrides: Settings = NO_SETTINGS,
    variant: str | None = None,
    all_variants: bool = False,
    sweep: str | None = None,
) -> list[SettingsPoint]:
    """Return the settings to judge with, one point or several, each with a suffix of its own.

    Raises WorkflowError for a variant or sweep that the workflow does not have, a key that it and
    `--set` set, and two points that would have the same files.
    """
    workflow = names.workflow
    if sum([variant is not None, all_variants, sweep is not None]) > 1:
        raise WorkflowError("give one of --variant, --variant every and --sweep")
    if all_variants and not workflow.variants:
        raise WorkflowError("--variant every: the workflow has no variants")
    if variant is not None and variant not in workflow.variants:
        raise WorkflowError(unknown("variant", variant, workflow.variants))
    if sweep is not None and sweep not in workflow.sweeps:
        raise WorkflowError(unknown("sweep", sweep, workflow.sweeps))
    if sweep is not None:
        named = _sweep_points(names, sweep, overrides)
    else:
        chosen = list(workflow.variants) if all_variants else [variant] if variant else []
        named = [(name, variant_settings(names, name)) for name in chosen] or [("", {})]
    found = []
    for suffix, (name, changes) in zip(_suffixes(named), named, strict=True):
        which = {"sweep": sweep, "point": name} if sweep is not None else {"variant": name}
        point = _point(names, suffix, changes, overrides)
        found.append(replace(point, chosen=which if name else {}))
    return found


def variant_settings(names: JudgeNames, variant: str) -> Settings:
    """Return what a variant sets. Raises WorkflowError for a key of no judge."""
    where = partial(_where, names.workflow, ("variants", variant))
    return names.resolve(names.workflow.variants[variant], where)


def own_settings(names: JudgeNames) -> Settings:
    """Return what `settings` sets. Raises WorkflowError for a key of no judge."""
    where = partial(_where, names.workflow, ("settings",))
    return names.resolve(names.workflow.settings, where, sections=())


def _where(workflow: Workflow, path: tuple[str, ...], inside: tuple[str, ...]) -> str:
    return workflow.where(*path, inside=inside)


def _point(names: JudgeNames, suffix: str, changes: Settings, overrides: Settings) -> SettingsPoint:
    """Return the point where `changes` lie over the settings, and `--set` over both."""
    workflow = names.workflow
    by_owner: dict[str, dict[str, Any]] = {}
    for setting in (own_settings(names) | changes | overrides).values():
        by_owner.setdefault(setting.owner, {})[setting.key] = setting.value
    llm, leaderboard = (
        getattr(workflow, section) | by_owner.pop(section, {}) for section in SECTIONS
    )
    if "api_key" in llm:  # it would be written to the config file
        raise WorkflowError("llm.api_key: keys do not belong in a workflow; set OPENAI_API_KEY")
    shown_measures = workflow.leaderboard.get("measures")
    if isinstance(shown_measures, list) and leaderboard["measures"] is shown_measures:
        # The workflow selects measures of its own judges only; of judges that join, show all.
        everything = [f"{name}.*" for name in names.joined]
        leaderboard["measures"] = [*shown_measures, *everything]
    settings = by_owner.get(names.judges[0], {}) if len(names.judges) == 1 else by_owner
    own = replace(workflow, llm=llm, leaderboard=leaderboard, measures=_measures(names))
    return SettingsPoint(suffix, settings, own)


def _measures(names: JudgeNames) -> list[str]:
    """Return the user's own measures, tied to the workflow's one judge where others join it."""
    own = names.workflow.measures
    if not (names.joined and names.owner):
        return own
    return [m if "@" in str(m) else f"{m}@{names.owner}" for m in own]


def sweep_axes(names: JudgeNames, sweep: str) -> list[list[tuple[str, Settings]]]:
    """Return each swept setting as a list of its values in turn, each with its name.

    A value may be a mapping of several settings of one judge. Raises WorkflowError for a key of no
    judge.
    """
    workflow, path = names.workflow, ("sweeps", sweep)
    found = []
    for key, values in workflow.sweeps[sweep].items():
        if isinstance(values, Mapping) and key not in (*names.judges, *SECTIONS):
            where = workflow.where(*path, inside=(key,))
            raise WorkflowError(f"{where}: {unknown('judge', key, names.judges)}")
        inner = values if isinstance(values, Mapping) else {"": values}
        for name, choices in inner.items():
            where_it_stands = partial(_where, workflow, path)
            full = f"{key}.{name}" if name else key
            found.append(
                [
                    (_label(full, choice), names.resolve({full: choice}, where_it_stands))
                    for choice in choices
                ]
            )
    return found


def _label(key: str, value: Any) -> str:
    if isinstance(value, Mapping) and value:
        return ".".join(_label(f"{key}.{name}", inner) for name, inner in value.items())
    return f"{key}-{value}"


def _sweep_points(names: JudgeNames, sweep: str, overrides: Settings) -> list[tuple[str, Settings]]:
    """Return every combination of what a sweep sets, each with its name."""
    found = sweep_axes(names, sweep)
    where = names.workflow.where("sweeps", sweep)
    # Counted before they are made: a typo can ask for billions.
    count = math.prod(map(len, found))
    if count > MOST_POINTS:
        raise WorkflowError(f"sweep {sweep!r} has {count} points, more than {MOST_POINTS}")
    swept: Settings = {}
    for axis in found:
        sets = {key: setting for _, choice in axis for key, setting in choice.items()}
        for owner, key in sets.keys() & swept.keys():
            raise WorkflowError(f"{where}: {key} of {owner} is swept twice")
        swept |= sets
    for owner, key in swept.keys() & overrides.keys():
        both = f"{overrides[owner, key].where} and --sweep {sweep} ({swept[owner, key].where})"
        raise WorkflowError(f"{both} both set {key} of {owner}: give one")
    return [
        (".".join(label for label, _ in chosen), _join_layers(sets for _, sets in chosen))
        for chosen in itertools.product(*found)
    ]


def _join_layers(layers: Iterable[Settings]) -> Settings:
    return {key: setting for sets in layers for key, setting in sets.items()}


def _suffixes(named: Sequence[tuple[str, Settings]]) -> list[str]:
    owners: dict[str, str] = {}
    for name, _ in named:
        suffix = suffix_of(name)
        # Two names may become one once they are safe for a file; one job would replace the other.
        if suffix in owners:
            both = f"{owners[suffix]!r} and {name!r}" if name != owners[suffix] else f"{name!r}"
            raise WorkflowError(f"two points would have the files of {suffix!r}: {both}")
        owners[suffix] = name
    return list(owners)


def suffix_of(name: str) -> str:
    """Return a name as it can be a part of the names of files."""
    safe = replace_unsafe(name)
    if len(safe.encode()) <= LONGEST:
        return safe
    start = safe.encode()[:LONGEST].decode(errors="ignore")
    # The digest keeps long names apart that differ only at the end.
    return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def check_workflow(names: JudgeNames) -> None:
    """Raise WorkflowError, with its place, for any setting of a workflow that has no effect.

    The judges of each variant are made; of a sweep, each value is checked on its own.
    """
    workflow = names.workflow
    llm = [
        Setting("llm", key, value, workflow.where("llm", inside=(key,)))
        for key, value in workflow.llm.items()
    ]
    check_settings([*llm, *own_settings(names).values()])
    for variant in workflow.variants:
        check_settings(variant_settings(names, variant).values())
        (point,) = sweep_points(names, variant=variant)
        try:
            make_panel(names.judges, point.settings)
        except WorkflowError as error:
            where = workflow.where("variants", variant)
            raise WorkflowError(f"{where}: {error}") from error
    # Each value on its own: the combinations of a sweep can be a thousand.
    for sweep in workflow.sweeps:
        for axis in sweep_axes(names, sweep):
            check_settings(setting for _, sets in axis for setting in sets.values())


def check_settings(settings: Iterable[Setting]) -> None:
    """Raise WorkflowError for a setting of an unknown name or a wrong type."""
    for setting in settings:
        value, where = {setting.key: setting.value}, setting.where
        if setting.owner == "leaderboard":
            check_leaderboard(where, value)
        elif setting.owner == "llm":
            typed_fields(LlmSettings, value, where)
        else:
            # The place names `settings` already where the section itself is meant.
            kind = "" if where.endswith(": settings") else ": settings"
            where = f"{where}{kind} of judge {setting.owner}"
            typed_fields(judge_class(setting.owner), value, where)

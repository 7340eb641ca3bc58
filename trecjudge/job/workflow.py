"""Workflow files: judges, their settings and the leaderboard; read and checked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import TrecJudgeError, WorkflowError, near_ones, unknown
from trecjudge.findings import brief
from trecjudge.judging.judge import make_judge, settings_of
from trecjudge.models.compiled import names_file, prompt_text
from trecjudge.models.settings import LlmSettings
from trecjudge.records import Place
from trecjudge.settings.fields import TRUTH
from trecjudge.settings.plugins import SHIPPED
from trecjudge.settings.strict_yaml import AmbiguousScalar, YamlDocument, read_yaml_file

JUDGE = "autojudge"
CLASSES = ("judge_class", "nugget_class", "qrels_class")
PHASES = ("nugget_settings", "judge_settings", "qrels_settings")
CARRIED = (
    *CLASSES,
    *("nugget_input", "qrels_input", "create_nuggets", "create_qrels"),
    *("judge_uses_nuggets", "judge_uses_qrels", "qrels_uses_nuggets"),
    "nugget_depends_on_responses",
)
"""Keys that are settings of our judge by the same names."""
OWN = "trecjudge."
OURS = ("llm", "leaderboard", "gate", "measures")
"""Sections of our own that may stand in such a file; theirs passes them over."""


def is_autojudge(value: Mapping[str, Any]) -> bool:
    """Return whether the content of a workflow file names a class of AutoJudge's protocol."""
    return any(value.get(key) for key in CLASSES)


def convert_autojudge(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the content of a workflow of theirs as that of one of ours.

    Settings are merged as theirs does. With `judge: false` only banks of nuggets are made. Raises
    WorkflowError for what asks for neither.
    """
    value = {key: _clear(inner) for key, inner in value.items()}
    scores = value.get("judge") is not False
    if scores and not value.get("judge_class"):
        message = "has no judge_class, which makes the leaderboard; for nuggets only, judge: false"
        raise WorkflowError(f"{where}: {message}")
    for key in CLASSES:
        if not isinstance(value.get(key, ""), str):
            raise WorkflowError(f"{where}: {key} is {brief(value[key])}, must be text")
    if value.get("judge_class", "").startswith(OWN):
        message = "judge_class is our own judge, as `auto-judge run` wants it; here give --judge"
        raise WorkflowError(f"{where}: {message}")
    if not isinstance(value.get("judge", True), bool):
        raise WorkflowError(f"{where}: has judge and judge_class: give one")
    makes = value.get("nugget_class") or value.get("judge_class")
    if not scores and not (makes and value.get("create_nuggets") is not False):
        message = "judge is false: there would be no leaderboard, and no nuggets are made either"
        raise WorkflowError(f"{where}: {message}")
    for key in ("settings", *PHASES, "variants", "sweeps"):
        if not isinstance(value.get(key) or {}, Mapping):
            raise WorkflowError(f"{where}: {key} is {brief(value[key])}, must be a mapping")
    carried = {key: value[key] for key in CARRIED if value.get(key) is not None}
    carried |= {} if scores else {"scores": False, "create_nuggets": True}
    sections = {key: value[key] for key in OURS if value.get(key) is not None}
    variants = {
        name: _merge_settings(value, _entry(where, "variants", name, given))
        for name, given in (value.get("variants") or {}).items()
    }
    sweeps = {
        name: {JUDGE: _points(value, _entry(where, "sweeps", name, given))}
        for name, given in (value.get("sweeps") or {}).items()
    }
    settings = carried | _merge_settings(value, {})
    return sections | {
        "judge": JUDGE,
        "settings": settings,
        "variants": variants,
        "sweeps": sweeps,
    }


def _entry(where: str, section: str, name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise WorkflowError(f"{where}: {section}.{name} is {brief(given)}, must be a mapping")
    return dict(given)


def _merge_settings(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings with those of a variant: what all phases share, then their own."""
    shared = {key: inner for key, inner in changes.items() if key not in PHASES}
    whole = dict(value.get("settings") or {})
    found = {"settings": whole | shared}
    for phase in PHASES:
        own, changed = dict(value.get(phase) or {}), dict(changes.get(phase) or {})
        found[phase] = whole | own | shared | changed
    return {key: inner for key, inner in found.items() if inner}


def _points(value: Mapping[str, Any], sweep: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings at each point: every combination of what has a list of values."""
    lists = {k: v for k, v in sweep.items() if isinstance(v, list) and k not in PHASES}
    fixed = {key: inner for key, inner in sweep.items() if key not in lists}
    merged = _merge_settings(value, fixed) if fixed else {}
    combinations = itertools.product(*lists.values())
    points = [dict(zip(lists, chosen, strict=True)) for chosen in combinations]
    return [{"override": point} | merged for point in points]


def _clear(value: Any) -> Any:
    """Return a value with `yes`, `no`, `on`, `off` as theirs reads them: as truth values."""
    if isinstance(value, AmbiguousScalar) and value.lower() in TRUTH:
        return TRUTH[value.lower()]
    if isinstance(value, Mapping):
        return {key: _clear(inner) for key, inner in value.items()}
    return [_clear(inner) for inner in value] if isinstance(value, list) else value


DEFAULT_JUDGE = "citation"
WORKFLOWS = SHIPPED / "workflows"
"""The folder of the workflows that are shipped."""
LEADERBOARD_KEYS = ("sort_by", "on_missing", "measures", "test")


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow file as read. `variants` name settings, `sweeps` lists of values of settings.

    `embeddings` and `rerank` are settings of endpoints that give vectors and scores of texts.
    `voters` judge every item, and `vote` says how their labels make one ("": by majority).
    `gate` has rules as `trecjudge.scores.review` reads them, `audit` as `trecjudge.job.audit` does.
    `season` is the section of a shared task, which only `season` reads.
    `datasets` has sections that take the place of those of the file, by dataset; `dataset` is the
    one whose sections these are. `lines` are the line numbers of its keys, by their path.
    """

    judge: str | list[str] = DEFAULT_JUDGE
    settings: dict[str, Any] = field(default_factory=dict)
    llm: dict[str, Any] = field(default_factory=dict)
    reflection: dict[str, Any] = field(default_factory=dict)
    leaderboard: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    sweeps: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: dict[str, Any] = field(default_factory=dict)
    voters: dict[str, Any] = field(default_factory=dict)
    vote: str = ""
    gate: dict[str, Any] = field(default_factory=dict)
    embeddings: dict[str, Any] = field(default_factory=dict)
    rerank: dict[str, Any] = field(default_factory=dict)
    measures: list[str] = field(default_factory=list)
    audit: dict[str, Any] | str = field(default_factory=dict)
    season: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    dataset: str = ""
    path: Path | None = None
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict, repr=False)

    @property
    def names_judges(self) -> bool:
        """Whether the file itself names its judges."""
        return ("judge",) in self.lines

    def where(self, *path: str, inside: tuple[str, ...] = ()) -> str:
        """Return the place of a key, for a message: `w.yml:3: sweeps.grid`.

        The line is that of the key `inside` it, or of the nearest key above that has one.
        """
        keys, text = (*path, *inside), ".".join(path)
        if self.path is None:
            return text
        known = (keys[:count] for count in range(len(keys), 0, -1) if keys[:count] in self.lines)
        return f"{Place(str(self.path), self.lines.get(next(known, ())))}: {text}"

    @property
    def judges(self) -> list[str]:
        """The names of the judges, in order."""
        return names_in(self.judge) if isinstance(self.judge, str) else list(map(str, self.judge))


AXIS = 3
"""How long the path of a swept key is: `sweeps`, the sweep, the key."""
KEYS = [f.name for f in fields(Workflow) if f.name not in ("dataset", "path", "lines")]
DATASET_KEYS = [key for key in KEYS if key not in ("judge", "season", "datasets")]
"""What an entry of `datasets` may have: the judge is that of the file."""
SECTION_KEYS = {"leaderboard": LEADERBOARD_KEYS, "llm": [f.name for f in fields(LlmSettings)]}
"""Keys that some write at the top, by the section that has them."""


def find_workflow(given: Path, shipped: Path = WORKFLOWS) -> tuple[Path, str]:
    """Return a workflow file, and the entry of its `datasets` that is asked for, "" for none.

    It is the path that is given or, by its name, one of those shipped: `workflows/NAME.yml` is such
    a name too, in any current folder, and so is `NAME_judge/workflow.yml`, where each judge has a
    folder. `NAME_DATASET` is the entry DATASET of NAME.yml. Raises WorkflowError with the
    shipped one of the judge that a path names, else with the names of all.
    """
    if given.exists() and not given.is_dir():
        return given, ""
    if given.parent.name in ("", shipped.name):
        path = shipped / f"{given.stem}.yml"
        if found := (path, "") if path.is_file() else _dataset_file(path):
            return found
    if found := _dataset_file(given.with_suffix(given.suffix or ".yml")):
        return found
    folder = given.parent.name
    if given.stem == "workflow" and folder.endswith("_judge"):
        path = shipped / f"{folder.removesuffix('_judge')}.yml"
        if path.is_file():
            return path, ""
    there = "is a folder, no workflow file" if given.is_dir() else "no such file"
    names = shipped_names(shipped)
    if own := [name for name in (given.stem, folder) if folder and name in names]:
        raise WorkflowError(f"{given}: {there}; the shipped one is --workflow {own[0]}")
    if not near_ones(str(given), names):  # a list of those of datasets too would be too long
        names = sorted(path.stem for path in shipped.glob("*.yml"))
    raise WorkflowError(f"{given}: {there}, and {unknown('workflow', str(given), names)}")


def _dataset_file(wanted: Path) -> tuple[Path, str] | None:
    """Return NAME.yml and DATASET for a path that ends in NAME_DATASET.yml; None without such."""
    for cut in re.finditer("_", wanted.stem):
        path, dataset = wanted.with_stem(wanted.stem[: cut.start()]), wanted.stem[cut.end() :]
        if path.is_file() and dataset in datasets_in(path):
            return path, dataset
    return None


def datasets_in(path: Path) -> list[str]:
    """Return the names of a workflow file's `datasets`."""
    value = read_yaml_file(path, "workflow").value
    found = value.get("datasets") if isinstance(value, dict) else None
    return list(map(str, found)) if isinstance(found, dict) else []


def shipped_names(shipped: Path = WORKFLOWS) -> list[str]:
    """Return the names of the workflows that are shipped, those of datasets too, sorted."""
    paths = list(shipped.glob("*.yml"))
    of_datasets = (f"{path.stem}_{name}" for path in paths for name in datasets_in(path))
    return sorted([*(path.stem for path in paths), *of_datasets])


def read_workflow(path: Path, dataset: str = "") -> Workflow:
    """Return the workflow of a file, checked; of a job's config file, the workflow that ran.

    With `dataset`, the sections of this entry of its `datasets` take the place of those of the
    file. Raises WorkflowError with file and line.
    """
    read = _of_a_config(read_yaml_file(path, "workflow"))
    if read.value is None:
        return Workflow(path=path)
    if not isinstance(read.value, dict):
        raise WorkflowError(f"{path}: must be a mapping of {', '.join(KEYS)}")
    if is_autojudge(read.value):
        return _of_autojudge(path, read)
    workflow = _checked_workflow(path, read.value, read.lines)
    # All of them are checked, whichever is asked for: a mistake shows at the first job.
    by_dataset = {name: _of_dataset(workflow, read, name) for name in workflow.datasets}
    return by_dataset[dataset] if dataset else workflow


def _checked_workflow(
    path: Path, content: Mapping[str, Any], lines: Mapping[tuple[str, ...], int]
) -> Workflow:
    named = content.get("judge") or DEFAULT_JUDGE
    for key, value in content.items():
        _check(Place(str(path), lines.get((str(key),))), str(key), value, named)
    given = {k: v for k, v in content.items() if v is not None}
    workflow = Workflow(**given, path=path, lines=lines)
    _check_entries(workflow)
    prompts = {name: prompt_beside(path, text) for name, text in workflow.prompts.items()}
    return replace(workflow, prompts=prompts)


def _of_dataset(workflow: Workflow, read: YamlDocument, name: str) -> Workflow:
    """Return the workflow of a dataset: the entry's sections in place of those of the file."""
    assert workflow.path is not None
    entry, where = workflow.datasets[name] or {}, workflow.where("datasets", name)
    if not isinstance(entry, dict):
        raise WorkflowError(f"{where} is {brief(entry)}, must be a mapping")
    for key in entry:
        if key not in DATASET_KEYS:
            raise WorkflowError(f"{where}: {unknown('key', str(key), DATASET_KEYS)}")
    above = ("datasets", name)
    lines = {keys: line for keys, line in read.lines.items() if keys[0] not in entry}
    lines |= {k[2:]: line for k, line in read.lines.items() if k[:2] == above and k[2:]}
    content = {key: value for key, value in read.value.items() if key != "datasets"} | entry
    return replace(_checked_workflow(workflow.path, content, lines), dataset=name)


def prompt_beside(path: Path, given: object) -> str:
    """Return a prompt; a file named in it that lies beside the workflow as seen from here."""
    if isinstance(given, Mapping):
        state = given.get("state")
        beside = {"state": _beside(path, state)} if isinstance(state, str) else {}
        return prompt_text({**given, **beside})
    return _beside(path, prompt_text(given))


def _beside(path: Path, text: str) -> str:
    found = path.parent / text.strip() if names_file(text.strip()) else None
    return str(found) if found is not None and found.exists() else text


def _of_a_config(read: YamlDocument) -> YamlDocument:
    """Return the workflow that ran, of a job's config file; any other document unchanged."""
    if not (
        isinstance(read.value, dict) and {"written", "versions", "workflow"} <= set(read.value)
    ):
        return read
    record = read.value["workflow"]
    if not (isinstance(record, dict) and isinstance(record.get("ran"), dict)):
        return read
    above = ("workflow", "ran")
    lines = {path[2:]: line for path, line in read.lines.items() if path[:2] == above and path[2:]}
    return YamlDocument(record["ran"], lines)


def _of_autojudge(path: Path, read: YamlDocument) -> Workflow:
    line = next((read.lines[key,] for key in CLASSES if (key,) in read.lines), None)
    content = convert_autojudge(read.value, str(Place(str(path), line)))
    for key, value in content.items():
        _check(Place(str(path), read.lines.get((key,), line)), key, value, JUDGE)
    lines = {**read.lines, ("judge",): line or 1}
    workflow = Workflow(**content, path=path, lines=lines)
    _check_entries(workflow)
    return workflow


def _check(place: Place, key: str, value: Any, judge: Any) -> None:
    if key not in KEYS:
        raise WorkflowError(f"{place}: {_misplaced(key, '', judge) or unknown('key', key, KEYS)}")
    kinds: dict[str, Any] = {"judge": (str, list), "audit": (str, dict), "measures": list}
    wanted = (kinds | {"vote": str}).get(key, dict)
    if value is not None and not isinstance(value, wanted):
        names = {
            (str, list): "a name or a list of names",
            (str, dict): "a file of labels, or a mapping",
            list: "a list",
            dict: "a mapping",
            str: "text",
        }
        raise WorkflowError(f"{place}: {key} is {brief(value)}, must be {names[wanted]}")
    if key == "judge" and value is not None:
        each = names_in(value) if isinstance(value, str) else value
        if not each or not all(isinstance(name, str) and name for name in each):
            raise WorkflowError(f"{place}: judge is {brief(value)}, must name one judge or several")
    for name in value if isinstance(value, dict) else ():
        if not isinstance(name, str):
            raise WorkflowError(f"{place}: {key} has the key {brief(name)}, must be a name")


def _misplaced(key: Any, section: str, judge: Any) -> str:
    """Return why a key does not belong into a section, or to the top; empty where it may.

    Only a key that another section has is meant for that; of any other its own section tells.
    """
    above = next((name for name, keys in SECTION_KEYS.items() if key in keys), "")
    if section == (above or "settings"):
        return ""
    own = _settings_of(judge) if isinstance(judge, str) else {}
    if section == "settings" and (key in own or not own):
        return ""
    below = above or ("settings" if key in own else "")
    return f"unknown key {key!r}; it belongs below {below!r}" if below else ""


def _settings_of(name: str) -> Mapping[str, Any]:
    """Return the settings of a judge; none where there is no such judge, which is told later."""
    try:
        return settings_of(make_judge(name, {}))
    except TrecJudgeError:
        return {}


def _check_entries(workflow: Workflow) -> None:
    """Check the sections as far as that is possible without the judges."""
    for section in ("settings", *SECTION_KEYS):
        for key in getattr(workflow, section):
            if fault := _misplaced(key, section, workflow.judge):
                raise WorkflowError(f"{workflow.where(section, key)}: {fault}")
    check_leaderboard(workflow.where("leaderboard"), workflow.leaderboard)
    for section in ("variants", "sweeps"):
        for name, entry in getattr(workflow, section).items():
            where = workflow.where(section, name)
            # Its name becomes part of file names, where other characters are replaced.
            if not any(map(str.isalnum, name)):
                raise WorkflowError(
                    f"{where}: {brief(name)} can be in no file name; give letters or digits"
                )
            if not isinstance(entry, dict):
                message = f"{where} is {brief(entry)}, must be a mapping of settings"
                raise WorkflowError(message)
            for key in entry:
                if not isinstance(key, str):
                    raise WorkflowError(f"{where} has the key {brief(key)}, must be a name")
    for name, axes in workflow.sweeps.items():
        if not axes:
            raise WorkflowError(f"{workflow.where('sweeps', name)} is empty: give KEY: [values]")
        for key, values in axes.items():
            _check_axis(workflow, ("sweeps", name, key), values)
    for name, text in workflow.prompts.items():
        if not isinstance(text, str | dict):
            where = workflow.where("prompts", name)
            message = "must be text, or a mapping of signature or module, state and labels"
            raise WorkflowError(f"{where} is {brief(text)}, {message}")


def _check_axis(workflow: Workflow, path: tuple[str, ...], values: Any) -> None:
    """Check the values of a swept setting, or of several that are given by judge."""
    if isinstance(values, dict) and values and len(path) == AXIS:
        for key, inner in values.items():
            _check_axis(workflow, (*path, str(key)), inner)
    elif not isinstance(values, list) or not values:
        where = workflow.where(*path)
        raise WorkflowError(f"{where} is {brief(values)}, must be a list of values")


def check_leaderboard(where: str, value: Mapping[str, Any]) -> None:
    """Raise WorkflowError for an unknown key of `leaderboard:`."""
    for name in value:
        if name not in LEADERBOARD_KEYS:
            raise WorkflowError(f"{where}: {unknown('key', name, LEADERBOARD_KEYS)}")


def names_in(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]

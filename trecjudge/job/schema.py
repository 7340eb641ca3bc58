"""The JSON Schema of workflows, made from the types by which they are read: for editors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, cast, get_args, get_type_hints

from pydantic import TypeAdapter

from trecjudge.job.audit.rules import FIGURES, AuditRules
from trecjudge.job.judges import APART, MOST_SAMPLES, VoterSettings
from trecjudge.job.season.settings import NEEDED, SeasonSettings
from trecjudge.job.sweep import SECTIONS
from trecjudge.job.workflow import (
    DATASET_KEYS,
    DEFAULT_JUDGE,
    KEYS,
    LEADERBOARD_KEYS,
    WORKFLOWS,
)
from trecjudge.judging.judge import judge_class, judge_names, programs_of, summary_of
from trecjudge.judging.voting import Rule
from trecjudge.measures import OnMissingResponse, PairTest
from trecjudge.models.retrieval.settings import COUNTS, OF_CHAT, EmbeddingSettings, RerankSettings
from trecjudge.models.settings import AT_LEAST_ONE, MOST_TRIES, LlmSettings
from trecjudge.scores.review import KEYS as GATE_KEYS
from trecjudge.scores.review import RULE_PATTERN
from trecjudge.settings.fields import TRUTH
from trecjudge.settings.plugins import is_own, judge_folders

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that all editors know."""
SCHEMA_FILE = WORKFLOWS / "workflow.schema.json"
"""The schema that is shipped: that of the judges that are shipped."""
NAMED = r"[^\W_]"
"""What the name of a variant or a sweep must have: it becomes part of file names."""
REFERENCE = r"^[\w.]+:\w+(@.+)?$"
Schema = dict[str, Any]
DESCRIPTIONS = {
    "settings": "The settings of the judge; those of several by the names of the judges.",
    "llm": "Settings of the model, used only with --use-env-llm.",
    "reflection": "Settings of the model that proposes prompts to `judges optimize`, as in llm.",
    "leaderboard": "Which measure ranks the runs, which are shown, what a missing response gets.",
    "variants": "Settings by name, chosen by --variant NAME or all by `--variant every`.",
    "sweeps": "Lists of values of settings, gone through by --sweep NAME.",
    "prompts": "Named prompts, compiled programs (.json), module:Name or text, by program.",
    "voters": "Several models or prompts as one judge: each voter by its name.",
    "vote": "How the labels of the voters make one.",
    "gate": "Rules that responses must keep: exit status 4 where one is rejected.",
    "embeddings": "Settings of an endpoint's vectors, for an index.",
    "rerank": "Settings of an endpoint that reranks what a search found.",
    "measures": "Measures of your own: module:name, or module:name@judge.",
    "datasets": "Sections in place of those of the file, by dataset: --workflow FILE_DATASET.",
    "season": "A shared task, from its submissions to its archive: run_judge.py job season FILE.",
    "audit": "Labelled items that are judged first: below its bounds the job stops.",
}
"""What each section is for; the schema shows it."""


def shipped_judges() -> list[str]:
    """Return the names of the judges that are shipped."""
    return sorted(name for name, folder in judge_folders().items() if not is_own(folder))


def workflow_schema(names: Sequence[str] | None = None) -> Schema:
    """Return the schema of workflows for these judges by name; all that are found for None."""
    judges = {name: judge_class(name) for name in names or judge_names()}
    settings = {name: typed_properties(found) for name, found in judges.items()}
    sections = {"llm": _endpoint(LlmSettings), "leaderboard": _leaderboard()}
    owners = settings | {name: found["properties"] for name, found in sections.items()}
    programs = sorted({name for found in judges.values() for name in programs_of(cast(Any, found))})
    # A section without a value is as good as none.
    properties = {key: _or_null(_section(key)) for key in KEYS if key != "judge"}
    own = {name: _own_sections(name, owners, programs) for name in judges}
    return {
        "$schema": DRAFT,
        "title": "A workflow of run_judge.py",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "judge": _judge(list(judges)),
            **{key: ref("sections", key) for key in DATASET_KEYS},
            "datasets": properties["datasets"],
            "season": properties["season"],
        },
        "allOf": [
            *(_of_judges({"enum": [name, [name]]}, "own", name) for name in judges),
            _of_judges(
                {"type": "array", "minItems": 2, "items": {"enum": list(judges)}}, "several"
            ),
        ],
        "definitions": {
            **sections,
            "gate": _gate(),
            "embeddings": _endpoint(EmbeddingSettings, OF_CHAT),
            "rerank": _endpoint(RerankSettings, OF_CHAT),
            "settings": {name: _closed_object(own) for name, own in settings.items()},
            "named": _owner_settings(owners, swept=False),
            "swept": _owner_settings(owners, swept=True),
            "dataset": _closed_object({key: ref("sections", key) for key in DATASET_KEYS}),
            "sections": {key: properties[key] for key in DATASET_KEYS},
            "own": own,
            "several": _several_sections(settings),
        },
    }


def schema_text(names: Sequence[str] | None = None) -> str:
    """Return the schema as the text of a file."""
    return json.dumps(workflow_schema(names), indent=1, ensure_ascii=False) + "\n"


def typed_properties(owner: type, leave_out: Sequence[str] = ()) -> dict[str, Schema]:
    """Return the schema of each setting of a dataclass by its name."""
    hints = get_type_hints(owner)
    found = {}
    for setting in fields(owner):
        if setting.init and setting.name not in leave_out:
            schema = _with_truth(TypeAdapter(hints[setting.name]).json_schema())
            if setting.default is not MISSING:
                schema["default"] = setting.default
            found[setting.name] = schema
    return found


def _with_truth(schema: Schema) -> Schema:
    if schema.get("type") == "boolean":
        words = "|".join(f"{word}|{word.title()}|{word.upper()}" for word in TRUTH)
        return {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": f"^({words})$"}]}
    return schema


def _judge(names: Sequence[str]) -> Schema:
    known = [{"const": name, "description": summary_of(name)} for name in names]
    one: Schema = {"anyOf": [*known, {"type": "string", "pattern": r"[^\s,]"}]}
    several = {"type": "array", "minItems": 1, "items": one}
    text = f"The judge, or a list of judges; {DEFAULT_JUDGE} where none is named."
    return {"description": text, "anyOf": [*one["anyOf"], several, {"type": "null"}]}


def _endpoint(owner: type[LlmSettings], without: Iterable[str] = ()) -> Schema:
    properties = typed_properties(owner, leave_out=("api_key", *without))
    for name in (*AT_LEAST_ONE, *COUNTS):
        if name in properties:
            properties[name]["minimum"] = 1
    properties["tries"]["maximum"] = MOST_TRIES
    return _closed_object(properties)


def _leaderboard() -> Schema:
    properties: dict[str, Schema] = {
        "sort_by": {"type": ["string", "null"], "description": "The measure that ranks the runs."},
        "on_missing": {"enum": [*get_args(OnMissingResponse), None]},
        "test": {
            "enum": [*get_args(PairTest), None],
            "description": "What tells runs apart, for the letters of groups.",
        },
        "measures": {"type": ["array", "null"], "minItems": 1, "items": {"type": "string"}},
    }
    return _closed_object({name: properties[name] for name in LEADERBOARD_KEYS})


def _prompts() -> Schema:
    """Return the schema of prompts by program: text, or a signature or module and its labels."""
    meanings = {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}
    labels = {"labels": _mapping({"additionalProperties": meanings})}
    named = {"type": "string", "pattern": REFERENCE}
    of_module = {"module": named, "state": {"type": "string"}} | labels
    mapped = [
        _closed_object(fields) | {"required": [key]}
        for key, fields in (("signature", {"signature": named} | labels), ("module", of_module))
    ]
    return _mapping({"additionalProperties": {"anyOf": [{"type": "string"}, *mapped]}})


def _voter() -> Schema:
    properties = typed_properties(VoterSettings)
    properties["samples"] |= {"minimum": 1, "maximum": MOST_SAMPLES}
    return _closed_object(properties | {"llm": ref("llm"), "prompts": _prompts()})


def _gate() -> Schema:
    rule = {"type": "string", "pattern": RULE_PATTERN}
    either = {"anyOf": [rule, {"type": "array", "items": rule}]}
    texts = {"reject_unless": "rejected, exit status 4", "review_unless": "to be reviewed"}
    return _closed_object(
        {
            key: either | {"description": f"A response that breaks such a rule is {texts[key]}."}
            for key in GATE_KEYS
        }
    )


def _audit() -> Schema:
    properties = typed_properties(AuditRules)
    for name in ("min", "max_drop"):
        properties[name] = _closed_object({figure: {"type": "number"} for figure in FIGURES})
    return properties


def _section(key: str) -> Schema:
    named = {"pattern": NAMED}
    sections = {
        "settings": _mapping(ref("named")),
        "llm": ref("llm"),
        "reflection": ref("llm"),
        "leaderboard": ref("leaderboard"),
        **{name: ref(name) for name in ("gate", "embeddings", "rerank")},
        "variants": _mapping({"additionalProperties": _mapping(ref("named"))})
        | {"propertyNames": named},
        "sweeps": _mapping({"additionalProperties": _mapping(ref("swept")) | {"minProperties": 1}})
        | {"propertyNames": named},
        "prompts": _prompts(),
        "voters": _mapping({"additionalProperties": _or_null(_voter())})
        | {"propertyNames": named | {"not": {"pattern": APART}}},
        "vote": {"enum": list(get_args(Rule))},
        "measures": {"type": "array", "items": {"type": "string", "pattern": REFERENCE}},
        "datasets": _mapping({"additionalProperties": _or_null(ref("dataset"))}),
        "audit": {"anyOf": [{"type": "string"}, _closed_object(_audit())]},
        "season": _closed_object(typed_properties(SeasonSettings)) | {"required": [*NEEDED]},
    }
    return {"description": DESCRIPTIONS[key], **sections[key]}


def _owner_settings(owners: Mapping[str, Mapping[str, Schema]], swept: bool) -> Schema:
    """Return the schema of `owner.key` and `owner: {key: value}`, of judges and of sections.

    Only a mapping is settings of an owner: a judge may have a setting of another judge's name.
    """
    properties: dict[str, Schema] = {}
    patterns: dict[str, Any] = {}
    for owner, keys in owners.items():
        whole = ref(owner) if owner in SECTIONS else ref("settings", owner)
        path = (owner,) if owner in SECTIONS else ("settings", owner)
        each = {key: ref(*path, "properties", key) for key in keys}
        if swept:
            each = {key: _values(value) for key, value in each.items()}
            properties[owner] = _if_object(_closed_object(each) | {"minProperties": 1})
        else:
            properties[owner] = _if_object(whole)
        properties |= {f"{owner}.{key}": value for key, value in each.items()}
        known = "|".join(map(re.escape, keys))
        patterns[rf"^{re.escape(owner)}\.(?!({known})$)"] = False
    return {"properties": properties, "patternProperties": patterns}


def _own_sections(name: str, owners: Mapping[str, Any], programs: Sequence[str]) -> Schema:
    """Return the schema of the sections of one judge: its settings by their bare names."""
    own = {key: ref("settings", name, "properties", key) for key in owners[name]}
    swept = {key: _values(value) for key, value in own.items()}
    judges = [owner for owner in owners if owner not in SECTIONS]
    sections = {
        "settings": _or_null(_closed_object(own, judges)),
        "variants": _or_null({"additionalProperties": _closed_object(own, owners)}),
        "sweeps": _or_null({"additionalProperties": _closed_object(swept, owners)}),
        "prompts": _or_null({"propertyNames": {"enum": list(programs)}}),
    }
    return {"properties": sections}


def _several_sections(settings: Mapping[str, Any]) -> Schema:
    """Return the schema of the sections of several known judges: all settings by judge."""
    by_judge = _closed_object({name: ref("settings", name) for name in settings}, settings)
    with_sections = _closed_object(
        {name: {"type": "object"} for name in settings}, (*settings, *SECTIONS)
    )
    sections = {
        "settings": _or_null(by_judge),
        "variants": _or_null({"additionalProperties": with_sections}),
    }
    return {"properties": sections}


def _of_judges(judge: Schema, *sections: str) -> Schema:
    """Return the schema of a workflow of these judges, by its sections and those of datasets."""
    by_dataset = {"additionalProperties": ref(*sections)}
    named = {"properties": {"judge": judge}, "required": ["judge"]}
    both = {"allOf": [ref(*sections)], "properties": {"datasets": by_dataset}}
    return {"if": named, "then": both}


def ref(*path: str) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": "/".join(("#/definitions", *path))}


def _values(schema: Schema) -> Schema:
    return {"type": "array", "minItems": 1, "items": schema}


def _if_object(schema: Schema) -> Schema:
    return {"if": {"type": "object"}, "then": schema}


def _closed_object(properties: Mapping[str, Schema], owners: Iterable[str] = ()) -> Schema:
    """Return the schema of a mapping of just these keys, and of `owner` and `owner.key`."""
    found = {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    names = "|".join(map(re.escape, owners))
    return found | ({"patternProperties": {rf"^({names})(\.|$)": {}}} if names else {})


def _mapping(schema: Schema) -> Schema:
    return (
        {"type": "object", "allOf": [schema]} if "$ref" in schema else {"type": "object"} | schema
    )


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}

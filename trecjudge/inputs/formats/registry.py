"""The run formats: those of the tracks are rows here, others a file each in this folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.inputs import formats
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.citations import AGAINST, KEY, written_citations
from trecjudge.inputs.formats.draft import ABSENT, Draft, from_metadata, metadata_of
from trecjudge.inputs.pipelines.contexts import ids_made, in_order, read_contexts
from trecjudge.inputs.pipelines.parts import (
    is_list_of_sentences,
    parts_of,
    sample_of,
    with_contexts,
)
from trecjudge.inputs.sources.values import as_id
from trecjudge.settings.plugins import formats_in, module_at

QA = "qa"
"""The name of the format of own pipelines."""
SOURCES = ("attribution", "attributions")
SAID = ("confidence", "grounded", "groundedness", "similarity")
"""What a system says of its answer, and of each of its contexts."""
FOR = "supported_citations"
"""The key of what a sentence of BioGen's task A cites as supporting it."""
PMID = re.compile(r"[1-9]\d{4,8}", re.ASCII)
"""PubMed ids; shorter ones were assigned before 1976, and could be indices."""
OF_2026 = "rag2026-"
"""How the ids of the topics of RAG 2026 begin."""
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """What a format offers; see the package's docstring."""

    NAME: str
    DATASET: str
    SUMMARY: str
    claims: Callable[[Record], str | None]
    draft: Callable[[Record], Draft]
    RANK: int = 100


def _claims_autojudge(record: Record) -> str | None:
    if "is_ragtime" in record:
        return "it has `is_ragtime`"
    if record.get("responses") is not None and record.get("answer") is not None:
        return "it has both `responses` and `answer`"
    return None


def _draft_autojudge(record: Record) -> Draft:
    """Return the parts; of `responses` and `answer` the first that is there counts."""
    # An empty one comes second: some runs have both keys and fill only one.
    here = [key for key in ("responses", "answer") if record.get(key) is not None]
    key, *others = sorted(here, key=lambda key: not record[key]) or ["responses"]
    again = record[others[0]] if others else ABSENT
    return replace(from_metadata(record, key, team_expected=False), again=again)


def _claims_biogen(record: Record) -> str | None:
    if "responses" not in record or "answer" in record or record.get("references"):
        return None
    cited = [as_id(entry) or "" for entry in _all_cited(record["responses"])]
    topic_id = as_id(metadata_of(record).get("topic_id")) or ""
    if cited and all(PMID.fullmatch(entry) for entry in cited):
        return "its citations are PubMed ids"
    # A response without a citation is recognised by its topic: the track's have three digits.
    ours = not cited and len(topic_id) == 3 and topic_id.isascii() and topic_id.isdigit()
    return "its topic is one of BioGen" if ours and "documents" not in record else None


def _all_cited(responses: Any) -> Iterator[Any]:
    for entry in responses if isinstance(responses, list) else ():
        citations = written_citations(entry)
        yield from citations if isinstance(citations, list | Mapping) else ()


def _claims_biogen_a(record: Record) -> str | None:
    answer = record.get("answer")
    entries = answer if isinstance(answer, list) else ()
    if any(isinstance(entry, dict) and (FOR in entry or AGAINST in entry) for entry in entries):
        return f"its sentences have `{FOR}` and `{AGAINST}`"
    return None


def _draft_biogen_a(record: Record) -> Draft:
    """Return the parts; what was given as supporting before is no citation of the run."""
    inner = metadata_of(record)
    entries = record["answer"]
    sentences = [{**e, KEY: e.get(FOR)} if isinstance(e, dict) else e for e in entries]
    found = replace(from_metadata(record, "answer"), sentences=sentences, integers_are_ids=True)
    ids = (("metadata.qa_id", inner["qa_id"]),) if inner.get("qa_id") is not None else ()
    question = inner.get("question") or found.narrative
    return replace(found, topic_ids=(*ids, *found.topic_ids), narrative=question)


def _claims_dragun(record: Record) -> str | None:
    ours = "responses" in record and "use_starter_kit" in metadata_of(record)
    return "its metadata has `use_starter_kit`" if ours else None


def _claims_ikat(record: Record) -> str | None:
    return "it has `turn_id`" if "turn_id" in record and "responses" in record else None


def _claims_neuclir(record: Record) -> str | None:
    ours = "sentences" in record and "responses" not in record and "answer" not in record
    return "it has `sentences`" if ours else None


def _claims_rag24(record: Record) -> str | None:
    flat = _lists_answer(record) and record.get("responses") is None and "metadata" not in record
    return "it has `answer` and no `metadata`" if flat and not _is_flat_rag25(record) else None


def _lists_answer(record: Record) -> bool:
    """Return whether a record has an answer as the track's: no object, which none of them is."""
    return "answer" in record and not isinstance(record["answer"], Mapping)


def _draft_rag24(record: Record) -> Draft:
    found = with_contexts(from_metadata(record, "answer", team_expected=False), record)
    # In 2024 `topic` is the text of the topic; its id has a key of its own.
    return replace(found, narrative=record.get("topic", ""), references_ranked=True)


def _claims_rag25(record: Record) -> str | None:
    if not _lists_answer(record) or record.get("responses") is not None:
        return None
    if "metadata" in record:
        return "it has `answer` and `metadata`"
    return "it has `answer` and `narrative_id`" if _is_flat_rag25(record) else None


def _is_flat_rag25(record: Record) -> bool:
    """Return whether a record without `metadata` names its topic as RAG 2025 and 2026 do."""
    ours = record.get("narrative_id") is not None or "narrative" in record
    return "metadata" not in record and ours and record.get("topic_id") is None


def _draft_rag25(record: Record) -> Draft:
    found = with_contexts(from_metadata(record, "answer"), record)
    # In 2025 the references are what was retrieved; in 2026 they are only what is cited.
    return replace(found, references_ranked=not (found.topic_id or "").startswith(OF_2026))


def _claims_ragtime(record: Record) -> str | None:
    return "it has `responses`" if "responses" in record and record.get("answer") is None else None


def _claims_qa(record: Record) -> str | None:
    parts = parts_of(record)
    if parts is None:
        return None
    made = ["of topics from the question"] if parts.id_made else []
    made += ["of contexts from the text"] if ids_made(parts.contexts) else []
    return f"it has {parts.why}" + (f"; ids made: {', '.join(made)}" if made else "")


def _draft_qa(record: Record) -> Draft:
    """Return the parts; the answer is one text, its contexts are what `[1]` counts."""
    parts = parts_of(record)
    assert parts is not None
    found = read_contexts(parts.contexts)
    given = record.get("answer")
    entries = in_order(parts.contexts) if isinstance(parts.contexts, list) else []
    of_contexts = [_said_beside(entry) if isinstance(entry, Mapping) else {} for entry in entries]
    listed = parts.contexts is not None and not found.unread
    return Draft(
        run_id=parts.run_id or ABSENT,
        team_id=ABSENT,
        topic_ids=(("question", parts.topic_id),),
        sentences=given if is_list_of_sentences(given) and given else parts.answer,
        references=[document.doc_id for document in found.documents] if listed else ABSENT,
        documents=found if parts.contexts is not None else ABSENT,
        narrative=parts.question,
        of_a_track=False,
        retrieved=tuple(d.doc_id for d in found.documents) if listed and parts.ranked else None,
        key="answer",
        spans=parts.spans,
        background=parts.background,
        said=_said_beside(record) | ({"contexts": of_contexts} if any(of_contexts) else {}),
        sample=sample_of(record),
        sources=_sources(record),
    )


def _sources(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources that a record lists for the numbers of its answer, as ExpertQA does."""
    given = next((record[key] for key in record if plain(key) in SOURCES), None)
    return tuple(e for e in given if isinstance(e, str)) if isinstance(given, list) else ()


def _said_beside(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in record if plain(key) in SAID}


FORMATS = (
    Format(
        "autojudge",
        "any",
        "AutoJudge round trip: `responses` and `answer` alike, citations by id or by index",
        _claims_autojudge,
        _draft_autojudge,
        10,  # before the formats of the tracks, whose keys it has too
    ),
    Format(
        QA,
        "any",
        "question, answer, contexts: RAGAS, DeepEval, LangChain, promptfoo, messages, traces...",
        _claims_qa,
        _draft_qa,
        20,  # before them too: these would take any record with an `answer`
    ),
    Format(
        "biogen25",
        "rag",
        "BioGen 2025 task B: `responses` with lists or dicts of PubMed ids, text or integers",
        _claims_biogen,
        lambda record: replace(from_metadata(record, "responses"), integers_are_ids=True),
    ),
    Format(
        "biogen25a",
        "rag",
        "BioGen 2025 task A: `answer` with PubMed ids that support and that contradict a sentence",
        _claims_biogen_a,
        _draft_biogen_a,
        15,  # before own pipelines, and TREC RAG, which have an `answer` too
    ),
    Format(
        "dragun",
        "dragun",
        "DRAGUN 2025 reports: `responses` with lists of segment ids, `use_starter_kit`",
        _claims_dragun,
        lambda record: from_metadata(record, "responses"),
    ),
    Format(
        "ikat25",
        "rag",
        "iKAT 2025: `turn_id`, citations of `responses` and `references` as {id: score}",
        _claims_ikat,
        lambda record: replace(
            from_metadata(record, "responses"), topic_ids=(("turn_id", record["turn_id"]),)
        ),
    ),
    Format(
        "neuclir24",
        "ragtime",
        "NeuCLIR 2024 reports: flat record, `request_id`, `sentences` with lists of ids",
        _claims_neuclir,
        lambda record: from_metadata(record, "sentences", team_expected=False),
    ),
    Format(
        "rag24",
        "rag",
        "TREC RAG 2024: flat record, `answer` with citations by index into `references`",
        _claims_rag24,
        _draft_rag24,
    ),
    Format(
        "rag25",
        "rag",
        "TREC RAG 2025/2026: `answer` with citations by index or id, `references`, `metadata`",
        _claims_rag25,
        _draft_rag25,
    ),
    Format(
        "ragtime",
        "ragtime",
        "RAGTIME 2025/2026: `responses` with citations as {id: score} or as a list of ids",
        _claims_ragtime,
        lambda record: from_metadata(record, "responses"),
        200,  # the shape that other formats add keys to, so asked last
    ),
)

GROUP = "trecjudge.formats"
"""The group of entry points by which an installed package gives its formats."""
NEEDED = ("NAME", "DATASET", "SUMMARY", "claims", "draft")
DATASETS = ("rag", "ragtime", "dragun")


@cache
def all_formats() -> tuple[Format, ...]:
    """Return every format, of this folder and of installed packages, in the order of asking.

    Raises PluginError if a format of another package cannot be used.
    """
    found = (module_at(point, "format", NEEDED) for point in entry_points(group=GROUP))
    modules = map(_format_of_module, (*formats_in(formats), *found))
    return tuple(sorted((*FORMATS, *modules), key=lambda one: (one.RANK, one.NAME)))


def _format_of_module(module: Any) -> Format:
    what = (module.NAME, module.DATASET, module.SUMMARY, module.claims, module.draft)
    return Format(*what, getattr(module, "RANK", 100))


def format_named(name: str) -> Format:
    """Return the format of this name."""
    return next(format_ for format_ in all_formats() if name == format_.NAME)


def check_dataset(dataset: str) -> str:
    """Return `dataset`, if it is a known one. Raises InputError with the choices."""
    if dataset not in ("auto", *DATASETS):
        raise InputError(unknown("dataset", dataset, ("auto", *DATASETS)))
    return dataset


def format_of(record: Record, dataset: str = "auto") -> tuple[Format, str] | None:
    """Return (format, why) of a record: one of `dataset` if any claims it, else any; or None."""
    for format_ in _ask_order(dataset):
        if why := format_.claims(record):
            return format_, why
    return None


@cache
def _ask_order(dataset: str) -> tuple[Format, ...]:
    """Return the formats as they are asked: stable, those of the dataset before others."""
    ours = ("any", dataset)
    first = [f for f in all_formats() if dataset == "auto" or f.DATASET in ours]
    return (*first, *(f for f in all_formats() if f not in first))

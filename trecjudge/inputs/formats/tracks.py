"""The run formats of the tracks, a row each; a format of your own is a file of its own here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.inputs.formats.citations import written_citations
from trecjudge.inputs.formats.draft import ABSENT, Draft, from_metadata, metadata_of
from trecjudge.inputs.pipelines.parts import with_contexts
from trecjudge.inputs.sources.values import as_id

PMID = re.compile(r"[1-9]\d{4,8}", re.ASCII)
"""PubMed ids; shorter ones were assigned before 1976, and could be indices."""
OF_2026 = "rag2026-"
"""How the ids of the topics of RAG 2026 begin."""
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrackFormat:
    """A row of FORMATS: what a format module offers, see the package's docstring."""

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


def _claims_dragun(record: Record) -> str | None:
    ours = "responses" in record and "use_starter_kit" in metadata_of(record)
    return "its metadata has `use_starter_kit`" if ours else None


def _claims_ikat(record: Record) -> str | None:
    return "it has `turn_id`" if "turn_id" in record and "responses" in record else None


def _claims_neuclir(record: Record) -> str | None:
    ours = "sentences" in record and "responses" not in record and "answer" not in record
    return "it has `sentences`" if ours else None


def _claims_rag24(record: Record) -> str | None:
    flat = "answer" in record and record.get("responses") is None and "metadata" not in record
    return "it has `answer` and no `metadata`" if flat and not _is_flat_rag25(record) else None


def _draft_rag24(record: Record) -> Draft:
    found = with_contexts(from_metadata(record, "answer", team_expected=False), record)
    # In 2024 `topic` is the text of the topic; its id has a key of its own.
    return replace(found, narrative=record.get("topic", ""), references_ranked=True)


def _claims_rag25(record: Record) -> str | None:
    if "answer" not in record or record.get("responses") is not None:
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


FORMATS = (
    TrackFormat(
        "autojudge",
        "any",
        "AutoJudge round trip: `responses` and `answer` alike, citations by id or by index",
        _claims_autojudge,
        _draft_autojudge,
        10,  # before the formats of the tracks, whose keys it has too
    ),
    TrackFormat(
        "biogen25",
        "rag",
        "BioGen 2025 task B: `responses` with lists or dicts of PubMed ids, text or integers",
        _claims_biogen,
        lambda record: replace(from_metadata(record, "responses"), integers_are_ids=True),
    ),
    TrackFormat(
        "dragun",
        "dragun",
        "DRAGUN 2025 reports: `responses` with lists of segment ids, `use_starter_kit`",
        _claims_dragun,
        lambda record: from_metadata(record, "responses"),
    ),
    TrackFormat(
        "ikat25",
        "rag",
        "iKAT 2025: `turn_id`, citations of `responses` and `references` as {id: score}",
        _claims_ikat,
        lambda record: replace(
            from_metadata(record, "responses"), topic_ids=(("turn_id", record["turn_id"]),)
        ),
    ),
    TrackFormat(
        "neuclir24",
        "ragtime",
        "NeuCLIR 2024 reports: flat record, `request_id`, `sentences` with lists of ids",
        _claims_neuclir,
        lambda record: from_metadata(record, "sentences", team_expected=False),
    ),
    TrackFormat(
        "rag24",
        "rag",
        "TREC RAG 2024: flat record, `answer` with citations by index into `references`",
        _claims_rag24,
        _draft_rag24,
    ),
    TrackFormat(
        "rag25",
        "rag",
        "TREC RAG 2025/2026: `answer` with citations by index or id, `references`, `metadata`",
        _claims_rag25,
        _draft_rag25,
    ),
    TrackFormat(
        "ragtime",
        "ragtime",
        "RAGTIME 2025/2026: `responses` with citations as {id: score} or as a list of ids",
        _claims_ragtime,
        lambda record: from_metadata(record, "responses"),
        200,  # the shape that other formats add keys to, so asked last
    ),
)

"""A run's record split into its parts, not yet interpreted: what every format hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trecjudge.inputs.documents.record import ids_of
from trecjudge.inputs.sources.values import as_id

TOPIC_KEYS = ("topic_id", "request_id", "narrative_id")
SAMPLE_KEY_OF: Final = {
    "sample": "sample",
    "sampleindex": "",
    "queryrun": "query_run",
    "runnumber": "",
    "epoch": "epoch",
    "repeat": "repeat",
    "repetition": "",
    "trial": "",
    "attempt": "",
    "rollout": "",
    "sampleid": "sample_id",
}
"""Plain names of keys by which own pipelines tell several answers to one question apart.

Where one has a key, a record of any format may say so by it. The last may also name the question.
"""
SAMPLE_KEYS = tuple(filter(None, SAMPLE_KEY_OF.values()))
ABSTENTIONS = ("abstained", "is_abstention", "abstention", "declined", "refused", "no_answer")
"""Keys by which a system says whether it declined to answer."""
SAID_BESIDE = frozenset({"retrieved", "confidence", *ABSTENTIONS, *SAMPLE_KEYS})
"""Keys by which a record of any format says more of its answer."""
_BOOLS = {"true": True, "false": False}


class Absent:
    """The type of ABSENT, which stands for a key that the record does not have, unlike a null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class CitingSpan:
    """A part of an answer that cites something, as services give it beside the text.

    `start` and `end` are character offsets into the answer. `cited` are ids of documents, or
    numbers (positions counted from 0) among those that the record carries.
    """

    start: int
    end: int
    cited: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of one response as written; ABSENT stands for a key that is not there.

    `topic_ids` are (key, value) pairs in order of precedence. `key` is the key of the sentences;
    `again` are those that the record gives a second time. `team_expected`: the format names a
    team; `integers_are_ids`: an integer citation is the id of a document, not an index;
    `of_a_track`: the format names a run and lists its sentences, so that a record that does not is
    odd. `spans` are the citations of a text, where they are given beside it; None where its marks
    are to be read. `background`, `sample`, `abstained` and `said` are as in `Response`;
    `retrieved` are the ids of what was retrieved, the best first, None where that is not known;
    with `references_ranked` the references are that, by the rules of the track. `sources` is the
    list of sources that a record has beside its answer, which its numbers count.
    """

    run_id: Any
    team_id: Any
    topic_ids: tuple[tuple[str, Any], ...]
    sentences: Any
    references: Any = ABSENT
    documents: Any = ABSENT
    narrative: Any = ""
    team_expected: bool = True
    integers_are_ids: bool = False
    key: str = ""
    again: Any = ABSENT
    of_a_track: bool = True
    spans: tuple[CitingSpan, ...] | None = None
    background: str = ""
    sample: str = ""
    retrieved: tuple[str, ...] | None = None
    abstained: bool | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    references_ranked: bool = False

    @property
    def topic_id(self) -> str | None:
        """The first usable topic id, None where there is none."""
        return next((found for _, value in self.topic_ids if (found := as_id(value))), None)


def from_metadata(record: Mapping[str, Any], key: str, team_expected: bool = True) -> Draft:
    """Return the draft of a record that keeps its ids in `metadata`, its sentences at `key`.

    Ids and the topic's text beside the metadata are looked at too.
    """
    inner = metadata_of(record)
    ids = [(f"metadata.{key}", inner[key]) for key in TOPIC_KEYS if inner.get(key) is not None]
    # Second: where both are given and differ, the metadata count, and a finding names both.
    ids += [(key, record[key]) for key in TOPIC_KEYS if record.get(key) is not None]
    return Draft(
        run_id=inner.get("run_id", record.get("run_id", ABSENT)),
        team_id=inner.get("team_id", record.get("team_id", ABSENT)),
        topic_ids=tuple(ids),
        sentences=record.get(key),
        references=record.get("references", ABSENT),
        documents=record.get("documents", ABSENT),
        narrative=inner.get("narrative") or inner.get("title") or record.get("narrative") or "",
        team_expected=team_expected,
        key=key,
    )


def with_said_beside(draft: Draft, record: Mapping[str, Any]) -> Draft:
    """Return a draft with what its record, or the metadata, says of the answer in any format.

    This is which sample it is, whether it abstains, what was retrieved, and its confidence. What
    the format itself knows stays.
    """
    inner = metadata_of(record)
    if SAID_BESIDE.isdisjoint(record) and SAID_BESIDE.isdisjoint(inner):
        return draft
    given = {**inner, **record}
    sample = next((found for key in SAMPLE_KEYS if (found := as_id(given.get(key)))), "")
    abstained, retrieved = draft.abstained, draft.retrieved
    if abstained is None:
        said = (_BOOLS.get(str(given[key]).casefold()) for key in ABSTENTIONS if key in given)
        abstained = next((value for value in said if value is not None), None)
    if retrieved is None and isinstance(listed := given.get("retrieved"), list):
        retrieved = tuple(doc_id for entry in listed if (doc_id := _listed_id(entry)))
    own = {} if given.get("confidence") is None else {"confidence": given["confidence"]}
    draft = replace(draft, abstained=abstained, retrieved=retrieved, said=own | dict(draft.said))
    return replace(draft, sample=draft.sample or sample)


def _listed_id(entry: Any) -> str | None:
    """Return the id of a retrieved document, which is listed by it or as an object."""
    if not isinstance(entry, Mapping):
        return as_id(entry)
    return next(iter(ids_of(entry)[0]), None)


def metadata_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record's `metadata`, or nothing where it has none."""
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}

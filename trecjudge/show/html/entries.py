"""A judged response as the page takes it: plain JSON values, without empty fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trecjudge.records import AskedNugget, Evidence, Judgment, ProvenanceLine, Response
from trecjudge.results.judgments import failure_record
from trecjudge.results.redaction import without_text
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.nuggets import statings
from trecjudge.show.paths import paths_by_judge
from trecjudge.show.provenance import version_text
from trecjudge.show.tones import marks_of, tone, word

SAME = (
    "sentence_index",
    "doc_id",
    "citation",
    "exists",
    "label",
    "grade",
    "value",
    "reason",
    "attester",
    "judge",
    "match",
)
"""Fields of a judgment that the page takes as they are."""

OF_PROVENANCE = (
    *("sentence_index", "doc_id", "start", "end", "rank", "retriever", "score", "time"),
)
"""Fields of provenance that the page takes as they are."""

NUGGETS = "nuggets"


@dataclass(slots=True)
class NuggetShelf:
    """Puts each nugget once into the block of its topic."""

    blocks: Blocks
    _places: dict[str, dict[AskedNugget, int]] = field(default_factory=dict)

    def place(self, topic_id: str, nugget: AskedNugget) -> int:
        """Return the position of a nugget in the block of the topic."""
        own = self._places.setdefault(topic_id, {})
        if nugget not in own:
            own[nugget] = len(own)
            self.blocks.add(
                NUGGETS, topic_id, _drop_empty(asdict(nugget) | {"importance": nugget.rank})
            )
        return own[nugget]


@dataclass(frozen=True, slots=True)
class Entries:
    """Makes entries for the page; without `document_text` nothing of a document gets into them.

    Nuggets go to the `shelf`: an entry has their positions.
    """

    document_text: bool = True
    shelf: NuggetShelf = field(default_factory=lambda: NuggetShelf(Blocks(())))

    def response(
        self,
        response: Response,
        judgments: Sequence[Judgment],
        documents: Mapping[str, int],
    ) -> dict[str, Any]:
        """Return a response. `documents` has the position of each document's text."""
        stated = self._statings(response, judgments)
        sentences = [
            {
                "index": s.index,
                # Where nuggets are stated is counted in the text that was judged.
                "text": s.text if stated else s.shown,
                "citations": [c.doc_id or c.value for c in s.citations],
            }
            for s in response.sentences
        ]
        marks = marks_of(judgments)
        entry: dict[str, Any] = {"statings": stated} if stated else {}
        if paths := self._paths(response, judgments):
            entry["paths"] = paths
        if response.copies and response.copies.at:
            entry["copied"] = response.copies.at
        if response.provenance:
            entry["provenance"] = list(map(_origin, response.provenance))
        return entry | {
            "run": response.run_id,
            "sentences": sentences,
            "tones": {judge: found.tones for judge, found in marks.items()},
            "open": {judge: found.open for judge, found in marks.items()},
            "judgments": [self.judgment(judgment) for judgment in judgments],
            "documents": documents,
        }

    def _statings(self, response: Response, judgments: Sequence[Judgment]) -> list[dict[str, Any]]:
        """Return what the response says of each nugget: the place of its judgment, and where."""
        return [
            {
                "at": one.place,
                "nugget": self.shelf.place(response.topic_id, one.nugget),
                "tone": one.tone,
                "where": one.where,
            }
            for one in statings(response, judgments)
        ]

    def _paths(
        self, response: Response, judgments: Sequence[Judgment]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return how ARGUE came to its verdict on each sentence, by judge."""
        shown = judgments if self.document_text else [without_text(j) for j in judgments]
        found = paths_by_judge(response, shown)
        return {judge: [path.as_dict() for path in paths] for judge, paths in found.items()}

    def judgment(self, judgment: Judgment) -> dict[str, Any]:
        """Return a judgment with its tone and word; empty fields are left out."""
        shown = judgment if self.document_text else without_text(judgment)
        same = {name: getattr(shown, name) for name in SAME}
        more: dict[str, Any] = {
            "tone": tone(shown),
            "word": word(shown),
            "evidence": _evidence(shown.evidence) if shown.evidence else None,
            "failure": failure_record(shown.failure),
            "claim": asdict(shown.claim) if shown.claim else None,
            "sources": [_drop_empty(asdict(source)) for source in shown.sources],
            "facts": [asdict(fact) for fact in shown.facts],
            "votes": [_drop_empty(asdict(vote)) for vote in shown.votes],
        }
        if shown.nugget is not None:
            more["nugget"] = self.shelf.place(shown.topic_id, shown.nugget)
        return _drop_empty(same | more)


def _origin(line: ProvenanceLine) -> dict[str, Any]:
    """Return where a sentence is from; without the quote, which is in the document's text."""
    same = {name: getattr(line, name) for name in OF_PROVENANCE}
    version = version_text(line.document_version, line.document_digest)
    return _drop_empty(same | {"version": version})


def named_documents(response: Response, judgments: Iterable[Judgment]) -> list[str]:
    """Return the ids of the documents that a response cites or a judgment names, each once."""
    judged = (doc_id for j in judgments for doc_id in (j.doc_id, *(s.doc_id for s in j.sources)))
    return list(dict.fromkeys(doc_id for doc_id in (*response.cited_ids(), *judged) if doc_id))


def _evidence(evidence: Evidence) -> dict[str, Any]:
    # Of each judgment one: `asdict`, which copies deeply, would take a tenth of a report's time.
    return {"start": evidence.start, "end": evidence.end, "quote": evidence.quote}


def _drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], ())}

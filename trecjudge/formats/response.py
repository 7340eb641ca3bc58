"""From a draft to a Response: ids checked, sentences read, citations resolved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from trecjudge.documents.carried import Carried, CarriedReader
from trecjudge.documents.store import DocumentStore
from trecjudge.findings import Finding, Report, shown
from trecjudge.formats.citations import References, Resolver, ids_written
from trecjudge.formats.draft import ABSENT, Draft
from trecjudge.records import Document, Place, Response, Sentence
from trecjudge.sources.containers import bare_name
from trecjudge.sources.values import as_id, as_text
from trecjudge.text.instructions import instruction_like
from trecjudge.text.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one draft into a response; every problem becomes a finding at the draft's place."""

    draft: Draft
    place: Place
    report: Report
    store: DocumentStore | None = None
    flag_instructions: bool = False

    def read(self) -> Response | None:
        """Return the response, or None if it cannot be told which topic it answers."""
        topic_id = self._topic_id()
        if topic_id is None:
            return None
        references = References.read(self.draft.references, self._complain)
        carried = self._carried(references)
        own = carried.documents
        resolver = Resolver(
            references,
            lambda doc_id: self._find(doc_id, own) is not None,
            self.draft.integers_are_ids,
            carried.order,
        )
        sentences = tuple(self._sentences(resolver))
        cited = (c.doc_id for s in sentences for c in s.citations if c.doc_id)
        given = dict.fromkeys((*cited, *filter(None, references.ids), *own))
        documents = {d: found for d in given if (found := self._find(d, own)) is not None}
        response = Response(
            run_id=self._run_id(),
            topic_id=topic_id,
            team_id=self._team_id(),
            sentences=sentences,
            references=tuple(i for i in references.ids if i),
            documents=documents,
            documents_given=self.store is not None or carried.given,
            documents_lost=self.store is not None and self.store.lost > 0,
            documents_unnamed=self.store is None and not carried.named,
            place=self.place,
        )
        self._check_documents(response)
        if self.flag_instructions:
            self._check_instructions(response)
        return response

    def _complain(
        self, kind: str, message: str, value: object, sentence: int | None = None
    ) -> None:
        self.report(Finding(kind, self.place, message, shown(value), sentence))

    def _topic_id(self) -> str | None:
        found = [(key, topic_id) for key, v in self.draft.topic_ids if (topic_id := as_id(v))]
        if not found:
            message = "has no topic_id, request_id or narrative_id"
            self._complain("topic_id_missing", message, dict(self.draft.topic_ids))
            return None
        if len({topic_id for _, topic_id in found}) > 1:
            given = ", ".join(f"{key} {topic_id!r}" for key, topic_id in found)
            self._complain("topic_id_conflict", f"names two topics: {given}", given)
        return found[0][1]

    def _run_id(self) -> str:
        run_id = as_id(self.draft.run_id)
        if run_id is None:
            name = bare_name(Path(self.place.path))
            message = f"has no run_id; the file's name {name!r} is taken"
            self._complain("run_id_missing", message, self.draft.run_id)
            return name
        return run_id

    def _team_id(self) -> str:
        team_id = as_id(self.draft.team_id)
        if team_id is None and self.draft.team_expected:
            self._complain("team_id_missing", "has no team_id", self.draft.team_id)
        return team_id or ""

    def _carried(self, references: References) -> Carried:
        value = None if self.draft.documents is ABSENT else self.draft.documents
        cited = cache(partial(ids_written, self.draft.sentences))
        known = references.known
        return CarriedReader(references.ids, known, cited, self._complain).read(value)

    def _find(self, doc_id: str, own: dict[str, Document]) -> Document | None:
        """Return a document of the response, or of the store where the response has no text."""
        mine = own.get(doc_id)
        if (mine is None or not mine.text.strip()) and self.store is not None:
            return self.store.get(doc_id) or mine
        return mine

    def _sentences(self, resolver: Resolver) -> Iterable[Sentence]:
        for index, entry in enumerate(self._entries()):
            text, cited = self._parts(index, entry)

            def complain(kind: str, message: str, value: object, at: int = index) -> None:
                self._complain(kind, message, value, at)

            yield Sentence(index, text, resolver.resolve(cited, complain))

    def _entries(self) -> list[Any]:
        value = self.draft.sentences
        if isinstance(value, str) and value.strip():
            self._complain("response_not_a_list", "gives its sentences as one text", value)
            return list(split_sentences(value))
        if not isinstance(value, list):
            self._complain("response_empty", f"has sentences {shown(value)}", value)
            return []
        if not any(as_text(e.get("text") if isinstance(e, dict) else e).strip() for e in value):
            self._complain("response_empty", "has no text in any sentence", value)
        return value

    def _parts(self, index: int, entry: Any) -> tuple[str, Any]:
        """Return (text, citations as written) of one entry of the sentence list."""
        text = entry.get("text") if isinstance(entry, dict) else entry
        if not isinstance(text, str):
            self._complain("sentence_unusable", f"has text {shown(text)}", entry, index)
        cited = entry.get("citations", ABSENT) if isinstance(entry, dict) else ABSENT
        return as_text(text), cited

    def _check_instructions(self, response: Response) -> None:
        """Flag text that talks to the judge."""
        texts: list[tuple[int | None, str, str]]
        texts = [(s.index, "says", s.text) for s in response.sentences]
        documents = sorted(response.documents.values(), key=lambda document: document.doc_id)
        texts += [(None, f"cites {shown(d.doc_id)}, which says", d.full_text) for d in documents]
        for index, verb, text in texts:
            found = instruction_like(text)
            if found is not None:
                self.report(
                    Finding(
                        "instruction_like_text",
                        self.place,
                        f"{verb} {shown(found)}, like an instruction to the judge",
                        found,
                        index,
                        response.run_id,
                        response.topic_id,
                    )
                )

    def _check_documents(self, response: Response) -> None:
        cited = [(s.index, c.doc_id) for s in response.sentences for c in s.citations if c.doc_id]
        if not response.documents_given:
            if cited:
                message = f"has {len(cited)} citations and no document text"
                self._complain("documents_not_given", message, len(cited))
            return
        for index, doc_id in cited:
            document = response.documents.get(doc_id)
            if document is None and response.has(doc_id) is None:
                message = f"cites {doc_id!r}, which may be a document whose id is not known"
                self._complain("document_unknown", message, doc_id, index)
            elif document is None:
                message = f"cites {doc_id!r}, which no document is"
                self._complain("document_missing", message, doc_id, index)
            elif not document.text.strip():
                message = f"cites {doc_id!r}, a document without text"
                self._complain("document_empty", message, doc_id, index)

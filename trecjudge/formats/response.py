"""From a draft to a Response: ids checked, sentences read, citations resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from trecjudge.documents.record import documents_of
from trecjudge.documents.store import DocumentStore
from trecjudge.findings import Finding, Report, shown
from trecjudge.formats.citations import References, Resolver
from trecjudge.formats.draft import ABSENT, Draft
from trecjudge.formats.sentences import SentenceReader, differ
from trecjudge.records import Document, Place, Response, Sentence
from trecjudge.sources.containers import bare_name
from trecjudge.sources.values import as_id
from trecjudge.text.instructions import instruction_like


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one draft into a response; every problem becomes a finding at the draft's place."""

    draft: Draft
    place: Place
    report: Report
    store: DocumentStore | None = None
    flag_instructions: bool = False
    name: str = ""
    """What the run is called; its run_id where nothing is given."""

    def read(self) -> Response | None:
        """Return the response, or None if it cannot be told which topic it answers."""
        topic_id = self._topic_id()
        if topic_id is None:
            return None
        own = self._own_documents()
        references = References.read(self.draft.references, self._complain)
        resolver = Resolver(
            references,
            lambda doc_id: self._find(doc_id, own) is not None,
            self.draft.integers_are_ids,
            self._positions(references, own),
        )
        names = cache(lambda: self._names(references, own))
        reader = SentenceReader(resolver, names, self._complain)
        sentences = reader.read(self.draft.sentences)
        self._check_again(reader, sentences)
        cited = (c.doc_id for s in sentences for c in s.citations if c.doc_id)
        given = dict.fromkeys((*cited, *filter(None, references.ids), *own))
        documents = {d: found for d in given if (found := self._find(d, own)) is not None}
        response = Response(
            run_id=self._checked_run_id(),
            topic_id=topic_id,
            team_id=self._team_id(),
            sentences=sentences,
            references=tuple(i for i in references.ids if i),
            documents=documents,
            documents_given=self.store is not None or self.draft.documents not in (ABSENT, None),
            place=self.place,
        )
        self._check_documents(response)
        if self.flag_instructions:
            self._check_instructions(response)
        return response

    def _complain(
        self, kind: str, message: str, value: object, sentence: int | None = None
    ) -> None:
        topic_id = self.draft.topic_id or ""
        self.report(
            Finding(kind, self.place, message, shown(value), sentence, self.run_id, topic_id)
        )

    @property
    def run_id(self) -> str:
        """What the run is called."""
        written = self.name or as_id(self.draft.run_id)
        return bare_name(Path(self.place.path)) if written is None else written

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

    def _checked_run_id(self) -> str:
        if as_id(self.draft.run_id) is None:
            message = (
                f"has no run_id; the file's name {bare_name(Path(self.place.path))!r} is taken"
            )
            self._complain("run_id_missing", message, self.draft.run_id)
        return self.run_id

    def _team_id(self) -> str:
        team_id = as_id(self.draft.team_id)
        if team_id is None and self.draft.team_expected:
            self._complain("team_id_missing", "has no team_id", self.draft.team_id)
        return team_id or ""

    def _own_documents(self) -> dict[str, Document]:
        own: dict[str, Document] = {}
        value = None if self.draft.documents is ABSENT else self.draft.documents
        for entry, document in documents_of(value):
            if document is None:
                message = f"has a document {shown(entry)} without id or text"
                self._complain("documents_unusable", message, entry)
            elif own.setdefault(document.doc_id, document) is not document:
                message = f"has document {document.doc_id!r} twice"
                self._complain("document_duplicate", message, document.doc_id)
        return own

    def _find(self, doc_id: str, own: dict[str, Document]) -> Document | None:
        """Return a document of the response, or of the store where the response has no text."""
        mine = own.get(doc_id)
        if (mine is None or not mine.text.strip()) and self.store is not None:
            return self.store.get(doc_id) or mine
        return mine

    def _positions(self, references: References, own: dict[str, Document]) -> tuple[str, ...]:
        """Return the response's documents as a list has them, where there are no references.

        The order of a dict says nothing, nor that of a list in which not every entry is a document.
        """
        listed = self.draft.documents
        if references.ids or not isinstance(listed, list) or len(listed) != len(own):
            return ()
        return tuple(own)

    def _names(self, references: References, own: dict[str, Document]) -> dict[str, str]:
        """Return the ids of the documents by title and by address."""
        given = dict.fromkeys((*filter(None, references.ids), *own))
        found = [document for doc_id in given if (document := self._find(doc_id, own))]
        return {
            name.strip().casefold(): document.doc_id
            for document in reversed(found)
            for name in (document.title, document.url)
            if name.strip()
        }

    def _check_again(self, reader: SentenceReader, sentences: tuple[Sentence, ...]) -> None:
        """Hold the sentences against those that the record gives a second time."""
        key, again = self.draft.key, self.draft.again
        if again is ABSENT or again == self.draft.sentences:
            return
        other = "answer" if key == "responses" else "responses"
        aligned = isinstance(self.draft.sentences, list) and isinstance(again, list)
        at = differ(sentences, replace(reader, complain=_ignore).read(again), aligned)
        if at is not None:
            message = f"`{key}` and `{other}` differ from sentence {at} on; `{key}` counts"
            self._complain("answer_differs", message, again)

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
            if document is None:
                message = f"cites {doc_id!r}, which no document is"
                self._complain("document_missing", message, doc_id, index)
            elif not document.text.strip():
                message = f"cites {doc_id!r}, a document without text"
                self._complain("document_empty", message, doc_id, index)


def _ignore(kind: str, message: str, value: object, sentence: int | None = None) -> None:
    """Do nothing with a problem that was reported already."""

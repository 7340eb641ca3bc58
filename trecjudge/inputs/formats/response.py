"""Makes a Response of a draft: ids checked, sentences read, citations resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.documents.carried import Carried, CarriedReader
from trecjudge.inputs.documents.record import merge_chunks
from trecjudge.inputs.documents.shelf import JudgedTexts
from trecjudge.inputs.formats.citations import (
    References,
    Resolver,
    ids_written,
    ignore_problem,
    lists_citations,
    written_text,
)
from trecjudge.inputs.formats.draft import ABSENT, Draft, with_said_beside
from trecjudge.inputs.formats.markers import (
    CountingEvidence,
    MarkInventory,
    evidence_of,
    find_marks,
)
from trecjudge.inputs.formats.own_sources import own_sources
from trecjudge.inputs.formats.pointers import Targets, Titles, labels_of
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.formats.sentences import SentenceReader, differ
from trecjudge.inputs.pipelines.reading import run_records
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import Document, Place, Response, Sentence
from trecjudge.text.reasoning import answer_without_reasoning
from trecjudge.text.steering.instructions import instruction_like

RunKey = tuple[str, str, str]


@dataclass(slots=True)
class RunSurvey:
    """Knows what runs show in any response; reads all files when first asked."""

    files: Iterable[Path] = ()
    dataset: str = "auto"
    carrying: dict[RunKey, bool] | None = field(default=None)
    """Whether the ids of its documents are known somewhere, by run that carries some."""
    counting: dict[RunKey, CountingEvidence] | None = field(default=None)
    """What shows how it counts, by run."""

    def has(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document somewhere."""
        return _run_of(draft, place.path) in self._carrying()

    def names(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document of a known id somewhere."""
        return self._carrying().get(_run_of(draft, place.path), False)

    def base(self, draft: Draft, place: Place) -> int | None:
        """Return the number of the first document in the marks of a run's texts, 0 or 1.

        None where that cannot be decided: some of its answers show the one, and some the other.
        """
        found = self._counting().get(_run_of(draft, place.path)) or _evidence(draft)
        return found.base

    def _carrying(self) -> dict[RunKey, bool]:
        if self.carrying is None:
            self.carrying = {}
            for run, draft in self._drafts():
                if draft.documents and (carried := _carried_by(draft)).documents:
                    self.carrying[run] = carried.named or self.carrying.get(run, False)
        return self.carrying

    def _counting(self) -> dict[RunKey, CountingEvidence]:
        if self.counting is None:
            self.counting = {}
            for run, draft in self._drafts():
                self.counting[run] = self.counting.get(run, CountingEvidence()) | _evidence(draft)
        return self.counting

    def _drafts(self) -> Iterator[tuple[RunKey, Draft]]:
        for file in self.files:
            path = Place(str(file)).path
            yield from ((_run_of(d, path), d) for _, d in drafts_in(file, self.dataset))


def drafts_in(file: Path, dataset: str) -> Iterator[tuple[int, Draft]]:
    """Yield (line, draft) of every record; problems are reported where responses are read."""
    with suppress(InputError):
        for line, record in run_records(file, ignore):
            if claimed := format_of(record, dataset):
                yield line, with_said_beside(claimed[0].draft(record), record)


def _evidence(draft: Draft) -> CountingEvidence:
    """Return what the marks of an answer show of how they count."""
    answer, _ = answer_without_reasoning(draft.sentences)
    entries = answer if isinstance(answer, list) else [answer]
    if draft.spans is not None or any(map(lists_citations, entries)):
        return CountingEvidence()
    ids = _ids(draft) or tuple(_carried_by(draft).order)
    listed = frozenset(filter(None, ids))
    targets = Targets(ids, listed, listed.__contains__)
    texts = [as_text(written_text(entry)) for entry in entries]
    own = own_sources(texts, targets)
    if own.sources or draft.sources:
        return CountingEvidence()
    return evidence_of(find_marks(own.without(texts), targets), len(ids))


def _ids(draft: Draft) -> tuple[str | None, ...]:
    given = draft.references
    return tuple(map(as_id, given)) if isinstance(given, list | dict) else ()


def _carried_by(draft: Draft) -> Carried:
    """Return the documents that a draft carries."""
    ids = _ids(draft)
    reader = CarriedReader(ids, frozenset(filter(None, ids)), frozenset, ignore_problem)
    return reader.read(None if draft.documents is ABSENT else draft.documents)


def _run_of(draft: Draft, path: str) -> RunKey:
    """Return the key of a run: team and run_id and, where one of them is missing, the file."""
    team, run = as_id(draft.team_id) or "", as_id(draft.run_id) or ""
    return team, run, "" if team and run else path


LOOKED_AT = 100_000_000
"""Characters of documents of a response that are looked through for words in brackets."""


@dataclass(frozen=True, slots=True)
class ResponseReader:
    """Reads one draft into a response; every problem becomes a finding at the draft's place.

    `survey` knows what the run shows in its other responses; `inventory` counts its marks.
    """

    draft: Draft
    place: Place
    report: OnFinding
    shelf: JudgedTexts = field(default_factory=JudgedTexts)
    flag_instructions: bool = False
    name: str = ""
    """The name of the run; its run_id where none is given."""
    survey: RunSurvey = field(default_factory=RunSurvey)
    inventory: MarkInventory = field(default_factory=MarkInventory)

    def read(self) -> Response | None:
        """Return the response, or None if it names no topic."""
        topic_id = self._topic_id()
        if topic_id is None:
            return None
        references = References.read(self.draft.references, self._complain)
        carried = self._carried_by(references)
        own = carried.documents
        resolver = Resolver(
            references,
            lambda doc_id: self.shelf.find(doc_id, own) is not None,
            self.draft.integers_are_ids,
            () if references.ids else carried.order,
        )
        targets = self._targets(resolver, own)
        reader = SentenceReader(
            resolver,
            targets,
            partial(self.survey.base, self.draft, self.place),
            self._complain,
            one_text=not self.draft.of_a_track,
            spans=self.draft.spans,
            sources=self.draft.sources,
            inventory=self.inventory,
        )
        sentences = reader.read(self.draft.sentences)
        self._check_again(reader, sentences)
        cited = (c.doc_id for s in sentences for c in (*s.citations, *s.contradicting) if c.doc_id)
        given = dict.fromkeys((*cited, *filter(None, references.ids), *own))
        documents = {d: found for d in given if (found := self.shelf.find(d, own)) is not None}
        documents |= self._join_chunks(sentences, documents, own, targets)
        ranked = tuple(i for i in references.ids if i)
        retrieved = self.draft.retrieved
        response = Response(
            run_id=self._checked_run_id(),
            topic_id=topic_id,
            team_id=self._team_id(),
            sentences=sentences,
            references=ranked,
            documents=documents,
            documents_given=self._documents_given(carried),
            documents_lost=self.shelf.store is not None and self.shelf.store.lost > 0,
            documents_unnamed=self._documents_unnamed(carried),
            place=self.place,
            background=self.draft.background,
            sample=self.draft.sample,
            retrieved=ranked if retrieved is None and self.draft.references_ranked else retrieved,
            abstained=self.draft.abstained,
            said=self.draft.said,
        )
        self._check_documents(response, carried)
        self._check_texts(response, own)
        if self.flag_instructions:
            self._check_instructions(response)
        return response

    def _complain(
        self, kind: str, message: str, value: object, sentence: int | None = None
    ) -> None:
        topic_id = self.draft.topic_id or ""
        self.report(
            Finding(kind, self.place, message, brief(value), sentence, self.run_id, topic_id)
        )

    @property
    def run_id(self) -> str:
        """The name of the run."""
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
        if as_id(self.draft.run_id) is None and self.draft.of_a_track:
            message = f"has no run_id; the file's name {bare_name(Path(self.place.path))!r} is used"
            self._complain("run_id_missing", message, self.draft.run_id)
        return self.run_id

    def _team_id(self) -> str:
        team_id = as_id(self.draft.team_id)
        if team_id is None and self.draft.team_expected and self.draft.of_a_track:
            self._complain("team_id_missing", "has no team_id", self.draft.team_id)
        return team_id or ""

    def _carried_by(self, references: References) -> Carried:
        value = None if self.draft.documents is ABSENT else self.draft.documents
        cited = cache(partial(ids_written, self.draft.sentences))
        known = references.known
        return CarriedReader(references.ids, known, cited, self._complain_once).read(value)

    def _complain_once(self, kind: str, message: str, value: object) -> None:
        """Report a problem of the documents; a field of texts once for each run."""
        if kind != "text_field_guessed" or self.shelf.is_first(self.run_id, kind, value):
            self._complain(kind, message, value)

    def _documents_given(self, carried: Carried) -> bool:
        """Return whether anything could supply documents: the job, or the run here or elsewhere."""
        return (
            self.shelf.store is not None or carried.given or self.survey.has(self.draft, self.place)
        )

    def _documents_unnamed(self, carried: Carried) -> bool:
        """Return whether a cited id may be that of a document that is carried without an id.

        Not where the run gives ids elsewhere: if it leaves them out here, that is its own fault.
        """
        if carried.unread:
            return True
        if self.shelf.store is not None or carried.named:
            return False
        return not self.survey.names(self.draft, self.place)

    def _targets(self, resolver: Resolver, own: Mapping[str, Document]) -> Targets:
        """Return what marks in the texts can point to; what few marks need is made when asked."""
        references = resolver.references
        given = dict.fromkeys((*filter(None, references.ids), *own))

        @cache
        def own_documents() -> list[Document]:
            return [document for doc_id in given if (document := self.shelf.find(doc_id, own))]

        left = LOOKED_AT

        def says(words: str) -> bool:
            nonlocal left
            for document in own_documents():
                left -= len(document.text)
                if left < 0:
                    return False
                if words in document.full_text:
                    return True
            return False

        return Targets(
            references.ids or resolver.positions,
            frozenset((*references.known, *filter(None, resolver.positions))),
            resolver.is_document,
            cache(lambda: Titles.of(own_documents())),
            says,
            lambda: references.given or (not own and self.survey.has(self.draft, self.place)),
            cache(lambda: labels_of(own_documents())),
        )

    def _join_chunks(
        self,
        sentences: Sequence[Sentence],
        documents: Mapping[str, Document],
        own: Mapping[str, Document],
        targets: Targets,
    ) -> dict[str, Document]:
        """Return the documents that marks name by a title or an address that chunks share."""
        cited = {c.doc_id for s in sentences for c in s.citations if c.doc_id}
        found: dict[str, Document] = {}
        for name in sorted(cited - documents.keys()) if own else ():
            if ids := targets.titles().groups.get(name):
                chunks = [d for i in ids if (d := self.shelf.find(i, own))]
                found[name] = replace(merge_chunks(chunks), doc_id=name)
        return found

    def _check_again(self, reader: SentenceReader, sentences: tuple[Sentence, ...]) -> None:
        """Report where the sentences differ from those that the record gives a second time."""
        key, again = self.draft.key, self.draft.again
        if again is ABSENT or again == self.draft.sentences:
            return
        other = "answer" if key == "responses" else "responses"
        aligned = isinstance(self.draft.sentences, list) and isinstance(again, list)
        silent = replace(reader, complain=ignore_problem, inventory=MarkInventory())
        at = differ(sentences, silent.read(again), aligned)
        if at is not None:
            message = f"`{key}` and `{other}` differ from sentence {at + 1} on; `{key}` counts"
            self._complain("answer_differs", message, again)

    def _check_instructions(self, response: Response) -> None:
        """Flag text that talks to the judge."""
        texts: list[tuple[int | None, str, str]]
        texts = [(s.index, "says", s.text) for s in response.sentences]
        documents = sorted(response.documents.values(), key=lambda document: document.doc_id)
        texts += [(None, f"cites {brief(d.doc_id)}, which says", d.full_text) for d in documents]
        for index, verb, text in texts:
            found = instruction_like(text)
            if found is not None:
                self.report(
                    Finding(
                        "instruction_like_text",
                        self.place,
                        f"{verb} {brief(found)}, like an instruction to the judge",
                        found,
                        index,
                        response.run_id,
                        response.topic_id,
                    )
                )

    def _check_documents(self, response: Response, carried: Carried) -> None:
        """Report every citation whose document is not there, or has no text."""
        cited = [
            (s.index, c.doc_id)
            for s in response.sentences
            for c in (*s.citations, *s.contradicting)
            if c.doc_id
        ]
        if not response.documents_given:
            if cited:
                message = f"has {len(cited)} citations and no document text"
                self._complain("documents_not_given", message, len(cited))
            return
        if self.shelf.store is None and not carried.given:
            message = f"carries no documents for {len(cited)} citations; elsewhere the run does"
            self._complain("documents_withheld", message, len(cited))
        for index, doc_id in cited:
            document = response.documents.get(doc_id)
            if document is None and response.has(doc_id) is None:
                message = f"cites {doc_id!r}, which may be a document whose id is not known"
                self._complain("document_unknown", message, doc_id, index)
            elif document is None:
                message = f"cites {doc_id!r}, but there is no such document"
                self._complain("document_missing", message, doc_id, index)
            elif document.hollow:
                message = f"cites {doc_id!r}, which it carries without text"
                self._complain("own_document_empty", message, doc_id, index)
            elif document.complete and not document.has_text:
                message = f"cites {doc_id!r}, a document without text"
                self._complain("document_empty", message, doc_id, index)

    def _check_texts(self, response: Response, own: Mapping[str, Document]) -> None:
        """Report uncited documents without text, and texts that differ from those known.

        A document that is cited and has no text is reported with its citation.
        """
        cited = set(response.named_ids())
        run = f"{response.team_id}/{response.run_id}"
        beside = [mine.doc_id for mine in own.values() if self.shelf.lacks(mine)]
        if beside:
            message = f"carries {len(beside)} documents that --documents lacks, such as"
            self._complain("documents_beside", f"{message} {brief(beside[0])}", len(beside))
        for doc_id, mine in own.items():
            if response.documents[doc_id].hollow and doc_id not in cited:
                message = f"carries {doc_id!r} without text"
                self._complain("own_document_empty", message, doc_id)
            elif message := self.shelf.differs(run, mine):
                self._complain("document_differs", message, doc_id)
            elif message := self.shelf.varies(run, mine):
                self._complain("document_varies", message, doc_id)

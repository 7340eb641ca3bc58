"""The sentences of a response, of a list of them or of one text, and what each cites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from typing import Any

from trecjudge.findings import brief, plural
from trecjudge.inputs.formats.citations import (
    AGAINST,
    KEY,
    Resolver,
    ids_written,
    lists_citations,
    written_citations,
    written_text,
)
from trecjudge.inputs.formats.draft import CitingSpan
from trecjudge.inputs.formats.markers import (
    MarkedSentence,
    MarkedTexts,
    MarkInventory,
    Numbering,
    find_marks,
    only_sure,
    read_markers,
    without_marks,
)
from trecjudge.inputs.formats.marks import may_have_marks
from trecjudge.inputs.formats.own_sources import (
    OwnSources,
    listed_sources,
    may_end_list,
    own_sources,
    with_links,
)
from trecjudge.inputs.formats.pointers import Pointer, Targets
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import Citation, Sentence
from trecjudge.text.reasoning import CUT, answer_without_reasoning
from trecjudge.text.visible import is_blank

CITE_START = "[cite_start]"
"""What Gemini writes before a sentence that a mark behind it is for."""


Complain = Callable[..., None]
"""(kind, message, value, sentence=None): reports a problem of the response or of a sentence."""


@dataclass(frozen=True, slots=True)
class SentenceReader:
    """Reads sentences as written, and what their lists or else their marks cite.

    `targets` are what marks can point to; `numbering` returns how the run counts documents.
    """

    resolver: Resolver
    targets: Targets
    numbering: Numbering
    complain: Complain
    one_text: bool = False
    """Whether the format gives all sentences as one text; else that is odd."""
    spans: Sequence[CitingSpan] | None = None
    """The citations of one text, where they are given beside it."""
    sources: Sequence[str] = ()
    """What the record lists as its own sources."""
    inventory: MarkInventory = field(default_factory=MarkInventory)

    def read(self, value: Any) -> tuple[Sentence, ...]:
        """Return the sentences, with the citations of their lists or else of their markers.

        Reasoning before an answer is no part of it.
        """
        answer, cut = answer_without_reasoning(value)
        sentences = self._with_contradicting(self._sentences(answer), answer)
        if cut:
            message = f"has reasoning in its answer, {plural(cut, 'character')} of it"
            self.complain("reasoning_cut", message, cut)
        if not cut or isinstance(answer, str):
            return sentences
        return tuple(sentence for sentence in sentences if answer[sentence.index] is not CUT)

    def _sentences(self, value: Any) -> tuple[Sentence, ...]:
        if isinstance(value, str) and not is_blank(value):
            value = value.replace(CITE_START, "")
            if not self.one_text:
                self.complain("response_not_a_list", "gives its sentences as one text", value)
            return tuple(self._of_text(value))
        if not isinstance(value, list):
            self.complain("response_empty", f"has sentences {brief(value)}", value)
            return ()
        if all(is_blank(as_text(written_text(entry))) for entry in value):
            self.complain("response_empty", "has no text in any sentence", value)
        if not any(map(lists_citations, value)):
            return tuple(self._without_lists(value))
        return tuple(self._with_lists(value))

    def _with_contradicting(
        self, sentences: tuple[Sentence, ...], answer: Any
    ) -> tuple[Sentence, ...]:
        """Return sentences with what their entries cite as contradicting them."""
        entries = answer if isinstance(answer, list) else ()
        if not any(isinstance(entry, dict) and AGAINST in entry for entry in entries):
            return sentences
        return tuple(
            replace(s, contradicting=self._odd(s.index, {KEY: entries[s.index].get(AGAINST)}))
            if isinstance(entries[s.index], dict)
            else s
            for s in sentences
        )

    def _with_lists(self, entries: Sequence[Any]) -> Iterator[Sentence]:
        """Yield sentences whose citations are listed; marks are cut from what is judged."""
        listed = self.targets.listed
        # What few texts have marks for is made when one has: with the ids that are listed too.
        targets = cache(lambda: replace(self.targets, listed=listed | ids_written(entries)))
        texts = [self._text(index, entry) for index, entry in enumerate(entries)]
        texts = self._without_own_list(entries, texts)
        for index, entry in enumerate(entries[: len(texts)]):
            cited = entry.get(KEY) if isinstance(entry, dict) else None
            # Most are such: no closure is made for complaints that never come.
            plain = self.resolver.plain(cited)
            if not plain and cited != [] and cited != {}:
                plain = self._odd(index, entry)
            text = texts[index]
            bare = self._without_marks(text, targets()) if may_have_marks(text) else text
            yield Sentence(index, bare, plain, "" if bare == text else text)

    def _without_own_list(self, entries: Sequence[Any], texts: list[str]) -> list[str]:
        """Return the texts before a list of sources that is the end of them.

        What lists citations of its own is a sentence.
        """
        if not texts or not may_end_list(texts[-1]):
            return texts
        own = own_sources(texts, self.targets)
        rest = own.without(texts)
        self._report_own(own)
        kept = (i + 1 for i, text in enumerate(rest) if text.strip() or lists_citations(entries[i]))
        return rest[: max(kept, default=0)] or texts

    def _report_own(self, own: OwnSources) -> None:
        if own.entries:
            message = f"ends with a list of {plural(own.entries, 'source')} of its own"
            self.complain("own_sources_read", message, own.entries)

    def _odd(self, index: int, entry: Any) -> tuple[Citation, ...]:
        def complain(kind: str, message: str, value: object) -> None:
            self.complain(kind, message, value, index)

        return self.resolver.resolve(written_citations(entry, complain), complain)

    def _without_marks(self, text: str, targets: Targets) -> str:
        """Return a text without its marks; what is left of one that has nothing else is all."""
        markers = only_sure(find_marks([text], targets)[0], targets)
        self.inventory.add_cut(markers)
        return without_marks(text, markers) or text

    def _without_lists(self, entries: Sequence[Any]) -> Iterator[Sentence]:
        texts = [self._text(index, entry) for index, entry in enumerate(entries)]
        markers = self._markers(texts)
        if markers is None:
            yield from map(Sentence, range(len(texts)), texts)
            return
        for index, marked in markers.segments().items():
            if marked.text or texts[index] == markers.texts[index]:
                yield self._make_sentence(index, marked, texts[index])

    def _of_text(self, text: str) -> Iterator[Sentence]:
        if self.spans is not None:
            yield from self._of_spans(text, self.spans)
            return
        markers = self._markers([text]) or MarkedTexts([text], [[]])
        for index, marked in enumerate(markers.sentences()):
            yield self._make_sentence(index, marked, marked.text)

    def _of_spans(self, text: str, spans: Sequence[CitingSpan]) -> Iterator[Sentence]:
        """Yield the sentences of a text; each cites what the spans cite that it shares with."""
        found = only_sure(find_marks([text], self.targets)[0], self.targets)
        self.inventory.add_cut(found)
        for index, marked in enumerate(MarkedTexts([text], [found]).sentences()):
            start, end = marked.start, marked.start + len(marked.written)
            cited = [c for s in spans if s.start < end and start < s.end for c in s.cited]
            written = marked.written if marked.written != marked.text else ""
            citations = self._odd(index, {KEY: list(dict.fromkeys(cited))}) if cited else ()
            yield Sentence(index, marked.text, citations, written)

    def _text(self, index: int, entry: Any) -> str:
        """Return the text of one entry of the sentence list."""
        text = written_text(entry)
        if not isinstance(text, str):
            self.complain("sentence_unusable", f"has text {brief(text)}", entry, index)
        return as_text(text).replace(CITE_START, "")

    def _markers(self, texts: Sequence[str]) -> MarkedTexts | None:
        """Return the markers of texts without their list of sources, and report how they are read.

        None where there is neither.
        """
        if not any(may_have_marks(text) or "\n" in text for text in texts):
            return None
        listed = listed_sources(self.sources)
        texts = list(map(with_links, texts))
        own = own_sources(texts, self.targets)
        self._report_own(own)
        sources = own if own.sources else OwnSources(listed.sources, own.cut, own.entries)
        markers = read_markers(own.without(texts), self.targets, self.numbering, sources)
        self.inventory.add(markers)
        if pointers := markers.pointers:
            how = _how_counted(markers, sources)
            message = f"marks {plural(len(pointers), 'citation')} in its text, read {how}"
            self.complain("markers_read", message, len(pointers))
        return markers if pointers or own.entries else None

    def _make_sentence(self, index: int, marked: MarkedSentence, text: str) -> Sentence:
        """Return a sentence with the citations of its markers, each document once."""
        found: dict[str, Citation] = {}
        for pointer in marked.pointers:
            citation = self._citation(index, pointer)
            found.setdefault(citation.doc_id or f"[{pointer.written}]", citation)
        written = marked.written if marked.written != marked.text else ""
        return Sentence(index, marked.text, tuple(found.values()), written)

    def _citation(self, index: int, pointer: Pointer) -> Citation:
        written = pointer.written
        if pointer.unread:
            message = f"marks {brief(written)}: {pointer.unread}"
            self.complain("citation_not_read", message, written, index)
            return Citation(None, written, unread=pointer.unread)
        if pointer.number is not None and pointer.doc_id is None:
            self.complain(
                "citation_out_of_range", f"marks [{written}], {self._nothing()}", written, index
            )
            return Citation(None, written)
        # An id that is not there is still an id: reported where documents are looked up.
        return Citation(pointer.doc_id or written, written)

    def _nothing(self) -> str:
        count = len(self.resolver.references.ids or self.resolver.positions)
        return f"references has {count}" if count else "references is missing"


def _how_counted(markers: MarkedTexts, sources: OwnSources) -> str:
    if sources.sources and any(p.number is not None for p in markers.pointers):
        return "by its own list of sources"
    if any(p.number is not None and p.unread for p in markers.pointers):
        return "without knowing what its numbers count"
    return "by id" if markers.base is None else f"counted from {markers.base}"


def differ(first: Sequence[Sentence], second: Sequence[Sentence], aligned: bool) -> int | None:
    """Return the first position at which sentences differ in text or documents, None for none.

    Where they are not `aligned`, since one side was one text, both sides are compared as a whole;
    a side that cites nothing does not differ then.
    """
    sides = [[("".join(s.text.split()), _cited_ids([s])) for s in side] for side in (first, second)]
    if not aligned:
        texts = ["".join(text for text, _ in side) for side in sides]
        cited = [_cited_ids(side) for side in (first, second)]
        return None if texts[0] == texts[1] and (not all(cited) or cited[0] == cited[1]) else 0
    both = enumerate(zip_longest(*sides))
    return next((index for index, (mine, theirs) in both if mine != theirs), None)


def _cited_ids(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset(c.doc_id or c.value for s in sentences for c in s.citations)

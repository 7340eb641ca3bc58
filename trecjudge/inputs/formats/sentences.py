"""The sentences of a response, of a list of them or of one text, and what each cites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Protocol

from trecjudge.findings import counted, shown
from trecjudge.inputs.formats.citations import KEY, Resolver, has_citations, written_citations
from trecjudge.inputs.formats.markers import Marked, Markers, read_markers
from trecjudge.inputs.formats.pointers import Targets
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import Citation, Sentence
from trecjudge.text.layout import parts
from trecjudge.text.reasoning import CUT, answer_without_reasoning
from trecjudge.text.visible import is_blank


class Complain(Protocol):
    """Reports a problem of the response, or of one of its sentences."""

    def __call__(
        self, kind: str, message: str, value: object, sentence: int | None = None
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class SentenceReader:
    """Reads sentences as written; `names` gives document ids by titles and addresses."""

    resolver: Resolver
    names: Callable[[], Mapping[str, str]]
    complain: Complain
    one_text: bool = False
    """Whether the format gives all sentences as one text; else that is odd."""

    def read(self, value: Any) -> tuple[Sentence, ...]:
        """Return the sentences, with the citations of their lists or else of their markers.

        Reasoning before an answer is no part of it.
        """
        answer, cut = answer_without_reasoning(value)
        sentences = self._sentences(answer)
        if cut:
            message = f"has reasoning in its answer, {counted(cut, 'character')} of it"
            self.complain("reasoning_cut", message, cut)
        if not cut or isinstance(answer, str):
            return sentences
        return tuple(sentence for sentence in sentences if answer[sentence.index] is not CUT)

    def _sentences(self, value: Any) -> tuple[Sentence, ...]:
        if isinstance(value, str) and not is_blank(value):
            if not self.one_text:
                self.complain("response_not_a_list", "gives its sentences as one text", value)
            return tuple(self._of_text(value))
        if not isinstance(value, list):
            self.complain("response_empty", f"has sentences {shown(value)}", value)
            return ()
        if all(is_blank(as_text(e.get("text") if isinstance(e, dict) else e)) for e in value):
            self.complain("response_empty", "has no text in any sentence", value)
        if not any(map(has_citations, value)):
            return tuple(self._without_lists(value))
        return tuple(self._with_lists(value))

    def _with_lists(self, entries: Sequence[Any]) -> Iterator[Sentence]:
        for index, entry in enumerate(entries):
            cited = entry.get(KEY) if isinstance(entry, dict) else None
            # Most are such: no closure is made for complaints that never come.
            plain = self.resolver.plain(cited)
            if not plain and cited != [] and cited != {}:
                plain = self._odd(index, entry)
            yield Sentence(index, self._text(index, entry), plain)

    def _odd(self, index: int, entry: Any) -> tuple[Citation, ...]:
        def complain(kind: str, message: str, value: object) -> None:
            self.complain(kind, message, value, index)

        return self.resolver.resolve(written_citations(entry, complain), complain)

    def _without_lists(self, entries: Sequence[Any]) -> Iterator[Sentence]:
        texts = [self._text(index, entry) for index, entry in enumerate(entries)]
        markers = self._markers(texts)
        if not any(markers.found):
            yield from map(Sentence, range(len(texts)), texts)
            return
        for index, marked in markers.segments().items():
            yield self._marked(index, marked)

    def _of_text(self, text: str) -> Iterator[Sentence]:
        markers = self._markers([text])
        if not any(markers.found):
            written = [(text[part.start : part.end], part) for part in parts(text)]
            judged = [(part.judged(one), one) for one, part in written]
            for index, (body, one) in enumerate((b, o) for b, o in judged if b):
                yield Sentence(index, body, written="" if body == one else one)
            return
        for index, marked in enumerate(markers.sentences()):
            yield self._marked(index, marked)

    def _text(self, index: int, entry: Any) -> str:
        """Return the text of one entry of the sentence list."""
        text = entry.get("text") if isinstance(entry, dict) else entry
        if not isinstance(text, str):
            self.complain("sentence_unusable", f"has text {shown(text)}", entry, index)
        return as_text(text)

    def _markers(self, texts: Sequence[str]) -> Markers:
        """Return the markers of the texts, and report how they are read."""
        resolver = self.resolver
        listed = frozenset((*resolver.references.known, *filter(None, resolver.positions)))
        ids = resolver.references.ids or resolver.positions
        markers = read_markers(texts, Targets(ids, listed, resolver.is_document, self.names))
        if pointers := markers.pointers:
            how = "by id" if markers.base is None else f"counted from {markers.base}"
            message = f"marks {len(pointers)} citations in its text, read {how}"
            self.complain("markers_read", message, len(pointers))
        if markers.unread:
            message = f"has [{markers.unread}] in its text, and {self._nothing()}"
            self.complain("markers_unread", message, f"[{markers.unread}]")
        return markers

    def _marked(self, index: int, marked: Marked) -> Sentence:
        """Return a sentence with the citations of its markers, each document once."""
        found: dict[str, Citation] = {}
        for pointer in marked.pointers:
            if pointer.number is not None and pointer.doc_id is None:
                message = f"marks [{pointer.written}], {self._nothing()}"
                self.complain("citation_out_of_range", message, pointer.written, index)
            # An id that is not there is still an id: reported where documents are looked up.
            doc_id = pointer.written if pointer.number is None else None
            doc_id = pointer.doc_id or doc_id
            found.setdefault(doc_id or f"[{pointer.written}]", Citation(doc_id, pointer.written))
        return Sentence(index, marked.text, tuple(found.values()))

    def _nothing(self) -> str:
        count = len(self.resolver.references.ids or self.resolver.positions)
        return f"references has {count}" if count else "references is missing"


def differ(first: Sequence[Sentence], second: Sequence[Sentence], aligned: bool) -> int | None:
    """Return the first position at which sentences differ in text or documents, None for none.

    Where they are not `aligned`, since one side was one text, both sides are compared as a whole;
    a side that cites nothing does not differ then.
    """
    sides = [[(_even(s.text), _cited([s])) for s in side] for side in (first, second)]
    if not aligned:
        texts = ["".join(text for text, _ in side) for side in sides]
        cited = [_cited(side) for side in (first, second)]
        return None if texts[0] == texts[1] and (not all(cited) or cited[0] == cited[1]) else 0
    both = enumerate(zip_longest(*sides))
    return next((index for index, (mine, theirs) in both if mine != theirs), None)


def _cited(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset(c.doc_id or c.value for s in sentences for c in s.citations)


def _even(text: str) -> str:
    return "".join(text.split())

"""An answer as services give it: its text, the parts of it that cite, what they cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import Span
from trecjudge.inputs.pipelines.contexts import documents_in
from trecjudge.text.visible import is_blank

TEXTS = (
    *("message", "choices", "candidates", "answer", "response", "actualoutput", "output"),
    *("outputtext", "completion", "generatedtext", "generation", "replies", "reply", "result"),
    *("content", "parts", "text", "value", "data", "answers"),
)
"""Where an object of an answer has its text, or the object that has it; the first counts."""
CITATIONS = ("citations", "annotations", "groundingsupports")
"""Lists of citations: Anthropic, Cohere, Bedrock, Perplexity; OpenAI; Gemini."""
AROUND = ("groundingmetadata", "context")
"""Objects beside an answer in which such lists lie: Gemini, Azure."""
PARTS = frozenset(
    (
        *("generatedresponsepart", "textresponsepart", "span", "segment", "urlcitation"),
        *("filecitation", "web", "retrievedcontext", "content", "document", "location"),
        *("s3location", "weblocation"),
    )
)
"""Objects inside a citation or a source that are part of it."""
HIDDEN = ("thinking", "redacted_thinking", "reasoning", "tool_use", "function_call", "tool_call")
"""Types of parts of an answer that nobody is shown."""
Ref = int | str | Mapping[str, Any]
"""What a citation cites: the place of a document, its id, or the document itself."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a system said: `spans` cite, None where nothing is cited beside the text.

    `contexts` are those of its record and those that the service carries; None without any.
    """

    text: str
    spans: tuple[Span, ...] | None = None
    contexts: Any = None


def said_in(value: Any, record: Mapping[str, Any], contexts: Any = None) -> Said:
    """Return an answer as written in a record, whose own contexts are given."""
    answer = _Answer(contexts)
    answer.add(value)
    answer.places.append((record, 0, len(answer.text)))
    for place, begin, end in answer.places:
        answer.look(place, begin, end)
    return answer.said()


@dataclass(slots=True)
class _Answer:
    """An answer that is put together; `places` are its objects, with the text that each gave."""

    own: Any
    text: str = ""
    places: list[tuple[Mapping[str, Any], int, int]] = field(default_factory=list)
    carried: list[Any] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    marks: set[tuple[int, int]] = field(default_factory=set)

    def add(self, value: Any, joined: bool = False) -> None:
        """Add the text of a value."""
        if isinstance(value, str):
            self.text += value
        elif isinstance(value, Mapping):
            begin = len(self.text)
            keys = {plain(key): key for key in reversed(list(value))}
            for name in filter(keys.__contains__, TEXTS):
                self.text = self.text[:begin]
                self.add(value[keys[name]], name == "parts")
                if not is_blank(self.text[begin:]):
                    break
            self.places.append((value, begin, len(self.text)))
        elif isinstance(value, list):
            self._add_parts(value, joined)

    def _add_parts(self, parts: list[Any], joined: bool) -> None:
        """Add the parts of one text; of several answers the first."""
        typed = all(isinstance(part, Mapping) and "type" in part for part in parts)
        # Where parts cite, they are pieces of sentences.
        between = "" if joined or any(typed and part.get("citations") for part in parts) else "\n"
        for part in parts:
            if isinstance(part, Mapping):
                if part.get("type") in HIDDEN or part.get("thought"):
                    continue
                if isinstance(part.get("results"), list):  # a search, as the Responses API has it
                    self.carried += map(_source, filter(_is_object, part["results"]))
            before = self.text
            self.text += between if before else ""
            begin = len(self.text)
            self.add(part)
            if len(self.text) == begin:
                self.text = before
            elif not typed and not joined:
                return

    def look(self, place: Mapping[str, Any], begin: int, end: int) -> None:
        """Take the citations of an object whose text is from `begin` to `end`."""
        inside = {plain(key): value for key, value in place.items()}
        chunks = inside.get("groundingchunks") or ()
        for name in CITATIONS:
            entries = inside.get(name)
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, Mapping):
                    self._cite(_level(entry), chunks, begin, end, place.get("type") == "text")
                elif isinstance(entry, str) and entry.startswith("http"):
                    self.listed.append(entry)
        for name in AROUND:
            if isinstance(inside.get(name), Mapping):
                self.look(inside[name], begin, end)

    def _cite(
        self, entry: Mapping[str, Any], chunks: Any, begin: int, end: int, is_block: bool
    ) -> None:
        """Take one citation; without a place in the text it is of its block, or only a source."""
        first = _number(entry, "start", "startindex", "index")
        last = _number(entry, "end", "endindex", "index")
        cited = tuple(map(self._cited, _refs(entry, chunks)))
        if last is None and not is_block:
            return
        if last is not None:
            quoted = entry.get("text")
            in_bytes = "partindex" in entry or "groundingchunkindices" in entry
            first, last = _placed(self.text[begin:end], first or 0, last, quoted, in_bytes)
            begin, end = begin + first, begin + last
        covered = self.text[begin:end].strip()
        if begin == end or (covered[:1] in "([【" and covered[-1:] in ")]】"):
            # A mark is no text of the answer: what stands before it cites.
            before = len(self.text[:begin].rstrip())
            if begin < end:
                self.marks.add((before, end))
            begin = end = before
        self.spans.append(Span(begin, end, cited))

    def _cited(self, ref: Ref) -> int | str:
        """Return what a span cites, and keep the document that it carries."""
        if not isinstance(ref, Mapping):
            return ref
        source = _source(ref)
        index = next((ref[k] for k in ("documentindex", "searchresultindex") if k in ref), None)
        documents = documents_in(self.own)
        if isinstance(index, int) and index < len(documents):
            return index
        if source.get("id") in {document.doc_id for document in documents}:
            return str(source["id"])
        self.carried.append(source)
        return documents_in([source])[0].doc_id

    def said(self) -> Said:
        """Return the answer without its marks."""
        contexts = self._contexts()
        if not self.spans:
            return Said(self.text, None, contexts)
        text, kept = "", 0
        for begin, end in sorted(self.marks):
            text, kept = text + self.text[kept : max(begin, kept)], max(end, kept)
        spans = tuple(map(self._moved, self.spans))
        return Said(text + self.text[kept:], spans, contexts)

    def _moved(self, span: Span) -> Span:
        """Return a span in the text without marks; it covers one character at least."""
        start, end = (
            at - sum(min(at, stop) - begin for begin, stop in self.marks if begin < at)
            for at in (span.start, span.end)
        )
        return Span(min(start, max(end - 1, 0)), max(end, 1), span.cited)

    def _contexts(self) -> Any:
        """Return all contexts; a list of addresses beside the answer is what its marks count."""
        if self.listed and (self.own is None or all(map(_is_object, self.own))):
            by_url = {entry.get("url"): entry for entry in reversed(self.own or ())}
            counted = [by_url.get(url, {"id": url, "url": url}) for url in self.listed]
            return [*counted, *(e for e in self.own or () if e.get("url") not in self.listed)]
        if not self.carried:
            return self.own
        own = self.own if isinstance(self.own, list) else [self.own]
        return [*(own if self.own is not None else ()), *self.carried]


def _level(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object by plain names, with the objects inside that are part of it."""
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if plain(key) in PARTS and isinstance(value, Mapping):
            found = {**_level(value), **found}
        else:
            found[plain(key)] = value
    return found


def _number(entry: Mapping[str, Any], *names: str) -> int | None:
    found = (entry[name] for name in names if isinstance(entry.get(name), int))
    return next(found, None)


def _refs(entry: Mapping[str, Any], chunks: Any) -> Iterator[Ref]:
    """Yield what a citation cites."""
    if "groundingchunkindices" in entry:
        places = (place for place in entry["groundingchunkindices"] or () if place < len(chunks))
        yield from (_level(chunks[place]) for place in places)
        return
    for name in ("documentids", "sources", "retrievedreferences", "documents"):
        if isinstance(entry.get(name), list) and entry[name]:
            found = entry[name]
            yield from (_level(ref) if isinstance(ref, Mapping) else str(ref) for ref in found)
            return
    # What it quotes of the answer is not what the document says.
    placed = not entry.keys().isdisjoint(("end", "endindex", "index"))
    own = {key: value for key, value in entry.items() if key != "text" or not placed}
    if _source(own) or "documentindex" in own:
        yield own


def _source(ref: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document that a service carries; without text it is known by its address."""
    level = _level(ref)

    def first(*names: str) -> str:
        texts = (level[name] for name in names if isinstance(level.get(name), str))
        return next((text for text in texts if not is_blank(text)), "")

    text = first("citedtext", "text", "content", "snippet", "quote", "excerpt")
    title, url = first("title", "documenttitle", "filename"), first("url", "uri", "source")
    doc_id = first("id", "documentid", "fileid", "chunkid") or ("" if text else url or title)
    found = {"id": doc_id, "title": title, "url": url, "text": text}
    return {key: value for key, value in found.items() if value}


def _is_object(entry: Any) -> bool:
    return isinstance(entry, Mapping)


def _placed(text: str, start: int, end: int, quoted: Any, in_bytes: bool) -> tuple[int, int]:
    """Return the place of a citation in characters, checked by the text that it quotes.

    Some services count bytes, and some the last character where others count the one after it.
    """
    start, end = max(start, 0), max(start, end, 0)
    if isinstance(quoted, str) and quoted:
        for stop in (end, end + 1):
            if text[start:stop] == quoted:
                return start, stop
        raw = text.encode(errors="replace")
        in_bytes = raw[start:end] == quoted.encode(errors="replace")
        if not in_bytes and (found := text.find(quoted)) >= 0:
            return found, found + len(quoted)
    if in_bytes:
        raw = text.encode(errors="replace")
        start, end = (len(raw[:at].decode(errors="ignore")) for at in (start, end))
    return min(start, len(text)), min(end, len(text))

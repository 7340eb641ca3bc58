"""An answer as services give it: its text, the parts of it that cite, what they cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, compress
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import CitingSpan
from trecjudge.inputs.formats.marks import is_address
from trecjudge.inputs.formats.pointers import plain_address
from trecjudge.inputs.pipelines.contexts import read_contexts
from trecjudge.inputs.sources.values import as_id
from trecjudge.text.visible import is_blank

TEXTS = (
    *("message", "choices", "candidates", "answer", "response", "actualoutput", "output"),
    *("outputs", "outputtext", "completion", "generatedtext", "generation", "replies", "reply"),
    *("answertext", "generations"),
    *("result", "content", "parts", "text", "value", "data", "answers", "refusal"),
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
        *("s3location", "weblocation", "chunkinfo", "documentmetadata"),
    )
)
"""Objects inside a citation or a source that are part of it."""
NAMES = frozenset(
    (
        *("url", "uri", "link", "sourceurl", "source", "filename", "filepath", "fileid"),
        *("docuri", "docid", "id", "documentid"),
    )
)
"""By what a service may cite a context, if it does not know its id."""
COUNTED = re.compile(r"doc[_:](\d{1,9})")
"""Cohere's names for documents that have none."""
DIGITS = re.compile(r"[0-9]{1,9}")
FAR = 1000
"""How far from its place what a citation quotes is looked for."""
HIDDEN = ("think", "reason", "tool", "call", "document", "search_result")
"""What types of parts are called that are neither an answer nor a question."""


class PlainFields:
    """A record by plain names of its keys, without case and signs; of several the first counts."""

    __slots__ = ("keys", "record")

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.keys = {plain(key): key for key in reversed(list(record))}

    def get(self, name: str) -> Any:
        """Return the value under a name, None where there is none."""
        return self.record[self.keys[name]] if name in self.keys else None

    def items(self, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) of these names, in their order."""
        keys = (self.keys[name] for name in names if name in self.keys)
        return ((key, self.record[key]) for key in keys)

    def first_id(self, names: Iterable[str]) -> str:
        """Return the first id under these names, empty for none."""
        return next(filter(None, (as_id(value) for _, value in self.items(names))), "")


def values_of(record: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    """Yield what a record has under these plain names, in the order of these."""
    return (value for _, value in PlainFields(record).items(names))


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What a system said: `spans` cite, None where nothing is cited beside the text.

    `contexts` are those of its record and those that the service carries; None without any.
    """

    text: str
    spans: tuple[CitingSpan, ...] | None = None
    contexts: Any = None


def read_answer(value: Any, record: Mapping[str, Any], contexts: Any = None) -> ServiceAnswer:
    """Return an answer as written in a record, whose own contexts are given."""
    answer = _Answer(contexts)
    answer.add(value)
    answer.places.append((record, 0, len(answer.text)))
    for place, begin, end in answer.places:
        answer.look(place, begin, end)
    return answer.finish()


def text_of(value: Any) -> str:
    """Return the text that a value holds: itself, that of its parts, or under a usual name."""
    answer = _Answer(None)
    answer.add(value)
    return answer.text


def holds_unread(value: Any) -> bool:
    """Return whether a value that gives no text has one all the same, under a name not known."""
    if isinstance(value, str):
        return " " in value.strip()
    if isinstance(value, list):
        return any(map(holds_unread, value))
    if not isinstance(value, Mapping) or _is_hidden(value.get("type")):
        return False
    named = [inner for _, inner in PlainFields(value).items(TEXTS)]
    others = (inner for key, inner in value.items() if not _is_hidden(key))
    return any(map(holds_unread, named or others))


def _is_hidden(name: object) -> bool:
    return any(word in str(name) for word in HIDDEN)


@dataclass(slots=True)
class _Answer:
    """An answer that is put together; `places` are its objects, with the text that each gave."""

    own: Any
    text: str = ""
    places: list[tuple[Mapping[str, Any], int, int]] = field(default_factory=list)
    carried: dict[str, dict[str, str]] = field(default_factory=dict)
    ids: list[str] | None = None
    named: dict[str, set[int]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    listed: list[str] = field(default_factory=list)
    spans: list[CitingSpan] = field(default_factory=list)
    marks: set[tuple[int, int]] = field(default_factory=set)

    def add(self, value: Any, joined: bool = False) -> None:
        """Add the text of a value."""
        if isinstance(value, str):
            self.text += value
        elif isinstance(value, Mapping):
            begin = len(self.text)
            for key, inner in PlainFields(value).items(TEXTS):
                self.text = self.text[:begin]
                self.add(inner, plain(key) == "parts")
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
                self._carry(part.get("results"))  # of a search, as the Responses API has it
                if _is_hidden(part.get("type")) or part.get("thought"):
                    continue
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
        begin, end = (min(at, len(self.text)) for at in (begin, end))
        chunks = inside.get("groundingchunks")
        if any("chunkInfo" in e for e in _objects(inside.get("references"))):  # Vertex AI Search
            chunks = inside["references"]
        self._carry(chunks)
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
        start = _number(entry, ("start", "startindex", "index"))
        stop = _number(entry, ("end", "endindex", "index"))
        cited = tuple(map(self._note_source, _refs(entry, chunks)))
        if stop is not None:
            start, stop = _place_of(self.text[begin:end], start or 0, stop, entry)
            begin, end = begin + start, begin + stop
        elif not is_block:
            return
        covered = self.text[begin:end].strip()
        if begin == end or (covered[:1] in "([【" and covered[-1:] in ")]】"):
            # A mark is no text of the answer: what stands before it cites.
            before = len(self.text[:begin].rstrip())
            if begin < end:
                self.marks.add((before, end))
            begin = end = before
        self.spans.append(CitingSpan(begin, end, cited))

    def _carry(self, sources: Any) -> None:
        """Keep the documents of a list that is one."""
        for source in sources if isinstance(sources, list) else ():
            if isinstance(source, Mapping):
                self._note_source(source)

    def _note_source(self, ref: Any) -> int | str:
        """Return what a span cites, and keep the document that it carries."""
        if self.ids is None:  # most answers cite nothing beside their text
            self.ids = [document.doc_id for document in read_contexts(self.own).documents]
            self._name_contexts()
        level = _level(ref) if isinstance(ref, Mapping) else {"id": str(ref)}
        index = level.get("documentindex", level.get("searchresultindex"))
        if isinstance(index, int) and index < len(self.ids):
            return index
        source = _source(level)
        doc_id = source.get("id") or read_contexts([source]).documents[0].doc_id
        if doc_id in self.ids:
            return doc_id
        is_named = "text" not in source or "citedtext" in level
        if is_named and (context := self._context_named(level)) is not None:
            return context
        # Chunks of one document share its id; a citation that only names it adds nothing.
        if isinstance(ref, Mapping) and ("text" in source or doc_id not in self.known):
            self.carried.setdefault(f"{doc_id} {source.get('text')}", source)
        self.known.add(doc_id)
        return doc_id

    def _name_contexts(self) -> None:
        """Note the addresses and the names of files that contexts have."""
        entries = self.own if isinstance(self.own, list) else []
        for at, entry in enumerate(entries if len(entries) == len(self.ids or ()) else ()):
            for form in (form for name in _names(entry) for form in _forms(name)):
                self.named.setdefault(form, set()).add(at)

    def _context_named(self, level: Mapping[str, Any]) -> int | str | None:
        """Return the position of the context that a citation names, or the name of several."""
        for form in (form for name in _names(level) for form in _forms(name)):
            found = self.named.get(form, set())
            if len(found) == 1:
                return min(found)
            if found:  # chunks of one file, which their address then joins
                if self.own[min(found)].get("url") != form:
                    entries = enumerate(self.own)
                    self.own = [{**e, "url": form} if at in found else e for at, e in entries]
                return form
        number = COUNTED.fullmatch(str(level.get("id")))
        return int(number[1]) if number and int(number[1]) < len(self.ids or ()) else None

    def finish(self) -> ServiceAnswer:
        """Return the answer without its marks."""
        contexts = self._contexts()
        if not self.spans:
            return ServiceAnswer(self.text, None, contexts)
        kept = bytearray(b"1") * len(self.text)
        for begin, end in self.marks:
            kept[begin:end] = bytes(end - begin)
        text = "".join(compress(self.text, kept))
        at = list(accumulate(map(bool, kept), initial=0))
        # What was cited by a mark is cited by the character before it.
        moved = ((at[s.start], max(at[s.end], 1), s.cited) for s in self.spans)
        spans = tuple(CitingSpan(min(start, end - 1), end, cited) for start, end, cited in moved)
        return ServiceAnswer(text, spans, contexts)

    def _contexts(self) -> Any:
        """Return all contexts; a list of addresses beside the answer is what its marks count."""
        carried = list(self.carried.values())
        own = self.own if isinstance(self.own, list) else [self.own] if self.own else []
        if not own:  # who gives only addresses says nothing of what was retrieved
            return carried if any("text" in source for source in carried) else self.own
        if self.listed and all(isinstance(entry, Mapping) for entry in own):
            by_url = {str(entry.get("url")): entry for entry in reversed(own)}
            counted = [by_url.get(url, {"id": url, "url": url}) for url in self.listed]
            return counted + [entry for entry in own if str(entry.get("url")) not in self.listed]
        return [*own, *carried] if carried else self.own


def _level(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object by plain names, with the objects inside that are part of it."""
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if plain(key) in PARTS and isinstance(value, Mapping):
            found = {**_level(value), **found}
        else:
            found[plain(key)] = value
    return found


def _names(entry: Any) -> Iterator[str]:
    """Yield the addresses and the names of files that an object has, at any depth."""
    for key, value in entry.items() if isinstance(entry, Mapping) else ():
        if isinstance(value, str) and plain(key) in NAMES and not is_blank(value):
            yield value
        yield from _names(value)


def _forms(name: str) -> tuple[str, ...]:
    """Return the forms under which a name is known: an address, or a path and its last part."""
    path = name.strip().casefold()
    is_path = not is_address(name)
    return (path, path.rpartition("/")[2]) if is_path else (plain_address(name),)


def _number(entry: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    values = (entry[name] for name in names if name in entry)
    found = (int(v) if isinstance(v, str) and DIGITS.fullmatch(v) else v for v in values)
    return next((value for value in found if isinstance(value, int)), None)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [e for e in value if isinstance(e, Mapping)] if isinstance(value, list) else []


def _numbers(entry: Mapping[str, Any]) -> list[int | None]:
    """Return the numbers of the references of Vertex AI Search that a citation has."""
    return [
        _number(e, ("referenceId",)) for e in _objects(entry.get("sources")) if "referenceId" in e
    ]


def _refs(entry: Mapping[str, Any], chunks: Any) -> list[Any]:
    """Return what a citation cites: ids of documents, or objects that describe them."""
    places = entry.get("groundingchunkindices") or _numbers(entry)
    if isinstance(places, list) and places and isinstance(chunks, list):
        return [chunks[at] for at in places if isinstance(at, int) and 0 <= at < len(chunks)]
    for name in ("documentids", "sources", "retrievedreferences", "documents"):
        if isinstance(entry.get(name), list) and entry[name]:
            return list(entry[name])
    # What it quotes of the answer is not what the document says.
    placed = not entry.keys().isdisjoint(("end", "endindex", "index"))
    own = {key: value for key, value in entry.items() if key != "text" or not placed}
    return [own] if _source(own) or "documentindex" in own else []


def _source(level: Mapping[str, Any]) -> dict[str, str]:
    """Return a document that a service carries; without text it is known by its address."""

    def first(*names: str) -> str:
        found = (level[name] for name in names if isinstance(level.get(name), str | list))
        texts = (value if isinstance(value, str) else text_of(value) for value in found)
        return next((text for text in texts if not is_blank(text)), "")

    text = first("citedtext", "text", "content", "snippet", "quote", "excerpt")
    title, url = first("title", "documenttitle", "filename"), first("url", "uri", "source")
    doc_id = first("id", "documentid", "fileid", "chunkid") or ("" if text else url or title)
    found = {"id": doc_id, "title": title, "url": url, "text": text}
    return {key: value for key, value in found.items() if value}


def _place_of(text: str, start: int, end: int, entry: Mapping[str, Any]) -> tuple[int, int]:
    """Return the place of a citation in characters, checked by the text that it quotes.

    Some services count bytes, and some the last character where others count the one after it.
    """
    quoted, start, end = entry.get("text"), max(start, 0), max(end, 0)
    in_bytes = "groundingchunkindices" in entry or bool(_numbers(entry))
    if isinstance(quoted, str) and quoted:
        for stop in (end, end + 1):
            if text[start:stop] == quoted:
                return start, stop
        in_bytes = text.encode(errors="replace")[start:end] == quoted.encode(errors="replace")
        if (
            not in_bytes
            and (found := text.find(quoted, max(start - FAR, 0), end + FAR + len(quoted))) >= 0
        ):
            return found, found + len(quoted)
    if in_bytes:
        raw = text.encode(errors="replace")
        start, end = (len(raw[:at].decode(errors="ignore")) for at in (start, end))
    return min(start, len(text)), min(max(start, end), len(text))

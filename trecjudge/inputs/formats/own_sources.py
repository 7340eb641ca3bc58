"""The list of sources that an answer has itself: where it stands, and what its numbers mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trecjudge.inputs.formats.marks import (
    ADDRESS,
    HEADINGS,
    PLAIN_DIGITS,
    SEE,
    SOURCE,
    is_address,
    trim_address,
)
from trecjudge.inputs.formats.pointers import Targets

_HEADING = re.compile(
    rf"^\W{{0,12}}(?:<(?:h\d|b|strong)[^<>]{{0,50}}>)?\s*(?:\d{{1,2}}[.)]\s*)?{HEADINGS}"
    r"\s*(?:</(?:h\d|b|strong)>)?[\W_]{0,8}$",
    re.IGNORECASE,
)
_ON_ONE_LINE = re.compile(
    rf"^\s*(?:[*_]{{1,2}})?{HEADINGS}\s*(?:[*_]{{1,2}})?[:：](?:[*_]{{1,2}})?\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"^\s*(?:[-*•‣]\s+|<li>\s*)?(?:\\?[\[【［(]\^?(?P<label>\w{1,20})\\?[\]】］)]"
    r"(?:\((?P<link>[^()\s]{1,500})\))?:?"
    r"|(?P<number>\d{1,3})(?:[.):]|-(?=\s))|\|\s*\[?(?P<cell>\d{1,3})\]?\s*\|"
    r"|(?P<raised>[⁰¹²³⁴-⁹]{1,3})|<sup>(?P<sup>\d{1,3})</sup>|[-*•‣](?=\s)|<li>)"
    r"\s*=?\s*(?P<source>.*)$"
)
_CLOSES = re.compile(r"\s*(?:\||</li>)\s*$")
_LINE_OF_TABLE = re.compile(r"^\s*\|[^\d]*$|^\s*</?(?:ol|ul|table)>\s*$")
_EACH = re.compile(r"[,;]?\s+(?=\[\^?\d{1,3}\]\s*=?\s*[^\s\[,;])")
"""Where an entry begins in a list on one line: "[1] Pier costs, [2] Fares"."""
_LABEL_NUMBER = re.compile(r"[A-Za-z]{0,3}(\d{1,3})")
_ONLY_NUMBER = re.compile(rf"(?:{SOURCE})[\s.#]*(\d{{1,3}})\.?", re.IGNORECASE)
_NUMBERED = re.compile(r"[^\W\d]{0,15}[\s.#]{0,3}\[?\d{1,3}\]?")
"""An entry that only names a document by its number: "Doc 1"."""
_SET_OFF = re.compile(r"^\s*(?:-{3,}|_{3,}|\*{3,}|<hr\s*/?>)?\s*$")
_ADDRESS_IN = re.compile(ADDRESS)
_LINK_IN = re.compile(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)")
_SEES = re.compile(rf"^{SEE}\s+", re.IGNORECASE)
_DEFINED = re.compile(
    r"^[ \t]*\[([^\[\]\n^]{1,50})\]:[ \t]*<?(https?://[^\s<>]{1,2000})", re.MULTILINE
)
_BY_REFERENCE = re.compile(r"\[([^\[\]\n]{1,200})\]\[([^\[\]\n]{1,50})\]")
_PIECES = re.compile(r"\s+[-–—|]\s+|[\"“”„«»]|[.:,;(]\s|\s\(")
_MARKED = re.compile(r"[\[【［(^]\d{1,3}\D|[⁰¹²³⁴-⁹]|<sup>\d")
_HEADING_WORDS = 6
_TITLE_WORDS = 25
_LONGEST = 600
"""Characters of an entry; a longer line is text of the answer."""


@dataclass(frozen=True, slots=True)
class OwnSources:
    """What the numbers of an answer mean by its own list.

    `sources` holds the text of each entry by its number. `cut` are the parts of the texts that the
    list takes, as (which text, start, end) in characters; `entries` is how many entries it has.
    """

    sources: dict[int, str] = field(default_factory=dict)
    cut: tuple[tuple[int, int, int], ...] = ()
    entries: int = 0

    def without(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without the list."""
        rest = list(texts)
        for index, start, end in reversed(self.cut):
            rest[index] = rest[index][:start].rstrip() + rest[index][end:]
        return rest


NO_SOURCES: Final = OwnSources()


def may_end_list(text: str) -> bool:
    """Return whether the last line of a text may be an entry of a list of sources, or all of it."""
    last = text.rpartition("\n")[2]
    return (_ENTRY.match(last) or _ON_ONE_LINE.match(last) or _ADDRESS_IN.match(last)) is not None


def with_links(text: str) -> str:
    """Return a text with its links by reference, `[fares][f]`, as links by address.

    Their addresses stand in lines of their own: `[f]: https://...`.
    """
    if "][" not in text or "]:" not in text:
        return text
    addresses = {found[1].casefold(): found[2] for found in _DEFINED.finditer(text)}

    def with_address(found: re.Match[str]) -> str:
        address = addresses.get(found[2].casefold())
        return f"[{found[1]}]({address})" if address else found[0]

    return _BY_REFERENCE.sub(with_address, text) if addresses else text


def own_sources(texts: Sequence[str], targets: Targets) -> OwnSources:
    """Return the list of sources of an answer, one without entries where it has none.

    It begins with a heading such as "References", and each of its lines is an entry; or it is the
    end of the answer, and each of its lines begins with `[1]` or `[^1]:` and holds an address or
    the name of a document; or it is one last line: "Sources: Doc 1, Doc 2".
    """
    lines = _lines(texts)
    tried = len(lines)
    for at in reversed([i for i, line in enumerate(lines) if _HEADING.match(line.text)]):
        if found := _below(lines, at + 1, at, targets, under_heading=True, tried=tried):
            return found
        tried = at + 1
    last = max((i for i, line in enumerate(lines) if line.text.strip()), default=0)
    # Of several such lines each belongs to what stands above it.
    single = sum(_ON_ONE_LINE.match(line.text) is not None for line in lines) == 1
    above = any(_MARKED.search(line.text) for line in lines[:last])
    if above and single and (found := _on_one_line(lines[last], targets)):
        return found
    begin = last + 1
    while begin > 0:
        text = lines[begin - 1].text
        if text.strip() and not _is_footnote(text, targets):
            break
        begin -= 1
    # Nothing but sources is an answer of sources.
    found = _below(lines, begin, begin, targets, under_heading=False) if begin else None
    return found or _under_any_heading(lines, last, targets) or NO_SOURCES


def _under_any_heading(lines: Sequence[_Line], last: int, targets: Targets) -> OwnSources | None:
    """Return the numbered lines at the end of an answer with marks, if all name documents.

    A short line above them is their heading, whatever it says.
    """
    begin = last + 1
    while begin > 0 and _names_document(lines[begin - 1].text, targets):
        begin -= 1
    top = begin
    while top > 0 and not lines[top - 1].text.strip():
        top -= 1
    heading = lines[top - 1].text.strip() if top else ""
    is_heading = 0 < len(heading.split()) <= _HEADING_WORDS and heading[-1:] not in ".!?。"
    if begin > last or not is_heading:
        return None
    above = any(_MARKED.search(line.text) for line in lines[: top - 1])
    return _below(lines, begin, top - 1, targets, under_heading=True) if above else None


def _names_document(text: str, targets: Targets) -> bool:
    """Return whether a line is a number and the name of a document."""
    label, source = _read(text) if len(text) <= _LONGEST else (None, "")
    return label is not None and document_of_entry(source, targets) is not None


def listed_sources(entries: Sequence[str]) -> OwnSources:
    """Return the sources that a record lists beside its answer, such as `attribution`."""
    found: dict[int, str] = {}
    for place, entry in enumerate(entries, 1):
        label, source = _read(entry.strip())
        found.setdefault(place if label is None else label, source)
    return OwnSources(found)


def document_of_entry(source: str, targets: Targets) -> str | None:
    """Return the id of the document that an entry of a list of sources is about."""
    titles = targets.titles()
    links = [part for pair in _LINK_IN.findall(source) for part in (pair[1], pair[0])]
    addresses = list(map(trim_address, _ADDRESS_IN.findall(source)))
    bare = _ADDRESS_IN.sub(" ", _LINK_IN.sub(" ", source)).strip(' -–—:|.,;*_<>()"“”')
    bare = _SEES.sub("", bare)
    for name in (*links, *addresses, bare, *map(str.strip, _PIECES.split(bare))):
        if not name:
            continue
        there = name in targets.listed or targets.is_document(name)
        if found := name if there else titles.find(name):
            return str(found)
    return None


def number_of_entry(source: str) -> int | None:
    """Return the number of an entry that only counts a document: 2 of "Document 2"; else None."""
    found = _ONLY_NUMBER.fullmatch(source.strip())
    return int(found[1]) if found else None


def address_in(source: str) -> str | None:
    """Return the first address in an entry, None where it has none."""
    found = _ADDRESS_IN.search(source)
    return trim_address(found[0]) if found else None


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    where: tuple[int, int]
    """Which of the texts it is in, and where it begins there."""


def _lines(texts: Sequence[str]) -> list[_Line]:
    lines = []
    for index, text in enumerate(texts):
        start = 0
        for line in text.split("\n"):
            lines.append(_Line(line, (index, start)))
            start += len(line) + 1
    return lines


def _below(
    lines: Sequence[_Line],
    begin: int,
    top: int,
    targets: Targets,
    under_heading: bool,
    tried: int = -1,
) -> OwnSources | None:
    """Return the list whose entries begin at a line; None if no line there is an entry.

    From the line `tried` on none begins.
    """
    sources: dict[int, str] = {}
    entries = end = 0
    for at in range(begin, len(lines)):
        if at == tried and not entries:
            return None
        text = lines[at].text
        if _SET_OFF.match(text) or (under_heading and _LINE_OF_TABLE.match(text)):
            end = at + 1 if entries and text.strip() else end
            continue
        if entries and text[:1].isspace() and not _ENTRY.match(text):  # an entry goes on
            number = next(reversed(sources))
            if len(sources[number]) <= _LONGEST:
                sources[number] = f"{sources[number]} {text.strip()}"
            end = at + 1
            continue
        if not _is_entry(text, targets, under_heading):
            break
        entries, end = entries + 1, at + 1
        label, source = _read(text)
        sources.setdefault(entries if label is None else label, source)
    if not entries:
        return None
    # A rule before the list belongs to it, and so does a heading above that of a table.
    while top > 0 and (_SET_OFF.match(lines[top - 1].text) or _HEADING.match(lines[top - 1].text)):
        top -= 1
    return OwnSources(sources, _parts(lines[top:end]), entries)


def _parts(lines: Sequence[_Line]) -> tuple[tuple[int, int, int], ...]:
    """Return the parts of the texts that these lines take."""
    parts: dict[int, tuple[int, int]] = {}
    for line in lines:
        index, start = line.where
        parts[index] = (parts.get(index, (start, 0))[0], start + len(line.text))
    return tuple((index, *part) for index, part in parts.items())


def _on_one_line(line: _Line, targets: Targets) -> OwnSources | None:
    """Return the list of a line that is a whole one: "Sources: [1] Fares, [2] Looms"; else None."""
    found = _ON_ONE_LINE.match(line.text)
    if found is None or len(found["rest"]) > _LONGEST:
        return None
    rest = found["rest"]
    each = dict(map(_read, _EACH.split(rest)))
    sources = {number: source for number, source in each.items() if number is not None}
    parts = [part.strip(" .") for part in re.split(r"[,;]", rest)]
    numbers = all(map(_NUMBERED.fullmatch, parts))
    named = any(document_of_entry(part, targets) for part in (rest, *parts))
    if not (numbers or named or len(sources) > 1 or _ADDRESS_IN.search(rest)):
        return None
    return OwnSources({} if numbers else sources, _parts([line]), max(1, len(sources)))


def _is_footnote(text: str, targets: Targets) -> bool:
    """Return whether a line without a heading above it is an entry: `[1] https://...`."""
    found = _ENTRY.match(text) if len(text) <= _LONGEST else None
    if found is None or not (found["label"] or found["raised"] or found["sup"]):
        return False
    source = found["source"]
    if re.match(r"^\s*\[\^\w{1,20}\]:", text):
        return True
    bare = _ADDRESS_IN.sub("", source)
    by_address = bare != source and len(bare.split()) <= 12
    titles = targets.titles()
    plain = source.strip(" .:-–—*_")
    return by_address or bool(plain and (titles.find(plain) or plain in targets.listed))


def _is_entry(text: str, targets: Targets, under_heading: bool) -> bool:
    if not under_heading:
        return _is_footnote(text, targets)
    if len(text) > _LONGEST:
        return False
    label, source = _read(text)
    if _ADDRESS_IN.search(text) or _LINK_IN.search(text) or document_of_entry(source, targets):
        return True
    # What names nothing that is known is an entry by its label, if it is no longer than a title:
    # nobody hides claims under such a heading.
    return label is not None and len(source.split()) <= _TITLE_WORDS


def _read(text: str) -> tuple[int | None, str]:
    """Return the number of an entry, None without one, and its source."""
    found = _ENTRY.match(text)
    if found is None:
        return None, text.strip()
    written = found["label"] or found["number"] or found["cell"] or found["sup"] or ""
    written = written or (found["raised"] or "").translate(PLAIN_DIGITS)
    source = " ".join(filter(None, (found["link"], _CLOSES.sub("", found["source"])))).strip()
    number = _LABEL_NUMBER.fullmatch(written)
    if written and not number:
        return None, source if is_address(source) else text.strip()
    return (int(number[1]) if number else None), source

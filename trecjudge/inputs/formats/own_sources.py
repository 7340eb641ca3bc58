"""The list of sources that an answer has itself: where it stands, and what its numbers mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trecjudge.inputs.formats.pointers import Targets
from trecjudge.inputs.formats.titles import is_address

_HEADINGS = (
    r"(?:list\s+of\s+)?(?:references?|sources?|citations?|bibliography|works\s+cited|footnotes?|"
    r"endnotes?|further\s+reading|literature(?:\s+cited)?|(?:source|reference)\s+list|"
    r"sources?\s+(?:used|cited|consulted)|references?\s+(?:used|cited)|cited\s+sources?|"
    r"literatur(?:verzeichnis)?|quellen(?:verzeichnis|angaben)?|einzelnachweise|références|fuentes|"
    r"referencias|bibliografía|bibliographie|fonti|riferimenti|bronnen|referenties|źródła|referências|"
    r"fontes|источники|список\s+(?:литературы|источников)|литература|参考文献|参考资料|参考来源|"
    r"資料來源|參考資料|引用|出典|参考|来源|المصادر|المراجع|منابع|참고\s*문헌|출처)"
)
_HEADING = re.compile(
    rf"^\s*(?:#{{1,6}}\s*|[*_]{{2}}|<h\d[^<>]*>)?\s*(?:\d{{1,2}}[.)]\s*)?{_HEADINGS}\s*(?:[*_]{{2}}|</h\d>)?"
    r"\s*[:：]?\s*(?:[*_]{2})?\s*$",
    re.IGNORECASE,
)
_ON_ONE_LINE = re.compile(
    rf"^\s*(?:[*_]{{1,2}})?{_HEADINGS}\s*(?:[*_]{{1,2}})?[:：](?:[*_]{{1,2}})?\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"^\s*(?:[-*•‣]\s+)?(?:\\?[\[【［(]\^?(?P<label>\w{1,20})\\?[\]】］)](?:\((?P<link>[^()\s]{1,500})\))?:?"
    r"|(?P<number>\d{1,3})[.):]|(?P<raised>[⁰¹²³⁴-⁹]{1,3})|<sup>(?P<sup>\d{1,3})</sup>|[-*•‣](?=\s))"
    r"\s*(?P<source>.*)$"
)
_NUMBERED = re.compile(r"[^\W\d]{0,15}[\s.#]{0,3}\[?\d{1,3}\]?")
"""An entry that only names a document by its number: "Doc 1"."""
_SET_OFF = re.compile(r"^\s*(?:-{3,}|_{3,}|\*{3,}|<hr\s*/?>)?\s*$")
_ADDRESS_IN = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"']{1,2000}")
_LINK_IN = re.compile(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)")
_PIECES = re.compile(r"\s+[-–—|]\s+|[\"“”„«»]|[.:,;(]\s|\s\(")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
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


def own_sources(texts: Sequence[str], targets: Targets) -> OwnSources:
    """Return the list of sources of an answer, one without entries where it has none.

    It begins with a heading such as "References", and each of its lines is an entry; or it is the
    end of the answer, and each of its lines begins with `[1]` or `[^1]:` and holds an address or
    the name of a document; or it is one last line: "Sources: Doc 1, Doc 2".
    """
    lines = _lines(texts)
    for at in reversed([i for i, line in enumerate(lines) if _HEADING.match(line.text)]):
        if found := _below(lines, at + 1, at, targets, under_heading=True):
            return found
    last = max((i for i, line in enumerate(lines) if line.text.strip()), default=0)
    if last and _is_on_one_line(lines[last].text, targets):
        return OwnSources({}, _parts(lines[last : last + 1]), 1)
    begin = last + 1
    while begin > 0 and _belongs_to_footnotes(lines[begin - 1].text, targets):
        begin -= 1
    # Nothing but sources is an answer of sources.
    found = _below(lines, begin, begin, targets, under_heading=False) if begin else None
    return found or NO_SOURCES


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
    addresses = [address.rstrip(".,;") for address in _ADDRESS_IN.findall(source)]
    bare = _ADDRESS_IN.sub(" ", _LINK_IN.sub(" ", source)).strip(' -–—:|.,;*_<>()"“”')
    for name in (*links, *addresses, bare, *map(str.strip, _PIECES.split(bare))):
        if not name:
            continue
        there = name in targets.listed or targets.is_document(name)
        if found := name if there else titles.find(name):
            return str(found)
    return None


def address_in(source: str) -> str:
    """Return the first address in an entry; the entry itself where it has none."""
    found = _ADDRESS_IN.search(source)
    return str(found[0]).rstrip(".,;") if found else source.strip()


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
    lines: Sequence[_Line], begin: int, top: int, targets: Targets, under_heading: bool
) -> OwnSources | None:
    """Return the list whose entries begin at a line; None if no line there is an entry."""
    sources: dict[int, str] = {}
    entries = end = 0
    for at in range(begin, len(lines)):
        text = lines[at].text
        if _SET_OFF.match(text):
            continue
        if not _is_entry(text, targets, under_heading):
            break
        entries, end = entries + 1, at + 1
        label, source = _read(text)
        sources.setdefault(entries if label is None else label, source)
    # A rule before the list belongs to it.
    while top > 0 and _SET_OFF.match(lines[top - 1].text):
        top -= 1
    return OwnSources(sources, _parts(lines[top:end]), entries) if entries else None


def _parts(lines: Sequence[_Line]) -> tuple[tuple[int, int, int], ...]:
    """Return the parts of the texts that these lines take."""
    parts: dict[int, tuple[int, int]] = {}
    for line in lines:
        index, start = line.where
        parts[index] = (parts.get(index, (start, 0))[0], start + len(line.text))
    return tuple((index, *part) for index, part in parts.items())


def _is_on_one_line(text: str, targets: Targets) -> bool:
    """Return whether a line is a whole list of sources: "Sources: Doc 1, Doc 2"."""
    found = _ON_ONE_LINE.match(text)
    if found is None or len(found["rest"]) > _LONGEST:
        return False
    parts = re.split(r"[,;]", found["rest"])
    numbers = all(_NUMBERED.fullmatch(part.strip(" .")) for part in parts)
    named = (document_of_entry(part.strip(" ."), targets) for part in (found["rest"], *parts))
    return numbers or any(named) or _ADDRESS_IN.search(found["rest"]) is not None


def _belongs_to_footnotes(text: str, targets: Targets) -> bool:
    return not text.strip() or _is_footnote(text, targets)


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
    plain = text.strip()
    return bool(
        _ENTRY.match(text)
        or _ADDRESS_IN.search(plain)
        or _LINK_IN.search(plain)
        or document_of_entry(plain, targets)
    )


def _read(text: str) -> tuple[int | None, str]:
    """Return the number of an entry, None without one, and its source."""
    found = _ENTRY.match(text)
    if found is None:
        return None, text.strip()
    written = found["label"] or found["number"] or found["sup"] or ""
    written = written or (found["raised"] or "").translate(_RAISED)
    source = " ".join(filter(None, (found["link"], found["source"]))).strip()
    if written and not written.isdecimal():
        return None, source if is_address(source) else text.strip()
    return (int(written) if written else None), source

"""What a mark can point to: `1`, `1, 2`, `1-3`, `d-7`, `Source: d-7`, `1, p. 12`, a title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from trecjudge.inputs.formats.marks import (
    AND,
    BOUND,
    LABELLED,
    LATEX,
    LINK,
    NO_SOURCE,
    NUMBER_IN_PARENTHESES,
    PARENTHESES,
    SEE,
    SOURCE,
    SUPERSCRIPT,
    TAG,
    URL,
    Mark,
    is_address,
)
from trecjudge.records import Document

_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+/")
_ENDING = re.compile(r"\.(?:pdf|html?|md|txt|docx?|json|csv|xml)$", re.IGNORECASE)
_TRACKING = re.compile(r"(?<=[?&])(?:utm_\w{1,20}|gclid|fbclid|ref|source)=[^&#]{0,300}&?")
_SIGNS = re.compile(r"[\W_]+")
_NUMBERED = re.compile(
    rf"\s*(?:\[(\d{{1,3}})\]\s|(?:{SOURCE})\s*\[?(\d{{1,3}})\]?\s*[:.)-])", re.IGNORECASE
)
_DEEPEST = 8
"""Folders of a path whose names may stand before that of the file."""
_SHORTEST = 2
"""Words that a title has at least where a longer one, or a part of it, may stand for it."""


@dataclass(frozen=True, slots=True)
class Titles:
    """The documents of a response by their titles, addresses and file names.

    Chunks with one title, address or file are one document under it: `groups` has their ids.
    `titled` and `addressed` are whether all documents have a title, or an address: then a name
    that is none of these is that of no document.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    titled: bool = False
    addressed: bool = False
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _by_word: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Titles of several words by their first one."""

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Titles:
        """Return the names of documents."""
        titles, addresses, paths = _Names(), _Names(), _Names()
        files: dict[str, set[str]] = {}
        for document in documents:
            doc_id = document.doc_id
            titles.add(_plain_title(document.title), document.title, doc_id)
            for address in (document.url, doc_id):
                if is_address(address) or _HOST.match(address):
                    addresses.add(plain_address(address), address, doc_id)
                    break
            for path in filter(None, (document.url, doc_id)):
                paths.add(path, path, doc_id)
                for name in _names_of(path):
                    files.setdefault(name, set()).add(path)
        by_title, by_path = titles.ids(), paths.ids()
        # The name of a file counts only where it is that of one.
        for name, named in files.items():
            found = {by_path[path] for path in named}
            if len(found) == 1 and name:
                by_title.setdefault(name, *found)
        by_word: dict[str, list[str]] = {}
        for title in by_title:
            by_word.setdefault(title.partition(" ")[0], []).append(title)
        return cls(
            by_title,
            addresses.ids(),
            titles.given == len(documents) > 0,
            addresses.given == len(documents) > 0,
            paths.groups() | addresses.groups() | titles.groups(),
            {word: tuple(of_word) for word, of_word in by_word.items()},
        )

    def find(self, written: str) -> str | None:
        """Return the id of the document that a text names, None where it names none.

        Where several share the name it is a key of `groups`. A title may be shortened or have more
        behind it, if no other document's fits.
        """
        if is_address(written):
            return self.addresses.get(plain_address(written))
        plain = _plain_title(written)
        if found := self.titles.get(_words(written)) or self.titles.get(plain):
            return found
        if plain.count(" ") < _SHORTEST - 1:
            return None
        titles = self._by_word.get(plain.partition(" ")[0], ())
        near = {self.titles[title] for title in titles if _begins(plain, title)}
        return near.pop() if len(near) == 1 else None


@dataclass(slots=True)
class _Names:
    """Names of documents of one kind: in plain form, as written, with the ids that have them."""

    found: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    given: int = 0

    def add(self, plain: str, written: str, doc_id: str) -> None:
        if plain:
            self.given += 1
            self.found.setdefault(plain, (written, []))[1].append(doc_id)

    def ids(self) -> dict[str, str]:
        """Return the id by name: where several documents have it, the name as written."""
        return {p: ids[0] if len(ids) == 1 else w for p, (w, ids) in self.found.items()}

    def groups(self) -> dict[str, tuple[str, ...]]:
        return {w: tuple(ids) for w, ids in self.found.values() if len(ids) > 1}


def labels_of(documents: Sequence[Document]) -> dict[int, str]:
    """Return ids by the number that each text begins with, as in "[3] Dogs travel free."

    Empty where a document has none, or two have the same.
    """
    found: dict[int, str] = {}
    for document in documents:
        label = _NUMBERED.match(document.text)
        if label is None:
            return {}
        found[int(label[1] or label[2])] = document.doc_id
    return found if len(found) == len(documents) else {}


NO_TITLES: Final = Titles()


def _begins(ours: str, theirs: str) -> bool:
    """Return whether one of two titles begins with the words of the other, which are several."""
    several = theirs.count(" ") >= _SHORTEST - 1
    return several and (f"{ours} ".startswith(f"{theirs} ") or f"{theirs} ".startswith(f"{ours} "))


def _plain_title(title: str) -> str:
    """Return a title without case, signs, and the ending of a file's name."""
    return _words(_ENDING.sub("", title.strip()))


def _words(name: str) -> str:
    return _SIGNS.sub(" ", name).casefold().strip()


def plain_address(address: str) -> str:
    """Return an address without scheme, `www.`, fragment, what tracks, and the slash at its end."""
    bare = _TRACKING.sub("", address.strip())
    bare = _SCHEME.sub("", bare).partition("#")[0].rstrip("/.,;?&")
    host, slash, path = bare.partition("/")
    return f"{host.casefold()}{slash}{path}"


def _names_of(path: str) -> set[str]:
    """Return what a path or an id may be called: the file and folders before it, with its ending.

    Without the ending it may be called so too.
    """
    parts = re.split(r"[/\\]", path.partition("?")[0].partition("#")[0].rstrip("/"))[-_DEEPEST:]
    names = ["/".join(parts[at:]) for at in range(len(parts))]
    return {*map(_words, names), *map(_plain_title, names)}


_PARTS = re.compile(
    rf"\s*[,;，；、،؛|]\s*|(?<=\d)\s?[/+]\s?(?=\d)|(?<=\d)\s?或\s?|(?<=\d)\s?和\s?|(?<=\d)\s?또는\s?|(?<=\d)\s+(?=\d)|"
    rf"\s+(?:{AND}|&)\s+|\]\s*\[|(?<=[①-⑳])(?=[①-⑳])",
    re.IGNORECASE,
)
_GAPS = re.compile(r"[,;]?\s+|[,;](?=https?:|www\.)")
_LABEL = re.compile(
    rf"(?:{SEE}\s*)?(?P<word>{SOURCE})(?![^\W\d_])[\s.#№_-]{{0,4}}(?P<colon>[:：=])?\s*(?:id\s*[:=]\s*)?",
    re.IGNORECASE,
)
"""What may stand before a pointer: `Doc 1`, `Source: ...`, `see Passage 2`."""
_SEES = re.compile(rf"{SEE}\s+(?=\S)", re.IGNORECASE)
_NUMBERS = re.compile(
    r"(?:no|nr|n°|№)?\.?\s*[#^@]?\s*(\d{1,9})(?:\s*(?:[-–—‑−]|\.{2,3}|\bto\b|\bbis\b)\s*[#^]?(\d{1,9}))?(?P<dagger>(?::\d+)?†.*)?"
    r"|(?P<circled>[①-⑳])",
    re.IGNORECASE,
)
"""`1`, `1-3`, `#1`, digits of any script, and what OpenAI's tools write: `4:0†source`."""
_LOCATOR = re.compile(
    r"(?:(?:pp?|pages?|pgs?|s|seiten?|sec(?:tion)?s?|ch(?:ap(?:ter)?)?s?|para(?:graph)?s?|lines?|ll?|"
    r"art(?:icle)?s?|§+|¶+|fig(?:ure)?s?|tab(?:le)?s?|chunks?|vol(?:ume)?|nos?|slides?|eqs?|str|стр|с|頁|页|第)"
    r"\.?:?\s*[\dIVXLCivxlc]+[\w.–—-]*|L?\d[\d.:/–—-]*|ff?\.?|ibid\.?|passim|accessed.*|retrieved.*|"
    r"\w{3,9}\.?\s+\d{1,2},?\s+\d{4}|\w{3,9}\.?\s+\d{4}|\d{1,2}\s+\w{3,9}\.?\s+\d{4}|\d{4}|"
    r"\"[^\"]*\"|[“”„«»].*)",
    re.IGNORECASE,
)
"""What may stand behind a pointer: a page, a section, a date, a quote."""
_BEHIND = re.compile(rf"(?:\s*[(|†,–—-]|\s)\s*(?:{_LOCATOR.pattern})\)?$", re.IGNORECASE)
"""The same at the end of a name: `guide.md (page 4)`, `guide.md p. 4`."""
_NUMERIC = re.compile(r"[\d\s.,:;/%+×x*=<>≤≥±~$€£¥°–—−-]+", re.IGNORECASE)
_FORMULA = re.compile(r"\d*[A-Z][a-z]?\d*(?:[A-Z][a-z]?\d*)+[+−-]?")
_AUTHOR_YEAR = re.compile(
    r"(?:(?:see|e\.g\.,?|cf\.)\s+)?[A-ZÀ-Þ][\w'’-]+(?:,?\s+(?:(?:and|&|und|et|y|de|van|von)\s+)?[A-ZÀ-Þ][\w'’-]+){0,4}"
    r"(?:,?\s+et\s+al\.?,?|,)\s+\(?(?:19|20)\d\d[a-z]?\)?(?:\s*[;,].*)?"
)
_BEHIND_ID = re.compile(r"[:#|@]")
_NUMBER_AND_TITLE = re.compile(r"(\d{1,4})\s?[:–—]\s(\S.*)")
_LETTERED = re.compile(r"^[SDPCR](?=\d{1,3}$)")
"""A letter for a source, document, passage, chunk or result before its number: `[S1]`."""
_LETTER_OR_ROMAN = re.compile(r"[A-Z]|i|[ivx]{2,4}")
_EDITORIAL = re.compile(rf"(?:{NO_SOURCE})", re.IGNORECASE)
"""What people put into brackets that cites nothing."""
_ID_LIKE = re.compile(r"(?=.*\d)[^\W\d_]{1,12}[\s_#-]?\d+[a-z]?|(?=\S*\d)\S*[\w)][-_./:#]\S+")
WIDEST = 50
"""The longest range of citations: `[1-1000]` is a range of something else."""
# `[2024]` is a year, unless the response has so many documents.
YEARS = range(1000, 3000)
_LONGEST_NUMBER = 10
_MOST_WORDS = 8
_LETTERS = re.compile(r"[^\W\d_]+")
_SHORT = 8
"""Characters of an id without signs below which its letters may be a label: `S1`, `doc1`."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What marks can point to.

    `ids` are the documents that numbers count, `listed` all that the response lists by id.
    `is_document` returns whether an id is that of a document, `titles` what documents are called.
    `says` returns whether a document has these very words. `counted` returns whether there is a
    list that numbers count, even an empty one, here or elsewhere in the run. `labels` gives ids by
    the numbers that the texts of all documents begin with; empty where one has none.
    """

    ids: Sequence[str | None]
    listed: frozenset[str]
    is_document: Callable[[str], bool]
    titles: Callable[[], Titles] = lambda: NO_TITLES
    says: Callable[[str], bool] = lambda words: False
    counted: Callable[[], bool] = lambda: True
    labels: Callable[[], Mapping[int, str]] = dict


@dataclass(frozen=True, slots=True)
class Pointer:
    """One target of a mark: as written, as a number if it is one, and its document.

    `unread`: why nobody knows what it points to; empty where it is known.
    """

    written: str
    number: int | None = None
    doc_id: str | None = None
    unread: str = ""


NO_ADDRESS: Final = "no document has an address to compare it with"
MAY_NAME: Final = "it may name a source, and none is called so"
NOT_UNDERSTOOD: Final = "it looks like the mark of a citation, and is not understood"


def pointers_of(mark: Mark, targets: Targets) -> tuple[Pointer, ...]:
    """Return what a mark points to; nothing where it is ordinary text."""
    if mark.target and not mark.target.startswith("#"):
        return _of_link(mark, mark.target, targets)
    content = mark.content.strip(" *_\"'“”^")
    if not content:
        return ()
    if content.isdecimal() and len(content) < _LONGEST_NUMBER:  # most are
        return (Pointer(content, int(content)),)
    if is_address(content.split()[0]) and all(map(is_address, parts := _GAPS.split(content))):
        return tuple(pointer for part in parts for pointer in _of_link(mark, part, targets))
    if found := _read_content(content, mark, targets):
        return found
    said = f"({content})" if mark.shape == PARENTHESES else f"[{content}]"
    if (why := _why_unread(content, mark)) and not targets.says(said):
        return (Pointer(mark.content, unread=why),)
    return ()


def named_marks(marks: Iterable[Mark], targets: Targets) -> Iterator[Mark]:
    """Yield marks; the words of a link go too where they only name the source.

    A number or an address does; a title only where it ends a clause.
    """
    for mark in marks:
        if mark.kept and mark.shape == LINK and _is_name(mark, targets):
            mark = replace(mark, kept=None)
        yield mark


def _is_name(mark: Mark, targets: Targets) -> bool:
    """Return whether the words of a link only name its source: a title, a number, an address."""
    words = mark.content.strip(" []*_^")
    host = "." in words and " " not in words
    if host or _numbers(words):
        return True
    label = _LABEL.match(words)
    only_label = label is not None and label.end() == len(words)
    return mark.ends and (only_label or _by_name(words, targets) is not None)


def _of_link(mark: Mark, address: str, targets: Targets) -> tuple[Pointer, ...]:
    """Return the document of a link: by its address, else by its words if they name one."""
    found = _by_name(address, targets)
    if found is None and mark.shape == LINK:
        words = mark.content.strip(" []*_")
        found = _by_name(words, targets) or next(iter(_numbers(words)), None)
    if found is not None:
        return (found,)
    # A link inside a sentence may only tell where to read more.
    if mark.shape in (URL, LINK) and not mark.ends:
        return ()
    known = targets.titles().addressed
    return (Pointer(address, unread="" if known else NO_ADDRESS),)


def _read_content(content: str, mark: Mark, targets: Targets) -> tuple[Pointer, ...]:
    """Return the pointers of a content that is understood; nothing where it is not."""
    in_parentheses = mark.shape in (PARENTHESES, NUMBER_IN_PARENTHESES)
    whole = _by_name(content, targets)
    # A word in parentheses that happens to be a title needs a label.
    if whole is not None and not (
        in_parentheses and _is_title(whole) and not (mark.ends and " " in whole.written)
    ):
        return (whole,)
    label = _LABEL.match(content)
    rest = content[label.end() :].strip(" []") if label else _SEES.sub("", content, count=1)
    if in_parentheses and not label and mark.shape != NUMBER_IN_PARENTHESES:
        named = _by_name(rest, targets) if rest != content else None
        return (named,) if named else _known_ids(content, targets)
    for name in filter(None, (rest, _BEHIND.sub("", rest), _BEHIND.sub("", content))):
        if (named := _by_name(name, targets)) is not None:
            return (named,)
    strong = bool(label and label["colon"])
    unknown = strong and mark.shape != LABELLED
    # An id may itself begin like a label: `doc1#2`.
    if strong and rest.isdecimal() and rest in targets.listed:
        return (Pointer(rest, None, rest),)
    found = _of_parts(rest, targets) or _of_parts(content, targets)
    # Where all documents have names, another name behind a label is that of none.
    nameless = unknown and bool(rest) and not found and targets.titles().titled
    return (Pointer(rest),) if nameless else found


def _of_parts(content: str, targets: Targets) -> tuple[Pointer, ...]:
    """Return the pointers of a list; behind the first one there may be pages, sections, dates."""
    found: list[Pointer] = []
    for part in (part.strip(" []()") for part in _PARTS.split(content)):
        pointers = _of_part(part, targets)
        if not pointers and not (found and _LOCATOR.fullmatch(part)):
            return ()
        # A number behind a title is a page or a year of it.
        if not (found and _is_title(found[0]) and pointers and pointers[0].number is not None):
            found += pointers
    return tuple(found)


def _known_ids(content: str, targets: Targets) -> tuple[Pointer, ...]:
    """Return the documents of parentheses that hold only ids of documents, or ids like those."""
    found: list[Pointer] = []
    for part in map(str.strip, _PARTS.split(content)):
        if found and _LOCATOR.fullmatch(part):
            continue
        pointers = [] if " " in part else _of_part(part, targets)
        if not pointers or pointers[0].number is not None:
            return ()
        found += pointers
    return tuple(found) if any(pointer.doc_id for pointer in found) else ()


def _of_part(part: str, targets: Targets) -> list[Pointer]:
    part = part.lstrip("@")
    if (named := _by_name(part, targets)) is not None:
        return [named]
    label = _LABEL.match(part)
    if numbers := _numbers(part[label.end() :] if label else _LETTERED.sub("", part)):
        return numbers
    # A part of a document: `doc-1:0-20`, `doc-1#2`.
    if (of := _BEHIND_ID.split(part)[0]) in targets.listed:
        return [Pointer(part, None, of)]
    if titled := _NUMBER_AND_TITLE.fullmatch(part[label.end() :] if label else part):
        quoted = titled[2][0] in "\"“„«'"
        return _numbers(titled[1]) if label or quoted or _by_name(titled[2], targets) else []
    # It has the form of a listed id, so it is an id that is not there; `[sic]` has no such form.
    alien = any(map(str.isdigit, part)) and _form(part) in _forms(targets.listed)
    return [Pointer(part)] if alien else []


def _numbers(part: str) -> list[Pointer]:
    match = _NUMBERS.fullmatch(part)
    if match is None:
        return []
    if match["circled"]:
        return [Pointer(part, ord(part) - ord("①") + 1)]
    first = int(match[1])
    last = int(match[2] or first)
    if not first <= last < first + WIDEST:
        return []
    return [Pointer(str(number), number) for number in range(first, last + 1)]


def _by_name(written: str, targets: Targets) -> Pointer | None:
    """Return the document that a text names by id, title or address; a number counts instead."""
    written = written.strip()
    if not written or written.isdecimal():
        return None
    for name in dict.fromkeys((written, written.removeprefix("@"))):
        if name in targets.listed or targets.is_document(name):
            return Pointer(written, None, name)
    doc_id = targets.titles().find(written)
    return Pointer(written, None, doc_id) if doc_id else None


def _is_title(named: Pointer) -> bool:
    """Return whether a document is named by its title, and not by its id or address."""
    by_name = named.number is None and named.written.removeprefix("@") != named.doc_id
    return by_name and not is_address(named.written)


def _why_unread(content: str, mark: Mark) -> str:
    """Return why a content that is not understood is unread; "" where it is ordinary text."""
    label = _LABEL.match(content)
    if label and label["colon"]:
        return NOT_UNDERSTOOD if len(content) > label.end() else ""
    if mark.shape in (LATEX, TAG) or content[:1] in "@†":
        return NOT_UNDERSTOOD
    if mark.shape in (SUPERSCRIPT, URL, LABELLED):
        return ""
    if _AUTHOR_YEAR.fullmatch(content):
        return MAY_NAME
    if mark.shape not in BOUND or not mark.ends or mark.glued or mark.opens:
        return ""
    return _why_named(content, bool(label and len(content) > label.end()))


def _why_named(content: str, labelled: bool) -> str:
    """Return why what stands in brackets at the end of a clause may name a source; else ""."""
    if _NUMERIC.fullmatch(content) or _EDITORIAL.fullmatch(content):
        return ""
    if labelled or (content[:1].isdecimal() and _PARTS.search(content)):
        return NOT_UNDERSTOOD
    if _LETTER_OR_ROMAN.fullmatch(content):
        return MAY_NAME
    if _FORMULA.fullmatch(content) or len(content.split()) > _MOST_WORDS:
        return ""
    if _ID_LIKE.fullmatch(content):
        return NOT_UNDERSTOOD
    # Of scripts without case every name may be one.
    return MAY_NAME if content[:1].isalpha() and not content[:1].islower() else ""


def may_be_another(mark: Mark) -> bool:
    """Return whether ordinary text in brackets may be a name, beside marks that are names."""
    content = mark.content.strip()
    if not mark.ends or mark.glued or mark.opens or _EDITORIAL.fullmatch(content):
        return False
    if mark.shape == PARENTHESES:
        return " " not in content and re.search(r"[._#/]|\w-\w", content) is not None
    words = len(content.split()) <= _MOST_WORDS
    return mark.shape in BOUND and words and not _NUMERIC.fullmatch(content)


@lru_cache(maxsize=8)
def _forms(ids: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_form, ids))


def _form(doc_id: str) -> str:
    """Return the form of an id: `k-01` and `x-7` have the same, `doc1` and `s1` have not."""
    numbered = re.sub(r"\d+", "9", doc_id.casefold())
    return numbered if numbered.isalnum() and len(doc_id) < _SHORT else _LETTERS.sub("a", numbered)

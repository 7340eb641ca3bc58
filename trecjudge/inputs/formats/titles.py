"""What documents are called in an answer: titles, addresses, file names, in one plain form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trecjudge.inputs.formats.citation_words import SOURCE
from trecjudge.records import Document

_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:https?://|www\.)\S+$", re.IGNORECASE)
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+/")
_ENDING = re.compile(r"\.(?:pdf|html?|md|txt|docx?|json|csv|xml)$", re.IGNORECASE)
_TRACKING = re.compile(r"(?<=[?&])(?:utm_\w{1,20}|gclid|fbclid|ref|source)=[^&#]{0,300}&?")
_SIGNS = re.compile(r"[\W_]+")
_NUMBERED = re.compile(
    rf"\s*(?:\[(\d{{1,3}})\]\s|(?:{SOURCE})\s*\[?(\d{{1,3}})\]?\s*[:.)-])", re.IGNORECASE
)
_DEEPEST = 8
"""Folders of a path whose names may stand before that of the file."""
ADDRESS: Final = (
    r"(?:https?://|www\.)[^\s<>\[\]{}【】（）()\"'`|]{1,2000}"
    r"(?:\([^\s<>()]{0,200}\)[^\s<>\[\]{}()\"'`|]{0,500})?"
)
"""Pattern of an address in a text; parentheses in it are closed."""
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


def trimmed(address: str) -> str:
    """Return an address without the signs of the sentence that it ends."""
    return address.rstrip(".,;:!?*_~")


def is_address(text: str) -> bool:
    """Return whether a text is the address of a page."""
    return _ADDRESS.match(text) is not None


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

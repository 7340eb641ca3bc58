"""The known collections, of this folder and of installed packages, and which one an id is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Protocol, cast

from trecjudge.inputs.collections import schemes
from trecjudge.inputs.collections.schemes import Address
from trecjudge.settings.plugins import formats_in, in_order, module_at

GROUP = "trecjudge.collections"
"""The group of entry points by which an installed package gives its schemes."""
NEEDED = ("NAME", "TRACKS", "HOW", "claims")


class Scheme(Protocol):
    """What a module on a collection offers; see the package's docstring."""

    NAME: str
    TRACKS: tuple[str, ...]
    HOW: str

    def claims(self, doc_id: str) -> object:
        """Return what is true if an id is of this collection."""


@cache
def all_schemes() -> tuple[Scheme, ...]:
    """Return every scheme, in the order of asking.

    Raises PluginError if one of another package cannot be used.
    """
    module = partial(module_at, what="collection", needed=NEEDED)
    found = in_order([*formats_in(schemes), *map(module, entry_points(group=GROUP))])
    return tuple(cast(Scheme, scheme) for scheme in found)


def scheme_of(doc_id: str) -> Scheme | None:
    """Return the collection that an id is of, None if no known one claims it."""
    return next((scheme for scheme in all_schemes() if scheme.claims(doc_id)), None)


def address_of(doc_id: str) -> Address | None:
    """Return where an id says that its document lies, None if it does not say so."""
    found = (getattr(scheme, "address", None) for scheme in all_schemes() if scheme.claims(doc_id))
    return next((place for address in found if address and (place := address(doc_id))), None)


def scheme_of_file(name: str) -> Scheme | None:
    """Return the collection that has a file of this name, without endings, in lower case."""
    addressed = (scheme for scheme in all_schemes() if hasattr(scheme, "FILES"))
    return next((scheme for scheme in addressed if scheme.FILES.fullmatch(name)), None)


def usual_scheme(ids: Iterable[str]) -> Scheme | None:
    """Return the collection that most of these ids are of, None without a majority."""
    counts: Counter[Scheme | None] = Counter(map(scheme_of, ids))
    first, count = counts.most_common(1)[0] if counts else (None, 0)
    return first if 2 * count > counts.total() else None
